/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before a run: does the server allow as many connections and statements as the run needs?  This
   judges what the server said; whoever opens connections asks and acts. */
#ifndef BN_SQL_PREFLIGHT_H
#define BN_SQL_PREFLIGHT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "sql/sql.h"

/* One for the process; its lock is taken first, and held while the first connects. */
struct bn_sql_preflight {
  pthread_mutex_t lock;
  bool all_connect; /* every thread of the run opens a connection */
  /* Written with the lock held, once; who has been admitted reads them without it. */
  bool first_came, asked, refused, statements_judged;
  enum bn_sql_rest rest; /* what has been judged */
  struct bn_sql_info info;
};

void bn_sql_preflight_init(struct bn_sql_preflight *p); /* of zeroed memory */
void bn_sql_preflight_done(struct bn_sql_preflight *p);

/* Whether a connection that s opens now is part of the start of many threads. */
bool bn_sql_preflight_due(const struct bn_session *s);
/* Such a session waits for its turn.  true: it is the first, and the others wait until it unlocks.
 */
bool bn_sql_preflight_enter(struct bn_sql_preflight *p);
void bn_sql_preflight_lock(struct bn_sql_preflight *p);
void bn_sql_preflight_unlock(struct bn_sql_preflight *p);

/* With the lock held: what the server said; `ours` of the statements in use are of this run. */
void bn_sql_preflight_learn(struct bn_sql_preflight *p, const struct bn_sql_info *info,
                            int64_t ours);
/* With the lock held: judges the connections that s's run opens, on standard error. */
void bn_sql_preflight_connections(struct bn_sql_preflight *p, const struct bn_session *s);
/* Who has been admitted is about to prepare statement number n of each thread, and all are wanted:
   true if the server refuses that many, so that it waits until it is executed and the script can
   say before how many it needs. */
bool bn_sql_preflight_defers(const struct bn_sql_preflight *p, const struct bn_session *s,
                             unsigned n);

/* Of statements that every thread prepares: at its start, and at most. */
struct bn_sql_expected {
  uint64_t at_start, in_all;
  enum bn_sql_prepare_way way;
  uint64_t spent_ns; /* by the session that asks, for those at its start */
};

/* What statements that are prepared before the first event would cost. */
struct bn_sql_cost {
  int64_t all;      /* of all sessions */
  int64_t here;     /* of those that share a server */
  int64_t left;     /* that the server allows and nobody uses; -1: without limit */
  uint64_t rest_ns; /* a session needs about so long for those it has not prepared */
  uint64_t most_ns; /* longer is too long */
};

enum bn_sql_excess { BN_EXCESS_NONE, BN_EXCESS_NUMBER, BN_EXCESS_SHARE, BN_EXCESS_TIME };

/* Why `auto` does not prepare them all: more than BN_SQL_EAGER_MAX, more than half of what is left,
   too long. */
enum bn_sql_excess bn_sql_preflight_excess(const struct bn_sql_cost *cost);
enum { BN_SQL_EAGER_MAX = 50000 };

/* With the lock held: whether the server is to be asked before they are judged. */
bool bn_sql_preflight_asks(const struct bn_sql_preflight *p, const struct bn_session *s,
                           const struct bn_sql_expected *e);
/* With the lock held, judged once, with what a user should know on standard error. */
enum bn_sql_rest bn_sql_preflight_statements(struct bn_sql_preflight *p, const struct bn_session *s,
                                             const struct bn_sql_expected *e);

/* Whether it was judged that statements are prepared when they are first used.  Any thread. */
bool bn_sql_preflight_is_lazy(struct bn_sql_preflight *p);

/* A thread of the run before its loop, which is what all this is about, or after it. */
bool bn_sql_preflight_is_worker(const struct bn_session *s);

#endif
