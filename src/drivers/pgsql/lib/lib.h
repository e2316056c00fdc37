/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All use of libpq.  Only this folder includes its header and calls it; one thread at a time uses a
   connection, while the socket is lent to libpq (wire/wire.h). */
#ifndef BN_DRIVERS_PGSQL_LIB_LIB_H
#define BN_DRIVERS_PGSQL_LIB_LIB_H

#include <sys/types.h>

#include <libpq-events.h>
#include <libpq-fe.h>

#include "api/driver.h"
#include "drivers/pgsql/request.h"

struct bn_pgsql;
struct bn_sockwait;

/* Values as libpq wants them, with room for n; all zero is valid. */
struct bn_pgsql_values {
  struct bn_pgsql_param *param;
  const char **value;
  int *length, *format;
  size_t n;
};

/* Only the files of this folder use the members of both structs. */
struct bn_pgsql_lib {
  PGconn *handle;
  const struct bn_pgsql *driver;
  struct bn_sockwait *wait; /* the owner's, set before anything else */
  unsigned last_name;       /* number in the name of the last prepared statement */
  /* DEALLOCATE commands of closed statements, sent many at a time; the server forgets the rest when
     the connection ends. */
  char *closing;
  size_t closing_len;
  unsigned n_closing;
  struct bn_pgsql_values values; /* of the statement that is executed */
  int row;                       /* next row of the current result */
  bool load_has_savepoint;       /* the load is within a transaction of the caller */
  char last_state[6];            /* SQLSTATE of the connection's last error or notice; "": none */
};

/* --- connect.c --- */
/* Returns whether threads may use libpq, each its own connections. */
bool bn_pgsql_lib_is_threadsafe(void);
/* Connects to the server that t selects; gives up at deadline_ns and at the end of
   --pgsql-connect-timeout.  Returns DONE, or ERROR and d; bn_pgsql_lib_disconnect follows
   either. */
enum bn_sql bn_pgsql_lib_connect(struct bn_pgsql_lib *c, const struct bn_pgsql *driver,
                                 const struct bn_sql_target *t, uint64_t deadline_ns,
                                 struct bn_sql_diag *d);
/* Writes the name of the server that t selects.  Returns how many servers the ordinal selects
   from. */
size_t bn_pgsql_lib_place(const struct bn_pgsql *driver, const struct bn_sql_target *t, char *name,
                          size_t size);
/* Closes the connection, which may be unconnected. */
void bn_pgsql_lib_disconnect(struct bn_pgsql_lib *c);
/* Returns the descriptor, which stays libpq's. */
int bn_pgsql_lib_socket(const struct bn_pgsql_lib *c);
/* Returns OpenSSL's part of the connection, or NULL. */
struct ssl_st *bn_pgsql_lib_tls(const struct bn_pgsql_lib *c);
/* Returns whether messages of version 3 can be sent: encrypted not at all or by OpenSSL. */
bool bn_pgsql_lib_speaks_version_3(const struct bn_pgsql_lib *c);
/* Returns the state of the transaction as libpq last saw it; see bn_pgsql_transaction_letter. */
char bn_pgsql_lib_transaction_letter(const struct bn_pgsql_lib *c);
/* Returns whether libpq knows of no failure of the connection, and waits for no answer. */
bool bn_pgsql_lib_is_idle(const struct bn_pgsql_lib *c);

/* Checks that libpq understands the parameters, and that none is a secret.  Returns 0, or -1 and
   err. */
int bn_pgsql_lib_check_parameters(const char *parameters, struct bn_err *err);
/* Returns whether libpq has a parameter of this name. */
bool bn_pgsql_lib_knows_parameter(const char *keyword);

/* --- exec.c: these functions of libpq, which wait by the waiter if there is one --- */
/* PQexec */
PGresult *bn_pgsql_lib_exec(struct bn_pgsql_lib *c, const char *sql);
/* PQprepare */
PGresult *bn_pgsql_lib_exec_prepare(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q);
/* PQexecParams */
PGresult *bn_pgsql_lib_exec_anew(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q);
/* PQexecPrepared */
PGresult *bn_pgsql_lib_exec_prepared(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q);
/* PQgetResult */
PGresult *bn_pgsql_lib_get_result(struct bn_pgsql_lib *c);
/* PQgetCopyData: above 0 there is a row */
int bn_pgsql_lib_copy_out(struct bn_pgsql_lib *c, char **row);
/* PQputCopyData */
int bn_pgsql_lib_copy_in(struct bn_pgsql_lib *c, const char *rows, int len);

/* --- errors.c --- */
/* Fills d from a result, which may be NULL; the text is the primary message.  Returns ERROR or
   LOST. */
enum bn_sql bn_pgsql_lib_fail(const struct bn_pgsql_lib *c, const PGresult *res, const char *call,
                              struct bn_sql_diag *d);
/* Does the same with all of libpq's message as the text, and an empty line at its end. */
enum bn_sql bn_pgsql_lib_fail_in_full(const struct bn_pgsql_lib *c, const PGresult *res,
                                      const char *call, struct bn_sql_diag *d);

/* Stores the SQLSTATE of a notice or result in c->last_state, where bn_pgsql_lib_fail finds it:
   when the server ends the connection, the call that fails returns a result of libpq's own, without
   the server's reason. */
void bn_pgsql_lib_note_state(struct bn_pgsql_lib *c, const PGresult *res);

/* --- info.c --- */
/* Fills what libpq knows of the server and of the way to it; nothing is asked. */
void bn_pgsql_lib_about(struct bn_pgsql_lib *c, struct bn_sql_about *out);
/* Asks whether a pooler answers, which passes statements to several processes of the server.
   Returns false also if the question fails. */
bool bn_pgsql_lib_ask_pooled(struct bn_pgsql_lib *c);
/* Asks for the limits of the server, the role and the database.  Returns 0, or -1: the server does
   not tell. */
int bn_pgsql_lib_info(struct bn_pgsql_lib *c, struct bn_sql_info *out);
/* Escapes len bytes to out, and returns the length.  plain_strings and encoding are settings that
   the server has reported while libpq did not read.  plain_strings: '1': a backslash in a literal
   is plain, '0': it escapes, 0: not reported; encoding: the client's, "": not reported. */
size_t bn_pgsql_lib_quote(const struct bn_pgsql_lib *c, char plain_strings, const char *encoding,
                          char *out, const char *in, size_t len);

/* --- result.c --- */
/* Makes the outcome of a result, which is freed unless it has rows; then r owns it.  The functions
   below it have the contract of the driver's hooks. */
enum bn_sql bn_pgsql_lib_take_result(struct bn_pgsql_lib *c, PGresult *res, const char *call,
                                     struct bn_sql_result *r, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_lib_query(struct bn_pgsql_lib *c, const char *sql, struct bn_sql_result *r,
                               struct bn_sql_diag *d);
bool bn_pgsql_lib_fetch(struct bn_pgsql_lib *c, const struct bn_sql_result *r,
                        struct bn_sql_value *row);
void bn_pgsql_lib_free_result(struct bn_sql_result *r);

/* --- stmt.c --- */
/* Prepares the statement under a new name, with its present types.  transaction: its letter before
   that, as bn_pgsql_transaction_letter returns it. */
enum bn_sql bn_pgsql_lib_prepare(struct bn_pgsql_lib *c, struct bn_pgsql_request *q,
                                 char transaction, struct bn_sql_diag *d);
/* Gives a statement the next name. */
void bn_pgsql_lib_set_name(struct bn_pgsql_lib *c, struct bn_pgsql_request *q);
/* Takes the name from a statement.  The server forgets it later, together with others. */
void bn_pgsql_lib_drop_name(struct bn_pgsql_lib *c, struct bn_pgsql_request *q);
/* Executes a statement with its present values; anew: prepares and binds it too, without a name. */
enum bn_sql bn_pgsql_lib_execute(struct bn_pgsql_lib *c, const struct bn_pgsql_request *q,
                                 bool anew, struct bn_sql_result *r, struct bn_sql_diag *d);
/* Frees the values that the statements of a connection share. */
void bn_pgsql_lib_free_values(struct bn_pgsql_lib *c);

/* --- load.c --- */
/* The hooks of a bulk load (api/driver.h).  in_transaction: a failure leaves the transaction of the
   caller as it was. */
enum bn_sql bn_pgsql_lib_load_begin(struct bn_pgsql_lib *c, const char *table, const char *columns,
                                    bool in_transaction, struct bn_sql_diag *d);
enum bn_sql bn_pgsql_lib_load_rows(struct bn_pgsql_lib *c, const char *rows, size_t len,
                                   struct bn_sql_diag *d);
enum bn_sql bn_pgsql_lib_load_end(struct bn_pgsql_lib *c, struct bn_sql_diag *d);

#endif
