/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A database driver in the test's hands: it answers as told and notes what it was asked. */
#ifndef BN_TESTS_SQLFAKE_H
#define BN_TESTS_SQLFAKE_H

#include <stdbool.h>
#include <stdio.h>

#include "api/session.h"
#include "measure/stat.h"
#include "option/conf.h"
#include "sql/sql.h"

struct fake_answer {
  enum bn_sql rc;
  uint64_t nrows, affected;
  bool more, dry;
  int code;
  const char *state;
  bool rolled_back;
  const char *const (*cell)[2]; /* of each row; NULL: "x" and NULL */
};

enum { FAKE_MAX = 64 };

struct fake {
  struct fake_answer answer[FAKE_MAX]; /* to the next statements; then DONE, nothing affected */
  size_t n_answers, next_answer;
  unsigned refuse_connect; /* so many attempts fail */
  bool silent;             /* those fail at their deadline */
  unsigned refuse_prepare; /* so many fail with LOST */
  unsigned spare_prepare;  /* behind so many that do not */
  unsigned frozen;         /* bit per server: one that never answers */
  double login_s;          /* an attempt to connect takes as long */
  double least_s;          /* and one to a frozen server at least so long, whatever is left */
  unsigned places;         /* servers, of which the ordinal selects one; 0: one */
  bool refuse_thread;      /* thread_init fails */
  bool cannot_prepare;     /* asks for emulation */
  bool full;               /* the same, as it allows no more statements */
  size_t together;         /* so many at most are prepared at once */
  unsigned lost_together;  /* that attempt to do so is LOST, from 1; 0: none */
  bool cut;                /* behind the rows of each result, there is one that cannot be read */
  bool miscount;           /* says so of a wrong number of values, else it is an error */
  struct fake_answer load; /* to every load_end; rc 0: DONE */
  struct bn_sql_caps caps;
  /* Changes the answer of a server to a query; NULL: nobody does. */
  void (*tell)(unsigned place, const char *sql, struct fake_answer *a);
  const char *const (*cell)[2]; /* of the rows that are to be fetched */
  char log[8192];               /* "connect;query SELECT 1;…" */
  unsigned connects, disconnects, interrupts, queries;
  bool elsewhere; /* what the last attempt to connect was told */
  uint64_t began_ns[FAKE_MAX], deadline_ns[FAKE_MAX]; /* of attempts to connect */
};

extern struct fake fake;

/* A session without a run, whose services are the test's, and the fake driver in it. */
struct fixture {
  struct bn_conf conf;
  struct bn_sql_conf sql_conf;
  struct bn_sql_driver_entry row;
  const struct bn_driver *ops; /* the driver; NULL: the fake one */
  char *ignored;               /* the one item in the list of the driver's option; NULL: none */
  struct bn_limit limit;       /* 0: the run is over */
  struct bn_services services;
  struct bn_statset stats;
  struct bn_clock clock;
  struct bn_session session, *s;
  enum bn_kind kind; /* as the SQL layer has said */
  unsigned failed;   /* how often it has ended the run */
  struct bn_sqlsys *sys;
  struct bn_sql_driver *drv;
};

void fixture_open(struct fixture *f, enum bn_version version);
/* The same with options that the caller has set in f->sql_conf and f->ignored. */
void fixture_open_with(struct fixture *f, enum bn_version version);
/* The same, with a connection whose driver ignores one error: "1213". */
struct bn_sql_conn *fixture_ignoring(struct fixture *f, char *ignored);
void fixture_close(struct fixture *f);
uint64_t counted(const struct fixture *f, unsigned counter);
/* Adds an answer to the plan. */
void plan(struct fake_answer a);

/* Standard output goes to a file until the end, which returns what it was (valid until the
   next). */
void capture_begin(void);
const char *capture_end(void);

#endif
