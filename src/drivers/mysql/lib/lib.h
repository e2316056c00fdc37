/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All use of the client library.  Only this folder includes its headers, calls it and reads the
   insides of its structs; one thread at a time uses a connection. */
#ifndef BN_DRIVERS_MYSQL_LIB_LIB_H
#define BN_DRIVERS_MYSQL_LIB_LIB_H

#include <mysql.h>

#include "api/driver.h"
#include "drivers/common/sockwait.h"
#include "drivers/mysql/options.h"

struct bn_mysql;
struct bn_mysql_words;

/* Rows that are being loaded into a table. */
struct bn_mysql_load {
  bool expected;         /* the statement that reads the rows is being executed */
  char *table, *columns; /* of the last load; NULL: there was none */
  int auto_field; /* the field of a row, from 0, that is the AUTO_INCREMENT column; -1: none */
  /* Where load_lacks_number is in a row: the number of fields that still come before auto_field;
     -1: auto_field has begun, and the rest of the row does not matter. */
  int to_skip;
  struct bn_mysql_part *part; /* the rows, in the order in which they came */
  size_t n_parts;
  size_t next_part, part_read; /* the part that the library reads next, and its bytes read so far */
};

/* The destination of one connection. */
struct bn_mysql_place {
  const char *host, *socket; /* socket NULL: TCP, or the library's default for "localhost" */
  const char *user, *password, *db;
  unsigned port;
  bool tcp;   /* use TCP also to "localhost" */
  bool loads; /* LOAD DATA LOCAL will be used */
};

/* Only the files of this folder use the members of both structs. */
struct bn_mysql_lib {
  const struct bn_mysql *driver;
  MYSQL *handle;            /* NULL: not connected */
  struct bn_sockwait *wait; /* the owner's, set before anything else */
  int login_waits;          /* number of waits for the socket while logging in */
  bool calls_back;          /* logged in, and each wait of the library calls lib/ back */
  uint64_t login_until_ns;  /* end of the login with a waiter; UINT64_MAX: without a limit */
  struct bn_mysql_load load;
};

struct bn_mysql_lib_stmt {
  struct bn_mysql_lib *lib;
  MYSQL_STMT *handle; /* NULL: not prepared */
  size_t n_params;
  /* Buffers into which the library puts a row, made when a row is fetched for the first time. */
  MYSQL_BIND *column;
  struct bn_mysql_cell *cell;
  unsigned n_columns;
  bool rows_bound; /* for the current result */
};

/* --- library.c --- */
/* Starts the library, before other threads run; only after this, bn_mysql_lib_end is called.
   Returns 0 or -1. */
int bn_mysql_lib_start(const struct bn_mysql *driver);
/* Ends the library, after the last connection and thread. */
void bn_mysql_lib_end(void);
/* Prepares a thread for calls of the library, once for each session that it runs.  Returns 0, or
   -1; then bn_mysql_lib_thread_end is not called for the session. */
int bn_mysql_lib_thread_start(const struct bn_mysql *driver);
void bn_mysql_lib_thread_end(const struct bn_mysql *driver);
/* Fill d from the handle of the failed call; return ERROR or LOST. */
enum bn_sql bn_mysql_lib_fail(const struct bn_mysql_lib *c, const char *call,
                              struct bn_sql_diag *d);
enum bn_sql bn_mysql_lib_fail_stmt(const struct bn_mysql_lib_stmt *st, const char *call,
                                   struct bn_sql_diag *d);

/* Returns why a connection that has to be encrypted is not.  On a socket file the reason may be the
   client library, which is not told apart from the server. */
static inline const char *bn_mysql_lib_not_encrypted(const MYSQL *handle)
{
  return handle->unix_socket == NULL
             ? "encryption was asked for, but the server does not offer it"
             : "encryption was asked for, but this server or this client library has none on a "
               "socket file: use --mysql-host=127.0.0.1, or leave --mysql-ssl out";
}

/* --- connect.c --- */
/* Connects to the server that t selects.  Returns DONE, or ERROR and d, with the place in d->where;
   it gives up at deadline_ns and at the end of --mysql-connect-timeout. */
enum bn_sql bn_mysql_lib_connect(struct bn_mysql_lib *c, const struct bn_mysql *driver,
                                 const struct bn_sql_target *t, uint64_t deadline_ns,
                                 struct bn_sql_diag *d);
/* Writes the name of the server that t selects.  Returns how many servers the ordinal selects
   from. */
size_t bn_mysql_lib_place(const struct bn_mysql *driver, const struct bn_sql_target *t, char *name,
                          size_t size);
/* Closes the connection, which may be unconnected. */
void bn_mysql_lib_disconnect(struct bn_mysql_lib *c);
/* Return the negotiated bits of CLIENT_…, and the library's copy of the server's status, which
   every other reader of answers must update. */
unsigned long bn_mysql_lib_capabilities(const struct bn_mysql_lib *c);
unsigned *bn_mysql_lib_status(struct bn_mysql_lib *c);
/* Returns whether the connection is encrypted, also without OpenSSL. */
bool bn_mysql_lib_is_encrypted(const struct bn_mysql_lib *c);
/* Returns whether the server reads a command before it has answered the last one. */
bool bn_mysql_lib_reads_ahead(const struct bn_mysql_lib *c);

/* --- result.c, for results that this folder reads itself --- */
/* Returns the text of column i; "" for NULL and for a column that the server has left out. */
const char *bn_mysql_lib_cell(MYSQL_RES *res, MYSQL_ROW row, unsigned i);

/* --- info.c --- */
/* Fills what the library knows of the server and of the way to it; nothing is asked. */
void bn_mysql_lib_about(struct bn_mysql_lib *c, struct bn_sql_about *out);
/* Asks for the limits of the server and of the account.  Returns 0, or -1: the server does not
   tell. */
int bn_mysql_lib_info(struct bn_mysql_lib *c, struct bn_sql_info *out);
/* Escapes len bytes to out, and sets the length *n.  Returns false if the server has no backslash
   escapes. */
bool bn_mysql_lib_quote(struct bn_mysql_lib *c, char *out, const char *in, size_t len, size_t *n);

/* --- result.c: results of texts; the functions have the contract of the driver's hooks --- */
enum bn_sql bn_mysql_lib_query(struct bn_mysql_lib *c, const char *sql, size_t len,
                               struct bn_sql_result *r, struct bn_sql_diag *d);
enum bn_sql bn_mysql_lib_next(struct bn_mysql_lib *c, struct bn_sql_result *r,
                              struct bn_sql_diag *d);
bool bn_mysql_lib_fetch(struct bn_mysql_lib *c, const struct bn_sql_result *r,
                        struct bn_sql_value *row);
void bn_mysql_lib_free_result(struct bn_mysql_lib *c, const struct bn_sql_result *r);

/* --- stmt.c --- */
/* Prepares a statement.  Returns DONE; EMULATE if it can only be sent as text; ERROR or LOST. */
enum bn_sql bn_mysql_lib_prepare(struct bn_mysql_lib *c, struct bn_mysql_lib_stmt *st,
                                 const char *sql, size_t len, struct bn_sql_diag *d);
/* Sets up the library's part of a statement with n_params parameters that wire/ has prepared and
   will execute. */
void bn_mysql_lib_adopt(struct bn_mysql_lib *c, struct bn_mysql_lib_stmt *st, size_t n_params);
/* Returns the number of parameters of a statement that is prepared, by either way. */
size_t bn_mysql_lib_stmt_params(const struct bn_mysql_lib_stmt *st);
/* Returns DONE if the statement has n parameters, else ERROR and d. */
enum bn_sql bn_mysql_lib_check_params(const struct bn_mysql_lib_stmt *st, size_t n,
                                      struct bn_sql_diag *d);
/* The functions up to bn_mysql_lib_stmt_free_result have the contract of the driver's hooks. */
enum bn_sql bn_mysql_lib_bind(struct bn_mysql_lib_stmt *st, const struct bn_sql_bind *b, size_t n,
                              struct bn_sql_diag *d);
enum bn_sql bn_mysql_lib_execute(struct bn_mysql_lib_stmt *st, struct bn_sql_result *r,
                                 struct bn_sql_diag *d);
enum bn_sql bn_mysql_lib_stmt_next(struct bn_mysql_lib_stmt *st, struct bn_sql_result *r,
                                   struct bn_sql_diag *d);
bool bn_mysql_lib_stmt_fetch(struct bn_mysql_lib_stmt *st, struct bn_sql_result *r,
                             struct bn_sql_value *row);
void bn_mysql_lib_stmt_free_result(struct bn_mysql_lib_stmt *st);
/* Closes the statement, which may be unprepared. */
void bn_mysql_lib_stmt_close(struct bn_mysql_lib_stmt *st);

/* --- load.c --- */
/* Called before connecting: whatever file the server asks for, it gets rows and never a file. */
void bn_mysql_lib_load_guard(struct bn_mysql_lib *c);
/* The hooks of a bulk load (api/driver.h). */
enum bn_sql bn_mysql_lib_load_begin(struct bn_mysql_lib *c, const char *table, const char *columns,
                                    struct bn_sql_diag *d);
enum bn_sql bn_mysql_lib_load_rows(struct bn_mysql_lib *c, const char *rows, size_t len,
                                   struct bn_sql_diag *d);
enum bn_sql bn_mysql_lib_load_end(struct bn_mysql_lib *c, struct bn_sql_diag *d);
/* Frees what is known of the last load and its table. */
void bn_mysql_lib_load_forget(struct bn_mysql_lib *c);

/* --- mariadb.c or oracle.c: where the client libraries differ --- */
/* Returns OpenSSL's part of the connection if wire/ may use it, else NULL. */
struct ssl_st *bn_mysql_lib_tls(const struct bn_mysql_lib *c);
/* Makes what all connections need; called once, before the first connection. */
void bn_mysql_lib_init(void);
/* Sets the mode of encryption, before connecting.  Returns 0, or -1 and *text, which says what the
   library cannot do. */
int bn_mysql_lib_set_ssl_mode(MYSQL *handle, int mode, const char **text);
/* Lets the library send a password in clear text on connections that are encrypted or local, and
   with `allowed` on any; called before connecting, after bn_mysql_lib_set_ssl_mode. */
void bn_mysql_lib_set_cleartext(MYSQL *handle, int mode, bool local, bool allowed);
/* Returns the message if the last connect failed because no password may be sent in clear text,
   else NULL. */
const char *bn_mysql_lib_explain_cleartext(MYSQL *handle);
/* Logs in as mysql_real_connect does, by the waiter if there is one, and bounds the number of waits
   for the socket.  After false, *refused is the message if the bound was reached, else NULL. */
bool bn_mysql_lib_login(struct bn_mysql_lib *c, const struct bn_mysql_place *p,
                        const char **refused);
/* The slow path of bn_mysql_lib_enter: makes c the connection to which the waits of the thread's
   next call belong, and drops errors that other connections have left to OpenSSL. */
void bn_mysql_lib_make_current(struct bn_mysql_lib *c);
/* Called before each call of the library that may wait for the socket. */
static inline void bn_mysql_lib_enter(struct bn_mysql_lib *c)
{
  if (c->calls_back)
    bn_mysql_lib_make_current(c);
}
/* Why the library cannot send statements while other sessions go on; NULL: it can. */
extern const char *const bn_mysql_lib_cannot_wait;
/* Frees memory that the library can do without, for a connection on which it will hardly be
   used. */
void bn_mysql_lib_free_cache(struct bn_mysql_lib *c);
/* Asks for compression, before connecting; algorithms NULL: the library's choice.  Returns 0, or -1
   and *text, which says what the library cannot do. */
int bn_mysql_lib_set_compression(MYSQL *handle, const char *algorithms, const char **text);
/* Returns the descriptor, which stays the library's. */
int bn_mysql_lib_socket(const struct bn_mysql_lib *c);
/* Returns false if the library has closed the socket. */
bool bn_mysql_lib_is_connected(const struct bn_mysql_lib *c);
/* The library's messages for failures that wire/ finds. */
extern const struct bn_mysql_words bn_mysql_lib_words;

#endif
