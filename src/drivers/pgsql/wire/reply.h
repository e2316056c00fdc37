/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a PostgreSQL server answers to one request, message by message; knows no socket and no
   client library.  Nothing that a server sends makes it read outside of what it is given. */
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

/* What an answer has had; in one byte, so that an answer is begun with few instructions. */
enum {
  BN_PGSQL_DESCRIBED = 1, /* the server has said which columns the rows have */
  BN_PGSQL_COPIED = 2,    /* COPY was begun; its data is of no use */
  BN_PGSQL_TALKED = 4     /* notices and the like */
};

/* Offsets count from the first byte of the answer. */
struct bn_pgsql_reply {
  enum bn_pgsql_reply_kind kind; /* of the last result; an error stays */
  uint8_t had;                   /* BN_PGSQL_DESCRIBED, … */
  int fields;                    /* of rows that come; BN_PGSQL_NO_ROWS: none do */
  int result_fields;             /* of the rows of the last result */
  uint64_t rows, affected;
  size_t rows_at;
  size_t error_at, error_len; /* body of the first error */
  char status;                /* 'I': no transaction, 'T': within one, 'E': it has failed */
  char plain_strings;         /* told: '1' a backslash in a literal is one, '0' not; 0: not told */
  char encoding[24];          /* told: the client's now; "": not told */
  char last_words[6];         /* SQLSTATE of the last error or notice of the connection */
  size_t at;                  /* behind the last message that was read */
  size_t need;                /* BN_PGSQL_INCOMPLETE: bytes to go on with */
  size_t packed;              /* if it can be packed: what comes before this was */
  char odd_type;              /* BN_PGSQL_ODD: what came */
  int32_t odd_len;
};

enum bn_pgsql_seen {
  BN_PGSQL_READY,      /* the answer is complete */
  BN_PGSQL_INCOMPLETE, /* there have to be `need` bytes */
  BN_PGSQL_COPY_IN,    /* the server waits for rows; then go on */
  BN_PGSQL_ODD         /* nothing that a server would send here */
};

/* fields: what rows without a description have. */
void bn_pgsql_reply_begin(struct bn_pgsql_reply *r, int fields);
enum bn_pgsql_seen bn_pgsql_reply_read(struct bn_pgsql_reply *r, const char *data, size_t len);
/* Whether there is something that need not be kept until the answer is complete. */
static inline bool bn_pgsql_reply_can_pack(const struct bn_pgsql_reply *r)
{
  return (r->had & (BN_PGSQL_COPIED | BN_PGSQL_TALKED)) != 0;
}
/* After INCOMPLETE, if it can: takes out of data what is not needed any more.  Returns how many
   bytes fewer there are; offsets count anew. */
size_t bn_pgsql_reply_pack(struct bn_pgsql_reply *r, char *data, size_t len);
/* Statements that a complete answer says are prepared, at data; those before notices may not be
   known any more. */
size_t bn_pgsql_reply_parsed(const struct bn_pgsql_reply *r, const char *data);
/* Messages that nobody asked for, between two answers.  READY: none is left. */
enum bn_pgsql_seen bn_pgsql_reply_idle(struct bn_pgsql_reply *r, const char *data, size_t len);

/* Field `code` of the body of an error, as much as fits; "" if there is none. */
void bn_pgsql_error_field(const char *body, size_t len, char code, char *out, size_t room);

/* Rows of an answer that was read to its end: none if COPY began, since they may be gone. */
struct bn_pgsql_cursor {
  size_t at;
  uint64_t left;
  char type; /* of the message at `at`, whose first byte ends the value before it */
  bool bad;  /* the row there has not as many values as it should, or another length */
};

void bn_pgsql_cursor_begin(struct bn_pgsql_cursor *c, const struct bn_pgsql_reply *r,
                           const char *data);
/* The next row; ends each value with a NUL within data.  false: there is none, or it is
   `bad`. */
bool bn_pgsql_cursor_next(struct bn_pgsql_cursor *c, char *data, size_t len, int fields,
                          struct bn_sql_value *row);

#endif
