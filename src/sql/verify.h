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

struct bn_sql_driver;

/* What is known of the commits of a run. */
struct bn_sql_commit_counts {
  uint64_t acknowledged, missing;
  uint64_t unknown, unknown_stored; /* stored: those of them that are */
};

/* What is known of a row of commits, and what a server has of it. */
struct bn_sql_known_row {
  uint64_t acknowledged, stored;
  bool pending;
};

/* One for the process.  It verifies the driver that is used first. */
struct bn_sql_verify {
  pthread_mutex_t lock; /* held while the first connection of a run makes the table */
  bool tried, made;     /* with the lock held; made is constant once a connection has been opened */
  struct bn_sql_driver *drv;        /* whose servers have it */
  struct bn_driver ops;             /* of its connections, verifying */
  const struct bn_session *session; /* which waits for servers, and hurries when the run is stopped;
                                       NULL: none */
  uint64_t until_ns;                /* no server is asked after it */
  uint64_t login_ns;                /* the longest that a server took to let us in */
  unsigned good;                    /* the server that has answered last; it is asked first */
  struct bn_sql_commit_counts counts;
};

void bn_sql_verify_init(struct bn_sql_verify *v); /* of zeroed memory */
void bn_sql_verify_done(struct bn_sql_verify *v);

/* What connections of s to drv use instead of `below`, which is the same at each call; the first
   call makes the table, while the others wait.  NULL: it cannot be made, which has been logged, or
   drv is another driver. */
const struct bn_driver *bn_sql_verify_ops(struct bn_sql_driver *drv, const struct bn_driver *below,
                                          const struct bn_session *s);

/* Sets known[1] to known[n], where n is the id of the newest row, with nothing stored.  Sessions
   may commit all the time.  So it comes before a server is asked: what is acknowledged later may
   not be stored yet when the server answers. */
void bn_sql_verify_take(const struct bn_sql_row_of_commits *newest, struct bn_sql_known_row *known);
/* Pure: adds up known[1] to known[n]. */
struct bn_sql_commit_counts bn_sql_verify_compare(const struct bn_sql_known_row *known, uint64_t n);

#endif
