/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that receives SIGINT, SIGTERM and SIGHUP of a run or command: it does nothing else, so
 * that neither a hook nor a report nor done() that hangs can keep the user from ending it. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/run_internal.h"
#include "engine/stop.h"

/* After the second signal the process gets this long to leave by itself. */
static const uint64_t leave_ns = 3 * BN_NSEC_PER_SEC;

/* timeout(1) signals the process and then its group: that is one wish, not two. */
static const uint64_t echo_ns = BN_NSEC_PER_SEC / 5;

/* Who sends one signal and goes away, as timeout(1) does, wants an end all the same: after this
   long without any progress it is as if a second one had come.  docker stop kills after 10 s. */
static const uint64_t patience_ns = 5 * BN_NSEC_PER_SEC;
/* Hooks and done() may have something to look up or to clear up. */
static const uint64_t long_patience_ns = 30 * BN_NSEC_PER_SEC;
/* How often it is looked. */
static const uint64_t glance_ns = BN_NSEC_PER_SEC / 4;

struct receiver {
  struct bn_run *run;
  int count;                   /* wishes so far */
  struct bn_stop_sender first; /* of the first one */
  uint64_t first_ns;
  uint64_t leave_ns; /* UINT64_MAX: not yet */
  uint64_t progress, progress_ns;
  int stage;
};

/* The sampler has a new limit to look at; it stays alive until it has been told to stop. */
static void wake_sampler(struct bn_run *run)
{
  (void)pthread_mutex_lock(&run->lock);
  if (!run->stop_sampler)
    bn_stop_wake(run->sampler);
  (void)pthread_mutex_unlock(&run->lock);
}

static void end_in_order(struct receiver *r, int signo)
{
  struct bn_run *run = r->run;
  bool opened;

  r->count = 1;
  r->first_ns = r->progress_ns = bn_clock_mono();
  (void)pthread_mutex_lock(&run->lock);
  run->signo = signo;
  opened = run->opened;
  (void)pthread_mutex_unlock(&run->lock);
  bn_run_end_now(run);
  bn_gate_fail(&run->gate);
  if (!opened)
    bn_run_interrupt_all(run);
  wake_sampler(run);
}

static void end_at_once(struct receiver *r)
{
  r->count = 2;
  r->leave_ns = bn_clock_mono() + leave_ns;
  bn_run_end_now(r->run);
  bn_run_interrupt_all(r->run);
  bn_run_abandon(r->run, BN_STATUS_OK);
  wake_sampler(r->run);
}

static bool is_echo(const struct receiver *r, const struct bn_stop_sender *s)
{
  return !s->typed && !r->first.typed && s->signo == r->first.signo && s->pid == r->first.pid &&
         bn_clock_mono() - r->first_ns <= echo_ns;
}

static void *print_instead(void *arg)
{
  struct receiver *r = arg;

  bn_book_instead(r->run->book);
  bn_stop_wake(r->run->receiver);
  return NULL;
}

/* By force.  When a hook that prints the final report hangs, what was measured is printed without
   it, by a thread that may hang in its turn. */
_Noreturn static void leave(struct receiver *r)
{
  struct bn_stop_sender sender;
  pthread_t printer;

  if (bn_book_in_hook(r->run->book) && pthread_create(&printer, NULL, print_instead, r) == 0)
    (void)bn_stop_wait(bn_clock_mono() + leave_ns, &sender);
  _exit(BN_STATUS_SIGNAL + r->run->signo);
}

static void take_signal(struct receiver *r, const struct bn_stop_sender *sender)
{
  const int signo = sender->signo;

  if (r->count == 1 && is_echo(r, sender))
    return;
  bn_log_at_once("%s received: %s", signo == SIGINT ? "interrupt" : strsignal(signo),
                 r->count == 0 ? "finishing; send it again to end at once" : "ending at once");
  if (r->count == 0) {
    r->first = *sender;
    end_in_order(r, signo);
  } else if (r->count == 1) {
    end_at_once(r);
  } else {
    leave(r);
  }
}

/* Stages of the run, and one more: a script's hook prints the final report. */
enum { STAGE_HOOK = BN_STAGE_FINISH + 1 };

static int stage_of(struct bn_run *run)
{
  return bn_book_in_hook(run->book) ? STAGE_HOOK : atomic_load(&run->stage);
}

/* 0: for ever.  A report waits for its reader. */
static uint64_t patience_of(const struct receiver *r)
{
  const struct bn_conf *c = r->run->conf;

  switch (r->stage) {
  case BN_STAGE_MEASURE:
    /* What the user gave is the sampler's to use up. */
    return c->grace_auto ? bn_run_grace(r->run, patience_ns) : c->grace_ns + patience_ns;
  case BN_STAGE_REPORT:
    return 0;
  case STAGE_HOOK:
  case BN_STAGE_FINISH:
    return long_patience_ns;
  default:
    return patience_ns;
  }
}

static void look_for_progress(struct receiver *r)
{
  const uint64_t progress = bn_run_progress(r->run), now = bn_clock_mono();
  const int stage = stage_of(r->run);
  uint64_t patience;

  if (progress != r->progress || stage != r->stage)
    r->progress_ns = now;
  r->progress = progress;
  r->stage = stage;
  patience = patience_of(r);
  if (patience == 0 || now - r->progress_ns < patience)
    return;
  bn_log_at_once("nothing has come to an end for %.1f s: ending at once", (double)patience * 1e-9);
  end_at_once(r);
}

static uint64_t next_wake(const struct receiver *r)
{
  return r->count == 1 ? bn_clock_mono() + glance_ns : r->leave_ns;
}

static void *receiver_main(void *arg)
{
  struct receiver r;
  struct bn_stop_sender sender;
  bool stop = false;

  memset(&r, 0, sizeof r);
  r.run = arg;
  r.leave_ns = UINT64_MAX;
  bn_stop_become_receiver();
  while (!stop) {
    const int signo = bn_stop_wait(next_wake(&r), &sender);

    if (signo > 0)
      take_signal(&r, &sender);
    if (r.count == 2 && bn_clock_mono() >= r.leave_ns)
      leave(&r);
    if (r.count == 1)
      look_for_progress(&r);
    (void)pthread_mutex_lock(&r.run->lock);
    stop = r.run->stop_receiver;
    (void)pthread_mutex_unlock(&r.run->lock);
  }
  return NULL;
}

int bn_receiver_start(struct bn_run *run, struct bn_err *err)
{
  const int rc = pthread_create(&run->receiver, NULL, receiver_main, run);

  if (rc != 0)
    return bn_err_set(err, rc, "cannot start the thread for signals: %s", strerror(rc));
  run->receiver_made = true;
  return 0;
}

void bn_receiver_stop(struct bn_run *run)
{
  if (!run->receiver_made)
    return;
  (void)pthread_mutex_lock(&run->lock);
  run->stop_receiver = true;
  (void)pthread_mutex_unlock(&run->lock);
  bn_stop_wake(run->receiver);
  (void)pthread_join(run->receiver, NULL);
  run->receiver_made = false;
  bn_stop_become_receiver();
}
