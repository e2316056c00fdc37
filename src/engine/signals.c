/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that receives SIGINT, SIGTERM and SIGHUP of a run or command.  It does nothing else,
   so that a hook, a report or a done() that hangs cannot keep the user from ending the program. */
#include "engine/signals.h"

#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "base/wait.h"
#include "engine/grace.h"
#include "engine/stop.h"

/* A sender of a single signal, such as timeout(1), wants an end, too: after the signal, this time
   without any progress counts as a second signal.  `docker stop` kills after 10 s. */
static const uint64_t patience_ns = 5 * BN_NSEC_PER_SEC;
/* The patience with hooks and done(), which may look something up or clean up. */
static const uint64_t long_patience_ns = 30 * BN_NSEC_PER_SEC;
/* The interval of checks for progress. */
static const uint64_t poll_ns = BN_NSEC_PER_SEC / 4;

static const struct bn_wait signals = {"a signal", BN_BOUND_STOP};
static const struct bn_wait thread_return = {"the receiver of signals to return",
                                             BN_BOUND_RETURNING};

/* The values of bn_receiver.asked. */
enum { ASKED_NOTHING, ASKED_IN_ORDER, ASKED_AT_ONCE };

/* Returns whether the main thread waits for events, which it interrupts itself after it has seen
   BN_OUTCOME_TO_INTERRUPT. */
static bool signals_is_measuring(const struct bn_run_parts *p)
{
  return bn_outcome_stage(p->outcome) == BN_STAGE_MEASURE &&
         bn_outcome_has(p->outcome, BN_OUTCOME_OPENED);
}

/* Interrupts the calls of all workers.  While the main thread waits for events, the call is left to
   the main thread, which counts the events in flight before they are interrupted and fail.  The
   session of the main thread is interrupted too, except in the stage of measuring, when that
   session makes no call and done() may still need it. */
static void signals_interrupt_all(const struct bn_run_parts *p)
{
  const bool with_main = bn_outcome_stage(p->outcome) != BN_STAGE_MEASURE;
  const unsigned n_threads = p->conf->plan.threads; /* the main session comes after theirs */

  if (signals_is_measuring(p))
    bn_outcome_set(p->outcome, BN_OUTCOME_TO_INTERRUPT);
  /* The main thread leaves the stage before it reads the flag.  If it has missed the flag, it is
     not measuring any more, and will not interrupt. */
  if (signals_is_measuring(p))
    return;
  bn_interrupt_first_sessions(p->interrupt, with_main ? n_threads + 1 : n_threads);
  bn_threads_wake_loops(p->threads);
}

/* Ends the load as the first signal does: the run goes on with its report. */
static void signals_end_in_order(struct bn_receiver *r, int signo)
{
  const bool has_started = bn_outcome_has(r->parts->outcome, BN_OUTCOME_OPENED);

  r->n_requests = 1;
  bn_threads_end(r->parts->threads, BN_CAUSE_SIGNAL, signo);
  if (!has_started) /* no event is to be finished */
    signals_interrupt_all(r->parts);
  bn_sampler_wake(r->sampler);
}

/* Ends the run as the second signal does: without its events in flight, and by the watchdog if the
   run hangs. */
static void signals_end_at_once(struct bn_receiver *r)
{
  r->n_requests = 2;
  bn_watchdog_order_end(r->watchdog);
  signals_interrupt_all(r->parts);
  bn_threads_end(r->parts->threads, BN_CAUSE_ABANDONED, 0);
  bn_sampler_wake(r->sampler);
}

/* Logs a signal and the action that it causes.  If the reader of standard error does not read, the
   message is left out, so that this thread does not wait. */
static void signals_log_one(int signo, const char *action)
{
  bn_log_at_once("%s received: %s", signo == SIGINT ? "interrupt" : strsignal(signo), action);
}

/* Acts on a signal: the first ends the run in order, the second ends it at once, and the third ends
   the process.  The message comes after the action, so that no event begins after "finishing". */
static void signals_handle_one(struct bn_receiver *r, const struct bn_end_signal *received)
{
  const int signo = received->signo;

  if (r->n_requests == 1 && bn_end_signal_is_echo(&r->first, received))
    return;
  if (r->n_requests == 0) {
    r->first = *received;
    signals_end_in_order(r, signo);
    signals_log_one(signo, "finishing; send it again to end at once");
  } else if (r->n_requests == 1) {
    signals_end_at_once(r);
    signals_log_one(signo, "ending at once");
  } else {
    signals_log_one(signo, "ending at once");
    bn_watchdog_order_end_at_once(r->watchdog);
  }
}

/* Acts on bn_receiver_request_end, without a message, because the process that has received the
   signal has printed a message. */
static void signals_handle_request(struct bn_receiver *r)
{
  const int asked = atomic_load(&r->asked);

  /* A request to end at once ends the run in order first, as two signals do. */
  if (asked != ASKED_NOTHING && r->n_requests == 0)
    signals_end_in_order(r, SIGINT);
  if (asked == ASKED_AT_ONCE && r->n_requests == 1)
    signals_end_at_once(r);
}

/* A stage besides those of the run: a hook of a script prints the final report. */
enum { STAGE_HOOK = BN_STAGE_CLOSE + 1 };

static const uint64_t no_limit = 0; /* of the patience */

/* Returns the patience in the current stage, or no_limit: a report waits for its reader, and a
   large document is slow.  The patience with events in flight comes on top of the grace that the
   user has set, and is longer if statements take long. */
static uint64_t signals_stage_patience(const struct bn_receiver *r)
{
  const struct bn_conf *c = r->parts->conf;

  switch (r->stage) {
  case BN_STAGE_MEASURE:
    return c->grace_auto ? bn_grace_ns(r->parts, patience_ns) : c->grace_ns + patience_ns;
  case BN_STAGE_REPORT:
  case BN_STAGE_DOCUMENTS:
    return no_limit;
  case BN_STAGE_CLOSE:
    return bn_outcome_has(r->parts->outcome, BN_OUTCOME_OPENED) ? long_patience_ns : patience_ns;
  case BN_STAGE_FINISH:
  case STAGE_HOOK:
    return long_patience_ns;
  default:
    return patience_ns;
  }
}

/* Logs why the patience has ended.  Statements that end renew it, but not beyond longest_ns, the
   longest time for an event. */
static void signals_log_end_of_patience(const struct bn_patience *p, uint64_t now_ns,
                                        uint64_t limit_ns, uint64_t longest_ns)
{
  const bool statements_end = now_ns < p->since_ns + limit_ns;

  if (statements_end)
    bn_log_at_once("no event or thread has ended for %.1f s: ending at once",
                   (double)longest_ns * 1e-9);
  else
    bn_log_at_once("no statement, event or thread has ended for %.1f s: ending at once",
                   (double)limit_ns * 1e-9);
}

/* Ends a run that makes no progress for as long as its stage may take.  Each stage begins with new
   patience, and so does the first check after a stage had no limit. */
static void signals_check_progress(struct bn_receiver *r)
{
  const uint64_t now_ns = bn_clock_mono();
  const int stage = bn_reports_is_in_hook(r->parts->reports)
                        ? STAGE_HOOK
                        : (int)bn_outcome_stage(r->parts->outcome);
  uint64_t limit_ns, longest_ns;

  if (stage != r->stage)
    r->patience = (struct bn_patience){.since_ns = 0};
  bn_patience_renew(&r->patience, bn_grace_read_progress(r->parts), now_ns);
  r->stage = stage;
  limit_ns = signals_stage_patience(r);
  if (limit_ns == no_limit) {
    r->patience.since_ns = 0; /* begins anew */
    return;
  }
  longest_ns = bn_grace_longest_ns(r->parts, limit_ns);
  if (now_ns < bn_patience_end_ns(&r->patience, limit_ns, longest_ns))
    return;
  signals_log_end_of_patience(&r->patience, now_ns, limit_ns, longest_ns);
  signals_end_at_once(r);
}

/* Acts on requests and signals as they come, and after the first one on a lack of progress, until
   bn_receiver_stop() wakes it.  A signal that comes at the same time is still acted on. */
static void *signals_receiver_main(void *arg)
{
  struct bn_receiver *r = arg;
  struct bn_end_signal received;

  bn_stop_become_receiver();
  do {
    uint64_t wake_ns; /* to check progress */
    int signo;

    /* Without a reader of standard output, the run ends as a shell command does: no message. */
    if (r->n_requests == 0 && bn_stop_has_lost_reader())
      signals_end_in_order(r, SIGPIPE);
    signals_handle_request(r);
    wake_ns = r->n_requests == 1 ? bn_clock_mono() + poll_ns : UINT64_MAX;
    signo = bn_stop_wait(&signals, wake_ns, &received);
    if (signo > 0)
      signals_handle_one(r, &received);
    if (r->n_requests == 1)
      signals_check_progress(r);
  } while (!atomic_load(&r->stop));
  return NULL;
}

int bn_receiver_start(struct bn_receiver *r, struct bn_sampler *sampler,
                      struct bn_watchdog *watchdog, struct bn_err *err)
{
  int rc;

  r->parts = sampler->parts;
  r->sampler = sampler;
  r->watchdog = watchdog;
  rc = bn_wait_spawn(&r->thread, 0, signals_receiver_main, r);
  if (rc != 0)
    return bn_err_set(err, rc, "cannot start the thread for signals: %s", strerror(rc));
  r->made = true;
  return 0;
}

void bn_receiver_request_end(struct bn_receiver *r, bool at_once)
{
  int expected = ASKED_NOTHING;

  if (at_once)
    atomic_store(&r->asked, ASKED_AT_ONCE);
  else /* keeps a request to end at once */
    (void)atomic_compare_exchange_strong(&r->asked, &expected, ASKED_IN_ORDER);
  bn_stop_wake(r->thread);
}

bool bn_receiver_has_request(const struct bn_receiver *r)
{
  return atomic_load(&r->asked) != ASKED_NOTHING;
}

void bn_receiver_stop(struct bn_receiver *r)
{
  if (!r->made)
    return;
  atomic_store(&r->stop, true);
  bn_stop_wake(r->thread);
  bn_wait_join(&thread_return, r->thread);
  r->made = false;
  bn_stop_become_receiver(); /* this thread is the receiver again */
}
