/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --verify-commits, while events run: each transaction that writes also adds 1 to a row of a table
   that bench has made, and this layer counts the commits that the server acknowledges.

   A row belongs to one connection.  Since each transaction that is stored has added 1 to it, the
   number in the row is that of the stored commits:

     acknowledged = stored + missing
     acknowledged = stored - 1, if the outcome of the last commit is unknown and it is stored

   A connection whose last outcome is unknown gets a new row: otherwise such a commit, if it is
   stored, would hide that another one is missing. */
#ifndef BN_SQL_COMMITS_H
#define BN_SQL_COMMITS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "sql/link.h"
#include "sql/trace.h"

/* A row of the table.  Its only writer is the session's worker; readers may come at any time. */
struct bn_sql_commit_row {
  struct bn_sql_commit_row *next; /* the next older row; NULL: there is none */
  uint64_t id;                    /* 1, 2, … */
  _Atomic uint64_t acknowledged;
  _Atomic bool pending; /* a commit was sent, and it is not known what became of it */
};

/* Bytes for the name of the table, with its final 0. */
enum { BN_SQL_COMMITS_NAME = 32 };

/* The rows of the process, which verify.c has.  They are only added, and stay where they are until
   its end. */
struct bn_sql_ledger {
  pthread_mutex_t lock; /* guards the list */
  struct bn_sql_commit_row *newest;
  char table[BN_SQL_COMMITS_NAME]; /* constant once there are rows */
};

/* The part of the layer that all connections share. */
struct bn_sql_committer {
  struct bn_driver ops;           /* of the layer */
  struct bn_sql_ledger *ledger;   /* borrowed, as the members after it */
  struct bn_sql_trace *trace;     /* shows the layer's own statements too */
  const struct bn_driver *driver; /* tells classes of failures apart */
  const struct bn_sql_caps *caps; /* the driver's */
};

/* Sets committer->ops to the functions of a layer in front of `below`, a driver or another layer.
   The other members are set before. */
void bn_sql_committer_init(struct bn_sql_committer *committer, const struct bn_driver *below);
/* Puts the layer in the place of a closed link, which it owns from then on.  It verifies what s
   executes: a transaction that has written first adds 1 to its connection's row, and a single
   statement that writes by itself is put into a transaction of its own for that.  What fails there
   counts as the failure of the COMMIT or of the statement.  Returns the replaced link, which is
   valid until `link` is freed. */
const struct bn_sql_link *bn_sql_commits_wrap(struct bn_sql_link *link,
                                              const struct bn_sql_committer *committer,
                                              const struct bn_session *s);

#endif
