/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQL layer: connections, statements and results over any driver.  A driver classifies
   failures; this layer counts, repeats, reconnects and gives up. */
#ifndef BN_SQL_SQL_H
#define BN_SQL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/opt.h"
#include "api/workload.h"
#include "base/err.h"

/* A driver as the program knows it before its module is loaded. */
struct bn_sql_driver_entry {
  const char *name, *title;
  const struct bn_opt *options;
  size_t conf_size;
  void *conf;                  /* filled by the option set */
  const struct bn_driver *ops; /* a driver that is no module; NULL: load the module of that name */
  const char *package;         /* the package that has the module; NULL: unknown */
};

/* The way in which commands fill tables: AUTO uses the driver's bulk load if it has one. */
enum bn_sql_bulk_way { BN_SQL_BULK_AUTO, BN_SQL_BULK_INSERT };

/* The time at which sessions of bundled workloads prepare statements: EAGER before the events, LAZY
   at their first use; AUTO decides by their number. */
enum bn_sql_prepare_way { BN_SQL_PREPARE_AUTO, BN_SQL_PREPARE_EAGER, BN_SQL_PREPARE_LAZY };

struct bn_sql_conf {            /* "General database options" */
  char *driver;                 /* --db-driver */
  char *connect;                /* --connect: a URI, which the command line turns into options */
  char *ps_mode;                /* auto, disable, simple, extended */
  bool debug;                   /* --db-debug: measure execution and fetching apart */
  struct bn_list ignore_errors; /* --db-ignore-errors: codes, SQLSTATEs, classes, all */
  int64_t max_tries;            /* --db-max-tries: tries of an event; 0: no limit */
  int isolation;                /* --db-isolation-level: enum bn_isolation */
  char *init_sql;               /* --db-init-sql: after each connect; NULL: nothing */
  int bulk_load;                /* --db-bulk-load: enum bn_sql_bulk_way */
  int prepare;                  /* --db-prepare: enum bn_sql_prepare_way */
  struct bn_list read_hosts;    /* --db-read-hosts: servers for statements that read */
  bool verify_commits;          /* --verify-commits: acknowledged commits are checked at the end */
  bool statements;              /* --statements: figures of each kind of statement */
  char *trace; /* --sql-trace=FILE: every statement, one line each, for tests and teaching */
};
extern const struct bn_opt bn_sql_options[];

struct bn_sqlsys; /* the layer, one for the process */
struct bn_sql_driver;
struct bn_sql_conn;
struct bn_sql_stmt;

/* Makes the layer; conf, policy and rows are borrowed and outlive it. */
struct bn_sqlsys *bn_sqlsys_new(const struct bn_sql_conf *conf, const struct bn_policy *policy,
                                const struct bn_sql_driver_entry *rows, size_t n_rows);
/* Returns the metrics that a workload which uses this layer declares (sql/count.h). */
const struct bn_metric *bn_sqlsys_metrics(const struct bn_sqlsys *sys);
/* Lets the first session that connects before its loop of events ask its server for the settings
   that documents of the run show. */
void bn_sqlsys_ask_settings(struct bn_sqlsys *sys);
/* Returns whether --statements is given. */
bool bn_sqlsys_names_statements(const struct bn_sqlsys *sys);
/* Returns whether the layer has a metric of that name in any configuration. */
bool bn_sql_has_metric(const char *name);
/* Returns whether --verify-commits is given. */
bool bn_sqlsys_verifies_commits(const struct bn_sqlsys *sys);
/* Checks that the servers have the commits that they have acknowledged, and drops the table that
   was made for this check.  The main thread calls it with its session, if --verify-commits is
   given; it may do so while some sessions hang.  Waits 10 s at most for commits that are missing,
   or 2 s once somebody has asked the run to stop.  Returns 0, or -1 and err: commits are missing,
   or no server could be asked. */
int bn_sqlsys_verify(struct bn_sqlsys *sys, struct bn_session *main, struct bn_err *err);
/* Drops the table of --verify-commits without comparing it, because there was no event.  The main
   thread calls it.  It takes a second at most. */
void bn_sqlsys_drop_commit_table(struct bn_sqlsys *sys, struct bn_session *main);
/* The longest times, in seconds, of bn_sqlsys_verify if servers do not answer: in a run that has
   come to its end, and in one that somebody has asked to stop. */
enum { BN_SQL_VERIFY_S = 22, BN_SQL_VERIFY_HURRY_S = 4 };
/* Sets the four metrics of verified commits, as the workload's hook `sample`.  They are 0 until
   bn_sqlsys_verify has compared the table. */
void bn_sqlsys_sample_commits(const struct bn_sqlsys *sys, uint64_t *counter);
/* Says on standard error whether updates, deletes or reads have found no row, and how many events
   include the preparation of a statement.  It is called after the threads of a run have ended. */
void bn_sqlsys_log_end_hints(const struct bn_sqlsys *sys);
/* Ends the drivers and frees the layer, after every session has ended.  NULL is allowed. */
void bn_sqlsys_free(struct bn_sqlsys *sys);

/* Returns the driver of that name, which the first call in a process loads and initialises, and
   marks the session's run as SQL; name NULL: --db-driver.  Returns NULL after a failure, which has
   been logged unless the session is interrupted.  Any thread may call this. */
struct bn_sql_driver *bn_sql_driver(struct bn_sqlsys *sys, struct bn_session *s, const char *name);
/* Returns the name of a driver. */
const char *bn_sql_driver_name(const struct bn_sql_driver *drv);

/* Tells the layer that every thread of the run opens a connection.  A session's script calls it
   before it opens its own. */
void bn_sql_note_all_connect(struct bn_sqlsys *sys);
/* The time at which a session prepares the statements that it does not prepare at its start. */
enum bn_sql_rest {
  BN_SQL_REST_LATER,  /* each when it is first used */
  BN_SQL_REST_NOW,    /* all before its first event */
  BN_SQL_REST_REFUSED /* the server does not allow that many, which standard error says */
};

/* Tells the layer how many statements every thread has prepared at its start, and how many it uses
   at most.  Returns when the session prepares the others.  Sessions that have a connection call it;
   all get the same answer as the first one. */
enum bn_sql_rest bn_sql_expect_statements(struct bn_sqlsys *sys, struct bn_session *s,
                                          uint64_t at_start, uint64_t in_all);

/* Checks, before a session inserts rows of `bytes` bytes in all, that the server may have room for
   them; the session has a connection.  Returns 0, or -1 and err if there is certainly no room. */
int bn_sql_check_room(const struct bn_session *s, uint64_t bytes, struct bn_err *err);

/* The verdict about the last call on a connection. */
enum bn_sql_verdict {
  BN_VERDICT_NONE,      /* it has succeeded */
  BN_VERDICT_IGNORABLE, /* it has failed, and the script repeats its event */
  BN_VERDICT_FATAL      /* it has failed, and the script's event fails */
};

/* The public part of a connection, which belongs to one session.  Scripts read it as con.error,
   con.sql_errno, …  The layout is also declared to scripts (script/api/ffi_sql.h). */
struct bn_sql_conn_view {
  int error; /* enum bn_sql_verdict */
  int sql_errno;
  const char *sql_state;  /* valid until the next call */
  const char *sql_errmsg; /* valid until the next call */
  struct bn_sql_driver *driver;
  bool lost; /* the last failure was the loss of the connection */
};

/* Returns the public part of a connection, which is its beginning. */
static inline struct bn_sql_conn_view *bn_sql_conn_view(struct bn_sql_conn *c)
{
  return (struct bn_sql_conn_view *)(void *)c;
}

/* A result set as scripts see it.  There is one for each connection, and a new statement replaces
   its content: pointers to an earlier result then lead to the new one. */
struct bn_sql_rs {
  uint32_t nrows, nfields;
  struct bn_sql_value
      *values; /* the row fetched last: nfields values; NULL pointers are SQL NULL */
};

/* Everything below is called by the thread that drives the session; messages are worded as those of
   sysbench.  A connection stays allocated until its session ends, or, if somebody still holds it
   then, until bn_sqlsys_free, so that a stale pointer finds a closed connection. */

/* Opens a connection.  The n overrides replace options of the driver, which are named without its
   prefix ("host").  Returns NULL after a failure, which has been logged unless the session is
   interrupted. */
struct bn_sql_conn *bn_sql_connect(struct bn_sql_driver *drv, struct bn_session *s,
                                   const char *const *override_name,
                                   const char *const *override_value, size_t n_overrides);
/* Closes the connection; the object stays, and may be opened again.  Returns 0, or -1 if it was
   closed before, which has been logged. */
int bn_sql_disconnect(struct bn_sql_conn *c);
/* Closes the connection if it is open, and opens it again, with attempts until the run is over and
   waits between them.  The new connection is counted; statements are prepared again on it when they
   are used.  Returns 0, or -1 if it cannot be opened. */
int bn_sql_reconnect(struct bn_sql_conn *c);
/* Ends the caller's use of the connection, which closes when its last statement is freed.  NULL is
   allowed. */
void bn_sql_conn_free(struct bn_sql_conn *c);
/* Closes all connections of the session, frees those that nobody holds, and calls the drivers'
   thread_done.  The thread that has driven the session calls it, after their last use (a worker
   after the interpreter of its script is closed) and before the run is freed. */
void bn_sql_session_end(struct bn_sqlsys *sys, struct bn_session *s);

/* From this call on, a failure of a query, execute or next_result that would be fatal is neither
   logged nor counted until bn_sql_settle_failure says whether to ignore it. */
void bn_sql_defer_failure(struct bn_sql_conn *c);
/* Decides about the failure that waits for it, if any.  A failure that is never settled is not
   counted. */
void bn_sql_settle_failure(struct bn_sql_conn *c, bool ignore);

/* From this call on, an error with this SQLSTATE is an answer of the server: the statement counts
   as completed, has no result, and nothing is logged.  "": no error is. */
void bn_sql_expect_error(struct bn_sql_conn *c, const char *state);

/* Is called when an ignored error has ended an event for the tries-th time.  Rolls back the
   transactions that the event has left open, and waits before a repetition; the end of the run cuts
   the wait short.  Returns false if the event has failed (--db-max-tries), else true: the caller
   repeats the event unless the run is over.  counts: the event is not one of the warm-up. */
bool bn_sql_retry(struct bn_sqlsys *sys, struct bn_session *s, uint64_t tries, bool counts);

/* Returns the text of the statement that has just failed, up to 4,000 bytes, or NULL if it is not
   known.  It is valid until the next failure. */
const char *bn_sql_failed_text(const struct bn_sql_conn *c, size_t *len);

/* Executes a query.  Returns its result, or NULL if it has none (see view->error for failure). */
struct bn_sql_rs *bn_sql_query(struct bn_sql_conn *c, const char *sql, size_t len);
/* Does the same, on the write server, for a query that is not part of the load, and is not counted
   unless it fails. */
struct bn_sql_rs *bn_sql_query_uncounted(struct bn_sql_conn *c, const char *sql, size_t len);
/* Returns whether the last statement has further results. */
bool bn_sql_more_results(struct bn_sql_conn *c);
/* Frees the current result and makes the next one the current one.  Returns it, or NULL if there is
   none, if it has no rows, or after a failure (view->error). */
struct bn_sql_rs *bn_sql_next_result(struct bn_sql_conn *c);
/* Fetches the next row into rs->values.  Returns false if there is none, or it cannot be read. */
bool bn_sql_fetch(struct bn_sql_rs *rs);
/* Returns whether bn_sql_fetch has returned false because the next row cannot be read. */
bool bn_sql_fetch_failed(struct bn_sql_rs *rs);
/* Frees the rows.  Returns 0, or -1 if that was done before, which has been logged. */
int bn_sql_free_result(struct bn_sql_rs *rs);

/* Prepares a statement, whose text is copied.  Returns NULL after a failure, which has been
   logged. */
struct bn_sql_stmt *bn_sql_prepare(struct bn_sql_conn *c, const char *sql, size_t len);
/* Returns the connection of a statement. */
struct bn_sql_conn *bn_sql_stmt_conn(struct bn_sql_stmt *st);
/* Names the statement for --statements, in place of the digest of its text. */
void bn_sql_stmt_set_name(struct bn_sql_stmt *st, const char *name);
/* From this call on until bn_sql_prepare_held, statements that the script prepares and binds are
   held back, on connections of the session that can prepare statements together.  Statements that
   are prepared anew at each execute would gain nothing by that, and are not held back. */
void bn_sql_hold_prepares(struct bn_session *s);
/* Prepares and binds the statements that are held back.  Returns 0, or -1 if one failed, which has
   been logged. */
int bn_sql_prepare_held(const struct bn_session *s);
/* Binds n values: the descriptors are copied; the memory that they point at is borrowed until the
   statement is closed or bound again.  Returns 0, or after a failure, which has been logged, -1 if
   the statement has the new values all the same, or 1 if it keeps its previous ones. */
int bn_sql_bind(struct bn_sql_stmt *st, const struct bn_sql_bind *binds, size_t n);
/* Executes the statement.  Returns as bn_sql_query. */
struct bn_sql_rs *bn_sql_execute(struct bn_sql_stmt *st);
/* Returns as bn_sql_next_result. */
struct bn_sql_rs *bn_sql_stmt_next_result(struct bn_sql_stmt *st);
/* Closes the statement.  The object stays until it is freed; using it fails.  Returns -1 if it was
   closed before. */
int bn_sql_stmt_close(struct bn_sql_stmt *st);
/* Closes and frees the statement; NULL is allowed.  A result that the script still reads stays. */
void bn_sql_stmt_free(struct bn_sql_stmt *st);

/* A connection has one growing INSERT.  `init` begins it with its text up to VALUES; `next` adds a
   row, "(…)", and sends the rows before it if it does not fit after them; `done` sends the rest.
   They return 0, or -1 after a failure, which has been logged; rows that were not sent stay for the
   next attempt.  In commands other than `run`, the driver's bulk load sends rows of plain values,
   unless --db-bulk-load=insert. */
int bn_sql_bulk_init(struct bn_sql_conn *c, const char *insert, size_t len);
int bn_sql_bulk_next(struct bn_sql_conn *c, const char *row, size_t len);
int bn_sql_bulk_done(struct bn_sql_conn *c);

#endif
