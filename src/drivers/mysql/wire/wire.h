/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements without the client library: packets of our own on a connection that it has opened.
   Nothing in this folder calls the library or knows its structs; it is lent what it needs of a
   connection once. */
#ifndef BN_DRIVERS_MYSQL_WIRE_WIRE_H
#define BN_DRIVERS_MYSQL_WIRE_WIRE_H

#include "drivers/common/socket.h"
#include "drivers/common/stream.h"
#include "drivers/mysql/wire/packet.h"

/* The client library's errors for a lost connection, so that wire/ reports the same errors. */
struct bn_mysql_words {
  int unsent;    /* error number if nothing can be sent any more */
  bool asks_why; /* the library then reads what the server said before it hung up */
  const char *gone, *lost, *malformed;
};

/* The library's part of a connection; valid while the wire is open. */
struct bn_mysql_lent {
  int fd;
  struct ssl_st *tls; /* NULL: not encrypted */
  unsigned long capabilities;
  unsigned *status; /* of the server after each statement, whichever way has sent it */
  const struct bn_sockref *socket;
  struct bn_sockwait *wait;
  const struct bn_mysql_words *words;
  const struct bn_driver_host *host;
};

/* Only wire.c uses the members of both structs. */
struct bn_mysql_wire {
  struct bn_mysql_lent lent;
  struct bn_stream stream;
  struct bn_mysql_reply reply;
  bool attributes; /* a query begins with a number of attributes */
  bool broken;     /* the connection is lost */
  bool live;     /* the reply with its rows is at the beginning of the stream: the current result */
  bool more;     /* another result follows */
  size_t row_at; /* offset of the next row in the reply */
  uint64_t rows_remaining;
  uint8_t *joined; /* a row that came in several packets; owned */
};

/* The part of a statement; all zero is valid. */
struct bn_mysql_wire_stmt {
  uint32_t id;                    /* the server's name for the statement */
  const struct bn_sql_bind *bind; /* the SQL layer's; borrowed */
  size_t n_bind;
  size_t n_params; /* as bn_mysql_wire_prepare has found */
  bool types_sent;
  struct bn_mysql_column *column; /* as last described by the server; NULL: never */
  uint32_t n_columns, n_cells;
  char *cells; /* text of the last row's numbers and times: BN_MYSQL_CELL bytes per column */
};

/* Begins to use a connection; *lent is copied, and what it points to is borrowed. */
void bn_mysql_wire_open(struct bn_mysql_wire *w, const struct bn_mysql_lent *lent);
/* Frees what the wire has received.  The wire may be unopened. */
void bn_mysql_wire_close(struct bn_mysql_wire *w);
/* Stops all sending and reading, because the library has closed the socket. */
void bn_mysql_wire_give_up(struct bn_mysql_wire *w);
/* Reads and drops all pending results. */
void bn_mysql_wire_settle(struct bn_mysql_wire *w);

/* Returns whether wire/ takes the text: it is short, and begins with a word of a statement that
   does not change the library's view of the connection. */
bool bn_mysql_wire_takes_text(const char *sql, size_t len);
/* Sends a text for which bn_mysql_wire_takes_text is true, and reads its first result.  Pending
   results are dropped. */
enum bn_sql bn_mysql_wire_query(struct bn_mysql_wire *w, const char *sql, size_t len,
                                struct bn_sql_result *r, struct bn_sql_diag *d);
/* The value of n_binds that allows any number of parameters. */
#define BN_MYSQL_ANY_BINDS SIZE_MAX
/* Prepares n statements and waits for the server once.  *done: how many are prepared, from the
   first on, each with n_binds parameters; the server forgets all others.  Returns DONE, with the
   last reason in d if the server has refused any or there was no memory; or LOST, with *done 0. */
enum bn_sql bn_mysql_wire_prepare(struct bn_mysql_wire *w, const struct bn_sql_unprepared *list,
                                  struct bn_mysql_wire_stmt *const *st, size_t n, size_t *done,
                                  struct bn_sql_diag *d);
/* Lets the server forget a statement of bn_mysql_wire_prepare, together with the next request. */
void bn_mysql_wire_drop_stmt(struct bn_mysql_wire *w, uint32_t id);
/* Sets the values of all parameters; b is borrowed until the next bind. */
void bn_mysql_wire_bind(struct bn_mysql_wire_stmt *st, const struct bn_sql_bind *b, size_t n);
/* Executes with the present values, and reads the first result.  Pending results are dropped. */
enum bn_sql bn_mysql_wire_execute(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                                  struct bn_sql_result *r, struct bn_sql_diag *d);
/* Reads the next result of the last text, or of st.  Without one, returns DONE with an empty *r. */
enum bn_sql bn_mysql_wire_next(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                               struct bn_sql_result *r, struct bn_sql_diag *d);
static inline bool bn_mysql_wire_has_more(const struct bn_mysql_wire *w)
{
  return w->more;
}

/* Fetches a row of the current result: of st, or of a text if st is NULL.  Returns false at the
   end, or with r->cut. */
bool bn_mysql_wire_fetch(struct bn_mysql_wire *w, struct bn_mysql_wire_stmt *st,
                         struct bn_sql_result *r, struct bn_sql_value *row);
/* Drops the current result. */
void bn_mysql_wire_free_result(struct bn_mysql_wire *w);
/* Frees and zeroes a statement. */
void bn_mysql_wire_free_stmt(struct bn_mysql_wire_stmt *st);

#endif
