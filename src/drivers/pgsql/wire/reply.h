/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer of a PostgreSQL server to one request, message by message; knows no socket and no
   client library.  Nothing that a server sends makes it read outside of the given bytes. */
#ifndef BN_DRIVERS_PGSQL_WIRE_REPLY_H
#define BN_DRIVERS_PGSQL_WIRE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"

enum bn_pgsql_reply_kind {
  BN_PGSQL_NOTHING,
  BN_PGSQL_ROWS,
  BN_PGSQL_COMMAND,
  BN_PGSQL_EMPTY, /* the text had no statement */
  BN_PGSQL_ERROR
};

enum { BN_PGSQL_NO_ROWS = -1 };

/* Flags of an answer, in one byte, so that a new answer takes few instructions. */
enum {
  BN_PGSQL_DESCRIBED = 1, /* the server has described the columns of the rows */
  BN_PGSQL_COPIED = 2,    /* COPY was begun; its data is ignored */
  BN_PGSQL_TALKED = 4     /* notices and the like */
};

/* Offsets count from the first byte of the answer. */
struct bn_pgsql_reply {
  enum bn_pgsql_reply_kind kind; /* kind of the last result; an error stays */
  uint8_t flags;                 /* BN_PGSQL_DESCRIBED, … */
  int fields;                    /* fields of the coming rows; BN_PGSQL_NO_ROWS: no rows come */
  int result_fields;             /* fields of the rows of the last result */
  uint64_t rows, affected;
  size_t rows_at;
  size_t error_at, error_len; /* body of the first error */
  char status;                /* 'I': no transaction, 'T': within one, 'E': it has failed */
  char plain_strings; /* reported: '1' a backslash in a literal is plain, '0' it escapes; 0: not
                         reported */
  char encoding[24];  /* reported: the client's encoding; "": not reported */
  char last_state[6]; /* SQLSTATE of the last error or notice of the connection */
  size_t at;          /* end of the last message that was read */
  size_t need;        /* BN_PGSQL_INCOMPLETE: number of bytes needed to continue */
  size_t packed;      /* if it can be packed: end of the bytes that were packed */
  char odd_type;      /* BN_PGSQL_ODD: type and length of the message */
  int32_t odd_len;
};

enum bn_pgsql_seen {
  BN_PGSQL_READY,      /* the answer is complete */
  BN_PGSQL_INCOMPLETE, /* `need` bytes are needed */
  BN_PGSQL_COPY_IN,    /* the server waits for rows: the caller answers, and then reads on */
  BN_PGSQL_ODD         /* the message is not valid here */
};

/* Begins an answer; members that outlive one (status, last_state) stay.  fields: the number of
   fields of rows that the server does not describe. */
void bn_pgsql_reply_begin(struct bn_pgsql_reply *r, int fields);
/* Reads the messages of an answer of which len bytes have arrived at data. */
enum bn_pgsql_seen bn_pgsql_reply_read(struct bn_pgsql_reply *r, const char *data, size_t len);
/* Returns whether COPY was begun: the answer then has no result. */
static inline bool bn_pgsql_reply_has_copied(const struct bn_pgsql_reply *r)
{
  return (r->flags & BN_PGSQL_COPIED) != 0;
}
/* Returns whether there are bytes that need not be kept until the answer is complete. */
static inline bool bn_pgsql_reply_can_pack(const struct bn_pgsql_reply *r)
{
  return (r->flags & (BN_PGSQL_COPIED | BN_PGSQL_TALKED)) != 0;
}
/* After INCOMPLETE, if bn_pgsql_reply_can_pack: removes bytes from data that are no longer needed.
   Returns how many were removed; offsets change. */
size_t bn_pgsql_reply_pack(struct bn_pgsql_reply *r, char *data, size_t len);
/* Returns how many statements the complete answer at data reports as prepared; reports before
   notices may be lost. */
size_t bn_pgsql_reply_count_parsed(const struct bn_pgsql_reply *r, const char *data);
/* Reads messages between two answers, from r->at on.  READY: none is left. */
enum bn_pgsql_seen bn_pgsql_reply_read_asides(struct bn_pgsql_reply *r, const char *data,
                                              size_t len);

/* Fields of an error: its severity as text, its SQLSTATE, and its message. */
enum { BN_PGSQL_FIELD_SEVERITY = 'S', BN_PGSQL_FIELD_STATE = 'C', BN_PGSQL_FIELD_MESSAGE = 'M' };
/* Copies field `code` of the body of an error, as much as fits; "" if there is none. */
void bn_pgsql_error_field(const char *body, size_t len, char code, char *out, size_t room);

/* The rows of an answer that was read to its end; there are none if COPY began, because packing
   does not keep them then. */
struct bn_pgsql_cursor {
  size_t at;
  uint64_t remaining;
  char type; /* type of the message at `at`; the NUL after the last value may have replaced it */
  bool bad;  /* the row has another number of values or another length than it should */
};

/* Places a cursor before the first row of a complete answer at data. */
void bn_pgsql_cursor_begin(struct bn_pgsql_cursor *c, const struct bn_pgsql_reply *r,
                           const char *data);
/* Gets the next row, whose values point into data, and ends each value with a NUL there.  Returns
   false if there is no row, or it is `bad`. */
bool bn_pgsql_cursor_next(struct bn_pgsql_cursor *c, char *data, size_t len, int fields,
                          struct bn_sql_value *row);

#endif
