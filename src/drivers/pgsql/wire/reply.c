/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a server's messages: a type, a length that counts itself, and a body. */
#include "drivers/pgsql/wire/reply.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the parts of messages. */
enum {
  TYPE = 1,
  LENGTH = 4, /* counts itself and the body, but not the type */
  HEAD = TYPE + LENGTH,
  FIELD_COUNT = 2, /* of a row, or of the description of rows */
  VALUE_LENGTH = 4 /* counts the bytes of a value, but not itself */
};

enum { SHORT_MAX = 30000 }; /* the largest length of most messages */

/* Types of messages, by the protocol's names. */
enum {
  PARSE_COMPLETE = '1',
  BIND_COMPLETE = '2',
  NOTIFICATION = 'A',
  COMMAND_COMPLETE = 'C',
  DATA_ROW = 'D',
  ERROR_RESPONSE = 'E',
  COPY_IN = 'G',
  COPY_OUT = 'H',
  EMPTY_QUERY = 'I',
  NOTICE = 'N',
  PARAMETER_STATUS = 'S',
  ROW_DESCRIPTION = 'T',
  FUNCTION_RESULT = 'V',
  READY_FOR_QUERY = 'Z',
  COPY_DONE = 'c',
  COPY_DATA = 'd',
  NO_DATA = 'n'
};

/* A message that has arrived completely. */
struct message {
  const char *body;
  size_t len; /* of the body */
  size_t at;  /* of its type */
};

/* Reads a signed number of 4 bytes in network byte order. */
static int32_t reply_get_int32(const char *p)
{
  uint32_t bits;

  memcpy(&bits, p, sizeof bits);
  return (int32_t)be32toh(bits);
}

/* Reads an unsigned number of 2 bytes in network byte order. */
static int reply_get_int16(const char *p)
{
  uint16_t bits;

  memcpy(&bits, p, sizeof bits);
  return be16toh(bits);
}

/* Members that are left out outlive an answer (status, last_state), or are set before their use. */
void bn_pgsql_reply_begin(struct bn_pgsql_reply *r, int fields)
{
  r->kind = BN_PGSQL_NOTHING;
  r->flags = 0;
  r->fields = fields;
  r->rows = r->affected = 0;
  r->rows_at = r->at = r->error_at = r->error_len = 0;
  r->plain_strings = 0;
  r->encoding[0] = '\0';
}

/* Stores type and length of a message that is not valid, for bn_pgsql_lose_sync.  Returns ODD. */
static enum bn_pgsql_seen reply_refuse(struct bn_pgsql_reply *r, char type, int32_t len)
{
  r->odd_type = type;
  r->odd_len = len;
  return BN_PGSQL_ODD;
}

/* Returns whether a message of this type can be longer than SHORT_MAX, as in libpq. */
static bool reply_may_be_long(char type)
{
  static const char types[] = {ROW_DESCRIPTION, DATA_ROW, COPY_DATA,    FUNCTION_RESULT,
                               ERROR_RESPONSE,  NOTICE,   NOTIFICATION, PARAMETER_STATUS};

  return memchr(types, type, sizeof types) != NULL;
}

/* Finds the message at r->at.  Returns READY and *m if it is complete; INCOMPLETE if more bytes
   have to come; or ODD if its length is not valid.  Sets r->need to the end of the message, or to
   that of its head if the length has not come. */
static enum bn_pgsql_seen reply_next_message(struct bn_pgsql_reply *r, const char *data, size_t len,
                                             struct message *m)
{
  const size_t remaining = len - r->at;
  int32_t n;

  r->need = r->at + HEAD;
  if (remaining < HEAD)
    return BN_PGSQL_INCOMPLETE;
  n = reply_get_int32(data + r->at + TYPE);
  if (n < LENGTH || (n > SHORT_MAX && !reply_may_be_long(data[r->at])))
    return reply_refuse(r, data[r->at], n);
  r->need = r->at + TYPE + (size_t)n;
  if (remaining < TYPE + (size_t)n)
    return BN_PGSQL_INCOMPLETE;
  *m = (struct message){.body = data + r->at + HEAD, .len = (size_t)n - LENGTH, .at = r->at};
  return BN_PGSQL_READY;
}

/* Stores the value of a setting if it decides how texts are escaped.  The message is
   "name\0value\0". */
static void reply_store_setting(struct bn_pgsql_reply *r, const struct message *m)
{
  const size_t name_len = strnlen(m->body, m->len);
  const char *value = m->body + name_len + 1;
  const size_t value_room = m->len > name_len ? m->len - name_len - 1 : 0;

  if (value_room == 0 || memchr(value, '\0', value_room) == NULL)
    return;
  if (strcmp(m->body, "standard_conforming_strings") == 0)
    r->plain_strings = strcmp(value, "on") == 0 ? '1' : '0';
  else if (strcmp(m->body, "client_encoding") == 0)
    (void)snprintf(r->encoding, sizeof r->encoding, "%s", value);
}

/* Remembers that the answer has messages of this kind, BN_PGSQL_COPIED or BN_PGSQL_TALKED, which
   can be packed.  The first time, packing will begin at the first byte of the answer. */
static void reply_mark_packable(struct bn_pgsql_reply *r, uint8_t kind)
{
  if (!bn_pgsql_reply_can_pack(r))
    r->packed = 0;
  r->flags |= kind;
}

/* Stores the SQLSTATE of an error or a notice: a server that ends the connection says why in an
   error, or in a notice if it cannot wait. */
static void reply_store_last_state(struct bn_pgsql_reply *r, const struct message *m)
{
  bn_pgsql_error_field(m->body, m->len, BN_PGSQL_FIELD_STATE, r->last_state, sizeof r->last_state);
}

/* Reads a message that may come at any time.  Returns false for a message of another type. */
static bool reply_read_aside(struct bn_pgsql_reply *r, char type, const struct message *m)
{
  if (type == PARAMETER_STATUS)
    reply_store_setting(r, m);
  else if (type == NOTICE)
    reply_store_last_state(r, m);
  else if (type != NOTIFICATION)
    return false;
  reply_mark_packable(r, BN_PGSQL_TALKED);
  return true;
}

/* Reads the number of fields of the coming rows.  Returns false if the message is too short. */
static bool reply_read_description(struct bn_pgsql_reply *r, const struct message *m)
{
  if (m->len < FIELD_COUNT)
    return false;
  r->fields = reply_get_int16(m->body);
  r->flags |= BN_PGSQL_DESCRIBED;
  r->rows = 0;
  return true;
}

/* Counts a row.  Returns false if it has another number of fields than the rows should have. */
static bool reply_count_row(struct bn_pgsql_reply *r, const struct message *m)
{
  const int n = m->len >= FIELD_COUNT ? reply_get_int16(m->body) : -1;

  if (__builtin_expect(r->rows++ == 0, 0)) {
    r->rows_at = m->at;
    /* A statement such as EXECUTE may have other columns than when it was described. */
    if ((r->flags & BN_PGSQL_DESCRIBED) == 0)
      r->fields = n;
  }
  return n >= 0 && n == r->fields;
}

/* Counts the rows that follow at r->at without another message between them, as far as they are
   complete and have the right number of fields: a fast path for many rows. */
static void reply_count_more_rows(struct bn_pgsql_reply *r, const char *data, size_t len)
{
  const int fields = r->fields;
  size_t at = r->at;
  uint64_t rows = r->rows;

  while (len - at >= HEAD + FIELD_COUNT && data[at] == DATA_ROW &&
         reply_get_int16(data + at + HEAD) == fields) {
    const int32_t n = reply_get_int32(data + at + TYPE);

    if (n < LENGTH + FIELD_COUNT || (size_t)n >= len - at)
      break;
    at += TYPE + (size_t)n;
    rows++;
  }
  r->at = at;
  r->rows = rows;
}

/* Returns the number at the end of "UPDATE 5" or "INSERT 0 5"; 0: there is none. */
static uint64_t reply_parse_count(const char *tag, size_t len)
{
  uint64_t n = 0, unit = 1;
  size_t begin = strnlen(tag, len); /* of the digits that were read, from the last one on */
  const size_t end = begin;

  while (begin > 0 && tag[begin - 1] >= '0' && tag[begin - 1] <= '9') {
    n += (uint64_t)(tag[--begin] - '0') * unit;
    unit *= 10;
  }
  return begin < end && begin > 0 && tag[begin - 1] == ' ' ? n : 0;
}

/* Ends the result of a statement, which replaces that of the statement before.  An error stays. */
static void reply_complete_result(struct bn_pgsql_reply *r, const struct message *m)
{
  const bool has_rows = r->fields != BN_PGSQL_NO_ROWS;

  if (r->kind == BN_PGSQL_ERROR)
    return;
  r->kind = has_rows ? BN_PGSQL_ROWS : BN_PGSQL_COMMAND;
  r->result_fields = r->fields;
  r->affected = has_rows ? 0 : reply_parse_count(m->body, m->len);
  if (!has_rows)
    r->rows = 0;
  r->fields = BN_PGSQL_NO_ROWS;
  r->flags &= (uint8_t)~BN_PGSQL_DESCRIBED;
}

/* Makes an error the outcome of the answer, unless there was one before. */
static void reply_store_error(struct bn_pgsql_reply *r, const struct message *m)
{
  reply_store_last_state(r, m);
  if (r->kind == BN_PGSQL_ERROR)
    return;
  r->kind = BN_PGSQL_ERROR;
  r->error_at = m->at + HEAD;
  r->error_len = m->len;
}

/* Passes over a message of COPY, whose data is no result.  The message that begins the COPY comes
   before its data, and marks the answer for all of them.  Returns false for a message of another
   type. */
static bool reply_pass_over_copy(struct bn_pgsql_reply *r, char type)
{
  const bool begins = type == COPY_IN || type == COPY_OUT;

  if (begins)
    reply_mark_packable(r, BN_PGSQL_COPIED);
  return begins || type == COPY_DATA || type == COPY_DONE;
}

/* Reads a message that is rarer than rows.  Returns false if the message has no place here. */
static bool reply_read_message(struct bn_pgsql_reply *r, char type, const struct message *m)
{
  switch (type) {
  case BIND_COMPLETE:
  case PARSE_COMPLETE:
    return true;
  case COMMAND_COMPLETE:
    reply_complete_result(r, m);
    return true;
  case ROW_DESCRIPTION:
    return reply_read_description(r, m);
  case NO_DATA:
    r->fields = BN_PGSQL_NO_ROWS;
    return true;
  case EMPTY_QUERY:
    if (r->kind != BN_PGSQL_ERROR)
      r->kind = BN_PGSQL_EMPTY;
    return true;
  case ERROR_RESPONSE:
    reply_store_error(r, m);
    return true;
  default:
    return reply_read_aside(r, type, m) || reply_pass_over_copy(r, type);
  }
}

enum bn_pgsql_seen bn_pgsql_reply_read(struct bn_pgsql_reply *r, const char *data, size_t len)
{
  struct message m;
  enum bn_pgsql_seen seen;

  while ((seen = reply_next_message(r, data, len, &m)) == BN_PGSQL_READY) {
    const char type = data[m.at];

    r->at = r->need;
    if (type == DATA_ROW) {
      if (!reply_count_row(r, &m))
        return reply_refuse(r, type, (int32_t)m.len + LENGTH);
      reply_count_more_rows(r, data, len);
    } else if (type == READY_FOR_QUERY && m.len == 1) {
      r->status = m.body[0];
      return BN_PGSQL_READY;
    } else if (!reply_read_message(r, type, &m)) {
      return reply_refuse(r, type, (int32_t)m.len + LENGTH);
    } else if (type == COPY_IN) {
      return BN_PGSQL_COPY_IN;
    }
  }
  return seen;
}

/* Returns whether the message at offset `at` is the error that is the outcome. */
static bool reply_is_error_at(const struct bn_pgsql_reply *r, size_t at)
{
  return r->kind == BN_PGSQL_ERROR && at + HEAD == r->error_at;
}

/* Returns whether the message at offset `at` is a row that is kept: one of the last result, unless
   an error or COPY has come, after which rows are not fetched. */
static bool reply_is_row_at(const struct bn_pgsql_reply *r, const char *data, size_t at)
{
  return data[at] == DATA_ROW && at >= r->rows_at && r->rows > 0 && r->kind != BN_PGSQL_ERROR &&
         !bn_pgsql_reply_has_copied(r);
}

/* Goes over the complete messages that were not packed before.  Each message that is kept moves to
   the end of the last message that was kept; the bytes after the last complete message follow. */
size_t bn_pgsql_reply_pack(struct bn_pgsql_reply *r, char *data, size_t len)
{
  size_t to = r->packed, removed;

  for (size_t from = to, n; from < r->at; from += n) {
    const bool is_error = reply_is_error_at(r, from), is_row = reply_is_row_at(r, data, from);

    n = TYPE + (size_t)reply_get_int32(data + from + TYPE);
    if (!is_error && !is_row)
      continue;
    if (is_error)
      r->error_at = to + HEAD;
    else if (from == r->rows_at)
      r->rows_at = to;
    memmove(data + to, data + from, n);
    to += n;
  }
  memmove(data + to, data + r->at, len - r->at);
  removed = r->at - to;
  r->packed = r->at = to;
  r->need -= removed;
  return removed;
}

size_t bn_pgsql_reply_count_parsed(const struct bn_pgsql_reply *r, const char *data)
{
  size_t n = 0;

  for (size_t at = 0; at < r->at; at += TYPE + (size_t)reply_get_int32(data + at + TYPE))
    n += data[at] == PARSE_COMPLETE;
  return n;
}

enum bn_pgsql_seen bn_pgsql_reply_read_asides(struct bn_pgsql_reply *r, const char *data,
                                              size_t len)
{
  struct message m;

  while (r->at < len) {
    const enum bn_pgsql_seen seen = reply_next_message(r, data, len, &m);
    const char type = data[r->at];

    if (seen != BN_PGSQL_READY)
      return seen;
    /* An error between answers ends the connection. */
    if (!reply_read_aside(r, type, &m) && type != ERROR_RESPONSE)
      return reply_refuse(r, type, (int32_t)m.len + LENGTH);
    r->at = r->need;
  }
  return BN_PGSQL_READY;
}

/* The body has fields, each a code and a text with a NUL at its end.  A NUL follows the last. */
void bn_pgsql_error_field(const char *body, size_t len, char code, char *out, size_t room)
{
  const char *const end = body + len;

  out[0] = '\0';
  while (body < end && *body != '\0') {
    const char *value = body + 1;
    const char *value_end = value < end ? memchr(value, '\0', (size_t)(end - value)) : NULL;

    if (value_end == NULL)
      return;
    if (*body == code) {
      (void)snprintf(out, room, "%s", value);
      return;
    }
    body = value_end + 1;
  }
}

void bn_pgsql_cursor_begin(struct bn_pgsql_cursor *c, const struct bn_pgsql_reply *r,
                           const char *data)
{
  *c = (struct bn_pgsql_cursor){.at = r->rows_at,
                                .remaining = bn_pgsql_reply_has_copied(r) ? 0 : r->rows};
  if (c->remaining > 0)
    c->type = data[c->at];
}

/* Moves the cursor to the next row, over messages between two rows; another message always follows
   the last row.  Returns false if there is no row. */
static bool reply_find_row(struct bn_pgsql_cursor *c, const char *data)
{
  if (c->remaining == 0)
    return false;
  while (c->type != DATA_ROW) {
    c->at += TYPE + (size_t)reply_get_int32(data + c->at + TYPE);
    c->type = data[c->at];
  }
  c->remaining--;
  return true;
}

/* Marks the row bad and ends the rows.  Returns false. */
static bool reply_refuse_row(struct bn_pgsql_cursor *c)
{
  c->remaining = 0;
  c->bad = true;
  return false;
}

bool bn_pgsql_cursor_next(struct bn_pgsql_cursor *c, char *data, size_t len, int fields,
                          struct bn_sql_value *row)
{
  char *p, *end, *value_end = NULL;

  if (!reply_find_row(c, data))
    return false;
  end = data + c->at + TYPE + (size_t)reply_get_int32(data + c->at + TYPE);
  p = data + c->at + HEAD + FIELD_COUNT;
  for (int i = 0; i < fields; i++) {
    /* The length of a value, -1 for NULL; where the row has ended, a length that does not fit. */
    const int32_t value_len = end - p >= VALUE_LENGTH ? reply_get_int32(p) : INT32_MAX;

    /* The NUL after a value is in the place of the next length, which was read before. */
    if (value_end != NULL)
      *value_end = '\0';
    value_end = NULL;
    if (value_len < -1 || value_len > end - p - VALUE_LENGTH)
      return reply_refuse_row(c);
    p += VALUE_LENGTH;
    if (value_len < 0) { /* NULL */
      row[i] = (struct bn_sql_value){.ptr = NULL, .len = 0};
      continue;
    }
    row[i] = (struct bn_sql_value){.ptr = p, .len = (size_t)value_len};
    p += value_len;
    value_end = p;
  }
  if (p != end)
    return reply_refuse_row(c);
  c->at = (size_t)(end - data);
  c->type = c->at < len ? *end : '\0';
  if (value_end != NULL && value_end < data + len)
    *value_end = '\0';
  return true;
}
