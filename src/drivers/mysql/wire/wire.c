/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements without the client library: on a connection that it has opened, this driver writes the
   packets of what is sent often and reads the answers itself.  Rows stay as they came until
   somebody fetches them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <errmsg.h>

#include "drivers/mysql/internal.h"
#include "drivers/mysql/wire/row.h"

enum {
  COM_QUERY_BYTE = 3,
  QUERY_MAX = 65536, /* longer ones are rare, and the library's */
  /* Names of these differ, or not every library has them. */
  CAN_END_SHORT = 1 << 24,      /* CLIENT_DEPRECATE_EOF */
  CAN_TAKE_ATTRIBUTES = 1 << 27 /* CLIENT_QUERY_ATTRIBUTES */
};

static const uint8_t *reply_of(const struct bn_mysql_wire *w)
{
  return (const uint8_t *)bn_stream_data(&w->stream);
}

/* --- the connection
 * ------------------------------------------------------------------------------- */

void bn_mysql_wire_open(struct bn_mysql_conn *c)
{
  const struct bn_mysql_conf *conf = c->driver->conf;
  const unsigned long can = c->handle->client_flag & c->handle->server_capabilities;
  struct bn_mysql_wire *w = &c->wire;

  *w = (struct bn_mysql_wire){
      .on = conf->protocol != BN_MYSQL_PROTOCOL_LIBRARY && !conf->debug && !conf->compression &&
            conf->read_timeout_s == 0 && mysql_get_ssl_cipher(c->handle) == NULL,
      .attributes = (can & CAN_TAKE_ATTRIBUTES) != 0,
      .reply = {.short_end = (can & CAN_END_SHORT) != 0},
  };
  bn_stream_init(&w->stream, bn_mysql_lib_socket(c->handle));
}

void bn_mysql_wire_close(struct bn_mysql_conn *c)
{
  bn_stream_done(&c->wire.stream);
  free(c->wire.joined);
  memset(&c->wire, 0, sizeof c->wire);
}

/* Neither this driver nor the library can use the connection any more. */
static enum bn_sql lose(struct bn_mysql_conn *c, int code, const char *call, struct bn_sql_diag *d)
{
  c->wire.broken = true;
  c->wire.live = c->wire.more = false;
  bn_sockref_shut(&c->socket);
  return bn_mysql_fail_as(c, code, "HY000", call, bn_mysql_lib_text(code), d);
}

void bn_mysql_wire_check(struct bn_mysql_conn *c)
{
  if (c->handle != NULL && !bn_mysql_lib_connected(c->handle))
    c->wire.broken = true;
}

/* --- answers
 * -------------------------------------------------------------------------------------- */

/* How messages name what failed. */
struct call {
  const char *sending, *reading;
};

static enum bn_sql take_error(struct bn_mysql_conn *c, const struct call *call,
                              struct bn_sql_diag *d)
{
  struct bn_mysql_wire *w = &c->wire;
  const struct bn_mysql_reply *reply = &w->reply;
  const size_t len = reply->text_len < sizeof d->text ? reply->text_len : sizeof d->text - 1;
  char text[sizeof d->text];

  memcpy(text, reply_of(w) + reply->text_at, len);
  text[len] = '\0';
  w->more = false;
  bn_stream_skip(&w->stream, reply->at);
  return bn_mysql_fail_as(c, reply->code, reply->sql_state,
                          reply->nfields > 0 ? call->reading : call->sending, text, d);
}

/* Remembers the columns that the reply describes. */
static int learn_columns(struct bn_mysql_stmt *st, const struct bn_mysql_wire *w)
{
  const struct bn_mysql_reply *reply = &w->reply;
  struct bn_mysql_column *column = reallocarray(st->wire.column, reply->described, sizeof *column);

  if (column == NULL)
    return -1;
  bn_mysql_reply_columns(reply, reply_of(w), column);
  st->wire.column = column;
  st->wire.n_columns = reply->described;
  return 0;
}

static enum bn_sql take_rows(struct bn_mysql_conn *c, struct bn_mysql_stmt *st,
                             struct bn_sql_result *r)
{
  struct bn_mysql_wire *w = &c->wire;

  /* What was described once is not described again: if nobody fetches it, too. */
  if (st != NULL && w->reply.remembered && w->reply.described > 0 && learn_columns(st, w) != 0)
    st->wire.n_columns = 0;
  r->nfields = w->reply.nfields;
  r->nrows = w->rows_left = w->reply.nrows;
  r->rows = w;
  w->row_at = w->reply.rows_at;
  w->live = true;
  c->source = st;
  return BN_SQL_ROWS;
}

/* Reads one result; the first packet has number seq. */
static enum bn_sql take_result(struct bn_mysql_conn *c, struct bn_mysql_stmt *st, uint8_t seq,
                               const struct call *call, struct bn_sql_result *r,
                               struct bn_sql_diag *d)
{
  struct bn_mysql_wire *w = &c->wire;
  enum bn_mysql_read got = BN_READ_MORE;

  c->source = NULL;
  w->reply.binary = st != NULL;
  bn_mysql_reply_begin(&w->reply, seq);
  if (bn_stream_len(&w->stream) > 0)
    got = bn_mysql_reply_read(&w->reply, reply_of(w), bn_stream_len(&w->stream));
  while (got == BN_READ_MORE) {
    if (bn_stream_fill(&w->stream, true) < 0)
      return lose(c, CR_SERVER_LOST, w->reply.nfields > 0 ? call->reading : call->sending, d);
    got = bn_mysql_reply_read(&w->reply, reply_of(w), bn_stream_len(&w->stream));
  }
  if (__builtin_expect(got == BN_READ_BAD, 0))
    return lose(c, CR_MALFORMED_PACKET, call->sending, d);
  if (__builtin_expect(w->reply.code != 0, 0)) {
    /* A server that has refused the statement may not have looked at them. */
    if (st != NULL)
      st->wire.types_sent = false;
    return take_error(c, call, d);
  }
  w->more = (w->reply.status & BN_MYSQL_MORE_RESULTS) != 0;
  c->handle->server_status = w->reply.status & ~(unsigned)BN_MYSQL_MORE_RESULTS;
  *r = (struct bn_sql_result){.affected = w->reply.affected, .more = w->more};
  if (w->reply.nfields > 0)
    return take_rows(c, st, r);
  bn_stream_skip(&w->stream, w->reply.at);
  return BN_SQL_DONE;
}

/* The result that follows the one that take_result has read. */
static enum bn_sql take_next(struct bn_mysql_conn *c, struct bn_mysql_stmt *st,
                             const struct call *call, struct bn_sql_result *r,
                             struct bn_sql_diag *d)
{
  if (__builtin_expect(c->wire.broken, 0))
    return lose(c, CR_SERVER_LOST, call->reading, d);
  return take_result(c, st, c->wire.reply.seq, call, r, d);
}

static void drop_rows(struct bn_mysql_wire *w)
{
  bn_stream_skip(&w->stream, w->reply.at);
  w->live = false;
}

void bn_mysql_wire_settle(struct bn_mysql_conn *c)
{
  static const struct call nobody = {"", ""};
  struct bn_mysql_wire *w = &c->wire;
  struct bn_sql_result r;
  struct bn_sql_diag d;

  if (w->live)
    drop_rows(w);
  while (w->more) {
    struct bn_mysql_stmt any = {.conn = c};

    (void)take_next(c, w->reply.binary ? &any : NULL, &nobody, &r, &d);
    free(any.wire.column);
    if (w->live)
      drop_rows(w);
  }
  c->source = NULL;
}

/* --- statements
 * ----------------------------------------------------------------------------------- */

/* Room for packets of n bytes altogether; NULL: d says why not. */
static uint8_t *begin(struct bn_mysql_conn *c, size_t n, const char *call, enum bn_sql *rc,
                      struct bn_sql_diag *d)
{
  struct bn_mysql_wire *w = &c->wire;
  void *room;

  if (__builtin_expect(w->live || w->more, 0))
    bn_mysql_wire_settle(c);
  if (__builtin_expect(w->broken, 0)) {
    *rc = lose(c, bn_mysql_lib_unsent(), call, d);
    return NULL;
  }
  room = bn_stream_room(&w->stream, n);
  if (room == NULL)
    *rc = bn_mysql_fail_as(c, CR_OUT_OF_MEMORY, "HY000", call, "out of memory", d);
  return room;
}

/* Nothing can be sent; an error may have come before that. */
static enum bn_sql lose_unsent(struct bn_mysql_conn *c, const struct call *call,
                               struct bn_sql_diag *d)
{
  struct bn_mysql_wire *w = &c->wire;
  const enum bn_sql rc = lose(c, bn_mysql_lib_unsent(), call->sending, d);

  if (!bn_mysql_lib_asks_why())
    return rc;
  while (bn_stream_fill(&w->stream, false) > 0)
    ;
  bn_mysql_reply_begin(&w->reply, 1);
  if (bn_stream_len(&w->stream) > 0 &&
      bn_mysql_reply_read(&w->reply, reply_of(w), bn_stream_len(&w->stream)) == BN_READ_DONE &&
      w->reply.code != 0)
    (void)take_error(c, call, d);
  return BN_SQL_LOST;
}

/* Sends the packets of len bytes that were written where begin said, and reads the first result. */
static enum bn_sql converse(struct bn_mysql_conn *c, struct bn_mysql_stmt *st, size_t len,
                            const struct call *call, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  bn_stream_wrote(&c->wire.stream, len);
  if (__builtin_expect(bn_stream_flush(&c->wire.stream) != 0, 0))
    return lose_unsent(c, call, d);
  return take_result(c, st, bn_mysql_answer_seq(len), call, r, d);
}

enum bn_sql bn_mysql_wire_execute(struct bn_mysql_stmt *st, struct bn_sql_result *r,
                                  struct bn_sql_diag *d)
{
  static const struct call call = {"mysql_stmt_execute()", "mysql_stmt_store_result()"};
  struct bn_mysql_wire_stmt *ws = &st->wire;
  struct bn_mysql_conn *c = st->conn;
  size_t len;
  enum bn_sql rc;
  uint8_t *out = begin(c, bn_mysql_execute_room(ws->bind, ws->n_bind), call.sending, &rc, d);

  if (out == NULL)
    return rc;
  len = bn_mysql_put_execute(out, (uint32_t)st->handle->stmt_id, ws->bind, ws->n_bind,
                             !ws->types_sent, c->wire.attributes);
  ws->types_sent = true;
  return converse(c, st, len, &call, r, d);
}

/* Statements that do nothing to the library's view of the connection. */
bool bn_mysql_wire_takes(const struct bn_mysql_conn *c, const char *sql, size_t len)
{
  static const char *const words[] = {"select",  "insert", "update", "delete",
                                      "replace", "begin",  "commit", "rollback"};

  if (!c->wire.on || len > QUERY_MAX)
    return false;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    const size_t n = strlen(words[i]);

    if ((sql[0] | 0x20) == words[i][0] && len >= n && strncasecmp(sql, words[i], n) == 0)
      return true;
  }
  return false;
}

enum bn_sql bn_mysql_wire_query(struct bn_mysql_conn *c, const char *sql, size_t len,
                                struct bn_sql_result *r, struct bn_sql_diag *d)
{
  static const struct call call = {"mysql_drv_query()", "mysql_store_result()"};
  enum bn_sql rc;
  uint8_t *out = begin(c, bn_mysql_sealed(len + 3), call.sending, &rc, d), *p;

  if (out == NULL)
    return rc;
  p = out + BN_MYSQL_HEADER;
  *p++ = COM_QUERY_BYTE;
  if (c->wire.attributes) {
    *p++ = 0; /* of them */
    *p++ = 1; /* set */
  }
  memcpy(p, sql, len);
  p += len;
  len = bn_mysql_seal(out, (size_t)(p - out) - BN_MYSQL_HEADER);
  return converse(c, NULL, len, &call, r, d);
}

enum bn_sql bn_mysql_wire_next(struct bn_mysql_conn *c, struct bn_mysql_stmt *st,
                               struct bn_sql_result *r, struct bn_sql_diag *d)
{
  static const struct call text = {"mysql_drv_next_result()", "mysql_drv_next_result()"};
  static const struct call prepared = {"mysql_drv_stmt_next_result()",
                                       "mysql_drv_stmt_next_result()"};
  struct bn_mysql_wire *w = &c->wire;

  if (w->live)
    drop_rows(w);
  *r = (struct bn_sql_result){.affected = 0};
  if (!w->more)
    return BN_SQL_DONE;
  return take_next(c, st, st != NULL ? &prepared : &text, r, d);
}

/* --- rows
 * ----------------------------------------------------------------------------------------- */

/* The columns as they were when the statement was prepared. */
static int ask_columns(struct bn_mysql_stmt *st)
{
  MYSQL_RES *res = mysql_stmt_result_metadata(st->handle);
  const unsigned n = res != NULL ? mysql_num_fields(res) : 0;
  struct bn_mysql_column *column = reallocarray(st->wire.column, n, sizeof *column);

  for (unsigned i = 0; i < n && column != NULL; i++) {
    const MYSQL_FIELD *f = mysql_fetch_field_direct(res, i);

    column[i] = (struct bn_mysql_column){.type = (uint8_t)f->type,
                                         .decimals = (uint8_t)f->decimals,
                                         .flags = (uint16_t)f->flags,
                                         .length = (uint32_t)f->length};
  }
  if (res != NULL)
    mysql_free_result(res);
  if (column == NULL)
    return -1;
  st->wire.column = column;
  st->wire.n_columns = n;
  return 0;
}

/* Once per result: whose columns are these, and where do their numbers go? */
static bool ready_to_fetch(struct bn_mysql_stmt *st, const struct bn_mysql_wire *w)
{
  const uint32_t n = w->reply.nfields;
  char *cells;

  if (w->reply.described > 0) {
    if (learn_columns(st, w) != 0)
      return false;
  } else if (st->wire.n_columns != n && (ask_columns(st) != 0 || st->wire.n_columns != n)) {
    return false;
  }
  if (st->wire.n_cells >= n)
    return true;
  cells = reallocarray(st->wire.cells, n, BN_MYSQL_CELL);
  if (cells == NULL)
    return false;
  st->wire.cells = cells;
  st->wire.n_cells = n;
  return true;
}

bool bn_mysql_wire_fetch(struct bn_mysql_conn *c, const struct bn_sql_result *r,
                         struct bn_sql_value *row)
{
  struct bn_mysql_wire *w = &c->wire;
  struct bn_mysql_stmt *st = c->source;
  struct bn_mysql_row bytes;

  if (!w->live || w->rows_left == 0)
    return false;
  if (st != NULL && w->rows_left == r->nrows && !ready_to_fetch(st, w))
    return false;
  w->rows_left--;
  if (bn_mysql_row_next(reply_of(w), &w->row_at, &w->joined, &bytes) != 0)
    return false;
  if (st == NULL)
    return bn_mysql_row_text(&bytes, r->nfields, row) == 0;
  return bn_mysql_row_binary(&bytes, st->wire.column, r->nfields, st->wire.cells, row) == 0;
}

void bn_mysql_wire_free_result(struct bn_mysql_conn *c)
{
  struct bn_mysql_wire *w = &c->wire;

  free(w->joined);
  w->joined = NULL;
  if (w->live)
    drop_rows(w);
}

void bn_mysql_wire_forget(struct bn_mysql_stmt *st)
{
  free(st->wire.column);
  free(st->wire.cells);
  memset(&st->wire, 0, sizeof st->wire);
}
