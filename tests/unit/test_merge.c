/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what a merged result says of each figure, which results are refused and why, and that a
   result can be merged again. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cm.h"
#include "measure/bounds.h"
#include "measure/merge.h"
#include "measure/merge_check.h"
#include "measure/messages.h"

static const uint64_t second = 1000000000;

static const struct bn_metric own[] = {
    {.name = "loads", .unit = "1"},
    {.name = "device_reads", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "queueing", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "wakeup_lag", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "connection_wait", .unit = "ns"},
    {.name = NULL}};

enum { LOADS = BN_C_FIXED, DEVICE_READS };

static const double ranks[] = {50, 99};

/* A run of ten seconds on a host of its own, `late_ns` after the first; n: what it counted. */
struct made {
  const char *host;
  uint64_t late_ns, n;
  bool hists;        /* of intervals */
  unsigned sessions; /* 0: two */
};

static void count(struct bn_snap *s, const struct made *m)
{
  for (size_t i = 0; i < s->metrics.n_counters; i++)
    s->counter[i] = m->n * (i + 1);
  for (size_t i = 0; i < s->metrics.n_hists; i++)
    bn_hist_put(s->hist[i], 1000 * m->n, s->counter[BN_C_EVENTS]);
  s->busy_ns = s->counter[BN_C_EVENTS] * 1000 * m->n;
  s->min_ns = s->max_ns = 1000 * m->n;
  s->late = m->n;
  s->dropped = 2 * m->n;
  s->running = (unsigned)m->n;
  for (unsigned i = 0; i < s->n_sessions; i++)
    s->session[i] = (struct bn_snap_session){.events = m->n, .min_ns = 1, .max_ns = 2};
  s->fair_events = (struct bn_moments){2, (long double)m->n, (long double)(m->n * m->n)};
}

/* Each figure that does not follow from the snapshot gets a value of its own. */
static void set_others(struct bn_view *v, uint64_t n)
{
  v->kind = BN_KIND_SQL;
  v->paced = true;
  v->unfinished = 3 * n;
  v->backlog = 2 * n;
  v->concurrency = n;
  v->due = 40 * n;
  v->started = 30 * n;
  v->dropped = 2 * n;
  v->finished = 20 * n;
  v->warmup_backlog = 5 * n;
  v->outages = 6 * n;
  v->failed_threads = 7 * n;
  v->longest_outage_s = (double)n;
  v->oldest_s = 2 * (double)n;
  v->setup_s = 3 * (double)n;
  v->grace_s = 4 * (double)n;
  v->teardown_s = 5 * (double)n;
}

static void add_view(struct bn_group *g, const struct made *m, enum bn_view_span span, double at_s,
                     double span_s)
{
  const struct bn_view_rules rules = {
      .percents = ranks, .n_percents = 2, .exact = true, .sessions = span == BN_VIEW_TOTAL};
  const struct bn_figure figures[] = {
      {.key = "ns_per_load", .value = 10.0 * (double)m->n, .merge = BN_MERGE_MEAN, .weight = LOADS},
      {.key = "reads_per_s", .value = (double)m->n, .merge = BN_MERGE_RATE},
      {.key = "device_reads_per_s", .value = 7, .merge = BN_MERGE_NONE},
      {.key = "strange", .value = 8}};
  const unsigned sessions = m->sessions != 0 ? m->sessions : 2;
  struct bn_metrics metrics;
  struct bn_snap s;
  struct bn_view_store store;
  struct bn_view v;

  bn_metrics_init(&metrics, own);
  bn_snap_init_for_metrics(&s, &metrics, span == BN_VIEW_TOTAL ? sessions : 0, true);
  bn_view_store_init(&store, &s);
  count(&s, m);
  s.at_ns = 100 * second + (uint64_t)(at_s * 1e9);
  s.span_ns = (uint64_t)(span_s * 1e9);
  bn_view_fill(&v, &store, &s, &rules);
  v.span = span;
  v.at_s = at_s;
  v.figures = figures;
  v.n_figures = 4;
  set_others(&v, m->n);
  g->packs = m->hists;
  bn_group_add_view(g, &v);
  bn_view_store_done(&store);
  bn_snap_done(&s);
  bn_metrics_done(&metrics);
}

static void make_result(struct bn_result *r, const struct made *m)
{
  struct bn_group *g;

  memset(r, 0, sizeof *r);
  r->facts.plan = (struct bn_plan){.version = BN_V11,
                                   .native = true,
                                   .threads = 2,
                                   .events = 5,
                                   .interval_ns = second,
                                   .percents = {50, 99},
                                   .n_percents = 2,
                                   .rate = 1.5,
                                   .seed = m->n};
  r->facts.start_ns = 100 * second;
  r->facts.start_wall_ns = 1000 * second + m->late_ns;
  r->facts.end_wall_ns = r->facts.start_wall_ns + 11 * second;
  bn_facts_set_text(&r->facts, "host", "name", m->host);
  bn_facts_set_text(&r->facts, "program", "name", "bench");
  bn_facts_add_option(&r->facts, &(struct bn_opt_fact){.name = "threads",
                                                       .group = "General",
                                                       .text = m->host,
                                                       .origin = BN_FROM_COMMAND_LINE,
                                                       .traits = BN_OPT_ADDED});
  bn_facts_add_option(&r->facts, &(struct bn_opt_fact){.name = "rate",
                                                       .group = "General",
                                                       .text = "1.5",
                                                       .origin = BN_FROM_COMMAND_LINE});
  bn_facts_add_option(&r->facts, &(struct bn_opt_fact){.name = "mysql-password",
                                                       .group = "mysql",
                                                       .text = "x",
                                                       .origin = BN_FROM_COMMAND_LINE,
                                                       .secret = true});
  bn_facts_add_row(&r->facts, 3, "Doing something");
  g = bn_result_add_group(r, "toy");
  assert_non_null(g);
  for (int i = 1; i <= 3; i++)
    add_view(g, m, BN_VIEW_INTERVAL, i, 1);
  add_view(g, m, BN_VIEW_TOTAL, 10, 10);
}

struct pair {
  struct bn_result r[2];
  struct bn_part part[2];
};

static void make_pair(struct pair *p, const struct made *a, const struct made *b)
{
  make_result(&p->r[0], a);
  make_result(&p->r[1], b);
  p->part[0] = (struct bn_part){"a.json", &p->r[0]};
  p->part[1] = (struct bn_part){"b.json", &p->r[1]};
}

static void free_pair(struct pair *p)
{
  bn_result_done(&p->r[0]);
  bn_result_done(&p->r[1]);
}

static const struct made one = {"one", 0, 10, true, 0}, two = {"two", 100000000, 30, true, 0};

static double real_of(const struct bn_view *v, const struct bn_view_field *f)
{
  const void *at = (const char *)v + f->offset;

  return f->type == BN_VIEW_F64 ? *(const double *)at : (double)*(const uint64_t *)at;
}

/* 10 and 30 merged: every figure of a view.  The span is 10.1 s. */
static const struct {
  const char *name;
  double value;
} expected[] = {{"at_s", 10.1},
                {"span_s", 10.1},
                {"setup_s", 90},
                {"grace_s", 120},
                {"teardown_s", 150},
                {"failed_threads", 280},
                {"in_grace", 40},
                {"unfinished", 120},
                {"oldest_s", 60},
                {"outages", 240},
                {"longest_outage_s", 30},
                {"due", 1600},
                {"started", 1200},
                {"dropped", 80},
                {"finished", 800},
                {"served", 0.5},
                {"lag_p50_s", 30.015e-6},
                {"lag_p99_s", 30.015e-6},
                {"lag_max_s", 30.015e-6},
                {"warmup_backlog", 200},
                {"backlog", 80},
                {"concurrency", 40},
                {"events", 160},
                {"reads", 80},
                {"writes", 120},
                {"other", 40},
                {"queries", 240},
                {"requests", 200},
                {"transactions", 160},
                {"errors", 200},
                {"reconnects", 240},
                {"retried_events", 0},
                {"retries", 0},
                {"failed_events", 0},
                {"fatal_errors", 0},
                {"connection_wait_s", 440e-9},
                {"acknowledged_commits", 0},
                {"missing_commits", 0},
                {"unknown_commits", 0},
                {"events_per_s", 120 / 10.1},
                {"reads_per_s", 80 / 10.1},
                {"writes_per_s", 120 / 10.1},
                {"other_per_s", 40 / 10.1},
                {"queries_per_s", 240 / 10.1},
                {"requests_per_s", 200 / 10.1},
                {"transactions_per_s", 120 / 10.1},
                {"errors_per_s", 200 / 10.1},
                {"reconnects_per_s", 240 / 10.1},
                {"bytes_read", 280},
                {"bytes_written", 320},
                {"bytes_moved", 600},
                {"bytes_read_per_s", 280 / 10.1},
                {"bytes_written_per_s", 320 / 10.1},
                {"bytes_moved_per_s", 600 / 10.1},
                {"bytes_touched_per_s", 600 / 10.1},
                {"min_s", 10e-6},
                {"median_s", 30e-6},
                {"avg_s", 25e-6},
                {"max_s", 60},
                {"sum_s", 4e-3},
                {"dev_s", 8.661988527468738e-06},
                {"fair_events_avg", 10},
                {"fair_events_dev", 12.247448713915890},
                {"fair_time_avg", 0},
                {"fair_time_dev", 0}};

/* A new figure is computed from the snapshot, or it needs a rule in measure/merge.c. */
static void every_figure_has_a_rule(void **state)
{
  struct pair p;
  struct bn_result sum;
  struct bn_buf notes = {.max = 0};
  struct bn_err err = {0};
  const struct bn_view *v;

  (void)state;
  make_pair(&p, &one, &two);
  assert_int_equal(bn_merge(p.part, 2, BN_MERGE_ALIKE, &sum, &notes, &err), 0);
  v = &sum.group[0].total.view;
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++) {
    size_t i = 0;

    while (i < sizeof expected / sizeof *expected && strcmp(expected[i].name, f->name) != 0)
      i++;
    if (i == sizeof expected / sizeof *expected)
      fail_msg("how is '%s' merged?", f->name);
    if (fabs(real_of(v, f) - expected[i].value) > 1e-3 * fabs(expected[i].value))
      fail_msg("%s: %.9g, not %.9g", f->name, real_of(v, f), expected[i].value);
  }
  assert_true(v->paced && v->kind == BN_KIND_SQL && v->max_at_least && v->running == 40);
  assert_true(v->counter[LOADS] == 360 && v->counter[DEVICE_READS] == BN_ABSENT);
  assert_true(v->n_percents == 2 && v->percents[1] == 99 && v->at_least[1]);
  assert_int_equal(v->n_sessions, 4);
  assert_int_equal(v->sessions[3].events, 30);
  assert_int_equal(v->n_figures, 2);
  assert_string_equal(v->figures[0].key, "ns_per_load");
  assert_true(fabs(v->figures[0].value - 250) < 1e-9); /* a quarter 100, the rest 300 */
  assert_true(fabs(v->figures[1].value - 400 / 10.1) < 1e-9);
  bn_result_done(&sum);
  bn_buf_done(&notes);
  free_pair(&p);
}

static const char *fact_text(const struct bn_facts *f, const char *key)
{
  const struct bn_fact *fact = bn_facts_find(f, "merge", key);

  assert_non_null(fact);
  return fact->text;
}

static void facts_say_what_was_merged(void **state)
{
  struct pair p;
  struct bn_result sum;
  struct bn_buf notes = {.max = 0};
  struct bn_err err = {0};
  const struct bn_facts *f = &sum.facts;

  (void)state;
  make_pair(&p, &two, &one);
  p.r[0].end = (struct bn_end){.status = 1, .failed = true};
  p.r[1].end = (struct bn_end){.status = 4, .partial = true};
  assert_int_equal(bn_merge(p.part, 2, BN_MERGE_ALIKE, &sum, &notes, &err), 0);
  assert_int_equal(bn_facts_find(f, "merge", "parts")->whole, 2);
  assert_true(fabs(bn_facts_find(f, "merge", "overlap")->real - 9.9 / 10.1) < 1e-9);
  assert_true(fabs(bn_facts_find(f, "merge", "union_s")->real - 10.1) < 1e-9);
  assert_string_equal(fact_text(f, "part_1_file"), "b.json");
  assert_string_equal(fact_text(f, "part_2_host"), "two");
  assert_int_equal(bn_facts_find(f, "merge", "part_2_start_wall_ns")->whole, 1000100000000);
  assert_int_equal(bn_facts_find(f, "merge", "part_2_end_wall_ns")->whole, 1010100000000);
  assert_null(bn_facts_find(f, "host", "name"));
  assert_string_equal(bn_facts_find(f, "program", "name")->text, "bench");
  assert_int_equal(f->n_options, 2);
  assert_string_equal(f->option[0].name, "rate");
  assert_true(f->option[1].secret && f->option[1].value == NULL);
  assert_int_equal(f->n_rows, 2);
  assert_string_equal(f->row[0].text, "Merged from 2 runs, which took 10.1 s; overlap: 98.0 %\n\n");
  assert_true(f->plan.threads == 4 && f->plan.events == 10 && f->plan.rate == 3);
  assert_true(f->plan.seed == 0 && !f->plan.seed_given);
  assert_true(sum.end.status == 1 && sum.end.failed && sum.end.partial);
  assert_string_equal(notes.data,
                      "merged 2 runs, which took 10.1 s; overlap: 98.0 %\n"
                      "'b.json' is from a run that has not ended, or contains such a run\n");
  bn_result_done(&sum);
  bn_buf_done(&notes);
  free_pair(&p);
}

/* The exact greatest latency of two runs with checkpoints, whose totals begin so much after the
   measurement; 0: none is known. */
static uint64_t greatest_ns(double before_s)
{
  struct bn_result sum;
  struct bn_buf notes = {.max = 0};
  struct bn_err err = {0};
  struct pair p;
  uint64_t max_ns;

  make_pair(&p, &one, &two);
  for (size_t i = 0; i < 2; i++) {
    struct bn_plan *plan = &p.r[i].facts.plan;

    plan->checkpoint_ns[1] = 2 * second;
    plan->checkpoint_ns[2] = 10 * second;
    plan->n_checkpoints = 3; /* the first, at the beginning, cuts nothing */
    p.r[i].group[0].total.view.at_s += before_s;
  }
  assert_int_equal(bn_merge(p.part, 2, BN_MERGE_HOSTS, &sum, &notes, &err), 0);
  max_ns = sum.group[0].total.delta.max_ns;
  bn_result_done(&sum);
  bn_buf_done(&notes);
  free_pair(&p);
  return max_ns;
}

/* Extremes are exact unless what came before a checkpoint is in them: tests that are not cut have
   the whole time in their total, and so has one that ended as its first checkpoint was due.  The
   end of a warm-up may be noticed late. */
static void a_total_that_was_not_cut_has_exact_extremes(void **state)
{
  (void)state;
  assert_int_equal(greatest_ns(0), 30000);
  assert_int_equal(greatest_ns(0.01), 30000);
  assert_int_equal(greatest_ns(2), 0);
  assert_int_equal(greatest_ns(10.5), 0);
}

static void assert_same_figures(const struct bn_view *a, const struct bn_view *b)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (real_of(a, f) != real_of(b, f))
      fail_msg("%s: %.17g and %.17g", f->name, real_of(a, f), real_of(b, f));
  for (size_t i = 0; i < a->n_percents; i++)
    assert_true(a->percentile_s[i] == b->percentile_s[i]);
}

/* But for the order of additions. */
static void assert_near_figures(const struct bn_view *a, const struct bn_view *b)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (fabs(real_of(a, f) - real_of(b, f)) > 1e-12 * fabs(real_of(a, f)))
      fail_msg("%s: %.17g and %.17g", f->name, real_of(a, f), real_of(b, f));
}

static void a_sum_can_be_summed(void **state)
{
  static const struct made three = {"three", 200000000, 70, true, 0};
  struct bn_result last, pair, all, again;
  struct bn_buf notes = {.max = 0};
  struct bn_err err = {0};
  struct bn_part part[3];
  struct pair p;

  (void)state;
  make_pair(&p, &one, &two);
  make_result(&last, &three);
  part[0] = (struct bn_part){"c.json", &last};
  part[1] = p.part[1];
  part[2] = p.part[0];
  assert_int_equal(bn_merge(part, 3, BN_MERGE_ALIKE, &all, &notes, &err), 0);
  assert_int_equal(bn_merge(p.part, 2, BN_MERGE_ALIKE, &pair, &notes, &err), 0);
  part[1] = (struct bn_part){"ab.json", &pair};
  assert_int_equal(bn_merge(part, 2, BN_MERGE_ALIKE, &again, &notes, &err), 0);
  assert_near_figures(&all.group[0].total.view, &again.group[0].total.view);
  assert_int_equal(again.group[0].total.view.n_sessions, 6);
  assert_int_equal(bn_facts_find(&again.facts, "merge", "parts")->whole, 3);
  assert_string_equal(fact_text(&again.facts, "part_1_file"), "a.json");
  bn_result_done(&again);
  /* One result gives the same figures, and so does each further merge. */
  part[0] = (struct bn_part){"all.json", &all};
  assert_int_equal(bn_merge(part, 1, BN_MERGE_ALIKE, &again, &notes, &err), 0);
  assert_same_figures(&all.group[0].total.view, &again.group[0].total.view);
  assert_int_equal(again.group[0].n_intervals, 3);
  bn_result_done(&again);
  part[1] = p.part[0];
  assert_int_equal(bn_merge(part, 2, BN_MERGE_FORCED, &again, &notes, &err), -1);
  assert_string_equal(err.text,
                      "'all.json' and 'a.json' hold the same run, which would count twice");
  bn_result_done(&all);
  bn_result_done(&pair);
  bn_result_done(&last);
  bn_buf_done(&notes);
  free_pair(&p);
}

static void intervals_are_those_of_one_time(void **state)
{
  static const struct {
    struct made made;
    size_t n, ranks;
    const char *note;
  } cases[] = {
      {{"two", 400000000, 30, true, 0}, 3, 2, ""},
      {{"two", 400000000, 30, false, 0},
       3,
       0,
       "the intervals have no percentiles: the results do not hold their histograms "
       "(--report-bins=all)\n"},
      {{"two", 600000000, 30, true, 0},
       0,
       0,
       "the result has no intervals: the measurements did not begin within half an interval\n"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct pair p;
    struct bn_result sum;
    struct bn_buf notes = {.max = 0};
    struct bn_err err = {0};
    const struct bn_group *g = NULL;

    make_pair(&p, &one, &cases[i].made);
    assert_int_equal(bn_merge(p.part, 2, BN_MERGE_FORCED, &sum, &notes, &err), 0);
    g = &sum.group[0];
    assert_non_null(strchr(notes.data, '\n'));
    assert_string_equal(strchr(notes.data, '\n') + 1, cases[i].note);
    assert_int_equal(g->n_intervals, cases[i].n);
    assert_int_equal(sum.facts.plan.interval_ns, cases[i].n > 0 ? second : 0);
    for (size_t k = 0; k < g->n_intervals; k++) {
      const struct bn_view *v = &g->interval[k].view;

      assert_true(fabs(v->at_s - (double)k - 1.4) < 1e-9 && v->span_s == 1);
      assert_true(v->events == 120 && v->events_per_s == 120 && v->reads_per_s == 80);
      assert_int_equal(v->n_percents, cases[i].ranks);
      assert_true(fabs(v->avg_s - 25e-6) < 1e-9 && fabs(v->timings[0].sum_s - 4e-3) < 1e-5);
      assert_true(v->n_percents == 0 || fabs(v->percentile_s[1] - 30e-6) < 1e-7);
    }
    bn_result_done(&sum);
    bn_buf_done(&notes);
    free_pair(&p);
  }
}

static void other_test(struct bn_result *r)
{
  r->group[0].name[0] = 'x';
}

static void other_dialect(struct bn_result *r)
{
  r->facts.plan.native = false;
}

static void other_rank(struct bn_result *r)
{
  r->facts.plan.percents[1] = 98;
}

static void other_metric(struct bn_result *r)
{
  r->group[0].total.delta.metrics.n_counters--;
}

static void nothing_measured(struct bn_result *r)
{
  bn_record_done(&r->group[0].total);
  r->group[0].has_total = false;
}

static void no_times(struct bn_result *r)
{
  r->facts.start_ns = UINT64_MAX;
}

static void hostile_merge(struct bn_result *r)
{
  bn_facts_set_whole(&r->facts, "merge", "parts", INT64_MAX);
}

static void too_many(struct bn_result *r)
{
  r->group[0].total.delta.counter[BN_C_READ] = UINT64_MAX - 5;
}

static void too_many_due(struct bn_result *r)
{
  r->group[0].total.view.due = UINT64_MAX - 5;
}

static void late(struct bn_result *r)
{
  r->facts.start_wall_ns += second;
}

static void other_option(struct bn_result *r)
{
  bn_facts_add_option(&r->facts, &(struct bn_opt_fact){.name = "cpu-max-prime",
                                                       .group = "cpu",
                                                       .text = "7",
                                                       .origin = BN_FROM_COMMAND_LINE});
}

static void default_option(struct bn_result *r)
{
  bn_facts_add_option(&r->facts, &(struct bn_opt_fact){.name = "cpu-max-prime",
                                                       .group = "cpu",
                                                       .text = "7",
                                                       .origin = BN_FROM_DEFAULT});
}

static void other_rate(struct bn_result *r)
{
  r->facts.option[1].value[0] = '2';
}

static void what_cannot_be_summed_is_refused(void **state)
{
  static const struct {
    void (*change)(struct bn_result *r);
    const char *why, *forced; /* NULL: it is merged */
  } cases[] = {
      {other_test, "'a.json' is of the test 'toy', and 'b.json' of the test 'xoy'", ""},
      {other_dialect, "the dialects differ: none in 'a.json', 1.1 in 'b.json'", ""},
      {other_rank, "'a.json' and 'b.json' have percentiles of different ranks (--percentile)", ""},
      {other_metric,
       "'a.json' and 'b.json' count different metrics; use the same version of bench and the same "
       "options for all runs",
       ""},
      {nothing_measured, "'b.json' is of a run that measured nothing, or has no totals", ""},
      {no_times, "'b.json' does not contain the times of its run", ""},
      {hostile_merge, "'b.json' is a merged result without the list of its runs", ""},
      {too_many, "the counts of the results do not fit into 64 bits", ""},
      {too_many_due, "the counts of the results do not fit into 64 bits", ""},
      {late,
       "the spans of the runs overlap for 80.2 % of 11.1 s, but rates add up only from 90 % on; "
       "--force merges them anyway",
       NULL},
      {other_option,
       "--cpu-max-prime differs: (none) in 'a.json', 7 in 'b.json'; --force merges them "
       "anyway",
       NULL},
      {other_rate, "--rate differs: 1.5 in 'a.json', 2.5 in 'b.json'; --force merges them anyway",
       NULL},
      {default_option, NULL, NULL},
  };

  (void)state;
  for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
    const bool force = i % 2 != 0;
    const char *why = force && cases[i / 2].forced == NULL ? NULL : cases[i / 2].why;
    struct bn_buf notes = {.max = 0};
    struct bn_err err = {0};
    struct bn_result sum;
    struct pair p;

    make_pair(&p, &one, &two);
    cases[i / 2].change(&p.r[1]);
    assert_int_equal(
        bn_merge(p.part, 2, force ? BN_MERGE_FORCED : BN_MERGE_ALIKE, &sum, &notes, &err),
        why != NULL ? -1 : 0);
    assert_string_equal(err.text, why != NULL ? why : "");
    if (cases[i / 2].change == other_rate && force)
      assert_memory_equal(notes.data, "--rate differs: 1.5 in 'a.json', 2.5 in 'b.json'\n", 49);
    p.r[1].group[0].total.delta.metrics.n_counters += cases[i / 2].change == other_metric;
    bn_result_done(&sum);
    bn_buf_done(&notes);
    free_pair(&p);
  }
}

static void the_first_of_failures_of_a_kind_is_kept(void **state)
{
  struct bn_facts late = {0}, early = {0}, timeless = {0};

  (void)state;
  bn_facts_set_text(&late, BN_THREAD_ERRORS, "x.lua:3", "x.lua:3: late");
  bn_facts_set_real(&late, BN_THREAD_ERROR_TIMES, "x.lua:3", 1.99);
  bn_facts_set_text(&early, BN_THREAD_ERRORS, "x.lua:3", "x.lua:3: early");
  bn_facts_set_real(&early, BN_THREAD_ERROR_TIMES, "x.lua:3", 0.39);
  bn_facts_set_text(&timeless, BN_THREAD_ERRORS, "x.lua:3", "x.lua:3: at some time");
  bn_facts_add_errors(&late, &early);
  bn_facts_add_errors(&late, &timeless);
  assert_string_equal(bn_facts_find(&late, BN_THREAD_ERRORS, "x.lua:3")->text, "x.lua:3: early");
  assert_true(bn_facts_find(&late, BN_THREAD_ERROR_TIMES, "x.lua:3")->real == 0.39);
  bn_facts_add_errors(&early, &late);
  assert_true(bn_facts_find(&early, BN_THREAD_ERROR_TIMES, "x.lua:3")->real == 0.39);
  bn_facts_done(&late);
  bn_facts_done(&early);
  bn_facts_done(&timeless);
}

/* Two parts have more messages than a document holds.  The process that merges adds its own, as
   many as its log records. */
static void leaves_room_for_the_messages_of_this_process(void **state)
{
  enum { EACH = BN_BOUND_MESSAGES - 1 };
  struct bn_result result[2] = {{.n_groups = 0}};
  struct bn_part part[2] = {{.result = &result[0]}, {.result = &result[1]}};
  struct bn_facts out = {.n_messages = 0};
  char text[32];

  (void)state;
  for (unsigned i = 0; i < 2 * EACH; i++) {
    (void)snprintf(text, sizeof text, "message %u", i);
    bn_facts_add_message(&result[i % 2].facts, 1 + i, 0, text, 1);
  }
  bn_messages_merge(part, 2, &out);
  assert_int_equal(out.n_messages, 4096 - 100);
  assert_int_equal(BN_BOUND_MESSAGES, 4096);
  assert_int_equal(BN_LOG_MESSAGES_MAX, 100);
  assert_string_equal(out.message[0].text, "message 0");
  assert_string_equal(out.message[out.n_messages - 1].text, "message 3995");
  bn_facts_done(&out);
  bn_facts_done(&result[0].facts);
  bn_facts_done(&result[1].facts);
}

BN_TESTS(merge)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_figure_has_a_rule),
      cmocka_unit_test(facts_say_what_was_merged),
      cmocka_unit_test(a_total_that_was_not_cut_has_exact_extremes),
      cmocka_unit_test(a_sum_can_be_summed),
      cmocka_unit_test(intervals_are_those_of_one_time),
      cmocka_unit_test(what_cannot_be_summed_is_refused),
      cmocka_unit_test(the_first_of_failures_of_a_kind_is_kept),
      cmocka_unit_test(leaves_room_for_the_messages_of_this_process),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
