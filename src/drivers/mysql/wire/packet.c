/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the answer of a server to a statement, as far as it has arrived. */
#include "drivers/mysql/wire/packet.h"

#include <string.h>

enum {
  SAYS_OK = 0x00,
  BINARY_ROW = 0x00, /* the first byte of a row of a prepared statement */
  SAYS_FILE = 0xfb,  /* the server asks for a file */
  SAYS_END = 0xfe,
  SAYS_ERROR = 0xff,
  SEQUENCE_AT = 3,    /* offset of the sequence number in the header of a packet */
  END_LEN = 5,        /* of the packet that ends columns or rows, if it is not an OK packet */
  END_STATUS = 3,     /* offset of its status, after type and warnings */
  ERROR_MIN = 1 + 2,  /* least length of an error: type, number */
  COLUMN_TAIL = 12,   /* character set, length, type, flags, decimals and two unused */
  PREPARED_LEN = 12,  /* least length of the first packet about a prepared statement */
  FIELDS_MAX = 65535, /* no server has more */
  PROGRESS = 0xffff   /* not an error: MariaDB reports the progress of ALTER TABLE */
};

int bn_mysql_get_number(const uint8_t **p, const uint8_t *end, uint64_t *n)
{
  const uint8_t *at = *p;
  size_t len;

  if (at == end)
    return -1;
  if (*at < BN_MYSQL_NUMBER_LONG) {
    *n = *at;
    *p = at + 1;
    return 0;
  }
  switch (*at++) {
  case BN_MYSQL_NUMBER_2:
    len = 2;
    break;
  case BN_MYSQL_NUMBER_3:
    len = 3;
    break;
  case BN_MYSQL_NUMBER_8:
    len = 8;
    break;
  default:
    return -1;
  }
  if ((size_t)(end - at) < len)
    return -1;
  *n = 0;
  for (size_t i = len; i-- > 0;)
    *n = *n << 8 | at[i];
  *p = at + len;
  return 0;
}

void bn_mysql_reply_begin(struct bn_mysql_reply *r, uint8_t seq)
{
  *r = (struct bn_mysql_reply){.short_end = r->short_end, .binary = r->binary, .seq = seq};
}

/* The functions packet_read_* and packet_check_* down to packet_read read into r the packet at p,
   without its header, which has len bytes or ends at `end`, and return false if it is not valid. */

/* Reads an OK packet: its type, the number of affected rows, an insert id, status (2) and warnings
   (2).  A reply without rows is an OK packet.  If short_end was negotiated, rows end with an OK
   packet, whose number of affected rows means nothing. */
static bool packet_read_ok(struct bn_mysql_reply *r, const uint8_t *p, const uint8_t *end)
{
  enum { STATUS_AND_WARNINGS = 2 + 2 };
  uint64_t affected, insert_id;

  p++; /* the type */
  if (bn_mysql_get_number(&p, end, &affected) != 0 || bn_mysql_get_number(&p, end, &insert_id) != 0)
    return false;
  if (end - p < STATUS_AND_WARNINGS)
    return false;
  if (r->nfields == 0)
    r->affected = affected;
  r->status = bn_mysql_get2(p);
  r->state = BN_REPLY_DONE;
  return true;
}

/* Reads an error: its type, a number of 2 bytes, '#' and an SQLSTATE of 5 letters, which old
   servers leave out, and a message.  MariaDB's report of progress has the form of an error, and is
   passed over. */
static bool packet_read_error(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  enum { NUMBER_AT = 1, MARK_AT = ERROR_MIN, STATE_AT = MARK_AT + 1 };
  enum { STATE_LEN = 5, STATE_END = STATE_AT + STATE_LEN };
  size_t head = ERROR_MIN;

  if (len < ERROR_MIN)
    return false;
  r->code = bn_mysql_get2(p + NUMBER_AT);
  if (r->code == 0) /* the reply would have no error */
    return false;
  if (r->code == PROGRESS) {
    r->code = 0;
    return true;
  }
  memcpy(r->sql_state, "HY000", sizeof r->sql_state);
  if (len >= STATE_END && p[MARK_AT] == '#') {
    memcpy(r->sql_state, p + STATE_AT, STATE_LEN);
    head = STATE_END;
  }
  r->text_at = r->at + BN_MYSQL_HEADER + head;
  r->text_len = len - head;
  r->state = BN_REPLY_DONE;
  return true;
}

/* Reads the number of columns, and whether their descriptions follow: a server that remembers which
   columns it has described adds a byte, which is 0 if it does not describe them again. */
static bool packet_read_count(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  const uint8_t *end = p + len;
  uint64_t n;

  if (bn_mysql_get_number(&p, end, &n) != 0 || n == 0 || n > FIELDS_MAX || end - p > 1)
    return false;
  r->nfields = (uint32_t)n;
  r->remembered = p != end;
  r->described = r->nfields;
  if (r->remembered && *p == 0)
    r->described = 0;
  r->columns_remaining = r->described;
  r->columns_at = r->rows_at = r->at + BN_MYSQL_HEADER + len;
  if (r->described > 0)
    r->state = BN_REPLY_COLUMNS;
  else
    r->state = r->short_end ? BN_REPLY_ROWS : BN_REPLY_COLUMNS_END;
  return true;
}

/* Reads the packet that says which reply follows.  No statement of this protocol asks for a file,
   and no reply begins with an end: both are malformed. */
static bool packet_read_first(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  switch (p[0]) {
  case SAYS_OK:
    return packet_read_ok(r, p, p + len);
  case SAYS_FILE:
  case SAYS_END:
    return false;
  default:
    return packet_read_count(r, p, len);
  }
}

/* Returns whether the packet describes a column: names, which are not used, and a tail after its
   length. */
static bool packet_is_column(const uint8_t *p, size_t len)
{
  return len > COLUMN_TAIL && p[len - COLUMN_TAIL - 1] == COLUMN_TAIL;
}

/* Returns whether the packet ends columns, without being an OK packet. */
static bool packet_is_end(const uint8_t *p, size_t len)
{
  return p[0] == SAYS_END && len == END_LEN;
}

/* Checks the description of a column, which bn_mysql_reply_columns reads later. */
static bool packet_check_column(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  if (!packet_is_column(p, len))
    return false;
  r->rows_at = r->at + BN_MYSQL_HEADER + len;
  if (--r->columns_remaining == 0)
    r->state = r->short_end ? BN_REPLY_ROWS : BN_REPLY_COLUMNS_END;
  return true;
}

/* Checks the packet that ends the descriptions. */
static bool packet_check_columns_end(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  if (!packet_is_end(p, len))
    return false;
  r->rows_at = r->at + BN_MYSQL_HEADER + len;
  r->state = BN_REPLY_ROWS;
  return true;
}

/* Reads the packet that ends the rows. */
static bool packet_read_rows_end(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  if (r->short_end)
    return packet_read_ok(r, p, p + len);
  if (!packet_is_end(p, len))
    return false;
  r->status = bn_mysql_get2(p + END_STATUS);
  r->state = BN_REPLY_DONE;
  return true;
}

/* Counts a row, or reads the end of the rows.  A text row whose first value is very long begins
   like the end, but fills its packet. */
static bool packet_read_row_or_end(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  if (p[0] == SAYS_END && len < BN_MYSQL_PACKET_MAX)
    return packet_read_rows_end(r, p, len);
  if (r->binary && p[0] != BINARY_ROW)
    return false;
  r->nrows++;
  r->within = len == BN_MYSQL_PACKET_MAX;
  return true;
}

/* Reads a packet that has arrived completely. */
static bool packet_read(struct bn_mysql_reply *r, const uint8_t *p, size_t len)
{
  if (r->within) { /* the rest of a row, which may be empty */
    r->within = len == BN_MYSQL_PACKET_MAX;
    return true;
  }
  if (len == 0)
    return false;
  if (p[0] == SAYS_ERROR)
    return packet_read_error(r, p, len);
  switch (r->state) {
  case BN_REPLY_FIRST:
    return packet_read_first(r, p, len);
  case BN_REPLY_COLUMNS:
    return packet_check_column(r, p, len);
  case BN_REPLY_COLUMNS_END:
    return packet_check_columns_end(r, p, len);
  case BN_REPLY_ROWS:
    return packet_read_row_or_end(r, p, len);
  case BN_REPLY_DONE:
    break;
  }
  return false;
}

/* Returns whether the packet has the expected sequence number.  An error that is the first packet
   of an answer may have another number: a server sends it on its own, before it closes the
   connection, to say why. */
static bool packet_is_in_turn(uint8_t seq, bool is_first, const uint8_t *header, size_t len)
{
  return header[SEQUENCE_AT] == seq ||
         (is_first && len > 0 && header[BN_MYSQL_HEADER] == SAYS_ERROR);
}

enum bn_mysql_read bn_mysql_reply_read(struct bn_mysql_reply *r, const uint8_t *data, size_t len)
{
  while (r->state != BN_REPLY_DONE) {
    const uint8_t *p = data + r->at;
    size_t packet_len;

    if (len - r->at < BN_MYSQL_HEADER)
      return BN_READ_MORE;
    packet_len = bn_mysql_get3(p);
    if (len - r->at - BN_MYSQL_HEADER < packet_len)
      return BN_READ_MORE;
    if (!packet_is_in_turn(r->seq, r->state == BN_REPLY_FIRST, p, packet_len) ||
        !packet_read(r, p + BN_MYSQL_HEADER, packet_len))
      return BN_READ_BAD;
    r->seq = (uint8_t)(p[SEQUENCE_AT] + 1);
    r->at += BN_MYSQL_HEADER + packet_len;
  }
  return BN_READ_DONE;
}

/* Reads n descriptions of columns, which have been found valid.  The names in each are passed over;
   its last COLUMN_TAIL bytes have the traits at fixed places. */
static void packet_read_columns(const uint8_t *p, uint32_t n, struct bn_mysql_column *out)
{
  enum { LENGTH_AT = 2, TYPE_AT = 6, FLAGS_AT = 7, DECIMALS_AT = 9 };

  for (uint32_t i = 0; i < n; i++) {
    const uint8_t *end = p + BN_MYSQL_HEADER + bn_mysql_get3(p), *tail = end - COLUMN_TAIL;

    out[i] = (struct bn_mysql_column){.length = bn_mysql_get4(tail + LENGTH_AT),
                                      .type = tail[TYPE_AT],
                                      .flags = bn_mysql_get2(tail + FLAGS_AT),
                                      .decimals = tail[DECIMALS_AT]};
    p = end;
  }
}

void bn_mysql_reply_columns(const struct bn_mysql_reply *r, const uint8_t *data,
                            struct bn_mysql_column *out)
{
  packet_read_columns(data + r->columns_at, r->described, out);
}

/* --- descriptions of prepared statements --- */

/* Continues with the descriptions of the columns, which begin at offset `at`, or ends if the rows
   have none. */
static void packet_begin_columns(struct bn_mysql_prepared *r, size_t at)
{
  r->columns_at = at;
  r->remaining = r->n_columns;
  r->state = r->remaining > 0 ? BN_PREPARED_COLUMNS : BN_PREPARED_DONE;
}

/* Reads the first packet about a statement, which ends at `at`: an error, or the statement's id and
   its numbers of columns and of parameters.  Returns false if it is not valid. */
static bool packet_read_prepared(struct bn_mysql_prepared *r, const uint8_t *p, size_t len,
                                 size_t at)
{
  enum { ID_AT = 1, COLUMNS_AT = 5, PARAMS_AT = 7 };

  if (p[0] == SAYS_ERROR && len >= ERROR_MIN) {
    r->failed = true;
    r->state = BN_PREPARED_DONE;
    return true;
  }
  if (p[0] != SAYS_OK || len < PREPARED_LEN)
    return false;
  r->id = bn_mysql_get4(p + ID_AT);
  r->n_columns = bn_mysql_get2(p + COLUMNS_AT);
  r->remaining = r->n_params = bn_mysql_get2(p + PARAMS_AT);
  if (r->remaining > 0)
    r->state = BN_PREPARED_PARAMS;
  else
    packet_begin_columns(r, at);
  return true;
}

/* Returns whether a packet after the first one describes a column if a column is due, and ends the
   columns if their end is due. */
static bool packet_has_expected_form(const struct bn_mysql_prepared *r, const uint8_t *p,
                                     size_t len)
{
  const bool is_column_due = r->state == BN_PREPARED_PARAMS || r->state == BN_PREPARED_COLUMNS;

  return is_column_due ? packet_is_column(p, len) : packet_is_end(p, len);
}

/* Reads one packet of the description, which ends at `at`.  Returns false if it is not valid. */
static bool packet_read_description(struct bn_mysql_prepared *r, const uint8_t *p, size_t len,
                                    size_t at)
{
  if (r->state == BN_PREPARED_FIRST)
    return packet_read_prepared(r, p, len, at);
  if (!packet_has_expected_form(r, p, len))
    return false;
  switch (r->state) {
  case BN_PREPARED_PARAMS:
    r->remaining--;
    if (r->remaining == 0 && r->short_end)
      packet_begin_columns(r, at);
    else if (r->remaining == 0)
      r->state = BN_PREPARED_PARAMS_END;
    break;
  case BN_PREPARED_PARAMS_END:
    packet_begin_columns(r, at);
    break;
  case BN_PREPARED_COLUMNS:
    r->remaining--;
    if (r->remaining == 0)
      r->state = r->short_end ? BN_PREPARED_DONE : BN_PREPARED_COLUMNS_END;
    break;
  default:
    r->state = BN_PREPARED_DONE;
  }
  return true;
}

enum bn_mysql_read bn_mysql_prepared_read(struct bn_mysql_prepared *r, const uint8_t *data,
                                          size_t len)
{
  while (r->state != BN_PREPARED_DONE) {
    const uint8_t *p = data + r->at;
    size_t packet_len;

    if (len - r->at < BN_MYSQL_HEADER)
      return BN_READ_MORE;
    packet_len = bn_mysql_get3(p);
    /* No description is empty, or so long that it continues in the next packet. */
    if (packet_len == 0 || packet_len == BN_MYSQL_PACKET_MAX)
      return BN_READ_BAD;
    if (len - r->at - BN_MYSQL_HEADER < packet_len)
      return BN_READ_MORE;
    if (!packet_is_in_turn(r->seq, r->state == BN_PREPARED_FIRST, p, packet_len) ||
        !packet_read_description(r, p + BN_MYSQL_HEADER, packet_len,
                                 r->at + BN_MYSQL_HEADER + packet_len))
      return BN_READ_BAD;
    r->seq++;
    r->at += BN_MYSQL_HEADER + packet_len;
  }
  return BN_READ_DONE;
}

void bn_mysql_prepared_columns(const struct bn_mysql_prepared *r, const uint8_t *data,
                               struct bn_mysql_column *out)
{
  packet_read_columns(data + r->columns_at, r->n_columns, out);
}
