/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that is asked of libpq.  This folder alone includes its header and calls it; a
   connection of it is used by one thread at a time, while the socket is lent to it (wire/wire.h).
 */
#ifndef BN_DRIVERS_PGSQL_LIB_LIB_H
#define BN_DRIVERS_PGSQL_LIB_LIB_H

#include <sys/types.h>

#include <libpq-events.h>
#include <libpq-fe.h>

#include "api/driver.h"
#include "drivers/pgsql/request.h"

struct bn_pgsql;

/* The members of both are for the files of this folder. */
struct bn_pgsql_lib {
  PGconn *handle;
  const struct bn_pgsql *driver;
  unsigned last_name; /* of a prepared statement */
  /* DEALLOCATE of statements that are closed, sent some at a time: at the end of a connection the
     server forgets them by itself. */
  char *closing;
  size_t closing_len;
  unsigned n_closing;
  int row;            /* of the current result, fetched next */
  char last_words[6]; /* SQLSTATE of the last error or notice of the connection; "": none */
};

/* Where libpq wants the values of a statement to be; all zero is valid. */
struct bn_pgsql_values {
  struct bn_pgsql_param *param;
  const char **value;
  int *length, *format;
};

/* --- connect.c --- */
bool bn_pgsql_lib_is_threadsafe(void);
enum bn_sql bn_pgsql_lib_connect(struct bn_pgsql_lib *c, const struct bn_pgsql *driver,
                                 const struct bn_sql_target *t, uint64_t deadline_ns,
                                 struct bn_sql_diag *d);
/* Names the server that t selects; how many there are to select from. */
size_t bn_pgsql_lib_place(const struct bn_pgsql *driver, const struct bn_sql_target *t, char *name,
                          size_t size);
/* Also of one that is not connected. */
void bn_pgsql_lib_disconnect(struct bn_pgsql_lib *c);
int bn_pgsql_lib_socket(const struct bn_pgsql_lib *c);
/* Version 3 of the protocol and no encryption: what is sent and received is as it is on the socket.
 */
bool bn_pgsql_lib_is_plain(const struct bn_pgsql_lib *c);
/* Of the transaction, as libpq has seen it last; see bn_pgsql_transaction. */
char bn_pgsql_lib_transaction(const struct bn_pgsql_lib *c);
/* It is connected as far as it knows, and waits for nothing. */
bool bn_pgsql_lib_is_idle(const struct bn_pgsql_lib *c);

/* libpq has a parameter of that name. */
bool bn_pgsql_lib_knows(const char *keyword);

/* --- errors.c --- */
/* Fills d from a result (NULL: there was none); the text is the primary message or, if `whole`,
   everything.  Returns ERROR or LOST. */
enum bn_sql bn_pgsql_lib_fail(const struct bn_pgsql_lib *c, const PGresult *res, const char *call,
                              bool whole, struct bn_sql_diag *d);

/* Of a notice, or of a result of the connection: a call returns only the last one of several, and
   of those that a server sends as it ends the connection that is libpq's own. */
void bn_pgsql_lib_note_words(struct bn_pgsql_lib *c, const PGresult *res);

/* --- info.c --- */
void bn_pgsql_lib_about(struct bn_pgsql_lib *c, struct bn_sql_about *out);
int bn_pgsql_lib_info(struct bn_pgsql_lib *c, struct bn_sql_info *out);

/* --- quote.c --- */
/* Told since libpq has listened last: '1' a backslash in a literal is one, '0' it is not, 0:
   nothing; the client's encoding, "": nothing. */
size_t bn_pgsql_lib_quote(const struct bn_pgsql_lib *c, char plain_strings, const char *encoding,
                          char *out, const char *in, size_t len);

/* --- result.c --- */
/* What a result says; frees it unless it has rows. */
enum bn_sql bn_pgsql_lib_take(struct bn_pgsql_lib *c, PGresult *res, const char *call,
                              struct bn_sql_result *r, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_lib_query(struct bn_pgsql_lib *c, const char *sql, struct bn_sql_result *r,
                               struct bn_sql_diag *d);
bool bn_pgsql_lib_fetch(struct bn_pgsql_lib *c, const struct bn_sql_result *r,
                        struct bn_sql_value *row);
void bn_pgsql_lib_free_result(struct bn_sql_result *r);

/* --- stmt.c --- */
/* Has the server prepare it under a new name, with the types it has now.  in_failed: the server
   takes nothing but the end of the transaction. */
enum bn_sql bn_pgsql_lib_prepare(struct bn_pgsql_lib *c, struct bn_pgsql_request *q, bool in_failed,
                                 struct bn_sql_diag *d);
/* Gives it the next name. */
void bn_pgsql_lib_name(struct bn_pgsql_lib *c, struct bn_pgsql_request *q);
/* The server may forget the name, at some time. */
void bn_pgsql_lib_drop_name(struct bn_pgsql_lib *c, struct bn_pgsql_request *q);
/* anew: prepared, bound and executed under no name. */
enum bn_sql bn_pgsql_lib_execute(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q,
                                 struct bn_pgsql_values *v, bool anew, struct bn_sql_result *r,
                                 struct bn_sql_diag *d);
void bn_pgsql_lib_free_values(struct bn_pgsql_values *v);

/* --- load.c --- */
enum bn_sql bn_pgsql_lib_load_begin(struct bn_pgsql_lib *c, const char *table, const char *columns,
                                    struct bn_sql_diag *d);
enum bn_sql bn_pgsql_lib_load_rows(struct bn_pgsql_lib *c, const char *rows, size_t len,
                                   struct bn_sql_diag *d);
enum bn_sql bn_pgsql_lib_load_end(struct bn_pgsql_lib *c, struct bn_sql_diag *d);

#endif
