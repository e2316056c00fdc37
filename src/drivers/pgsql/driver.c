/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PostgreSQL driver: start, end and the table of hooks. */
#include "drivers/pgsql/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/names.h"
#include "drivers/common/remedy.h"
#include "drivers/common/secret.h"
#include "drivers/pgsql/conn.h"
#include "drivers/pgsql/error.h"

/* A statement that returns the columns of a view as rows of names and values. */
#define PAIRS_OF(prefix, view)                                                                     \
  "SELECT '" prefix "' || key, value FROM " view " t, jsonb_each_text(to_jsonb(t))"

/* Frees the state of the driver, which driver_configure may have made in part. */
static void driver_free(struct bn_pgsql *driver)
{
  bn_secret_free(driver->password);
  for (size_t i = 0; i < driver->n_hosts; i++)
    free(driver->hosts[i]);
  free(driver->hosts);
  bn_names_free(driver->names);
  free(driver->require_auth);
  free(driver);
}

/* Makes the list of hosts.  An empty list becomes one NULL entry, libpq's default. */
static void driver_split_hosts(struct bn_pgsql *driver)
{
  const char *text = driver->conf->host != NULL ? driver->conf->host : "";
  /* A host and its comma have two characters at least; the last host has no comma. */
  const size_t n_hosts_max = strlen(text) / 2 + 1;

  driver->hosts = driver->host->alloc(n_hosts_max, sizeof *driver->hosts);
  while (*text != '\0') {
    const size_t len = strcspn(text, ",");

    if (len > 0)
      driver->hosts[driver->n_hosts++] = driver->host->print("%.*s", (int)len, text);
    text += len + (text[len] == ',');
  }
  if (driver->n_hosts == 0)
    driver->n_hosts = 1;
}

/* Finds the password of the option, the terminal or the password file, in this order; without any,
   libpq looks for one.  Returns 0, or -1 and err. */
static int driver_find_password(struct bn_pgsql *driver, struct bn_err *err)
{
  const struct bn_pgsql_conf *conf = driver->conf;
  const char *question = conf->password_prompt ? "PostgreSQL password" : NULL;

  if (conf->password != NULL) {
    driver->password = driver->host->text(conf->password);
    return 0;
  }
  if (!conf->password_prompt && conf->password_file == NULL)
    return 0;
  return bn_secret_get(question, conf->password_file, driver->host, &driver->password, err);
}

/* Returns whether the text is the number of a port. */
static bool driver_is_port(const char *text)
{
  enum { PORT_MAX = 65535 };
  char *end;
  const unsigned long port = strtoul(text, &end, 10);

  return *end == '\0' && port > 0 && port <= PORT_MAX;
}

/* Checks what the table of options cannot check.  Returns 0, or -1 and err. */
static int driver_check_conf(const struct bn_pgsql_conf *conf, const struct bn_policy *policy,
                             struct bn_err *err)
{
  if (conf->protocol == BN_PROTOCOL_OWN && policy->pgsql_shows_notices)
    return bn_err_set(err, EINVAL,
                      "--pgsql-protocol=own cannot be used in dialect %s, where the client library "
                      "prints notices",
                      policy->dialect);
  if (conf->port.n == 0)
    return bn_err_set(err, EINVAL, "No PostgreSQL ports specified, aborting");
  for (size_t i = 0; i < conf->port.n; i++) {
    if (!driver_is_port(conf->port.item[i]))
      return bn_err_set(err, EINVAL, "Invalid value for --pgsql-port: '%s'", conf->port.item[i]);
  }
  return 0;
}

/* Joins the methods of --pgsql-require-auth as "a,b" for libpq, which checks them.  Returns 0, or
   -1 and err if libpq is too old. */
static int driver_join_methods(struct bn_pgsql *driver, struct bn_err *err)
{
  const struct bn_list *list = &driver->conf->require_auth;

  if (list->n == 0)
    return 0;
  if (!bn_pgsql_lib_knows_parameter("require_auth"))
    return bn_err_set(err, EINVAL,
                      "--pgsql-require-auth needs libpq 16 or later; leave it out, or use "
                      "--pgsql-sslmode=verify-full to know which server asks");
  driver->require_auth = driver->host->text(list->item[0]);
  for (size_t i = 1; i < list->n; i++) {
    char *longer = driver->host->print("%s,%s", driver->require_auth, list->item[i]);

    free(driver->require_auth);
    driver->require_auth = longer;
  }
  return 0;
}

/* Finds hosts, methods and password, and checks the further parameters for libpq.  Returns 0, or -1
   and err. */
static int driver_configure(struct bn_pgsql *driver, struct bn_err *err)
{
  const struct bn_policy *policy = driver->host->policy;
  const char *parameters = driver->conf->parameters;

  driver_split_hosts(driver);
  if (bn_remedy_check_hosts(driver->hosts, driver->n_hosts, "pgsql", policy, err) != 0)
    return -1;
  if (parameters != NULL && bn_pgsql_lib_check_parameters(parameters, err) != 0)
    return -1;
  if (driver_join_methods(driver, err) != 0)
    return -1;
  return driver_find_password(driver, err);
}

/* Makes the driver's state from the options.  Returns 0, or -1 and err. */
static int driver_init(void **self, const void *conf, const struct bn_driver_host *host,
                       struct bn_err *err)
{
  struct bn_pgsql *driver;

  if (driver_check_conf(conf, host->policy, err) != 0)
    return -1;
  if (!bn_pgsql_lib_is_threadsafe())
    return bn_err_set(err, 0, "the PostgreSQL client library is not made for several threads");
  driver = host->alloc(1, sizeof *driver);
  driver->conf = conf;
  driver->host = host;
  driver->names = bn_names_new(host);
  if (driver_configure(driver, err) != 0) {
    driver_free(driver);
    return -1;
  }
  *self = driver;
  return 0;
}

static void driver_done(void *self)
{
  driver_free(self);
}

static struct bn_sql_caps driver_caps(void)
{
  return bn_pgsql_caps;
}

static const char *const isolation[BN_ISOLATIONS] = {
    [BN_ISOLATION_READ_UNCOMMITTED] =
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
    [BN_ISOLATION_READ_COMMITTED] =
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
    [BN_ISOLATION_REPEATABLE_READ] =
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    [BN_ISOLATION_SERIALIZABLE] =
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
};

static const char *const texts[BN_STEPS] = {
    [BN_STEP_CONNECT] = "Connection to database failed: %m",
    [BN_STEP_PREPARE] = "%c failed: %m",
    [BN_STEP_BIND] = "%m",
    /* 7 is libpq's status for every failure. */
    [BN_STEP_QUERY] = "%c() failed: 7 %m\nfailed query%v: %q",
};

static const struct bn_sql_named silence[] = {{0, bn_pgsql_connection_failure}, {0, NULL}};

static const char *const gauges[] = {"database_numbackends", NULL};

__attribute__((visibility("default"))) const struct bn_driver bench_driver = {
    .abi = BN_DRIVER_ABI,
    .size = sizeof(struct bn_driver),
    .name = "pgsql",
    .title = "PostgreSQL driver",
    .options = bn_pgsql_options,
    .conf_size = sizeof(struct bn_pgsql_conf),
    .conn_size = sizeof(struct bn_pgsql_conn),
    .stmt_size = sizeof(struct bn_pgsql_stmt),
    .init = driver_init,
    .done = driver_done,
    .connect = bn_pgsql_connect,
    .disconnect = bn_pgsql_disconnect,
    .caps = driver_caps,
    .classify = bn_pgsql_classify,
    .ignore = {.option = "pgsql-ignore-errors", .key = BN_KEY_STATE},
    .interrupt = bn_pgsql_interrupt,
    .about = bn_pgsql_about,
    .info = bn_pgsql_info,
    .quote = bn_pgsql_quote,
    .query = bn_pgsql_query,
    .prepare = bn_pgsql_prepare,
    .bind = bn_pgsql_bind,
    .execute = bn_pgsql_execute,
    .next = bn_pgsql_next,
    .fetch = bn_pgsql_fetch,
    .free_result = bn_pgsql_free_result,
    .close = bn_pgsql_close,
    .load_begin = bn_pgsql_load_begin,
    .load_rows = bn_pgsql_load_rows,
    .load_end = bn_pgsql_load_end,
    .texts = texts,
    .fatal_queries = true,
    .isolation = isolation,
    .missing = bn_pgsql_missing,
    .remedy = bn_pgsql_remedy,
    .prepare_all = bn_pgsql_prepare_all,
    .place = bn_pgsql_place,
    .transaction = bn_pgsql_transaction_state,
    .silence = silence,
    .pooled = bn_pgsql_pooled,
    .counters =
        {{PAIRS_OF("database_", "pg_stat_database") " WHERE t.datname = current_database()", false},
         {PAIRS_OF("", "pg_stat_wal"), true},
         /* Sums over kinds of processes, objects and contexts. */
         {"SELECT 'io_' || key, sum(value::numeric) FROM pg_stat_io t, "
          "jsonb_each_text(to_jsonb(t)) WHERE key IN ('reads', 'writes', 'writebacks', 'extends', "
          "'hits', 'evictions', 'reuses', 'fsyncs', 'read_bytes', 'write_bytes', 'extend_bytes') "
          "GROUP BY key",
          true}},
    /* The client has the server's address if both are on one host; a socket has no address. */
    .folder_sql = "SELECT coalesce((inet_server_addr() = inet_client_addr())::text, 'true'), "
                  "current_setting('data_directory')",
    .folder_proof = "true",
    .questions = bn_pgsql_questions,
    .gauges = gauges,
    .waits = true,
};
