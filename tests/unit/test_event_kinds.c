/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of events: a view computes their counts, shares and rates from counters, also of the sum of
   several snapshots and of an interval with events of the grace; figures are found by name. */
#include "measure/event_kinds.h"

#include <math.h>
#include <string.h>

#include "cm.h"
#include "measure/layout.h"
#include "measure/stat.h"

#define KIND(as)                                                                                   \
  {.name = "event:" as, .unit = "ns", .kind = BN_EVENT_HISTOGRAM, .of_events = true},              \
      {.name = "events@event:" as, .unit = "1", .kind = BN_EVENT_ENDED, .of_events = true},        \
      {.name = "retries@event:" as, .unit = "1", .kind = BN_EVENT_RETRIES, .of_events = true},     \
      {.name = "failed_events@event:" as,                                                          \
       .unit = "1",                                                                                \
       .kind = BN_EVENT_FAILED,                                                                    \
       .of_events = true},                                                                         \
  {                                                                                                \
    .name = "late_events@event:" as, .unit = "1", .kind = BN_EVENT_LATE, .of_events = true         \
  }

static const struct bn_metric metrics[] = {
    {.name = "load", .unit = "ns", .kind = BN_SCRIPT_HISTOGRAM},
    KIND("a"),
    KIND("b"),
    {.name = NULL}};

enum { LOAD = BN_H_FIXED, HIST_A, HIST_B };
enum { A = BN_C_FIXED, B = BN_C_FIXED + BN_EVENT_COUNTERS };
enum { ENDED, RETRIES, FAILED, LATE };

/* Ten events in 2 s, of which one said no kind and one of kind a ended in the grace. */
static void count_ten(struct bn_snap *s)
{
  s->span_ns = 2000000000;
  s->counter[BN_C_EVENTS] = 10;
  s->late = s->counter[A + LATE] = 1;
  s->counter[A + ENDED] = 6;
  s->counter[B + ENDED] = 3;
  s->counter[B + RETRIES] = 4;
  s->counter[B + FAILED] = 2;
  bn_hist_put(s->hist[BN_H_LATENCY], 1000, 7);
  bn_hist_put(s->hist[BN_H_LATENCY], 5000, 3);
  bn_hist_put(s->hist[HIST_A], 1000, 6);
  bn_hist_put(s->hist[HIST_B], 5000, 3);
}

static void make(struct bn_snap *s)
{
  struct bn_metrics m;

  bn_metrics_init(&m, metrics);
  bn_snap_init_for_metrics(s, &m, 0, true);
  bn_metrics_done(&m);
}

static void figures_follow_from_counters(void **state)
{
  const double percents[] = {50};
  struct bn_view_rules rules = {.percents = percents, .n_percents = 1};
  struct bn_view_store store;
  struct bn_snap s;
  struct bn_view v;

  (void)state;
  make(&s);
  count_ten(&s);
  bn_view_store_init(&store, &s);
  bn_view_fill(&v, &store, &s, &rules);
  assert_int_equal(v.n_event_kinds, 2);
  assert_string_equal(v.event_kinds[0].name, "a");
  assert_int_equal(v.event_kinds[0].events, 6);
  assert_true(fabs(v.event_kinds[0].share - 0.6) < 1e-12);
  assert_true(fabs(v.event_kinds[0].events_per_s - 2.5) < 1e-12);
  assert_ptr_equal(v.event_kinds[1].timing, &v.timings[HIST_B - BN_H_FIXED]);
  assert_true(v.timings[HIST_B - BN_H_FIXED].of_kind && !v.timings[LOAD - BN_H_FIXED].of_kind);
  assert_true(fabs(v.event_kinds[1].timing->percentile_s[0] - 5e-6) < 1e-8);
  assert_int_equal(v.event_kinds[1].retries, 4);
  assert_int_equal(v.event_kinds[1].failed_events, 2);
  /* In an interval, events of the grace do not count: 5 of 9. */
  rules.in_span = true;
  bn_view_fill(&v, &store, &s, &rules);
  assert_int_equal(v.event_kinds[0].events, 5);
  assert_true(fabs(v.event_kinds[0].share - 5.0 / 9) < 1e-12);
  assert_true(fabs(v.event_kinds[0].events_per_s - 2.5) < 1e-12);
  bn_view_store_done(&store);
  bn_snap_done(&s);
}

static void sums_are_exact(void **state)
{
  const struct bn_view_rules rules = {.n_percents = 0};
  struct bn_view_store store;
  struct bn_snap a, b;
  struct bn_view v;

  (void)state;
  make(&a);
  make(&b);
  count_ten(&a);
  count_ten(&b);
  assert_int_equal(bn_snap_merge(&a, &b, 0), 0);
  bn_view_store_init(&store, &a);
  bn_view_fill(&v, &store, &a, &rules);
  assert_int_equal(v.event_kinds[1].events, 6);
  assert_int_equal(v.event_kinds[1].timing->count, 6);
  assert_int_equal(v.event_kinds[1].retries, 8);
  assert_true(fabs(v.event_kinds[1].share - 0.3) < 1e-12);
  bn_view_store_done(&store);
  bn_snap_done(&a);
  bn_snap_done(&b);
}

/* An end of the warm-up leaves what is not of events. */
static void the_warmup_is_left_out(void **state)
{
  struct bn_snap s;
  struct bn_snap_session session = {.counts_from_ns = 1};

  (void)state;
  make(&s);
  count_ten(&s);
  bn_hist_put(s.hist[LOAD], 1000, 7);
  s.n_sessions = 1;
  free(s.session);
  s.session = &session;
  bn_snap_end_warmup(&s);
  assert_int_equal(s.counter[A + ENDED], 0);
  assert_int_equal(s.counter[B + FAILED], 0);
  assert_int_equal(bn_hist_count(s.hist[HIST_A]), 0);
  assert_int_equal(bn_hist_count(s.hist[LOAD]), 7);
  s.session = NULL;
  bn_snap_done(&s);
}

static void figures_have_names(void **state)
{
  const struct bn_event_kind kind = {
      .events = 1, .events_per_s = 2.5, .share = 0.5, .retries = 4, .failed_events = 5};
  static const struct {
    const char *name;
    double value;
  } known[] = {
      {"events", 1}, {"events_per_s", 2.5}, {"share", 0.5}, {"retries", 4}, {"failed_events", 5}};
  double value;

  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    assert_true(bn_layout_get_number(bn_layout_event_kind, &kind, known[i].name, &value));
    assert_true(value == known[i].value);
  }
  assert_false(bn_layout_get_number(bn_layout_event_kind, &kind, "errors", &value));
  assert_string_equal(bn_event_kinds_parse_part("event:a"), "a");
  assert_null(bn_event_kinds_parse_part("events"));
  assert_string_equal(bn_event_kinds_name("odd"), "odd");
}

BN_TESTS(event_kinds)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_follow_from_counters),
      cmocka_unit_test(sums_are_exact),
      cmocka_unit_test(the_warmup_is_left_out),
      cmocka_unit_test(figures_have_names),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
