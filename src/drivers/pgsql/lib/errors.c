/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What went wrong: SQLSTATEs of PostgreSQL, and what they mean. */
#include <stdio.h>
#include <string.h>

#include "drivers/pgsql/internal.h"

/* By SQLSTATE or by its first two characters, its class. */
static const struct {
  const char *state;
  enum bn_sql_class class;
} classes[] = {
    {"40P01", BN_CLASS_DEADLOCK},
    {"55P03", BN_CLASS_LOCK_TIMEOUT},
    {"40001", BN_CLASS_SERIALIZATION},
    {"25006", BN_CLASS_READ_ONLY},
    {"23505", BN_CLASS_DUPLICATE},
    {"57P01", BN_CLASS_CONNECTION}, /* ended by an administrator */
    {"57P02", BN_CLASS_CONNECTION}, /* another session crashed */
    {"57P03", BN_CLASS_CONNECTION}, /* starting or shutting down */
    {"57P05", BN_CLASS_CONNECTION}, /* idle for too long */
    {"25P03", BN_CLASS_CONNECTION}, /* idle in a transaction for too long */
    {"08", BN_CLASS_CONNECTION},
    {"53", BN_CLASS_RESOURCE},
};

enum bn_sql_class bn_pgsql_classify(const struct bn_sql_diag *d)
{
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    if (strncmp(d->state, classes[i].state, strlen(classes[i].state)) == 0)
      return classes[i].class;
  }
  return BN_CLASS_OTHER;
}

static enum bn_sql outcome(const struct bn_sql_diag *d)
{
  return bn_pgsql_classify(d) == BN_CLASS_CONNECTION ? BN_SQL_LOST : BN_SQL_ERROR;
}

enum bn_sql bn_pgsql_fail_text(const char *state, const char *call, const char *text,
                               struct bn_sql_diag *d)
{
  d->code = 0;
  (void)snprintf(d->state, sizeof d->state, "%s", state);
  (void)snprintf(d->call, sizeof d->call, "%s", call);
  (void)snprintf(d->text, sizeof d->text, "%s", text);
  return outcome(d);
}

static void drop_newline(char *text)
{
  const size_t len = strlen(text);

  if (len > 0 && text[len - 1] == '\n')
    text[len - 1] = '\0';
}

/* As the reference shows messages of several lines. */
static void end_with_empty_line(struct bn_sql_diag *d)
{
  size_t len = strlen(d->text);

  if (len > sizeof d->text - 3)
    len = sizeof d->text - 3;
  while (len > 0 && d->text[len - 1] == '\n')
    len--;
  (void)snprintf(d->text + len, sizeof d->text - len, "\n\n");
}

enum bn_sql bn_pgsql_fail(struct bn_pgsql_conn *c, const PGresult *res, const char *call,
                          bool whole, struct bn_sql_diag *d)
{
  const bool bad = PQstatus(c->handle) == CONNECTION_BAD;
  /* A dialect may show the library's text with its lines, not the server's sentence alone. */
  const bool all_of_it = whole || c->driver->host->policy->pgsql_whole_errors;
  const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
  const char *text = all_of_it ? NULL : PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
  const bool from_server = text != NULL;

  /* Of a connection that breaks the result does not say what the server said of it before. */
  if (text == NULL)
    text = bad ? "" : PQresultErrorMessage(res);
  if (text[0] == '\0')
    text = PQerrorMessage(c->handle);
  /* A connection that breaks has no SQLSTATE. */
  if (state == NULL)
    state = bad ? "08006" : "";
  (void)bn_pgsql_fail_text(state, call, text, d);
  if (all_of_it)
    end_with_empty_line(d);
  else if (!from_server)
    drop_newline(d->text);
  d->rolled_back = PQtransactionStatus(c->handle) == PQTRANS_IDLE;
  return bad ? BN_SQL_LOST : outcome(d);
}
