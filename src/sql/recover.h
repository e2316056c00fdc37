/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides what is done about a failure.  The decision changes nothing; failure.c and reconnect.c
   carry it out.  Also keeps the failure that a script is asked about. */
#ifndef BN_SQL_RECOVER_H
#define BN_SQL_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"

enum bn_sql_action {
  BN_SQL_IGNORE,    /* the script repeats its event */
  BN_SQL_RECONNECT, /* a new connection is made, to the next server if there are several
                       (reconnect.c); then the script repeats its event, even if none could be
                       made */
  BN_SQL_FAIL,      /* the failure is logged and the script's event fails */
  BN_SQL_ASK,       /* the script is asked whether to ignore the failure */
  BN_SQL_LEAVE      /* the session was interrupted: nothing is logged, nothing is counted */
};

/* The answer of a script that was asked about a failure. */
enum bn_sql_answer { BN_ANSWER_NONE, BN_ANSWER_IGNORE, BN_ANSWER_FAIL };

/* A failure of a step after CONNECT, with all that the decision about it depends on. */
struct bn_sql_failing {
  enum bn_sql_step step;
  enum bn_sql_class class;
  bool listed;       /* --db-ignore-errors or the driver's own list has the error */
  bool rolled_back;  /* the transaction is no longer open */
  bool lost;         /* the connection was lost */
  bool may_move;     /* a new connection may reach another server */
  bool unrepeatable; /* bulk inserts: no event would be repeated, so the failure is not ignored */
  bool asks;         /* the script wants to be asked */
  bool interrupted;  /* the session was interrupted */
  bool preparations_count; /* PREPARE and BIND: the failure counts as an error */
  bool fatal_uncounted;    /* dialect 0.5: a failure that is not ignored is not counted */
  bool aborted; /* the server refuses the statement because of an error before it, which was
                   ignored, and which the script has caught: only that error is counted */
  enum bn_sql_answer answer;
};

/* The decision about a failure. */
struct bn_sql_recovery {
  enum bn_sql_action action;
  bool roll_back; /* IGNORE: the transaction may be open, and is rolled back before the event is
                     repeated, but not earlier: the script may catch the error and go on */
  bool counts;    /* as an error; RECONNECT: if no connection can be made */
};

/* Decides about a failure.  Pure. */
struct bn_sql_recovery bn_sql_choose_recovery(const struct bn_sql_failing *f);

/* Returns the milliseconds to wait after an attempt to connect that has failed after `tries`
   others, with `places` servers that are tried in turn: none until all of them have failed, because
   the next one may work, and then 1, 2, 4, … 250.  Pure. */
unsigned bn_sql_choose_connect_wait(unsigned tries, unsigned places);

/* The decision about an event that an ignored error has ended. */
struct bn_sql_repetition {
  bool fails; /* it was the last of max_tries: the event is not repeated */
  uint64_t wait_ns;
};

/* Decides about an event that an ignored error has ended for the tries-th time.  The first
   repetition begins at once, because most conflicts are over then.  The others begin after a wait
   of at most 1, 2, 4, … 250 ms.  `noise`, a random number, chooses a time in the second half of the
   wait, so that sessions that were in conflict do not meet again.  max_tries 0: the event is
   repeated for ever, and without waits.  Pure. */
struct bn_sql_repetition bn_sql_choose_repetition(uint64_t tries, uint64_t max_tries,
                                                  uint64_t noise);

struct bn_sql_kept;

/* The failure that a script is asked about, until it has answered; a part of a connection. */
struct bn_sql_pending_failure {
  bool asks;         /* the script is asked about failures */
  bool pending;      /* it is asked about this one, and has not answered yet */
  bool rollback_due; /* an earlier failure, which was ignored, has left a transaction open */
  bool logged;       /* the failure was logged before the script was asked */
  bool unrepeatable; /* bulk inserts set it while they send: no failure is ignored */
  /* The failure that waits for the answer; its diag is the connection's.  The text is borrowed. */
  enum bn_sql_step step;
  const char *sql;
  size_t len;
  /* Owned: a copy of the failure, if the script has used the connection before it has answered. */
  struct bn_sql_kept *kept;
};

/* Keeps a copy of the failure, which diag describes, because the connection is about to be used or
   opened anew before the script has answered.  It replaces a failure that was kept before. */
void bn_sql_pending_failure_keep(struct bn_sql_pending_failure *f, const struct bn_sql_diag *diag);
/* Records that the connection was opened anew, so that the transaction of the failure that was kept
   is no longer open. */
void bn_sql_pending_failure_rolled_back(struct bn_sql_pending_failure *f);
/* Makes the failure that was kept the present one, which f and *diag describe.  Returns false if
   none was kept.  f->sql is valid until bn_sql_pending_failure_free. */
bool bn_sql_pending_failure_restore(struct bn_sql_pending_failure *f, struct bn_sql_diag *diag);
/* Frees the failure that was kept, if any. */
void bn_sql_pending_failure_free(struct bn_sql_pending_failure *f);

#endif
