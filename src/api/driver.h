/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The database driver plug-in ABI: the only header a driver module includes. */
#ifndef BN_API_DRIVER_H
#define BN_API_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/opt.h"
#include "api/policy.h"
#include "base/err.h"

#define BN_DRIVER_ABI 12

/* The result of a call on a connection or statement. */
enum bn_sql {
  BN_SQL_DONE,    /* succeeded without a result set */
  BN_SQL_ROWS,    /* succeeded with a result set, read completely */
  BN_SQL_ERROR,   /* failed; the connection still works; diag says why */
  BN_SQL_LOST,    /* failed; the connection is gone; diag says why */
  BN_SQL_EMULATE, /* prepare only: the server cannot prepare this statement, or with class RESOURCE
                     no statement at the moment; diag says why.  prepare_all: see there */
  BN_SQL_MISCOUNT /* bind only: the number of values is not that of the marks; diag.text says so */
};

/* The class of a failure; the SQL layer decides how to handle it. */
enum bn_sql_class {
  BN_CLASS_OTHER,
  BN_CLASS_DEADLOCK,
  BN_CLASS_LOCK_TIMEOUT,
  BN_CLASS_SERIALIZATION,
  BN_CLASS_CONNECTION,
  BN_CLASS_READ_ONLY,
  BN_CLASS_DUPLICATE,
  BN_CLASS_RESOURCE
};

/* The key of the failures in the list of errors that a driver's option holds. */
enum bn_sql_key { BN_KEY_CODE, BN_KEY_STATE };

/* Failures that are ignored, so that the event is repeated, as in sysbench. */
struct bn_sql_ignore {
  unsigned classes;   /* bit 1 << enum bn_sql_class */
  const char *option; /* a BN_LIST of `options`: error numbers or SQLSTATEs, as key says, or "all",
                         which the host reads; NULL: none */
  enum bn_sql_key key;
};

/* An error by its number and its SQLSTATE. */
struct bn_sql_named {
  int code;
  const char *state; /* NULL: the end of a list */
};

struct bn_sql_diag {
  int code;         /* server or client error number; 0: none */
  char state[6];    /* SQLSTATE or "" */
  bool rolled_back; /* the transaction is no longer open */
  const char *call; /* client function that failed, as messages name it: "sqlite3_step()"; static
                       text, or NULL */
  char text[512];   /* the server's message, never a password */
  char where[192];  /* connect only: the place, as messages name it: "host 'x', port 3306" */
};

/* The transaction that the next statement is part of. */
enum bn_sql_transaction {
  BN_TRANSACTION_OWN,    /* begins and ends with the statement, unless that begins a longer one */
  BN_TRANSACTION_OPEN,   /* was begun before and ends on request */
  BN_TRANSACTION_MANUAL, /* as OPEN, or begins with the statement: autocommit is off */
  BN_TRANSACTION_FAILED  /* as OPEN, but nothing of it will be stored: its COMMIT rolls it back */
};

/* The step that failed, for the wording of messages. */
enum bn_sql_step { BN_STEP_CONNECT, BN_STEP_PREPARE, BN_STEP_BIND, BN_STEP_QUERY, BN_STEPS };

/* A complete result set.  The driver owns rows until free_result. */
struct bn_sql_result {
  uint64_t affected;
  uint64_t nrows;
  uint32_t nfields;
  bool more; /* another result of the same query is pending: call next */
  bool cut;  /* set by fetch: the next row cannot be read */
  bool dry;  /* the statement was not executed: it could not find rows */
  void *rows;
};

struct bn_sql_value {
  const char *ptr; /* NULL: SQL NULL; else text in the server's own form, valid until the next fetch
                      or free */
  size_t len;
};

enum bn_sql_type { BN_SQL_NULL, BN_SQL_INT64, BN_SQL_DOUBLE, BN_SQL_TEXT, BN_SQL_BLOB };

/* A parameter value.  The SQL layer owns the storage, which is stable from bind to the last
   execute: a driver may remember the pointers and read them at each execute. */
struct bn_sql_bind {
  enum bn_sql_type type; /* declared type; stays the same over executions */
  const bool *is_null;
  const void *data;  /* int64_t, double, or bytes */
  const size_t *len; /* TEXT and BLOB: length now */
};

/* Returns whether the value is NULL now: by its type, or by the flag that it may have. */
static inline bool bn_sql_bind_null(const struct bn_sql_bind *b)
{
  return b->type == BN_SQL_NULL || (b->is_null != NULL && *b->is_null);
}

/* A statement to be prepared, and the values to be bound to it. */
struct bn_sql_unprepared {
  void *stmt; /* stmt_size zeroed bytes */
  const char *sql;
  size_t len;
  const struct bn_sql_bind *binds; /* NULL: nothing is bound */
  size_t n_binds;
};

/* The largest number of statements that are prepared together. */
enum { BN_SQL_AT_ONCE = 64 };

/* The size in bytes of the memory in the `spare` of waiters. */
enum { BN_SQL_SPARE = 4032 };

/* Lets a connection wait while its thread goes on with other sessions (--workers).  A driver that
   sets `waits` waits for its sockets in this way alone, in every call on a connection whose target
   has a waiter; sleeps too.  Its calls then run on C stacks of 256 KiB. */
struct bn_sql_waiter {
  /* Waits until events of poll() (POLLIN, POLLOUT) have come to fd, and returns them, POLLERR and
     POLLHUP included; or returns 0 at until_ns (CLOCK_MONOTONIC; UINT64_MAX: never).  After an
     interruption of the session it returns 0 at once, for the rest of the connection's life; so it
     does if the descriptor cannot be watched, for which it has failed the run.
     fd -1: waits for the time alone.  The thread that called the driver calls it.

     armed NULL: the descriptor is registered for this wait alone.  Else *armed belongs to the
     caller and is false for a new descriptor, which is registered once for its whole life, so that
     a wait costs no system call of its own.  Such a wait may end without cause.  It sees only what
     comes after the last read, and the last bytes and the end of a connection can be one event: so
     before the next wait read until nothing is there, unless a request was sent since. */
  int (*wait)(const struct bn_sql_waiter *w, int fd, short events, bool *armed, uint64_t until_ns);
  void *of; /* of the function alone */
  /* A place for BN_SQL_SPARE bytes from malloc(), which all waiters of a thread share; NULL there:
     it is empty.  A driver may take the memory, and put it back when its connection does not need
     it any more.  The host frees what is there when the thread ends. */
  void **spare;
};

/* The server to connect to.  `ordinal` counts the connections of the process from 0, and continues
   for each failure of a connection's server; it selects host, port and socket by rotation.
   Overrides replace options for this connection (driver:connect{host = …}). */
struct bn_sql_target {
  unsigned ordinal;
  const char *const *override_name; /* "host", "port", "user", … without the driver's prefix */
  const char *const *override_value;
  size_t n_overrides;
  bool loads;    /* load_begin may be called on this connection */
  bool prepared; /* the data of the workload exists, or the run fails: nothing is created */
  /* Another server is tried after a failure, so the driver must fail if the host is silent. */
  bool elsewhere;
  const struct bn_sql_waiter *waiter; /* valid until disconnect; NULL: calls may block the thread */
};

/* How the server reads the text of a statement.  MYSQL: backslashes escape characters of literals;
   '#' begins a comment, and so does "--" before a blank or the end.  POSTGRESQL: comments nest, and
   dollars may enclose a literal. */
enum bn_sql_syntax { BN_SYNTAX_STANDARD, BN_SYNTAX_MYSQL, BN_SYNTAX_POSTGRESQL };

struct bn_sql_caps {
  enum bn_sql_syntax syntax;
  bool prepares_anew; /* prepares at each execute by itself, if the host asks for that */
};

/* The server and the client library of a connection: "MariaDB 10.11.6", "3.3.8"; how its bytes
   travel: "TCP", "TLSv1.3, TLS_AES_256_GCM_SHA384" or "none", "own" or "library", "none".  "": not
   known, or there is none. */
struct bn_sql_about {
  char server[128], client[128];
  char transport[32], encryption[128], protocol[16], compression[32];
  char parameters[512]; /* other parameters of the connection, wherever they were set; no secret */
};

/* A question about the server, for the facts of a run.  Each row of the answer has a name and a
   value. */
struct bn_sql_question {
  const char *section; /* of the facts: "server" or "data"; NULL: the end of a list */
  const char *sql;
};

/* The quota of connections of an account, a role or a database. */
struct bn_sql_quota {
  char by[512];    /* the object that has the quota: "CONNECTION LIMIT of ROLE app"; "": no quota */
  char raise[512]; /* the remedy, as in base/limit_check.h */
  int64_t allowed, used;
};

enum { BN_SQL_QUOTAS = 2 };

/* Limits of a server.  Numbers are -1 if they are unknown or without limit.  If a pooler is between
   the client and the server, the server's limits are not limits of the run, and the limits of the
   pooler are unknown. */
struct bn_sql_info {
  int64_t max_connections; /* of the server, connections of other clients included */
  int64_t max_prepared_statements;
  int64_t max_packet;                       /* largest statement in bytes */
  int64_t connections, prepared_statements; /* in use now, this connection included */
  int64_t reserved_connections;             /* besides max_connections, for others; 0: none */
  /* Remedies that raise the limit to %n (base/limit_check.h); NULL: unknown. */
  const char *raise_connections, *raise_statements;
  struct bn_sql_quota quota[BN_SQL_QUOTAS]; /* the existing quotas come first */
};

/* Returns limits of which none is known; there are no quotas, remedies or reserved connections. */
static inline struct bn_sql_info bn_sql_info_unknown(void)
{
  return (struct bn_sql_info){.max_connections = -1,
                              .max_prepared_statements = -1,
                              .max_packet = -1,
                              .connections = -1,
                              .prepared_statements = -1};
}

/* Isolation levels of transactions; the statements of a driver for them are in this order. */
enum bn_isolation {
  BN_ISOLATION_DEFAULT,
  BN_ISOLATION_READ_UNCOMMITTED,
  BN_ISOLATION_READ_COMMITTED,
  BN_ISOLATION_REPEATABLE_READ,
  BN_ISOLATION_SERIALIZABLE,
  BN_ISOLATIONS
};

/* Functions and settings that the host passes to a driver at init; valid until done. */
struct bn_driver_host {
  void (*log)(int level,
              const char *text);    /* levels of base/log.h: 0 fatal … 5 debug; any thread */
  const struct bn_policy *policy;   /* the policy of the dialect */
  uint64_t (*now_ns)(void);         /* CLOCK_MONOTONIC */
  void (*verbosity)(int level);     /* sets the verbosity; at init only */
  bool anew;                        /* statements are to be prepared again at each execute */
  void (*notice)(const char *text); /* prints a notice of a server on stderr as it is; any thread */
  bool names_loss; /* a list of ignored errors has the SQLSTATE of a lost connection */
  /* These return zeroed bytes, a resized block, a copy and a printed text, which free() frees.
     Without memory they print the report and end the process, so that a driver needs no error for
     small sizes.  If a server or a user decides the size, the driver calls malloc.  Any thread. */
  void *(*alloc)(size_t n, size_t size);
  void *(*resize)(void *p, size_t n, size_t size);
  char *(*text)(const char *text);
  __attribute__((format(printf, 1, 2))) char *(*print)(const char *fmt, ...);
  const _Atomic bool
      *interrupted; /* becomes true when init is to return; NULL: never; at init only */
  /* Returns the next "?" from p on in a text from begin to end that is a parameter, or end. */
  const char *(*next_param)(const char *p, const char *begin, const char *end,
                            const struct bn_sql_caps *caps);
};

/* A statement that returns rows of names and values of a server's counters. */
struct bn_sql_counters {
  const char *sql;
  bool optional; /* older servers do not have it */
};
enum { BN_SQL_COUNTERS = 4 };

/* `bench_driver` of this type is the only symbol a module exports.  Hooks are only appended; `size`
   tells the host which exist.  Unless noted, the thread that owns the connection calls a hook. */
struct bn_driver {
  unsigned abi;             /* BN_DRIVER_ABI it was built with */
  size_t size;              /* sizeof (struct bn_driver) it was built with */
  const char *name, *title; /* "sqlite", "SQLite driver" */
  const struct bn_opt *options;
  size_t conf_size, conn_size, stmt_size; /* the host allocates zeroed memory, the driver fills */
  /* Is called once per process; *self is the driver's process-wide state, which is passed to the
     hooks that have self. conf stays valid until done. */
  int (*init)(void **self, const void *conf, const struct bn_driver_host *host, struct bn_err *err);
  void (*done)(void *self);
  int (*thread_init)(void *self); /* before a thread's first connect; 0 or -1 */
  void (*thread_done)(void *self);
  /* The driver gives up at deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: never). */
  enum bn_sql (*connect)(void *self, void *conn, const struct bn_sql_target *t,
                         uint64_t deadline_ns, struct bn_sql_diag *d);
  void (*disconnect)(void *conn);   /* also called for a half-made or lost connection */
  struct bn_sql_caps (*caps)(void); /* without a connection */
  enum bn_sql_class (*classify)(const struct bn_sql_diag *d); /* NULL: all are OTHER */
  struct bn_sql_ignore ignore;
  /* Makes a blocked call return an error.  Any thread calls it while conn is open.  It does not
     wait, because conn cannot be closed meanwhile and other sessions have their turn after it. */
  void (*interrupt)(void *conn);
  void (*about)(void *conn, struct bn_sql_about *out); /* sends nothing; NULL: there is no server */
  /* Optional: sets the limits that the server tells in *info, where nothing is known before.
     Returns 0, or -1 if the server does not answer. */
  int (*info)(void *conn, struct bn_sql_info *info);
  /* Writes `in` to out (2 * len + 1 bytes), escaped for a text literal but without the quotes.
     Returns the length. */
  size_t (*quote)(void *conn, char *out, const char *in, size_t len);
  /* sql[len] is 0 here and in prepare. */
  enum bn_sql (*query)(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                       struct bn_sql_diag *d);
  /* '?' marks parameters.  sql stays where it is until close. */
  enum bn_sql (*prepare)(void *conn, void *stmt, const char *sql, size_t len,
                         struct bn_sql_diag *d);
  enum bn_sql (*bind)(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d);
  enum bn_sql (*execute)(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
  enum bn_sql (*next)(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
  bool (*fetch)(void *conn, struct bn_sql_result *r,
                struct bn_sql_value *row); /* nfields values; false: end, or r->cut */
  void (*free_result)(void *conn, struct bn_sql_result *r);
  void (*close)(void *stmt);
  /* Optional bulk load; NULL: multi-row INSERT. columns: "id,k"; "": all.  Rows are lines that end
     with a newline, with fields separated by tabs and \N for NULL; within a field \t, \n, \r and \\
     stand for tab, newline, carriage return and backslash.  A call may end anywhere in a row; the
     data stays in place until load_end returns.  Nothing else may be sent between begin and end;
     after a failure end is not called.  All rows are stored as INSERT would store them, or the load
     fails.  ERROR with diag.rolled_back: no row was stored and the connection is as before. */
  enum bn_sql (*load_begin)(void *conn, const char *table, const char *columns,
                            struct bn_sql_diag *d);
  enum bn_sql (*load_rows)(void *conn, const char *rows, size_t len, struct bn_sql_diag *d);
  enum bn_sql (*load_end)(void *conn, struct bn_sql_diag *d);
  /* Texts of failures, by enum bn_sql_step; each line becomes a message. %c is diag.call, %e the
     code, %m the text, %q the statement, %w the place.  NULL (also an entry): as sqlite's. */
  const char *const *texts;
  bool fatal_queries; /* a failed query is fatal in 0.5, where it is an alert with other drivers */
  /* Statements sent on every new connection, by enum bn_isolation.  "": none, the level always
     holds; NULL (also an entry): not possible. */
  const char *const *isolation;
  /* Optional, used in dialects only: how a statement fails while results of the statement before it
     are unread. prepared: the statement is an execute.  NULL: unread results are dropped. */
  enum bn_sql (*unread)(enum bn_sql_step step, bool prepared, struct bn_sql_diag *d);
  /* Returns whether a query failed because its table does not exist; NULL: unknown. */
  bool (*missing)(const struct bn_sql_diag *d);
  /* Optional: prepares and binds n statements, but waits for the server once.  *done: how many it
     has prepared, from the first on; stmt of the rest is zero again.  Returns DONE without diag; if
     it has not prepared all, prepare or bind of the next one will report why.  After LOST and
     EMULATE none is prepared; after EMULATE the server may take them one by one on a new
     connection. */
  enum bn_sql (*prepare_all)(void *conn, const struct bn_sql_unprepared *list, size_t n,
                             size_t *done, struct bn_sql_diag *d);
  /* Optional, without a connection: names the server that t selects, as users write it, and returns
     the number of servers that the ordinal selects from; consecutive ordinals select consecutive
     servers.  name may be NULL, with size 0.  NULL: one server without a name. */
  size_t (*place)(void *self, const struct bn_sql_target *t, char *name, size_t size);
  /* Optional: advises on a failure that the server does not explain, as "use ..."; NULL: none. */
  const char *(*remedy)(const struct bn_sql_diag *d);
  /* Optional: the state that the server's answers imply; sends nothing.  NULL: unknown. */
  enum bn_sql_transaction (*transaction)(void *conn);
  /* Optional: returns -1 and err if that many bytes of rows, about to be inserted, do not fit. */
  int (*check_room)(void *conn, uint64_t bytes, struct bn_err *err);
  /* The errors of a connection to a silent host; NULL: none. */
  const struct bn_sql_named *silence;
  /* Optional: asks the server, and returns whether a pooler has answered, which gives the server's
     session to other clients too. */
  bool (*pooled)(void *conn);
  /* Optional: returns 1 if a statement whose prepare failed like this would fail as text too, 0 if
     it may succeed, and -1 if its SQLSTATE tells.  NULL: it always tells. */
  int (*fails_as_text)(const struct bn_sql_diag *d);
  /* Optional: the counters of the server; sql NULL ends the list. */
  struct bn_sql_counters counters[BN_SQL_COUNTERS];
  /* Optional: a statement that returns a proof that the server is on this host, and its folder.
     folder_proof: the expected proof; NULL: the name of this host. */
  const char *folder_sql, *folder_proof;
  /* Optional: what somebody who repeats a run has to know of its server.  A server may refuse to
     answer.  NULL: nothing is asked. */
  const struct bn_sql_question *questions;
  /* Optional: the names in `counters` that have a current value; NULL ends the list.  All others
     only grow. */
  const char *const *gauges;
  bool waits; /* struct bn_sql_waiter */
};

extern const struct bn_driver bench_driver;

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_DRIVER_KIND                                                                             \
  {                                                                                                \
    "driver", "bench_driver", BN_DRIVER_ABI, sizeof(struct bn_driver)                              \
  }

#endif
