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

/* The largest number of pieces of work that wait. */
enum { BN_WORKQUEUE_ROOM = 1024 };

/* A piece of work: two numbers, and when it was handed over (CLOCK_MONOTONIC). */
struct bn_work {
  uint64_t at_ns;
  double value[2];
};

enum bn_workqueue_role { BN_WORKQUEUE_NONE, BN_WORKQUEUE_GIVES, BN_WORKQUEUE_TAKES };

/* The part of a session in the queue; all zero before the session joins. */
struct bn_workqueue_part {
  enum bn_workqueue_role role;
  int wake_fd;                    /* an eventfd of a TAKES, readable when its wait is over */
  bool idle;                      /* it waits for work, and is in the queue's list of such parts */
  struct bn_workqueue_part *next; /* in that list */
  struct bn_work taken;           /* the work that the session took last */
};

struct bn_workqueue {
  pthread_mutex_t lock;
  struct bn_work *ring;           /* owned; NULL: nobody takes */
  unsigned first, n;              /* pieces of work in the ring: place of the first, number */
  unsigned longest;               /* the largest n so far */
  unsigned givers, takers;        /* that have joined and not left */
  struct bn_workqueue_part *idle; /* list of the parts that wait, the longest first */
};

enum bn_workqueue_answer { BN_WORKQUEUE_DONE, BN_WORKQUEUE_FULL, BN_WORKQUEUE_NOBODY };

void bn_workqueue_init(struct bn_workqueue *q);
void bn_workqueue_done(struct bn_workqueue *q);

/* Lets the session of the part give or take work, as `role` says.  Returns 0, or -1 and errno if
   the process has too many descriptors. */
int bn_workqueue_join(struct bn_workqueue *q, struct bn_workqueue_part *p,
                      enum bn_workqueue_role role);
/* Ends what bn_workqueue_join has begun; does nothing for a part that has not joined.  When the
   last session that gives leaves, all that wait for work go on. */
void bn_workqueue_leave(struct bn_workqueue *q, struct bn_workqueue_part *p);
/* Puts work into the queue.  Returns DONE, or FULL if there is no room now, or NOBODY if no session
   takes work. */
enum bn_workqueue_answer bn_workqueue_give(struct bn_workqueue *q, const struct bn_work *work);
/* Waits for work and moves it into p->taken.  Returns false if no more work will come, if somebody
   has asked the run to stop, or if the session was interrupted. */
bool bn_workqueue_take(struct bn_workqueue *q, struct bn_workqueue_part *p,
                       const struct bn_session *s);
/* Returns the number of pieces that wait. */
unsigned bn_workqueue_count(struct bn_workqueue *q);
/* Returns the largest number of pieces that have waited. */
unsigned bn_workqueue_longest(struct bn_workqueue *q);

#endif
