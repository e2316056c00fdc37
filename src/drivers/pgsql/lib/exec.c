/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands by libpq: its functions that wait for the answer or, with a waiter, those that do not,
   and the waits between them. */
#include <limits.h>
#include <poll.h>

#include "drivers/common/sockwait.h"
#include "drivers/pgsql/lib/lib.h"

enum { AS_TEXT = 0 }; /* the format of results */

static bool exec_has_waiter(const struct bn_pgsql_lib *c)
{
  return c->wait->waiter != NULL;
}

/* Waits until something has come, and lets libpq read it.  Returns false if the socket has ended;
   the caller's next call of libpq then reports the end. */
static bool exec_wait_and_read(struct bn_pgsql_lib *c)
{
  return bn_sockwait_await_unread(c->wait, PQsocket(c->handle)) && PQconsumeInput(c->handle) == 1;
}

/* Sends all that libpq has to send, and reads meanwhile, because a server may read only when its
   answers are read.  A failure shows in the caller's next call of libpq. */
static void exec_flush(struct bn_pgsql_lib *c)
{
  while (PQflush(c->handle) > 0) {
    const int events = bn_sockwait_await_room(c->wait, PQsocket(c->handle));

    if ((events & POLLIN) != 0 && PQconsumeInput(c->handle) != 1)
      return;
  }
}

PGresult *bn_pgsql_lib_get_result(struct bn_pgsql_lib *c)
{
  if (exec_has_waiter(c)) {
    exec_flush(c);
    while (PQisBusy(c->handle) && exec_wait_and_read(c))
      ;
  }
  return PQgetResult(c->handle);
}

/* Returns the result that PQexec would return: the last one, or the first that begins a COPY or
   finds the connection broken.  sent: what libpq's function for sending has returned.  If that is
   not 1, nothing was sent: there is no result, and the handle has the reason. */
static PGresult *exec_finish(struct bn_pgsql_lib *c, int sent)
{
  PGresult *last = NULL, *res;

  if (sent != 1)
    return NULL;
  while ((res = bn_pgsql_lib_get_result(c)) != NULL) {
    const ExecStatusType status = PQresultStatus(res);
    const bool begins_copy =
        status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;

    PQclear(last);
    last = res;
    if (begins_copy || PQstatus(c->handle) == CONNECTION_BAD)
      break;
  }
  return last;
}

PGresult *bn_pgsql_lib_exec(struct bn_pgsql_lib *c, const char *sql)
{
  if (!exec_has_waiter(c))
    return PQexec(c->handle, sql);
  return exec_finish(c, PQsendQuery(c->handle, sql));
}

PGresult *bn_pgsql_lib_exec_prepare(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q)
{
  const int n = (int)q->n_params;

  if (!exec_has_waiter(c))
    return PQprepare(c->handle, q->name, q->sql, n, q->type);
  return exec_finish(c, PQsendPrepare(c->handle, q->name, q->sql, n, q->type));
}

PGresult *bn_pgsql_lib_exec_anew(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q)
{
  const struct bn_pgsql_values *v = &c->values;
  const int n = (int)q->n_params;

  if (!exec_has_waiter(c))
    return PQexecParams(c->handle, q->sql, n, q->type, v->value, v->length, v->format, AS_TEXT);
  return exec_finish(
      c, PQsendQueryParams(c->handle, q->sql, n, q->type, v->value, v->length, v->format, AS_TEXT));
}

PGresult *bn_pgsql_lib_exec_prepared(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q)
{
  const struct bn_pgsql_values *v = &c->values;
  const int n = (int)q->n_params;

  if (!exec_has_waiter(c))
    return PQexecPrepared(c->handle, q->name, n, v->value, v->length, v->format, AS_TEXT);
  return exec_finish(
      c, PQsendQueryPrepared(c->handle, q->name, n, v->value, v->length, v->format, AS_TEXT));
}

int bn_pgsql_lib_copy_out(struct bn_pgsql_lib *c, char **row)
{
  int n;

  do
    n = PQgetCopyData(c->handle, row, exec_has_waiter(c));
  while (n == 0 && exec_wait_and_read(c));
  return n;
}

int bn_pgsql_lib_copy_in(struct bn_pgsql_lib *c, const char *rows, int len)
{
  const int rc = PQputCopyData(c->handle, rows, len);

  if (exec_has_waiter(c))
    exec_flush(c);
  return rc;
}
