/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of one database file.  Sleeping in SQLite's busy handler left a thread waiting for
   seconds while others went first, and waking all waiters cost most of the throughput. */
#include "drivers/sqlite/queue.h"

#include <stddef.h>

void bn_sqlite_queue_init(struct bn_sqlite_queue *q)
{
  *q = (struct bn_sqlite_queue){.first = NULL};
  pthread_mutex_init(&q->lock, NULL);
}

void bn_sqlite_queue_destroy(struct bn_sqlite_queue *q)
{
  pthread_mutex_destroy(&q->lock);
}

void bn_sqlite_turn_init(struct bn_sqlite_turn *t)
{
  *t = (struct bn_sqlite_turn){.next = NULL};
  pthread_cond_init(&t->cond, NULL);
}

void bn_sqlite_turn_destroy(struct bn_sqlite_turn *t)
{
  pthread_cond_destroy(&t->cond);
}

/* Grants a turn, which is in no list.  Sets the owner before its thread wakes up: otherwise the
   thread that owned the lock before could take itself for the owner. */
static void queue_grant(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t)
{
  if (t->wants == BN_SQLITE_EXCLUSIVE) {
    q->busy = true;
    q->owner = t->thread;
  } else {
    q->sharers++;
    t->next = q->sharing;
    q->sharing = t;
  }
  t->wants = BN_SQLITE_NONE;
  t->granted = true;
  pthread_cond_signal(&t->cond);
}

/* Removes a turn from those that hold SHARED. */
static void queue_stop_sharing(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t)
{
  struct bn_sqlite_turn **p = &q->sharing;

  while (*p != t)
    p = &(*p)->next;
  *p = t->next;
  q->sharers--;
}

/* Returns whether another connection of t's thread holds SHARED: waiting for it would never end. */
static bool queue_shares_already(const struct bn_sqlite_queue *q, const struct bn_sqlite_turn *t)
{
  for (const struct bn_sqlite_turn *p = q->sharing; p != NULL; p = p->next) {
    if (p != t && pthread_equal(p->thread, t->thread))
      return true;
  }
  return false;
}

/* Adds a turn at the end of the line. */
static void queue_append(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t)
{
  t->next = NULL;
  if (q->last != NULL)
    q->last->next = t;
  else
    q->first = t;
  q->last = t;
}

/* Removes and returns the first turn of the line, which is not empty. */
static struct bn_sqlite_turn *queue_pop(struct bn_sqlite_queue *q)
{
  struct bn_sqlite_turn *t = q->first;

  q->first = t->next;
  if (q->first == NULL)
    q->last = NULL;
  return t;
}

/* Grants all turns that may go on now; the caller holds the lock.  While a turn waits for its
   upgrade, no other turn is granted: the upgrade needs all other sharers to leave. */
static void queue_advance(struct bn_sqlite_queue *q)
{
  if (q->upgrader != NULL) {
    if (q->sharers == 1 && !q->busy) {
      queue_stop_sharing(q, q->upgrader);
      queue_grant(q, q->upgrader);
      q->upgrader = NULL;
    }
    return;
  }
  while (q->first != NULL && !q->busy) {
    if (q->first->wants == BN_SQLITE_EXCLUSIVE && q->sharers > 0)
      return;
    queue_grant(q, queue_pop(q));
  }
}

/* Removes a turn that waits, in the line or for its upgrade. */
static void queue_forget(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t)
{
  struct bn_sqlite_turn **link = &q->first, *prev = NULL;

  if (q->upgrader == t)
    q->upgrader = NULL;
  while (*link != NULL && *link != t) {
    prev = *link;
    link = &prev->next;
  }
  if (*link == t) {
    *link = t->next;
    if (q->last == t)
      q->last = prev;
  }
  t->wants = BN_SQLITE_NONE;
}

/* Waits until t is granted or interrupted; the caller holds the lock.  A turn that was interrupted
   leaves the line. */
static enum bn_sqlite_wait queue_await(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t)
{
  while (!t->granted && !t->interrupted)
    pthread_cond_wait(&t->cond, &q->lock);
  if (t->granted)
    return BN_SQLITE_GRANTED;
  queue_forget(q, t);
  queue_advance(q);
  return BN_SQLITE_INTERRUPTED;
}

enum bn_sqlite_wait bn_sqlite_queue_enter(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t,
                                          enum bn_sqlite_hold wants)
{
  bool is_owner, is_sharer; /* the thread, by another connection */
  enum bn_sqlite_wait rc;

  pthread_mutex_lock(&q->lock);
  t->thread = pthread_self();
  is_owner = q->busy && pthread_equal(q->owner, t->thread);
  is_sharer = queue_shares_already(q, t);
  if (is_owner || (is_sharer && wants == BN_SQLITE_EXCLUSIVE)) {
    rc = BN_SQLITE_OWN; /* the thread would wait for itself */
  } else if (is_sharer) {
    /* A turn in the line may wait until the thread stops sharing: behind that turn, this one would
       wait for ever. */
    t->wants = wants;
    queue_grant(q, t);
    rc = BN_SQLITE_GRANTED;
  } else {
    t->wants = wants;
    t->granted = false;
    queue_append(q, t);
    queue_advance(q);
    rc = queue_await(q, t);
  }
  pthread_mutex_unlock(&q->lock);
  return rc;
}

enum bn_sqlite_wait bn_sqlite_queue_upgrade(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t)
{
  enum bn_sqlite_wait rc;

  pthread_mutex_lock(&q->lock);
  t->thread = pthread_self();
  if (q->upgrader != NULL) {
    rc = BN_SQLITE_CONFLICT; /* each of the two would wait until the other stops sharing */
  } else if (queue_shares_already(q, t)) {
    rc = BN_SQLITE_OWN; /* the thread would wait for its other connection */
  } else {
    q->upgrader = t;
    t->wants = BN_SQLITE_EXCLUSIVE;
    t->granted = false;
    queue_advance(q);
    rc = queue_await(q, t);
  }
  pthread_mutex_unlock(&q->lock);
  return rc;
}

void bn_sqlite_queue_leave(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t,
                           enum bn_sqlite_hold held)
{
  pthread_mutex_lock(&q->lock);
  if (held == BN_SQLITE_SHARED)
    queue_stop_sharing(q, t);
  else
    q->busy = false;
  queue_advance(q);
  pthread_mutex_unlock(&q->lock);
}

void bn_sqlite_queue_interrupt(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t)
{
  pthread_mutex_lock(&q->lock);
  t->interrupted = true;
  pthread_cond_signal(&t->cond);
  pthread_mutex_unlock(&q->lock);
}
