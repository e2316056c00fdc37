/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of hosts, and the threads, events and rate of each. */
#ifndef BN_HOSTS_WORK_SPLIT_H
#define BN_HOSTS_WORK_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/metric.h"
#include "base/err.h"

enum {
  BN_WORK_SPLIT_HOSTS = 256, /* the most hosts of a run */
  /* The most threads of one host, and of all hosts together: the greatest --threads. */
  BN_WORK_SPLIT_THREADS = 1000000,
  BN_WORK_SPLIT_NAME_MAX = 255, /* the most bytes of a host's name */
  BN_WORK_SPLIT_BOTH_MAX = BN_WORK_SPLIT_NAME_MAX + 1 + BN_GROUP_NAME /* of "HOST/GROUP" */
};

struct bn_work_split_host {
  char *name;       /* owned; what ssh is given: "host", "user@host", an address */
  unsigned threads; /* the number after the name; 0: there is none */
};

/* All zero: there are no hosts. */
struct bn_work_split_list {
  struct bn_work_split_host *host; /* owned */
  size_t n;
};

/* Adds the hosts of a value of --hosts, "a,me@b:8,[::1]:4": a number after ':' is the host's
   threads, and an IPv6 address stands in brackets.  A name is refused if it begins with '-', which
   a shell would take for an option, if it has a blank, a quote, a control character or another
   character of a shell, or if the list has it already.  Returns 0, or -1 and err, which begins with
   the option; the list then has the hosts before that one. */
int bn_work_split_add(struct bn_work_split_list *list, const char *text, struct bn_err *err);
/* Adds the hosts of a file's text as bn_work_split_add() does.  Commas, blanks and line ends
   separate them, and '#' begins a comment.  path is for messages.  A file without a host is
   refused. */
int bn_work_split_add_file(struct bn_work_split_list *list, const char *text, const char *path,
                           struct bn_err *err);
void bn_work_split_done(struct bn_work_split_list *list);

/* The work of all hosts together. */
struct bn_work_split_total {
  unsigned threads;       /* --threads, of each host that says no number of its own */
  unsigned threads_total; /* --threads-total, divided among these hosts instead; 0: not given */
  uint64_t events;        /* 0: no limit */
  uint64_t events_per_session; /* of each thread, in place of events; 0: no such limit */
  double rate;                 /* 0: none; at most 2^53 */
  bool integer_rate; /* dialects have no other rates, so the rate is divided as events are */
};

/* The work of one host. */
struct bn_work_split {
  unsigned threads;
  uint64_t first_session; /* how many sessions the hosts before it have */
  uint64_t events;        /* 0: no limit; each host has at least 1 of a limit */
  bool per_session;       /* there is --events-per-session, from which `events` follows */
  double rate;
};

/* Divides the work among the hosts, and stores it in out[list->n], and the sum of the threads in
   *sessions.  Events, unless each thread has its own limit, and the rate are divided in proportion
   to the threads.  The events add up to the total, and each host has its exact part but for less
   than one event, or 1.  The rates add up to the total but for rounding of doubles.  Returns 0, or
   -1 and err, which names the option that leaves a host without a thread or an event, or gives it
   too many. */
int bn_work_split_divide(const struct bn_work_split_list *list,
                         const struct bn_work_split_total *total, struct bn_work_split *out,
                         uint64_t *sessions, struct bn_err *err);

#endif
