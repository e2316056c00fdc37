/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: what is stuck comes back, and an interrupt that blocks costs neither end nor report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "dialect/dialect.h"
#include "engine/event.h"
#include "engine/run_internal.h"
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

/* 0.1 s, then a grace of 0.1 s.  The run is left as it is: its workers may still come back. */
static int run_it(struct stuck *t, struct bn_run **left)
{
  static struct bn_conf c;
  static const struct bn_report_use use = {&recorder, NULL, NULL, NULL};
  const struct bn_run_setup setup = {
      .conf = &c, .ops = &stuck_workload, .self = t, .reports = &use, .n_reports = 1};
  struct bn_err err = {0};
  struct bn_run *run;
  int status;

  memset(&c, 0, sizeof c);
  c.policy = &bn_policy_bench;
  c.threads = 2;
  c.raw.thread_stack_size = 65536;
  c.time_ns = c.grace_ns = 100 * BN_NSEC_PER_MSEC;
  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  status = bn_run_execute(run);
  assert_true(bn_run_abandoned(run));
  *left = run;
  return status;
}

/* What the program leaves to _exit. */
static void clear_up(struct bn_run *run)
{
  unsigned i;

  for (i = 0; i < 2; i++)
    assert_int_equal(pthread_join(run->workers[i].thread, NULL), 0);
  assert_true(bn_run_stop_interrupting(run));
  bn_run_free(run);
}

/* An interrupt that blocks holds up neither signals, nor the grace, nor the report. */
static void interrupts_may_block(void **state)
{
  static struct stuck t; /* outlives the workers that are left behind */
  const uint64_t began = bn_clock_mono();
  struct bn_run *run;
  int i;

  (void)state;
  atomic_store(&t.running, 2);
  assert_int_equal(run_it(&t, &run), BN_STATUS_TIMEOUT);
  assert_true(bn_clock_mono() - began < 8 * BN_NSEC_PER_SEC);
  assert_int_equal(totals, 1);
  assert_in_range(unfinished, 1, 2);
  assert_int_equal(atomic_load(&t.interrupts), 1);
  assert_int_equal(atomic_load(&t.running), 1); /* session 0 has come back */
  atomic_store(&t.let_go, true);
  for (i = 0; i < 5000 && atomic_load(&t.running) > 0; i++)
    (void)usleep(1000);
  assert_int_equal(atomic_load(&t.running), 0);
  clear_up(run);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(interrupts_may_block)};

  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
