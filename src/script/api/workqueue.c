/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps work that sessions hand over, and wakes sessions that wait for it. */
#include "script/api/workqueue.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/driver.h"
#include "api/session.h"
#include "base/alloc.h"

/* The interval at which a thread that waits checks whether its session was interrupted. */
enum { POLL_MS = 100 };

void bn_workqueue_init(struct bn_workqueue *q)
{
  *q = (struct bn_workqueue){.n = 0};
  (void)pthread_mutex_init(&q->lock, NULL);
}

void bn_workqueue_done(struct bn_workqueue *q)
{
  free(q->ring);
  q->ring = NULL;
  (void)pthread_mutex_destroy(&q->lock);
}

int bn_workqueue_join(struct bn_workqueue *q, struct bn_workqueue_part *p,
                      enum bn_workqueue_role role)
{
  if (role == BN_WORKQUEUE_TAKES) {
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->wake_fd < 0)
      return -1;
  }
  p->role = role; /* from here on, bn_workqueue_leave() closes wake_fd */
  (void)pthread_mutex_lock(&q->lock);
  if (role == BN_WORKQUEUE_TAKES) {
    q->takers++;
    if (q->ring == NULL)
      q->ring = bn_alloc(BN_WORKQUEUE_ROOM, sizeof *q->ring);
  } else {
    q->givers++;
  }
  (void)pthread_mutex_unlock(&q->lock);
  return 0;
}

/* Removes the part from the list of idle parts, if it is in the list.  The caller holds the
   lock. */
static void workqueue_remove_idle(struct bn_workqueue *q, struct bn_workqueue_part *p)
{
  struct bn_workqueue_part **link = &q->idle;

  if (!p->idle)
    return;
  while (*link != p)
    link = &(*link)->next;
  *link = p->next;
  p->idle = false;
}

/* Ends the wait of the part that has waited longest.  Returns false if none waits.  The caller
   holds the lock, so wake_fd is open: a part is removed from the list before its descriptor is
   closed. */
static bool workqueue_wake_longest(struct bn_workqueue *q)
{
  struct bn_workqueue_part *p = q->idle;

  if (p == NULL)
    return false;
  workqueue_remove_idle(q, p);
  (void)eventfd_write(p->wake_fd, 1);
  return true;
}

/* Adds the part to the end of the list of idle parts, unless it is in the list.  The caller holds
   the lock. */
static void workqueue_add_idle(struct bn_workqueue *q, struct bn_workqueue_part *p)
{
  struct bn_workqueue_part **link = &q->idle;

  if (p->idle)
    return;
  while (*link != NULL)
    link = &(*link)->next;
  p->next = NULL;
  *link = p;
  p->idle = true;
}

void bn_workqueue_leave(struct bn_workqueue *q, struct bn_workqueue_part *p)
{
  if (p->role == BN_WORKQUEUE_NONE)
    return;
  (void)pthread_mutex_lock(&q->lock);
  if (p->role == BN_WORKQUEUE_TAKES) {
    q->takers--;
    workqueue_remove_idle(q, p);
    (void)close(p->wake_fd);
  } else {
    q->givers--;
    if (q->givers == 0) /* no more work will come, so all waits end */
      while (workqueue_wake_longest(q))
        ;
  }
  p->role = BN_WORKQUEUE_NONE;
  (void)pthread_mutex_unlock(&q->lock);
}

enum bn_workqueue_answer bn_workqueue_give(struct bn_workqueue *q, const struct bn_work *work)
{
  enum bn_workqueue_answer answer = BN_WORKQUEUE_DONE;

  (void)pthread_mutex_lock(&q->lock);
  if (q->takers == 0) {
    answer = BN_WORKQUEUE_NOBODY;
  } else if (q->n == BN_WORKQUEUE_ROOM) {
    answer = BN_WORKQUEUE_FULL;
  } else {
    q->ring[(q->first + q->n) % BN_WORKQUEUE_ROOM] = *work;
    q->n++;
    if (q->n > q->longest)
      q->longest = q->n;
    (void)workqueue_wake_longest(q);
  }
  (void)pthread_mutex_unlock(&q->lock);
  return answer;
}

/* Waits until the part may have been woken, and resets its descriptor.  A thread that drives one
   session returns after POLL_MS, so that the caller sees an interruption. */
static void workqueue_wait(const struct bn_workqueue_part *p, const struct bn_session *s)
{
  struct pollfd fd = {.fd = p->wake_fd, .events = POLLIN};
  eventfd_t wakes;

  if (s->waiter != NULL)
    (void)s->waiter->wait(s->waiter, p->wake_fd, POLLIN, NULL, UINT64_MAX);
  else
    (void)poll(&fd, 1, POLL_MS);
  (void)eventfd_read(p->wake_fd, &wakes); /* fails if no session has woken the part */
}

/* The outcome of an attempt to take work. */
enum attempt { WORK_TAKEN, NO_WORK_YET, NO_MORE_WORK };

/* Moves work into p->taken if there is work.  If there is none yet, adds the part to the list of
   idle parts, of which new work wakes one. */
static enum attempt workqueue_try_take(struct bn_workqueue *q, struct bn_workqueue_part *p)
{
  enum attempt outcome = NO_MORE_WORK;

  (void)pthread_mutex_lock(&q->lock);
  if (q->n > 0) {
    workqueue_remove_idle(q, p);
    p->taken = q->ring[q->first];
    q->first = (q->first + 1) % BN_WORKQUEUE_ROOM;
    q->n--;
    outcome = WORK_TAKEN;
  } else if (q->givers > 0) {
    workqueue_add_idle(q, p);
    outcome = NO_WORK_YET;
  }
  (void)pthread_mutex_unlock(&q->lock);
  return outcome;
}

bool bn_workqueue_take(struct bn_workqueue *q, struct bn_workqueue_part *p,
                       const struct bn_session *s)
{
  /* A deadline of 0 says that the run was asked to stop. */
  while (!bn_session_interrupted(s) && bn_session_deadline(s) != 0) {
    const enum attempt outcome = workqueue_try_take(q, p);

    if (outcome != NO_WORK_YET)
      return outcome == WORK_TAKEN;
    workqueue_wait(p, s);
  }
  return false;
}

/* Returns the value of a counter that the lock guards. */
static unsigned workqueue_read_counter(struct bn_workqueue *q, const unsigned *counter)
{
  (void)pthread_mutex_lock(&q->lock);
  const unsigned value = *counter;

  (void)pthread_mutex_unlock(&q->lock);
  return value;
}

unsigned bn_workqueue_count(struct bn_workqueue *q)
{
  return workqueue_read_counter(q, &q->n);
}

unsigned bn_workqueue_longest(struct bn_workqueue *q)
{
  return workqueue_read_counter(q, &q->longest);
}
