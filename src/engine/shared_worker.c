/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of a worker that several sessions share (--workers): all are opened, all wait at the
   start barrier, then each runs its loop and closes. */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/loop.h"
#include "engine/worker.h"

struct shared_session {
  struct bn_task task; /* the first member: shared_go_on casts it to the session */
  struct shared_worker *worker;
  enum bn_phase phase;
  bool is_open; /* has been opened, and is at the start barrier or past it */
  bool loop_begun;
};

struct shared_worker {
  struct bn_worker *worker;
  struct bn_loop loop;
  struct shared_session *session; /* owned; n_sessions of them */
  unsigned n_sessions;
  unsigned n_begun;   /* the first n_begun sessions have been begun */
  unsigned n_opening; /* begun, but not opened yet */
  unsigned n_open;    /* opened, also if closed since then */
  unsigned n_gone;
};

static void shared_queue_close(struct shared_session *ss)
{
  ss->phase = BN_PHASE_CLOSE;
  bn_loop_queue(&ss->task);
}

/* Begins to open as many further sessions as --connect-at-once allows.  The first session is opened
   alone: it asks the server for its limits while others wait, and shows what the script needs. */
static void shared_open_more(struct shared_worker *sw)
{
  const unsigned at_once = sw->n_open == 0 ? 1 : sw->worker->job->conf->connect_at_once;

  while (sw->n_begun < sw->n_sessions && sw->n_opening < at_once &&
         !bn_threads_has_ended(sw->worker->threads)) {
    struct shared_session *ss = &sw->session[sw->n_begun++];

    sw->n_opening++;
    bn_worker_begin_session(sw->worker, ss->task.session);
    bn_loop_queue(&ss->task);
  }
}

/* Handles the end of the phase of opening, which has succeeded or failed. */
static void shared_note_opened(struct shared_session *ss, enum bn_turn turn,
                               const struct bn_err *err)
{
  struct shared_worker *sw = ss->worker;
  struct bn_session *s = ss->task.session;

  sw->n_opening--;
  if (turn == BN_TURN_DONE) {
    ss->is_open = true;
    sw->n_open++;
    bn_worker_note_opened(sw->worker, s);
  } else {
    bn_worker_note_not_opened(s, err);
    shared_queue_close(ss);
  }
}

_Static_assert(offsetof(struct shared_session, task) == 0, "a task is cast to its session");

/* Lets the session go on in its phase, and handles the end of that phase.  The loop calls it. */
static void shared_go_on(struct bn_task *t)
{
  struct shared_session *ss = (struct shared_session *)(void *)t;
  const struct bn_job *job = ss->worker->worker->job;
  struct bn_err err;
  enum bn_turn turn;

  bn_err_clear(&err);
  if (ss->phase == BN_PHASE_LOOP && !ss->loop_begun) {
    ss->loop_begun = true;
    t->session->last_ns = bn_clock_now(&t->session->clock);
  }
  turn = job->ops->turn(job->self, t->session, ss->phase, &err);
  if (turn == BN_TURN_WAITS)
    return;
  switch (ss->phase) {
  case BN_PHASE_OPEN:
    shared_note_opened(ss, turn, &err);
    break;
  case BN_PHASE_LOOP:
    bn_worker_note_looped(ss->worker->worker, t->session, turn == BN_TURN_FAILED);
    shared_queue_close(ss);
    break;
  case BN_PHASE_CLOSE:
    bn_worker_note_closed(t->session, turn == BN_TURN_FAILED, &err);
    bn_worker_leave_session(ss->worker->worker, t->session);
    ss->worker->n_gone++;
    break;
  }
}

/* Opens the sessions, until the end of the run if it comes first.  Returns whether all are open. */
static bool shared_open_all(struct shared_worker *sw)
{
  shared_open_more(sw);
  while (sw->n_opening > 0) {
    bn_loop_turn(&sw->loop);
    shared_open_more(sw);
  }
  return sw->n_open == sw->n_sessions;
}

/* Drives all sessions from opening to closing.  Sessions that were not begun have nothing to close,
   and leave at the end. */
static void shared_run(struct shared_worker *sw)
{
  const bool has_started =
      shared_open_all(sw) && bn_threads_await_start_barrier(sw->worker->threads, sw->n_sessions);

  for (unsigned i = 0; i < sw->n_begun; i++) {
    struct shared_session *ss = &sw->session[i];

    if (!ss->is_open)
      continue;
    ss->phase = has_started ? BN_PHASE_LOOP : BN_PHASE_CLOSE;
    bn_loop_queue(&ss->task);
  }
  while (sw->n_gone < sw->n_begun)
    bn_loop_turn(&sw->loop);
  for (unsigned i = sw->n_begun; i < sw->n_sessions; i++)
    bn_worker_leave_session(sw->worker, sw->session[i].task.session);
}

/* Makes the sessions tasks of the loop. */
static void shared_make_tasks(struct shared_worker *sw)
{
  sw->session = bn_alloc(sw->n_sessions, sizeof *sw->session);
  for (unsigned i = 0; i < sw->n_sessions; i++) {
    struct shared_session *ss = &sw->session[i];
    struct bn_session *s = bn_worker_session(sw->worker, i);

    ss->worker = sw;
    bn_loop_add(&sw->loop, i, &ss->task, s);
    s->task = &ss->task;
    s->waiter = &ss->task.waiter;
  }
}

/* Fails the run because the worker has no loop: none of its sessions is opened. */
static void shared_fail(struct shared_worker *sw, const struct bn_err *err)
{
  bn_log_failure(err);
  bn_threads_end(sw->worker->threads, BN_CAUSE_FAILED, 0);
  for (unsigned i = 0; i < sw->n_sessions; i++)
    bn_worker_leave_session(sw->worker, bn_worker_session(sw->worker, i));
}

void *bn_worker_shared_main(void *worker)
{
  struct bn_worker *w = worker;
  struct shared_worker sw = {.worker = w, .n_sessions = w->n_sessions};
  const unsigned long slack_ns = 1;
  struct bn_err err = {0};

  /* Sessions sleep in the wait of their worker, which the kernel's default lets end 50 us late. */
  (void)prctl(PR_SET_TIMERSLACK, slack_ns, 0UL, 0UL, 0UL);
  if (bn_loop_init(&sw.loop, sw.n_sessions, shared_go_on, &err) != 0) {
    bn_loop_done(&sw.loop);
    shared_fail(&sw, &err);
    return NULL;
  }
  shared_make_tasks(&sw);
  bn_threads_set_loop(w, &sw.loop);
  shared_run(&sw);
  bn_threads_set_loop(w, NULL);
  bn_loop_done(&sw.loop);
  free(sw.session);
  return NULL;
}
