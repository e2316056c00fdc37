/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run on several hosts, from the results of all of them.

   All events of all hosts count, as they do in the counters of the server, and rates are per second
   of the time in which at least one host was in the run: counters, rates and percentiles are of the
   same events.  A rate of the time in which all hosts were there would leave out events that the
   histograms have, which nobody can take out of them; it is told apart
   (bn_merged_result_together()). */
#ifndef BN_HOSTS_MERGED_RESULT_H
#define BN_HOSTS_MERGED_RESULT_H

#include "hosts/clock_sync.h"
#include "hosts/interval_merge.h"
#include "measure/result.h"
#include "option/conf.h"
#include "option/opt.h"

/* A host and what came of it.  Everything is borrowed, but the times of the result change. */
struct bn_merged_result_part {
  struct bn_member member;         /* its times are set here, but the error of its clock */
  struct bn_result *result;        /* NULL: it has measured nothing that is known */
  struct bn_clock_sync_view clock; /* when it was told to start */
  int64_t offset_ns;               /* of its clock, as last known */
};

/* When the hosts were to start, by the clocks here, and when nothing more was taken from
   them. */
struct bn_merged_result_start {
  uint64_t mono_ns, wall_ns, until_ns;
};

/* What a run was asked for.  Everything is borrowed. */
struct bn_merged_result_of {
  const struct bn_conf *conf;
  const struct bn_optset *options;
  const struct bn_group_layout *groups; /* of the parts; empty: they are hosts */
};

/* Puts the times of the results on the clock of this host, and sums them.  The first group of *out
   is of all, the others are of the parts.  Options that each host has its own value of are those of
   `of`, and those of groups add up.  A part whose result says nothing counts as lost and as a
   failure.  -1: err says why they cannot be summed, or that there is none; *out is then empty. */
int bn_merged_result_make(struct bn_merged_result_part *part, size_t n,
                          const struct bn_merged_result_start *start,
                          const struct bn_merged_result_of *of, struct bn_result *out,
                          struct bn_err *err);
/* Adds to the facts how long all hosts ran together, by the times of the parts after
   bn_merged_result_make(), and the rate that rounds have found.  Nothing where a part has told
   nothing. */
void bn_merged_result_together(const struct bn_merged_result_part *part, size_t n,
                               const struct bn_intervals_together *seconds, struct bn_facts *out);
/* Makes the facts of the heading: those that all parts with a result have in common. */
void bn_merged_result_facts(const struct bn_merged_result_part *part, size_t n,
                            const struct bn_merged_result_of *of, struct bn_facts *out);

#endif
