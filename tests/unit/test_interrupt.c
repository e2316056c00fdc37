/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: what is stuck comes back, and an interrupt that blocks costs neither end nor
   report. */

#include "cm.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dialect/dialect.h"
#include "engine/event.h"
#include "engine/interrupt.h"
#include "engine/run.h"
#include "engine/stop.h"

static unsigned totals;
static uint64_t unfinished;

static int note_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)err;
  totals++;
  unfinished = v->unfinished;
  return 0;
}

static const struct bn_reporter recorder = {.name = "record", .total = note_total};

/* Two sessions hang in their events; what should make them return hangs itself for the first of
   them, until it is let go. */
struct stuck {
  _Atomic bool let_go, second_returns;
  _Atomic unsigned interrupts, running;
};

static void wait_until(const _Atomic bool *flag)
{
  while (!atomic_load(flag))
    (void)usleep(1000);
}

static void interrupt_that_blocks(void *arg)
{
  struct stuck *t = arg;

  atomic_fetch_add(&t->interrupts, 1);
  wait_until(&t->let_go);
}

static void interrupt_that_works(void *arg)
{
  struct stuck *t = arg;

  atomic_store(&t->second_returns, true);
}

static enum bn_next stuck_event(void *self, struct bn_session *s)
{
  struct stuck *t = self;

  s->services->set_interrupt(s, s->id == 0 ? interrupt_that_works : interrupt_that_blocks, t);
  wait_until(s->id == 0 ? &t->second_returns : &t->let_go);
  s->services->set_interrupt(s, NULL, NULL);
  return BN_FINISHED;
}

static int stuck_close(void *self, struct bn_session *s, struct bn_err *err)
{
  struct stuck *t = self;

  (void)s;
  (void)err;
  atomic_fetch_sub(&t->running, 1);
  return 0;
}

static const struct bn_workload stuck_workload = {
    .name = "stuck", .kind = BN_KIND_SQL, .event = stuck_event, .session_close = stuck_close};

/* 0.1 s, then a grace of 0.1 s. */
static struct bn_run *new_run(struct stuck *t)
{
  static struct bn_conf c;
  static const struct bn_report_use use = {&recorder, NULL, NULL, NULL};
  const struct bn_run_setup setup = {
      .conf = &c, .ops = &stuck_workload, .self = t, .reporters = &use, .n_reporters = 1};
  struct bn_err err = {0};
  struct bn_run *run;

  memset(&c, 0, sizeof c);
  c.policy = &bn_policy_bench;
  c.plan.threads = 2;
  c.raw.thread_stack_size = 65536;
  c.plan.time_ns = c.grace_ns = 100 * BN_NSEC_PER_MSEC;
  return bn_run_new(&run, &setup, &err) == 0 ? run : NULL;
}

/* In a process of its own, which leaves behind what hangs as the program does.  Returns which of
   the statements below is not true, or 0. */
static int run_and_leave(void)
{
  static struct stuck t;
  const uint64_t began = bn_clock_mono();
  struct bn_run *run = new_run(&t);

  atomic_store(&t.running, 2);
  if (run == NULL || bn_run_execute(run) != BN_STATUS_TIMEOUT)
    return 1;
  if (!bn_run_is_abandoned(run) || bn_clock_mono() - began >= 8 * BN_NSEC_PER_SEC)
    return 2;
  if (totals != 1 || unfinished < 1 || unfinished > 2)
    return 3;
  if (atomic_load(&t.interrupts) != 1)
    return 4;
  return atomic_load(&t.running) == 1 ? 0 : 5; /* session 0 has come back */
}

/* An interrupt that blocks holds up neither signals, nor the grace, nor the report. */
static void interrupts_may_block(void **state)
{
  const pid_t child = fork();
  int status;

  (void)state;
  assert_true(child >= 0);
  if (child == 0)
    (void)syscall(SYS_exit_group, run_and_leave()); /* sanitizers look for threads in _exit */
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

enum { SESSIONS = 3 };

/* The first call blocks: the others are set and withdrawn meanwhile, the first is waited for. */
static void only_who_withdraws_waits(void **state)
{
  static struct bn_session s[SESSIONS];
  static struct stuck t;
  struct bn_interrupt it;
  const uint64_t began = bn_clock_mono();

  (void)state;
  bn_interrupt_init(&it, s, SESSIONS);
  bn_interrupt_set(&it, &s[0], interrupt_that_blocks, &t);
  bn_interrupt_set(&it, &s[2], interrupt_that_works, &t);
  bn_interrupt_first_sessions(&it, 2);
  while (atomic_load(&t.interrupts) == 0)
    (void)usleep(1000);
  assert_true(bn_session_interrupted(&s[1]));
  assert_false(bn_session_interrupted(&s[2]));
  bn_interrupt_set(&it, &s[1], interrupt_that_works, &t);
  bn_interrupt_set(&it, &s[1], NULL, NULL);
  assert_true(bn_clock_mono() - began < 5 * BN_NSEC_PER_SEC);
  atomic_store(&t.let_go, true);
  bn_interrupt_set(&it, &s[0], NULL, NULL);
  assert_int_equal(atomic_load(&t.interrupts), 1);
  bn_interrupt_first_sessions(&it, SESSIONS);
  wait_until(&t.second_returns);
  bn_interrupt_set(&it, &s[2], NULL, NULL);
  assert_true(bn_interrupt_stop(&it));
  assert_true(bn_interrupt_stop(&it));
  assert_int_equal(atomic_load(&t.interrupts), 1);
  bn_interrupt_done(&it);
}

BN_TESTS(interrupt)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(interrupts_may_block),
      cmocka_unit_test(only_who_withdraws_waits),
  };

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
