/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows when the intervals of hosts are summed, what the sum is, and which lines are refused. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/interval_merge.h"
#include "measure/store.h"

static const struct bn_metric own[] = {{.name = "loads", .unit = "1"}, {.name = NULL}};
static const double ranks[] = {50, 99};
static const struct bn_view_rules rules = {.percents = ranks, .n_percents = 2};
static const struct bn_facts said = {.plan = {.percents = {50, 99}, .n_percents = 2}};
static const struct bn_merge_time start = {.at_ns = 5000000000, .wall_ns = 7000000000};

/* Has the host send a line, and frees it. */
static int send_line(struct bn_intervals *r, size_t host, char *line, struct bn_err *err)
{
  const int rc = bn_intervals_take_line(r, host, line, strlen(line), err);

  free(line);
  return rc;
}

/* Sends a line with another character where the text of a histogram begins. */
static int send_damaged(struct bn_intervals *r, size_t host, char *line, char c, struct bn_err *err)
{
  char *gap = strchr(line, BN_STORE_GAP);

  assert_non_null(gap);
  gap[1] = c;
  return send_line(r, host, line, err);
}

/* Sends a line without its last histogram. */
static int send_cut(struct bn_intervals *r, size_t host, char *line, struct bn_err *err)
{
  *strrchr(line, BN_STORE_GAP) = '\0';
  return send_line(r, host, line, err);
}

/* Sends a line with one more histogram. */
static int send_longer(struct bn_intervals *r, size_t host, char *line, struct bn_err *err)
{
  const size_t len = strlen(line);
  char *longer = malloc(len + 3);

  assert_non_null(longer);
  (void)snprintf(longer, len + 3, "%s%c_", line, BN_STORE_GAP);
  free(line);
  return send_line(r, host, longer, err);
}

/* Sends a line with one more figure. */
static int send_figure_more(struct bn_intervals *r, size_t host, char *line, struct bn_err *err)
{
  static const char behind[] = "],\"percentiles\"";
  const size_t len = strlen(line) + 3; /* ",0" and the end */
  char *longer = malloc(len), *at = strstr(line, behind);

  assert_non_null(longer);
  assert_non_null(at);
  (void)snprintf(longer, len, "%.*s,0%s", (int)(at - line), line, at);
  free(line);
  return send_line(r, host, longer, err);
}

static int send_group(struct bn_intervals *r, size_t host, const char *name,
                      const struct bn_metric *extra, struct bn_err *err)
{
  struct bn_node *group = bn_node_map();
  struct bn_metrics m;
  int rc;

  assert_int_equal(bn_node_set(group, "name", bn_node_utf8(name)), 0);
  bn_metrics_init(&m, extra);
  assert_int_equal(bn_node_set(group, "metrics", bn_store_metrics(&m)), 0);
  bn_metrics_done(&m);
  rc = bn_intervals_begin_host(r, host, group, &said, err);
  bn_node_free(group);
  return rc;
}

static int send_metrics(struct bn_intervals *r, size_t host, const struct bn_metric *extra,
                        struct bn_err *err)
{
  return send_group(r, host, "cpu", extra, err);
}

/* The length, the unfinished events and the watched figure of the views that are made next, and how
   long the span is of which they have the rates; 0: as the view. */
static uint64_t span_ns = 1000000000, in_flight;
static double in_span_s;
static const struct bn_watched_figure *watched;

/* Makes the line of a view that ends at at_s, with n events of `ns` each. */
static char *make_view(const char *key, double at_s, uint64_t n, uint64_t ns)
{
  struct bn_view_rules how = rules;
  struct bn_metrics m;
  struct bn_snap s;
  struct bn_view_store store;
  struct bn_view v;
  size_t len = 0;
  char *line;

  bn_metrics_init(&m, own);
  bn_snap_init_for_metrics(&s, &m, 0, true);
  bn_view_store_init(&store, &s);
  s.span_ns = span_ns;
  s.at_ns = 89000000000 + (uint64_t)(fmin(fmax(at_s, 0), 1000) * 1e9);
  s.wall_ns = s.at_ns + 5000000000;
  s.counter[BN_C_EVENTS] = n;
  bn_hist_put(s.hist[BN_H_LATENCY], ns, n);
  s.busy_ns = n * ns;
  s.running = 3;
  s.unfinished = in_flight;
  how.span_s = in_span_s;
  bn_view_fill(&v, &store, &s, &how);
  v.at_s = at_s;
  v.span = strcmp(key, "tick") == 0         ? BN_VIEW_TICK
           : strcmp(key, "checkpoint") == 0 ? BN_VIEW_CHECKPOINT
                                            : BN_VIEW_INTERVAL;
  v.watched = watched;
  v.n_watched = watched != NULL;
  if (v.span == BN_VIEW_INTERVAL)
    bn_snap_pack(&s, &s);
  line = bn_store_print_brief(&v, &len);
  assert_non_null(line);
  assert_int_equal(strlen(line), len);
  bn_view_store_done(&store);
  bn_snap_done(&s);
  bn_metrics_done(&m);
  return line;
}

static int send_view(struct bn_intervals *r, size_t host, const char *key, double at_s, uint64_t n,
                     uint64_t ns, struct bn_err *err)
{
  return send_line(r, host, make_view(key, at_s, n, ns), err);
}

/* The figures of the sum that was shown last. */
struct seen {
  double at_s, p50_s, p99_s, events_per_s;
  uint64_t events, in_hist;
  unsigned running, times;
  double watched; /* the only figure; -1: there is none */
};

static struct seen seen;

/* Notes a sum that is shown. */
static void look(void *arg, const struct bn_view *v)
{
  struct seen *s = arg;

  *s = (struct seen){.at_s = v->at_s,
                     .p50_s = v->percentile_s[0],
                     .p99_s = v->percentile_s[1],
                     .events_per_s = v->events_per_s,
                     .events = v->events,
                     .in_hist = bn_hist_count(v->latency),
                     .running = v->running,
                     .times = s->times + 1,
                     .watched = v->n_watched == 1 ? v->watched[0].value : -1};
  assert_int_equal(v->delta->at_ns, start.at_ns + (uint64_t)(v->at_s * 1e9));
}

/* The events of the groups in the view that was shown last. */
static struct {
  size_t n;
  uint64_t events[4], all;
} of_groups;

static void look_at_groups(void *arg, const struct bn_view *v)
{
  assert_ptr_equal(arg, &of_groups);
  of_groups.n = v->n_event_kinds;
  of_groups.all = v->events;
  for (size_t i = 0; i < v->n_event_kinds; i++)
    of_groups.events[i] = v->event_kinds[i].events;
}

static void begin(struct bn_intervals *r, size_t hosts)
{
  struct bn_err err = {0};

  seen = (struct seen){.times = 0};
  bn_intervals_init(r, hosts, 1);
  r->out = (struct bn_intervals_output){rules, start, look, &seen};
  for (size_t i = 0; i < hosts; i++)
    assert_int_equal(send_metrics(r, i, own, &err), 0);
}

static void a_round_is_the_sum_of_all_hosts(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin(&r, 2);
  assert_int_equal(send_view(&r, 0, "interval", 1.0004, 90, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  assert_int_equal(send_view(&r, 0, "interval", 2.0001, 5, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  assert_int_equal(send_view(&r, 1, "interval", 1.002, 10, 5000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 100);
  assert_int_equal(seen.in_hist, 100);
  assert_int_equal(seen.running, 6);
  assert_true(fabs(seen.at_s - 1.002) < 1e-9);
  assert_true(fabs(seen.events_per_s - 100) < 1e-9);
  /* Percentiles of all events, not means of the hosts' own. */
  assert_true(fabs(seen.p50_s - 0.001) < 1e-5);
  assert_true(fabs(seen.p99_s - 0.005) < 5e-5);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  bn_intervals_done(&r);
}

/* Each has 1000 events in a second. */
static void a_host_that_ends_intervals_late_lowers_no_rate(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin(&r, 2);
  assert_int_equal(send_view(&r, 0, "interval", 1, 1000, 1000, &err), 0);
  assert_int_equal(send_view(&r, 0, "interval", 2, 1000, 1000, &err), 0);
  span_ns = 1300000000;
  assert_int_equal(send_view(&r, 1, "interval", 1.3, 1300, 1000, &err), 0);
  span_ns = 700000000;
  assert_int_equal(send_view(&r, 1, "interval", 2, 700, 1000, &err), 0);
  span_ns = 1000000000;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(bn_intervals_show_next(&r, &err), 1);
    assert_true(fabs(seen.events_per_s - 2000) < 1e-3);
  }
  bn_intervals_done(&r);
}

static void a_host_that_is_far_behind_is_left_out(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin(&r, 2);
  for (unsigned i = 1; i <= r.ahead / 2; i++)
    assert_int_equal(send_view(&r, 0, "interval", i, 7, 1000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  assert_int_equal(send_view(&r, 0, "interval", (double)r.ahead / 2 + 1, 7, 1000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 7);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  /* What comes later is dropped, and it is back with the next. */
  assert_int_equal(send_view(&r, 1, "interval", 1, 8, 1000, &err), 0);
  assert_int_equal(send_view(&r, 1, "interval", 2, 8, 1000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 15);
  bn_intervals_done(&r);
}

static void a_host_that_has_ended_is_not_waited_for(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin(&r, 2);
  assert_int_equal(send_view(&r, 0, "interval", 1, 7, 1000, &err), 0);
  /* It was held up, so that its first interval is the second. */
  assert_int_equal(send_view(&r, 1, "interval", 2, 8, 1000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 7);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  bn_intervals_end_host(&r, 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 8);
  /* Nobody has an interval at 3 s. */
  assert_int_equal(send_view(&r, 1, "interval", 4, 9, 1000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_true(fabs(seen.at_s - 4) < 1e-9);
  bn_intervals_end_host(&r, 1);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  bn_intervals_done(&r);
}

/* It has 1000 events in a second, and so has the other one.  No interval is of the end of the run,
   within which the last host ends. */
static void a_host_that_ends_within_a_round_is_part_of_it(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin(&r, 3);
  span_ns = 400000000;
  in_flight = 9;
  assert_int_equal(send_view(&r, 2, "interval", 0.4, 400, 1000, &err), 0);
  in_flight = 0;
  bn_intervals_end_host(&r, 2);
  span_ns = 1000000000;
  for (int i = 1; i <= 3; i++)
    assert_int_equal(send_view(&r, 0, "interval", i, 1000, 1000, &err), 0);
  assert_int_equal(send_view(&r, 1, "interval", 1, 1000, 1000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_true(seen.events == 2400 && seen.in_hist == 2400 && seen.running == 6);
  assert_true(fabs(seen.events_per_s - 2400) < 1e-3 && fabs(seen.at_s - 1) < 1e-9);
  /* It was held up at 2 s. */
  span_ns = 1700000000;
  assert_int_equal(send_view(&r, 1, "interval", 2.7, 1700, 1000, &err), 0);
  span_ns = 100000000;
  assert_int_equal(send_view(&r, 1, "interval", 2.8, 100, 1000, &err), 0);
  bn_intervals_end_host(&r, 1);
  span_ns = 500000000;
  assert_int_equal(send_view(&r, 0, "interval", 3.5, 500, 1000, &err), 0);
  bn_intervals_end_host(&r, 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 2700);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 1100);
  assert_true(fabs(seen.events_per_s - 1100) < 1e-3 && fabs(seen.at_s - 3) < 1e-9);
  assert_int_equal(seen.running, 3);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  span_ns = 1000000000;
  assert_int_equal(send_view(&r, 0, "interval", 4, 1, 1, &err), -1);
  assert_string_equal(err.text, "its interval at 4.000 s comes at a wrong time");
  bn_intervals_done(&r);
}

/* Ticks have counters since the start, and histograms since the last tick. */
static void a_tick_is_all_that_was_measured(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin(&r, 2);
  assert_int_equal(send_view(&r, 0, "tick", 1, 10, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  assert_int_equal(send_view(&r, 1, "tick", 1, 20, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 30);
  assert_int_equal(seen.in_hist, 30);
  assert_int_equal(send_view(&r, 0, "tick", 2, 15, 1000000, &err), 0);
  bn_intervals_end_host(&r, 1);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 35);
  assert_int_equal(seen.in_hist, 45);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  bn_intervals_done(&r);
}

/* A host that was lost has no result, and its ticks are all that is known. */
static void ticks_become_a_result(void **state)
{
  struct bn_err err = {0};
  struct bn_result result = {.facts.plan = {.warmup_ns = 3000000000, .native = true}};
  const struct bn_view *v;
  struct bn_intervals r;

  (void)state;
  in_flight = 4;
  begin(&r, 1);
  assert_null(bn_intervals_get_last_tick(&r, 0));
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), 0);
  assert_int_equal(result.n_groups, 0);
  assert_int_equal(send_view(&r, 0, "tick", 1, 10, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 0, "tick", 2, 25, 2000000, &err), 0);
  assert_int_equal(bn_intervals_get_last_tick(&r, 0)->events, 25);
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), 1);
  assert_int_equal(result.n_groups, 1);
  assert_string_equal(result.group[0].name, "cpu");
  assert_true(result.group[0].has_total && result.end.partial);
  v = &result.group[0].total.view;
  assert_int_equal(v->span, BN_VIEW_TOTAL);
  assert_int_equal(v->counter[BN_C_EVENTS], 25);
  assert_int_equal(v->unfinished, 4);
  assert_int_equal(bn_hist_count(v->latency), 35); /* what each tick was given here */
  assert_int_equal(result.facts.start_ns, 91000000000 - 1000000000 - 3000000000);
  assert_int_equal(result.facts.start_wall_ns, 96000000000 - 1000000000 - 3000000000);
  in_flight = 0;
  bn_result_done(&result);
  bn_intervals_done(&r);
}

/* Hosts whose events take 1 s longer than the span. */
static void a_tick_after_the_span_has_its_rates(void **state)
{
  struct bn_err err = {0};
  struct bn_result result = {.n_groups = 0};
  const struct bn_view *v;
  struct bn_intervals r;

  (void)state;
  span_ns = 3000000000;
  in_span_s = 2;
  begin(&r, 2);
  assert_int_equal(send_view(&r, 0, "tick", 3, 10, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 1, "tick", 3, 20, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_true(fabs(seen.events_per_s - 15) < 1e-9);
  /* A host that is lost then has a result that ends with the span. */
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), 1);
  v = &result.group[0].total.view;
  assert_true(fabs(v->at_s - 2) < 1e-9 && fabs(v->events_per_s - 5) < 1e-9);
  assert_int_equal(v->delta->span_ns, 2000000000);
  assert_int_equal(v->delta->at_ns, 91000000000);
  assert_int_equal(result.facts.start_ns, 89000000000);
  assert_int_equal(result.facts.start_wall_ns, 94000000000);
  span_ns = 1000000000;
  in_span_s = 0;
  bn_result_done(&result);
  bn_intervals_done(&r);
}

static const uint64_t checkpoints[] = {0, 2000000000, 4000000000};

static void begin_with_checkpoints(struct bn_intervals *r, size_t hosts)
{
  begin(r, hosts);
  bn_intervals_set_checkpoints(r, checkpoints, 3);
}

/* What was measured since the one before, on all hosts. */
static void a_checkpoint_is_the_sum_of_all_hosts(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin_with_checkpoints(&r, 2);
  assert_int_equal(send_view(&r, 0, "checkpoint", 2.0002, 90, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  assert_int_equal(send_view(&r, 0, "checkpoint", 4.0002, 80, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 1, "checkpoint", 2.0004, 10, 9000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 100);
  assert_int_equal(seen.in_hist, 100);
  assert_int_equal(seen.running, 6);
  assert_true(fabs(seen.at_s - 2.0003) < 1e-9);
  assert_true(fabs(seen.events_per_s - 100 / 2.0003) < 1e-3);
  assert_true(fabs(seen.p50_s - 0.001) < 1e-5 && fabs(seen.p99_s - 0.009) < 1e-4);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  bn_intervals_end_host(&r, 1);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 80);
  assert_true(fabs(seen.events_per_s - 80 / (4.0002 - 2.0003)) < 1e-3);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  assert_int_equal(send_view(&r, 0, "checkpoint", 4.1, 1, 1, &err), -1);
  assert_string_equal(err.text, "its checkpoint report at 4.100 s comes at a wrong time");
  bn_intervals_done(&r);
  begin_with_checkpoints(&r, 1);
  assert_int_equal(send_view(&r, 0, "checkpoint", 1e300, 1, 1, &err), -1);
  bn_intervals_done(&r);
}

/* A host that was held up tells of both times at once: so does the sum. */
static void a_checkpoint_that_a_host_has_missed(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin_with_checkpoints(&r, 2);
  assert_int_equal(send_view(&r, 0, "checkpoint", 2, 90, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 1, "checkpoint", 4, 10, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  assert_int_equal(send_view(&r, 0, "checkpoint", 4, 60, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 160);
  assert_int_equal(seen.in_hist, 160);
  assert_int_equal(seen.running, 6);
  assert_true(fabs(seen.events_per_s - 40) < 1e-9);
  bn_intervals_done(&r);
}

/* Ends a host with a result that has what its ticks have. */
static void end_with_result(struct bn_intervals *r, size_t host, struct bn_result *result)
{
  struct bn_err err = {0};

  *result = (struct bn_result){.facts.plan.native = true};
  assert_int_equal(bn_intervals_make_result(r, host, result, &err), 1);
  bn_intervals_end_host(r, host);
  bn_intervals_keep_result(r, host, result);
}

/* What it has counted is in the first report that ends after it, and in no other. */
static void a_host_that_has_ended_is_part_of_a_checkpoint(void **state)
{
  static const struct {
    double ended_s;
    uint64_t first, second, left;
  } rows[] = {{1, 120, 80, 0}, {2.05, 120, 80, 0}, {2.5, 90, 110, 0}, {4.5, 90, 80, 30}};
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const uint64_t events[] = {rows[i].first, rows[i].second};
    struct bn_result result;
    const struct bn_view *v;

    begin_with_checkpoints(&r, 2);
    in_flight = 4;
    assert_int_equal(send_view(&r, 1, "tick", rows[i].ended_s, 30, 9000000, &err), 0);
    in_flight = 0;
    end_with_result(&r, 1, &result);
    for (unsigned k = 0; k < 2; k++) {
      assert_int_equal(send_view(&r, 0, "checkpoint", 2 + 2 * k, 90 - 10 * k, 1000000, &err), 0);
      assert_int_equal(bn_intervals_show_next(&r, &err), 1);
      assert_true(seen.events == events[k] && seen.in_hist == events[k]);
      assert_true(seen.running == 3 && seen.at_s == 2 + 2 * k);
      assert_true(fabs(seen.events_per_s - (double)events[k] / 2) < 1e-6);
      assert_true((seen.p99_s > 0.008) == (events[k] > 90));
    }
    assert_int_equal(bn_intervals_show_next(&r, &err), 0);
    assert_int_equal(r.host[1].before.events, 30 - rows[i].left);
    bn_intervals_drop_counted(&r);
    v = &result.group[0].total.view;
    assert_true(v->events == rows[i].left && bn_hist_count(v->latency) == rows[i].left);
    assert_true((v->events_per_s > 0) == (rows[i].left > 0) && v->unfinished == 4);
    assert_int_equal(v->delta->span_ns, rows[i].left > 0 ? 1000000000 : 0);
    bn_result_done(&result);
    bn_intervals_done(&r);
  }
}

/* A result has what came after the checkpoint that the host has sent. */
static void a_host_ends_between_two_checkpoints(void **state)
{
  struct bn_err err = {0};
  struct bn_result result;
  struct bn_intervals r;

  (void)state;
  begin_with_checkpoints(&r, 2);
  assert_int_equal(send_view(&r, 1, "checkpoint", 2, 10, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 1, "tick", 2, 10, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 1, "tick", 3, 25, 1000000, &err), 0);
  end_with_result(&r, 1, &result);
  assert_int_equal(send_view(&r, 0, "checkpoint", 2, 90, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 100);
  assert_int_equal(send_view(&r, 0, "checkpoint", 4, 80, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_int_equal(seen.events, 95);
  bn_result_done(&result);
  bn_intervals_done(&r);
}

/* As the results of the hosts that were not lost. */
static void what_is_cut_begins_at_the_checkpoint(void **state)
{
  struct bn_err err = {0};
  struct bn_result result = {.n_groups = 0};
  const struct bn_view *v;
  struct bn_intervals r;

  (void)state;
  begin_with_checkpoints(&r, 1);
  assert_int_equal(send_view(&r, 0, "tick", 1, 10, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 0, "checkpoint", 2, 25, 1000000, &err), 0);
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), 0);
  assert_int_equal(send_view(&r, 0, "tick", 2, 25, 1000000, &err), 0);
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), 0);
  assert_int_equal(send_view(&r, 0, "tick", 3, 37, 2000000, &err), 0);
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), 1);
  v = &result.group[0].total.view;
  assert_int_equal(v->events, 12);
  assert_int_equal(bn_hist_count(v->latency), 37); /* what the tick was given here */
  assert_true(fabs(v->span_s - 1) < 1e-9 && fabs(v->events_per_s - 12) < 1e-9);
  assert_true(fabs(v->min_s - 0.002) < 1e-5);
  bn_result_done(&result);
  /* The events of the last second are those of the grace. */
  result = (struct bn_result){.n_groups = 0};
  span_ns = 3000000000;
  in_span_s = 2;
  assert_int_equal(send_view(&r, 0, "tick", 4, 39, 2000000, &err), 0);
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), 1);
  v = &result.group[0].total.view;
  assert_true(fabs(v->span_s - 1) < 1e-9 && fabs(v->events_per_s - 14) < 1e-9);
  assert_true(fabs(v->at_s - 3) < 1e-9);
  span_ns = 1000000000;
  in_span_s = 0;
  bn_result_done(&result);
  bn_intervals_done(&r);
}

/* What cannot be summed with the results of other hosts is no result. */
static void what_is_less_than_at_the_checkpoint_is_refused(void **state)
{
  struct bn_err err = {0};
  struct bn_result result = {.n_groups = 0};
  struct bn_intervals r;

  (void)state;
  begin_with_checkpoints(&r, 2);
  assert_int_equal(send_view(&r, 0, "checkpoint", 2, 25, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 0, "tick", 2, 25, 1000000, &err), 0);
  assert_int_equal(send_view(&r, 0, "tick", 3, 24, 1000000, &err), 0);
  assert_int_equal(bn_intervals_make_result(&r, 0, &result, &err), -1);
  assert_string_equal(err.text, "its figures have become less");
  assert_int_equal(result.n_groups, 0);
  bn_intervals_done(&r);
}

/* Seconds count that all hosts have told of, whoever is ahead, until one tells nothing more. */
static void the_rate_of_all_hosts_together(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin(&r, 2);
  assert_int_equal(send_view(&r, 0, "tick", 1.0001, 100, 1000, &err), 0);
  assert_int_equal(send_view(&r, 0, "tick", 2.0002, 210, 1000, &err), 0);
  assert_int_equal(r.together.second, 0);
  assert_int_equal(send_view(&r, 1, "tick", 1.0003, 40, 1000, &err), 0);
  assert_int_equal(r.together.second, 1);
  assert_true(fabs(r.together.events_per_s - (100 / 1.0001 + 40 / 1.0003)) < 1e-9);
  assert_int_equal(send_view(&r, 1, "tick", 2, 70, 1000, &err), 0);
  assert_int_equal(r.together.second, 2);
  assert_true(fabs(r.together.events_per_s - (210 / 2.0002 + 35)) < 1e-9);
  /* It was held up: what it had done after 3 s is not known. */
  assert_int_equal(send_view(&r, 0, "tick", 3.7, 300, 1000, &err), 0);
  assert_int_equal(send_view(&r, 1, "tick", 3, 90, 1000, &err), 0);
  assert_int_equal(r.together.second, 2);
  assert_int_equal(send_view(&r, 0, "tick", 4, 400, 1000, &err), 0);
  assert_int_equal(send_view(&r, 1, "tick", 4, 100, 1000, &err), 0);
  assert_int_equal(r.together.second, 4);
  assert_true(fabs(r.together.events_per_s - 125) < 1e-9);
  bn_intervals_end_host(&r, 1);
  assert_int_equal(send_view(&r, 0, "tick", 5, 500, 1000, &err), 0);
  assert_int_equal(r.together.second, 4);
  /* So far ahead that the second it is compared with has been forgotten. */
  assert_int_equal(send_view(&r, 0, "tick", 69, 9000, 1000, &err), 0);
  assert_int_equal(send_view(&r, 1, "tick", 5, 200, 1000, &err), 0);
  assert_int_equal(r.together.second, 4);
  bn_intervals_done(&r);
}

/* Has both hosts send a view with a figure per transaction, of which that of the first host
   counts. */
static void send_watched(struct bn_intervals *r, const char *key, double at_s)
{
  static const struct bn_watched_figure figures[] = {{"server_a_per_transaction", 6},
                                                     {"server_a_per_transaction", 99}};
  struct bn_err err = {0};

  watched = &figures[0];
  assert_int_equal(send_view(r, 0, key, at_s, 50, 1000000, &err), 0);
  watched = &figures[1];
  assert_int_equal(send_view(r, 1, key, at_s, 100, 1000000, &err), 0);
  watched = NULL;
}

static void what_the_first_host_watches(void **state)
{
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  begin_with_checkpoints(&r, 2);
  send_watched(&r, "interval", 1);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_true(seen.watched == 2);
  send_watched(&r, "checkpoint", 2);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_true(seen.watched == 2);
  send_watched(&r, "tick", 2);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_true(seen.watched == -1);
  bn_intervals_end_host(&r, 0);
  assert_int_equal(send_view(&r, 1, "interval", 2, 100, 1000000, &err), 0);
  assert_int_equal(bn_intervals_show_next(&r, &err), 1);
  assert_true(seen.watched == -1 && seen.times == 4);
  bn_intervals_done(&r);
}

static void foreign_lines_are_refused(void **state)
{
  static const struct bn_metric other[] = {{.name = "stores", .unit = "1"}, {.name = NULL}};
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  bn_intervals_init(&r, 3, 1);
  assert_int_equal(send_view(&r, 0, "interval", 1, 1, 1, &err), -1);
  assert_string_equal(err.text, "it sent figures before it said what it measures");
  assert_null(bn_intervals_get_metrics(&r));
  assert_int_equal(bn_intervals_begin_host(&r, 0, NULL, &said, &err), -1);
  assert_string_equal(err.text, "it did not say what it measures");
  assert_int_equal(send_metrics(&r, 0, own, &err), 0);
  assert_ptr_equal(bn_intervals_get_metrics(&r), &r.host[0].spec.metrics);
  assert_int_equal(send_metrics(&r, 0, own, &err), -1);
  assert_string_equal(err.text, "it said twice what it measures");
  assert_int_equal(send_group(&r, 2, "mutex", own, &err), -1);
  assert_string_equal(err.text, "it runs another test than other hosts");
  assert_int_equal(send_metrics(&r, 1, other, &err), -1);
  assert_string_equal(err.text,
                      "it counts other metrics than other hosts; is it the same build of bench?");
  assert_int_equal(send_view(&r, 0, "interval", 2, 1, 1, &err), 0);
  assert_int_equal(send_view(&r, 0, "interval", 1.1, 1, 1, &err), -1);
  assert_string_equal(err.text, "its interval at 1.100 s comes at a wrong time");
  assert_int_equal(send_view(&r, 0, "interval", 64, 1, 1, &err), 0);
  assert_int_equal(send_view(&r, 0, "interval", 65, 1, 1, &err), -1);
  assert_string_equal(err.text,
                      "its interval at 65.000 s is 64 or more intervals ahead of other hosts");
  assert_int_equal(send_view(&r, 0, "interval", 1e18, 1, 1, &err), -1);
  assert_int_equal(send_view(&r, 0, "interval", -1, 1, 1, &err), -1);
  assert_int_equal(send_view(&r, 0, "tick", 1e18, 1, 1, &err), -1);
  assert_string_equal(err.text, "its figures of a second have no time");
  assert_int_equal(send_damaged(&r, 0, make_view("interval", 3, 1, 1), '~', &err), -1);
  assert_string_equal(err.text, "'latency' is no text of buckets");
  assert_int_equal(send_damaged(&r, 0, make_view("interval", 3, 1, 1), ' ', &err), -1);
  assert_int_equal(send_cut(&r, 0, make_view("interval", 3, 1, 1), &err), -1);
  assert_string_equal(err.text, "'latency' is no text of buckets");
  assert_int_equal(send_longer(&r, 0, make_view("interval", 3, 1, 1), &err), -1);
  assert_string_equal(err.text, "it has more histograms than it said");
  assert_int_equal(send_figure_more(&r, 0, make_view("interval", 3, 1, 1), &err), -1);
  assert_non_null(strstr(err.text, "'figures'"));
  assert_int_equal(send_view(&r, 0, "tick", 1, UINT64_MAX - 1, 1, &err), -1);
  assert_string_equal(err.text, "its figures are too large");
  assert_int_equal(send_view(&r, 0, "tick", 1, bn_sum_largest_count(3), 1, &err), 0);
  assert_int_equal(send_view(&r, 0, "tick", 2, 1, 1, &err), -1);
  assert_string_equal(err.text, "its histograms are too large");
  assert_int_equal(bn_intervals_take_line(&r, 0, "{", 1, &err), -1);
  assert_int_equal(bn_intervals_take_line(&r, 0, "{\"later\":1}", 11, &err), 0);
  bn_intervals_done(&r);
}

/* Hosts 0 and 1 are of one group and host 2 of another one, which measures other things.  Each
   round has the events of each group over its hosts. */
static void groups_on_hosts_are_summed(void **state)
{
  static const struct bn_metric other[] = {{.name = "stores", .unit = "1"}, {.name = NULL}};
  struct bn_err err = {0};
  struct bn_intervals r;

  (void)state;
  bn_intervals_init(&r, 3, 1);
  r.out = (struct bn_intervals_output){rules, start, look_at_groups, &of_groups};
  r.host[0].group_name = r.host[1].group_name = "x";
  r.host[2].group_name = "y";
  assert_int_equal(send_metrics(&r, 0, own, &err), 0);
  assert_int_equal(send_metrics(&r, 1, other, &err), -1);
  assert_string_equal(err.text,
                      "it counts other metrics than other hosts; is it the same build of bench?");
  assert_int_equal(send_group(&r, 1, "mutex", own, &err), -1);
  assert_string_equal(err.text, "it runs another test than other hosts");
  assert_int_equal(send_metrics(&r, 1, own, &err), 0);
  assert_int_equal(send_group(&r, 2, "mutex", own, &err), 0);
  assert_int_equal(bn_intervals_unite_groups(&r, &err), 0);
  for (uint64_t k = 1; k <= 2; k++)
    for (size_t i = 0; i < 3; i++)
      assert_int_equal(send_view(&r, i, "interval", (double)k, 10 * (i + 1) + k, 1000, &err), 0);
  for (uint64_t k = 1; k <= 2; k++) {
    assert_int_equal(bn_intervals_show_next(&r, &err), 1);
    assert_int_equal(of_groups.n, 2);
    assert_int_equal(of_groups.events[0], 10 + 20 + 2 * k);
    assert_int_equal(of_groups.events[1], 30 + k);
    assert_int_equal(of_groups.all, 60 + 3 * k);
  }
  assert_int_equal(bn_intervals_show_next(&r, &err), 0);
  bn_intervals_done(&r);
}

BN_TESTS(interval_merge)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_round_is_the_sum_of_all_hosts),
      cmocka_unit_test(a_host_that_ends_intervals_late_lowers_no_rate),
      cmocka_unit_test(a_host_that_is_far_behind_is_left_out),
      cmocka_unit_test(a_host_that_has_ended_is_not_waited_for),
      cmocka_unit_test(a_host_that_ends_within_a_round_is_part_of_it),
      cmocka_unit_test(a_tick_is_all_that_was_measured),
      cmocka_unit_test(ticks_become_a_result),
      cmocka_unit_test(a_tick_after_the_span_has_its_rates),
      cmocka_unit_test(a_checkpoint_is_the_sum_of_all_hosts),
      cmocka_unit_test(a_checkpoint_that_a_host_has_missed),
      cmocka_unit_test(a_host_that_has_ended_is_part_of_a_checkpoint),
      cmocka_unit_test(a_host_ends_between_two_checkpoints),
      cmocka_unit_test(what_is_cut_begins_at_the_checkpoint),
      cmocka_unit_test(what_is_less_than_at_the_checkpoint_is_refused),
      cmocka_unit_test(the_rate_of_all_hosts_together),
      cmocka_unit_test(what_the_first_host_watches),
      cmocka_unit_test(foreign_lines_are_refused),
      cmocka_unit_test(groups_on_hosts_are_summed)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
