/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before a run: does the server allow as many connections and statements as the run needs?  These
   functions judge the server's answer; conn.c, which opens connections, asks the server and acts on
   the judgement. */
#ifndef BN_SQL_PREFLIGHT_H
#define BN_SQL_PREFLIGHT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "sql/sql.h"

/* The judgement, one for the process.  Its lock is taken first, and held while the first session
   connects. */
struct bn_sql_preflight {
  pthread_mutex_t lock;
  bool all_connect; /* every thread of the run opens a connection */
  /* Written once, with the lock held; a session that has held the lock since reads them without
     it. */
  bool first_came, asked, refused, statements_judged;
  enum bn_sql_rest rest; /* the judgement, once statements_judged is true */
  struct bn_sql_info info;
  size_t places; /* how many servers the connections take in turn */
};

void bn_sql_preflight_init(struct bn_sql_preflight *p); /* of zeroed memory */
void bn_sql_preflight_done(struct bn_sql_preflight *p);

/* Returns whether s is starting in a run with so many threads that the server is asked. */
bool bn_sql_preflight_is_due(const struct bn_session *s);
/* Returns true, with the lock held, to the first session that calls it.  Any other session waits
   until the first one unlocks, unless both share a worker, and gets false, without the lock. */
bool bn_sql_preflight_enter(struct bn_sql_preflight *p);
/* Locks.  Returns false, without the lock, if another session of the same worker holds it and waits
   for the server: this session cannot wait for the lock, because both have one thread. */
bool bn_sql_preflight_lock(struct bn_sql_preflight *p);
void bn_sql_preflight_unlock(struct bn_sql_preflight *p);

/* Keeps the answer of one of `places` servers.  `ours` is the number of statements that this run
   has prepared on all of them, which are not counted as those of other clients.  The caller holds
   the lock. */
void bn_sql_preflight_note_limits(struct bn_sql_preflight *p, const struct bn_sql_info *info,
                                  size_t places, int64_t ours);
/* Judges whether the server lets the run of s open its connections.  Says on standard error if it
   does not, or may not, and sets p->refused if it surely does not.  The caller holds the lock. */
void bn_sql_preflight_judge_connections(struct bn_sql_preflight *p, const struct bn_session *s);
/* Returns whether statement number n of each thread waits until it is executed, because the server
   does not allow n statements of all threads.  The script may still say how many it needs, and is
   then refused (bn_sql_preflight_judge_statements). */
bool bn_sql_preflight_defers(const struct bn_sql_preflight *p, const struct bn_session *s,
                             unsigned n);

/* The statements that every thread prepares. */
struct bn_sql_expected {
  uint64_t at_start, in_all; /* in_all: the most that it uses, those at its start included */
  enum bn_sql_prepare_way way;
  uint64_t spent_ns; /* the time that the calling session has needed for those at its start */
};

/* The cost of statements that are prepared before the first event. */
struct bn_sql_cost {
  int64_t all;       /* statements of all sessions */
  int64_t on_server; /* statements of the sessions that share a server */
  int64_t unused;    /* statements that the server still allows; -1: without limit */
  uint64_t rest_ns;  /* estimated time of a session for the statements it has not prepared */
  uint64_t most_ns;  /* the longest acceptable time */
};

enum bn_sql_excess { BN_EXCESS_NONE, BN_EXCESS_NUMBER, BN_EXCESS_SHARE, BN_EXCESS_TIME };

/* Returns why --db-prepare=auto does not prepare all statements before the events: their number is
   more than BN_SQL_EAGER_MAX, or more than half of the unused ones, or they take too long. */
enum bn_sql_excess bn_sql_preflight_find_excess(const struct bn_sql_cost *cost);
enum { BN_SQL_EAGER_MAX = 50000 };

/* Returns whether the server is to be asked before the statements are judged: it was not asked
   before, and they are so many that it may refuse them.  The caller holds the lock. */
bool bn_sql_preflight_wants_limits(const struct bn_sql_preflight *p, const struct bn_session *s,
                                   const struct bn_sql_expected *e);
/* Judges once, at the first call, when the statements that the script does not prepare at its start
   are prepared, and says on standard error what a user should know.  Returns the judgement.  The
   caller holds the lock. */
enum bn_sql_rest bn_sql_preflight_judge_statements(struct bn_sql_preflight *p,
                                                   const struct bn_session *s,
                                                   const struct bn_sql_expected *e);

/* Returns whether the judgement was that statements are prepared when they are first used.  Any
   thread may call it. */
bool bn_sql_preflight_is_lazy(struct bn_sql_preflight *p);

/* Returns whether the session is that of a run's worker, before or after the loop of its events. */
bool bn_sql_preflight_is_worker(const struct bn_session *s);

#endif
