/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Phases of a profile: they are read from a document where their histograms are the last ones or
   the list is too short, and the sum of a phase in which no event ended has no deviation. */
#include "measure/phases.h"

#include <math.h>
#include <string.h>

#include "cm.h"
#include "measure/store.h"

static const struct bn_metric metrics[] = {
    {.name = "read", .unit = "ns", .kind = BN_SCRIPT_HISTOGRAM},
    {.name = "phase:1 hold:10/1m", .unit = "ns", .kind = BN_PHASE_HISTOGRAM, .of_events = true},
    {.name = "phase:2 hold:20/1m", .unit = "ns", .kind = BN_PHASE_HISTOGRAM, .of_events = true},
    {.name = NULL}};

enum { FIRST_PHASE = BN_H_FIXED + 1 };

/* Reads the total of a document that has these members. */
static void read_total(const char *members, struct bn_record *r)
{
  char text[512];
  struct bn_err err = {0};
  struct bn_node *n;
  struct bn_metrics m;

  (void)snprintf(text, sizeof text, "{\"kind\":\"plain\",\"figures\":{},\"raw\":{},%s}", members);
  n = bn_node_parse(text, strlen(text), &err);
  assert_non_null(n);
  bn_metrics_init(&m, metrics);
  assert_int_equal(bn_store_read_record(n, &m, BN_VIEW_TOTAL, r, &err), 0);
  bn_metrics_done(&m);
  bn_node_free(n);
}

/* The last phases were left out, and finding one by its name read NULL. */
static void phases_may_have_the_last_histograms(void **state)
{
  struct bn_record r;

  (void)state;
  read_total("\"timings\":[{\"name\":\"read\",\"count\":5}],"
             "\"phases\":[{\"due\":7,\"count\":3,\"max_s\":1.5},{\"due\":8,\"count\":4}]",
             &r);
  assert_int_equal(r.view.n_phases, 2);
  assert_int_equal(r.view.n_timings, 3);
  assert_int_equal(bn_phases_find(&r.view, "phase:2")->due, 8);
  assert_int_equal(bn_phases_find(&r.view, "phase:2")->timing->count, 4);
  assert_true(bn_phases_find(&r.view, "phase:1")->timing->max_s == 1.5);
  assert_null(bn_phases_find(&r.view, "phase:3"));
  bn_record_done(&r);
}

static void a_list_may_lack_the_last_phases(void **state)
{
  struct bn_record r;

  (void)state;
  read_total("\"timings\":[{\"count\":5}],\"phases\":[{\"due\":7,\"count\":3}]", &r);
  assert_int_equal(r.view.n_phases, 2);
  assert_int_equal(bn_phases_find(&r.view, "phase:1")->timing->count, 3);
  assert_int_equal(bn_phases_find(&r.view, "phase:2")->due, 0);
  assert_int_equal(bn_phases_find(&r.view, "phase:2")->timing->count, 0);
  bn_record_done(&r);
}

/* It was 0, as of values that are all equal. */
static void the_sum_of_unfinished_events_alone_has_no_deviation(void **state)
{
  static const struct bn_timing waiting = {
      .of_phase = true, .unfinished = 2, .youngest_s = 3, .min_s = NAN, .avg_s = NAN, .dev_s = NAN};
  const struct bn_phase_view phase = {.timing = &waiting, .due = 2, .recovery_s = NAN};
  const struct bn_phase_view phases[] = {phase, phase};
  const struct bn_view part = {.phases = phases, .n_phases = 2};
  const struct bn_view *both[] = {&part, &part};
  const struct bn_view_rules rules = {.n_percents = 0};
  struct bn_view_store store;
  struct bn_metrics m;
  struct bn_snap s;
  struct bn_view v;

  (void)state;
  bn_metrics_init(&m, metrics);
  bn_snap_init_for_metrics(&s, &m, 0, true);
  bn_view_store_init(&store, &s);
  bn_hist_put(s.hist[FIRST_PHASE], 3000000000, 4); /* the ages */
  bn_view_fill(&v, &store, &s, &rules);
  bn_phases_sum(&v, &store, &(struct bn_views){both, 2});
  assert_int_equal(v.phases[0].due, 4);
  assert_int_equal(v.phases[0].timing->unfinished, 4);
  assert_int_equal(v.phases[0].timing->count, 0);
  assert_true(isnan(v.phases[0].timing->avg_s) && isnan(v.phases[0].timing->min_s));
  assert_true(isnan(v.phases[0].timing->dev_s));
  assert_true(isnan(v.phases[0].recovery_s));
  bn_view_store_done(&store);
  bn_snap_done(&s);
  bn_metrics_done(&m);
}

BN_TESTS(phases)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(phases_may_have_the_last_histograms),
      cmocka_unit_test(a_list_may_lack_the_last_phases),
      cmocka_unit_test(the_sum_of_unfinished_events_alone_has_no_deviation),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
