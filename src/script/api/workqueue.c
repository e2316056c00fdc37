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

void bn_workqueue_init(struct bn_workqueue *h)
{
  *h = (struct bn_workqueue){.n = 0};
  (void)pthread_mutex_init(&h->lock, NULL);
}

void bn_workqueue_done(struct bn_workqueue *h)
{
  free(h->ring);
  h->ring = NULL;
  (void)pthread_mutex_destroy(&h->lock);
}

int bn_workqueue_join(struct bn_workqueue *h, struct bn_workqueue_part *p,
                      enum bn_workqueue_role role)
{
  if (role == BN_WORKQUEUE_TAKES) {
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->wake_fd < 0)
      return -1;
  }
  p->role = role;
  (void)pthread_mutex_lock(&h->lock);
  h->takers += role == BN_WORKQUEUE_TAKES;
  h->givers += role == BN_WORKQUEUE_GIVES;
  if (h->takers > 0 && h->ring == NULL)
    h->ring = bn_alloc(BN_WORKQUEUE_ROOM, sizeof *h->ring);
  (void)pthread_mutex_unlock(&h->lock);
  return 0;
}

/* Takes the part out of the list of those that wait.  The caller holds the lock. */
static void workqueue_remove_idle(struct bn_workqueue *h, struct bn_workqueue_part *p)
{
  struct bn_workqueue_part **at = &h->idle;

  if (!p->idle)
    return;
  while (*at != p)
    at = &(*at)->next;
  *at = p->next;
  p->idle = false;
}

/* Ends the wait of the part that has waited longest, if one waits.  The caller holds the lock, so
   that the part has not left.  The counter is never full. */
static bool workqueue_wake_one(struct bn_workqueue *h)
{
  const uint64_t one = 1;
  struct bn_workqueue_part *p = h->idle;

  if (p == NULL)
    return false;
  workqueue_remove_idle(h, p);
  return write(p->wake_fd, &one, sizeof one) == (ssize_t)sizeof one;
}

/* Puts the part at the end of the list of those that wait.  The caller holds the lock. */
static void workqueue_add_idle(struct bn_workqueue *h, struct bn_workqueue_part *p)
{
  struct bn_workqueue_part **at = &h->idle;

  if (p->idle)
    return;
  while (*at != NULL)
    at = &(*at)->next;
  p->next = NULL;
  *at = p;
  p->idle = true;
}

void bn_workqueue_leave(struct bn_workqueue *h, struct bn_workqueue_part *p)
{
  if (p->role == BN_WORKQUEUE_NONE)
    return;
  (void)pthread_mutex_lock(&h->lock);
  if (p->role == BN_WORKQUEUE_TAKES) {
    h->takers--;
    workqueue_remove_idle(h, p);
    (void)close(p->wake_fd);
  } else if (--h->givers == 0) {
    while (workqueue_wake_one(h))
      ;
  }
  p->role = BN_WORKQUEUE_NONE;
  (void)pthread_mutex_unlock(&h->lock);
}

enum bn_workqueue_answer bn_workqueue_give(struct bn_workqueue *h, const struct bn_work *work)
{
  enum bn_workqueue_answer answer = BN_WORKQUEUE_DONE;

  (void)pthread_mutex_lock(&h->lock);
  if (h->takers == 0) {
    answer = BN_WORKQUEUE_NOBODY;
  } else if (h->n == BN_WORKQUEUE_ROOM) {
    answer = BN_WORKQUEUE_FULL;
  } else {
    h->ring[(h->first + h->n) % BN_WORKQUEUE_ROOM] = *work;
    h->n++;
    if (h->n > h->longest)
      h->longest = h->n;
    (void)workqueue_wake_one(h);
  }
  (void)pthread_mutex_unlock(&h->lock);
  return answer;
}

/* Returns once the part may have been woken. */
static void workqueue_wait(const struct bn_workqueue_part *p, const struct bn_session *s)
{
  struct pollfd fd = {.fd = p->wake_fd, .events = POLLIN};

  if (s->waiter != NULL)
    (void)s->waiter->wait(s->waiter, p->wake_fd, POLLIN, NULL, UINT64_MAX);
  else
    (void)poll(&fd, 1, POLL_MS);
}

/* Takes work if there is some, which sets *found, else notes that the part waits.  Returns false if
   there will be none. */
static bool workqueue_try(struct bn_workqueue *h, struct bn_workqueue_part *p, bool *found)
{
  bool more;

  (void)pthread_mutex_lock(&h->lock);
  *found = h->n > 0;
  more = *found || h->givers > 0;
  if (*found) {
    workqueue_remove_idle(h, p);
    p->taken = h->ring[h->first];
    h->first = (h->first + 1) % BN_WORKQUEUE_ROOM;
    h->n--;
  } else if (more) {
    workqueue_add_idle(h, p);
  }
  (void)pthread_mutex_unlock(&h->lock);
  return more;
}

bool bn_workqueue_take(struct bn_workqueue *h, struct bn_workqueue_part *p,
                       const struct bn_session *s)
{
  bool found = false;
  uint64_t n;

  while (!bn_session_interrupted(s) && bn_session_deadline(s) != 0 && workqueue_try(h, p, &found)) {
    if (found)
      return true;
    workqueue_wait(p, s);
    /* Makes the descriptor silent again; it fails if nobody has woken the part. */
    if (read(p->wake_fd, &n, sizeof n) < 0)
      continue;
  }
  return false;
}

/* Returns a counter that the lock guards. */
static unsigned workqueue_read(struct bn_workqueue *h, const unsigned *counter)
{
  unsigned n;

  (void)pthread_mutex_lock(&h->lock);
  n = *counter;
  (void)pthread_mutex_unlock(&h->lock);
  return n;
}

unsigned bn_workqueue_left(struct bn_workqueue *h)
{
  return workqueue_read(h, &h->n);
}

unsigned bn_workqueue_longest(struct bn_workqueue *h)
{
  return workqueue_read(h, &h->longest);
}
