/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a host that ran for 10 s, for tests of what hosts send. */
#ifndef BN_TESTS_HOSTRESULT_H
#define BN_TESTS_HOSTRESULT_H

#include <stdbool.h>
#include <stdlib.h>

#include "measure/result.h"

#define SEC UINT64_C(1000000000)

/* The metrics that the workload adds to those of every run; NULL: none. */
static const struct bn_metric *own_metrics;

/* The last 10 s end 110 s after the host's clock began, with so many events of 1 ms.  Beside it
   the host and a server were watched. */
static void make_result(struct bn_result *r, uint64_t start_ns, uint64_t events)
{
  static const double ranks[] = {95};
  static const struct bn_watched_figure watched[] = {{"host_user_percent", 12.5},
                                                     {"server_Com_commit_per_s", 75},
                                                     {"server_Com_commit_per_transaction", 1.5}};
  static const struct bn_view_rules rules = {.percents = ranks, .n_percents = 1};
  struct bn_group *g = bn_result_add_group(r, "cpu");
  struct bn_view_store store;
  struct bn_metrics m;
  struct bn_snap s;
  struct bn_view v;

  bn_metrics_init(&m, own_metrics);
  bn_snap_init_for_metrics(&s, &m, 0, true);
  bn_view_store_init(&store, &s);
  s.at_ns = 110 * SEC;
  s.wall_ns = 1010 * SEC;
  s.span_ns = 10 * SEC;
  s.counter[BN_C_EVENTS] = events;
  bn_hist_put(s.hist[BN_H_LATENCY], 1000000, events);
  bn_view_fill(&v, &store, &s, &rules);
  v.span = BN_VIEW_TOTAL;
  v.watched = watched;
  v.n_watched = sizeof watched / sizeof *watched;
  bn_group_add_view(g, &v);
  r->facts.start_ns = start_ns;
  r->facts.start_wall_ns = r->facts.end_wall_ns = 1000 * SEC;
  r->facts.plan.percents[0] = ranks[0];
  r->facts.plan.n_percents = 1;
  r->facts.plan.native = true;
  r->facts.plan.threads = 1;
  bn_view_store_done(&store);
  bn_snap_done(&s);
  bn_metrics_done(&m);
}

#endif
