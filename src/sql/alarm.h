/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts a connection at a given time, so that no call on it blocks for longer. */
#ifndef BN_SQL_ALARM_H
#define BN_SQL_ALARM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sql/session.h"

struct bn_sql_alarm {
  const struct bn_sql_link *link; /* borrowed */
  uint64_t at_ns;                 /* CLOCK_MONOTONIC */
  pthread_t thread;
  pthread_mutex_t lock; /* guards cleared */
  pthread_cond_t changed;
  bool cleared;
};

/* Between the two calls the link stays open and at its place.  0, or -1: there is no alarm, and
   nothing to clear. */
int bn_sql_alarm_set(struct bn_sql_alarm *a, const struct bn_sql_link *link, uint64_t at_ns);
/* After it the link is not interrupted any more. */
void bn_sql_alarm_clear(struct bn_sql_alarm *a);

#endif
