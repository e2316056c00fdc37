/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the result of a run on several hosts from the results of the hosts.

   All events of all hosts count, as they do in the counters of the server, and rates are per second
   of the time in which at least one host was in the run, so that counters, rates and percentiles
   are of the same events.  A rate of the time in which all hosts were there would leave out events
   that cannot be taken out of the histograms.  It is a fact of its own
   (bn_merged_result_add_together()). */
#ifndef BN_HOSTS_MERGED_RESULT_H
#define BN_HOSTS_MERGED_RESULT_H

#include "hosts/clock_sync.h"
#include "hosts/interval_merge.h"
#include "measure/result.h"
#include "option/conf.h"
#include "option/opt.h"

/* A host, a group, or a group on a host, and its result.  Everything is borrowed, but
   bn_merged_result_make() changes the times of the result. */
struct bn_merged_result_part {
  struct bn_member member;         /* bn_merged_result_make() sets its times */
  struct bn_result *result;        /* NULL: nothing that it has measured is known */
  struct bn_clock_sync_view clock; /* as known when the host was told to start */
};

/* Times by the clocks here. */
struct bn_merged_result_start {
  uint64_t mono_ns, wall_ns; /* when the hosts were to start */
  uint64_t until_ns;         /* when nothing more was taken from them; CLOCK_MONOTONIC */
};

/* What the user has asked for.  Everything is borrowed. */
struct bn_merged_result_request {
  const struct bn_conf *conf;
  const struct bn_optset *options;
  const struct bn_group_layout *groups; /* of the parts; empty: they are hosts */
  const char *test;                     /* the test of hosts, as the user has named it */
};

/* Puts the times of the results on the clock of this host, and sums them.  The first group of *out
   is the sum of all parts.  With groups on hosts, the sum of each group over its hosts comes next.
   The last groups are the parts.  The facts have the options as the user has set them, in
   `request`; the events and rates of groups add up.  A part that has measured nothing, or whose
   times make no sense, counts as lost: its result becomes NULL, and the run has failed.  Returns 0,
   and the caller frees *out with bn_result_done(); or -1 and err if there is no result or the
   results cannot be summed. */
int bn_merged_result_make(struct bn_merged_result_part *part, size_t n,
                          const struct bn_merged_result_start *start,
                          const struct bn_merged_result_request *request, struct bn_result *out,
                          struct bn_err *err);
/* Adds to the facts how long all hosts ran together, by the times of the parts after
   bn_merged_result_make(), and the rate of that time if it is known.  Adds nothing if a part has no
   result. */
void bn_merged_result_add_together(const struct bn_merged_result_part *part, size_t n,
                                   const struct bn_intervals_together *seconds,
                                   struct bn_facts *out);
/* Makes the facts of the heading: those that all parts with a result have in common, and those of
   what the user has asked for. */
void bn_merged_result_make_facts(const struct bn_merged_result_part *part, size_t n,
                                 const struct bn_merged_result_request *request,
                                 struct bn_facts *out);

#endif
