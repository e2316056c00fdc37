/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decision about a failure, from what the driver said and what was asked for.  It changes
   nothing and calls nobody; the code that has the connection acts on it.  Also the failure that a
   script is asked about. */
#ifndef BN_SQL_RECOVER_H
#define BN_SQL_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"
#include "sql/errors.h"

enum bn_sql_action {
  BN_SQL_IGNORE,    /* the script repeats its event */
  BN_SQL_RETRY,     /* what failed is tried again, without the script */
  BN_SQL_RECONNECT, /* a new connection is made, to the next server if there are several; then the
                       script repeats its event, even if none could be made.  Whoever makes it
                       waits first, as for CONNECT, if the lost connection was of no use */
  BN_SQL_FAIL,      /* the failure is logged and the script's event fails */
  BN_SQL_ASK,       /* the script says whether it is to be ignored: undecided until then */
  BN_SQL_LEAVE      /* the session was interrupted: nothing is logged, nothing is counted */
};

/* The answer of a script. */
enum bn_sql_answer { BN_ANSWER_NONE, BN_ANSWER_IGNORE, BN_ANSWER_FAIL };

/* All that the decision about a failure depends on. */
struct bn_sql_failing {
  enum bn_sql_step step;
  const struct bn_sql_diag *diag;
  enum bn_sql_class class;
  const struct bn_sql_errors *listed[2]; /* --db-ignore-errors and the driver's own; NULL: none */
  bool lost;                             /* the connection was lost */
  bool again;       /* a failed PREPARE or BIND: a new connection has been made since */
  bool once;        /* bulk inserts: no event is repeated, so nothing is ignored */
  bool asks;        /* the script wants to be asked */
  bool interrupted; /* the session was interrupted */
  bool all_count;   /* a PREPARE or BIND that fails counts as an execution does */
  bool over;        /* nothing may begin any more, or CONNECT was tried for long enough */
  bool untold;      /* dialect 0.5: what fails for good is not counted */
  bool aborted;     /* the server refuses the statement because of an error before it, which was
                       ignored and which the script has caught: only that one is counted */
  enum bn_sql_answer answer;
  unsigned tries;  /* CONNECT: failed attempts before this one */
  unsigned places; /* servers that are tried in turn; 0 is as 1 */
  bool moves;      /* a new connection to the same address may reach another server */
};

/* The decision about a failure. */
struct bn_sql_recovery {
  enum bn_sql_action action;
  bool roll_back;   /* IGNORE: the transaction may be open and has to go before the event is
                       repeated, but not earlier: the script may catch the error and go on */
  bool counts;      /* as an error; RECONNECT: if no connection can be made */
  unsigned wait_ms; /* RETRY: not before */
};

/* Decides about a failure.  Pure. */
struct bn_sql_recovery bn_sql_choose_recovery(const struct bn_sql_failing *f);

/* The decision about an event that an ignored error has ended for the tries-th time.  The first
   repetition begins at once, because most conflicts are over then.  Before the others is a wait of
   up to 1, 2, 4, … 250 ms, of which the second half is left to chance: sessions that met once do
   not meet again. */
struct bn_sql_repetition {
  bool fails; /* it was the last of max_tries */
  uint64_t wait_ns;
};

/* Decides about a repetition.  max_tries 0: the event is repeated for ever, and without waits.
   noise: any number. */
struct bn_sql_repetition bn_sql_choose_repetition(uint64_t tries, uint64_t max_tries,
                                                  uint64_t noise);

struct bn_sql_kept;

/* The failure that a script is asked about, until it has answered; a part of a connection. */
struct bn_sql_pending_failure {
  bool asks;         /* the script is asked about a failure */
  bool pending;      /* and has not answered yet */
  bool rollback_due; /* a failure that was ignored, and is not this one, left a transaction open */
  bool told;         /* the failure was logged before the script was asked */
  bool once; /* bulk inserts set it: whatever fails now is not repeated, so nothing is ignored */
  /* The failure that waits to be settled; its diag is the connection's.  The text is borrowed. */
  enum bn_sql_step step;
  const char *sql;
  size_t len;
  /* The failure as it was before the hook that is asked about it used the connection itself. */
  struct bn_sql_kept *kept;
};

/* Keeps the failure, which diag describes, because the connection is about to be used or opened
   anew while the failure waits.  It takes the place of one that was kept before. */
void bn_sql_pending_failure_keep(struct bn_sql_pending_failure *f, const struct bn_sql_diag *diag);
/* Notes that the connection was opened anew: the transaction of the failure that was kept is no
   longer open. */
void bn_sql_pending_failure_rolled_back(struct bn_sql_pending_failure *f);
/* Makes the failure that was kept the one that f and *diag describe.  Returns false if none was
   kept.  f->sql is valid until bn_sql_pending_failure_free. */
bool bn_sql_pending_failure_take(struct bn_sql_pending_failure *f, struct bn_sql_diag *diag);
/* Frees the failure that was kept, if any. */
void bn_sql_pending_failure_free(struct bn_sql_pending_failure *f);

#endif
