/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events in which a statement was prepared because it was used for the first time: how many. */
#ifndef BN_SQL_LAZY_PREPARE_H
#define BN_SQL_LAZY_PREPARE_H

#include <stdatomic.h>
#include <stdint.h>

#include "api/session.h"

/* A session's own. */
struct bn_sql_lazy_prepare {
  uint64_t event; /* number of the last one of those */
  uint64_t paid;  /* measured events */
};

/* Of the sessions that have ended. */
struct bn_sql_first_uses {
  _Atomic uint64_t paid, events;
};

/* A statement is being prepared.  Counts if it is in an event that is measured. */
void bn_sql_lazy_prepare_note(struct bn_sql_lazy_prepare *u, const struct bn_session *s);
/* The session's worker has left its loop. */
void bn_sql_lazy_prepare_add(struct bn_sql_first_uses *all, const struct bn_sql_lazy_prepare *u,
                             struct bn_session *s);
/* Says on standard error which share of the events it was, unless it was none. */
void bn_sql_lazy_prepare_tell(const struct bn_sql_first_uses *all);

#endif
