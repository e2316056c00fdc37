/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that facts and views outlive what they were made from: a result is a value. */

#include "cm.h"

#include <string.h>

#include "measure/result.h"
#include "measure/stat.h"

enum { SESSIONS = 2, INTERVALS = 5 };

static const struct bn_metric extra[] = {
    {.name = "read_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "device_reads", .unit = "1"},
    {.name = NULL}};

/* --- facts ------------------------------------------------------------------------------------ */

static void facts_are_replaced_by_key(void **state)
{
  struct bn_facts f = {.start_ns = 0};

  (void)state;
  for (int64_t i = 0; i < 100; i++)
    bn_facts_set_whole(&f, "host", i % 2 == 0 ? "even" : "odd", i);
  bn_facts_set_text(&f, "host", "even", "none");
  bn_facts_set_real(&f, "clock", "even", 0.5);
  assert_int_equal(f.n_facts, 3);
  assert_string_equal(bn_facts_find(&f, "host", "even")->text, "none");
  assert_int_equal(bn_facts_find(&f, "host", "odd")->whole, 99);
  assert_true(bn_facts_find(&f, "clock", "even")->real == 0.5);
  assert_null(bn_facts_find(&f, "clock", "odd"));
  bn_facts_set_whole(&f, "host", "even", 7);
  assert_null(bn_facts_find(&f, "host", "even")->text);
  bn_facts_done(&f);
}

static void secrets_are_not_kept(void **state)
{
  struct bn_facts f = {.start_ns = 0};

  (void)state;
  bn_facts_add_option(&f, &(struct bn_opt_fact){.name = "mysql-password",
                                                .group = "mysql options",
                                                .text = "hunter2",
                                                .origin = BN_FROM_FILE,
                                                .secret = true});
  bn_facts_add_option(&f, &(struct bn_opt_fact){.name = "mysql-user",
                                                .group = "mysql options",
                                                .text = "me",
                                                .origin = BN_FROM_COMMAND_LINE});
  bn_facts_add_option(&f, &(struct bn_opt_fact){.name = "config-file",
                                                .group = "General options",
                                                .text = NULL,
                                                .origin = BN_FROM_DEFAULT});
  bn_facts_add_row(&f, 3, "%d files", 7);
  assert_int_equal(f.n_options, 3);
  assert_null(f.option[0].value);
  assert_true(f.option[0].secret && f.option[0].origin == BN_FROM_FILE);
  assert_string_equal(f.option[1].value, "me");
  assert_false(f.option[1].secret);
  assert_true(f.option[2].value == NULL && !f.option[2].secret);
  assert_int_equal(f.n_rows, 1);
  assert_string_equal(f.row[0].text, "7 files\n");
  bn_facts_done(&f);
}

/* --- records ---------------------------------------------------------------------------------- */

static void one_event(struct bn_stat *st, uint64_t took_ns)
{
  bn_stat_count(st, BN_C_EVENTS, 1);
  bn_stat_count(st, BN_C_FIXED, 3);
  bn_stat_bump(&st->busy_ns, took_ns);
  bn_stat_record(st, BN_H_LATENCY, took_ns);
  bn_stat_record(st, BN_H_FIXED, took_ns / 2);
}

/* A run of INTERVALS seconds with i + 1 events of i + 1 ms in second i; nothing of it is left. */
static void measure(struct bn_group *g)
{
  static const double percents[] = {50, 99};
  static struct bn_figure figure = {.key = "reads_per_s", .value = 12.5, .text = "Reads"};
  const struct bn_view_rules rules = {.percents = percents, .n_percents = 2, .sessions = true};
  struct bn_statset set;
  struct bn_snap start, last, now;
  struct bn_view_store store;
  struct bn_view v;

  assert_int_equal(bn_statset_init(&set, SESSIONS, SESSIONS, extra, 0), 0);
  bn_snap_init(&start, &set);
  bn_snap_init(&last, &set);
  bn_snap_init(&now, &set);
  bn_view_store_init(&store, &now);
  bn_snap_take(&start, &set, 0);
  bn_snap_copy(&last, &start);
  for (uint64_t i = 0; i <= INTERVALS; i++) {
    struct bn_snap *const base = i < INTERVALS ? &last : &start;

    for (uint64_t k = 0; i < INTERVALS && k <= i; k++)
      one_event(set.stat[k % SESSIONS], (i + 1) * 1000000);
    bn_snap_take(&now, &set, (i < INTERVALS ? i + 1 : i) * 1000000000);
    bn_snap_subtract(&now, base);
    bn_view_fill(&v, &store, &now, &rules);
    v.span = i < INTERVALS ? BN_VIEW_INTERVAL : BN_VIEW_TOTAL;
    v.figures = &figure;
    v.n_figures = 1;
    bn_group_add_view(g, &v);
    bn_snap_take(&last, &set, (i + 1) * 1000000000);
  }
  figure.text = "gone";
  bn_view_store_done(&store);
  bn_snap_done(&start);
  bn_snap_done(&last);
  bn_snap_done(&now);
  bn_statset_done(&set);
}

static void check_interval(const struct bn_record *r, uint64_t i)
{
  const struct bn_view *v = &r->view;

  assert_int_equal(v->events, i + 1);
  assert_int_equal(v->counter[BN_C_FIXED], 3 * (i + 1));
  assert_true(v->events_per_s == (double)(i + 1));
  assert_int_equal(v->n_percents, 2);
  assert_true(v->percents[1] == 99 && v->percentile_s[1] >= (double)(i + 1) * 1e-3 &&
              v->percentile_s[1] < (double)(i + 1) * 1.001e-3);
  assert_null(v->latency);
  assert_int_equal(v->n_timings, 1);
  assert_string_equal(v->timings[0].name, "read_latency");
  assert_int_equal(v->timings[0].count, i + 1);
  assert_null(v->timings[0].percentile_s);
  assert_null(r->store.timing_s);
  assert_string_equal(v->figures[0].text, "Reads");
  assert_string_equal(v->delta->metrics.counter[BN_C_FIXED].name, "device_reads");
  assert_true(v->sessions == NULL && v->n_sessions == 0 && v->delta->n_sessions == 0);
}

/* Half of the latencies: the eighth of 15 is that of an event of 4 ms, the last one of 5 ms. */
static void check_timing(const struct bn_view *v)
{
  const struct bn_timing *t = &v->timings[0];

  assert_int_equal(t->count, 15);
  assert_true(t->min_s <= 0.5e-3 && t->min_s > 0.4995e-3);
  assert_true(t->percentile_s[0] >= 2e-3 && t->percentile_s[0] < 2.002e-3);
  assert_true(t->percentile_s[1] >= 2.5e-3 && t->percentile_s[1] == t->max_s);
}

static void records_outlive_the_run(void **state)
{
  struct bn_result r = {.n_groups = 0};
  struct bn_group *g;

  (void)state;
  g = bn_result_add_group(&r, "fileio");
  assert_non_null(g);
  measure(g);
  /* Groups and records move when there are more. */
  for (int i = 0; i < 4; i++)
    assert_non_null(bn_result_add_group(&r, "other"));
  g = &r.group[0];
  assert_int_equal(g->n_intervals, INTERVALS);
  for (uint64_t i = 0; i < INTERVALS; i++)
    check_interval(&g->interval[i], i);
  assert_true(g->has_total);
  assert_int_equal(g->total.view.events, 15);
  assert_int_equal(bn_hist_count(g->total.view.latency), 15);
  assert_true(g->total.view.span_s == INTERVALS);
  check_timing(&g->total.view);
  assert_int_equal(g->total.view.n_sessions, SESSIONS);
  assert_int_equal(g->total.view.sessions[0].events + g->total.view.sessions[1].events, 15);
  assert_true(g->total.view.percents == g->total.store.percents);
  assert_string_equal(g->name, "fileio");
  bn_result_done(&r);
  assert_int_equal(r.n_groups, 0);
}

BN_TESTS(result)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(facts_are_replaced_by_key),
      cmocka_unit_test(secrets_are_not_kept),
      cmocka_unit_test(records_outlive_the_run),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
