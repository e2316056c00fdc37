/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups with different metrics: their records and lines get the rows of all, so that they can be
   summed; each group counts as a kind of events, and a group without --rate has not waited. */
#include "measure/group_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "measure/event_kinds.h"
#include "measure/merged_view.h"

static const struct bn_metric of_reads[] = {
    {.name = "hits", .unit = "1", .kind = BN_SCRIPT_COUNTER},
    {.name = "retries", .unit = "1", .kind = BN_COUNTER},
    {.name = "event:short", .unit = "ns", .kind = BN_EVENT_HISTOGRAM, .of_events = true},
    {.name = "events@event:short", .unit = "1", .kind = BN_EVENT_ENDED, .of_events = true},
    {.name = "retries@event:short", .unit = "1", .kind = BN_EVENT_RETRIES, .of_events = true},
    {.name = "failed_events@event:short", .unit = "1", .kind = BN_EVENT_FAILED, .of_events = true},
    {.name = "late_events@event:short", .unit = "1", .kind = BN_EVENT_LATE, .of_events = true},
    {.name = NULL}};
static const struct bn_metric of_report[] = {
    {.name = "rows", .unit = "1", .kind = BN_SCRIPT_COUNTER},
    {.name = "hits", .unit = "1", .kind = BN_SCRIPT_COUNTER},
    {.name = "queueing", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "service", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "wakeup_lag", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = NULL}};

enum { READS, REPORT, GROUPS };

struct world {
  struct bn_metrics own[GROUPS];
  struct bn_group_layout layout;
};

static int setup(void **state)
{
  static struct world w;
  struct bn_err err = {0};

  bn_metrics_init(&w.own[READS], of_reads);
  bn_metrics_init(&w.own[REPORT], of_report);
  const struct bn_group_part part[] = {{"reads", &w.own[READS]}, {"report", &w.own[REPORT]}};

  assert_int_equal(bn_group_layout_make(&w.layout, part, GROUPS, &err), 0);
  *state = &w;
  return 0;
}

static int teardown(void **state)
{
  struct world *w = *state;

  bn_group_layout_done(&w->layout);
  bn_metrics_done(&w->own[READS]);
  bn_metrics_done(&w->own[REPORT]);
  return 0;
}

static size_t row_named(const struct bn_metric *rows, size_t n, const char *name)
{
  size_t i = 0;

  while (i < n && strcmp(rows[i].name, name) != 0)
    i++;
  return i;
}

/* The record of a group with so many events of 1000 ns in 2 s, of which one ended in the grace. */
static void record(const struct world *w, size_t i, uint64_t events, struct bn_record *r)
{
  static const double percents[] = {50};
  const struct bn_view_rules rules = {.percents = percents, .n_percents = 1};
  const struct bn_metrics *m = &w->own[i];
  struct bn_view_store store;
  struct bn_snap s;
  struct bn_view v;

  bn_snap_init_for_metrics(&s, m, 1, true);
  s.span_ns = 2000000000;
  s.counter[BN_C_EVENTS] = events;
  s.session[0].events = events;
  s.session[0].busy_ns = s.busy_ns = events * 1000;
  s.late = 1;
  s.counter[row_named(m->counter, m->n_counters, "hits")] = 10 * events;
  if (i == READS)
    s.counter[row_named(m->counter, m->n_counters, "events@event:short")] = 3;
  bn_hist_put(s.hist[BN_H_LATENCY], 1000, events);
  s.n_labels[BN_L_ERRORS] = 1;
  s.label[BN_L_ERRORS][0] = (struct bn_label){.name = "1213", .n = events};
  bn_view_store_init(&store, &s);
  bn_view_fill(&v, &store, &s, &rules);
  v.span = BN_VIEW_TOTAL;
  v.retries = 4;
  v.failed_events = 2;
  v.unfinished = 1;
  v.due = i == REPORT ? 77 : 0;
  bn_record_copy(r, &v);
  bn_view_store_done(&store);
  bn_snap_done(&s);
  bn_group_layout_convert_record(&w->layout, i, r);
}

static const struct bn_event_kind *kind(const struct bn_view *v, const char *name)
{
  const struct bn_event_kind *k = bn_event_kinds_find_kind(v, name);

  assert_non_null(k);
  return k;
}

static void rows_of_one_name_are_one(void **state)
{
  const struct world *w = *state;
  const struct bn_metrics *all = &w->layout.all;

  assert_int_equal(all->n_counters, BN_C_FIXED + 3 + 3 * BN_EVENT_COUNTERS);
  assert_int_equal(all->n_hists, BN_H_FIXED + 3 + BN_STAT_WAITS);
  assert_string_equal(all->hist[all->n_hists - 1].name, "wakeup_lag");
  assert_string_equal(all->hist[BN_H_FIXED + 1].name, "group:reads");
  assert_true(bn_statset_has_waiting(all));
}

static void a_group_is_a_kind_of_events(void **state)
{
  struct bn_record r;

  record(*state, READS, 8, &r);
  assert_int_equal(r.view.n_event_kinds, 3);
  assert_int_equal(kind(&r.view, "group:reads")->events, 8);
  assert_true(fabs(kind(&r.view, "group:reads")->events_per_s - 3.5) < 1e-12);
  assert_true(fabs(kind(&r.view, "group:reads")->share - 1) < 1e-12);
  assert_int_equal(kind(&r.view, "group:reads")->retries, 4);
  assert_int_equal(kind(&r.view, "group:reads")->failed_events, 2);
  assert_int_equal(kind(&r.view, "group:report")->events, 0);
  assert_int_equal(kind(&r.view, "short")->events, 3);
  assert_int_equal(r.view.n_counts, 2);
  assert_int_equal(r.view.counts[0].count, 80);
  assert_int_equal(r.view.counts[1].count, 0);
  bn_record_done(&r);
}

static void a_group_without_a_rate_has_not_waited(void **state)
{
  const struct world *w = *state;
  const size_t n = w->layout.all.n_hists;
  struct bn_record r;

  record(w, READS, 8, &r);
  assert_int_equal(r.view.due, 8 + 2 + 1);
  assert_int_equal(r.view.started, r.view.due);
  assert_int_equal(r.view.finished, 7);
  assert_int_equal(bn_hist_count(r.delta.hist[n - 2]), 8); /* service */
  assert_int_equal(bn_hist_count(r.delta.hist[n - 3]), 8); /* queueing, of 0 ns */
  assert_true(bn_view_hist_percentile_s(r.delta.hist[n - 3], 100, false) < 2e-9);
  assert_int_equal(r.delta.session[0].service_ns, 8000);
  bn_record_done(&r);
  record(w, REPORT, 5, &r);
  assert_int_equal(r.view.due, 77);
  assert_int_equal(bn_hist_count(r.delta.hist[n - 2]), 0);
  bn_record_done(&r);
}

static void records_of_groups_are_summed(void **state)
{
  static const double percents[] = {50};
  const struct bn_view_rules rules = {.percents = percents, .n_percents = 1};
  struct bn_merged_view sum = {.ages = NULL};
  struct bn_record r[GROUPS];
  const struct bn_view *view[] = {&r[READS].view, &r[REPORT].view};
  const struct bn_views parts = {view, GROUPS};
  const struct bn_merge_time t = {.span = BN_VIEW_INTERVAL, .span_ns = 2000000000};
  struct bn_err err = {0};

  record(*state, READS, 8, &r[READS]);
  record(*state, REPORT, 5, &r[REPORT]);
  assert_int_equal(bn_merged_view_make(&sum, &parts, NULL, &rules, &t, &err), 0);
  assert_int_equal(sum.snap.counter[BN_C_EVENTS], 13);
  /* An interval leaves out the events of the grace. */
  assert_int_equal(kind(&sum.view, "group:reads")->events, 7);
  assert_int_equal(kind(&sum.view, "group:report")->events, 4);
  assert_true(fabs(kind(&sum.view, "group:reads")->events_per_s - 3.5) < 1e-12);
  assert_true(fabs(kind(&sum.view, "group:report")->events_per_s - 2) < 1e-12);
  assert_int_equal(kind(&sum.view, "group:reads")->timing->count, 8);
  assert_int_equal(sum.view.counts[0].count, 130);
  assert_string_equal(sum.view.counts[0].name, "hits");
  assert_int_equal(sum.snap.label[BN_L_ERRORS][0].n, 13);
  bn_merged_view_done(&sum);
  bn_record_done(&r[READS]);
  bn_record_done(&r[REPORT]);
}

static void histograms_of_a_line_find_their_rows(void **state)
{
  const struct world *w = *state;
  const size_t n = w->layout.all.n_hists;
  struct bn_hist_codec line = {.n = 0};

  /* Of reads: latencies of two buckets, and one event of the kind. */
  assert_int_equal(bn_hist_codec_take(&line, 0, "`!`c", 4), 1);
  assert_int_equal(bn_hist_codec_take(&line, 1, "_", 1), 1);
  assert_int_equal(line.count[0], 2 + 5);
  bn_group_layout_convert_line(&w->layout, READS, &line);
  assert_int_equal(line.count[0], 7);
  assert_int_equal(line.count[BN_H_FIXED], 1);
  assert_int_equal(line.count[BN_H_FIXED + 1], 7); /* group:reads */
  assert_int_equal(line.count[BN_H_FIXED + 2], 0); /* group:report */
  assert_int_equal(line.count[n - 3], 7);          /* queueing */
  assert_int_equal(line.count[n - 2], 7);          /* service */
  assert_int_equal(line.count[n - 1], 0);
  assert_int_equal(line.end[0], 2);
  assert_int_equal(line.end[BN_H_FIXED + 1] - line.end[BN_H_FIXED], 2);
  assert_int_equal(line.part[line.end[BN_H_FIXED + 2]].index, 0); /* no time of waiting */
  assert_int_equal(line.n, line.end[n - 1]);
  free(line.part);
}

/* A line of a group that finished no event in an interval has no buckets: under
   -fsanitize=undefined, memcpy() was called with NULL. */
static void a_line_of_an_idle_group_is_empty(void **state)
{
  const struct world *w = *state;
  struct bn_hist_codec line = {.n = 0};

  assert_int_equal(bn_hist_codec_take(&line, 0, "", 0), 1);
  assert_int_equal(bn_hist_codec_take(&line, 1, "", 0), 1);
  bn_group_layout_convert_line(&w->layout, READS, &line);
  assert_int_equal(line.n, 0);
  for (size_t i = 0; i < w->layout.all.n_hists; i++) {
    assert_int_equal(line.count[i], 0);
    assert_int_equal(line.end[i], 0);
  }
  free(line.part);
}

static void another_meaning_of_a_name_is_refused(void **state)
{
  static const struct bn_metric other[] = {
      {.name = "hits", .unit = "bytes", .kind = BN_SCRIPT_COUNTER}, {.name = NULL}};
  const struct world *w = *state;
  struct bn_group_layout layout;
  struct bn_metrics m;
  struct bn_err err = {0};

  bn_metrics_init(&m, other);
  const struct bn_group_part part[] = {{"a", &w->own[READS]}, {"b", &m}};

  assert_int_equal(bn_group_layout_make(&layout, part, 2, &err), -1);
  assert_string_equal(err.text,
                      "--group=b: its script measures 'hits' in another way than that of the group "
                      "'a'; give one of them another name");
  bn_metrics_done(&m);
}

/* Checks what is said of two groups that have `own` metrics each besides those of every run. */
static void check_refusal(enum bn_metric_kind kind, const char *unit, size_t own,
                          const char *sentence)
{
  enum { MOST = 300 };
  static char name[GROUPS][MOST][24];
  struct bn_metrics m[GROUPS];
  const struct bn_group_part part[] = {{"a", &m[0]}, {"b", &m[1]}};
  struct bn_group_layout layout;
  struct bn_err err = {0};

  assert_true(own <= MOST);
  for (size_t g = 0; g < GROUPS; g++) {
    struct bn_metric rows[MOST + 1] = {{.name = NULL}};

    for (size_t i = 0; i < own; i++) {
      (void)snprintf(name[g][i], sizeof name[g][i], "%s%zu", part[g].name, i);
      rows[i] = (struct bn_metric){.name = name[g][i], .unit = unit, .kind = kind};
    }
    bn_metrics_init(&m[g], rows);
  }
  assert_int_equal(bn_group_layout_make(&layout, part, GROUPS, &err), -1);
  assert_string_equal(err.text, sentence);
  bn_metrics_done(&m[0]);
  bn_metrics_done(&m[1]);
}

/* The groups share the 10 metrics of every run, of which one is a latency.  Each adds its own, and
   the 5 of the kind of events that stands for it, of which one is a latency. */
static void more_metrics_than_a_document_may_have_are_refused(void **state)
{
  (void)state;
  check_refusal(BN_SCRIPT_COUNTER, "1", 300,
                "--group: the groups have 620 metrics together; allowed: 512");
  check_refusal(BN_SCRIPT_HISTOGRAM, "ns", 50,
                "--group: the groups measure 103 latencies together; allowed: 96");
}

/* A host may say that it measures a kind of events without its counters, queueing alone, or
   queueing as a kind.  Rows that stand for groups would then be written beyond the tables. */
static void metrics_that_lack_others_are_refused(void **state)
{
  static const struct bn_metric odd[][8] = {
      {{.name = "group:reads", .unit = "ns", .kind = BN_EVENT_HISTOGRAM}, {.name = NULL}},
      {{.name = "queueing", .unit = "ns", .kind = BN_HISTOGRAM}, {.name = NULL}},
      {{.name = "queueing", .unit = "ns", .kind = BN_EVENT_HISTOGRAM},
       {.name = "service", .unit = "ns", .kind = BN_HISTOGRAM},
       {.name = "wakeup_lag", .unit = "ns", .kind = BN_HISTOGRAM},
       {.name = "events@queueing", .unit = "1", .kind = BN_EVENT_ENDED},
       {.name = "retries@queueing", .unit = "1", .kind = BN_EVENT_RETRIES},
       {.name = "failed_events@queueing", .unit = "1", .kind = BN_EVENT_FAILED},
       {.name = "late_events@queueing", .unit = "1", .kind = BN_EVENT_LATE},
       {.name = NULL}}};
  const struct world *w = *state;

  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    struct bn_metrics m;
    struct bn_group_layout layout;
    struct bn_err err = {0};

    bn_metrics_init(&m, odd[i]);
    const struct bn_group_part part[] = {{"reads", &w->own[READS]}, {"odd", &m}};

    assert_int_equal(bn_group_layout_make(&layout, part, 2, &err), -1);
    assert_non_null(strstr(err.text, "is it the same build of bench?"));
    bn_metrics_done(&m);
  }
}

/* The parts of one group on two hosts count as one kind of events. */
static void parts_of_a_group_have_its_rows(void **state)
{
  const struct world *w = *state;
  const struct bn_metrics *reads = &w->own[READS], *report = &w->own[REPORT];
  const struct bn_group_part part[] = {{"reads", reads}, {"reads", reads}, {"report", report}};
  struct world parts = {.layout = {.n = 0}};
  struct bn_err err = {0};
  struct bn_record r;

  assert_int_equal(bn_group_layout_make(&parts.layout, part, 3, &err), 0);
  assert_int_equal(parts.layout.n, 3);
  assert_int_equal(parts.layout.all.n_hists, w->layout.all.n_hists);
  assert_int_equal(parts.layout.all.n_counters, w->layout.all.n_counters);
  for (size_t i = 0; i < parts.layout.all.n_hists; i++)
    assert_string_equal(parts.layout.all.hist[i].name, w->layout.all.hist[i].name);
  for (size_t i = 0; i < 2; i++) {
    parts.own[i] = *reads;
    record(&parts, i, 8, &r);
    assert_int_equal(kind(&r.view, "group:reads")->events, 8);
    assert_int_equal(kind(&r.view, "group:report")->events, 0);
    bn_record_done(&r);
  }
  bn_group_layout_done(&parts.layout);
}

BN_TESTS(group_layout)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(rows_of_one_name_are_one, setup, teardown),
      cmocka_unit_test_setup_teardown(a_group_is_a_kind_of_events, setup, teardown),
      cmocka_unit_test_setup_teardown(a_group_without_a_rate_has_not_waited, setup, teardown),
      cmocka_unit_test_setup_teardown(records_of_groups_are_summed, setup, teardown),
      cmocka_unit_test_setup_teardown(histograms_of_a_line_find_their_rows, setup, teardown),
      cmocka_unit_test_setup_teardown(a_line_of_an_idle_group_is_empty, setup, teardown),
      cmocka_unit_test_setup_teardown(another_meaning_of_a_name_is_refused, setup, teardown),
      cmocka_unit_test(more_metrics_than_a_document_may_have_are_refused),
      cmocka_unit_test_setup_teardown(metrics_that_lack_others_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(parts_of_a_group_have_its_rows, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
