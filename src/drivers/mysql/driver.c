/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MySQL driver: start, end and the table of hooks. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/secret.h"
#include "drivers/mysql/internal.h"

void bn_mysql_trace_text(const struct bn_mysql *driver, const char *fmt, ...)
{
  enum { LEVEL_DEBUG = 5 };
  char text[4096];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  driver->host->log(LEVEL_DEBUG, text);
}

static int parse_ports(struct bn_mysql *driver, struct bn_err *err)
{
  const struct bn_list *list = &driver->conf->port;

  driver->port = calloc(list->n + 1, sizeof *driver->port);
  if (driver->port == NULL)
    return bn_err_set(err, ENOMEM, "cannot start the MySQL driver: out of memory");
  driver->n_ports = list->n > 0 ? list->n : 1;
  for (size_t i = 0; i < list->n; i++) {
    char *end;
    const unsigned long port = strtoul(list->item[i], &end, 10);

    if (*end != '\0' || port > 65535)
      return bn_err_set(err, EINVAL, "Invalid value for --mysql-port: '%s'", list->item[i]);
    driver->port[i] = (unsigned)port;
  }
  return 0;
}

/* Calls are traced, packets compressed and silence measured in the client library. */
static int check_protocol(const struct bn_mysql_conf *conf, struct bn_err *err)
{
  const char *other = NULL;

  if (conf->protocol != BN_MYSQL_PROTOCOL_OWN)
    return 0;
  if (conf->debug)
    other = "--mysql-debug=on";
  else if (conf->compression)
    other = "--mysql-compression=on";
  else if (conf->read_timeout_s != 0)
    other = "--mysql-read-timeout";
  if (other == NULL)
    return 0;
  return bn_err_set(err, EINVAL,
                    "--mysql-protocol=own cannot be used with %s: leave one of them out", other);
}

static int check(const struct bn_mysql_conf *conf, enum bn_version version, struct bn_err *err)
{
  if (conf->socket.n == 0 && conf->host.n == 0)
    return bn_err_set(err, EINVAL, "No MySQL hosts specified, aborting");
  /* In 0.5 the port is one number, and nothing is 0: the client library's own. */
  if (conf->socket.n == 0 && conf->port.n == 0 && version != BN_V05)
    return bn_err_set(err, EINVAL, "No MySQL ports specified, aborting");
  return check_protocol(conf, err);
}

static void done(void *self)
{
  struct bn_mysql *driver = self;

  if (!driver->conf->dry_run)
    mysql_library_end();
  bn_secret_free(driver->user);
  bn_secret_free(driver->password);
  free(driver->port);
  free(driver);
}

static int init(void **self, const void *conf, const struct bn_driver_host *host,
                struct bn_err *err)
{
  struct bn_mysql *driver;

  if (check(conf, host->version, err) != 0)
    return -1;
  driver = calloc(1, sizeof *driver);
  if (driver == NULL)
    return bn_err_set(err, ENOMEM, "cannot start the MySQL driver: out of memory");
  driver->conf = conf;
  driver->host = host;
  if (driver->conf->debug)
    host->verbosity(5);
  if (parse_ports(driver, err) != 0 || bn_mysql_secrets_find(driver, err) != 0) {
    free(driver->port);
    free(driver);
    return -1;
  }
  *self = driver;
  if (driver->conf->dry_run)
    return 0;
  bn_mysql_trace(driver, "mysql_library_init(0, (nil), (nil))");
  if (mysql_library_init(0, NULL, NULL) == 0) {
    bn_mysql_lib_init();
    return 0;
  }
  done(driver);
  return bn_err_set(err, 0, "cannot start the MySQL client library");
}

static int thread_init(void *self)
{
  const struct bn_mysql *driver = self;
  bool failed;

  if (driver->conf->dry_run)
    return 0;
  failed = mysql_thread_init();
  if (!bn_mysql_is_05(driver))
    bn_mysql_trace(driver, "mysql_thread_init() = %d", failed);
  return failed ? -1 : 0;
}

static void thread_done(void *self)
{
  const struct bn_mysql *driver = self;

  if (driver->conf->dry_run)
    return;
  if (!bn_mysql_is_05(driver))
    bn_mysql_trace(driver, "mysql_thread_end()");
  mysql_thread_end();
}

static struct bn_sql_caps caps(void)
{
  return (struct bn_sql_caps){.multi_rows_insert = true,
                              .prepared_statements = true,
                              .auto_increment = true,
                              .unsigned_int = true,
                              .backslash_escapes = true};
}

static size_t quote(void *conn, char *out, const char *in, size_t len)
{
  struct bn_mysql_conn *c = conn;
  size_t n = 0;

  if (c->handle != NULL) {
    n = mysql_real_escape_string(c->handle, out, in, len);
    if (n != (unsigned long)-1)
      return n;
  }
  /* A dry run, or a server without backslash escapes. */
  n = 0;
  for (size_t i = 0; i < len; i++) {
    if (in[i] == '\'')
      out[n++] = '\'';
    out[n++] = in[i];
  }
  return n;
}

static void take_variable(struct bn_sql_info *info, MYSQL_ROW row)
{
  const int64_t value = strtoll(row[1], NULL, 10);

  if (strcmp(row[0], "max_connections") == 0)
    info->max_connections = value;
  else if (strcmp(row[0], "max_prepared_stmt_count") == 0)
    info->max_prepared_statements = value;
  else if (strcmp(row[0], "max_allowed_packet") == 0)
    info->max_packet = value;
  else if (strcmp(row[0], "Threads_connected") == 0)
    info->connections = value;
  else if (strcmp(row[0], "Prepared_stmt_count") == 0)
    info->prepared_statements = value;
}

static int read_variables(MYSQL *handle, const char *sql, struct bn_sql_info *out)
{
  MYSQL_RES *res;
  MYSQL_ROW row;

  if (mysql_real_query(handle, sql, strlen(sql)) != 0)
    return -1;
  res = mysql_store_result(handle);
  if (res == NULL)
    return -1;
  while ((row = mysql_fetch_row(res)) != NULL)
    take_variable(out, row);
  mysql_free_result(res);
  return 0;
}

static int info(void *conn, struct bn_sql_info *out)
{
  struct bn_mysql_conn *c = conn;
  const struct bn_mysql_conf *conf = c->driver->conf;
  const char *version;
  int rc;

  *out = (struct bn_sql_info){
      .max_connections = -1,
      .max_prepared_statements = -1,
      .max_packet = -1,
      .connections = -1,
      .prepared_statements = -1,
      .places = (int64_t)(conf->socket.n > 0 ? conf->socket.n : conf->host.n * c->driver->n_ports),
      .raise_connections = "SET GLOBAL max_connections = %n;\" there",
      .raise_statements = "SET GLOBAL max_prepared_stmt_count = %n;\" there"};
  if (c->handle == NULL) {
    (void)snprintf(out->version, sizeof out->version, "none (dry run)");
    return 0;
  }
  version = mysql_get_server_info(c->handle);
  (void)snprintf(out->version, sizeof out->version, "%s%s",
                 strstr(version, "MariaDB") == NULL ? "MySQL " : "", version);
  bn_mysql_wire_settle(c);
  rc = read_variables(c->handle,
                      "SHOW GLOBAL VARIABLES WHERE Variable_name IN "
                      "('max_connections', 'max_prepared_stmt_count', 'max_allowed_packet')",
                      out);
  if (rc == 0)
    rc = read_variables(c->handle,
                        "SHOW GLOBAL STATUS WHERE Variable_name IN "
                        "('Threads_connected', 'Prepared_stmt_count')",
                        out);
  bn_mysql_wire_check(c);
  return rc;
}

static const char *const isolation[BN_ISOLATIONS] = {
    [BN_ISOLATION_READ_UNCOMMITTED] = "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
    [BN_ISOLATION_READ_COMMITTED] = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    [BN_ISOLATION_REPEATABLE_READ] = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    [BN_ISOLATION_SERIALIZABLE] = "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
};

static const char *const texts[BN_STEPS] = {
    [BN_STEP_CONNECT] = "unable to connect to MySQL server%w, aborting...\nerror %e: %m",
    [BN_STEP_PREPARE] = "%c failed\nMySQL error: %e \"%m\"",
    [BN_STEP_BIND] = "%m",
    [BN_STEP_QUERY] = "%c returned error %e (%m) for query '%q'",
};

__attribute__((visibility("default"))) const struct bn_driver bench_driver = {
    .abi = BN_DRIVER_ABI,
    .size = sizeof(struct bn_driver),
    .name = "mysql",
    .title = "MySQL driver",
    .options = bn_mysql_options,
    .conf_size = sizeof(struct bn_mysql_conf),
    .conn_size = sizeof(struct bn_mysql_conn),
    .stmt_size = sizeof(struct bn_mysql_stmt),
    .init = init,
    .done = done,
    .thread_init = thread_init,
    .thread_done = thread_done,
    .connect = bn_mysql_connect,
    .disconnect = bn_mysql_disconnect,
    .caps = caps,
    .classify = bn_mysql_classify,
    .ignore = {.option = "mysql-ignore-errors", .key = BN_KEY_CODE},
    .interrupt = bn_mysql_interrupt,
    .info = info,
    .quote = quote,
    .query = bn_mysql_query,
    .prepare = bn_mysql_prepare,
    .bind = bn_mysql_bind,
    .execute = bn_mysql_execute,
    .next = bn_mysql_next,
    .fetch = bn_mysql_fetch,
    .free_result = bn_mysql_free_result,
    .close = bn_mysql_close,
    .load_begin = bn_mysql_load_begin,
    .load_rows = bn_mysql_load_rows,
    .load_end = bn_mysql_load_end,
    .texts = texts,
    .isolation = isolation,
    .unread = bn_mysql_unread,
};
