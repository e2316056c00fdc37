/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run that is a part of one on several hosts: it draws what its sessions draw in one process, and
   starts and stops when it is told, on a simulated clock, and shows what came after its last
   interval. */
#include "toyrun.h"

#include <signal.h>

#include "base/dist.h"
#include "engine/stop.h"
#include "simrun.h"

/* --- numbers --- */

/* What each of four sessions draws first, by its number. */
struct drawn {
  uint64_t random[4];
  uint32_t unique[4];
};

static enum bn_next draw_once(void *self, struct bn_session *s)
{
  struct drawn *d = self;

  assert_int_equal(s->services->sessions, 4);
  d->random[s->number] = bn_rng_next(&s->rng);
  d->unique[s->number] = bn_unique_next(s->services->unique);
  return BN_FINISHED;
}

static void draw(struct drawn *d, unsigned threads, const struct bn_host_group *host_group)
{
  const struct bn_workload ops = {.name = "draw", .loop = draw_once};
  const struct bn_conf c = make_conf(threads);
  struct bn_run *run;

  sim_begin();
  run = new_run_of(&c, &ops, d, &recorder, NULL, host_group);
  assert_int_equal(bn_run_execute(run), 0);
  bn_run_free(run);
}

static void two_hosts_draw_what_one_draws(void **state)
{
  struct toy_host host = {.start_s = 1};
  const struct bn_host_group a = toy_party(&host, 0, 4), b = toy_party(&host, 2, 4);
  struct drawn one = {{0}, {0}}, two = {{0}, {0}};

  (void)state;
  draw(&one, 4, NULL);
  draw(&two, 2, &a);
  draw(&two, 2, &b);
  assert_memory_equal(one.random, two.random, sizeof one.random);
  for (int i = 0; i < 2; i++)
    for (int k = 2; k < 4; k++)
      assert_int_not_equal(two.unique[i], two.unique[k]);
}

/* --- the start and the end --- */

struct stopper {
  struct toy_host host;
  double stop_s;
  bool at_once; /* and session 1 hangs from then on */
};

/* Session 0 stops the run. */
static enum bn_next event(void *self, struct bn_session *s)
{
  const struct stopper *o = self;

  sim_sleep_ms(10);
  if (o->stop_s > 0 && s->id == 0 && sim_s() >= o->stop_s)
    bn_run_stop(o->host.run, o->at_once);
  if (o->at_once && s->id == 1)
    sim_hang();
  return BN_CONTINUE;
}

static void run_host(struct stopper *o, int status, double end_s)
{
  const struct bn_workload ops = {.name = "toy", .event = event};
  const struct bn_host_group host_group = toy_party(&o->host, 3, 9);
  struct bn_conf c = make_conf(3);
  struct bn_run *run;

  c.plan.time_ns = BN_NSEC_PER_SEC;
  sim_begin();
  o->host.start_s = 2;
  run = new_run_of(&c, &ops, o, &recorder, NULL, &host_group);
  assert_int_equal(bn_run_execute(run), status);
  same_s(sim_s(), end_s);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(o->host.detached, 1);
  sim_release();
  bn_run_free(run);
}

static void it_starts_at_its_time(void **state)
{
  struct stopper o = {.stop_s = 0};

  (void)state;
  run_host(&o, 0, 3);
  assert_int_equal(seen.total.events, 300);
  same_s(seen.total.span_s, 1);
}

static void it_is_stopped_as_by_a_signal(void **state)
{
  struct stopper o = {.stop_s = 2.5};

  (void)state;
  run_host(&o, 128 + SIGINT, 2.51);
}

/* A session that ends after so many events. */
struct ending {
  uint64_t events;
  uint64_t most;
};

static enum bn_next end_early(void *self, struct bn_session *s)
{
  struct ending *e = self;

  (void)s;
  if (e->events == e->most)
    return BN_FINISHED;
  e->events++;
  sim_sleep_ms(15);
  return BN_CONTINUE;
}

/* Its last event is in the span, or in the grace of 2 seconds. */
static void other_hosts_get_its_last_interval(void **state)
{
  static const struct {
    uint64_t events, interval_events[3];
    double at_s[3];
    size_t intervals;
    bool alone;
    uint64_t time_ns;
  } cases[] = {{100, {66, 34}, {1, 1.5}, 2, false, 0},
               {100, {66}, {1}, 1, true, 0},
               {40, {40}, {0.6}, 1, false, 0},
               {134, {66, 67, 1}, {1, 2, 2.01}, 3, false, 0},
               {134, {66, 67, 0}, {1, 2, 2}, 3, false, 2 * BN_NSEC_PER_SEC}};
  const struct bn_workload ops = {.name = "toy", .event = end_early};
  struct bn_reporter shows_rest = recorder;
  struct bn_conf c = make_conf(1);

  (void)state;
  shows_rest.rest = true;
  c.plan.interval_ns = BN_NSEC_PER_SEC;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct toy_host host = {.start_s = 2};
    const struct bn_host_group host_group = toy_party(&host, 0, 1);
    struct ending e = {.most = cases[i].events};
    struct bn_run *run;

    c.plan.time_ns = cases[i].time_ns;
    sim_begin();
    run = new_run_of(&c, &ops, &e, cases[i].alone ? &recorder : &shows_rest, NULL, &host_group);
    assert_int_equal(bn_run_execute(run), 0);
    assert_int_equal(seen.intervals, cases[i].intervals);
    for (size_t k = 0; k < seen.intervals; k++) {
      assert_int_equal(seen.interval_events[k], cases[i].interval_events[k]);
      same_s(seen.interval_at[k], cases[i].at_s[k]);
    }
    assert_int_equal(seen.total.events, cases[i].events);
    bn_run_free(run);
  }
}

/* The session that hangs gets the farewell. */
static void it_is_stopped_at_once(void **state)
{
  struct stopper o = {.stop_s = 2.5, .at_once = true};

  (void)state;
  run_host(&o, 128 + SIGINT, 3.5);
}

BN_TESTS(run_hosts)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_hosts_draw_what_one_draws),     cmocka_unit_test(it_starts_at_its_time),
      cmocka_unit_test(it_is_stopped_as_by_a_signal),      cmocka_unit_test(it_is_stopped_at_once),
      cmocka_unit_test(other_hosts_get_its_last_interval),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
