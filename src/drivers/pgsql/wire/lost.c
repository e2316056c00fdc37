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
  /* On a socket that is lent to it, libpq finds the loss without waiting.  It then closes the
     socket, whose number may soon be another connection's: wire/ never uses it again. */
  if (w->socket_user == BN_PGSQL_SOCKET_WIRE)
    (void)bn_stream_lend(&w->stream);
  w->socket_user = BN_PGSQL_SOCKET_LOST;
  w->answer_len = 0;
  (void)bn_pgsql_fail_text(bn_pgsql_state_of_loss(w->reply.last_state), call, text, d);
  d->rolled_back = false;
  return BN_SQL_LOST;
}

/* Room for "FATAL:  terminating connection …\n": a severity, a message, and 4 bytes for what stands
   around them. */
enum { SEVERITY_MAX = 16, MESSAGE_MAX = 384, REASON_MAX = SEVERITY_MAX + MESSAGE_MAX + 4 };

/* Writes the error that the server has sent before it hung up, and a newline, or "" if there is
   none. */
static void lost_format_reason(const struct bn_pgsql_wire *w, char *text, size_t room)
{
  const struct bn_pgsql_reply *reply = &w->reply;
  const char *body;
  char severity[SEVERITY_MAX], message[MESSAGE_MAX];

  text[0] = '\0';
  if (reply->kind != BN_PGSQL_ERROR || bn_pgsql_reply_has_copied(reply))
    return;
  body = bn_stream_data(&w->stream) + reply->error_at;
  bn_pgsql_error_field(body, reply->error_len, BN_PGSQL_FIELD_SEVERITY, severity, sizeof severity);
  bn_pgsql_error_field(body, reply->error_len, BN_PGSQL_FIELD_MESSAGE, message, sizeof message);
  (void)snprintf(text, room, "%s:  %s\n", severity, message);
}

enum bn_sql bn_pgsql_lose_socket(struct bn_pgsql_wire *w, const char *call, const char *doing,
                                 struct bn_sql_diag *d)
{
  const int error = w->stream.error;
  const bool has_closed = error == 0 || error == ECONNRESET || error == EPIPE;
  char reason[REASON_MAX], text[sizeof d->text + 64];

  lost_format_reason(w, reason, sizeof reason);
  if (has_closed)
    (void)snprintf(text, sizeof text,
                   "%sserver closed the connection unexpectedly\n"
                   "\tThis probably means the server terminated abnormally\n"
                   "\tbefore or while processing the request.",
                   reason);
  else
    (void)snprintf(text, sizeof text, "%scould not %s server: %s", reason, doing, strerror(error));
  return bn_pgsql_lose(w, call, text, d);
}

enum bn_sql bn_pgsql_lose_unsent(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d)
{
  struct bn_stream *s = &w->stream;
  const int error = s->error; /* bn_stream_drain sets another one */

  /* The server may have said why it hung up. */
  bn_stream_drain(s);
  s->error = error;
  (void)bn_pgsql_reply_read(&w->reply, bn_stream_data(s), bn_stream_len(s));
  return bn_pgsql_lose_socket(w, call, "send data to", d);
}

enum bn_sql bn_pgsql_lose_sync(struct bn_pgsql_wire *w, const char *call, struct bn_sql_diag *d)
{
  const char type = w->reply.odd_type;
  const bool is_printable = type >= ' ' && type <= '~';
  char text[160];

  (void)snprintf(text, sizeof text,
                 "lost synchronization with server: got message type \"%c\", length %d",
                 is_printable ? type : '?', (int)w->reply.odd_len);
  return bn_pgsql_lose(w, call, text, d);
}
