/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements without the client library: on a connection that the library has opened, this driver
   writes the packets of frequent statements and reads their answers itself.  Rows stay as they
   arrived until they are fetched. */
#include "drivers/mysql/wire/wire.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "drivers/mysql/error.h"
#include "drivers/mysql/wire/row.h"

enum {
  COM_QUERY_BYTE = 3,
  COM_PREPARE_BYTE = 0x16,
  COM_CLOSE_BYTE = 0x19,
  QUERY_HEAD = 1 + 2, /* at most: the command, and two numbers of attributes */
  QUERY_MAX = 65536,  /* longer queries are rare and left to the library */
  /* Not every library has these names. */
  CAN_END_SHORT = 1 << 24,      /* CLIENT_DEPRECATE_EOF */
  CAN_TAKE_ATTRIBUTES = 1 << 27 /* CLIENT_QUERY_ATTRIBUTES */
};

/* Returns the first byte of the answer that is being read. */
static const uint8_t *wire_reply_data(const struct bn_mysql_wire *w)
{
  return (const uint8_t *)bn_stream_data(&w->stream);
}

/* --- the connection --- */

void bn_mysql_wire_open(struct bn_mysql_wire *w, const struct bn_mysql_lent *lent)
{
  *w = (struct bn_mysql_wire){
      .lent = *lent,
      .attributes = (lent->capabilities & CAN_TAKE_ATTRIBUTES) != 0,
      .reply = {.short_end = (lent->capabilities & CAN_END_SHORT) != 0},
  };
  bn_stream_init(&w->stream, lent->fd, lent->tls, lent->wait);
  /* An encrypted socket is taken once and stays the stream's while the library uses it too: the
     libraries ask OpenSSL for bytes before they wait for the socket, so they find those that it has
     read ahead.  If it cannot be taken, its first use fails. */
  if (lent->tls != NULL)
    (void)bn_stream_take(&w->stream);
}

void bn_mysql_wire_close(struct bn_mysql_wire *w)
{
  bn_stream_done(&w->stream);
  free(w->joined);
  memset(w, 0, sizeof *w);
}

void bn_mysql_wire_give_up(struct bn_mysql_wire *w)
{
  w->broken = true;
}

/* Returns the library's text for one of its errors of a lost connection. */
static const char *wire_find_text(const struct bn_mysql_words *words, int code)
{
  if (code == BN_MYSQL_GONE)
    return words->gone;
  return code == BN_MYSQL_LOST ? words->lost : words->malformed;
}

/* Marks the connection lost, and shuts the socket down, so that the library finds the loss too.
   Fills d with the library's error of that number.  Returns LOST. */
static enum bn_sql wire_lose(struct bn_mysql_wire *w, int code, const char *call,
                             struct bn_sql_diag *d)
{
  w->broken = true;
  w->live = w->more = false;
  bn_sockref_shut(w->lent.socket);
  return bn_mysql_fail_with_status(w->lent.status, code, "HY000", call,
                                   wire_find_text(w->lent.words, code), d);
}

/* --- answers --- */

/* The calls of the library that messages name: `sending` until the number of a result's columns has
   come, then `reading`. */
struct call {
  const char *sending, *reading;
};

/* Returns the name of the call that fails now. */
static const char *wire_failed_call(const struct bn_mysql_wire *w, const struct call *call)
{
  return w->reply.nfields > 0 ? call->reading : call->sending;
}

/* Fills d with the error that the reply is, and drops the reply from the stream.  Returns ERROR or
   LOST. */
static enum bn_sql wire_report_error(struct bn_mysql_wire *w, const struct call *call,
                                     struct bn_sql_diag *d)
{
  const struct bn_mysql_reply *reply = &w->reply;
  char text[sizeof d->text]; /* a copy: the reply leaves the stream before its text is used */
  const size_t room = sizeof text - 1, len = reply->text_len < room ? reply->text_len : room;

  memcpy(text, wire_reply_data(w) + reply->text_at, len);
  text[len] = '\0';
  w->more = false;
  bn_stream_skip(&w->stream, reply->at);
  return bn_mysql_fail_with_status(w->lent.status, reply->code, reply->sql_state,
                                   wire_failed_call(w, call), text, d);
}

/* Remembers the columns that the reply describes. */
static void wire_learn_columns(struct bn_mysql_wire_stmt *st, const struct bn_mysql_wire *w)
{
  const struct bn_mysql_reply *reply = &w->reply;

  st->column = w->lent.host->resize(st->column, reply->described, sizeof *st->column);
  bn_mysql_reply_columns(reply, wire_reply_data(w), st->column);
  st->n_columns = reply->described;
}

/* Makes the rows of the reply, which stay in the stream, the current result.  Returns ROWS. */
static enum bn_sql wire_begin_rows(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                                   struct bn_sql_result *r)
{
  /* The server will not describe these columns again, so they are learned even if nobody fetches
     the rows. */
  if (st != NULL && w->reply.remembered && w->reply.described > 0)
    wire_learn_columns(st, w);
  r->nfields = w->reply.nfields;
  r->nrows = w->rows_remaining = w->reply.nrows;
  r->rows = w; /* tells bn_mysql_fetch that wire/ has the rows */
  w->row_at = w->reply.rows_at;
  w->live = true;
  return BN_SQL_ROWS;
}

/* Reads one result of statement st, or of a text if st is NULL; its first packet has the number
   `seq`.  Returns DONE, ROWS, or the failure. */
static enum bn_sql wire_read_result(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                                    uint8_t seq, const struct call *call, struct bn_sql_result *r,
                                    struct bn_sql_diag *d)
{
  enum bn_mysql_read got = BN_READ_MORE;

  w->reply.binary = st != NULL;
  bn_mysql_reply_begin(&w->reply, seq);
  if (bn_stream_len(&w->stream) > 0) /* an empty stream may have no buffer */
    got = bn_mysql_reply_read(&w->reply, wire_reply_data(w), bn_stream_len(&w->stream));
  while (got == BN_READ_MORE) {
    if (bn_stream_fill(&w->stream, BN_STREAM_WAITING) < 0)
      return wire_lose(w, BN_MYSQL_LOST, wire_failed_call(w, call), d);
    got = bn_mysql_reply_read(&w->reply, wire_reply_data(w), bn_stream_len(&w->stream));
  }
  if (__builtin_expect(got == BN_READ_BAD, 0))
    return wire_lose(w, BN_MYSQL_MALFORMED, call->sending, d);
  if (__builtin_expect(w->reply.code != 0, 0)) {
    /* A server that refuses the statement may not have read the types. */
    if (st != NULL)
      st->types_sent = false;
    return wire_report_error(w, call, d);
  }
  w->more = (w->reply.status & BN_MYSQL_MORE_RESULTS) != 0;
  *w->lent.status = w->reply.status & ~(unsigned)BN_MYSQL_MORE_RESULTS;
  *r = (struct bn_sql_result){.affected = w->reply.affected, .more = w->more};
  if (w->reply.nfields > 0)
    return wire_begin_rows(w, st, r);
  bn_stream_skip(&w->stream, w->reply.at);
  return BN_SQL_DONE;
}

/* Reads the result after the one that wire_read_result has read.  Returns as wire_read_result. */
static enum bn_sql wire_read_next(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                                  const struct call *call, struct bn_sql_result *r,
                                  struct bn_sql_diag *d)
{
  if (__builtin_expect(w->broken, 0))
    return wire_lose(w, BN_MYSQL_LOST, call->reading, d);
  return wire_read_result(w, st, w->reply.seq, call, r, d);
}

/* Drops the current result. */
static void wire_drop_rows(struct bn_mysql_wire *w)
{
  bn_stream_skip(&w->stream, w->reply.at);
  w->live = false;
}

void bn_mysql_wire_settle(struct bn_mysql_wire *w)
{
  /* Failures are dropped too, so no call needs a name; a lost connection fails again at its next
     use. */
  static const struct call unnamed = {"", ""};
  struct bn_sql_result r;
  struct bn_sql_diag d;

  if (w->live)
    wire_drop_rows(w);
  while (w->more) {
    /* The statement of these results is not known here; another one learns their columns. */
    struct bn_mysql_wire_stmt discarded = {.id = 0};

    (void)wire_read_next(w, w->reply.binary ? &discarded : NULL, &unnamed, &r, &d);
    free(discarded.column);
    if (w->live)
      wire_drop_rows(w);
  }
}

/* --- statements --- */

/* Drops pending results.  Returns room for packets of n bytes together, or NULL and the failure:
   its code in *rc, the rest in d. */
static uint8_t *wire_begin_request(struct bn_mysql_wire *w, size_t n, const char *call,
                                   enum bn_sql *rc, struct bn_sql_diag *d)
{
  void *room;

  if (__builtin_expect(w->live || w->more, 0))
    bn_mysql_wire_settle(w);
  if (__builtin_expect(w->broken, 0)) {
    *rc = wire_lose(w, w->lent.words->unsent, call, d);
    return NULL;
  }
  room = bn_stream_room(&w->stream, n);
  if (room == NULL)
    *rc = bn_mysql_fail_with_status(w->lent.status, BN_MYSQL_NO_MEMORY, "HY000", call,
                                    "out of memory", d);
  return room;
}

/* Reports that nothing can be sent or, if the library reads it then, the error that the server has
   sent before it hung up.  Returns LOST. */
static enum bn_sql wire_lose_unsent(struct bn_mysql_wire *w, const struct call *call,
                                    struct bn_sql_diag *d)
{
  enum bn_mysql_read got;

  (void)wire_lose(w, w->lent.words->unsent, call->sending, d);
  if (!w->lent.words->asks_why)
    return BN_SQL_LOST;
  bn_stream_drain(&w->stream);
  bn_mysql_reply_begin(&w->reply, 1); /* an error may have any other sequence number, too */
  if (bn_stream_len(&w->stream) == 0)
    return BN_SQL_LOST;
  got = bn_mysql_reply_read(&w->reply, wire_reply_data(w), bn_stream_len(&w->stream));
  if (got == BN_READ_DONE && w->reply.code != 0)
    (void)wire_report_error(w, call, d);
  return BN_SQL_LOST;
}

/* Sends len bytes of packets, written at the room of wire_begin_request, and reads the first
   result.  Returns as wire_read_result. */
static enum bn_sql wire_converse(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st, size_t len,
                                 const struct call *call, struct bn_sql_result *r,
                                 struct bn_sql_diag *d)
{
  bn_stream_wrote(&w->stream, len);
  if (__builtin_expect(bn_stream_flush(&w->stream) != 0, 0))
    return wire_lose_unsent(w, call, d);
  return wire_read_result(w, st, bn_mysql_answer_seq(len), call, r, d);
}

void bn_mysql_wire_bind(struct bn_mysql_wire_stmt *st, const struct bn_sql_bind *b, size_t n)
{
  st->bind = b;
  st->n_bind = n;
  st->types_sent = false;
}

enum bn_sql bn_mysql_wire_execute(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                                  struct bn_sql_result *r, struct bn_sql_diag *d)
{
  static const struct call call = {"mysql_stmt_execute()", "mysql_stmt_store_result()"};
  size_t len;
  enum bn_sql rc;
  uint8_t *out =
      wire_begin_request(w, bn_mysql_execute_room(st->bind, st->n_bind), call.sending, &rc, d);

  if (out == NULL)
    return rc;
  len = bn_mysql_put_execute(out, st->id, st->bind, st->n_bind, !st->types_sent, w->attributes);
  st->types_sent = true; /* the server remembers them for later executions */
  return wire_converse(w, st, len, &call, r, d);
}

/* --- preparing many statements --- */

static const char prepare_name[] = "mysql_stmt_prepare()";
static const struct call prepare_call = {prepare_name, prepare_name};

/* Sends the requests for all statements.  Returns DONE; ERROR if there was no memory and nothing
   was sent; or LOST. */
static enum bn_sql wire_send_prepares(struct bn_mysql_wire *w, const struct bn_sql_unprepared *list,
                                      size_t n, struct bn_sql_diag *d)
{
  size_t room = 0;
  enum bn_sql rc;
  uint8_t *out, *p;

  for (size_t i = 0; i < n; i++)
    room += bn_mysql_sealed_len(list[i].len + 1);
  p = out = wire_begin_request(w, room, prepare_name, &rc, d);
  if (out == NULL)
    return rc;
  for (size_t i = 0; i < n; i++) {
    p[BN_MYSQL_HEADER] = COM_PREPARE_BYTE;
    memcpy(p + BN_MYSQL_HEADER + 1, list[i].sql, list[i].len);
    p += bn_mysql_seal(p, list[i].len + 1);
  }
  bn_stream_wrote(&w->stream, (size_t)(p - out));
  if (bn_stream_flush(&w->stream) != 0)
    return wire_lose_unsent(w, &prepare_call, d);
  return BN_SQL_DONE;
}

/* Reads into d why the server has refused to prepare a statement; the packet ends at answer->at.
   Returns DONE, because the other statements go on; or LOST if the server hangs up for this reason,
   or the error is malformed. */
static enum bn_sql wire_read_refusal(struct bn_mysql_wire *w,
                                     const struct bn_mysql_prepared *answer, struct bn_sql_diag *d)
{
  /* answer->seq has been advanced past the packet, which is read again. */
  bn_mysql_reply_begin(&w->reply, (uint8_t)(answer->seq - 1));
  /* Code 0: the packet is no error, such as MariaDB's report of progress. */
  if (bn_mysql_reply_read(&w->reply, wire_reply_data(w), answer->at) != BN_READ_DONE ||
      w->reply.code == 0)
    return wire_lose(w, BN_MYSQL_MALFORMED, prepare_name, d);
  /* An ERROR is about this statement alone. */
  return wire_report_error(w, &prepare_call, d) == BN_SQL_LOST ? BN_SQL_LOST : BN_SQL_DONE;
}

/* Reads the description of one statement, or the packet that refuses it.  Returns DONE or LOST. */
static enum bn_sql wire_read_description(struct bn_mysql_wire *w, struct bn_mysql_prepared *answer,
                                         struct bn_sql_diag *d)
{
  enum bn_mysql_read got = BN_READ_MORE;

  for (;;) {
    if (bn_stream_len(&w->stream) > 0) /* an empty stream may have no buffer */
      got = bn_mysql_prepared_read(answer, wire_reply_data(w), bn_stream_len(&w->stream));
    if (got != BN_READ_MORE)
      break;
    if (bn_stream_fill(&w->stream, BN_STREAM_WAITING) < 0)
      return wire_lose(w, BN_MYSQL_LOST, prepare_name, d);
  }
  if (got == BN_READ_BAD)
    return wire_lose(w, BN_MYSQL_MALFORMED, prepare_name, d);
  return BN_SQL_DONE;
}

/* Makes st the statement that the answer, at the beginning of the stream, describes. */
static void wire_adopt(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                       const struct bn_mysql_prepared *answer)
{
  st->id = answer->id;
  st->n_params = answer->n_params;
  st->n_columns = answer->n_columns;
  /* The host ends the process if there is no memory for so few columns, at most 65,535. */
  st->column = w->lent.host->resize(st->column, st->n_columns, sizeof *st->column);
  bn_mysql_prepared_columns(answer, wire_reply_data(w), st->column);
}

void bn_mysql_wire_drop_stmt(struct bn_mysql_wire *w, uint32_t id)
{
  enum { ID_LEN = sizeof id, LEN = 1 + ID_LEN };
  uint8_t *out;

  if (w->broken)
    return;
  out = (uint8_t *)bn_stream_room(&w->stream, LEN + BN_MYSQL_HEADER);
  /* Without room, the server keeps the statement until the connection ends. */
  if (out == NULL)
    return;
  out[BN_MYSQL_HEADER] = COM_CLOSE_BYTE;
  for (unsigned i = 0; i < ID_LEN; i++)
    out[BN_MYSQL_HEADER + 1 + i] = (uint8_t)(id >> 8 * i);
  bn_stream_wrote(&w->stream, bn_mysql_seal(out, LEN));
}

/* Reads the answer to one prepare.  If st is not NULL and the number of parameters is right, st
   becomes the prepared statement, and *adopted is set; else the server forgets the statement.
   Returns DONE, also after a refusal, whose reason is then in d; or LOST. */
static enum bn_sql wire_read_prepare_answer(struct bn_mysql_wire *w,
                                            const struct bn_sql_unprepared *u,
                                            struct bn_mysql_wire_stmt *st, bool *adopted,
                                            struct bn_sql_diag *d)
{
  struct bn_mysql_prepared answer = {.short_end = w->reply.short_end,
                                     .seq = bn_mysql_answer_seq(bn_mysql_sealed_len(u->len + 1))};
  const enum bn_sql rc = wire_read_description(w, &answer, d);

  *adopted = false;
  if (rc != BN_SQL_DONE)
    return rc;
  if (answer.failed)
    return wire_read_refusal(w, &answer, d);
  const bool is_count_right = u->n_binds == BN_MYSQL_ANY_BINDS || u->n_binds == answer.n_params;

  *adopted = st != NULL && is_count_right;
  if (*adopted)
    wire_adopt(w, st, &answer);
  else
    bn_mysql_wire_drop_stmt(w, answer.id);
  bn_stream_skip(&w->stream, answer.at);
  return BN_SQL_DONE;
}

enum bn_sql bn_mysql_wire_prepare(struct bn_mysql_wire *w, const struct bn_sql_unprepared *list,
                                  struct bn_mysql_wire_stmt *const *st, size_t n, size_t *done,
                                  struct bn_sql_diag *d)
{
  enum bn_sql rc = wire_send_prepares(w, list, n, d);

  *done = 0;
  for (size_t i = 0; rc == BN_SQL_DONE && i < n; i++) {
    /* *done counts from the first statement without a gap, so that none is adopted after a
       statement that was not. */
    struct bn_mysql_wire_stmt *const next = *done == i ? st[i] : NULL;
    bool adopted;

    rc = wire_read_prepare_answer(w, &list[i], next, &adopted, d);
    *done += adopted;
  }
  if (rc != BN_SQL_LOST)
    return BN_SQL_DONE;
  for (size_t i = 0; i < *done; i++)
    bn_mysql_wire_free_stmt(st[i]);
  *done = 0;
  return BN_SQL_LOST;
}

bool bn_mysql_wire_takes_text(const char *sql, size_t len)
{
  static const char *const words[] = {"select",  "insert", "update", "delete",
                                      "replace", "begin",  "commit", "rollback"};
  const int first = sql[0] | 0x20; /* in lower case, if it is a letter */

  if (len > QUERY_MAX)
    return false;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    const size_t n = strlen(words[i]);

    /* The first letter decides nearly always; an empty text has its NUL there. */
    if (first == words[i][0] && len >= n && strncasecmp(sql, words[i], n) == 0)
      return true;
  }
  return false;
}

enum bn_sql bn_mysql_wire_query(struct bn_mysql_wire *w, const char *sql, size_t len,
                                struct bn_sql_result *r, struct bn_sql_diag *d)
{
  static const struct call call = {bn_mysql_query_call, "mysql_store_result()"};
  enum bn_sql rc;
  uint8_t *out = wire_begin_request(w, bn_mysql_sealed_len(len + QUERY_HEAD), call.sending, &rc, d);
  uint8_t *p;

  if (out == NULL)
    return rc;
  p = out + BN_MYSQL_HEADER;
  *p++ = COM_QUERY_BYTE;
  if (w->attributes) {
    *p++ = 0; /* number of attributes */
    *p++ = 1; /* number of attribute sets */
  }
  memcpy(p, sql, len);
  p += len;
  return wire_converse(w, NULL, bn_mysql_seal(out, (size_t)(p - out) - BN_MYSQL_HEADER), &call, r,
                       d);
}

enum bn_sql bn_mysql_wire_next(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                               struct bn_sql_result *r, struct bn_sql_diag *d)
{
  static const struct call text = {"mysql_drv_next_result()", "mysql_drv_next_result()"};
  static const struct call prepared = {"mysql_drv_stmt_next_result()",
                                       "mysql_drv_stmt_next_result()"};

  if (w->live)
    wire_drop_rows(w);
  *r = (struct bn_sql_result){.affected = 0};
  if (!w->more)
    return BN_SQL_DONE;
  return wire_read_next(w, st, st != NULL ? &prepared : &text, r, d);
}

/* --- rows --- */

/* Learns the columns of a result if it describes them, and makes room for the text of numbers and
   times, one cell per column, before the first row.  Returns false if the columns are unknown. */
static bool wire_prepare_to_fetch(struct bn_mysql_wire_stmt *st, const struct bn_mysql_wire *w)
{
  const uint32_t n = w->reply.nfields;

  /* MariaDB does not describe again what it has described before: those columns still hold.  If
     reply.remembered, wire_begin_rows has learned new ones too; that is rare, and does no harm. */
  if (w->reply.described > 0)
    wire_learn_columns(st, w);
  else if (st->n_columns != n)
    return false;
  if (st->n_cells >= n)
    return true;
  st->cells = w->lent.host->resize(st->cells, n, BN_MYSQL_CELL);
  st->n_cells = n;
  return true;
}

/* Ends a result and the use of the connection: a row has another form than announced, so that the
   bytes after it cannot be trusted, or there is no memory for it.  Returns false: no row was
   fetched. */
static bool wire_cut_result(struct bn_mysql_wire *w, struct bn_sql_result *r)
{
  w->broken = r->cut = true;
  w->rows_remaining = 0;
  return false;
}

bool bn_mysql_wire_fetch(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                         struct bn_sql_result *r, struct bn_sql_value *row)
{
  struct bn_mysql_row bytes;
  int bad;

  if (!w->live || w->rows_remaining == 0)
    return false;
  if (st != NULL && w->rows_remaining == r->nrows /* the first row */ &&
      !wire_prepare_to_fetch(st, w))
    return wire_cut_result(w, r);
  w->rows_remaining--;
  if (bn_mysql_row_next(wire_reply_data(w), &w->row_at, &w->joined, &bytes) != 0)
    return wire_cut_result(w, r);
  bad = st == NULL ? bn_mysql_row_get_text(&bytes, r->nfields, row)
                   : bn_mysql_row_get_binary(&bytes, st->column, r->nfields, st->cells, row);
  if (__builtin_expect(bad != 0, 0))
    return wire_cut_result(w, r);
  return true;
}

void bn_mysql_wire_free_result(struct bn_mysql_wire *w)
{
  free(w->joined);
  w->joined = NULL;
  if (w->live)
    wire_drop_rows(w);
}

void bn_mysql_wire_free_stmt(struct bn_mysql_wire_stmt *st)
{
  free(st->column);
  free(st->cells);
  memset(st, 0, sizeof *st);
}
