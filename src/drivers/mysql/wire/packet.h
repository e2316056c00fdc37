/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of MySQL and MariaDB in memory: answers of a server, and executions of prepared
   statements.  Nothing here trusts a length that it reads. */
#ifndef BN_DRIVERS_MYSQL_WIRE_PACKET_H
#define BN_DRIVERS_MYSQL_WIRE_PACKET_H

#include "api/driver.h"

enum {
  BN_MYSQL_HEADER = 4,           /* length in three bytes, sequence number */
  BN_MYSQL_PACKET_MAX = 0xffffff /* the next packet continues a packet of this length */
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

/* The first byte of a number of variable length: a number below LONG, or how many bytes of a larger
   number follow. */
enum {
  BN_MYSQL_NUMBER_LONG = 0xfb,
  BN_MYSQL_NUMBER_2 = 0xfc,
  BN_MYSQL_NUMBER_3 = 0xfd,
  BN_MYSQL_NUMBER_8 = 0xfe
};
/* Reads such a number at *p and moves *p past it.  Returns 0, or -1 if there is none before end. */
int bn_mysql_get_number(const uint8_t **p, const uint8_t *end, uint64_t *n);

/* The packet that a reply continues with. */
enum bn_mysql_state {
  BN_REPLY_FIRST,
  BN_REPLY_COLUMNS,
  BN_REPLY_COLUMNS_END,
  BN_REPLY_ROWS,
  BN_REPLY_DONE
};

/* A result, as far as it was read.  Offsets count from the start of the reply. */
struct bn_mysql_reply {
  /* Set by the caller: what was negotiated and sent. */
  bool short_end; /* no packet ends the columns (CLIENT_DEPRECATE_EOF) */
  bool binary;    /* rows are those of a prepared statement */
  enum bn_mysql_state state;
  uint8_t seq;        /* expected number of the next packet */
  bool within;        /* the last row continues in the next packet */
  bool remembered;    /* the server describes the columns of a statement only when they are new */
  size_t at;          /* end of the bytes read so far */
  uint32_t nfields;   /* 0: no result set */
  uint32_t described; /* number of columns that this reply describes: nfields or 0 */
  uint32_t columns_remaining;
  size_t columns_at, rows_at;
  uint64_t nrows, affected;
  uint16_t status; /* of the server, from the last packet */
  int code;        /* 0: no error */
  char sql_state[6];
  size_t text_at, text_len; /* the message of the error */
};

enum bn_mysql_read { BN_READ_MORE, BN_READ_DONE, BN_READ_BAD };

/* Begins a reply: zeroes all but the members that the caller sets.  seq: expected number of its
   first packet. */
void bn_mysql_reply_begin(struct bn_mysql_reply *r, uint8_t seq);
/* Continues a reply of which len bytes have arrived at data.  Returns DONE at its end, MORE if
   bytes are missing, or BAD if it is not valid and the connection cannot continue. */
enum bn_mysql_read bn_mysql_reply_read(struct bn_mysql_reply *r, const uint8_t *data, size_t len);

/* The traits of a column that decide the text of a value. */
struct bn_mysql_column {
  uint8_t type, decimals;
  uint16_t flags;
  uint32_t length;
};

/* Reads the r->described columns that a reply describes. */
void bn_mysql_reply_columns(const struct bn_mysql_reply *r, const uint8_t *data,
                            struct bn_mysql_column *out);

/* --- descriptions of prepared statements --- */
/* The packet that the description continues with. */
enum bn_mysql_prepared_state {
  BN_PREPARED_FIRST,
  BN_PREPARED_PARAMS,
  BN_PREPARED_PARAMS_END,
  BN_PREPARED_COLUMNS,
  BN_PREPARED_COLUMNS_END,
  BN_PREPARED_DONE
};

/* The caller sets short_end, as in a reply, and seq; the rest is 0. */
struct bn_mysql_prepared {
  bool short_end;
  uint8_t seq;
  enum bn_mysql_prepared_state state;
  size_t at;   /* end of the bytes read so far */
  bool failed; /* the server has refused the statement */
  uint32_t id, n_params, n_columns, remaining;
  size_t columns_at;
};

/* Continues the description of a statement as bn_mysql_reply_read continues a reply.  After DONE
   with r->failed the packet is an error, which bn_mysql_reply_read can read. */
enum bn_mysql_read bn_mysql_prepared_read(struct bn_mysql_prepared *r, const uint8_t *data,
                                          size_t len);
/* Reads the r->n_columns columns of the statement's rows. */
void bn_mysql_prepared_columns(const struct bn_mysql_prepared *r, const uint8_t *data,
                               struct bn_mysql_column *out);

/* --- execution of prepared statements --- */
/* Returns a number of bytes that suffices for bn_mysql_put_execute. */
size_t bn_mysql_execute_room(const struct bn_sql_bind *b, size_t n);
/* Writes the packets that execute statement `id` with these values to out, and returns their
   length.  types: the types of the values are sent, which the server remembers.  attributes:
   statements have attributes (CLIENT_QUERY_ATTRIBUTES). */
size_t bn_mysql_put_execute(uint8_t *out, uint32_t id, const struct bn_sql_bind *b, size_t n,
                            bool types, bool attributes);
/* Turns the n bytes that follow room for a header at out into packets, which need
   bn_mysql_sealed_len(n) bytes.  Returns their length. */
size_t bn_mysql_seal(uint8_t *out, size_t n);
/* Returns the bytes of the packets for n bytes. */
static inline size_t bn_mysql_sealed_len(size_t n)
{
  return n + (n / BN_MYSQL_PACKET_MAX + 1) * BN_MYSQL_HEADER;
}

/* Returns the sequence number of the answer to packets of len bytes. */
static inline uint8_t bn_mysql_answer_seq(size_t len)
{
  return (uint8_t)(len / (BN_MYSQL_PACKET_MAX + BN_MYSQL_HEADER) + 1);
}

#endif
