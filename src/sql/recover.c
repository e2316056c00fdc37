/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides what is done about a failure, and keeps the failure that a script is asked about. */
#include "sql/recover.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "sql/errors.h"

/* The waits between attempts to connect, or between tries of an event: 1, 2, 4, … 128, and then 250
   milliseconds. */
enum { BACKOFF_FIRST_MS = 1, BACKOFF_MAX_MS = 250, DOUBLINGS = 8 };

/* Returns the length of the wait that follows n_waits waits. */
static unsigned recover_backoff_ms(uint64_t n_waits)
{
  return n_waits < DOUBLINGS ? BACKOFF_FIRST_MS << n_waits : BACKOFF_MAX_MS;
}

/* Decides about a failure that is ignored.  A connection is replaced, which ends its transaction
   without a rollback, if it is lost, or of no use: its server refuses to write or carries out
   nothing, and a new connection may reach another one. */
static struct bn_sql_recovery recover_decide_ignored(const struct bn_sql_failing *f, bool counts)
{
  const bool is_useless = f->may_move && bn_sql_errors_class(f->class)->of_server;
  const bool reconnects = f->lost || is_useless;

  return (struct bn_sql_recovery){.action = reconnects ? BN_SQL_RECONNECT : BN_SQL_IGNORE,
                                  .roll_back = !reconnects && !f->rolled_back,
                                  .counts = counts && !f->aborted};
}

struct bn_sql_recovery bn_sql_choose_recovery(const struct bn_sql_failing *f)
{
  const bool is_execution = f->step == BN_STEP_QUERY;
  const bool counts = is_execution || f->preparations_count;
  const bool is_ignorable = !f->unrepeatable && f->answer != BN_ANSWER_FAIL &&
                            (f->answer == BN_ANSWER_IGNORE || f->aborted || f->listed);

  if (f->interrupted && f->answer == BN_ANSWER_NONE)
    return (struct bn_sql_recovery){.action = BN_SQL_LEAVE};
  if (is_ignorable)
    return recover_decide_ignored(f, counts);
  if (f->asks && is_execution && !f->unrepeatable && f->answer == BN_ANSWER_NONE)
    return (struct bn_sql_recovery){.action = BN_SQL_ASK};
  return (struct bn_sql_recovery){.action = BN_SQL_FAIL, .counts = counts && !f->fatal_uncounted};
}

unsigned bn_sql_choose_connect_wait(unsigned tries, unsigned places)
{
  const bool is_end_of_round = (tries + 1) % places == 0;

  return is_end_of_round ? recover_backoff_ms(tries / places) : 0;
}

struct bn_sql_repetition bn_sql_choose_repetition(uint64_t tries, uint64_t max_tries,
                                                  uint64_t noise)
{
  uint64_t half_ns;

  if (max_tries != 0 && tries >= max_tries)
    return (struct bn_sql_repetition){.fails = true};
  if (max_tries == 0 || tries < 2)
    return (struct bn_sql_repetition){.fails = false};
  /* The second try begins without a wait, so the wait after it is the first one. */
  half_ns = recover_backoff_ms(tries - 2) * BN_NSEC_PER_MSEC / 2;
  return (struct bn_sql_repetition){.wait_ns = half_ns + noise % half_ns};
}

/* A failure that is kept.  Its text is a copy, because that of an emulated statement is overwritten
   by the next one. */
struct bn_sql_kept {
  struct bn_sql_diag diag;
  enum bn_sql_step step;
  const char *sql; /* text; NULL: it is not known */
  size_t len;
  bool logged;
  char text[];
};

void bn_sql_pending_failure_keep(struct bn_sql_pending_failure *f, const struct bn_sql_diag *diag)
{
  const size_t len = f->sql != NULL ? f->len : 0;
  struct bn_sql_kept *kept = bn_alloc(1, sizeof *kept + len + 1);

  *kept = (struct bn_sql_kept){.diag = *diag, .step = f->step, .len = len, .logged = f->logged};
  if (f->sql != NULL)
    kept->sql = memcpy(kept->text, f->sql, len);
  /* f->sql may be the text of the failure that was kept before. */
  bn_sql_pending_failure_free(f);
  f->pending = false;
  f->kept = kept;
}

void bn_sql_pending_failure_rolled_back(struct bn_sql_pending_failure *f)
{
  if (f->kept != NULL)
    f->kept->diag.rolled_back = true;
}

bool bn_sql_pending_failure_restore(struct bn_sql_pending_failure *f, struct bn_sql_diag *diag)
{
  if (f->kept == NULL)
    return false;
  *diag = f->kept->diag;
  f->step = f->kept->step;
  f->sql = f->kept->sql;
  f->len = f->kept->len;
  f->logged = f->kept->logged;
  return true;
}

void bn_sql_pending_failure_free(struct bn_sql_pending_failure *f)
{
  free(f->kept);
  f->kept = NULL;
}
