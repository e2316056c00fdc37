/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the end of an event counts, and when it makes its session look for an outage, which reads
   all sessions. */
#include "cm.h"

#include "engine/event.h"
#include "engine/outage.h"
#include "engine/quota.h"
#include "measure/snap.h"
#include "measure/view.h"
#include "simclock.h"

static unsigned looks;

void bn_outage_search(struct bn_outage *o, const struct bn_stat *self, uint64_t start_ns,
                      uint64_t before_ns, uint64_t now_ns, uint64_t span_ns)
{
  (void)o;
  (void)self;
  (void)start_ns;
  (void)before_ns;
  (void)now_ns;
  (void)span_ns;
  looks++;
}

void bn_outage_leave(struct bn_outage *o, uint64_t end_ns)
{
  (void)o;
  (void)end_ns;
}

static const _Atomic uint64_t always = 0;

struct scene {
  struct bn_statset set;
  struct bn_clock clock;
  struct bn_limit limit;
  struct bn_outage outage;
  struct bn_session s;
};

static void set_scene_of(struct scene *c, unsigned apart, const struct bn_metric *metrics)
{
  sim_begin();
  *c = (struct scene){.limit = {UINT64_MAX, UINT64_MAX}};
  assert_int_equal(bn_statset_init(&c->set, 1, 1, metrics, apart), 0);
  bn_clock_init(&c->clock, BN_CLOCK_AUTO);
  bn_clock_reader_init(&c->s.clock, &c->clock);
  c->s.stat = c->set.stat[0];
  c->s.limit = &c->limit;
  c->s.outage = &c->outage;
  c->s.mark = apart != 0 ? &always : &c->limit.until_ns;
  looks = 0;
}

static void set_scene(struct scene *c, unsigned apart)
{
  set_scene_of(c, apart, NULL);
}

/* Ends now one that was begun, or was due, so long ago. */
static void end_one(struct scene *c, double ago_s)
{
  const uint64_t now_ns = bn_clock_mono();
  const struct bn_tick tick = {now_ns - (uint64_t)(ago_s * 1e9), now_ns};

  bn_stat_bump(&c->s.stat->begun_at, tick.start_ns);
  bn_stat_bump(&c->s.stat->begun, 1);
  bn_event_end(&c->s, &tick);
}

/* Under --rate it is not how long an event waited that counts: the server answers all the while. */
static void a_queue_is_no_reason_to_look(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, BN_STAT_WAITING);
  end_one(&c, 5);
  looks = 0;
  for (int i = 0; i < 20; i++) {
    sim_sleep_ms(100);
    end_one(&c, 5);
  }
  assert_int_equal(looks, 0);
  sim_sleep_ms(1500);
  end_one(&c, 5);
  assert_int_equal(looks, 1);
  /* Without an arrival, or because this one came in the last moment of a stall. */
  sim_sleep_ms(1500);
  end_one(&c, 0.01);
  assert_int_equal(looks, 2);
  sim_sleep_ms(100);
  end_one(&c, 0.01);
  assert_int_equal(looks, 2);
  bn_statset_done(&c.set);
}

/* An event that worked for 40 ms before it set out, and 10 ms after that, took 10 ms; its start is
   the moved one for those who look at events in flight.  One of --rate keeps its start. */
static void work_before_the_start_is_not_part_of_the_latency(void **state)
{
  struct scene c;
  struct bn_tick tick = {0};

  (void)state;
  set_scene(&c, 0);
  c.s.last_ns = bn_clock_mono();
  bn_event_start(&c.s, &tick);
  sim_sleep_ms(40);
  bn_event_start_later(&c.s, &tick);
  assert_true(bn_stat_get(&c.s.stat->begun_at) == bn_clock_mono());
  sim_sleep_ms(10);
  bn_event_end(&c.s, &tick);
  assert_true(bn_stat_get(&c.s.stat->busy_ns) == 10 * BN_NSEC_PER_MSEC);
  assert_true(bn_stat_get(&c.s.stat->begun_at) == bn_stat_get(&c.s.stat->ended_at));
  c.s.pacer = (struct bn_pacer *)(void *)&c;
  bn_event_start(&c.s, &tick);
  sim_sleep_ms(40);
  bn_event_start_later(&c.s, &tick);
  assert_true(bn_clock_mono() - tick.start_ns == 40 * BN_NSEC_PER_MSEC);
  bn_statset_done(&c.set);
}

/* Ends now, without being counted, one that has just begun. */
static void waste_one(struct scene *c)
{
  const uint64_t now_ns = bn_clock_mono();
  const struct bn_tick tick = {now_ns, now_ns};

  bn_stat_bump(&c->s.stat->begun_at, tick.start_ns);
  bn_stat_bump(&c->s.stat->begun, 1);
  sim_sleep_ms(600);
  bn_event_forget_now(&c->s, &tick);
}

/* Nobody looks before one succeeds, however short it is, and then once. */
static void a_success_after_failures_is_a_reason_to_look(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0);
  for (unsigned n = 1; n < 3; n++) {
    looks = 0;
    end_one(&c, 0.5);
    for (unsigned i = 0; i < n; i++)
      waste_one(&c);
    assert_int_equal(looks, 0);
    end_one(&c, 0.001);
    assert_int_equal(looks, n == 2);
    end_one(&c, 0.9);
    assert_int_equal(looks, n == 2);
  }
  bn_statset_done(&c.set);
}

/* A session that asks for its first pause in an event shows the end before that, from which on
   nothing has ended, and not that nothing has ever ended. */
static void a_first_pause_leaves_the_last_end(void **state)
{
  struct scene c;
  uint64_t last_ns;

  (void)state;
  set_scene(&c, 0);
  sim_sleep_ms(5000);
  end_one(&c, 0.01);
  last_ns = bn_clock_mono();
  for (int i = 0; i < 2; i++) {
    sim_sleep_ms(100);
    assert_true(bn_event_set_pause(&c.s, 1));
    assert_true(bn_stat_get(&c.s.stat->last_end_ns) == last_ns);
    c.s.last_ns = bn_clock_mono();
  }
  bn_statset_done(&c.set);
}

static void a_long_event_is_one(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0);
  end_one(&c, 0.9);
  assert_int_equal(looks, 0);
  end_one(&c, 1.1);
  end_one(&c, 1.05);
  assert_int_equal(looks, 2);
  bn_statset_done(&c.set);
}

/* Its script has caught the error, so the event ends, but it is not counted. */
static void an_event_of_a_failed_session_is_not_the_longest(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0);
  end_one(&c, 0.5);
  bn_event_stop(&c.s);
  end_one(&c, 0.9);
  assert_int_equal(bn_stat_get(&c.s.stat->counter[BN_C_EVENTS]), 1);
  assert_int_equal(bn_stat_get(&c.s.stat->dropped), 1);
  assert_true(bn_stat_get(&c.s.stat->max_ns) < 600000000);
  bn_statset_done(&c.set);
}

/* An event that was due 0.5 s ago and began 0.2 s ago has waited for 0.3 s. */
static void a_wait_is_not_part_of_the_service(void **state)
{
  const uint64_t ms = 1000000;
  struct scene c;
  struct bn_snap snap;
  const struct bn_stat *st;

  (void)state;
  set_scene(&c, BN_STAT_WAITING);
  st = c.s.stat;
  sim_sleep_ms(1000);
  const uint64_t now_ns = bn_clock_mono();
  const struct bn_tick tick = {.start_ns = now_ns - 500 * ms, .begun_ns = now_ns - 200 * ms};

  bn_stat_bump(&c.s.stat->begun_at, tick.start_ns);
  bn_stat_bump(&c.s.stat->begun, 1);
  bn_event_end(&c.s, &tick);
  assert_in_range(bn_stat_get(&st->busy_ns), 500 * ms, 505 * ms);
  assert_in_range(bn_stat_get(&st->service_ns), 200 * ms, 205 * ms);
  bn_snap_init(&snap, &c.set);
  bn_snap_take(&snap, &c.set, now_ns);
  assert_float_equal(bn_view_hist_percentile_s(snap.hist[st->service_hist], 100, false), 0.2,
                     0.005);
  assert_float_equal(bn_view_hist_percentile_s(snap.hist[st->queueing_hist], 100, false), 0.3,
                     0.005);
  bn_snap_done(&snap);
  bn_statset_done(&c.set);
}

/* A counter in front of those of two kinds, and a histogram behind theirs. */
#define KIND(as)                                                                                   \
  {.name = "event:" as, .unit = "ns", .kind = BN_EVENT_HISTOGRAM},                                 \
      {.name = "events@event:" as, .unit = "1", .kind = BN_EVENT_ENDED},                           \
      {.name = "retries@event:" as, .unit = "1", .kind = BN_EVENT_RETRIES},                        \
      {.name = "failed_events@event:" as, .unit = "1", .kind = BN_EVENT_FAILED},                   \
  {                                                                                                \
    .name = "late_events@event:" as, .unit = "1", .kind = BN_EVENT_LATE                            \
  }

static const struct bn_metric two_kinds[] = {
    {.name = "own", .unit = "1"},
    {.name = "own_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    KIND("a"),
    KIND("b"),
    {.name = NULL}};

enum { OWN = BN_C_FIXED, FIRST_OF_KINDS, OWN_HIST = BN_H_FIXED, FIRST_HIST };

/* Checks what was counted for a kind, from 1 on. */
static void check_kind(const struct scene *c, unsigned kind, uint64_t events, uint64_t retries,
                       uint64_t failed, uint64_t late)
{
  const uint64_t want[] = {events, retries, failed, late};

  for (unsigned i = 0; i < BN_EVENT_COUNTERS; i++)
    assert_int_equal(
        bn_stat_get(&c->s.stat->counter[FIRST_OF_KINDS + (kind - 1) * BN_EVENT_COUNTERS + i]),
        want[i]);
  assert_int_equal(bn_hist_count(c->s.stat->hist[FIRST_HIST + kind - 1]), events);
}

static struct bn_tick begin_one(struct scene *c)
{
  struct bn_tick tick;

  c->s.last_ns = bn_clock_mono();
  bn_event_start(&c->s, &tick);
  return tick;
}

/* The last word counts; one event says nothing, and does not inherit a kind. */
static void an_event_counts_for_the_kind_that_it_said_last(void **state)
{
  struct scene c;

  (void)state;
  set_scene_of(&c, 0, two_kinds);
  bn_event_set_kind(&c.s, 2); /* no event is in flight */
  for (unsigned i = 0; i < 6; i++) {
    const struct bn_tick tick = begin_one(&c);

    if (i < 5)
      bn_event_set_kind(&c.s, 2);
    if (i < 2)
      bn_event_set_kind(&c.s, 1);
    sim_sleep_ms(10);
    bn_event_end(&c.s, &tick);
    assert_ptr_equal(c.s.mark, &c.limit.until_ns);
  }
  check_kind(&c, 1, 2, 0, 0, 0);
  check_kind(&c, 2, 3, 0, 0, 0);
  assert_int_equal(bn_stat_get(&c.s.stat->counter[BN_C_EVENTS]), 6);
  assert_int_equal(bn_stat_get(&c.s.stat->counter[OWN]), 0);
  assert_int_equal(bn_hist_count(c.s.stat->hist[OWN_HIST]), 0);
  bn_statset_done(&c.set);
}

/* A kind that is said at the end gets the event also if it is the longest, was repeated, or said
   another kind before.  A snapshot has the latencies of the kinds among those of all events. */
static void a_kind_may_be_said_at_the_end(void **state)
{
  struct scene c;
  struct bn_tick tick;
  struct bn_snap snap;

  (void)state;
  set_scene_of(&c, 0, two_kinds);
  for (unsigned i = 0; i < 4; i++) {
    tick = begin_one(&c);
    sim_sleep_ms(i == 0 ? 100 : 10);
    if (i == 2)
      bn_event_note_repeat(&c.s);
    if (i == 3)
      bn_event_set_kind(&c.s, 2);
    bn_event_end_of_kind(&c.s, &tick, 1);
  }
  check_kind(&c, 1, 4, 1, 0, 0);
  check_kind(&c, 2, 0, 0, 0, 0);
  assert_int_equal(bn_stat_get(&c.s.stat->counter[BN_C_EVENTS]), 4);
  tick = begin_one(&c);
  sim_sleep_ms(10);
  bn_event_end(&c.s, &tick);
  bn_snap_init(&snap, &c.set);
  bn_snap_take(&snap, &c.set, c.s.last_ns);
  assert_int_equal(bn_hist_count(snap.hist[BN_H_LATENCY]), 5);
  assert_int_equal(bn_hist_count(snap.hist[c.s.stat->kind_hist]), 4);
  bn_snap_done(&snap);
  assert_in_range(bn_stat_get(&c.s.stat->max_ns), 100000000, 105000000);
  bn_statset_done(&c.set);
}

/* Retries are those of the kind at the end, whenever it was said; nobody gets those of an event
   that has not said its kind, or was dropped. */
static void retries_and_failures_are_those_of_the_kind_at_the_end(void **state)
{
  struct scene c;
  struct bn_tick tick;

  (void)state;
  set_scene_of(&c, 0, two_kinds);
  tick = begin_one(&c);
  bn_event_note_repeat(&c.s);
  bn_event_set_kind(&c.s, 2);
  bn_event_note_repeat(&c.s);
  bn_event_set_kind(&c.s, 1);
  bn_event_end(&c.s, &tick);
  check_kind(&c, 1, 1, 2, 0, 0);
  tick = begin_one(&c);
  bn_event_set_kind(&c.s, 2);
  bn_event_note_repeat(&c.s);
  bn_event_fail(&c.s, &tick);
  check_kind(&c, 2, 0, 1, 1, 0);
  for (unsigned i = 0; i < 3; i++) {
    tick = begin_one(&c);
    if (i == 1)
      bn_event_set_kind(&c.s, 1);
    bn_event_note_repeat(&c.s);
    if (i == 0)
      bn_event_fail(&c.s, &tick);
    else if (i == 1)
      bn_event_drop(&c.s, &tick);
    else
      bn_event_end(&c.s, &tick);
  }
  tick = begin_one(&c);
  bn_event_set_kind(&c.s, 1);
  bn_event_end(&c.s, &tick);
  check_kind(&c, 1, 2, 2, 0, 0);
  check_kind(&c, 2, 0, 1, 1, 0);
  bn_statset_done(&c.set);
}

/* Events that began in the warm-up count for no kind, and those that end after the span are
   late. */
static void kinds_are_of_the_events_that_count(void **state)
{
  static struct bn_quota unlimited;
  struct bn_quota_share share = {.quota = &unlimited};
  struct scene c;
  struct bn_tick tick;

  (void)state;
  set_scene_of(&c, BN_STAT_WARMUP, two_kinds);
  c.s.share = &share;
  sim_sleep_ms(1000);
  c.s.stat->counts_from_ns = bn_clock_mono() + 10000000;
  for (unsigned i = 0; i < 3; i++) {
    tick = begin_one(&c);
    bn_event_set_kind(&c.s, 1);
    bn_event_note_repeat(&c.s);
    sim_sleep_ms(20);
    if (i == 1)
      bn_event_fail(&c.s, &tick);
    else
      bn_event_end(&c.s, &tick);
  }
  check_kind(&c, 1, 1, 2, 1, 0);
  c.limit.span_ns = c.limit.until_ns = bn_clock_mono() + 10000000;
  tick = begin_one(&c);
  bn_event_set_kind(&c.s, 2);
  sim_sleep_ms(20);
  bn_event_end(&c.s, &tick);
  check_kind(&c, 2, 1, 0, 0, 1);
  bn_statset_done(&c.set);
}

BN_TESTS(event)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_queue_is_no_reason_to_look),
      cmocka_unit_test(a_first_pause_leaves_the_last_end),
      cmocka_unit_test(a_long_event_is_one),
      cmocka_unit_test(work_before_the_start_is_not_part_of_the_latency),
      cmocka_unit_test(a_success_after_failures_is_a_reason_to_look),
      cmocka_unit_test(an_event_of_a_failed_session_is_not_the_longest),
      cmocka_unit_test(a_wait_is_not_part_of_the_service),
      cmocka_unit_test(an_event_counts_for_the_kind_that_it_said_last),
      cmocka_unit_test(a_kind_may_be_said_at_the_end),
      cmocka_unit_test(retries_and_failures_are_those_of_the_kind_at_the_end),
      cmocka_unit_test(kinds_are_of_the_events_that_count),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
