/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A driver's connection: made, opened, interrupted at a given time, closed.  A layer in front of
   the driver (sql/split.h, sql/commits.h) is put in place by replacing the functions and the handle
   of a link; its handle then owns the link as it was before. */
#ifndef BN_SQL_LINK_H
#define BN_SQL_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"

/* The code of this folder tests with `rc <= BN_SQL_ROWS` whether a call has succeeded. */
_Static_assert(BN_SQL_DONE == 0 && BN_SQL_ROWS == 1, "the two successes come first");

struct bn_sql_link {
  struct bn_sql_link *next; /* in its session's list, while it is open */
  const struct bn_driver *ops;
  void *self;                 /* the driver's */
  void *handle;               /* owned; the connection that is passed to ops */
  void (*free)(void *handle); /* a layer's; NULL: the handle is the driver's */
};

/* Makes a closed link to a driver. */
void bn_sql_link_make(struct bn_sql_link *l, const struct bn_driver *ops, void *self);
/* Frees a link that is closed, or zeroed memory. */
void bn_sql_link_free(struct bn_sql_link *l);
/* Opens the link until deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: never too late).  Returns the
   outcome of the driver's connect, with d after a failure.  The caller calls
   bn_sql_link_disconnect before the next attempt, also if this one has failed. */
enum bn_sql bn_sql_link_connect(struct bn_sql_link *l, const struct bn_sql_target *t,
                                uint64_t deadline_ns, struct bn_sql_diag *d);
/* Closes the link. */
void bn_sql_link_disconnect(struct bn_sql_link *l);
/* Executes a statement of the SQL layer itself, and frees its results.  Returns DONE, or a failure
   and d.  affected may be NULL; *affected becomes the number of rows that its first result has
   changed. */
enum bn_sql bn_sql_link_execute(const struct bn_sql_link *l, const char *sql, uint64_t *affected,
                                struct bn_sql_diag *d);
/* Returns whether the server carries out nothing more of the open transaction, as PostgreSQL after
   an error.  A driver that cannot tell has no such transaction. */
static inline bool bn_sql_link_is_aborted(const struct bn_sql_link *l)
{
  return l->ops->transaction != NULL && l->ops->transaction(l->handle) == BN_TRANSACTION_FAILED;
}

/* Interrupts a link at a given time, so that no call on it blocks for longer. */
struct bn_sql_alarm {
  const struct bn_sql_link *link; /* borrowed */
  uint64_t at_ns;                 /* CLOCK_MONOTONIC */
  pthread_t thread;
  pthread_mutex_t lock; /* guards cleared */
  pthread_cond_t changed;
  bool cleared;
};

/* Sets the alarm.  The link stays open, and where it is, until the alarm is cleared.  Returns 0, or
   -1 if the driver cannot interrupt or no thread can be started: then nothing is to be cleared. */
int bn_sql_alarm_set(struct bn_sql_alarm *a, const struct bn_sql_link *link, uint64_t at_ns);
/* Clears the alarm.  When it returns, the link is not interrupted any more. */
void bn_sql_alarm_clear(struct bn_sql_alarm *a);

#endif
