/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A driver's connection: made, opened, interrupted at a given time, closed.  A layer that stands in
   front of the driver (sql/split.h, sql/commits.h) is put in place by exchanging the functions and
   the handle of a link; its handle owns the link that it has replaced. */
#ifndef BN_SQL_LINK_H
#define BN_SQL_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"

/* This layer asks by `rc <= BN_SQL_ROWS` whether a call has succeeded. */
_Static_assert(BN_SQL_DONE == 0 && BN_SQL_ROWS == 1, "the two successes come first");

struct bn_sql_link {
  struct bn_sql_link *next; /* in its session's list, as long as it is open */
  const struct bn_driver *ops;
  void *self;                 /* the driver's */
  void *handle;               /* owned; what ops take as their connection */
  void (*free)(void *handle); /* a layer's; NULL: the handle is the driver's */
};

/* Makes a closed link to a driver. */
void bn_sql_link_make(struct bn_sql_link *l, const struct bn_driver *ops, void *self);
/* Frees a link that is closed, or zeroed memory. */
void bn_sql_link_free(struct bn_sql_link *l);
/* Opens the link, with the outcome of the driver's connect.  Disconnect is called before the next
   attempt, also if this one has failed. */
enum bn_sql bn_sql_link_connect(struct bn_sql_link *l, const struct bn_sql_target *t,
                                uint64_t deadline_ns, struct bn_sql_diag *d);
/* Closes the link. */
void bn_sql_link_disconnect(struct bn_sql_link *l);
/* Executes a statement of the SQL layer's own, and frees its results.  Returns DONE, or how it
   failed, with d.  *affected gets the rows that its first result has changed; it may be NULL. */
enum bn_sql bn_sql_link_execute(const struct bn_sql_link *l, const char *sql, uint64_t *affected,
                                struct bn_sql_diag *d);

/* Interrupts a link at a given time, so that no call on it blocks for longer. */
struct bn_sql_alarm {
  const struct bn_sql_link *link; /* borrowed */
  uint64_t at_ns;                 /* CLOCK_MONOTONIC */
  pthread_t thread;
  pthread_mutex_t lock; /* guards cleared */
  pthread_cond_t changed;
  bool cleared;
};

/* Sets the alarm.  The caller keeps the link open, and does not move it, until the alarm is
   cleared.  Returns 0, or -1 if the driver cannot interrupt or no thread can be started: then there
   is no alarm to be cleared. */
int bn_sql_alarm_set(struct bn_sql_alarm *a, const struct bn_sql_link *link, uint64_t at_ns);
/* Clears the alarm: the link is not interrupted any more. */
void bn_sql_alarm_clear(struct bn_sql_alarm *a);

#endif
