/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client library: its start and end, in the process and in each thread, the errors of its
   calls, and their trace. */
#include <errmsg.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/mysql/driver.h"
#include "drivers/mysql/error.h"
#include "drivers/mysql/lib/lib.h"

_Static_assert(BN_MYSQL_CLIENT_FIRST == CR_MIN_ERROR && BN_MYSQL_UNKNOWN_HOST == CR_UNKNOWN_HOST &&
                   BN_MYSQL_SOCKET_CONNECTION == CR_CONNECTION_ERROR &&
                   BN_MYSQL_HOST_CONNECTION == CR_CONN_HOST_ERROR &&
                   BN_MYSQL_GONE == CR_SERVER_GONE_ERROR &&
                   BN_MYSQL_NO_MEMORY == CR_OUT_OF_MEMORY && BN_MYSQL_LOST == CR_SERVER_LOST &&
                   BN_MYSQL_OUT_OF_SYNC == CR_COMMANDS_OUT_OF_SYNC &&
                   BN_MYSQL_ENCRYPTION == CR_SSL_CONNECTION_ERROR &&
                   BN_MYSQL_MALFORMED == CR_MALFORMED_PACKET &&
                   BN_MYSQL_LOST_EXTENDED == CR_SERVER_LOST_EXTENDED,
               "error.h has the numbers of every client library");

enum bn_sql bn_mysql_lib_fail(const struct bn_mysql_lib *c, const char *call, struct bn_sql_diag *d)
{
  return bn_mysql_fail_with_status(&c->handle->server_status, (int)mysql_errno(c->handle),
                                   mysql_sqlstate(c->handle), call, mysql_error(c->handle), d);
}

enum bn_sql bn_mysql_lib_fail_stmt(const struct bn_mysql_lib_stmt *st, const char *call,
                                   struct bn_sql_diag *d)
{
  return bn_mysql_fail_with_status(
      &st->lib->handle->server_status, (int)mysql_stmt_errno(st->handle),
      mysql_stmt_sqlstate(st->handle), call, mysql_stmt_error(st->handle), d);
}

void bn_mysql_trace_text(const struct bn_mysql *driver, const char *fmt, ...)
{
  char text[4096];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  driver->host->log(BN_MYSQL_LEVEL_DEBUG, text);
}

/* Starts the library.  Both libraries ignore SIGPIPE for the whole process; it is restored, because
   bench needs it to learn that nobody reads its output any more.  Returns 0, or the library's
   error. */
static int library_init(void)
{
  struct sigaction before;
  const bool is_saved = sigaction(SIGPIPE, NULL, &before) == 0;
  const int rc = mysql_library_init(0, NULL, NULL);

  if (is_saved)
    (void)sigaction(SIGPIPE, &before, NULL);
  return rc;
}

/* Makes OpenSSL read no certificates of the system.  Each encrypted connection for which no
   certificates are named would read them all: 0.06 s of the processor and 0.6 MiB, for nothing,
   because a server is verified by named certificates alone. */
static void library_read_no_certificates(void)
{
  /* OpenSSL, from which both libraries take the file, has no other setting for it.  No other thread
     may run while the environment changes. */
  (void)setenv("SSL_CERT_FILE", "/dev/null", 1);
}

int bn_mysql_lib_start(const struct bn_mysql *driver)
{
  bn_mysql_trace(driver, "mysql_library_init(0, (nil), (nil))");
  if (driver->ssl != BN_MYSQL_SSL_DISABLED)
    library_read_no_certificates();
  if (library_init() != 0)
    return -1;
  bn_mysql_lib_init();
  return 0;
}

void bn_mysql_lib_end(void)
{
  mysql_library_end();
}

/* The number of this thread's sessions.  Each session starts and ends the library as if the thread
   were its own: only the first start and the last end reach the library.  The TLS model is that of
   mariadb_in_call. */
static _Thread_local unsigned library_users __attribute__((tls_model("initial-exec")));

int bn_mysql_lib_thread_start(const struct bn_mysql *driver)
{
  const bool failed = library_users == 0 && mysql_thread_init();

  if (!driver->host->policy->mysql_traces_as_05)
    bn_mysql_trace(driver, "mysql_thread_init() = %d", failed);
  if (failed)
    return -1;
  library_users++;
  return 0;
}

void bn_mysql_lib_thread_end(const struct bn_mysql *driver)
{
  if (!driver->host->policy->mysql_traces_as_05)
    bn_mysql_trace(driver, "mysql_thread_end()");
  if (--library_users == 0)
    mysql_thread_end();
}
