/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of every statement: one message to the server, its answer, and no further system calls.
   libpq has connected, and is lent the socket for all rare work. */
#include "drivers/pgsql/wire/wire.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "drivers/pgsql/error.h"
#include "drivers/pgsql/wire/lost.h"

void bn_pgsql_wire_open(struct bn_pgsql_wire *w, int fd, struct ssl_st *tls,
                        const struct bn_sockref *socket, struct bn_sockwait *wait)
{
  *w = (struct bn_pgsql_wire){.socket_user = BN_PGSQL_SOCKET_LENT, .socket = socket};
  bn_stream_init(&w->stream, fd, tls, wait);
}

void bn_pgsql_wire_close(struct bn_pgsql_wire *w)
{
  if (w->socket_user == BN_PGSQL_SOCKET_WIRE)
    (void)bn_stream_lend(&w->stream);
  w->socket_user = BN_PGSQL_SOCKET_LIBRARY;
  bn_stream_done(&w->stream);
}

/* Copies the settings for texts that this answer has reported: the next answer clears them. */
static void wire_store_text_settings(struct bn_pgsql_wire *w)
{
  const struct bn_pgsql_reply *reply = &w->reply;

  if (reply->plain_strings != 0)
    w->text_settings.plain_strings = reply->plain_strings;
  if (reply->encoding[0] != '\0')
    memcpy(w->text_settings.encoding, reply->encoding, sizeof w->text_settings.encoding);
}

/* Drops the rows of the last answer, if there are any. */
static void wire_drop_answer(struct bn_pgsql_wire *w)
{
  if (w->answer_len > 0)
    bn_stream_skip(&w->stream, w->answer_len);
  w->answer_len = 0;
}

/* Removes the messages that were read after the answer whose rows are kept.  The bytes after them
   move to their place, and reply->at and reply->need with them. */
static void wire_forget_asides(struct bn_pgsql_wire *w)
{
  struct bn_stream *s = &w->stream;
  struct bn_pgsql_reply *reply = &w->reply;
  char *const data = s->in.data + s->begin;
  const size_t removed = reply->at - w->answer_len, remaining = bn_stream_len(s) - reply->at;

  if (removed == 0)
    return;
  memmove(data + w->answer_len, data + reply->at, remaining);
  bn_stream_cut(s, w->answer_len + remaining);
  reply->at -= removed;
  reply->need -= removed;
}

/* Reads what the server has sent since the last answer; rows that are not fetched yet stay.
   Returns false if the connection is lost. */
static bool wire_read_asides(struct bn_pgsql_wire *w)
{
  struct bn_stream *s = &w->stream;
  struct bn_pgsql_reply *reply = &w->reply;
  enum bn_pgsql_seen seen;

  reply->at = w->answer_len;
  for (;;) {
    seen = bn_pgsql_reply_read_asides(reply, bn_stream_data(s), bn_stream_len(s));
    if (seen != BN_PGSQL_INCOMPLETE)
      break;
    wire_forget_asides(w);
    if (bn_stream_need(s, reply->need) != 0)
      return false;
  }
  if (seen != BN_PGSQL_READY)
    return false;
  wire_store_text_settings(w);
  bn_stream_cut(s, w->answer_len);
  return true;
}

void bn_pgsql_wire_lend(struct bn_pgsql_wire *w)
{
  struct bn_sql_diag d;

  if (w->socket_user != BN_PGSQL_SOCKET_WIRE)
    return;
  if (wire_read_asides(w) && bn_stream_lend(&w->stream) == 0)
    w->socket_user = BN_PGSQL_SOCKET_LENT;
  else
    (void)bn_pgsql_lose(w, "", "", &d); /* libpq will find the loss and report it */
}

bool bn_pgsql_wire_take_back(struct bn_pgsql_wire *w, char status)
{
  if (bn_stream_take(&w->stream) != 0)
    return false;
  w->reply.status = status;
  w->socket_user = BN_PGSQL_SOCKET_WIRE;
  return true;
}

/* --- messages to the server --- */

/* The functions wire_put_… write at p, numbers in network byte order, and return the position after
   the last byte. */

static char *wire_put16(char *p, unsigned n)
{
  const uint16_t bits = htobe16((uint16_t)n);

  memcpy(p, &bits, sizeof bits);
  return p + sizeof bits;
}

static char *wire_put32(char *p, size_t n)
{
  const uint32_t bits = htobe32((uint32_t)n);

  memcpy(p, &bits, sizeof bits);
  return p + sizeof bits;
}

static char *wire_put_bytes(char *p, const void *data, size_t len)
{
  memcpy(p, data, len);
  return p + len;
}

/* Writes a text with its NUL. */
static char *wire_put_text(char *p, const char *text)
{
  return wire_put_bytes(p, text, strlen(text) + 1);
}

/* A message begins with its type and its length, which counts itself, but not the type. */
enum { TYPE = 1, HEAD = TYPE + 4 };

/* Sets the length of the message from `begin` to `end`, once it is written. */
static void wire_put_length(char *begin, const char *end)
{
  (void)wire_put32(begin + TYPE, (size_t)(end - begin) - TYPE);
}

static bool wire_is_number(const struct bn_sql_bind *b)
{
  return b->type == BN_SQL_INT64 || b->type == BN_SQL_DOUBLE;
}

/* Writes the length of a value and the value, in binary form; the length of NULL is -1. */
static char *wire_put_value(char *p, const struct bn_sql_bind *b)
{
  uint64_t bits;

  if (bn_sql_bind_null(b))
    return wire_put32(p, UINT32_MAX);
  if (!wire_is_number(b)) {
    const size_t len = b->data != NULL ? *b->len : 0;

    p = wire_put32(p, len);
    return len > 0 ? wire_put_bytes(p, b->data, len) : p;
  }
  memcpy(&bits, b->data, sizeof bits);
  bits = htobe64(bits);
  return wire_put_bytes(wire_put32(p, sizeof bits), &bits, sizeof bits);
}

/* Returns a number of bytes that suffices for wire_put_bind() with `describe` and `execute_sync`
   after it, or 0 if that is more than a message can have.  Each value has a length of 4 bytes, and
   a number has 8. */
static size_t wire_bind_size(const struct bn_pgsql_request *q)
{
  enum { FIXED_MAX = 64 }; /* more than the parts of fixed length have */
  size_t size = FIXED_MAX + sizeof q->name + (4 + 8) * q->n_params;

  for (size_t i = 0; i < q->n_params; i++) {
    const struct bn_sql_bind *b = &q->binds[i];

    if (wire_is_number(b) || bn_sql_bind_null(b))
      continue;
    if (*b->len > INT32_MAX - size)
      return 0;
    size += *b->len;
  }
  return size <= INT32_MAX ? size : 0;
}

/* Writes the message that binds the values to a statement.  name: "" for the statement that has
   none.  All parameters have the format binary, and results come as text. */
static char *wire_put_bind(char *p, const struct bn_pgsql_request *q, const char *name)
{
  enum { FORMAT_BINARY = 1 };
  char *const begin = p;

  *p = 'B';
  p += HEAD;
  *p++ = '\0'; /* the portal has no name */
  p = wire_put_text(p, name);
  p = wire_put16(p, 1); /* one format for all parameters */
  p = wire_put16(p, FORMAT_BINARY);
  p = wire_put16(p, (unsigned)q->n_params);
  for (size_t i = 0; i < q->n_params; i++)
    p = wire_put_value(p, &q->binds[i]);
  p = wire_put16(p, 0); /* no format for results: text */
  wire_put_length(begin, p);
  return p;
}

/* Complete messages, each with its type, its length and its body: Describe of the portal without a
   name; Execute of that portal without a limit of rows, and Sync; Sync alone. */
static const char describe[] = {'D', 0, 0, 0, 6, 'P', 0};
static const char execute_sync[] = {'E', 0, 0, 0, 9, 0, 0, 0, 0, 0, 'S', 0, 0, 0, 4};
static const char sync_only[] = {'S', 0, 0, 0, 4};

/* Returns a number of bytes that suffices for wire_put_parse: after the names, the text with its
   NUL, the number of parameters (2 bytes), and their types (4 bytes each). */
static size_t wire_parse_size(const struct bn_pgsql_request *q)
{
  return HEAD + sizeof q->name + strlen(q->sql) + 1 + 2 + 4 * q->n_params;
}

/* Writes the message that prepares a statement under a name. */
static char *wire_put_parse(char *p, const struct bn_pgsql_request *q, const char *name)
{
  char *const begin = p;

  *p = 'P';
  p = wire_put_text(p + HEAD, name);
  p = wire_put_text(p, q->sql);
  p = wire_put16(p, (unsigned)q->n_params);
  for (size_t i = 0; i < q->n_params; i++)
    p = wire_put32(p, q->type[i]);
  wire_put_length(begin, p);
  return p;
}

/* --- answers --- */

/* The protocol of the messages of a statement. */
enum protocol { SIMPLE, EXTENDED };

/* Tells the server, which waits for rows of COPY, that there are none.  Returns 0, or -1 if the
   message cannot be sent. */
static int wire_refuse_copy(struct bn_pgsql_wire *w, enum protocol protocol)
{
  const size_t room = HEAD + sizeof bn_pgsql_no_rows_to_copy + sizeof sync_only;
  char *const begin = bn_stream_room(&w->stream, room), *p;

  if (begin == NULL)
    return -1;
  *begin = 'f';
  p = wire_put_text(begin + HEAD, bn_pgsql_no_rows_to_copy);
  wire_put_length(begin, p);
  /* The server has ignored the Sync that came with the statement. */
  if (protocol == EXTENDED)
    p = wire_put_bytes(p, sync_only, sizeof sync_only);
  bn_stream_wrote(&w->stream, (size_t)(p - begin));
  return bn_stream_flush(&w->stream);
}

/* Fills d with the error of the answer.  Returns ERROR or LOST. */
static enum bn_sql wire_report_error(struct bn_pgsql_wire *w, const char *call,
                                     struct bn_sql_diag *d)
{
  const struct bn_pgsql_reply *reply = &w->reply;
  const char *body = bn_stream_data(&w->stream) + reply->error_at;
  char state[6], text[sizeof d->text];
  enum bn_sql rc;

  bn_pgsql_error_field(body, reply->error_len, BN_PGSQL_FIELD_STATE, state, sizeof state);
  bn_pgsql_error_field(body, reply->error_len, BN_PGSQL_FIELD_MESSAGE, text, sizeof text);
  if (text[0] == '\0')
    (void)snprintf(text, sizeof text, "ERROR:  "); /* as libpq */
  rc = bn_pgsql_fail_text(state, call, text, d);
  d->rolled_back = reply->status == 'I';
  return rc;
}

/* Reports an answer that has neither rows nor the end of a command, and sets w->parsed: the answer
   to bn_pgsql_wire_prepare is of this kind, even if nothing has failed.  Returns ERROR or LOST. */
static enum bn_sql wire_report_without_result(struct bn_pgsql_wire *w, const char *call,
                                              struct bn_sql_diag *d)
{
  const struct bn_pgsql_reply *reply = &w->reply;

  w->parsed = bn_pgsql_reply_count_parsed(reply, bn_stream_data(&w->stream));
  if (bn_pgsql_reply_has_copied(reply))
    return bn_pgsql_fail_copy(d);
  if (reply->kind == BN_PGSQL_ERROR)
    return wire_report_error(w, call, d);
  return bn_pgsql_fail_text("", call, "the query is empty", d);
}

/* Makes the outcome of an answer that was read to its end.  Rows stay in the stream until they are
   fetched; any other answer is dropped at once.  The data of COPY is not a result. */
static enum bn_sql wire_conclude(struct bn_pgsql_wire *w, const char *call, struct bn_sql_result *r,
                                 struct bn_sql_diag *d)
{
  const struct bn_pgsql_reply *reply = &w->reply;
  enum bn_sql rc;

  w->answer_len = reply->at;
  if (__builtin_expect(reply->plain_strings != 0 || reply->encoding[0] != '\0', 0))
    wire_store_text_settings(w);
  if (reply->kind == BN_PGSQL_ROWS && !bn_pgsql_reply_has_copied(reply)) {
    r->nrows = reply->rows;
    r->nfields = (uint32_t)reply->result_fields;
    r->rows = w;
    bn_pgsql_cursor_begin(&w->cursor, reply, bn_stream_data(&w->stream));
    return BN_SQL_ROWS;
  }
  if (__builtin_expect(reply->kind == BN_PGSQL_COMMAND && !bn_pgsql_reply_has_copied(reply), 1)) {
    r->affected = reply->affected;
    rc = BN_SQL_DONE;
  } else {
    rc = wire_report_without_result(w, call, d);
  }
  wire_drop_answer(w);
  return rc;
}

/* Drops notices, and rows that nobody wants. */
static void wire_pack(struct bn_pgsql_wire *w)
{
  struct bn_stream *s = &w->stream;
  const size_t len = bn_stream_len(s);

  bn_stream_cut(s, len - bn_pgsql_reply_pack(&w->reply, s->in.data + s->begin, len));
}

/* Sends the written messages and reads the answer.  `call` names the failed call in messages. */
static enum bn_sql wire_converse(struct bn_pgsql_wire *w, enum protocol protocol, const char *call,
                                 struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct bn_stream *s = &w->stream;
  struct bn_pgsql_reply *reply = &w->reply;

  if (__builtin_expect(bn_stream_flush(s) != 0, 0))
    return bn_pgsql_lose_unsent(w, call, d);
  for (;;) {
    switch (bn_pgsql_reply_read(reply, bn_stream_data(s), bn_stream_len(s))) {
    case BN_PGSQL_READY:
      return wire_conclude(w, call, r, d);
    case BN_PGSQL_ODD:
      return bn_pgsql_lose_sync(w, call, d);
    case BN_PGSQL_COPY_IN:
      if (wire_refuse_copy(w, protocol) != 0)
        return bn_pgsql_lose_socket(w, call, "send data to", d);
      break;
    case BN_PGSQL_INCOMPLETE:
      /* A server may send notices without end. */
      if (__builtin_expect(bn_pgsql_reply_can_pack(reply), 0))
        wire_pack(w);
      if (__builtin_expect(bn_stream_need(s, reply->need) != 0, 0))
        return bn_pgsql_lose_socket(w, call, "receive data from", d);
    }
  }
}

/* Drops the last answer and begins a new one, whose rows have `fields` fields if the server does
   not describe them.  Returns true, or false on a lost connection, with the outcome in *rc and
   d. */
static bool wire_begin_answer(struct bn_pgsql_wire *w, int fields, const char *call,
                              struct bn_sql_result *r, struct bn_sql_diag *d, enum bn_sql *rc)
{
  *r = (struct bn_sql_result){.affected = 0};
  if (__builtin_expect(w->socket_user == BN_PGSQL_SOCKET_LOST, 0)) {
    *rc = bn_pgsql_lose(w, call, "no connection to the server", d);
    return false;
  }
  wire_drop_answer(w);
  bn_pgsql_reply_begin(&w->reply, fields);
  return true;
}

enum bn_sql bn_pgsql_wire_query(struct bn_pgsql_wire *w, const char *sql, struct bn_sql_result *r,
                                struct bn_sql_diag *d)
{
  const size_t len = strlen(sql) + 1;
  enum bn_sql rc;
  char *p;

  if (!wire_begin_answer(w, BN_PGSQL_NO_ROWS, "PQexec", r, d, &rc))
    return rc;
  /* A text that is too long for a message fails as if there were no memory. */
  p = len <= INT32_MAX - HEAD ? bn_stream_room(&w->stream, len + HEAD) : NULL;
  if (p == NULL)
    return bn_pgsql_fail_out_of_memory("PQexec", d);
  *p = 'Q';
  (void)wire_put32(p + TYPE, len + HEAD - TYPE);
  memcpy(p + HEAD, sql, len);
  bn_stream_wrote(&w->stream, len + HEAD);
  return wire_converse(w, SIMPLE, "PQexec", r, d);
}

enum bn_sql bn_pgsql_wire_execute(struct bn_pgsql_wire *w, const struct bn_pgsql_request *q,
                                  int *fields, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  static const char call[] = "PQexecPrepared";
  const size_t size = wire_bind_size(q);
  const bool fields_known = *fields != BN_PGSQL_UNKNOWN;
  char *begin, *p;
  enum bn_sql rc;

  if (!wire_begin_answer(w, fields_known ? *fields : BN_PGSQL_NO_ROWS, call, r, d, &rc))
    return rc;
  if (__builtin_expect(size == 0, 0))
    return bn_pgsql_fail_too_long(call, d);
  begin = bn_stream_room(&w->stream, size);
  if (__builtin_expect(begin == NULL, 0))
    return bn_pgsql_fail_out_of_memory(call, d);
  p = wire_put_bind(begin, q, q->name);
  if (!fields_known)
    p = wire_put_bytes(p, describe, sizeof describe);
  p = wire_put_bytes(p, execute_sync, sizeof execute_sync);
  bn_stream_wrote(&w->stream, (size_t)(p - begin));
  rc = wire_converse(w, EXTENDED, call, r, d);
  if (__builtin_expect(!fields_known, 0) && rc <= BN_SQL_ROWS) /* DONE or ROWS */
    *fields = rc == BN_SQL_ROWS ? w->reply.result_fields : BN_PGSQL_NO_ROWS;
  return rc;
}

enum bn_sql bn_pgsql_wire_execute_anew(struct bn_pgsql_wire *w, const struct bn_pgsql_request *q,
                                       struct bn_sql_result *r, struct bn_sql_diag *d)
{
  static const char call[] = "PQexecParams";
  const size_t bind = wire_bind_size(q), parse = wire_parse_size(q);
  char *begin, *p;
  enum bn_sql rc;

  if (!wire_begin_answer(w, BN_PGSQL_NO_ROWS, call, r, d, &rc))
    return rc;
  if (bind == 0)
    return bn_pgsql_fail_too_long(call, d);
  begin = parse < INT32_MAX - bind ? bn_stream_room(&w->stream, bind + parse) : NULL;
  if (begin == NULL)
    return bn_pgsql_fail_out_of_memory(call, d);
  p = wire_put_bind(wire_put_parse(begin, q, ""), q, "");
  p = wire_put_bytes(p, describe, sizeof describe);
  p = wire_put_bytes(p, execute_sync, sizeof execute_sync);
  bn_stream_wrote(&w->stream, (size_t)(p - begin));
  return wire_converse(w, EXTENDED, call, r, d);
}

enum bn_sql bn_pgsql_wire_prepare(struct bn_pgsql_wire *w, struct bn_pgsql_request *const *q,
                                  size_t n, size_t *done, struct bn_sql_diag *d)
{
  size_t room = sizeof sync_only;
  struct bn_sql_result r;
  char *begin, *p;
  enum bn_sql rc;

  *done = 0;
  for (size_t i = 0; i < n; i++)
    room += wire_parse_size(q[i]);
  if (room > INT32_MAX) /* the caller prepares one by one what is not done */
    return BN_SQL_DONE;
  if (!wire_begin_answer(w, BN_PGSQL_NO_ROWS, "PQprepare()", &r, d, &rc))
    return rc;
  begin = p = bn_stream_room(&w->stream, room);
  if (begin == NULL)
    return BN_SQL_DONE;
  for (size_t i = 0; i < n; i++)
    p = wire_put_parse(p, q[i], q[i]->name);
  p = wire_put_bytes(p, sync_only, sizeof sync_only);
  bn_stream_wrote(&w->stream, (size_t)(p - begin));
  w->parsed = 0;
  rc = wire_converse(w, EXTENDED, "PQprepare()", &r, d);
  if (rc == BN_SQL_LOST)
    return rc;
  *done = w->parsed < n ? w->parsed : n;
  return BN_SQL_DONE;
}

/* Does nothing at the end of the rows.  If a row has another form than announced, it ends the
   connection, whose further bytes cannot be trusted.  Returns false: no row was fetched. */
static bool wire_end_rows(struct bn_pgsql_wire *w, struct bn_sql_result *r)
{
  struct bn_sql_diag d;

  if (!w->cursor.bad)
    return false;
  r->cut = true;
  (void)bn_pgsql_lose(w, "", "", &d);
  return false;
}

bool bn_pgsql_wire_fetch(struct bn_pgsql_wire *w, struct bn_sql_result *r, struct bn_sql_value *row)
{
  if (w->answer_len == 0)
    return false;
  if (bn_pgsql_cursor_next(&w->cursor, w->stream.in.data + w->stream.begin,
                           bn_stream_len(&w->stream), (int)r->nfields, row))
    return true;
  return wire_end_rows(w, r);
}

void bn_pgsql_wire_free_result(struct bn_pgsql_wire *w)
{
  wire_drop_answer(w);
}
