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

#define BN_DRIVER_ABI 4

/* What every call on a connection or statement returns. */
enum bn_sql {
  BN_SQL_DONE,    /* succeeded without a result set */
  BN_SQL_ROWS,    /* succeeded with a result set, read completely */
  BN_SQL_ERROR,   /* failed; the connection still works; diag says why */
  BN_SQL_LOST,    /* failed; the connection is gone; diag says why */
  BN_SQL_EMULATE, /* prepare only: the server cannot prepare this statement; diag says why.  Of
                     class RESOURCE: nor any other at the moment */
  BN_SQL_MISCOUNT /* bind only: not as many values as the statement has marks; diag.text says so */
};

/* What kind of failure it was; the SQL layer decides what to do about it. */
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

/* What tells failures apart in the list of errors that a driver's option holds. */
enum bn_sql_key { BN_KEY_CODE, BN_KEY_STATE };

/* Failures that are ignored, so that the event is repeated, because the reference does so. */
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
  char call[40];    /* client function that failed, as messages name it: "sqlite3_step()" */
  char text[512];   /* the server's message, never a password */
  char where[192];  /* connect only: the place, as messages name it: "host 'x', port 3306" */
};

/* Of which transaction the next statement is part. */
enum bn_sql_transaction {
  BN_TRANSACTION_OWN,    /* of one that begins and ends with it, unless it begins a longer one */
  BN_TRANSACTION_OPEN,   /* of one that was begun before and ends when somebody says so */
  BN_TRANSACTION_MANUAL, /* the same, or of one that begins with it: autocommit is off */
  BN_TRANSACTION_FAILED  /* as OPEN, but nothing of it will be stored: its COMMIT rolls it back */
};

/* What failed, for the wording of messages. */
enum bn_sql_step { BN_STEP_CONNECT, BN_STEP_PREPARE, BN_STEP_BIND, BN_STEP_QUERY, BN_STEPS };

/* A complete result set.  rows is the driver's until free_result. */
struct bn_sql_result {
  uint64_t affected;
  uint64_t nrows;
  uint32_t nfields;
  bool more; /* another result of the same query is pending: call next */
  bool cut;  /* set by fetch: there is another row, but it cannot be read */
  bool dry;  /* nobody has executed the statement: there are no rows that it could have found */
  void *rows;
};

struct bn_sql_value {
  const char *ptr; /* NULL: SQL NULL; else text in the server's own form, valid until the next fetch
                      or free */
  size_t len;
};

enum bn_sql_type { BN_SQL_NULL, BN_SQL_INT64, BN_SQL_DOUBLE, BN_SQL_TEXT, BN_SQL_BLOB };

/* One parameter value; the SQL layer owns the storage, which is stable from bind to the last
   execute: a driver may remember the pointers and read them at each execute. */
struct bn_sql_bind {
  enum bn_sql_type type; /* declared type; stays the same over executions */
  const bool *is_null;
  const void *data;  /* int64_t, double, or bytes */
  const size_t *len; /* TEXT and BLOB: length now */
};

static inline bool bn_sql_bind_null(const struct bn_sql_bind *b)
{
  return b->type == BN_SQL_NULL || (b->is_null != NULL && *b->is_null);
}

/* A statement that is to be prepared, and what is to be bound to it.  stmt is zeroed. */
struct bn_sql_unprepared {
  void *stmt;
  const char *sql;
  size_t len;
  const struct bn_sql_bind *binds; /* NULL: nothing */
  size_t n_binds;
};

/* So many at most are prepared at once. */
enum { BN_SQL_AT_ONCE = 64 };

/* Where to connect.  ordinal counts the process's connections from 0, and on from there for each
   failure of a connection's server; it selects host, port, socket by rotation.  Overrides replace
   an option for this connection (driver:connect{host = …}). */
struct bn_sql_target {
  unsigned ordinal;
  const char *const *override_name; /* "host", "port", "user", … without the driver's prefix */
  const char *const *override_value;
  size_t n_overrides;
  bool loads;    /* load_begin may be called on this connection */
  bool prepared; /* what the workload needs is there, or the run fails: nothing is to be made */
  /* If it fails, another server is tried: it has to, if the server's host is silent. */
  bool elsewhere;
};

struct bn_sql_caps {
  bool multi_rows_insert, prepared_statements;
  /* In text literals; '#' begins a comment; so does "--", if a blank or the end is behind it. */
  bool backslash_escapes;
  bool prepares_anew; /* by itself at each execute, if the host asks for that */
  bool comments_nest;
};

/* Who is at the other end, and by which client library: "MariaDB 10.11.6", "3.3.8".  "": there is
   none. */
struct bn_sql_about {
  char server[128], client[128];
};

/* What an account, a role or a database may have of the server's connections. */
struct bn_sql_quota {
  char by[512];    /* who allows them: "CONNECTION LIMIT of ROLE app"; "": there is no quota */
  char raise[512]; /* as base/demand.h has it */
  int64_t allowed, used;
};

enum { BN_SQL_QUOTAS = 2 };

/* Numbers are -1 if they are unknown or without limit.  If a pooler is between the client and the
   server, the server's limits are not limits of the run, and what the pooler allows is unknown. */
struct bn_sql_info {
  int64_t max_connections; /* of the server, those of other clients included */
  int64_t max_prepared_statements;
  int64_t max_packet;                       /* bytes of a statement */
  int64_t connections, prepared_statements; /* in use now, this one included */
  int64_t reserved_connections;             /* besides max_connections, for others; 0: none */
  int64_t places;                           /* servers that connections are spread on */
  /* How to have %n of them (base/demand.h); NULL: unknown. */
  const char *raise_connections, *raise_statements;
  struct bn_sql_quota quota[BN_SQL_QUOTAS]; /* those that are there come first */
};

/* Of transactions; the driver's statements for them are in this order. */
enum bn_isolation {
  BN_ISOLATION_DEFAULT,
  BN_ISOLATION_READ_UNCOMMITTED,
  BN_ISOLATION_READ_COMMITTED,
  BN_ISOLATION_REPEATABLE_READ,
  BN_ISOLATION_SERIALIZABLE,
  BN_ISOLATIONS
};

/* What the host lends to a driver at init; valid until done. */
struct bn_driver_host {
  void (*log)(int level,
              const char *text);  /* levels of base/log.h: 0 fatal … 5 debug; any thread */
  const struct bn_policy *policy; /* of the dialect */
  uint64_t (*now_ns)(void);       /* CLOCK_MONOTONIC */
  void (*verbosity)(int level);   /* as if by --verbosity; at init only */
  bool anew;                      /* statements are to be prepared anew at each execute */
  void (*notice)(
      const char *text); /* prints what a server told on stderr, as it ends; any thread */
  bool names_loss;       /* a list of errors to be ignored has a SQLSTATE of a lost connection */
};

/* `bench_driver` of this type is the one symbol a module exports.  Hooks are only appended; `size`
   tells the host which exist.  Unless noted a hook is called by the thread that owns the
   connection. */
struct bn_driver {
  unsigned abi;             /* BN_DRIVER_ABI it was built with */
  size_t size;              /* sizeof (struct bn_driver) it was built with */
  const char *name, *title; /* "sqlite", "SQLite driver" */
  const struct bn_opt *options;
  size_t conf_size, conn_size, stmt_size; /* the host allocates zeroed memory, the driver fills */
  /* Once per process; *self is the driver's process-wide state, handed back to the hooks that take
     self. conf stays valid until done. */
  int (*init)(void **self, const void *conf, const struct bn_driver_host *host, struct bn_err *err);
  void (*done)(void *self);
  int (*thread_init)(void *self); /* before a thread's first connect; 0 or -1 */
  void (*thread_done)(void *self);
  /* deadline_ns: give up then (CLOCK_MONOTONIC; UINT64_MAX: never). */
  enum bn_sql (*connect)(void *self, void *conn, const struct bn_sql_target *t,
                         uint64_t deadline_ns, struct bn_sql_diag *d);
  void (*disconnect)(void *conn);   /* also of a half-made or lost connection */
  struct bn_sql_caps (*caps)(void); /* without a connection */
  enum bn_sql_class (*classify)(const struct bn_sql_diag *d); /* NULL: all are OTHER */
  struct bn_sql_ignore ignore;
  /* From any thread while conn is open: a blocked call returns an error.  Without waiting, because
     conn cannot be closed meanwhile and other sessions have their turn after it. */
  void (*interrupt)(void *conn);
  void (*about)(void *conn, struct bn_sql_about *out); /* sends nothing; NULL: nobody is there */
  int (*info)(void *conn, struct bn_sql_info *info);   /* NULL: unknown */
  /* Escapes into out (2 * len + 1 bytes), without quotes; returns the length. */
  size_t (*quote)(void *conn, char *out, const char *in, size_t len);
  /* sql[len] is 0 here and in prepare. */
  enum bn_sql (*query)(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                       struct bn_sql_diag *d);
  /* '?' marks parameters. */
  enum bn_sql (*prepare)(void *conn, void *stmt, const char *sql, size_t len,
                         struct bn_sql_diag *d);
  enum bn_sql (*bind)(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d);
  enum bn_sql (*execute)(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
  enum bn_sql (*next)(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d);
  bool (*fetch)(void *conn, struct bn_sql_result *r,
                struct bn_sql_value *row); /* nfields values; false: end, or r->cut */
  void (*free_result)(void *conn, struct bn_sql_result *r);
  void (*close)(void *stmt);
  /* Optional bulk load; NULL: multi-row INSERT.  columns: "id,k"; "": all.  Rows are lines that end
     with a newline, their fields parted by tabs, \N for NULL; within a field \t, \n, \r and \\
     stand for tab, newline, carriage return and backslash.  A call may end anywhere; the rows stay
     where they are until load_end returns.  Nothing else may be sent between begin and end; after a
     failure end is not called.  All rows are stored as INSERT would store them, or it is a failure;
     ERROR with diag.rolled_back: none is there and the connection is as it was before. */
  enum bn_sql (*load_begin)(void *conn, const char *table, const char *columns,
                            struct bn_sql_diag *d);
  enum bn_sql (*load_rows)(void *conn, const char *rows, size_t len, struct bn_sql_diag *d);
  enum bn_sql (*load_end)(void *conn, struct bn_sql_diag *d);
  /* How failures are worded, by enum bn_sql_step; each line becomes one message.  %c is diag.call,
     %e the code, %m the text, %q the statement, %w the place.  NULL (also an entry): as sqlite's.
   */
  const char *const *texts;
  bool fatal_queries; /* a failed query is fatal in 0.5, too, where other drivers' are alerts */
  /* By enum bn_isolation, what is sent on every new connection.  "": nothing, it is always so; NULL
     (also an entry): not possible. */
  const char *const *isolation;
  /* Optional, asked in sysbench's dialects only: how a statement fails there while results of the
     one before it are unread.  prepared: it is one that is executed.  NULL: they are dropped. */
  enum bn_sql (*unread)(enum bn_sql_step step, bool prepared, struct bn_sql_diag *d);
  /* Whether a query failed because its table does not exist; NULL: unknown. */
  bool (*missing)(const struct bn_sql_diag *d);
  /* Optional: prepares and binds n statements, but waits for the server once.  *done: how many it
     has, from the first on; stmt of the others is zero again.  DONE, diag means nothing, and what
     is wrong with the next one prepare or bind will say; or LOST, and it has none. */
  enum bn_sql (*prepare_all)(void *conn, const struct bn_sql_unprepared *list, size_t n,
                             size_t *done, struct bn_sql_diag *d);
  /* Optional, without a connection: names the server that t selects, as users write it, and returns
     how many there are to select from by the ordinal: the next ones are those of the ordinals that
     follow.  NULL: there is one, without a name. */
  size_t (*place)(void *self, const struct bn_sql_target *t, char *name, size_t size);
  /* Optional: what a user may do about a failure that the server does not explain, as "use ...";
     NULL: nothing. */
  const char *(*remedy)(const struct bn_sql_diag *d);
  /* Optional: as the server's answers so far say; sends nothing.  NULL: unknown. */
  enum bn_sql_transaction (*transaction)(void *conn);
  /* Optional, before so many bytes of rows are inserted: -1 and err if they surely do not fit. */
  int (*check_room)(void *conn, uint64_t bytes, struct bn_err *err);
  /* How a connection can fail whose host is silent; NULL: none does. */
  const struct bn_sql_named *silence;
};

extern const struct bn_driver bench_driver;

/* How its modules are found: a struct bn_plugin_kind (base/plugin.h). */
#define BN_DRIVER_KIND                                                                             \
  {                                                                                                \
    "driver", "bench_driver", BN_DRIVER_ABI, sizeof(struct bn_driver)                              \
  }

#endif
