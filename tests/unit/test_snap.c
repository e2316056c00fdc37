/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots sum sessions, subtract exactly, merge by addition; views clamp percentiles and find
   extremes. */

#include "cm.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "engine/event.h"
#include "measure/snap.h"
#include "measure/view.h"

enum { SESSIONS = 3, EXTRA = BN_C_FIXED };

static const struct bn_metric extra[] = {
    {.name = "cycles", .unit = "1"},
    {.name = "read_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = NULL}};

static void one_event(struct bn_stat *st, uint64_t start, uint64_t took)
{
  bn_stat_bump(&st->begun, 1);
  bn_stat_bump(&st->begun_at, start);
  bn_stat_bump(&st->ended, 1);
  bn_stat_bump(&st->ended_at, start);
  bn_stat_bump(&st->busy_ns, took);
  bn_stat_count(st, BN_C_EVENTS, 1);
  bn_stat_record(st, BN_H_LATENCY, took);
  if (took < st->min_ns)
    st->min_ns = took;
  if (took > st->max_ns)
    st->max_ns = took;
}

static void differences_are_exact(void **state)
{
  struct bn_statset set;
  struct bn_snap a, b;

  (void)state;
  assert_int_equal(bn_statset_init(&set, SESSIONS, SESSIONS, extra, 0), 0);
  assert_int_equal(set.metrics.n_counters, BN_C_FIXED + 1);
  assert_int_equal(set.metrics.n_hists, 2);
  bn_snap_init(&a, &set);
  bn_snap_init(&b, &set);
  one_event(set.stat[0], 100, 1000);
  bn_stat_count(set.stat[1], EXTRA, 5);
  bn_labels_count(set.labels[0], "1213", 2);
  bn_snap_take(&a, &set, 10000);
  one_event(set.stat[0], 2000, 3000);
  one_event(set.stat[2], 2000, 70000);
  bn_stat_count(set.stat[1], EXTRA, 7);
  bn_stat_bump(&set.stat[1]->begun, 2); /* two in flight since 15,000 and 16,000 */
  bn_stat_bump(&set.stat[1]->begun_at, 31000);
  bn_labels_count(set.labels[0], "1205", 1);
  bn_labels_count(set.labels[0], "1213", 1);
  bn_snap_take(&b, &set, 20000);
  bn_snap_subtract(&b, &a);
  assert_int_equal(b.counter[BN_C_EVENTS], 2);
  assert_int_equal(b.counter[EXTRA], 7);
  assert_int_equal(b.span_ns, 10000);
  assert_int_equal(b.busy_ns, 73000);
  assert_int_equal(bn_hist_count(b.hist[BN_H_LATENCY]), 2);
  assert_int_equal(b.unfinished, 2);
  assert_true(fabs(b.unfinished_s - 9e-6) < 1e-12);
  assert_int_equal(b.label[0][0].n, 1);
  assert_string_equal(b.label[0][1].name, "1205");
  assert_true(b.fair_events.n == 3 && b.fair_events.sum == 2 && b.fair_events.sum_sq == 2);
  /* A run that ended before its last checkpoint was reported. */
  bn_snap_take(&b, &set, 9999);
  bn_snap_subtract(&b, &a);
  assert_int_equal(b.span_ns, 0);
  bn_snap_done(&a);
  bn_snap_done(&b);
  bn_statset_done(&set);
}

/* Of one host and of another. */
static void make_one(struct bn_snap *s, struct bn_statset *set, const char *label, uint64_t took)
{
  assert_int_equal(bn_statset_init(set, SESSIONS, SESSIONS, extra, 0), 0);
  bn_snap_init(s, set);
  one_event(set->stat[1], 100, took);
  bn_stat_count(set->stat[2], EXTRA, took);
  bn_labels_count(set->labels[0], label, 2);
  bn_labels_count(set->labels[0], "1213", took);
  bn_snap_take(s, set, 10000);
}

static void sums_of_hosts_are_exact(void **state)
{
  struct bn_statset set[2];
  struct bn_snap a, b, sum;

  (void)state;
  make_one(&a, &set[0], "1205", 1000);
  make_one(&b, &set[1], "40001", 70000);
  a.counter[BN_C_ERROR] = BN_ABSENT;
  a.fair_events = (struct bn_moments){3, 1, 1};
  b.fair_events = (struct bn_moments){3, 5, 25};
  bn_snap_init_for_metrics(&sum, &a.metrics, SESSIONS + 2, true);
  assert_int_equal(bn_snap_merge(&sum, &a, 0), 0);
  bn_snap_pack(&b, &b);
  bn_hist_free(b.hist[0]);
  bn_hist_free(b.hist[1]);
  b.hist[0] = b.hist[1] = NULL;
  assert_int_equal(bn_snap_merge(&sum, &b, SESSIONS), 0);
  assert_int_equal(sum.counter[BN_C_EVENTS], 2);
  assert_int_equal(sum.counter[EXTRA], 71000);
  assert_true(sum.counter[BN_C_ERROR] == BN_ABSENT);
  assert_int_equal(sum.busy_ns, 71000);
  assert_true(sum.min_ns == 1000 && sum.max_ns == 70000);
  assert_int_equal(bn_hist_count(sum.hist[BN_H_LATENCY]), 2);
  assert_int_equal(bn_hist_value_at_rank(sum.hist[BN_H_LATENCY], NULL, 1), 1000);
  assert_int_equal(sum.n_labels[0], 3);
  assert_string_equal(sum.label[0][1].name, "1213");
  assert_int_equal(sum.label[0][1].n, 71000);
  assert_string_equal(sum.label[0][2].name, "40001");
  assert_int_equal(sum.session[1].busy_ns, 1000);
  assert_int_equal(sum.session[SESSIONS + 1].busy_ns, 70000);
  assert_true(sum.fair_events.n == 6 && sum.fair_events.sum == 6 && sum.fair_events.sum_sq == 26);
  bn_snap_done(&a);
  bn_snap_done(&b);
  bn_snap_done(&sum);
  bn_statset_done(&set[0]);
  bn_statset_done(&set[1]);
}

/* What would not fit into 64 bits is refused, wherever it stands. */
static void sums_that_do_not_fit_are_refused(void **state)
{
  for (int place = 0; place < 4; place++) {
    struct bn_metrics metrics;
    struct bn_snap a, sum;

    (void)state;
    bn_metrics_init(&metrics, extra);
    bn_snap_init_for_metrics(&a, &metrics, 0, true);
    bn_snap_init_for_metrics(&sum, &metrics, 0, true);
    if (place == 0)
      a.counter[EXTRA] = UINT64_C(1) << 63;
    else if (place == 1)
      bn_hist_put(a.hist[1], 5, UINT64_C(1) << 63);
    else if (place == 2)
      a.running = 0x80000000;
    else
      a.label[0][a.n_labels[0]++].n = UINT64_MAX / 2 + 1;
    assert_int_equal(bn_snap_merge(&sum, &a, 0), 0);
    assert_int_equal(bn_snap_merge(&sum, &a, 0), -1);
    bn_snap_done(&a);
    bn_snap_done(&sum);
    bn_metrics_done(&metrics);
  }
}

/* What a workload looks up: here a value that grows by 40 with every look, and one not to be
   had. */
static void look_up(void *self, uint64_t *counter)
{
  uint64_t *value = self;

  counter[EXTRA] = *value += 40;
  counter[BN_C_ERROR] = BN_ABSENT;
}

static void looked_up_values_are_differences_too(void **state)
{
  struct bn_statset set;
  struct bn_snap a, c;
  uint64_t value = 1000;

  (void)state;
  assert_int_equal(bn_statset_init(&set, SESSIONS, SESSIONS, extra, 0), 0);
  set.sample = look_up;
  set.sampled = &value;
  bn_snap_init(&a, &set);
  bn_snap_init(&c, &set);
  bn_snap_take(&a, &set, 1);
  bn_snap_take(&c, &set, 2);
  bn_snap_subtract(&c, &a);
  assert_int_equal(c.counter[EXTRA], 40);
  assert_true(c.counter[BN_C_ERROR] == BN_ABSENT);
  bn_snap_done(&a);
  bn_snap_done(&c);
  bn_statset_done(&set);
}

static void views_are_consistent(void **state)
{
  struct bn_statset set;
  struct bn_snap zero, now;
  struct bn_view v;
  struct bn_view_store store;
  const double percents[] = {50, 99.9, 100};
  const struct bn_view_rules rules = {
      .percents = percents, .n_percents = 3, .exact = true, .sessions = true};
  uint64_t i;

  (void)state;
  assert_int_equal(bn_statset_init(&set, 2, 2, NULL, 0), 0);
  bn_snap_init(&zero, &set);
  bn_snap_init(&now, &set);
  bn_view_store_init(&store, &now);
  bn_snap_take(&zero, &set, 0);
  bn_snap_take(&now, &set, 0);
  bn_snap_subtract(&now, &zero);
  bn_view_fill(&v, &store, &now, &rules);
  assert_true(isnan(v.min_s) && isnan(v.avg_s) && isnan(v.median_s) && isnan(v.dev_s));
  assert_true(isnan(v.max_s) && isnan(v.percentile_s[2]) && v.sum_s == 0);
  assert_true(isnan(v.sessions[1].min_s) && isnan(v.sessions[1].avg_s));
  /* No percentile is beyond the exact extremes, the median of a single event neither. */
  one_event(set.stat[1], 1, 10001);
  bn_snap_take(&now, &set, 1000000000);
  bn_snap_subtract(&now, &zero);
  bn_view_fill(&v, &store, &now, &rules);
  assert_true(v.median_s == v.max_s && v.median_s == v.min_s && v.percentile_s[0] == v.max_s);
  for (i = 2; i <= 1000; i++)
    one_event(set.stat[i % 2], i, i * 10001);
  bn_snap_take(&now, &set, 2000000000);
  bn_snap_subtract(&now, &zero);
  bn_view_fill(&v, &store, &now, &rules);
  assert_true(fabs(v.min_s - 10001e-9) < 1e-15 && fabs(v.max_s - 10001000e-9) < 1e-15);
  assert_true(fabs(v.percentile_s[0] / 5000500e-9 - 1) < 0.001);
  /* That of 1 … N is sqrt((N^2 - 1) / 12). */
  assert_true(fabs(v.dev_s / (10001e-9 * 288.6749902572095) - 1) < 0.001);
  assert_true(fabs(v.percentile_s[1] / 9990999e-9 - 1) < 0.001);
  assert_true(v.percentile_s[2] <= v.max_s);
  assert_true(v.span_s == 2 && v.events == 1000);
  assert_true(v.events_per_s == 500 && v.transactions == 1000 && v.queries == 0);
  assert_true(v.fair_events_avg == 500 && v.fair_events_dev == 0);
  assert_true(v.n_sessions == 2 && v.sessions[0].events == 500 && v.sessions[1].events == 500);
  bn_view_store_done(&store);
  bn_snap_done(&zero);
  bn_snap_done(&now);
  bn_statset_done(&set);
}

struct scene {
  struct bn_statset set;
  struct bn_snap zero, now;
  struct bn_view_store store;
  struct bn_view v;
};

static void set_scene(struct scene *c, unsigned sessions, unsigned apart)
{
  assert_int_equal(bn_statset_init(&c->set, sessions, sessions, NULL, apart), 0);
  bn_snap_init(&c->zero, &c->set);
  bn_snap_init(&c->now, &c->set);
  bn_view_store_init(&c->store, &c->now);
  bn_snap_take(&c->zero, &c->set, 0);
}

static void end_scene(struct scene *c)
{
  bn_view_store_done(&c->store);
  bn_snap_done(&c->zero);
  bn_snap_done(&c->now);
  bn_statset_done(&c->set);
}

static void look(struct scene *c, const struct bn_view_rules *rules)
{
  bn_snap_take(&c->now, &c->set, 2000000000);
  bn_snap_subtract(&c->now, &c->zero);
  bn_view_fill(&c->v, &c->store, &c->now, rules);
}

static uint64_t in_ns(double s)
{
  return (uint64_t)(s * 1e9 + 0.5);
}

/* Of 272 latencies of 1, 2, … ns the 99th percentile is the 270th. */
static void ranks_are_rounded_up(void **state)
{
  const double percents[] = {99, 99.9, 0, 50, 100};
  struct bn_view_rules rules = {.percents = percents, .n_percents = 5, .exact = true};
  struct scene c;

  (void)state;
  set_scene(&c, 1, 0);
  for (uint64_t i = 1; i <= 272; i++)
    one_event(c.set.stat[0], i, i);
  look(&c, &rules);
  assert_int_equal(in_ns(c.v.percentile_s[0]), 270);
  assert_int_equal(in_ns(c.v.percentile_s[1]), 272);
  assert_int_equal(in_ns(c.v.percentile_s[2]), 1);
  assert_int_equal(in_ns(c.v.percentile_s[3]), 136);
  assert_int_equal(in_ns(c.v.percentile_s[4]), 272);
  rules.nearest = true;
  look(&c, &rules);
  assert_int_equal(in_ns(c.v.percentile_s[0]), 269);
  for (uint64_t i = 273; i <= 1000; i++)
    one_event(c.set.stat[0], i, i);
  rules.nearest = false;
  look(&c, &rules);
  assert_int_equal(in_ns(c.v.percentile_s[1]), 999);
  assert_false(c.v.at_least[1] || c.v.max_at_least);
  end_scene(&c);
}

/* 90 events that took 1 … 90 ns, and ten that have been under way for a while. */
static void unfinished_events_count_by_their_age(void **state)
{
  const double percents[] = {50, 95};
  struct bn_hist *ages = bn_hist_new();
  struct bn_view_rules rules = {
      .percents = percents, .n_percents = 2, .exact = true, .ages = ages, .oldest_ns = 200};
  struct scene c;

  (void)state;
  assert_non_null(ages);
  set_scene(&c, 1, 0);
  for (uint64_t i = 1; i <= 90; i++)
    one_event(c.set.stat[0], i, i);
  bn_hist_put(ages, 200, 10);
  look(&c, &rules);
  assert_int_equal(in_ns(c.v.percentile_s[0]), 50);
  assert_int_equal(in_ns(c.v.percentile_s[1]), 200);
  assert_int_equal(in_ns(c.v.max_s), 200);
  assert_true(!c.v.at_least[0] && c.v.at_least[1] && c.v.max_at_least);
  bn_hist_clear(ages);
  bn_hist_put(ages, 5, 10);
  rules.oldest_ns = 5;
  look(&c, &rules);
  assert_int_equal(in_ns(c.v.percentile_s[0]), 40);
  assert_int_equal(in_ns(c.v.percentile_s[1]), 85);
  assert_int_equal(in_ns(c.v.max_s), 90);
  assert_true(c.v.at_least[0] && c.v.at_least[1] && c.v.max_at_least);
  bn_hist_free(ages);
  end_scene(&c);
}

static void rates_leave_out_what_came_later(void **state)
{
  uint64_t rated[BN_C_FIXED] = {[BN_C_READ] = 300};
  const struct bn_view_rules rules = {.rated = rated, .rated_s = 1.5};
  struct scene c;

  (void)state;
  set_scene(&c, 1, 0);
  for (uint64_t i = 1; i <= 10; i++)
    one_event(c.set.stat[0], i, i);
  bn_stat_bump(&c.set.stat[0]->late, 4);
  bn_stat_count(c.set.stat[0], BN_C_READ, 500);
  look(&c, &rules);
  assert_true(c.v.events == 10 && c.v.in_grace == 4 && c.v.events_per_s == 3);
  assert_true(c.v.transactions_per_s == 3 && c.v.reads == 500 && c.v.reads_per_s == 200);
  end_scene(&c);
}

/* A session has left with an event that ended 6 after the span, one left before the span was over,
   and one is in flight when it is looked, 9 after the span. */
static void counts_cover_the_time_of_each_session(void **state)
{
  struct bn_statset set;
  uint64_t counter[EXTRA + 1] = {[BN_C_READ] = 7};

  (void)state;
  assert_int_equal(bn_statset_init(&set, SESSIONS, SESSIONS, extra, 0), 0);
  for (unsigned i = 0; i < SESSIONS; i++)
    bn_stat_count(set.stat[i], EXTRA, 10);
  bn_stat_leave(set.stat[0], 1006);
  bn_stat_leave(set.stat[1], 400);
  for (unsigned i = 0; i < SESSIONS; i++)
    bn_stat_count(set.stat[i], EXTRA, 1);
  bn_stat_leave(set.stat[1], 1009);
  assert_int_equal(bn_snap_raise_counters(counter, &set, 1000, 1009), 1005);
  assert_int_equal(counter[EXTRA], 31);
  assert_int_equal(counter[BN_C_READ], 7);
  /* Nobody can look before the span is over. */
  assert_int_equal(bn_snap_raise_counters(counter, &set, 2000, 1999), 2000);
  bn_statset_done(&set);
}

static void warmup_is_counted_apart(void **state)
{
  const struct bn_view_rules rules = {.exact = true};
  struct scene c;
  struct bn_stat *st;

  (void)state;
  set_scene(&c, 1, BN_STAT_WARMUP);
  st = c.set.stat[0];
  st->counts_from_ns = 1000;
  bn_stat_bump(&st->warm_events, 3);
  bn_stat_bump(&st->warm_busy_ns, 60);
  for (int i = 0; i < 3; i++)
    bn_stat_record(st, st->warm_hist, 20);
  one_event(st, 1001, 40); /* before anybody looked */
  bn_stat_count(st, BN_C_READ, 7);
  bn_snap_take(&c.zero, &c.set, 1000);
  bn_snap_end_warmup(&c.zero);
  look(&c, &rules);
  assert_true(c.v.events == 1 && in_ns(c.v.max_s) == 40 && c.v.reads == 0);
  bn_snap_take(&c.now, &c.set, 2000000000);
  bn_snap_add_warmup(&c.now, &c.set);
  assert_true(c.now.counter[BN_C_EVENTS] == 4 && c.now.busy_ns == 100);
  assert_int_equal(bn_hist_count(c.now.hist[BN_H_LATENCY]), 4);
  end_scene(&c);
}

static uint64_t count_of(const struct scene *c, unsigned hist)
{
  return bn_hist_count(c->now.hist[hist]);
}

/* Only events that count are recorded as queued and served, some of them before the baseline.
   Sessions wake for the arrivals of the warm-up as well: those wakes are none of the rest's. */
static void the_warmup_wakes_for_itself(void **state)
{
  const struct bn_view_rules rules = {.exact = true};
  struct scene c;
  struct bn_stat *st;

  (void)state;
  set_scene(&c, 1, BN_STAT_WARMUP | BN_STAT_WAITING);
  st = c.set.stat[0];
  st->counts_from_ns = 1000;
  for (int i = 0; i < 3; i++)
    bn_stat_record(st, st->lag_hist, 5000000);
  bn_stat_record(st, st->queueing_hist, 30);
  bn_stat_record(st, st->service_hist, 10);
  bn_snap_take(&c.zero, &c.set, 1000);
  bn_snap_end_warmup(&c.zero);
  bn_stat_record(st, st->lag_hist, 50);
  look(&c, &rules);
  assert_int_equal(count_of(&c, st->queueing_hist), 1);
  assert_int_equal(count_of(&c, st->service_hist), 1);
  assert_int_equal(count_of(&c, st->lag_hist), 1);
  assert_int_equal(in_ns(c.v.lag_max_s), 50);
  end_scene(&c);
}

/* Of one event in flight the exact age, of several their average; those of the warm-up have
   none. */
static void ages_are_those_in_flight(void **state)
{
  struct bn_hist *ages = bn_hist_new();
  struct scene c;
  uint64_t oldest;

  (void)state;
  assert_non_null(ages);
  set_scene(&c, 3, 0);
  bn_stat_bump(&c.set.stat[0]->begun, 1);
  bn_stat_bump(&c.set.stat[0]->begun_at, 900);
  bn_stat_bump(&c.set.stat[1]->begun, 2);
  bn_stat_bump(&c.set.stat[1]->begun_at, 700 + 800);
  bn_stat_bump(&c.set.stat[2]->begun, 1);
  bn_stat_bump(&c.set.stat[2]->begun_at, 100);
  for (unsigned i = 0; i < 3; i++)
    c.set.stat[i]->counts_from_ns = 500;
  bn_snap_take(&c.now, &c.set, 1000);
  assert_int_equal(bn_snap_collect_ages(&c.now, 1000, false, ages, &oldest), 3);
  assert_int_equal(oldest, 250);
  assert_int_equal(bn_hist_count(ages), 3);
  assert_int_equal(c.now.unfinished, 4);
  bn_hist_free(ages);
  end_scene(&c);
}

/* The sum of the starts of many events goes round 2^64 ns, five days after the clock began. */
static void the_age_of_many_events_is_right_on_an_old_host(void **state)
{
  const uint64_t n = 65536, now_ns = 5 * UINT64_C(86400000000000);
  struct bn_hist *ages = bn_hist_new();
  struct scene c;
  uint64_t oldest;

  (void)state;
  set_scene(&c, 1, 0);
  bn_stat_bump(&c.set.stat[0]->begun, n);
  bn_stat_bump(&c.set.stat[0]->begun_at, n * (now_ns - 250));
  c.set.stat[0]->counts_from_ns = now_ns - 1000;
  bn_snap_take(&c.now, &c.set, now_ns);
  assert_int_equal(bn_snap_oldest_age_ns(&c.now, now_ns), 250);
  assert_int_equal(bn_snap_collect_ages(&c.now, now_ns, false, ages, &oldest), n);
  assert_int_equal(oldest, 250);
  bn_hist_free(ages);
  end_scene(&c);
}

/* Sums modulo 2^64 ns: ten million events that waited 4,000 s each go round it twice. */
static void sums_of_centuries_are_right(void **state)
{
  const struct bn_view_rules rules = {.exact = true, .sessions = true};
  struct bn_view_store store;
  struct bn_statset set;
  struct bn_snap zero, now;
  struct bn_view v;
  uint64_t i;

  (void)state;
  assert_int_equal(bn_statset_init(&set, 2, 2, NULL, 0), 0);
  bn_snap_init(&zero, &set);
  bn_snap_init(&now, &set);
  bn_view_store_init(&store, &now);
  bn_snap_take(&zero, &set, 0);
  for (i = 0; i < 10000000; i++)
    one_event(set.stat[i % 2], i, UINT64_C(4000000000000) + i % 2 * 1000000000);
  bn_snap_take(&now, &set, 2000000000);
  bn_snap_subtract(&now, &zero);
  bn_view_fill(&v, &store, &now, &rules);
  assert_true(fabs(v.sum_s / 4.0005e10 - 1) < 1e-9);
  assert_true(fabs(v.avg_s / 4000.5 - 1) < 1e-9);
  assert_true(fabs(v.fair_time_avg / 2.00025e10 - 1) < 1e-9);
  assert_true(fabs(v.fair_time_dev / 2.5e6 - 1) < 1e-3);
  assert_true(fabs(v.sessions[0].busy_s / 2e10 - 1) < 1e-9);
  assert_true(fabs(v.sessions[1].avg_s / 4001 - 1) < 1e-9);
  bn_view_store_done(&store);
  bn_snap_done(&zero);
  bn_snap_done(&now);
  bn_statset_done(&set);
}

/* 2^42 ns are 4,398 s. */
static void values_beyond_the_range_have_extremes(void **state)
{
  static const double percents[] = {95};
  const struct bn_view_rules rules = {.percents = percents, .n_percents = 1, .exact = true};
  struct bn_view_store store;
  struct bn_statset set;
  struct bn_snap zero, now;
  struct bn_view v;

  (void)state;
  assert_int_equal(bn_statset_init(&set, 1, 1, extra, 0), 0);
  bn_snap_init(&zero, &set);
  bn_snap_init(&now, &set);
  bn_view_store_init(&store, &now);
  bn_snap_take(&zero, &set, 0);
  one_event(set.stat[0], 1, UINT64_C(9000000000000));
  one_event(set.stat[0], 2, UINT64_C(20000000000000));
  bn_stat_record(set.stat[0], 1, UINT64_C(9000000000000));
  bn_snap_take(&now, &set, 2000000000);
  bn_snap_subtract(&now, &zero);
  bn_view_fill(&v, &store, &now, &rules);
  assert_true(v.min_s == 9000 && v.max_s == 20000);
  assert_true(v.timings[0].count == 1 && v.timings[0].max_s == HUGE_VAL);
  assert_true(v.timings[0].percentile_s[0] == HUGE_VAL);
  bn_view_store_done(&store);
  bn_snap_done(&zero);
  bn_snap_done(&now);
  bn_statset_done(&set);
}

static void labels_overflow_into_other(void **state)
{
  struct bn_labels *l = bn_labels_new();
  struct bn_label row[BN_LABELS_MAX + 1];
  char name[16];
  int i;

  (void)state;
  for (i = 0; i < 100; i++) {
    (void)snprintf(name, sizeof name, "code%d", i);
    bn_labels_count(l, name, 1);
  }
  assert_int_equal(bn_labels_read(l, row, BN_LABELS_MAX + 1), BN_LABELS_MAX + 1);
  assert_string_equal(row[BN_LABELS_MAX].name, "other");
  assert_int_equal(row[BN_LABELS_MAX].n, 36);
  bn_labels_free(l);
}

struct writer {
  struct bn_stat *st;
  _Atomic bool stop;
};

static void *write_events(void *arg)
{
  struct writer *w = arg;
  uint64_t i;

  for (i = 0; !w->stop; i++)
    one_event(w->st, i, i % 5000);
  return NULL;
}

static void snapshots_of_live_sessions_only_grow(void **state)
{
  struct bn_statset set;
  struct bn_snap a, b;
  struct writer w;
  pthread_t thread;
  int i;

  (void)state;
  assert_int_equal(bn_statset_init(&set, 1, 1, NULL, 0), 0);
  bn_snap_init(&a, &set);
  bn_snap_init(&b, &set);
  w.st = set.stat[0];
  w.stop = false;
  assert_int_equal(pthread_create(&thread, NULL, write_events, &w), 0);
  do
    bn_snap_take(&a, &set, 0);
  while (a.counter[BN_C_EVENTS] == 0);
  for (i = 0; i < 200; i++) {
    bn_snap_take(&b, &set, (uint64_t)i);
    assert_true(b.unfinished <= 1);
    assert_true(b.counter[BN_C_EVENTS] >= a.counter[BN_C_EVENTS]);
    assert_true(b.busy_ns >= a.busy_ns);
    bn_snap_copy(&a, &b);
  }
  w.stop = true;
  (void)pthread_join(thread, NULL);
  bn_snap_done(&a);
  bn_snap_done(&b);
  bn_statset_done(&set);
}

/* What a script declares is found by its kind: its names mean nothing to the program. */
static void counters_of_a_script_have_rates(void **state)
{
  static const struct bn_metric declared[] = {
      {.name = "cycles", .unit = "1"},
      {.name = "bytes_untouched", .unit = "rows", .kind = BN_SCRIPT_COUNTER},
      {.name = "page_load", .unit = "ns", .kind = BN_SCRIPT_HISTOGRAM},
      {.name = "skipped", .unit = "1", .kind = BN_SCRIPT_COUNTER},
      {.name = NULL}};
  struct bn_view_rules rules = {.n_percents = 0};
  uint64_t rated[BN_C_FIXED + 3] = {0};
  struct bn_statset set;
  struct bn_snap base, now;
  struct bn_view_store store;
  struct bn_view v;

  (void)state;
  assert_int_equal(bn_statset_init(&set, SESSIONS, SESSIONS, declared, 0), 0);
  bn_snap_init(&base, &set);
  bn_snap_init(&now, &set);
  bn_view_store_init(&store, &now);
  bn_stat_count(set.stat[0], EXTRA + 1, 1000); /* before the start */
  bn_snap_take(&base, &set, 0);
  bn_stat_count(set.stat[0], EXTRA + 1, 30);
  bn_stat_count(set.stat[2], EXTRA + 1, 12);
  bn_stat_record(set.stat[1], BN_H_FIXED, 1500);
  bn_snap_take(&now, &set, UINT64_C(2000000000));
  bn_snap_subtract(&now, &base);
  bn_view_fill(&v, &store, &now, &rules);
  assert_int_equal(v.n_counts, 2);
  assert_string_equal(v.counts[0].name, "bytes_untouched");
  assert_string_equal(v.counts[0].unit, "rows");
  assert_int_equal(v.counts[0].count, 42);
  assert_true(v.counts[0].per_s == 21);
  assert_int_equal(v.counts[1].count, 0);
  assert_true(v.bytes_touched_per_s == 0);
  assert_int_equal(v.n_timings, 1);
  assert_true(v.timings[0].of_script && v.timings[0].count == 1);
  rated[EXTRA + 1] = 40;
  rules.rated = rated;
  rules.rated_s = 1;
  bn_view_fill(&v, &store, &now, &rules);
  assert_true(v.counts[0].count == 42 && v.counts[0].per_s == 40);
  bn_view_store_done(&store);
  bn_snap_done(&base);
  bn_snap_done(&now);
  bn_statset_done(&set);
}

BN_TESTS(snap)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(differences_are_exact),
      cmocka_unit_test(counters_of_a_script_have_rates),
      cmocka_unit_test(sums_of_hosts_are_exact),
      cmocka_unit_test(sums_that_do_not_fit_are_refused),
      cmocka_unit_test(looked_up_values_are_differences_too),
      cmocka_unit_test(views_are_consistent),
      cmocka_unit_test(ranks_are_rounded_up),
      cmocka_unit_test(unfinished_events_count_by_their_age),
      cmocka_unit_test(rates_leave_out_what_came_later),
      cmocka_unit_test(counts_cover_the_time_of_each_session),
      cmocka_unit_test(warmup_is_counted_apart),
      cmocka_unit_test(the_warmup_wakes_for_itself),
      cmocka_unit_test(ages_are_those_in_flight),
      cmocka_unit_test(the_age_of_many_events_is_right_on_an_old_host),
      cmocka_unit_test(sums_of_centuries_are_right),
      cmocka_unit_test(values_beyond_the_range_have_extremes),
      cmocka_unit_test(labels_overflow_into_other),
      cmocka_unit_test(snapshots_of_live_sessions_only_grow),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
