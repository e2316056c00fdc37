/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQL layer: connections, statements and results over any driver; counts, retries, reconnects,
   gives up.  A driver classifies, this layer decides. */
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
  const char *package;         /* what users without the module install; NULL: unknown */
};

/* The way in which commands fill tables. */
enum bn_sql_bulk_way { BN_SQL_BULK_AUTO, BN_SQL_BULK_INSERT };

/* The time at which sessions of bundled workloads prepare statements: AUTO decides by their
   number. */
enum bn_sql_prepare_way { BN_SQL_PREPARE_AUTO, BN_SQL_PREPARE_EAGER, BN_SQL_PREPARE_LAZY };

struct bn_sql_conf {            /* "General database options" */
  char *driver;                 /* --db-driver */
  char *connect;                /* --connect: a URI, which the command line turns into options */
  char *ps_mode;                /* auto, disable, simple, extended */
  bool debug;                   /* --db-debug: measure execution and fetching apart */
  struct bn_list ignore_errors; /* --db-ignore-errors: codes, SQLSTATEs, classes, all */
  int64_t max_tries;            /* --db-max-tries: of an event; 0: no limit */
  int isolation;                /* --db-isolation-level: enum bn_isolation */
  char *init_sql;               /* --db-init-sql: after each connect; NULL: nothing */
  int bulk_load;                /* --db-bulk-load: enum bn_sql_bulk_way */
  int prepare;                  /* --db-prepare: enum bn_sql_prepare_way */
  struct bn_list read_hosts;    /* --db-read-hosts: servers for statements that read */
  bool verify_commits;          /* --verify-commits: acknowledged ones are looked for at the end */
  bool statements;              /* --statements: figures of each kind of statement */
  char *trace; /* --sql-trace=FILE: every statement, one line each, for tests and teaching */
};
extern const struct bn_opt bn_sql_options[];

struct bn_sqlsys; /* process-wide */
struct bn_sql_driver;
struct bn_sql_conn;
struct bn_sql_stmt;

/* Makes the layer; conf and rows are borrowed and outlive it. */
struct bn_sqlsys *bn_sqlsys_new(const struct bn_sql_conf *conf, const struct bn_policy *policy,
                                const struct bn_sql_driver_entry *rows, size_t n_rows);
/* Returns the metrics that a workload which uses this layer declares: counters of rows, with
   --db-debug histograms "sql_execute" and "sql_fetch", in dialect 0.5 a counter "transactions" of
   COMMITs, with --verify-commits four counters of commits, with --db-read-hosts one of reads. */
const struct bn_metric *bn_sqlsys_metrics(const struct bn_sqlsys *sys);
/* Lets the first session that connects before its loop ask its server for the settings that
   documents of the run show. */
void bn_sqlsys_ask_settings(struct bn_sqlsys *sys);
/* Returns whether the workload declares that it tells statements apart. */
bool bn_sqlsys_names_statements(const struct bn_sqlsys *sys);
/* Returns whether a metric of that name exists with some configuration. */
bool bn_sql_statement_names_metric(const char *name);
/* Returns whether --verify-commits is given. */
bool bn_sqlsys_verifies(const struct bn_sqlsys *sys);
/* Checks that the servers have the commits that they have acknowledged; also while some sessions
   hang.  The main thread calls it with its session, if --verify-commits is given.  Drops the table
   that was made for it.  Waits 10 s at most for commits that are missing, 2 s once somebody has
   asked the run to stop.  Returns 0, or -1 and err: some are missing, or no server could be
   asked. */
int bn_sqlsys_verify(struct bn_sqlsys *sys, struct bn_session *main, struct bn_err *err);
/* Drops the table of --verify-commits without comparing it, because there was no event.  It takes a
   second at most. */
void bn_sqlsys_drop_commit_table(struct bn_sqlsys *sys, struct bn_session *main);
/* The longest times of verifying if servers do not answer, to compare and to drop: both, and both
   once somebody has asked the run to stop. */
enum { BN_SQL_VERIFY_S = 22, BN_SQL_VERIFY_HURRY_S = 4 };
/* Sets the workload's four metrics of verified commits, as its `sample`.  They are 0 until
   bn_sqlsys_verify has compared. */
void bn_sqlsys_sample_commits(const struct bn_sqlsys *sys, uint64_t *counter);
/* Says on standard error, after the threads of a run have ended, whether updates, deletes or reads
   found no row, and which share of the events had to wait for statements that were first used. */
void bn_sqlsys_log_end_hints(const struct bn_sqlsys *sys);
/* Ends the drivers and frees the layer, after every session has ended.  NULL is allowed. */
void bn_sqlsys_free(struct bn_sqlsys *sys);

/* Finds a driver, loads and initialises it at the first call in a process, and marks the session's
   run as SQL; name NULL: --db-driver.  Returns NULL after a failure, which has been logged unless
   the session is interrupted.  Any thread may call this. */
struct bn_sql_driver *bn_sql_driver(struct bn_sqlsys *sys, struct bn_session *s, const char *name);
const char *bn_sql_driver_name(const struct bn_sql_driver *drv);

/* Notes that every thread of the run opens a connection.  The session's script calls it before it
   opens its own. */
void bn_sql_note_all_connect(struct bn_sqlsys *sys);
/* The time at which a session prepares the statements that it has not prepared yet. */
enum bn_sql_rest {
  BN_SQL_REST_LATER,  /* each when it is first used */
  BN_SQL_REST_NOW,    /* all before its first event */
  BN_SQL_REST_REFUSED /* the server does not allow that many; said on standard error */
};

/* Tells how many statements every thread has prepared at its start, and how many it uses at most.
   Returns when the session prepares the others.  A session that has a connection calls it, and the
   answer to the first one is that to all. */
enum bn_sql_rest bn_sql_expect_statements(struct bn_sqlsys *sys, struct bn_session *s,
                                          uint64_t at_start, uint64_t in_all);

/* Checks, before a session that has a connection inserts rows of `bytes` bytes together, that they
   may fit.  Returns 0, or -1 and err if they surely do not. */
int bn_sql_check_room(const struct bn_session *s, uint64_t bytes, struct bn_err *err);

/* The verdict about the last call on a connection. */
enum bn_sql_verdict { BN_VERDICT_NONE, BN_VERDICT_IGNORABLE, BN_VERDICT_FATAL };

/* A connection belongs to one session.  Public part; what scripts read as con.error, con.sql_errno,
   … The layout is also declared to scripts (script/api/ffi_sql.h). */
struct bn_sql_conn_view {
  int error; /* enum bn_sql_verdict */
  int sql_errno;
  const char *sql_state;  /* valid until the next call */
  const char *sql_errmsg; /* valid until the next call */
  struct bn_sql_driver *driver;
  bool lost; /* the last failure was the loss of the connection */
};

/* Returns the view, with which a connection begins. */
static inline struct bn_sql_conn_view *bn_sql_conn_view(struct bn_sql_conn *c)
{
  return (struct bn_sql_conn_view *)(void *)c;
}

/* A result set as scripts see it.  There is one per connection: a new statement replaces its
   content, so what was returned before then stands for the new result. */
struct bn_sql_rs {
  uint32_t nrows, nfields;
  struct bn_sql_value
      *values; /* the row fetched last: nfields values; NULL pointers are SQL NULL */
};

/* Everything below is called by the thread that drives the session; messages are logged as the
   reference words them.  A connection stays allocated until its session ends, or, if somebody still
   holds it then, until bn_sqlsys_free, so that a stale pointer finds a closed connection. */
/* Opens a connection.  The overrides replace options of the driver, whose names stand without its
   prefix.  Returns NULL after a failure, which has been logged unless the session is
   interrupted. */
struct bn_sql_conn *bn_sql_connect(struct bn_sql_driver *drv, struct bn_session *s,
                                   const char *const *override_name,
                                   const char *const *override_value, size_t n_overrides);
/* Closes the connection; the object stays for `error` and reconnect.  Returns 0, or -1 if it was
   closed before, which has been logged. */
int bn_sql_disconnect(struct bn_sql_conn *c);
/* Closes the connection if it is open, and opens it again, with waits between the attempts, until
   the run is over.  A new connection is counted; its statements are prepared again when they are
   used.  Returns 0, or -1 if it cannot be opened. */
int bn_sql_reconnect(struct bn_sql_conn *c);
/* Gives up the connection; it closes when its last statement is freed. */
void bn_sql_conn_free(struct bn_sql_conn *c);
/* Closes what is open, frees what nobody holds and calls the drivers' thread_done.  By the thread
   that drove the session, after the last use (a worker's script: after its interpreter is closed)
   and before the run is freed. */
void bn_sql_session_end(struct bn_sqlsys *sys, struct bn_session *s);

/* From now on a fatal failure of a query, execute or next_result is neither logged nor counted
   before bn_sql_settle_failure says whether to ignore it after all.  A failure that is never
   settled is forgotten. */
void bn_sql_defer_failure(struct bn_sql_conn *c);
void bn_sql_settle_failure(struct bn_sql_conn *c, bool ignore);

/* From now on an error with this SQLSTATE is an answer of the server: the statement counts as
   completed, has no result, and nothing is logged.  "": none is. */
void bn_sql_expect_error(struct bn_sql_conn *c, const char *state);

/* Rolls back what an event has left open that an ignored error has ended for the tries-th time.
   Waits before a repetition; the end of the run cuts the wait short.  Returns true if the event may
   be repeated, unless the run is over, or false if it has failed (--db-max-tries).  counts: it is
   no event of the warm-up. */
bool bn_sql_retry(struct bn_sqlsys *sys, struct bn_session *s, uint64_t tries, bool counts);

/* Returns the text of the statement that has just failed, up to 4,000 bytes, or NULL if it is not
   known.  It is valid until the next failure. */
const char *bn_sql_failed_text(const struct bn_sql_conn *c, size_t *len);

/* Executes a query.  Returns its result, or NULL if it has none (see view->error for failure). */
struct bn_sql_rs *bn_sql_query(struct bn_sql_conn *c, const char *sql, size_t len);
/* Does the same for a query that is no part of the load; its failure counts as any. */
struct bn_sql_rs *bn_sql_query_uncounted(struct bn_sql_conn *c, const char *sql, size_t len);
/* Returns whether the last statement has further results. */
bool bn_sql_more_results(struct bn_sql_conn *c);
/* Frees the current result and takes the next one.  Returns it, or NULL if there is none, if it has
   no rows, or after a failure (view->error). */
struct bn_sql_rs *bn_sql_next_result(struct bn_sql_conn *c);
/* Returns true if rs->values holds the next row. */
bool bn_sql_fetch(struct bn_sql_rs *rs);
/* Returns whether bn_sql_fetch has returned false because the next row cannot be read. */
bool bn_sql_fetch_failed(struct bn_sql_rs *rs);
/* Frees the rows.  Returns 0, or -1 if that was done before, which has been logged. */
int bn_sql_free_result(struct bn_sql_rs *rs);

/* Prepares a statement, whose text is copied.  Returns NULL after a failure, which has been
   logged. */
struct bn_sql_stmt *bn_sql_prepare(struct bn_sql_conn *c, const char *sql, size_t len);
struct bn_sql_conn *bn_sql_stmt_conn(struct bn_sql_stmt *st);
/* Names the statement for --statements, in place of the digest of its text. */
void bn_sql_stmt_set_name(struct bn_sql_stmt *st, const char *name);
/* Holds back the statements that are prepared and bound from now on, until bn_sql_prepare_held, on
   the session's connections that can prepare statements together.  Statements that are prepared
   anew at each execute gain nothing by that, and are not held back. */
void bn_sql_hold_prepares(struct bn_session *s);
/* Prepares and binds the statements that are held back.  Returns 0, or -1 if one failed, which has
   been logged. */
int bn_sql_prepare_held(const struct bn_session *s);
/* Binds values: the descriptors are copied; the memory that they point at is borrowed until the
   statement is closed or bound again.  Returns 0, or after a failure, which has been logged: -1 if
   the statement has the new values all the same, 1 if it keeps its previous ones. */
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

/* A connection has one growing INSERT.  init takes its text up to VALUES; next takes one "(…)"
   group, and sends the rows before it if it does not fit after them; done sends the rest.  They
   return 0, or -1 after a failure, which has been logged; rows that were not sent stay for the next
   attempt.  In commands other than `run`, plain rows go by the driver's bulk load, unless
   --db-bulk-load=insert. */
int bn_sql_bulk_init(struct bn_sql_conn *c, const char *insert, size_t len);
int bn_sql_bulk_next(struct bn_sql_conn *c, const char *row, size_t len);
int bn_sql_bulk_done(struct bn_sql_conn *c);

#endif
