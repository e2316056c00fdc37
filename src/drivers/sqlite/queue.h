/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of one database file: the connections of this process get their turns first come, first
   served.  Each turn passes to the next one, and only its thread is woken. */
#ifndef BN_DRIVERS_SQLITE_QUEUE_H
#define BN_DRIVERS_SQLITE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

/* The lock that a connection holds, the weakest first.  In WAL mode readers need none; with the
   other journals they share, because a commit has to wait for them. */
enum bn_sqlite_hold { BN_SQLITE_NONE, BN_SQLITE_SHARED, BN_SQLITE_EXCLUSIVE };

/* A connection's place in the queue; its fields are guarded by the queue's mutex. */
struct bn_sqlite_turn {
  pthread_cond_t cond;
  struct bn_sqlite_turn *next; /* the next turn that waits, or that shares */
  pthread_t thread;            /* the thread that waits or shares */
  enum bn_sqlite_hold wants;   /* NONE: not waiting */
  bool granted;
  bool interrupted; /* stays true */
};

struct bn_sqlite_queue {
  pthread_mutex_t lock;
  struct bn_sqlite_turn *first, *last;
  struct bn_sqlite_turn *upgrader; /* holds SHARED and waits for EXCLUSIVE before all others */
  struct bn_sqlite_turn *sharing;  /* list of the turns that hold SHARED */
  unsigned sharers;
  bool busy; /* a turn holds EXCLUSIVE; its thread is `owner` */
  pthread_t owner;
};

enum bn_sqlite_wait {
  BN_SQLITE_GRANTED,
  BN_SQLITE_INTERRUPTED,
  BN_SQLITE_CONFLICT, /* two sharers want to write: the caller has to start its transaction again */
  BN_SQLITE_OWN /* another connection of the same thread holds the lock: waiting would never end */
};

void bn_sqlite_queue_init(struct bn_sqlite_queue *q);
/* No turn may wait or hold a lock any more. */
void bn_sqlite_queue_destroy(struct bn_sqlite_queue *q);
void bn_sqlite_turn_init(struct bn_sqlite_turn *t);
void bn_sqlite_turn_destroy(struct bn_sqlite_turn *t);

/* Waits for a turn to hold `wants`, SHARED or EXCLUSIVE.  The caller holds NONE, and still does if
   the answer is not GRANTED. */
enum bn_sqlite_wait bn_sqlite_queue_enter(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t,
                                          enum bn_sqlite_hold wants);
/* Waits to change SHARED to EXCLUSIVE.  If the answer is not GRANTED, SHARED is still held. */
enum bn_sqlite_wait bn_sqlite_queue_upgrade(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t);
/* Ends a turn that holds `held`, and lets others have theirs. */
void bn_sqlite_queue_leave(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t,
                           enum bn_sqlite_hold held);
/* Ends the present wait and all later waits with this turn.  Any thread may call it. */
void bn_sqlite_queue_interrupt(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t);

#endif
