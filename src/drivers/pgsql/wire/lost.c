/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports the loss of a connection that wire/ uses, in libpq's words. */
#include "drivers/pgsql/wire/lost.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "drivers/pgsql/error.h"

enum bn_sql bn_pgsql_lose(struct bn_pgsql_wire *w, const char *call, const char *text,
                          struct bn_sql_diag *d)
{
  bn_sockref_shut(w->socket);
  /* libpq must find the loss without waiting.  It then closes the socket, whose number may soon be
     another connection's. */
  if (w->socket_user == BN_PGSQL_SOCKET_WIRE)
    (void)bn_stream_lend(&w->stream);
  w->socket_user = BN_PGSQL_SOCKET_LOST;
  w->answer_len = 0;
  (void)bn_pgsql_fail_text(bn_pgsql_state_of_loss(w->reply.last_words), call, text, d);
  d->rolled_back = false;
  return BN_SQL_LOST;
}

/* Room for "FATAL:  terminating connection …", which has a severity and a reason. */
enum { SEVERITY_MAX = 16, REASON_MAX = 384, FAREWELL_MAX = SEVERITY_MAX + REASON_MAX + 4 };

/* Writes what the server has said before it has hung up, and a newline, or "" if it has said
   nothing. */
static void lost_format_farewell(const struct bn_pgsql_wire *w, char *text, size_t room)
{
  const struct bn_pgsql_reply *reply = &w->reply;
  const char *body;
  char severity[SEVERITY_MAX], reason[REASON_MAX];

  text[0] = '\0';
  if (reply->kind != BN_PGSQL_ERROR || (reply->had & BN_PGSQL_COPIED) != 0)
    return;
  body = bn_stream_data(&w->stream) + reply->error_at;
  bn_pgsql_error_field(body, reply->error_len, BN_PGSQL_FIELD_SEVERITY, severity, sizeof severity);
  bn_pgsql_error_field(body, reply->error_len, BN_PGSQL_FIELD_MESSAGE, reason, sizeof reason);
  (void)snprintf(text, room, "%s:  %s\n", severity, reason);
}

enum bn_sql bn_pgsql_lose_socket(struct bn_pgsql_wire *w, const char *call, const char *doing,
                                 struct bn_sql_diag *d)
{
  const int error = w->stream.error;
  char farewell[FAREWELL_MAX], text[sizeof d->text + 64];

  lost_format_farewell(w, farewell, sizeof farewell);
  if (error == 0 || error == ECONNRESET || error == EPIPE)
    (void)snprintf(text, sizeof text,
                   "%sserver closed the connection unexpectedly\n"
                   "\tThis probably means the server terminated abnormally\n"
                   "\tbefore or while processing the request.",
                   farewell);
  else
    (void)snprintf(text, sizeof text, "%scould not %s server: %s", farewell, doing,
                   strerror(error));
  return bn_pgsql_lose(w, call, text, d);
}

enum bn_sql bn_pgsql_lose_unsent(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d)
{
  struct bn_stream *s = &w->stream;
  const int error = s->error; /* bn_stream_drain sets another one */

  bn_stream_drain(s);
  s->error = error;
  (void)bn_pgsql_reply_read(&w->reply, bn_stream_data(s), bn_stream_len(s));
  return bn_pgsql_lose_socket(w, call, "send data to", d);
}

enum bn_sql bn_pgsql_lose_track(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d)
{
  char text[160];

  (void)snprintf(text, sizeof text,
                 "lost synchronization with server: got message type \"%c\", length %d",
                 w->reply.odd_type >= ' ' && w->reply.odd_type <= '~' ? w->reply.odd_type : '?',
                 (int)w->reply.odd_len);
  return bn_pgsql_lose(w, call, text, d);
}
