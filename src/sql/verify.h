/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --verify-commits, before and after the events: the table of the rows that commits.h counts in. */
#ifndef BN_SQL_VERIFY_H
#define BN_SQL_VERIFY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "sql/commits.h"

/* The counts of the commits of a run. */
struct bn_sql_commit_counts {
  uint64_t acknowledged, missing;
  uint64_t unknown, unknown_stored; /* stored: those of them that are */
};

/* A row of commits as this run knows it, and as a server has it. */
struct bn_sql_known_row {
  uint64_t acknowledged, stored;
  bool pending;
};

/* A driver whose commits are verified. */
struct bn_sql_verified {
  const struct bn_driver *ops;
  void *self;
  const struct bn_sql_caps *caps;
  struct bn_sql_trace *trace;
  bool prepared; /* the run makes no database */
};

/* The verification, one for the process.  It verifies the driver that is used first. */
struct bn_sql_verify {
  pthread_mutex_t lock; /* held while the first connection of a run makes the table */
  bool tried, made;     /* with the lock held; made is constant once a connection has been opened */
  struct bn_sql_verified drv;       /* whose servers have it */
  struct bn_sql_ledger ledger;      /* what has been acknowledged */
  struct bn_sql_committer layer;    /* of the connections to that driver */
  const struct bn_session *session; /* which waits for servers, and hurries when the run is stopped;
                                       NULL: none */
  uint64_t until_ns;                /* no server is asked after it */
  uint64_t login_ns;                /* the longest that a server took to let us in */
  unsigned good;                    /* the server that has answered last; it is asked first */
  struct bn_sql_commit_counts counts;
};

void bn_sql_verify_init(struct bn_sql_verify *v); /* of zeroed memory */
void bn_sql_verify_done(struct bn_sql_verify *v);

/* Returns the layer that connections of s to drv put before `below`, which is the same at each
   call; the first call makes the table, while the others wait.  NULL: it cannot be made, which has
   been logged, or drv is another driver. */
const struct bn_sql_committer *bn_sql_verify_start(struct bn_sql_verify *v,
                                                   const struct bn_sql_verified *drv,
                                                   const struct bn_driver *below,
                                                   const struct bn_session *s);
/* Compares and drops the table as bn_sqlsys_verify, if it was made.  The main thread, which has
   started the driver, calls it. */
int bn_sql_verify_end(struct bn_sql_verify *v, const struct bn_session *main, struct bn_err *err);
/* Stops the making of tables.  Returns true if there is a table, which is to be dropped. */
bool bn_sql_verify_cancel(struct bn_sql_verify *v);
void bn_sql_verify_drop(struct bn_sql_verify *v, const struct bn_session *main);
/* Says that the table stays, how to remove it, and why, also in a dialect. */
void bn_sql_verify_leave(const struct bn_sql_verify *v, const char *why);

/* Sets known[1] to known[n], where n is the id of the newest row, with nothing stored.  Sessions
   may commit all the time.  So it comes before a server is asked: what is acknowledged later may
   not be stored yet when the server answers. */
void bn_sql_verify_take(const struct bn_sql_row_of_commits *newest, struct bn_sql_known_row *known);
/* Adds up known[1] to known[n].  Pure. */
struct bn_sql_commit_counts bn_sql_verify_compare(const struct bn_sql_known_row *known, uint64_t n);

#endif
