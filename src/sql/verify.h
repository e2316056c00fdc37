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
  uint64_t acknowledged, missing;   /* missing: acknowledged, but no server has them */
  uint64_t unknown, unknown_stored; /* the outcome is unknown; how many of these are stored */
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
  bool prepared; /* the run creates no database (struct bn_sql_target) */
};

/* The verification, one for the process.  It verifies the driver that is used first. */
struct bn_sql_verify {
  pthread_mutex_t lock; /* held while the first connection of a run makes the table */
  bool tried, made;     /* with the lock held; made is constant once a connection has been opened */
  struct bn_sql_verified drv;       /* the driver whose servers have the table */
  struct bn_sql_ledger ledger;      /* the commits that were acknowledged */
  struct bn_sql_committer layer;    /* of the connections to that driver */
  const struct bn_session *session; /* waits for servers, and hurries when the run is stopped; NULL:
                                       none */
  uint64_t until_ns;      /* the end of the present work, after which no server is asked */
  uint64_t login_ns;      /* the longest time that a server took to let us in */
  unsigned last_answered; /* the server that has answered last; it is asked first */
  struct bn_sql_commit_counts counts;
};

void bn_sql_verify_init(struct bn_sql_verify *v); /* of zeroed memory */
void bn_sql_verify_done(struct bn_sql_verify *v);

/* Returns the layer that connections of s to drv put in front of `below`, which is the same at each
   call.  The first call makes the table, while other threads wait.  Returns NULL if the table
   cannot be made or is that of another driver, which has been logged. */
const struct bn_sql_committer *bn_sql_verify_start(struct bn_sql_verify *v,
                                                   const struct bn_sql_verified *drv,
                                                   const struct bn_driver *below,
                                                   const struct bn_session *s);
/* Compares the table, which was made, and drops it, as bn_sqlsys_verify says.  The main thread,
   which has started the driver, calls it. */
int bn_sql_verify_end(struct bn_sql_verify *v, const struct bn_session *main, struct bn_err *err);
/* From this call on, no table is made.  Returns true if there is one, which the caller drops.  A
   table that is being made at this moment is left, which standard error says.  The main thread
   calls it, and it does not wait. */
bool bn_sql_verify_cancel(struct bn_sql_verify *v);
/* Drops the table, or says on standard error that it is left.  The main thread calls it. */
void bn_sql_verify_drop(struct bn_sql_verify *v, const struct bn_session *main);
/* Says on standard error, also in a dialect, that the table is left, and how to remove it: its name
   is shown nowhere else.  `why` is the reason, which may quote a server, or "". */
void bn_sql_verify_log_left_table(const struct bn_sql_verify *v, const char *why);

/* Sets known[1] to known[n], where n is the id of the newest row, to the acknowledged and pending
   commits of the rows, with nothing stored.  It is called before a server is asked, because
   sessions may go on committing: the server's answer may lack a commit that is acknowledged
   later. */
void bn_sql_verify_snapshot_rows(const struct bn_sql_commit_row *newest,
                                 struct bn_sql_known_row *known);
/* Returns the sums over known[1] to known[n].  Pure. */
struct bn_sql_commit_counts bn_sql_verify_compare(const struct bn_sql_known_row *known, uint64_t n);

#endif
