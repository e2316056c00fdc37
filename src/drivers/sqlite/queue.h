/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of one database file: the connections of this process get their turn first come, first
   served, handed from one to the next, which is the only one to be woken. */
#ifndef BN_DRIVERS_SQLITE_QUEUE_H
#define BN_DRIVERS_SQLITE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

/* What a connection holds.  In WAL mode readers need nothing; with the other journals they share,
   because a commit has to wait for them. */
enum bn_sqlite_hold { BN_SQLITE_NONE, BN_SQLITE_SHARED, BN_SQLITE_EXCLUSIVE };

/* A connection's place in the queue; its fields are guarded by the queue's mutex. */
struct bn_sqlite_turn {
  pthread_cond_t cond;
  struct bn_sqlite_turn *next; /* that waits, or that shares */
  pthread_t thread;            /* that waits or shares */
  enum bn_sqlite_hold wants;   /* NONE: not waiting */
  bool granted;
  bool interrupted; /* for good */
};

struct bn_sqlite_queue {
  pthread_mutex_t lock;
  struct bn_sqlite_turn *first, *last;
  struct bn_sqlite_turn *upgrader; /* holds SHARED and waits for EXCLUSIVE, before all others */
  struct bn_sqlite_turn *sharing;  /* those that hold SHARED */
  unsigned sharers;
  bool busy; /* somebody holds EXCLUSIVE */
  pthread_t owner;
};

enum bn_sqlite_wait {
  BN_SQLITE_GRANTED,
  BN_SQLITE_INTERRUPTED,
  BN_SQLITE_CONFLICT, /* two sharers want to write: this one has to start again */
  BN_SQLITE_OWN       /* another connection of the same thread holds it: waiting would never end */
};

void bn_sqlite_queue_init(struct bn_sqlite_queue *q);
void bn_sqlite_queue_destroy(struct bn_sqlite_queue *q);
void bn_sqlite_turn_init(struct bn_sqlite_turn *t);
void bn_sqlite_turn_destroy(struct bn_sqlite_turn *t);

/* From holding NONE. */
enum bn_sqlite_wait bn_sqlite_queue_enter(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t,
                                          enum bn_sqlite_hold wants);
/* From SHARED to EXCLUSIVE; SHARED is still held when that fails. */
enum bn_sqlite_wait bn_sqlite_queue_upgrade(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t);
void bn_sqlite_queue_leave(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t,
                           enum bn_sqlite_hold held);
/* From any thread: whoever waits with this turn, now or later, waits no longer. */
void bn_sqlite_queue_interrupt(struct bn_sqlite_queue *q, struct bn_sqlite_turn *t);

#endif
