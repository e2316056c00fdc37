/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each state of a host that answers has an end, at the time that the manual page says. */
#include "cm.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "dialect/dialect.h"
#include "hosts/liveness.h"

enum { HOSTS = 2 };

static const uint64_t sec = BN_NSEC_PER_SEC;
static const uint64_t begin_ns = 1000 * BN_NSEC_PER_SEC;

struct world {
  struct bn_conf conf;
  struct bn_hosts_setup setup;
  struct bn_group_list groups; /* none */
  struct bn_group_work work;
  struct bn_intervals_host round[HOSTS];
  struct bn_connection connection[HOSTS];
  struct bn_fleet fleet;
};

static int make(void **state)
{
  static struct world w;
  struct bn_fleet *f = &w.fleet;

  memset(&w, 0, sizeof w);
  w.conf.policy = &bn_policy_bench;
  w.setup.conf = &w.conf;
  w.fleet = (struct bn_fleet){.setup = &w.setup,
                              .groups = &w.groups,
                              .group_work = &w.work,
                              .connection = w.connection,
                              .n = HOSTS,
                              .is_run = true};
  f->intervals.host = w.round;
  f->intervals.n = HOSTS;
  for (size_t i = 0; i < HOSTS; i++)
    w.connection[i] = (struct bn_connection){.name = i == 0 ? "a" : "b",
                                             .rank = -1,
                                             .link = {.to = {.fd = -1}, .out = -1, .errors = -1}};
  for (size_t i = 0; i < HOSTS; i++)
    bn_frame_reader_init(&w.connection[i].link.reader, BN_FRAME_FROM_AGENT);
  *state = &w;
  return 0;
}

static int end(void **state)
{
  struct world *w = *state;

  for (size_t i = 0; i < HOSTS; i++) {
    bn_buf_done(&w->connection[i].link.to.queue);
    bn_frame_reader_done(&w->connection[i].link.reader);
  }
  return 0;
}

static void enter(struct world *w, enum bn_fleet_phase phase, enum bn_connection_state state)
{
  w->fleet.phase = phase;
  w->fleet.phase_ns = begin_ns;
  w->fleet.start.mono_ns = phase == BN_FLEET_RUN ? begin_ns : 0;
  for (size_t i = 0; i < HOSTS; i++)
    w->connection[i].state = state;
}

/* Checks at that time, up to which both hosts have answered.  Returns how many are there then. */
static size_t there_at(struct world *w, uint64_t now_ns)
{
  size_t n = 0;

  for (size_t i = 0; i < HOSTS; i++)
    w->connection[i].link.heard_ns = now_ns;
  bn_liveness_check(&w->fleet, now_ns);
  for (size_t i = 0; i < HOSTS; i++)
    n += bn_connection_is_alive(&w->connection[i]);
  return n;
}

static void a_host_has_twenty_seconds_to_answer(void **state)
{
  struct world *w = *state;

  enter(w, BN_FLEET_CONNECT, BN_CONNECTION_CONNECTING);
  w->connection[0].state = BN_CONNECTION_OPENING;
  assert_int_equal(there_at(w, begin_ns + 20 * sec), 2);
  assert_int_equal(there_at(w, begin_ns + 20 * sec + 1), 1);
  assert_true(bn_connection_is_alive(&w->connection[0]));
  assert_string_equal(w->connection[1].why.text,
                      "bench has not answered there in time; does the shell "
                      "connect without a question (--hosts-shell)?");
}

/* What nobody gave is not in the message. */
static void a_rank_has_twenty_seconds_to_answer(void **state)
{
  struct world *w = *state;

  enter(w, BN_FLEET_CONNECT, BN_CONNECTION_CONNECTING);
  w->connection[1].rank = 1;
  w->connection[0].state = BN_CONNECTION_OPENING;
  assert_int_equal(there_at(w, begin_ns + 20 * sec + 1), 1);
  assert_string_equal(w->connection[1].why.text,
                      "its agent has not answered in time; standard error has "
                      "the messages of this rank");
}

static void threads_get_ready_in_time(void **state)
{
  struct world *w = *state;

  enter(w, BN_FLEET_OPEN, BN_CONNECTION_OPENING);
  assert_int_equal(there_at(w, begin_ns + 1000 * sec), 2);
  w->work.init_timeout_ns = 30 * sec;
  w->connection[0].state = BN_CONNECTION_READY;
  assert_int_equal(there_at(w, begin_ns + 32 * sec), 2);
  assert_int_equal(there_at(w, begin_ns + 32 * sec + 1), 1);
  assert_true(bn_connection_is_alive(&w->connection[0]));
}

static void threads_of_a_group_get_ready_in_its_time(void **state)
{
  struct bn_group_work work[HOSTS] = {{.init_timeout_ns = 3 * sec}, {.init_timeout_ns = 0}};
  struct world *w = *state;

  w->fleet.group_work = work;
  w->connection[1].group_number = 1;
  enter(w, BN_FLEET_OPEN, BN_CONNECTION_OPENING);
  assert_int_equal(there_at(w, begin_ns + 5 * sec), 2);
  assert_int_equal(there_at(w, begin_ns + 5 * sec + 1), 1);
  assert_int_equal(there_at(w, begin_ns + 1000 * sec), 1);
  assert_true(bn_connection_is_alive(&w->connection[1]));
}

/* Checks that hosts that have not ended by the limit are stopped before they are lost, so that one
   that only takes long sends its result. */
static void check_end(struct world *w, uint64_t limit_ns)
{
  assert_int_equal(there_at(w, limit_ns + 5 * sec / 4), 2);
  assert_int_not_equal(w->fleet.stop, BN_FRAME_STOP_NOW);
  assert_int_equal(there_at(w, limit_ns + 5 * sec / 4 + 1), 2);
  assert_true(w->fleet.failed && w->fleet.late);
  assert_int_equal(w->fleet.stop, BN_FRAME_STOP_NOW);
  assert_int_equal(there_at(w, limit_ns + 2 * sec), 2);
  assert_int_equal(there_at(w, limit_ns + 2 * sec + 2), 0);
  assert_string_equal(w->connection[1].why.text, "it has not ended in time");
}

static void the_time_limit_and_the_grace_end_it(void **state)
{
  struct world *w = *state;

  w->conf.plan.warmup_ns = 2 * sec;
  w->conf.plan.time_ns = 10 * sec;
  w->conf.grace_ns = 3 * sec;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  check_end(w, begin_ns + 15 * sec);
}

static void a_grace_of_its_own_follows_the_longest_event(void **state)
{
  struct world *w = *state;

  w->conf.grace_auto = true;
  w->conf.plan.time_ns = 10 * sec;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  assert_int_equal(there_at(w, begin_ns + 21 * sec), 2);
  assert_int_equal(w->fleet.stop, 0);
  w->fleet.intervals.longest_ns = 5 * sec;
  check_end(w, begin_ns + 25 * sec);
}

static void a_built_in_test_has_its_time_until_it_is_stopped(void **state)
{
  struct world *w = *state;

  w->setup.is_builtin = true;
  w->conf.grace_auto = true;
  w->conf.plan.time_ns = 10 * sec;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  assert_int_equal(there_at(w, begin_ns + 1000 * sec), 2);
  assert_int_equal(w->fleet.stop, 0);
  bn_fleet_stop(&w->fleet, BN_FRAME_STOP_ORDER, begin_ns + 1000 * sec);
  check_end(w, begin_ns + 1010 * sec);
}

static void a_dialect_leaves_the_end_to_its_hosts(void **state)
{
  struct world *w = *state;

  w->conf.policy = &bn_policy_11;
  w->conf.grace_auto = true;
  w->conf.plan.time_ns = 10 * sec;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  assert_int_equal(there_at(w, begin_ns + 1000 * sec), 2);
}

static void a_grace_of_the_user_limits_a_built_in_test(void **state)
{
  struct world *w = *state;

  w->setup.is_builtin = true;
  w->conf.plan.time_ns = 10 * sec;
  w->conf.grace_ns = 3 * sec;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  check_end(w, begin_ns + 13 * sec);
}

static void no_event_is_longer_than_the_run(void **state)
{
  struct world *w = *state;

  w->conf.grace_auto = true;
  w->conf.plan.time_ns = 10 * sec;
  w->fleet.intervals.longest_ns = UINT64_MAX;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  check_end(w, begin_ns + 40 * sec);
}

static void no_event_was_before_a_start_that_is_ahead(void **state)
{
  struct world *w = *state;

  w->conf.grace_auto = true;
  w->fleet.intervals.longest_ns = UINT64_MAX;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  bn_fleet_stop(&w->fleet, BN_FRAME_STOP_ORDER, begin_ns - sec / 10);
  check_end(w, begin_ns - sec / 10 + 10 * sec);
}

static void without_a_time_limit_a_stop_begins_it(void **state)
{
  struct world *w = *state;

  w->conf.grace_auto = true;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  assert_int_equal(there_at(w, begin_ns + 1000 * sec), 2);
  bn_fleet_stop(&w->fleet, BN_FRAME_STOP_ORDER, begin_ns + 1000 * sec);
  check_end(w, begin_ns + 1010 * sec);
}

/* Its result comes after the commits are compared. */
static void a_host_may_verify_its_commits(void **state)
{
  struct world *w = *state;

  w->conf.plan.time_ns = 10 * sec;
  w->conf.grace_ns = 3 * sec;
  w->setup.verify_s = 20;
  w->setup.verify_hurry_s = 4;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  assert_int_equal(there_at(w, begin_ns + 33 * sec + 5 * sec / 4), 2);
  assert_int_equal(w->fleet.stop, 0);
  assert_int_equal(there_at(w, begin_ns + 33 * sec + 5 * sec / 4 + 1), 2);
  assert_int_equal(w->fleet.stop, BN_FRAME_STOP_NOW);
  assert_int_equal(there_at(w, begin_ns + 39 * sec), 2);
  assert_int_equal(there_at(w, begin_ns + 39 * sec + 2), 0);
}

static void a_host_that_is_told_to_end_verifies_in_less_time(void **state)
{
  struct world *w = *state;

  w->conf.grace_ns = 3 * sec;
  w->setup.verify_s = 20;
  w->setup.verify_hurry_s = 4;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  bn_fleet_stop(&w->fleet, BN_FRAME_STOP_ORDER, begin_ns);
  assert_int_equal(there_at(w, begin_ns + 7 * sec + 5 * sec / 4), 2);
  assert_int_equal(w->fleet.stop, BN_FRAME_STOP_ORDER);
  bn_fleet_stop(&w->fleet, BN_FRAME_STOP_NOW, begin_ns + 8 * sec);
  assert_int_equal(there_at(w, begin_ns + 14 * sec), 2);
  assert_int_equal(there_at(w, begin_ns + 14 * sec + 1), 0);
}

static void a_second_wish_has_two_seconds(void **state)
{
  struct world *w = *state;

  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  bn_fleet_stop(&w->fleet, BN_FRAME_STOP_NOW, begin_ns);
  assert_int_equal(there_at(w, begin_ns + 2 * sec), 2);
  assert_int_equal(there_at(w, begin_ns + 2 * sec + 1), 0);
}

/* It is not asked for its time while something is on its way to it. */
static void files_that_a_host_does_not_take(void **state)
{
  struct world *w = *state;
  struct bn_link *l = &w->connection[1].link;

  enter(w, BN_FLEET_OPEN, BN_CONNECTION_OPENING);
  assert_int_equal(bn_buf_add(&l->to.queue, "file", 4), 0);
  l->to.fd = 1000; /* nothing is written here */
  l->heard_ns = begin_ns;
  l->taken_ns = begin_ns + sec;
  bn_liveness_check(&w->fleet, begin_ns + 6 * sec);
  assert_true(bn_connection_is_alive(&w->connection[1]));
  bn_liveness_check(&w->fleet, begin_ns + 6 * sec + 1);
  assert_false(bn_connection_is_alive(&w->connection[1]));
  assert_string_equal(w->connection[1].why.text, "it has sent nothing for 5 s");
}

/* Notes that a piece of a large result has come at that time. */
static void send_piece(struct bn_connection *p, uint64_t at_ns)
{
  static const char head[] = {0, 0, 1, 0, BN_FRAME_RESULT, 'x'};
  struct bn_err err;

  if (p->result_ns == 0)
    assert_int_equal(bn_frame_feed(&p->link.reader, head, sizeof head, &err), 0);
  p->result_ns = at_ns;
}

/* The run has ended there: it is neither urged nor lost. */
static void a_result_may_take_its_time(void **state)
{
  struct world *w = *state;
  struct bn_connection *p = &w->connection[1];

  w->conf.plan.time_ns = 10 * sec;
  w->conf.grace_ns = sec;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  w->connection[0].state = BN_CONNECTION_ENDED;
  send_piece(p, begin_ns + 11 * sec);
  assert_int_equal(there_at(w, begin_ns + 13 * sec), 1);
  send_piece(p, begin_ns + 60 * sec);
  assert_int_equal(there_at(w, begin_ns + 73 * sec), 1);
  assert_false(w->fleet.failed || w->fleet.stop != 0);
  assert_int_equal(there_at(w, begin_ns + 73 * sec + 1), 0);
  assert_string_equal(p->why.text, "it has not ended in time");
}

static void a_result_that_stops_is_lost(void **state)
{
  struct world *w = *state;
  struct bn_connection *p = &w->connection[1];

  w->conf.plan.time_ns = 10 * sec;
  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  w->connection[0].state = BN_CONNECTION_ENDED;
  send_piece(p, begin_ns + 11 * sec);
  p->link.heard_ns = begin_ns + 11 * sec;
  p->ping_ns = p->pinged_ns = begin_ns + 11 * sec;
  bn_liveness_check(&w->fleet, begin_ns + 16 * sec);
  assert_true(bn_connection_is_alive(p));
  bn_liveness_check(&w->fleet, begin_ns + 16 * sec + 1);
  assert_string_equal(p->why.text, "it has sent nothing for 5 s");
}

static void a_second_wish_waits_for_no_result(void **state)
{
  struct world *w = *state;

  enter(w, BN_FLEET_RUN, BN_CONNECTION_RUNNING);
  send_piece(&w->connection[1], begin_ns);
  bn_fleet_stop(&w->fleet, BN_FRAME_STOP_NOW, begin_ns);
  assert_int_equal(there_at(w, begin_ns + 2 * sec), 2);
  assert_int_equal(there_at(w, begin_ns + 2 * sec + 1), 0);
}

/* Before it, the hosts are not known to measure things that can be summed. */
static void figures_come_after_the_start(void **state)
{
  struct world *w = *state;
  struct bn_connection *c = &w->connection[1];
  struct bn_buf frame = {.max = 0};
  int ends[2];

  enter(w, BN_FLEET_CLOCKS, BN_CONNECTION_READY);
  assert_int_equal(bn_frame_put(&frame, BN_FRAME_INTERVAL, "{}", 2), 0);
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  assert_int_equal(write(ends[1], frame.data, frame.len), frame.len);
  c->link.out = ends[0];
  bn_connection_receive(c);
  assert_int_equal(c->state, BN_CONNECTION_LOST);
  assert_string_equal(c->why.text, "it sent INTERVAL at a wrong time");
  (void)close(ends[0]);
  (void)close(ends[1]);
  bn_buf_done(&frame);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, make, end)

BN_TESTS(liveness)
{
  const struct CMUnitTest tests[] = {
      ROW(a_host_has_twenty_seconds_to_answer),
      ROW(a_rank_has_twenty_seconds_to_answer),
      ROW(threads_get_ready_in_time),
      ROW(threads_of_a_group_get_ready_in_its_time),
      ROW(the_time_limit_and_the_grace_end_it),
      ROW(a_grace_of_its_own_follows_the_longest_event),
      ROW(a_built_in_test_has_its_time_until_it_is_stopped),
      ROW(a_dialect_leaves_the_end_to_its_hosts),
      ROW(a_grace_of_the_user_limits_a_built_in_test),
      ROW(no_event_is_longer_than_the_run),
      ROW(no_event_was_before_a_start_that_is_ahead),
      ROW(without_a_time_limit_a_stop_begins_it),
      ROW(a_host_may_verify_its_commits),
      ROW(a_host_that_is_told_to_end_verifies_in_less_time),
      ROW(a_second_wish_has_two_seconds),
      ROW(files_that_a_host_does_not_take),
      ROW(a_result_may_take_its_time),
      ROW(a_result_that_stops_is_lost),
      ROW(a_second_wish_waits_for_no_result),
      ROW(figures_come_after_the_start),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
