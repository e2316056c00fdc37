/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the watchers and compares their readings. */
#include "engine/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/wait.h"

/* The time to wait for an answer while events run, when the reporting thread alone waits. */
static const uint64_t run_patience_ns = BN_NSEC_PER_SEC / 10;
/* The time to wait for an answer while sessions wait at the start barrier, and for the figures of
   the final report. */
static const uint64_t rest_patience_ns = BN_NSEC_PER_SEC;
/* The time to wait for `open`, which may connect to a server. */
static const uint64_t open_patience_ns = 6 * BN_NSEC_PER_SEC;

/* --- life ------------------------------------------------------------------------------------- */

void bn_watch_init(struct bn_watch *w, const struct bn_watcher *const *watchers, size_t n,
                   struct bn_sqlsys *sql)
{
  memset(w, 0, sizeof *w);
  (void)pthread_mutex_init(&w->lock, NULL);
  if (n == 0)
    return;
  w->slot = bn_alloc(n, sizeof *w->slot);
  w->interval = bn_alloc(1, sizeof *w->interval);
  w->sum = bn_alloc(1, sizeof *w->sum);
  w->place.sql = sql;
  for (; w->n < n; w->n++) {
    struct bn_watch_slot *s = &w->slot[w->n];

    s->ops = watchers[w->n];
    s->watch = w;
    s->state = bn_alloc(1, watchers[w->n]->state_size);
  }
}

void bn_watch_done(struct bn_watch *w)
{
  for (size_t i = 0; i < w->n; i++) {
    if (w->slot[i].ops->done != NULL)
      w->slot[i].ops->done(w->slot[i].state);
    free(w->slot[i].state);
  }
  (void)pthread_mutex_destroy(&w->lock);
  free(w->slot);
  free(w->folder);
  free(w->interval);
  free(w->sum);
}

static bool watch_may_block(const struct bn_watch_slot *s)
{
  return s->ops->interrupt != NULL;
}

/* --- the thread of a watcher that may block --------------------------------------------------- */

static const struct bn_wait next_call = {"a question about what is watched", BN_BOUND_STOP};
static const struct bn_wait call_return = {"an answer about what is watched", BN_BOUND_DEADLINE};
static const struct bn_wait thread_return = {"the thread that watches to return",
                                             BN_BOUND_RETURNING};

/* Makes the calls.  `busy` is cleared once a call has returned, also if it was given up. */
static void *watch_main(void *arg)
{
  struct bn_watch_slot *s = arg;
  pthread_mutex_t *lock = &s->watch->lock;

  (void)pthread_mutex_lock(lock);
  while (!s->stop) {
    if (!s->busy) {
      (void)bn_wait_until(&next_call, &s->changed, lock, UINT64_MAX);
      continue;
    }
    (void)pthread_mutex_unlock(lock);
    s->call(s);
    (void)pthread_mutex_lock(lock);
    s->busy = false;
    bn_wait_wake(&s->changed);
  }
  s->gone = true;
  bn_wait_wake(&s->changed);
  (void)pthread_mutex_unlock(lock);
  return NULL;
}

/* Starts the thread; the caller does not hold the lock.  Returns 0, or -1 and s->err. */
static int watch_start_thread(struct bn_watch_slot *s)
{
  int rc;

  bn_wait_init_cond(&s->changed);
  rc = bn_wait_spawn(&s->thread, 0, watch_main, s);
  s->made = rc == 0;
  return s->made ? 0 : bn_err_set(&s->err, rc, "cannot start its thread: %s", strerror(rc));
}

/* Waits until *flag has the wanted value or the time is over.  Returns whether *flag has it.  The
   caller holds the lock, here and in the functions below. */
static bool watch_await(struct bn_watch_slot *s, const bool *flag, bool wanted,
                        uint64_t patience_ns)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;
  bool in_time = true;

  while (*flag != wanted && in_time)
    in_time = bn_wait_until(&call_return, &s->changed, &s->watch->lock, until_ns);
  return *flag == wanted;
}

/* Ends the thread, if there is one.  Returns false if a call has not returned in time and the
   thread was abandoned. */
static bool watch_stop_thread(struct bn_watch_slot *s, uint64_t patience_ns)
{
  if (!s->made)
    return true;
  s->stop = true;
  bn_wait_wake(&s->changed);
  if (!watch_await(s, &s->gone, true /* wanted */, patience_ns))
    return false;
  /* No lock is held while a thread is joined (base/wait.h). */
  (void)pthread_mutex_unlock(&s->watch->lock);
  bn_wait_join(&thread_return, s->thread);
  (void)pthread_mutex_lock(&s->watch->lock);
  (void)pthread_cond_destroy(&s->changed);
  return true;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The calls of a watcher, for watch_call.  They leave their results in the slot. */

static void watch_call_open(struct bn_watch_slot *s)
{
  s->rc = s->ops->open(s->state, &s->watch->place, &s->err);
}

/* The time of a reading is the middle of the call, the best guess of when the values were read. */
static void watch_call_read(struct bn_watch_slot *s)
{
  const uint64_t from_ns = bn_clock_mono();

  s->rc = s->ops->read(s->state, &s->answer, &s->err);
  s->answer.at_ns = from_ns + (bn_clock_mono() - from_ns) / 2;
}

static void watch_call_close(struct bn_watch_slot *s)
{
  if (s->ops->close != NULL)
    s->ops->close(s->state);
}

/* Makes a call, in the thread of a watcher that may block.  Returns false if it has not returned in
   time, or was not made because an earlier call has not returned. */
static bool watch_call(struct bn_watch_slot *s, void (*call)(struct bn_watch_slot *s),
                       uint64_t patience_ns)
{
  if (!watch_may_block(s)) {
    call(s);
    return true;
  }
  if (!s->made || s->busy)
    return false;
  s->call = call;
  s->busy = true;
  bn_wait_wake(&s->changed);
  return watch_await(s, &s->busy, false /* wanted */, patience_ns);
}

/* Gives a watcher up, with one line on standard error. */
static void watch_give_up(struct bn_watch_slot *s, const struct bn_err *err)
{
  s->open = false;
  bn_log_stderr("--watch=%s: %s", s->ops->name, err->text);
}

/* Opens a watcher, or gives it up if that fails or takes too long.  The caller holds the lock. */
static void watch_open_one(struct bn_watch_slot *s)
{
  struct bn_err timeout = {0};

  s->entered = true; /* comes first: a watcher that fails to open is closed, too */
  if (!watch_call(s, watch_call_open, open_patience_ns)) {
    (void)bn_err_set(&timeout, 0,
                     "no answer within %d seconds; the run continues without these figures",
                     (int)(open_patience_ns / BN_NSEC_PER_SEC));
    watch_give_up(s, &timeout);
    return;
  }
  s->open = s->rc == 0; /* watch_call_open has set rc and err */
  if (!s->open)
    watch_give_up(s, &s->err);
}

void bn_watch_set_place(struct bn_watch *w, const struct bn_facts *f)
{
  const struct bn_fact *folder = bn_facts_find(f, "files", "folder");

  if (w->n == 0 || folder == NULL || folder->text == NULL)
    return;
  w->folder = bn_alloc_text(folder->text); /* watchers read it when the facts may have changed */
  w->place.folder = w->folder;
}

void bn_watch_open(struct bn_watch *w)
{
  for (size_t i = 0; i < w->n; i++) {
    struct bn_watch_slot *s = &w->slot[i];

    if (watch_may_block(s) && watch_start_thread(s) != 0) {
      watch_give_up(s, &s->err);
      continue;
    }
    (void)pthread_mutex_lock(&w->lock);
    watch_open_one(s);
    (void)pthread_mutex_unlock(&w->lock);
  }
}

/* Closes a watcher.  A call that hangs is interrupted and gets more time to return, after which the
   watcher can be closed.  Returns false if a call still hangs and was abandoned.  The caller holds
   the lock. */
static bool watch_close_one(struct bn_watch_slot *s)
{
  bool closed = !s->entered || watch_call(s, watch_call_close, run_patience_ns);

  /* Only a watcher that may block, and so has an interrupt, does not answer in time. */
  if (!closed) {
    s->ops->interrupt(s->state);
    closed = watch_await(s, &s->busy, false /* wanted */, rest_patience_ns) &&
             watch_call(s, watch_call_close, rest_patience_ns);
  }
  s->entered = s->open = false;
  /* The thread of a call that still hangs is not waited for again. */
  return watch_stop_thread(s, closed ? rest_patience_ns : 0) && closed;
}

bool bn_watch_close(struct bn_watch *w)
{
  bool all_closed = true;

  (void)pthread_mutex_lock(&w->lock);
  for (size_t i = 0; i < w->n; i++)
    if (!watch_close_one(&w->slot[i]))
      all_closed = false;
  (void)pthread_mutex_unlock(&w->lock);
  return all_closed;
}

/* --- readings --------------------------------------------------------------------------------- */

/* Makes a reading.  r->at_ns is 0 if there was none: after a failure the watcher is given up, and
   after a timeout it is read again next time.  The caller holds the lock. */
static void watch_read_one(struct bn_watch_slot *s, struct bn_reading *r, uint64_t patience_ns)
{
  r->at_ns = 0;
  if (!s->open || !watch_call(s, watch_call_read, patience_ns))
    return;
  if (s->rc == 0) /* watch_call_read() has set rc, answer and err */
    *r = s->answer;
  else
    watch_give_up(s, &s->err);
}

void bn_watch_start(struct bn_watch *w)
{
  (void)pthread_mutex_lock(&w->lock);
  for (size_t i = 0; i < w->n; i++) {
    struct bn_watch_slot *s = &w->slot[i];

    watch_read_one(s, &s->base, rest_patience_ns);
    s->last = s->base;
    s->end.at_ns = 0; /* not read yet */
    s->base_unread = s->last_unread = 0;
  }
  (void)pthread_mutex_unlock(&w->lock);
}

/* Makes the readings at the end of the span that have not been made.  The caller holds the lock. */
static void watch_read_end(struct bn_watch *w, uint64_t patience_ns)
{
  for (size_t i = 0; i < w->n; i++)
    if (w->slot[i].end.at_ns == 0)
      watch_read_one(&w->slot[i], &w->slot[i].end, patience_ns);
}

void bn_watch_end(struct bn_watch *w)
{
  (void)pthread_mutex_lock(&w->lock);
  watch_read_end(w, run_patience_ns);
  (void)pthread_mutex_unlock(&w->lock);
}

void bn_watch_follow_counters(struct bn_watch *w)
{
  struct bn_reading unused;

  (void)pthread_mutex_lock(&w->lock);
  for (size_t i = 0; i < w->n; i++)
    if (w->slot[i].ops->wraps)
      watch_read_one(&w->slot[i], &unused, run_patience_ns);
  (void)pthread_mutex_unlock(&w->lock);
}

/* Adds the figures between two readings, if both were made.  The readings may cover earlier views
   that had no reading, with `unread` transactions.  The caller holds the lock. */
static void watch_compare(const struct bn_watch_slot *s, const struct bn_reading *from,
                          const struct bn_reading *to, const struct bn_view *v, uint64_t unread,
                          struct bn_watched *out)
{
  struct bn_view covered = *v;

  covered.transactions += unread;
  if (from->at_ns != 0 && to->at_ns > from->at_ns)
    s->ops->compare(s->state, from, to, &covered, out);
}

/* Adds the figures since the last reading of an interval, or of a checkpoint, which the new reading
   replaces.  The caller holds the lock. */
static void watch_show_part(struct bn_watch *w, const struct bn_view *v, struct bn_watched *out)
{
  for (size_t i = 0; i < w->n; i++) {
    struct bn_watch_slot *s = &w->slot[i];
    const bool is_interval = v->span == BN_VIEW_INTERVAL;
    struct bn_reading *from = is_interval ? &s->last : &s->base;
    uint64_t *unread = is_interval ? &s->last_unread : &s->base_unread;

    watch_read_one(s, &s->now, run_patience_ns);
    if (s->now.at_ns == 0) {
      *unread += v->transactions - v->in_grace; /* no watcher counts the grace */
      continue;
    }
    watch_compare(s, from, &s->now, v, *unread, out);
    *from = s->now;
    *unread = 0;
  }
}

/* Adds the figures since the last reading of a checkpoint, or since the first reading, up to the
   end of the span.  The caller holds the lock. */
static void watch_show_total(struct bn_watch *w, const struct bn_view *v, struct bn_watched *out)
{
  watch_read_end(w, rest_patience_ns);
  for (size_t i = 0; i < w->n; i++) {
    const struct bn_watch_slot *s = &w->slot[i];

    watch_compare(s, &s->base, &s->end, v, s->base_unread, out);
  }
}

void bn_watch_add_figures(struct bn_watch *w, struct bn_view *v)
{
  struct bn_watched *out = v->span == BN_VIEW_INTERVAL ? w->interval : w->sum;

  if (w->n == 0 || v->span == BN_VIEW_TICK)
    return;
  (void)pthread_mutex_lock(&w->lock);
  out->n = 0;
  if (v->span == BN_VIEW_TOTAL)
    watch_show_total(w, v, out);
  else
    watch_show_part(w, v, out);
  v->watched = out->figure;
  v->n_watched = out->n;
  (void)pthread_mutex_unlock(&w->lock);
}
