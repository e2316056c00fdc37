/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every wait of a run is bounded: whoever hangs for ever, the run ends by the deadline that
   applies, on a simulated clock. */
#include "toyhangs.h"
#include "toyrun.h"
#include "toywatch.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "engine/stop.h"
#include "knownwaits.h"
#include "leftrun.h"

/* Every descriptor of the program, which tests/lint/waits.sh compares with this list.  A wait with
   a deadline of its own has one that is at most so far ahead. */
static struct known known[] = {
    {"the next item of the schedule", 1, 0},
    {"the last call of a reporter", 0, 0},
    {"interrupts to return", 1, 0},
    {"an order to end the process", 0, 0},
    {"the watchdog to return", 0, 0},
    {"every session to be open", 0, 0},
    {"the start barrier to open", 0, 0},
    {"workers to go", 0, 0},
    {"the other sessions at the barrier", 0, 0},
    {"the start of all hosts", 0, 0},
    {"the end of a pause", 0, 0},
    {"the next arrival", 0, 0},
    {"the end of the warm-up", 0, 0},
    {"tickets that other sessions give back", 0, 0},
    {"the session's interrupt", 0, 0},
    {"the end of the process", 0, 0},
    {"an interrupt that is wanted", 0, 0},
    {"a signal", 0, 0},
    {"a worker to return", 0, 0},
    {"the receiver of signals to return", 0, 0},
    {"an answer about what is watched", 6, 0},
    {"a question about what is watched", 0, 0},
    {"the thread that watches to return", 0, 0},
    {"the interrupter to return", 0, 0},
};
enum { KNOWN = sizeof known / sizeof *known };

static void check_waits(void)
{
  known_check(known, KNOWN);
}

/* What a run has come to. */
struct end {
  int status;
  bool left_behind; /* a thread */
  double at_s;
};

/* SIGTERM comes at term_s, unless that is 0. */
static struct bn_run *begin(const struct bn_conf *c, const struct bn_workload *ops, void *self,
                            double term_s, const struct bn_reporter *other)
{
  sim_begin();
  if (term_s > 0)
    sim_send_at(term_s, SIGTERM);
  return new_run(c, ops, self, &recorder, other);
}

/* What hangs is let go afterwards, so that the run can be freed. */
static struct end end(struct bn_run *run, int status)
{
  const struct end e = {status, bn_run_is_abandoned(run), sim_s()};

  check_waits();
  sim_release();
  bn_run_free(run);
  return e;
}

static struct end run_from_0(const struct bn_conf *c, const struct bn_workload *ops, double term_s,
                             const struct bn_reporter *other)
{
  struct toy t = {.sleep_us = 7000};
  struct bn_run *run = begin(c, ops, &t, term_s, other);

  return end(run, bn_run_execute(run));
}

static void check_end(struct end e, int status, bool left_behind, double at_s)
{
  assert_int_equal(e.status, status);
  assert_int_equal(e.left_behind, left_behind);
  if (e.at_s - at_s > 1e-9 || at_s - e.at_s > 1e-9)
    fail_msg("the run ended at %.9f s instead of %.9f s", e.at_s, at_s);
}

static struct bn_conf conf_of_1s(void)
{
  struct bn_conf c = make_conf(3);

  c.plan.time_ns = BN_NSEC_PER_SEC;
  return c;
}

/* --- nobody hangs --- */

static void slow_sample(void *self, uint64_t *counter)
{
  (void)self;
  (void)counter;
  sim_sleep_ms(20);
}

/* 1 s of warm-up, 1 s, and 20 ms each for the end of the span, the last interval and the total. */
static void a_run_without_trouble_ends_at_its_limit(void **state)
{
  struct bn_workload slow = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  slow.sample = slow_sample;
  c.plan.warmup_ns = BN_NSEC_PER_SEC;
  c.plan.interval_ns = BN_NSEC_PER_SEC / 10;
  c.plan.rate = 100;
  c.plan.events = 100000;
  check_end(run_from_0(&c, &slow, 0, NULL), 0, false, 2.06);
  assert_int_equal(seen.totals, 1);
}

/* --- workers wait before they repeat an event --- */

static enum bn_next pausing_event(void *self, struct bn_session *s)
{
  s->services->pause(s, bn_clock_mono() + BN_NSEC_PER_SEC / 4);
  return toy_event(self, s);
}

/* The fourth event begins 21 ms late and pauses for less than the others.  Events take 7 ms. */
static void the_limit_and_a_signal_end_a_pause(void **state)
{
  const struct bn_conf limited = conf_of_1s(), c = make_conf(3);
  struct bn_workload w = toy_workload;

  (void)state;
  w.event = pausing_event;
  check_end(run_from_0(&limited, &w, 0, NULL), 0, false, 1.007);
  assert_int_equal(seen.total.events, 3 * 4);
  check_end(run_from_0(&c, &w, 0.6, NULL), 128 + SIGTERM, false, 0.607);
  assert_int_equal(seen.total.events, 3 * 3);
}

/* --- a worker fails, and the others go on --- */

static enum bn_next failing_event(void *self, struct bn_session *s)
{
  if (s->id != 1)
    return toy_event(self, s);
  sim_sleep_ms(500);
  return BN_FAILED;
}

/* The others have done ten events of 7 ms each when the eleventh is given back. */
static void a_ticket_that_is_given_back_is_waited_for(void **state)
{
  struct bn_conf c = make_conf(3);
  struct bn_workload w = toy_workload;

  (void)state;
  w.event = failing_event;
  c.plan.events = 11;
  c.raw.on_thread_error = BN_THREAD_ERROR_CONTINUE;
  check_end(run_from_0(&c, &w, 0, NULL), 1, false, 0.507);
  assert_int_equal(seen.total.events, 11);
  assert_int_equal(seen.total.failed_threads, 1);
  check_end(run_from_0(&c, &w, 0.3, NULL), 128 + SIGTERM, false, 0.5);
  assert_int_equal(seen.total.events, 10);
  c.plan.time_ns = BN_NSEC_PER_SEC / 5;
  check_end(run_from_0(&c, &w, 0, NULL), 1, false, 0.5);
  assert_int_equal(seen.total.events, 10);
}

/* --- a worker hangs --- */

static enum bn_next hung_event(void *self, struct bn_session *s)
{
  if (s->id == 1)
    sim_hang();
  return toy_event(self, s);
}

static struct bn_workload hung_workload(enum bn_kind kind)
{
  struct bn_workload w = toy_workload;

  w.event = hung_event;
  w.kind = kind;
  return w;
}

/* A shutdown by force 30 s after the limit. */
static struct bn_conf forced_conf(void)
{
  struct bn_conf c = conf_of_1s();

  c.plan.forced = true;
  c.plan.forced_ns = 30 * BN_NSEC_PER_SEC;
  return c;
}

/* The last progress is seen at 1.1 s, when the clock is fitted again; the grace of 2 s follows, and
   the farewell of 1 s. */
static void the_grace_bounds_a_hung_statement(void **state)
{
  const struct bn_workload w = hung_workload(BN_KIND_SQL);
  const struct bn_conf c = conf_of_1s();

  (void)state;
  check_end(run_from_0(&c, &w, 0, NULL), BN_STATUS_TIMEOUT, true, 1.1 + 2 + 1);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(seen.total.unfinished, 1);
  assert_int_equal(seen.total.events, 2 * 143);
}

static void a_dialect_gives_a_hung_statement_a_minute(void **state)
{
  const struct bn_workload w = hung_workload(BN_KIND_SQL);
  struct bn_conf c = conf_of_1s();

  (void)state;
  c.policy = &bn_policy_10;
  check_end(run_from_0(&c, &w, 0, NULL), BN_STATUS_TIMEOUT, true, 1.1 + 60 + 1);
}

static void the_forced_shutdown_bounds_a_hung_event(void **state)
{
  const struct bn_workload w = hung_workload(BN_KIND_PLAIN);
  const struct bn_conf c = forced_conf();

  (void)state;
  check_end(run_from_0(&c, &w, 0, NULL), BN_STATUS_TIMEOUT, true, 1 + 30 + 1);
  assert_int_equal(seen.total.unfinished, 1);
}

/* Without a limit of the user's, one signal is enough: 5 s of patience from the last progress,
   looked for every 0.25 s, and the farewell. */
static void the_patience_bounds_a_hung_event_without_limits(void **state)
{
  const struct bn_workload w = hung_workload(BN_KIND_PLAIN);
  const struct bn_conf c = make_conf(3);

  (void)state;
  check_end(run_from_0(&c, &w, 100, NULL), 128 + SIGTERM, true, 100 + 0.25 + 5 + 1);
  assert_int_equal(seen.totals, 1);
}

static void a_session_may_stay_behind(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.event = event_that_stays;
  check_end(run_from_0(&c, &w, 0, NULL), 0, true, 1);
  assert_int_equal(seen.totals, 1);
}

/* --- a session does not open --- */

static void the_timeout_bounds_a_session_that_does_not_open(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.session_open = hung_open;
  check_end(run_from_0(&c, &w, 0, NULL), BN_STATUS_TIMEOUT, true, 10 + 1);
  assert_int_equal(seen.totals, 0);
  c.init_timeout_ns = 0;
  check_end(run_from_0(&c, &w, 100, NULL), 128 + SIGTERM, true, 100 + 0.25 + 5 + 1);
}

static void the_timeout_bounds_a_session_that_hangs_when_another_has_failed(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.session_open = failed_or_hung_open;
  check_end(run_from_0(&c, &w, 0, NULL), BN_STATUS_TIMEOUT, true, 10 + 1);
  assert_int_equal(seen.totals, 0);
  c.init_timeout_ns = 0;
  check_end(run_from_0(&c, &w, 100, NULL), 128 + SIGTERM, true, 100 + 5 + 1);
}

static bool timed_out;

static int note_timeout(void *self, const struct bn_end *run_end, struct bn_err *err)
{
  (void)self;
  (void)err;
  timed_out = run_end->timeout;
  return 0;
}

/* The signal gives the sessions the time again, and it is the user who has ended the start. */
static void a_signal_before_the_timeout_is_no_timeout(void **state)
{
  static const struct bn_reporter documents = {.name = "documents", .finish = note_timeout};
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.session_open = hung_open;
  c.init_timeout_ns = BN_NSEC_PER_SEC;
  check_end(run_from_0(&c, &w, 0.5, &documents), 128 + SIGTERM, true, 0.5 + 1 + 1);
  assert_false(timed_out);
  check_end(run_from_0(&c, &w, 0, &documents), BN_STATUS_TIMEOUT, true, 1 + 1);
  assert_true(timed_out);
}

/* --- interrupts hang --- */

static void hung_interrupt(void *arg)
{
  (void)arg;
  sim_hang();
}

/* Session 1 comes back half a second after its statement was to be interrupted, and withdraws. */
static enum bn_next event_with_interrupt(void *self, struct bn_session *s)
{
  if (s->id == 1) {
    s->services->set_interrupt(s, hung_interrupt, NULL);
    sim_sleep_ms(3500);
    s->services->set_interrupt(s, NULL, NULL);
  }
  return toy_event(self, s);
}

/* As above, and 1 s for the interrupter. */
static void an_interrupt_that_hangs_is_left_behind(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.event = event_with_interrupt;
  w.kind = BN_KIND_SQL;
  check_end(run_from_0(&c, &w, 0, NULL), BN_STATUS_TIMEOUT, true, 1.1 + 2 + 1 + 1);
  assert_int_equal(seen.totals, 1);
}

static enum bn_next hung_event_with_interrupt(void *self, struct bn_session *s)
{
  s->services->set_interrupt(s, hung_interrupt, NULL);
  return hung_event(self, s);
}

/* The threads that watch the run make no such call themselves. */
static void the_run_ends_without_a_thread_for_interrupts(void **state)
{
  struct toy t = {.sleep_us = 7000};
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();
  struct bn_run *run;

  (void)state;
  w.event = hung_event_with_interrupt;
  w.kind = BN_KIND_SQL;
  run = begin(&c, &w, &t, 0, NULL);
  sim_refuse_threads_from(1);
  check_end(end(run, bn_run_execute(run)), BN_STATUS_TIMEOUT, true, 1.1 + 2 + 1);
  assert_int_equal(seen.total.unfinished, 1);
  w.kind = BN_KIND_PLAIN;
  run = begin(&c, &w, &t, 100, NULL);
  sim_refuse_threads_from(1);
  check_end(end(run, bn_run_execute(run)), 128 + SIGTERM, true, 100 + 5 + 1);
  assert_int_equal(seen.total.unfinished, 1);
}

/* Interrupts that return: the interrupter is joined. */
static void working_interrupt(void *arg)
{
  atomic_store((_Atomic bool *)arg, true);
}

static _Atomic bool interrupted;

static enum bn_next event_until_interrupted(void *self, struct bn_session *s)
{
  s->services->set_interrupt(s, working_interrupt, &interrupted);
  while (!atomic_load(&interrupted))
    sim_sleep_ms(7);
  s->services->set_interrupt(s, NULL, NULL);
  return toy_event(self, s);
}

static void an_interrupt_ends_the_grace(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  atomic_store(&interrupted, false);
  w.event = event_until_interrupted;
  w.kind = BN_KIND_SQL;
  check_end(run_from_0(&c, &w, 0, NULL), BN_STATUS_TIMEOUT, false, 3.01);
}

/* As a statement does. */
static enum bn_next event_that_fails_when_interrupted(void *self, struct bn_session *s)
{
  (void)event_until_interrupted(self, s);
  return BN_FINISHED;
}

static void slow_ended(void *self)
{
  (void)self;
  sim_sleep_ms(100);
}

/* Nobody has ended when the grace or the patience is used up.  All have when the report is printed,
   of which they do not take anything back. */
static void what_is_interrupted_is_unfinished(void **state)
{
  static const struct bn_reporter slow = {.name = "slow", .ended = slow_ended};
  static const struct {
    enum bn_kind kind;
    uint64_t time_s;
    double term_s, at_s;
    int status;
  } row[] = {{BN_KIND_SQL, 3, 0, 3 + 2 + 0.1, BN_STATUS_TIMEOUT},
             {BN_KIND_PLAIN, 0, 3, 3 + 5 + 0.1, 128 + SIGTERM}};

  (void)state;
  for (int i = 0; i < 2; i++) {
    struct bn_workload w = toy_workload;
    struct bn_conf c = make_conf(3);

    atomic_store(&interrupted, false);
    w.event = event_that_fails_when_interrupted;
    w.kind = row[i].kind;
    c.plan.time_ns = row[i].time_s * BN_NSEC_PER_SEC;
    check_end(run_from_0(&c, &w, row[i].term_s, &slow), row[i].status, false, row[i].at_s);
    assert_int_equal(seen.total.unfinished, 3);
    assert_int_equal(seen.total.outages, row[i].kind == BN_KIND_SQL);
    assert_true(seen.total.longest_outage_s == (row[i].kind == BN_KIND_SQL ? 3 : 0));
  }
}

/* --- a reporter hangs --- */

static int mute_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)v;
  (void)err;
  return 0;
}

/* A report waits for its reader until the user signals: 5 s of patience, and 2.5 s until the
   watchdog prints the report in place of the main thread, which waits for the reporter. */
static void a_process_whose_reporter_hangs_is_left(void **state)
{
  static const struct bn_reporter hung = {.name = "hung", .interval = hung_report};
  struct bn_conf c = conf_of_1s();

  (void)state;
  c.plan.interval_ns = BN_NSEC_PER_SEC / 2;
  assert_int_equal(left_status(&c, &toy_workload, &forced, &hung, NULL), 128 + SIGTERM);
  check_alive(100 + 5 + 2.5);
  check_forced(3 * 143, 0);
}

static enum bn_next event_that_hangs_late(void *self, struct bn_session *s)
{
  if (s->id == 1 && sim_s() > 0.6)
    sim_hang();
  return toy_event(self, s);
}

/* The reporter hangs at 0.5 s, and a worker in its 87th event. */
static void events_in_flight_are_unfinished_for_the_watchdog(void **state)
{
  static const struct bn_reporter hung = {.name = "hung", .interval = hung_report};
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.event = event_that_hangs_late;
  c.plan.interval_ns = BN_NSEC_PER_SEC / 2;
  assert_int_equal(left_status(&c, &w, &forced, &hung, NULL), 128 + SIGTERM);
  check_alive(100 + 5 + 2.5);
  check_forced(2 * 143 + 86, 1);
}

/* --- a small allocation fails --- */

static enum bn_next event_without_memory(void *self, struct bn_session *s)
{
  if (s->id == 1 && sim_s() > 0.6) {
    sim_sleep_ms(3);
    bn_alloc_fail();
  }
  return toy_event(self, s);
}

/* The watchdog prints what was counted at once: 86 events of 7 ms in each session. */
static void a_run_without_memory_prints_its_counters(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.event = event_without_memory;
  assert_int_equal(left_status(&c, &w, &forced, NULL, NULL), BN_STATUS_FAILED);
  check_alive(0.605);
  check_forced(3 * 86, 3);
}

/* --- a command --- */

static int meet(void *self, struct bn_session *s, const char *name, struct bn_err *err)
{
  (void)name;
  if (self != NULL && s->id == 1)
    sim_hang();
  return s->services->barrier(s) ? 0 : bn_err_set(err, 0, "the barrier did not open");
}

static void the_patience_bounds_the_barrier(void **state)
{
  const struct bn_command command = {.name = "meet", .parallel = true, .run = meet};
  struct bn_conf c = make_conf(3);
  struct bn_run *run = begin(&c, &toy_workload, &c, 100, NULL);

  (void)state;
  check_end(end(run, bn_run_command(run, &command)), 128 + SIGTERM, true, 105.25);
}

/* --- the main thread hangs: the process is left --- */

/* 30 s of patience, and 2.5 s to end in order. */
static void a_process_whose_end_hangs_is_left(void **state)
{
  struct bn_workload w = toy_workload;
  struct bn_conf c = conf_of_1s();

  (void)state;
  w.finish = hung_finish;
  assert_int_equal(left_status(&c, &w, &recorder, NULL, NULL), 128 + SIGTERM);
  check_alive(100 + 30 + 2.5);
}

/* A command of one thread is the main thread's: 5 s of patience, and 2.5 s. */
static void a_process_whose_command_hangs_is_left(void **state)
{
  const struct bn_command command = {.name = "hang", .parallel = true, .run = hung_command};
  struct bn_conf c = make_conf(1);

  (void)state;
  assert_int_equal(left_status(&c, &toy_workload, &recorder, NULL, &command), 128 + SIGTERM);
  check_alive(100 + 5 + 2.5);
}

/* A hook of the final report hangs: nothing has been printed. */
static void a_process_whose_hook_hangs_is_left(void **state)
{
  static const struct bn_reporter hung = {
      .name = "hung", .total = hung_report, .replaces = BN_REPLACES_TOTAL};
  struct bn_conf c = conf_of_1s();

  (void)state;
  assert_int_equal(left_status(&c, &toy_workload, &forced, &hung, NULL), 128 + SIGTERM);
  check_alive(100 + 30 + 2.5);
  check_forced(3 * 143, 0);
}

static int hung_document(void *self, const struct bn_end *how, struct bn_err *err)
{
  FILE *f;

  (void)how;
  (void)snprintf(shared->fresh, sizeof shared->fresh, "%s.n%lx", toy_path, (unsigned long)getpid());
  f = fopen(shared->fresh, "w");
  assert_non_null(f);
  (void)fclose(f);
  return hung_finish(self, err);
}

/* A signal at 100 s does not end the wait for its reader, a second one does: 2.5 s, and nothing is
   left of it.  The report has been printed before. */
static void a_document_is_waited_for_until_a_second_signal(void **state)
{
  static const struct bn_reporter hung = {
      .name = "hung", .total = mute_total, .finish = hung_document, .own_file = true};
  char path[] = "/tmp/bench-waits.XXXXXX";
  struct bn_conf c = conf_of_1s();
  const int fd = mkstemp(path);

  (void)state;
  assert_int_not_equal(fd, -1);
  toy_path = path;
  again_s = 500;
  assert_int_equal(left_status(&c, &toy_workload, &forced, &hung, NULL), 128 + SIGTERM);
  again_s = 0;
  toy_path = NULL;
  check_alive(500 + 2.5);
  assert_false(shared->forced);
  assert_int_equal(access(shared->fresh, F_OK), -1);
  assert_int_equal(access(path, F_OK), 0);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(close(fd), 0);
}

/* --- what is watched hangs --- */

/* With intervals of half a second. */
static struct end watched_run(struct toy_watch how)
{
  static const struct bn_watcher *const watchers[] = {&toy_watcher};
  struct bn_conf c = conf_of_1s();
  struct toy t = {.sleep_us = 7000};
  const struct bn_report_use use = {&recorder, NULL, stdout, NULL};
  const struct bn_run_setup setup = {.conf = &c,
                                     .ops = &toy_workload,
                                     .self = &t,
                                     .reporters = &use,
                                     .n_reporters = 1,
                                     .watchers = watchers,
                                     .n_watchers = 1};
  struct bn_err err = {0};
  struct bn_run *run;

  toy_watch = how;
  c.plan.interval_ns = BN_NSEC_PER_SEC / 2;
  memset(&seen, 0, sizeof seen);
  sim_begin();
  assert_int_equal(bn_run_new(&run, &setup, &err), 0);
  return end(run, bn_run_execute(run));
}

/* Readings of 20 ms: before the start, at 0.5 s, at the end of the span and for the interval there.
   The last event ends at 1.001 s of the run. */
static void a_watcher_has_a_thread_of_its_own(void **state)
{
  (void)state;
  check_end(watched_run((struct toy_watch){.hung_read = 0}), 0, false, 0.02 + 1 + 0.02 + 0.02);
  assert_int_equal(seen.intervals, 2);
  assert_int_equal(seen.watched_intervals, 2);
  assert_int_equal(seen.watched_totals, 1);
}

/* The interval at 0.5 s waits a tenth of a second, and nothing after it; then 1 s after its
   interrupt. */
static void a_reading_that_hangs_holds_up_no_interval(void **state)
{
  (void)state;
  check_end(watched_run((struct toy_watch){.hung_read = 2}), 0, true, 0.02 + 1.001 + 1);
  assert_int_equal(seen.intervals, 2);
  assert_int_equal(seen.watched_intervals, 0);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(seen.watched_totals, 0);
}

/* The start waits 6 s for it. */
static void a_watcher_that_does_not_open_is_not_watched(void **state)
{
  (void)state;
  check_end(watched_run((struct toy_watch){.hung_open = true}), 0, true, 6 + 1.001 + 1);
  assert_int_equal(seen.totals, 1);
  assert_int_equal(seen.watched_totals, 0);
}

/* Which never comes: the signal ends it. */
static void a_host_that_waits_for_its_start_can_be_stopped(void **state)
{
  struct toy_host host = {.start_s = 0};
  const struct bn_host_group host_group = toy_party(&host, 0, 3);
  const struct bn_conf c = conf_of_1s();
  struct toy t = {.sleep_us = 7000};
  struct bn_run *run;

  (void)state;
  sim_begin();
  sim_send_at(5, SIGTERM);
  run = new_run_of(&c, &toy_workload, &t, &recorder, NULL, &host_group);
  check_end(end(run, bn_run_execute(run)), 128 + SIGTERM, false, 5);
  assert_int_equal(seen.totals, 0);
}

static const struct CMUnitTest scenarios[] = {
    cmocka_unit_test(a_host_that_waits_for_its_start_can_be_stopped),
    cmocka_unit_test(a_watcher_has_a_thread_of_its_own),
    cmocka_unit_test(a_reading_that_hangs_holds_up_no_interval),
    cmocka_unit_test(a_watcher_that_does_not_open_is_not_watched),
    cmocka_unit_test(a_run_without_trouble_ends_at_its_limit),
    cmocka_unit_test(the_grace_bounds_a_hung_statement),
    cmocka_unit_test(a_dialect_gives_a_hung_statement_a_minute),
    cmocka_unit_test(the_forced_shutdown_bounds_a_hung_event),
    cmocka_unit_test(the_patience_bounds_a_hung_event_without_limits),
    cmocka_unit_test(a_session_may_stay_behind),
    cmocka_unit_test(the_timeout_bounds_a_session_that_does_not_open),
    cmocka_unit_test(the_timeout_bounds_a_session_that_hangs_when_another_has_failed),
    cmocka_unit_test(a_signal_before_the_timeout_is_no_timeout),
    cmocka_unit_test(an_interrupt_that_hangs_is_left_behind),
    cmocka_unit_test(the_run_ends_without_a_thread_for_interrupts),
    cmocka_unit_test(an_interrupt_ends_the_grace),
    cmocka_unit_test(what_is_interrupted_is_unfinished),
    cmocka_unit_test(a_process_whose_reporter_hangs_is_left),
    cmocka_unit_test(events_in_flight_are_unfinished_for_the_watchdog),
    cmocka_unit_test(a_run_without_memory_prints_its_counters),
    cmocka_unit_test(the_patience_bounds_the_barrier),
    cmocka_unit_test(the_limit_and_a_signal_end_a_pause),
    cmocka_unit_test(a_ticket_that_is_given_back_is_waited_for),
    cmocka_unit_test(a_process_whose_end_hangs_is_left),
    cmocka_unit_test(a_process_whose_command_hangs_is_left),
    cmocka_unit_test(a_process_whose_hook_hangs_is_left),
    cmocka_unit_test(a_document_is_waited_for_until_a_second_signal),
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static void every_wait_is_entered(void **state)
{
  for (size_t i = 0; i < KNOWN; i++)
    known[i].entered = 0;
  for (size_t i = 0; i < SCENARIOS; i++)
    scenarios[i].test_func(state);
  for (size_t i = 0; i < KNOWN; i++)
    if (known[i].entered == 0)
      fail_msg("no run waited for %s", known[i].what);
}

/* Every deadline holds as well. */
static void no_wait_relies_on_its_wake_up(void **state)
{
  sim_wake_without_reason(true);
  for (size_t i = 0; i < SCENARIOS; i++)
    scenarios[i].test_func(state);
  sim_wake_without_reason(false);
}

BN_TESTS(run_waits)
{
  const struct CMUnitTest all[] = {
      cmocka_unit_test(every_wait_is_entered),
      cmocka_unit_test(no_wait_relies_on_its_wake_up),
  };

  bn_stop_block_signals();
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return cmocka_run_group_tests(scenarios, NULL, NULL) + cmocka_run_group_tests(all, NULL, NULL);
}
