/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of a worker thread: open its session, wait at the gate, loop, close. */
#include <sys/prctl.h>

#include <string.h>

#include "base/log.h"
#include "engine/run_internal.h"
#include "engine/stop.h"

/* Address space, not memory: libraries that call back into scripts need more than the option's 64
 * KiB. */
static const size_t stack_least = (size_t)1 << 20;

static enum bn_next run_loop(struct bn_run *run, struct bn_session *s)
{
  enum bn_next next = BN_CONTINUE;
  struct bn_tick tick;

  if (run->ops->loop != NULL)
    return run->ops->loop(run->self, s);
  while (next == BN_CONTINUE && bn_event_begin(s, &tick)) {
    next = run->ops->event(run->self, s);
    if (next == BN_CONTINUE)
      bn_event_end(s, &tick);
    else
      bn_event_drop(s, &tick);
  }
  return next;
}

static void set_state(struct bn_worker *w, enum bn_worker_state state)
{
  (void)pthread_mutex_lock(&w->run->lock);
  w->state = state;
  (void)pthread_mutex_unlock(&w->run->lock);
}

static void print_error(const struct bn_err *err)
{
  if (err->text[0] != '\0')
    bn_log(BN_FATAL, "%s", err->text);
}

/* Between the gate and the end of the loop. */
static void measure(struct bn_worker *w)
{
  struct bn_session *s = w->session;
  struct bn_run *run = w->run;

  s->last_ns = bn_clock_now(&s->clock);
  if (run_loop(run, s) == BN_FAILED)
    bn_run_fail(run);
  (void)pthread_mutex_lock(&run->lock);
  w->looped = true;
  w->early = bn_clock_now(&s->clock) < run->deadline_ns;
  if (run->ops->untimed_close)
    run->end_ns = bn_clock_mono();
  (void)pthread_mutex_unlock(&run->lock);
  bn_event_leave(s);
  atomic_store_explicit(&s->stat->running, false, memory_order_relaxed);
}

void bn_worker_gone(struct bn_worker *w)
{
  struct bn_run *run = w->run;

  (void)pthread_mutex_lock(&run->lock);
  w->state = BN_WORKER_GONE;
  if (!run->ops->untimed_close)
    run->end_ns = bn_clock_mono();
  run->gone++;
  (void)pthread_cond_broadcast(&run->changed);
  (void)pthread_mutex_unlock(&run->lock);
}

void *bn_worker_main(void *arg)
{
  struct bn_worker *w = arg;
  struct bn_session *s = w->session;
  struct bn_run *run = w->run;
  struct bn_err err = {0};
  bool ready;

  if (!run->conf->policy->threads_start_silently)
    bn_log(BN_DEBUG, "Worker thread (#%u) started", s->id);
  if (run->conf->raw.rate > 0)
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  set_state(w, BN_WORKER_OPENING);
  bn_clock_reader_init(&s->clock, &run->clock);
  ready = run->ops->session_open == NULL || run->ops->session_open(run->self, s, &err) == 0;
  if (ready) {
    bn_log(BN_DEBUG, "Worker thread (#%u) %s", s->id, run->conf->policy->thread_ready);
    set_state(w, BN_WORKER_RUNNING);
    atomic_store_explicit(&s->doing, "waiting for the other threads", memory_order_relaxed);
    if (bn_gate_wait(&run->gate))
      measure(w);
  } else {
    print_error(&err);
    bn_log(BN_DEBUG, "Worker thread (#%u) failed to initialize!", s->id);
    bn_run_fail(run);
    bn_gate_fail(&run->gate);
  }
  err.text[0] = '\0';
  if (run->ops->session_close != NULL && run->ops->session_close(run->self, s, &err) != 0) {
    print_error(&err);
    bn_run_fail(run);
  }
  bn_worker_gone(w);
  return NULL;
}

int bn_worker_spawn(struct bn_run *run, struct bn_worker *w, void *(*body)(void *),
                    struct bn_err *err)
{
  const size_t wanted = (size_t)run->conf->raw.thread_stack_size;
  pthread_attr_t attr;
  int rc;

  rc = pthread_attr_init(&attr);
  if (rc == 0) {
    rc = pthread_attr_setstacksize(&attr, wanted > stack_least ? wanted : stack_least);
    if (rc == 0)
      rc = pthread_create(&w->thread, &attr, body, w);
    (void)pthread_attr_destroy(&attr);
  }
  if (rc != 0)
    return bn_err_set(err, rc, "cannot start worker thread %u of %u: %s", w->session->id + 1,
                      run->conf->threads, strerror(rc));
  w->created = true;
  return 0;
}
