/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done about a failure: a decision from what the driver said and what was asked for.  It
   changes nothing and calls nobody; whoever has the connection acts on it. */
#ifndef BN_SQL_RECOVER_H
#define BN_SQL_RECOVER_H

#include <stdbool.h>

#include "api/driver.h"
#include "sql/errors.h"

enum bn_sql_action {
  BN_SQL_IGNORE,    /* the script repeats its event */
  BN_SQL_RETRY,     /* what failed is tried again, without the script */
  BN_SQL_RECONNECT, /* a new connection is made, then as IGNORE, even if it cannot be made */
  BN_SQL_FAIL,      /* the failure is told and the script's event fails */
  BN_SQL_ASK,       /* the script says whether it is to be ignored: undecided until then */
  BN_SQL_LEAVE      /* the session was interrupted: nothing is told, nothing is counted */
};

/* What a script answered. */
enum bn_sql_answer { BN_ANSWER_NONE, BN_ANSWER_IGNORE, BN_ANSWER_FAIL };

struct bn_sql_failing {
  enum bn_sql_step step;
  const struct bn_sql_diag *diag;
  enum bn_sql_class class;
  const struct bn_sql_errors *listed[2]; /* --db-ignore-errors and the driver's own; NULL: none */
  bool lost;                             /* the connection is */
  bool again;       /* a failed PREPARE or BIND: a new connection has been made since */
  bool once;        /* bulk inserts: no event is repeated, so nothing is ignored */
  bool asks;        /* the script wants to be asked */
  bool interrupted; /* the session is */
  bool over;        /* nothing may begin any more, or CONNECT was tried for long enough */
  bool untold;      /* dialect 0.5: what fails for good is not counted */
  enum bn_sql_answer answer;
  unsigned tries; /* CONNECT: failed attempts before this one */
};

struct bn_sql_recovery {
  enum bn_sql_action action;
  bool roll_back;   /* IGNORE: the transaction is open and has to go before the event is repeated */
  bool counts;      /* as an error; RECONNECT: if no connection can be made */
  unsigned wait_ms; /* RETRY: not before */
};

struct bn_sql_recovery bn_sql_recover(const struct bn_sql_failing *f);

#endif
