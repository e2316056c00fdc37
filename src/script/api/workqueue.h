/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work that sessions of a script hand over to other sessions: a bounded queue, first in, first out.

   Each session joins before its loop, to give or to take.  A session that takes waits for work, and
   stops when all that give have left and the queue is empty: a run carries out all that was handed
   over, unless it is asked to stop.  Any session may call the functions, for itself. */
#ifndef BN_SCRIPT_API_WORKQUEUE_H
#define BN_SCRIPT_API_WORKQUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct bn_session; /* api/session.h */

/* The most pieces of work that wait. */
enum { BN_WORKQUEUE_ROOM = 1024 };

/* A piece of work: two numbers, and when it was handed over (CLOCK_MONOTONIC). */
struct bn_work {
  uint64_t at_ns;
  double value[2];
};

enum bn_workqueue_role { BN_WORKQUEUE_NONE, BN_WORKQUEUE_GIVES, BN_WORKQUEUE_TAKES };

/* The part of a session; zeroed before it joins. */
struct bn_workqueue_part {
  enum bn_workqueue_role role;
  int wake_fd;                    /* TAKES: readable when the wait is over */
  bool idle;                      /* it is in the list of those that wait */
  struct bn_workqueue_part *next; /* in that list */
  struct bn_work taken;           /* the work that it took last */
};

struct bn_workqueue {
  pthread_mutex_t lock;
  struct bn_work *ring;    /* owned; NULL: nobody takes */
  unsigned first, n;       /* in the ring */
  unsigned longest;        /* the largest n so far */
  unsigned givers, takers; /* that have joined and not left */
  struct bn_workqueue_part *idle;
};

enum bn_workqueue_answer { BN_WORKQUEUE_DONE, BN_WORKQUEUE_FULL, BN_WORKQUEUE_NOBODY };

void bn_workqueue_init(struct bn_workqueue *h);
void bn_workqueue_done(struct bn_workqueue *h);

/* Joins in this role.  Returns 0, or -1 and errno: there are too many descriptors. */
int bn_workqueue_join(struct bn_workqueue *h, struct bn_workqueue_part *p,
                      enum bn_workqueue_role role);
/* Leaves; does nothing for a part that has not joined. */
void bn_workqueue_leave(struct bn_workqueue *h, struct bn_workqueue_part *p);
/* Hands work over.  FULL: there is no room now.  NOBODY: no session takes it. */
enum bn_workqueue_answer bn_workqueue_give(struct bn_workqueue *h, const struct bn_work *work);
/* Waits for work and puts it into p->taken.  Returns false if there is none any more, if somebody
   has asked the run to stop, or if the session was interrupted. */
bool bn_workqueue_take(struct bn_workqueue *h, struct bn_workqueue_part *p,
                       const struct bn_session *s);
/* Returns the number of pieces that wait. */
unsigned bn_workqueue_left(struct bn_workqueue *h);
/* Returns the largest number of pieces that have waited. */
unsigned bn_workqueue_longest(struct bn_workqueue *h);

#endif
