/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements without the client library: on a connection that it has opened, packets of our own.
   Nothing of this folder calls the library or knows its structs; what it has to know of a
   connection is lent to it once, and what it cannot know is asked of it before
   (bn_mysql_wire_knows). */
#ifndef BN_DRIVERS_MYSQL_WIRE_WIRE_H
#define BN_DRIVERS_MYSQL_WIRE_WIRE_H

#include "drivers/common/sockref.h"
#include "drivers/common/stream.h"
#include "drivers/mysql/wire/packet.h"

/* What the client library says of a connection that is gone, so that we say the same. */
struct bn_mysql_words {
  int unsent;    /* number of the error when nothing can be sent any more */
  bool asks_why; /* then it looks for what the server said before it hung up */
  const char *gone, *lost, *malformed;
};

/* Valid while the wire is open. */
struct bn_mysql_lent {
  int fd;
  unsigned long capabilities;
  unsigned *status; /* of the server, after each statement, whoever has sent it */
  const struct bn_sockref *socket;
  const struct bn_mysql_words *words;
};

/* The members of both are for wire.c. */
struct bn_mysql_wire {
  struct bn_mysql_lent lent;
  struct bn_stream stream;
  struct bn_mysql_reply reply;
  bool attributes; /* a query begins with a number of attributes */
  bool broken;     /* the connection is lost */
  bool live;       /* the reply is at the beginning of the stream, its rows may be fetched */
  bool more;       /* another result follows */
  size_t row_at;   /* of the next row in the reply */
  uint64_t rows_left;
  uint8_t *joined; /* a row that came in several packets */
};

/* A statement's part in it; all zero is valid. */
struct bn_mysql_wire_stmt {
  uint32_t id;                    /* by which the server knows it; the owner sets it */
  const struct bn_sql_bind *bind; /* the SQL layer's */
  size_t n_bind;
  bool types_sent;
  struct bn_mysql_column *column; /* as the server described them last; NULL: never */
  uint32_t n_columns, n_cells;
  char *cells; /* numbers of the row that was fetched last, as text */
};

void bn_mysql_wire_open(struct bn_mysql_wire *w, const struct bn_mysql_lent *lent);
/* Also of one that was not opened. */
void bn_mysql_wire_close(struct bn_mysql_wire *w);
/* Somebody else has closed the socket: nothing is sent or read any more. */
void bn_mysql_wire_give_up(struct bn_mysql_wire *w);
/* Reads answers that wait, and drops them. */
void bn_mysql_wire_settle(struct bn_mysql_wire *w);

/* Whether the text does nothing to the library's view of the connection. */
bool bn_mysql_wire_takes(const char *sql, size_t len);
enum bn_sql bn_mysql_wire_query(struct bn_mysql_wire *w, const char *sql, size_t len,
                                struct bn_sql_result *r, struct bn_sql_diag *d);
/* Prepares n statements and waits once; DONE or LOST.  *done: how many there are, from the first
   on, each with as many parameters as are to be bound; on a lost connection there are none. */
enum bn_sql bn_mysql_wire_prepare(struct bn_mysql_wire *w, const struct bn_sql_unprepared *list,
                                  struct bn_mysql_wire_stmt *const *st, size_t n, size_t *done,
                                  struct bn_sql_diag *d);
/* The server is told to forget one of those, together with the next statement. */
void bn_mysql_wire_drop(struct bn_mysql_wire *w, uint32_t id);
/* b stays where it is until the next bind. */
void bn_mysql_wire_bind(struct bn_mysql_wire_stmt *st, const struct bn_sql_bind *b, size_t n);
enum bn_sql bn_mysql_wire_execute(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                                  struct bn_sql_result *r, struct bn_sql_diag *d);
/* The next result of the same text, or of st. */
enum bn_sql bn_mysql_wire_next(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                               struct bn_sql_result *r, struct bn_sql_diag *d);
static inline bool bn_mysql_wire_has_more(const struct bn_mysql_wire *w)
{
  return w->more;
}

/* The current result: NULL is a text's, else it is that of st, whose columns have to be known. */
bool bn_mysql_wire_fetch(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                         struct bn_sql_result *r, struct bn_sql_value *row);
void bn_mysql_wire_free_result(struct bn_mysql_wire *w);
static inline bool bn_mysql_wire_knows(const struct bn_mysql_wire *w,
                                       const struct bn_mysql_wire_stmt *st)
{
  return w->reply.described > 0 || st->n_columns == w->reply.nfields;
}
/* Takes over the columns, which were malloc'd. */
void bn_mysql_wire_learn(struct bn_mysql_wire_stmt *st, struct bn_mysql_column *column, uint32_t n);
void bn_mysql_wire_forget(struct bn_mysql_wire_stmt *st);

#endif
