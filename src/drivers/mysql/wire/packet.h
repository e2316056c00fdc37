/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of MySQL and MariaDB as bytes in memory: what a server answers to a statement, and how a
   prepared one is asked for.  Nothing here trusts a length that it reads. */
#ifndef BN_DRIVERS_MYSQL_WIRE_PACKET_H
#define BN_DRIVERS_MYSQL_WIRE_PACKET_H

#include "api/driver.h"

enum {
  BN_MYSQL_HEADER = 4,           /* length in three bytes, sequence number */
  BN_MYSQL_PACKET_MAX = 0xffffff /* of this length: the next packet goes on with it */
};

/* Bits of a server's status. */
enum { BN_MYSQL_MORE_RESULTS = 1 << 3 };

static inline uint16_t bn_mysql_get2(const uint8_t *p)
{
  return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bn_mysql_get3(const uint8_t *p)
{
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static inline uint32_t bn_mysql_get4(const uint8_t *p)
{
  return bn_mysql_get3(p) | (uint32_t)p[3] << 24;
}

static inline uint64_t bn_mysql_get8(const uint8_t *p)
{
  return bn_mysql_get4(p) | (uint64_t)bn_mysql_get4(p + 4) << 32;
}

/* A number of one to nine bytes at *p, which moves behind it; -1: there is none before end. */
int bn_mysql_get_number(const uint8_t **p, const uint8_t *end, uint64_t *n);

enum bn_mysql_state {
  BN_REPLY_FIRST,
  BN_REPLY_COLUMNS,
  BN_REPLY_COLUMNS_END,
  BN_REPLY_ROWS,
  BN_REPLY_DONE
};

/* One result, as far as it was read.  Offsets are from where the reply begins. */
struct bn_mysql_reply {
  /* For the caller to set: what was negotiated, and what was sent. */
  bool short_end; /* no packet ends the columns (CLIENT_DEPRECATE_EOF) */
  bool binary;    /* rows are those of a prepared statement */
  enum bn_mysql_state state;
  uint8_t seq;        /* of the next packet */
  bool within;        /* a row goes on in the next packet */
  bool remembered;    /* the server remembers which columns it has described */
  size_t at;          /* read so far */
  uint32_t nfields;   /* 0: no result set */
  uint32_t described; /* columns, by this reply: nfields or 0 */
  uint32_t columns_left;
  size_t columns_at, rows_at;
  uint64_t nrows, affected;
  uint16_t status; /* of the server, at the end */
  int code;        /* 0: no error */
  char sql_state[6];
  size_t text_at, text_len; /* of the error's message */
};

enum bn_mysql_read { BN_READ_MORE, BN_READ_DONE, BN_READ_BAD };

/* Zeroes all but what the caller has set.  seq: what the first packet is to have. */
void bn_mysql_reply_begin(struct bn_mysql_reply *r, uint8_t seq);
/* Goes on with a reply of which len bytes have come, the first at data.  MORE: bytes are missing;
   BAD: no server says that, and there is no going on with the connection. */
enum bn_mysql_read bn_mysql_reply_read(struct bn_mysql_reply *r, const uint8_t *data, size_t len);

/* What a value's text depends on. */
struct bn_mysql_column {
  uint8_t type, decimals;
  uint16_t flags;
  uint32_t length;
};

/* The columns that a reply describes: r->described of them. */
void bn_mysql_reply_columns(const struct bn_mysql_reply *r, const uint8_t *data,
                            struct bn_mysql_column *out);

/* --- what is said of a statement that is prepared --- */
enum bn_mysql_prepared_state {
  BN_PREPARED_FIRST,
  BN_PREPARED_PARAMS,
  BN_PREPARED_PARAMS_END,
  BN_PREPARED_COLUMNS,
  BN_PREPARED_COLUMNS_END,
  BN_PREPARED_DONE
};

/* The caller sets short_end, as of a reply, and seq; the rest is 0. */
struct bn_mysql_prepared {
  bool short_end;
  uint8_t seq;
  enum bn_mysql_prepared_state state;
  size_t at;   /* read so far */
  bool failed; /* there is no such statement */
  uint32_t id, n_params, n_columns, left;
  size_t columns_at;
};

/* As bn_mysql_reply_read. */
enum bn_mysql_read bn_mysql_prepared_read(struct bn_mysql_prepared *r, const uint8_t *data,
                                          size_t len);
/* The columns of its rows: r->n_columns of them. */
void bn_mysql_prepared_columns(const struct bn_mysql_prepared *r, const uint8_t *data,
                               struct bn_mysql_column *out);

/* --- how a prepared statement is asked for --- */
/* Bytes that suffice for bn_mysql_put_execute. */
size_t bn_mysql_execute_room(const struct bn_sql_bind *b, size_t n);
/* Writes the packets to out and returns their length.  types: to be told to the server, which
   remembers them.  attributes: the server knows those of queries (CLIENT_QUERY_ATTRIBUTES). */
size_t bn_mysql_put_execute(uint8_t *out, uint32_t id, const struct bn_sql_bind *b, size_t n,
                            bool types, bool attributes);
/* Turns n bytes behind a header's room into packets; returns their length. */
size_t bn_mysql_seal(uint8_t *out, size_t n);
/* Bytes of the packets for n bytes. */
static inline size_t bn_mysql_sealed(size_t n)
{
  return n + (n / BN_MYSQL_PACKET_MAX + 1) * BN_MYSQL_HEADER;
}

/* The sequence number of an answer to packets of len bytes. */
static inline uint8_t bn_mysql_answer_seq(size_t len)
{
  return (uint8_t)(len / (BN_MYSQL_PACKET_MAX + BN_MYSQL_HEADER) + 1);
}

#endif
