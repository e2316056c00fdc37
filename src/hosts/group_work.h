/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of a group, as its options and the options outside of the groups state it.  A run
   without groups has the work of one. */
#ifndef BN_HOSTS_GROUP_WORK_H
#define BN_HOSTS_GROUP_WORK_H

#include "hosts/groups.h"
#include "hosts/work_split.h"
#include "option/conf.h"

struct bn_group_work {
  struct bn_work_split_total total; /* of all hosts together */
  uint64_t sessions;                /* of all hosts together; 0: the group is a process here */
  uint64_t seed;                    /* the group's own --rand-seed; 0: it has none */
  uint64_t init_timeout_ns;         /* --thread-init-timeout; 0: no limit */
  int on_thread_error;              /* enum bn_thread_error */
};

/* Returns the work that the options state, without sessions and without a seed. */
struct bn_group_work bn_group_work_get(const struct bn_conf *conf);
/* Reads the work of a group, on this host (is_here) or on several.  Its options override
   `options`, which stand outside of the groups.  Returns 0, or -1 and err, which says which option
   of the group has a wrong value or cannot be used on several hosts. */
int bn_group_work_read(const struct bn_group_words *g, const struct bn_optset *options,
                       bool is_here, struct bn_group_work *out, struct bn_err *err);
/* Divides the work of a group among the hosts, as bn_work_split_divide() does, and sets its
   sessions.  But if --threads-total is less than the number of hosts, the group has one thread on
   each of the first hosts.  Stores in *n how many hosts, from the first one on, have a share.
   Returns 0, or -1 and err. */
int bn_group_work_divide(const struct bn_group_words *g, struct bn_group_work *work,
                         const struct bn_work_split_list *hosts, struct bn_work_split *out,
                         size_t *n, struct bn_err *err);
/* Refuses a profile of threads, because the threads of a run are divided among hosts, but not the
   threads of each phase.  Refuses a profile of a rate that is a file, because the file is not sent,
   and a file of that name on a host may be another one.  Returns 0, or -1 and err. */
int bn_group_work_check_profile(const struct bn_conf *conf, struct bn_err *err);

#endif
