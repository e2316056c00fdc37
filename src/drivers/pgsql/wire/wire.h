/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements without libpq, on a connection that it has made and will close: one message to the
   server and its answer.  Nothing of this folder calls libpq. */
#ifndef BN_DRIVERS_PGSQL_WIRE_WIRE_H
#define BN_DRIVERS_PGSQL_WIRE_WIRE_H

#include "drivers/common/sockref.h"
#include "drivers/common/stream.h"
#include "drivers/pgsql/request.h"
#include "drivers/pgsql/wire/reply.h"

/* Who reads from and writes to the socket. */
enum bn_pgsql_who {
  BN_PGSQL_NEVER, /* libpq, always */
  BN_PGSQL_LENT,  /* libpq, for now */
  BN_PGSQL_OURS,  /* this folder */
  BN_PGSQL_GONE   /* nobody: we have lost the connection */
};

enum { BN_PGSQL_UNKNOWN = -2, BN_PGSQL_PARAMS_MAX = 65535 };

/* What the server has told about texts while libpq did not listen. */
struct bn_pgsql_told {
  char plain_strings; /* 0: nothing; see struct bn_pgsql_reply */
  char encoding[24];  /* "": nothing */
};

/* The members are for the files of this folder. */
struct bn_pgsql_wire {
  enum bn_pgsql_who who;
  const struct bn_sockref *socket;
  struct bn_stream stream;
  struct bn_pgsql_reply reply;
  /* Rows that are still to be read: the first bytes that stream has received. */
  size_t answer_len;
  struct bn_pgsql_cursor cursor;
  struct bn_pgsql_told told;
  size_t parsed; /* of the last answer without a result: statements that the server has prepared */
};

/* libpq has the socket then; it is shut down by what `socket` says when the connection is lost. */
void bn_pgsql_wire_open(struct bn_pgsql_wire *w, int fd, const struct bn_sockref *socket);
/* Also of one that was not opened. */
void bn_pgsql_wire_close(struct bn_pgsql_wire *w);
/* Before libpq is asked to send or receive anything. */
void bn_pgsql_wire_lend(struct bn_pgsql_wire *w);
/* From libpq, which waits for nothing; status: of the transaction.  false: it keeps the socket. */
bool bn_pgsql_wire_take_back(struct bn_pgsql_wire *w, char status);
static inline bool bn_pgsql_wire_is_ours(const struct bn_pgsql_wire *w)
{
  return w->who == BN_PGSQL_OURS;
}
static inline enum bn_pgsql_who bn_pgsql_wire_who(const struct bn_pgsql_wire *w)
{
  return w->who;
}
/* While it is ours: 'I', 'T', 'E', of the transaction. */
static inline char bn_pgsql_wire_transaction(const struct bn_pgsql_wire *w)
{
  return w->reply.status;
}
static inline const struct bn_pgsql_told *bn_pgsql_wire_told(const struct bn_pgsql_wire *w)
{
  return &w->told;
}

/* While it is ours, or gone. */
enum bn_sql bn_pgsql_wire_query(struct bn_pgsql_wire *w, const char *sql, struct bn_sql_result *r,
                                struct bn_sql_diag *d);
/* At most BN_PGSQL_PARAMS_MAX parameters.  fields: of its rows, BN_PGSQL_UNKNOWN until they are
   known. */
enum bn_sql bn_pgsql_wire_execute(struct bn_pgsql_wire *w, const struct bn_pgsql_request *q,
                                  int *fields, struct bn_sql_result *r, struct bn_sql_diag *d);
/* The same, prepared, bound and executed under no name. */
enum bn_sql bn_pgsql_wire_execute_anew(struct bn_pgsql_wire *w, const struct bn_pgsql_request *q,
                                       struct bn_sql_result *r, struct bn_sql_diag *d);
/* Prepares n statements under their names and waits once; DONE or LOST.  *done: how many the server
   has, from the first on.  Their types are set. */
enum bn_sql bn_pgsql_wire_prepare(struct bn_pgsql_wire *w, struct bn_pgsql_request *const *q,
                                  size_t n, size_t *done, struct bn_sql_diag *d);
/* Of a result whose rows are w. */
bool bn_pgsql_wire_fetch(struct bn_pgsql_wire *w, struct bn_sql_result *r,
                         struct bn_sql_value *row);
void bn_pgsql_wire_free(struct bn_pgsql_wire *w);

#endif
