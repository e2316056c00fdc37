/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libpq's errors of failed calls. */
#include <stdio.h>
#include <string.h>

#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/error.h"
#include "drivers/pgsql/lib/lib.h"

/* Removes the newline with which libpq ends its messages. */
static void errors_drop_newline(char *text)
{
  const size_t len = strlen(text);

  if (len > 0 && text[len - 1] == '\n')
    text[len - 1] = '\0';
}

/* Ends the text with an empty line, as sysbench shows libpq's messages. */
static void errors_end_with_empty_line(struct bn_sql_diag *d)
{
  static const char ending[] = "\n\n";
  size_t len = strlen(d->text);

  if (len > sizeof d->text - sizeof ending)
    len = sizeof d->text - sizeof ending;
  while (len > 0 && d->text[len - 1] == '\n')
    len--;
  memcpy(d->text + len, ending, sizeof ending);
}

void bn_pgsql_lib_note_state(struct bn_pgsql_lib *c, const PGresult *res)
{
  const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

  if (state != NULL)
    (void)snprintf(c->last_state, sizeof c->last_state, "%s", state);
}

/* The text of an error: the server's sentence, or all of libpq's message and an empty line. */
enum extent { SENTENCE, WHOLE_MESSAGE };

/* Fills d from a result, which may be NULL.  Returns ERROR or LOST. */
static enum bn_sql errors_fail(const struct bn_pgsql_lib *c, const PGresult *res, const char *call,
                               enum extent extent, struct bn_sql_diag *d)
{
  const bool is_broken = PQstatus(c->handle) == CONNECTION_BAD;
  const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
  const char *sentence = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
  const bool has_sentence = extent == SENTENCE && sentence != NULL;
  /* The result of a broken connection has no SQLSTATE, and a text without the server's last words:
     the handle's message has them. */
  const char *message = is_broken ? "" : PQresultErrorMessage(res);
  const char *text = has_sentence ? sentence : message;
  enum bn_sql rc;

  if (text[0] == '\0')
    text = PQerrorMessage(c->handle);
  if (state == NULL)
    state = is_broken ? bn_pgsql_state_of_loss(c->last_state) : "";
  rc = bn_pgsql_fail_text(state, call, text, d);
  if (extent == WHOLE_MESSAGE)
    errors_end_with_empty_line(d);
  else if (!has_sentence)
    errors_drop_newline(d->text);
  d->rolled_back = PQtransactionStatus(c->handle) == PQTRANS_IDLE;
  return is_broken ? BN_SQL_LOST : rc;
}

enum bn_sql bn_pgsql_lib_fail(const struct bn_pgsql_lib *c, const PGresult *res, const char *call,
                              struct bn_sql_diag *d)
{
  const bool shows_whole = c->driver->host->policy->pgsql_whole_errors;

  return errors_fail(c, res, call, shows_whole ? WHOLE_MESSAGE : SENTENCE, d);
}

enum bn_sql bn_pgsql_lib_fail_in_full(const struct bn_pgsql_lib *c, const PGresult *res,
                                      const char *call, struct bn_sql_diag *d)
{
  return errors_fail(c, res, call, WHOLE_MESSAGE, d);
}
