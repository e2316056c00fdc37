/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements without libpq, on a connection that libpq has made and will close: one message to the
   server and its answer.  Nothing in this folder calls libpq. */
#ifndef BN_DRIVERS_PGSQL_WIRE_WIRE_H
#define BN_DRIVERS_PGSQL_WIRE_WIRE_H

#include "drivers/common/socket.h"
#include "drivers/common/stream.h"
#include "drivers/pgsql/request.h"
#include "drivers/pgsql/wire/reply.h"

/* The code that reads from and writes to the socket. */
enum bn_pgsql_socket_user {
  BN_PGSQL_SOCKET_LIBRARY, /* always libpq */
  BN_PGSQL_SOCKET_LENT,    /* libpq at present */
  BN_PGSQL_SOCKET_WIRE,    /* this folder */
  BN_PGSQL_SOCKET_LOST     /* none: wire/ has lost the connection */
};

enum { BN_PGSQL_UNKNOWN = -2, BN_PGSQL_PARAMS_MAX = 65535 };

/* Settings for texts that the server has reported while libpq did not read. */
struct bn_pgsql_text_settings {
  char plain_strings; /* 0: not reported; see struct bn_pgsql_reply */
  char encoding[24];  /* "": not reported */
};

/* Only the files of this folder use the members. */
struct bn_pgsql_wire {
  enum bn_pgsql_socket_user socket_user;
  const struct bn_sockref *socket;
  struct bn_stream stream;
  struct bn_pgsql_reply reply;
  /* Length of the answer whose rows can be fetched, at the beginning of the stream. */
  size_t answer_len;
  struct bn_pgsql_cursor cursor;
  struct bn_pgsql_text_settings text_settings;
  size_t parsed; /* number of statements prepared by the last answer without a result */
};

/* Leaves the socket to libpq at first.  `socket`, borrowed, shuts a lost connection down; `wait` is
   borrowed too. */
void bn_pgsql_wire_open(struct bn_pgsql_wire *w, int fd, struct ssl_st *tls,
                        const struct bn_sockref *socket, struct bn_sockwait *wait);
/* Leaves the socket to libpq for good, and frees the buffers.  The wire may be unopened. */
void bn_pgsql_wire_close(struct bn_pgsql_wire *w);
/* Reads all pending messages and gives the socket to libpq, before that sends or receives anything.
   After a failure the connection is lost, which libpq finds itself. */
void bn_pgsql_wire_lend(struct bn_pgsql_wire *w);
/* Takes the socket from libpq, which waits for nothing; status: the state of the transaction.
   Returns false if it cannot, and libpq keeps the socket. */
bool bn_pgsql_wire_take_back(struct bn_pgsql_wire *w, char status);
static inline bool bn_pgsql_wire_has_socket(const struct bn_pgsql_wire *w)
{
  return w->socket_user == BN_PGSQL_SOCKET_WIRE;
}
static inline enum bn_pgsql_socket_user bn_pgsql_wire_socket_user(const struct bn_pgsql_wire *w)
{
  return w->socket_user;
}
/* Returns 'I', 'T' or 'E' for the transaction, while wire/ has the socket. */
static inline char bn_pgsql_wire_transaction_letter(const struct bn_pgsql_wire *w)
{
  return w->reply.status;
}
static inline const struct bn_pgsql_text_settings *
bn_pgsql_wire_text_settings(const struct bn_pgsql_wire *w)
{
  return &w->text_settings;
}

/* The functions below are called while wire/ has the socket, or has lost the connection. */

/* Sends a text, and reads the whole answer. */
enum bn_sql bn_pgsql_wire_query(struct bn_pgsql_wire *w, const char *sql, struct bn_sql_result *r,
                                struct bn_sql_diag *d);
/* Executes a prepared statement, which has at most BN_PGSQL_PARAMS_MAX parameters.  *fields: the
   number of fields of its rows, BN_PGSQL_NO_ROWS for none; if it is BN_PGSQL_UNKNOWN, the server is
   asked and it is set. */
enum bn_sql bn_pgsql_wire_execute(struct bn_pgsql_wire *w, const struct bn_pgsql_request *q,
                                  int *fields, struct bn_sql_result *r, struct bn_sql_diag *d);
/* Prepares, binds and executes the statement without a name. */
enum bn_sql bn_pgsql_wire_execute_anew(struct bn_pgsql_wire *w, const struct bn_pgsql_request *q,
                                       struct bn_sql_result *r, struct bn_sql_diag *d);
/* Prepares n statements, whose names and types are set, and waits for the server once.  *done: how
   many the server has prepared, from the first on.  Returns DONE, even if the server has refused a
   statement or there is no memory; or LOST, with *done 0. */
enum bn_sql bn_pgsql_wire_prepare(struct bn_pgsql_wire *w, struct bn_pgsql_request *const *q,
                                  size_t n, size_t *done, struct bn_sql_diag *d);
/* Fetches a row of the result whose rows are w.  Returns false at the end, or with r->cut. */
bool bn_pgsql_wire_fetch(struct bn_pgsql_wire *w, struct bn_sql_result *r,
                         struct bn_sql_value *row);
/* Drops the rows of the current result. */
void bn_pgsql_wire_free_result(struct bn_pgsql_wire *w);

#endif
