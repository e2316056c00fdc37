/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQLSTATEs of PostgreSQL, and their meanings. */
#include "drivers/pgsql/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "drivers/common/remedy.h"

static const char raise_max_connections[] =
    "raise max_connections on the server and restart it, or use fewer --threads";

/* Classes by SQLSTATE, or by its first two characters. */
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

/* Returns the class of the first entry that the SQLSTATE begins with. */
static enum bn_sql_class error_find_class(const char *state)
{
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    if (strncmp(state, classes[i].state, strlen(classes[i].state)) == 0)
      return classes[i].class;
  }
  return BN_CLASS_OTHER;
}

enum bn_sql_class bn_pgsql_classify(const struct bn_sql_diag *d)
{
  return error_find_class(d->state);
}

const char *bn_pgsql_state_of_loss(const char *last)
{
  return error_find_class(last) == BN_CLASS_CONNECTION ? last : bn_pgsql_connection_failure;
}

bool bn_pgsql_missing(const struct bn_sql_diag *d)
{
  return strcmp(d->state, "42P01") == 0; /* undefined_table */
}

/* Returns the remedy of a refused connection, or NULL.  libpq does not tell the server's SQLSTATE
   of a refusal, so the text decides; texts in other languages have no remedy. */
static const char *error_find_remedy_of_refusal(const char *text)
{
  static const struct {
    const char *text, *remedy;
  } refusals[] = {
      {"too many connections for role",
       "raise the limit with \"ALTER ROLE ... CONNECTION LIMIT\" on the server, or use fewer "
       "--threads"},
      {"too many connections for database",
       "raise the limit with \"ALTER DATABASE ... CONNECTION LIMIT\" on the server, or use fewer "
       "--threads"},
      {"too many clients already", raise_max_connections},
      {"remaining connection slots are reserved", raise_max_connections},
  };

  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
    if (strstr(text, refusals[i].text) != NULL)
      return refusals[i].remedy;
  return strstr(text, strerror(EADDRNOTAVAIL)) != NULL ? bn_remedy_ports : NULL;
}

const char *bn_pgsql_remedy(const struct bn_sql_diag *d)
{
  if (strcmp(d->state, bn_pgsql_connection_failure) == 0)
    return error_find_remedy_of_refusal(d->text);
  if (strcmp(d->state, "42P07") == 0) /* duplicate_table */
    return bn_remedy_table;
  /* A prepared statement exists already, or does not exist. */
  if (strcmp(d->state, "42P05") == 0 || strcmp(d->state, "26000") == 0)
    return "the prepared statements on the server are not those of this session. If the connection "
           "goes through a pooler in transaction mode, such as PgBouncer, use --db-ps-mode=disable "
           "or --db-ps-mode=extended";
  return NULL;
}

enum bn_sql bn_pgsql_fail_text(const char *state, const char *call, const char *text,
                               struct bn_sql_diag *d)
{
  d->code = 0;
  (void)snprintf(d->state, sizeof d->state, "%s", state);
  d->call = call;
  (void)snprintf(d->text, sizeof d->text, "%s", text);
  return error_find_class(d->state) == BN_CLASS_CONNECTION ? BN_SQL_LOST : BN_SQL_ERROR;
}

enum bn_sql bn_pgsql_fail_out_of_memory(const char *call, struct bn_sql_diag *d)
{
  return bn_pgsql_fail_text("53200", call, "out of memory", d); /* out_of_memory */
}

enum bn_sql bn_pgsql_fail_too_long(const char *call, struct bn_sql_diag *d)
{
  /* string_data_right_truncation */
  return bn_pgsql_fail_text("22001", call, "a parameter is too long", d);
}

enum bn_sql bn_pgsql_fail_copy(struct bn_sql_diag *d)
{
  /* feature_not_supported */
  return bn_pgsql_fail_text("0A000", "PQexec", "COPY from or to the client is not possible", d);
}
