/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Phases of profiles on a simulated clock: their counts and latencies, and the time after
   which the server has recovered, are those of the exact queue. */
#include <math.h>
#include <stdlib.h>

#include "engine/phases.h"
#include "engine/stop.h"
#include "option/profile.h"
#include "simrun.h"

enum { MOST = 100000, SERVERS = 4 };

/* A server for each thread, which takes service_ns for an event, and stalls once. */
struct server {
  uint64_t service_ns, stall_from_ns, stall_until_ns; /* since the start of the run */
  uint64_t slow_from_ns, slow_ns; /* from then on, an event takes slow_ns longer */
  uint64_t start_ns;
};

static uint64_t serve_until(const struct server *s, uint64_t begun_ns)
{
  const bool slow = s->slow_ns > 0 && begun_ns >= s->slow_from_ns;
  const uint64_t end_ns = begun_ns + s->service_ns + (slow ? s->slow_ns : 0);

  return end_ns >= s->stall_from_ns && end_ns < s->stall_until_ns ? s->stall_until_ns : end_ns;
}

static enum bn_next served_event(void *self, struct bn_session *session)
{
  const struct server *s = self;

  bn_clock_sleep_until(s->start_ns + serve_until(s, session->last_ns - s->start_ns));
  return BN_CONTINUE;
}

static const struct bn_workload served = {.name = "served", .event = served_event};

static struct bn_phase_view phase[BN_PROFILE_PHASES];
static struct bn_timing timing[BN_PROFILE_PHASES];
static double p95_s[BN_PROFILE_PHASES];
static size_t n_phases;

/* The view is gone after the run. */
static int keep_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)err;
  n_phases = v->n_phases;
  for (size_t k = 0; k < n_phases; k++) {
    phase[k] = v->phases[k];
    timing[k] = *v->phases[k].timing;
    p95_s[k] = timing[k].percentile_s[0];
  }
  return 0;
}

static const struct bn_reporter keeper = {.name = "keep", .total = keep_total};

static struct bn_conf conf_of_threads(const char *profile, unsigned threads, double lead_s)
{
  struct bn_conf c = make_conf(threads);
  char wrong[BN_PROFILE_WRONG];

  if (bn_profile_parse(profile, BN_PROFILE_THREADS, lead_s, &c.profile, wrong) != 0)
    fail_msg("%s", wrong);
  c.plan.warmup_ns = (uint64_t)(lead_s * 1e9);
  c.plan.time_ns = (uint64_t)(c.profile.span_s * 1e9);
  return c;
}

static struct bn_conf conf_of(const char *profile, unsigned threads, double lead_s, double time_s)
{
  struct bn_conf c = make_conf(threads);
  char wrong[BN_PROFILE_WRONG];

  if (bn_profile_parse(profile, BN_PROFILE_RATE, lead_s, &c.profile, wrong) != 0)
    fail_msg("%s", wrong);
  c.plan.rate = 1;
  c.plan.warmup_ns = (uint64_t)(lead_s * 1e9);
  c.plan.time_ns = (uint64_t)((time_s > 0 ? time_s : c.profile.span_s) * 1e9);
  return c;
}

static void run_server(const struct bn_conf *c, struct server *s)
{
  sim_begin();
  s->start_ns = bn_clock_mono();
  assert_int_equal(run_with(c, &served, s, &keeper) & ~BN_STATUS_UNSERVED, 0);
}

/* --- the exact queue -------------------------------------------------------------------------- */

/* Times since the start of the run. */
static struct {
  size_t n;
  uint64_t due_ns[MOST], begun_ns[MOST], end_ns[MOST];
} queue;

static void queue_serve(const struct bn_conf *c, const struct server *s)
{
  const uint64_t until_ns = c->plan.warmup_ns + c->plan.time_ns;
  uint64_t free_ns[SERVERS] = {0}, position = 0;
  struct bn_arrivals a;

  bn_arrivals_init(&a, c->seed, c->profile.piece, c->profile.n_pieces);
  if (c->raw.arrivals == BN_GAPS_CONSTANT)
    a.first = (uint64_t)(0.5 / BN_ARRIVALS_UNIT);
  for (queue.n = 0;; queue.n++) {
    const size_t i = queue.n;
    unsigned first = 0;

    assert_true(i < MOST);
    position = bn_arrivals_next(&a, position);
    queue.due_ns[i] = (uint64_t)(bn_arrivals_time(&a, position) * 1e9);
    if (queue.due_ns[i] >= until_ns)
      return;
    for (unsigned k = 1; k < c->plan.threads; k++)
      if (free_ns[k] < free_ns[first])
        first = k;
    queue.begun_ns[i] = free_ns[first] > queue.due_ns[i] ? free_ns[first] : queue.due_ns[i];
    queue.end_ns[i] = free_ns[first] = serve_until(s, queue.begun_ns[i]);
  }
}

static int compare_ns(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return x < y ? -1 : x > y;
}

static void expect_near(double is, double should, double share)
{
  if (fabs(is - should) > share * should + 1e-9)
    fail_msg("%.9g instead of %.9g", is, should);
}

/* Compares phase k with the events of the queue that were due in it.  The percentiles and the
   maximum count the ages of those that wait at the end. */
static void expect_phase(const struct bn_conf *c, size_t k)
{
  const uint64_t until_ns = c->plan.warmup_ns + c->plan.time_ns;
  const struct bn_profile_phase *f = &c->profile.phase[k];
  const uint64_t from_ns = c->plan.warmup_ns + (uint64_t)(f->from_s * 1e9);
  uint64_t to_ns = from_ns + (uint64_t)(f->span_s * 1e9), due = 0, started = 0, queued = 0;
  uint64_t *took_ns = calloc(MOST, sizeof *took_ns);
  double sum_s = 0;
  size_t n = 0, unfinished = 0;

  to_ns = to_ns > until_ns || k + 1 == c->profile.n_phases ? until_ns : to_ns;
  for (size_t i = 0; i < queue.n; i++) {
    if (queue.due_ns[i] < c->plan.warmup_ns)
      continue;
    due += queue.due_ns[i] >= from_ns && queue.due_ns[i] < to_ns;
    started += queue.begun_ns[i] >= from_ns && queue.begun_ns[i] < to_ns;
    queued += queue.due_ns[i] < to_ns && queue.begun_ns[i] >= to_ns;
    if (queue.due_ns[i] < from_ns || queue.due_ns[i] >= to_ns)
      continue;
    if (queue.begun_ns[i] < until_ns)
      sum_s += (double)(queue.end_ns[i] - queue.due_ns[i]) * 1e-9;
    else
      unfinished++;
    took_ns[n++] = (queue.begun_ns[i] < until_ns ? queue.end_ns[i] : until_ns) - queue.due_ns[i];
  }
  qsort(took_ns, n, sizeof *took_ns, compare_ns);
  assert_int_equal(phase[k].due, due);
  assert_int_equal(phase[k].started, started);
  assert_int_equal(phase[k].queued, queued);
  assert_int_equal(phase[k].dropped, 0);
  assert_int_equal(phase[k].carried, k > 0 ? phase[k - 1].queued : 0);
  assert_int_equal(phase[k].due + phase[k].carried,
                   phase[k].started + phase[k].dropped + phase[k].queued);
  assert_int_equal(timing[k].count, n - unfinished);
  assert_int_equal(timing[k].unfinished, unfinished);
  expect_near(timing[k].avg_s, sum_s / (double)(n - unfinished), 1e-3);
  expect_near(timing[k].max_s, (double)took_ns[n - 1] * 1e-9, 1e-3);
  expect_near(p95_s[k], (double)took_ns[(n * 95 + 99) / 100 - 1] * 1e-9, 1e-3);
  same_s(phase[k].from_s, (double)(from_ns - c->plan.warmup_ns) * 1e-9);
  same_s(phase[k].to_s, (double)(to_ns - c->plan.warmup_ns) * 1e-9);
  free(took_ns);
}

static void expect_phases(const struct bn_conf *c, const struct server *s)
{
  queue_serve(c, s);
  assert_int_equal(n_phases, c->profile.n_phases);
  for (size_t k = 0; k < n_phases; k++)
    expect_phase(c, k);
}

/* Returns how long after at_s the queue has latencies that no event of the phase before has. */
static double queue_recovery_s(double at_s, double longest_s)
{
  for (size_t i = 0; i < queue.n; i++)
    if ((double)queue.due_ns[i] * 1e-9 >= at_s &&
        (double)(queue.end_ns[i] - queue.due_ns[i]) * 1e-9 <= longest_s)
      return (double)queue.due_ns[i] * 1e-9 - at_s;
  return HUGE_VAL;
}

/* --- tests ------------------------------------------------------------------------------------ */

/* A server of 1,000/s gets half of that, for 5 s three times as much, and half again: 10,000 events
   wait, and it takes 20 s to serve them. */
static void a_spike_is_recovered_from(void **state)
{
  struct bn_conf c = conf_of("hold:500/10s; hold:3000/5s; hold:500/30s", 2, 0, 0);
  struct server s = {.service_ns = 2000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_int_equal(phase[1].due, 15000);
  assert_int_equal(phase[1].queued, 10000);
  same_s(phase[1].wanted_per_s, 3000);
  same_s(phase[1].started_per_s, 1000);
  assert_true(phase[1].recovered);
  expect_near(phase[1].recovery_s, queue_recovery_s(15, 0.0021), 0.05);
  expect_near(phase[1].recovery_s, 20, 0.05);
  /* The slice is 0.54 s long. */
  same_s(phase[1].recovery_s * 10, round(phase[1].recovery_s * 10));
  assert_true(isnan(phase[0].recovery_s) && isnan(phase[2].recovery_s));
  bn_conf_done(&c);
}

/* The same with random gaps, a warm-up and four threads; the recovery takes longer than the phase
   after the spike. */
static void random_gaps_are_those_of_the_queue(void **state)
{
  struct bn_conf c =
      conf_of("ramp:0..600/5s; hold:3000/5s; hold:600/10s; hold:500/30s", SERVERS, 2, 0);
  struct server s = {.service_ns = 4000000};

  (void)state;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_true(phase[1].recovered);
  assert_true(phase[1].recovery_s > 10);
  expect_near(phase[1].recovery_s, queue_recovery_s(12, 0.0041), 0.05);
  bn_conf_done(&c);
}

/* Two bursts, of 1 s each, to which the server has recovered after 2 s; the third phase does not
   begin before the end. */
static void bursts_are_recovered_from(void **state)
{
  struct bn_conf c = conf_of("hold:500/5s; burst:2000/1s every 5s for 10s; hold:5/9s", 1, 0, 15);
  struct server s = {.service_ns = 1000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  queue_serve(&c, &s);
  expect_phase(&c, 0);
  expect_phase(&c, 1);
  assert_true(phase[1].recovered);
  expect_near(phase[1].recovery_s, queue_recovery_s(6, 0.0011), 0.05);
  expect_near(phase[1].recovery_s, 2, 0.05);
  same_s(phase[2].to_s, phase[2].from_s);
  assert_int_equal(phase[2].due + phase[2].started, 0);
  bn_conf_done(&c);
}

/* The run goes on after the phases, without bursts: it takes 10 s to serve the 1,000 events that
   wait after the only one. */
static void a_longer_run_has_no_more_bursts(void **state)
{
  struct bn_conf c = conf_of("hold:900/5s; burst:2000/1s every 5s", 1, 0, 25);
  struct server s = {.service_ns = 1000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_true(phase[1].recovered);
  expect_near(phase[1].recovery_s, queue_recovery_s(6, 0.0011), 0.05);
  expect_near(phase[1].recovery_s, 10, 0.05);
  bn_conf_done(&c);
}

/* The search stops before bursts that have begun: the five events of the phase before them are too
   few to tell that the latency is that of before the stall. */
static void few_events_before_bursts_tell_nothing(void **state)
{
  struct bn_conf c =
      conf_of("hold:500/5s; hold:600/5s; hold:5/1s; burst:700/1s every 5s for 10s", 1, 0, 0);
  struct server s = {
      .service_ns = 1000000, .stall_from_ns = 8000000000, .stall_until_ns = 8500000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  assert_int_equal(phase[2].due, 5);
  assert_true(!phase[1].recovered);
  bn_conf_done(&c);
}

/* The server stalls for 2 s; the run is cut while events wait. */
static void a_stall_has_the_latency_of_the_queue(void **state)
{
  struct bn_conf c = conf_of("hold:900/5s; hold:800/60s", 1, 0, 9);
  struct server s = {
      .service_ns = 1000000, .stall_from_ns = 4000000000, .stall_until_ns = 6000000000};

  (void)state;
  run_server(&c, &s);
  expect_phases(&c, &s);
  expect_near(timing[0].max_s, 2, 0.01);
  assert_true(phase[1].queued > 0);
  assert_int_equal(phase[1].queued, seen.total.backlog);
  assert_int_equal(phase[0].due + phase[1].due, seen.total.due);
  assert_int_equal(phase[0].started + phase[1].started, seen.total.started);
  assert_true(!phase[0].recovered && isnan(phase[0].recovery_s));
  bn_conf_done(&c);
}

/* A spike at the end of a run is not recovered from; without a phase before, nothing is known. */
static void what_is_not_over_is_said(void **state)
{
  struct bn_conf c = conf_of("hold:500/2s; hold:3000/2s; hold:900/60s", 1, 0, 9);
  struct server s = {.service_ns = 1000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  assert_true(!phase[1].recovered);
  same_s(phase[1].recovery_s, 5);
  bn_conf_done(&c);
  c = conf_of("hold:3000/2s; hold:500/10s", 1, 0, 0);
  run_server(&c, &s);
  assert_true(isnan(phase[0].recovery_s));
  bn_conf_done(&c);
}

/* The server hangs in the second phase until after the end: 300 of its events wait then, and it has
   not recovered, though the mean of those that have ended did not grow. */
static void a_hang_is_not_recovered_from(void **state)
{
  struct bn_conf c = conf_of("hold:100/1s; hold:400/1s; hold:100/500ms", 1, 0, 0);
  struct server s = {
      .service_ns = 1000000, .stall_from_ns = 1249000000, .stall_until_ns = 2600000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_int_equal(phase[1].due, 400);
  assert_int_equal(timing[1].count, 100);
  assert_int_equal(timing[1].unfinished, 300);
  same_s(timing[1].youngest_s, 0.5 + 0.5 / 400);
  assert_true(p95_s[1] >= timing[1].youngest_s);
  assert_int_equal(timing[2].count, 0);
  assert_true(isnan(timing[2].avg_s) && timing[2].unfinished > 0);
  assert_true(timing[0].unfinished == 0);
  assert_true(!phase[1].recovered);
  same_s(phase[1].recovery_s, 0.5);
  bn_conf_done(&c);
}

/* The phase before a fall was overloaded too, in steps and in ramps: the level is that of the last
   phase that was not.  If there is none, nothing is said. */
static void an_overload_is_no_level(void **state)
{
  struct bn_conf c = conf_of("hold:50/1s; hold:300/1s; hold:200/1s; hold:20/6s", 1, 0, 0);
  struct server s = {.service_ns = 10000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_true(phase[1].recovered && phase[2].recovered);
  expect_near(phase[1].recovery_s, queue_recovery_s(2, 0.0101), 0.05);
  expect_near(phase[2].recovery_s, queue_recovery_s(3, 0.0101), 0.05);
  expect_near(phase[2].recovery_s, 300 / 80.0, 0.05);
  bn_conf_done(&c);

  c = conf_of("hold:50/1s; ramp:50..300/2s; hold:300/1s; ramp:300..20/2s; hold:20/19s", 1, 0, 0);
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_true(phase[2].recovered && phase[3].recovered);
  expect_near(phase[2].recovery_s, queue_recovery_s(4, 0.0101), 0.05);
  expect_near(phase[3].recovery_s, queue_recovery_s(6, 0.0101), 0.05);
  bn_conf_done(&c);

  c = conf_of("ramp:50..300/2s; hold:300/1s; hold:20/19s", 1, 0, 0);
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  assert_true(isnan(phase[1].recovery_s));
  bn_conf_done(&c);
}

/* A few events that wait by chance when a phase ends are no overload: it has a level. */
static void a_queue_by_chance_is_no_overload(void **state)
{
  struct bn_conf c = conf_of("hold:500/5s; hold:3000/1s; hold:500/10s", 1, 0, 0);
  struct server s = {
      .service_ns = 1000000, .stall_from_ns = 4980000000, .stall_until_ns = 5001000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_in_range(phase[0].queued, 9, 11);
  assert_true(p95_s[0] < 0.0011);
  assert_true(phase[1].recovered);
  expect_near(phase[1].recovery_s, queue_recovery_s(6, 0.0011), 0.05);
  bn_conf_done(&c);
}

/* A load that is greater than before, but not too great, has a level of its own. */
static void a_busier_phase_is_a_level(void **state)
{
  struct bn_conf c = conf_of("hold:10/5s; hold:80/20s; hold:300/1s; hold:80/40s", 1, 0, 0);
  struct server s = {.service_ns = 10000000};

  (void)state;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_true(p95_s[1] > 1.5 * p95_s[0]);
  assert_true(phase[2].recovered);
  expect_near(phase[2].recovery_s, queue_recovery_s(26, p95_s[1]), 0.3);
  bn_conf_done(&c);
}

/* Latencies after bursts are those of all bursts together, so that nothing is known beyond the
   first one: the queue of 200 events is empty after 2.6 s. */
static void later_bursts_end_the_look(void **state)
{
  struct bn_conf c =
      conf_of("hold:50/1s; hold:300/1s; hold:20/200ms; burst:60/100ms every 1s for 6s", 1, 0, 0);
  struct server s = {.service_ns = 10000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_true(!phase[1].recovered);
  same_s(phase[1].recovery_s, 0.2);
  bn_conf_done(&c);
}

/* The service takes 2 % longer after the spike, which is no lasting damage. */
static void a_little_slower_is_recovered(void **state)
{
  struct bn_conf c = conf_of("hold:50/2s; hold:300/1s; hold:20/9s", 1, 0, 0);
  struct server s = {.service_ns = 10000000, .slow_from_ns = 2000000000, .slow_ns = 200000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  assert_true(phase[1].recovered);
  expect_near(phase[1].recovery_s, queue_recovery_s(3, 0.0103), 0.05);
  bn_conf_done(&c);
}

/* The phases of constant gaps have as many events as the integral of their rates, but for one at
   each edge. */
static void phases_have_what_is_wanted(void **state)
{
  struct bn_conf c = conf_of("ramp:0..2000/4s; sine:2000+-1000/2s for 4s; step:1000..3000+1000/2s; "
                             "burst:4000/1s every 2s for 6s; hold:1000/3s",
                             1, 1, 0);
  struct server s = {.service_ns = 100000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  run_server(&c, &s);
  expect_phases(&c, &s);
  for (size_t k = 0; k < n_phases; k++) {
    const double wanted = phase[k].wanted_per_s * (phase[k].to_s - phase[k].from_s);

    assert_true(fabs((double)phase[k].due - wanted) <= 0.001 * wanted);
  }
  bn_conf_done(&c);
}

/* Arrivals after the last ticket are of no phase. */
static void tickets_end_the_phases(void **state)
{
  struct bn_conf c = conf_of("hold:500/2s; hold:2000/10s", 1, 0, 0);
  struct server s = {.service_ns = 1000000};

  (void)state;
  c.raw.arrivals = BN_GAPS_CONSTANT;
  c.plan.events = 3000;
  run_server(&c, &s);
  assert_int_equal(phase[0].due, 1000);
  assert_int_equal(phase[1].due, 2000);
  assert_int_equal(phase[0].started + phase[1].started, 3000);
  assert_int_equal(phase[1].queued, 0);
  bn_conf_done(&c);
}

/* --- active threads --------------------------------------------------------------------------- */

/* A moment of the run, in seconds, the number of threads that should have an event in flight then,
   and of those that had. */
struct moment {
  double at_s;
  unsigned wanted, seen;
};

struct census {
  struct moment *moment;
  size_t n;
  uint64_t start_ns;
};

/* Takes 7 ms. */
static enum bn_next counted_event(void *self, struct bn_session *session)
{
  const struct census *c = self;
  const double from_s = (double)(session->last_ns - c->start_ns) * 1e-9, until_s = from_s + 0.007;

  for (size_t i = 0; i < c->n; i++)
    if (from_s <= c->moment[i].at_s && c->moment[i].at_s < until_s)
      c->moment[i].seen++;
  bn_clock_sleep_until(session->last_ns + 7000000);
  return BN_CONTINUE;
}

static const struct bn_workload counted = {.name = "counted", .event = counted_event};

static void run_census(const struct bn_conf *c, struct moment *moment, size_t n)
{
  struct census census = {.moment = moment, .n = n};

  sim_begin();
  census.start_ns = bn_clock_mono();
  assert_int_equal(run_with(c, &counted, &census, &keeper), 0);
  for (size_t i = 0; i < n; i++)
    if (moment[i].seen != moment[i].wanted)
      fail_msg("%u threads instead of %u at %g s", moment[i].seen, moment[i].wanted,
               moment[i].at_s);
}

/* Threads without think times always have an event in flight while they are active. */
static void threads_are_active_as_the_curve_says(void **state)
{
  struct bn_conf c = conf_of_threads("ramp:1..16/4s; hold:16/2s; step:12..4-4/2s; hold:0/1s; "
                                     "burst:16/1s every 2s for 4s; sine:8+-4/4s; hold:3/2s",
                                     20, 0);
  struct moment moment[] = {{1.9005, 8, 0}, {5, 16, 0},   {7, 12, 0},    {9, 8, 0},
                            {11, 4, 0},     {12.5, 0, 0}, {13.5, 16, 0}, {14.5, 0, 0},
                            {15.5, 16, 0},  {16.5, 0, 0}, {18, 12, 0},   {20, 4, 0},
                            {22, 3, 0}};
  uint64_t events = 0;

  (void)state;
  run_census(&c, moment, sizeof moment / sizeof *moment);
  assert_int_equal(n_phases, 7);
  same_s(phase[0].wanted_threads, 8.5);
  same_s(phase[1].wanted_threads, 16);
  same_s(phase[2].wanted_threads, 8);
  same_s(phase[3].wanted_threads, 0);
  same_s(phase[4].wanted_threads, 8);
  expect_near(phase[5].wanted_threads, 8, 1e-3);
  same_s(phase[6].wanted_threads, 3);
  for (size_t k = 0; k < n_phases; k++) {
    const double span_s = phase[k].to_s - phase[k].from_s;

    assert_true(isnan(phase[k].wanted_per_s));
    assert_int_equal(phase[k].started, timing[k].count);
    assert_int_equal(phase[k].due, phase[k].started);
    assert_int_equal(phase[k].queued + phase[k].carried + phase[k].dropped, 0);
    /* The threads whose time ends finish an event, and those whose time begins start one. */
    assert_true(fabs((double)phase[k].started - phase[k].wanted_threads * span_s / 0.007) <= 40);
    events += phase[k].started;
  }
  assert_int_equal(events, seen.total.events);
  bn_conf_done(&c);
}

/* The warm-up has the first number of threads, and its events are of no phase. */
static void the_warm_up_is_of_no_phase(void **state)
{
  struct bn_conf c = conf_of_threads("hold:2/700ms; hold:4/700ms", 4, 0.7);
  struct moment moment[] = {{0.35, 2, 0}, {1.05, 2, 0}, {1.75, 4, 0}};

  (void)state;
  run_census(&c, moment, sizeof moment / sizeof *moment);
  assert_true(phase[0].started >= 198 && phase[0].started <= 202);
  assert_true(phase[1].started >= 396 && phase[1].started <= 404);
  assert_int_equal(phase[0].started + phase[1].started, seen.total.events);
  bn_conf_done(&c);
}

/* A thread thinks as long as it is active: 4 threads make an event each 57 ms. */
static void active_threads_think(void **state)
{
  struct bn_conf c = conf_of_threads("hold:4/57s; hold:1/57s", 8, 0);

  (void)state;
  c.think = (struct bn_delay){.low_ns = 50e6, .high_ns = 50e6};
  run_census(&c, NULL, 0);
  assert_true(phase[0].started >= 3996 && phase[0].started <= 4004);
  assert_true(phase[1].started >= 999 && phase[1].started <= 1004);
  bn_conf_done(&c);
}

static const struct bn_metric two_phases[] = {
    {.name = BN_PHASE_PART "1 a", .unit = "ns", .kind = BN_PHASE_HISTOGRAM},
    {.name = BN_PHASE_PART "2 b", .unit = "ns", .kind = BN_PHASE_HISTOGRAM},
    {.name = NULL}};

/* An event that is dropped counts where it began, one that has failed where it was due; a failed
   event was started. */
static void what_is_lost_has_a_phase(void **state)
{
  struct bn_conf c = conf_of("hold:10/1s; hold:10/1s", 1, 0, 0);
  const uint64_t start_ns = 5 * BN_NSEC_PER_SEC;
  const struct bn_tick late = {.start_ns = start_ns + 900000000, .begun_ns = start_ns + 1100000000};
  const struct bn_phases_end end = {
      .until_ns = start_ns + 2 * BN_NSEC_PER_SEC, .due = 20, .queued = 17, .skip = 3};
  struct bn_phases *p = bn_phases_new(&c.profile);
  struct bn_view_rules rules = {.n_percents = 0};
  struct bn_view_store store;
  struct bn_pacer pacer;
  struct bn_metrics m;
  struct bn_snap s;
  struct bn_view v;

  (void)state;
  bn_pacer_init(&pacer, 1, c.profile.piece, c.profile.n_pieces);
  bn_pacer_make_constant(&pacer, 0.5);
  bn_pacer_start(&pacer, start_ns);
  bn_phases_start(p, start_ns);
  for (int i = 0; i < 3; i++)
    bn_phases_note_begun(p, 7, late.begun_ns);
  bn_phases_count_failed(p, 7, late.start_ns, 4);
  bn_phases_count_dropped(p, 7, &late);
  assert_int_equal(bn_phases_count_ended(p, 7, late.start_ns, 5, 2), 0);
  bn_phases_end(p, &pacer, &end);
  bn_metrics_init(&m, two_phases);
  bn_snap_init_for_metrics(&s, &m, 0, true);
  bn_view_store_init(&store, &s);
  bn_view_fill(&v, &store, &s, &rules);
  bn_phases_fill(p, &v, &store, &s, NULL, 0);
  assert_string_equal(v.phases[1].text, "b");
  assert_int_equal(v.phases[0].due, 10);
  assert_int_equal(v.phases[0].failed_events, 1);
  assert_int_equal(v.phases[0].retries, 6);
  assert_int_equal(v.phases[0].queued, 10);
  assert_int_equal(v.phases[1].started, 2);
  assert_int_equal(v.phases[1].dropped, 1);
  assert_int_equal(v.phases[1].queued, 17);
  bn_view_store_done(&store);
  bn_snap_done(&s);
  bn_metrics_done(&m);
  bn_pacer_done(&pacer);
  bn_phases_free(p);
  bn_conf_done(&c);
}

/* The first session hangs in an event of the second phase, which was started there, when the run is
   abandoned, and the second session has no event in flight. */
static void an_idle_session_is_in_no_phase(void **state)
{
  struct bn_conf c = conf_of_threads("hold:2/1s; hold:2/1s", 2, 0);
  const uint64_t start_ns = 5 * BN_NSEC_PER_SEC, hang_ns = start_ns + 1500000000;
  const struct bn_phases_end end = {.until_ns = start_ns + 2 * BN_NSEC_PER_SEC};
  struct bn_phases *p = bn_phases_new(&c.profile);
  struct bn_view_rules rules = {.n_percents = 0};
  struct bn_snap delta, stuck;
  struct bn_view_store store;
  struct bn_metrics m;
  struct bn_view v;

  (void)state;
  bn_phases_start(p, start_ns);
  bn_phases_end(p, NULL, &end);
  bn_metrics_init(&m, two_phases);
  bn_snap_init_for_metrics(&delta, &m, 0, true);
  bn_snap_init_for_metrics(&stuck, &m, 2, false);
  stuck.session[0] = (struct bn_snap_session){.in_flight = 1, .start_ns = hang_ns};
  bn_view_store_init(&store, &delta);
  bn_view_fill(&v, &store, &delta, &rules);
  bn_phases_fill(p, &v, &store, &delta, &stuck, hang_ns + 750000000);
  assert_int_equal(v.phases[0].timing->unfinished, 0);
  assert_int_equal(v.phases[1].timing->unfinished, 1);
  same_s(v.phases[1].timing->youngest_s, 0.75);
  assert_int_equal(v.phases[0].started + v.phases[0].due, 0);
  assert_int_equal(v.phases[1].started, 1);
  assert_int_equal(v.phases[1].due, 1);
  same_s(v.phases[1].started_per_s, 1);
  bn_view_store_done(&store);
  bn_snap_done(&stuck);
  bn_snap_done(&delta);
  bn_metrics_done(&m);
  bn_phases_free(p);
  bn_conf_done(&c);
}

BN_TESTS(run_phases)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_spike_is_recovered_from),
      cmocka_unit_test(random_gaps_are_those_of_the_queue),
      cmocka_unit_test(bursts_are_recovered_from),
      cmocka_unit_test(a_longer_run_has_no_more_bursts),
      cmocka_unit_test(few_events_before_bursts_tell_nothing),
      cmocka_unit_test(a_stall_has_the_latency_of_the_queue),
      cmocka_unit_test(what_is_not_over_is_said),
      cmocka_unit_test(a_hang_is_not_recovered_from),
      cmocka_unit_test(an_overload_is_no_level),
      cmocka_unit_test(a_queue_by_chance_is_no_overload),
      cmocka_unit_test(a_busier_phase_is_a_level),
      cmocka_unit_test(later_bursts_end_the_look),
      cmocka_unit_test(a_little_slower_is_recovered),
      cmocka_unit_test(phases_have_what_is_wanted),
      cmocka_unit_test(tickets_end_the_phases),
      cmocka_unit_test(threads_are_active_as_the_curve_says),
      cmocka_unit_test(the_warm_up_is_of_no_phase),
      cmocka_unit_test(active_threads_think),
      cmocka_unit_test(what_is_lost_has_a_phase),
      cmocka_unit_test(an_idle_session_is_in_no_phase),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
