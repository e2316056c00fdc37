/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process-wide side: options, choice, loading and initialisation of drivers. */
#include "sql/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/plugin.h"
#include "option/opt.h"

static const char *const isolation_words[] = {[BN_ISOLATION_DEFAULT] = "default",
                                              [BN_ISOLATION_READ_UNCOMMITTED] = "read-uncommitted",
                                              [BN_ISOLATION_READ_COMMITTED] = "read-committed",
                                              [BN_ISOLATION_REPEATABLE_READ] = "repeatable-read",
                                              [BN_ISOLATION_SERIALIZABLE] = "serializable",
                                              [BN_ISOLATIONS] = NULL};
static const char *const ps_mode_words[] = {"auto", "disable", "simple", "extended", NULL};
static const char *const bulk_words[] = {"auto", "insert", NULL};
static const char *const prepare_words[] = {"auto", "eager", "lazy", NULL};

const struct bn_opt bn_sql_options[] = {
    {.name = "db-driver",
     .type = BN_STRING,
     .in = BN_IN_ALL,
     .def = "mysql",
     .def05 = BN_OPT_NO_DEFAULT,
     .offset = offsetof(struct bn_sql_conf, driver),
     .help = "database driver"},
    {.name = "connect",
     .type = BN_STRING,
     .secret = true,
     .offset = offsetof(struct bn_sql_conf, connect),
     .form = "=URI",
     .help = "server, user and database: mysql://user@host:port/db or postgresql://"},
    {.name = "db-ps-mode",
     .type = BN_STRING,
     .in = BN_IN_ALL,
     .def = "auto",
     .offset = offsetof(struct bn_sql_conf, ps_mode),
     .words = ps_mode_words,
     .help = "prepared statements: auto, disable, simple or extended"},
    {.name = "db-debug",
     .type = BN_BOOL,
     .in = BN_IN_ALL,
     .def = "off",
     .offset = offsetof(struct bn_sql_conf, debug),
     .help = "separate times of execution and fetching, at verbosity 5"},
    {.name = "db-ignore-errors",
     .type = BN_LIST,
     .repeat = true,
     .offset = offsetof(struct bn_sql_conf, ignore_errors),
     .help = "errors after which an event is repeated: classes, codes, or all"},
    {.name = "db-max-tries",
     .type = BN_INT,
     .def = "0",
     .offset = offsetof(struct bn_sql_conf, max_tries),
     .min = 0,
     .max = 1000000,
     .help = "tries after which an event fails; 0: no limit"},
    {.name = "db-isolation-level",
     .type = BN_CHOICE,
     .def = "default",
     .offset = offsetof(struct bn_sql_conf, isolation),
     .choices = isolation_words,
     .help = "isolation level of transactions"},
    {.name = "db-bulk-load",
     .type = BN_CHOICE,
     .def = "auto",
     .offset = offsetof(struct bn_sql_conf, bulk_load),
     .choices = bulk_words,
     .help = "way to fill tables: auto (the fastest) or insert"},
    {.name = "db-prepare",
     .type = BN_CHOICE,
     .def = "auto",
     .offset = offsetof(struct bn_sql_conf, prepare),
     .choices = prepare_words,
     .help = "preparation of statements: auto, eager (at the start) or lazy"},
    {.name = "db-read-hosts",
     .type = BN_LIST,
     .offset = offsetof(struct bn_sql_conf, read_hosts),
     .help = "servers for statements that read outside of transactions"},
    {.name = "verify-commits",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_sql_conf, verify_commits),
     .help = "check at the end that acknowledged commits are stored"},
    {.name = "statements",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_sql_conf, statements),
     .help = "counts, rows, errors and latencies of each kind of statement"},
    {.name = "sql-trace",
     .type = BN_PATH,
     .offset = offsetof(struct bn_sql_conf, trace),
     .form = "=FILE",
     .help = "file for the text of every statement"},
    BN_OPT_END,
};

#define COUNTER(name)                                                                              \
  {                                                                                                \
    name, "1", BN_COUNTER                                                                          \
  }
#define TIME(name)                                                                                 \
  {                                                                                                \
    name, "ns", BN_HISTOGRAM                                                                       \
  }
/* In the order of sql/count.h. */
#define ROWS                                                                                       \
  COUNTER("rows_read"), COUNTER("rows_inserted"), COUNTER("rows_updated"),                         \
      COUNTER("rows_deleted"), COUNTER("updates_without_rows"), COUNTER("deletes_without_rows"),   \
      COUNTER("retried_events"), COUNTER("retries"), COUNTER("failed_events")
#define WAIT                                                                                       \
  {                                                                                                \
    "connection_wait", "ns", BN_COUNTER                                                            \
  }
#define VERIFIED                                                                                   \
  COUNTER("acknowledged_commits"), COUNTER("missing_commits"), COUNTER("unknown_commits"),         \
      COUNTER("unknown_commits_stored")
#define PAIRED COUNTER("read_host_reads")
#define SERVERS                                                                                    \
  {"losses_by_server", "1", BN_LABELLED},                                                          \
  {                                                                                                \
    "reconnects_by_server", "1", BN_LABELLED                                                       \
  }
#define TIMES   TIME("sql_execute"), TIME("sql_fetch")

#define COMMITS COUNTER("transactions")

/* By whether --db-read-hosts is given: what others have is in the middle. */
#define WITH_PAIRED(...)                                                                           \
  {                                                                                                \
    {ROWS, WAIT, __VA_ARGS__ SERVERS},                                                             \
    {                                                                                              \
      ROWS, WAIT, __VA_ARGS__ PAIRED, SERVERS                                                      \
    }                                                                                              \
  }
#define WITH_PAIRED_TIMES(...)                                                                     \
  {                                                                                                \
    {ROWS, WAIT, __VA_ARGS__ TIMES, SERVERS},                                                      \
    {                                                                                              \
      ROWS, WAIT, __VA_ARGS__ PAIRED, TIMES, SERVERS                                               \
    }                                                                                              \
  }

/* All of them, and the end: the longest of the tables below. */
static const struct bn_metric every[] = {ROWS,   WAIT,  COMMITS, VERIFIED,
                                         PAIRED, TIMES, SERVERS, {NULL, NULL, BN_COUNTER}};

/* By whether --db-debug is given, whether transactions are counted apart from events, whether
   --verify-commits is given, and whether --db-read-hosts is. */
static const struct bn_metric metrics[2][2][2][2][sizeof every / sizeof every[0]] = {
    {{WITH_PAIRED(), WITH_PAIRED(VERIFIED, )},
     {WITH_PAIRED(COMMITS, ), WITH_PAIRED(COMMITS, VERIFIED, )}},
    {{WITH_PAIRED_TIMES(), WITH_PAIRED_TIMES(VERIFIED, )},
     {WITH_PAIRED_TIMES(COMMITS, ), WITH_PAIRED_TIMES(COMMITS, VERIFIED, )}},
};

const struct bn_metric *bn_sqlsys_metrics(const struct bn_sqlsys *sys)
{
  return metrics[sys->conf->debug][sys->policy->transactions_are_commits][sys->conf->verify_commits]
                [sys->conf->read_hosts.n > 0];
}

bool bn_sqlsys_names_statements(const struct bn_sqlsys *sys)
{
  return sys->conf->statements;
}

bool bn_sql_statement_names_metric(const char *name)
{
  for (const struct bn_metric *m = every; m->name != NULL; m++)
    if (strcmp(m->name, name) == 0)
      return true;
  return false;
}

void bn_sql_drivers_done(struct bn_sqlsys *sys)
{
  for (size_t i = 0; i < sys->n_rows; i++) {
    struct bn_sql_driver *drv = &sys->drivers[i];

    if (drv->ops != NULL && drv->ops->done != NULL)
      drv->ops->done(drv->self);
    bn_sql_errors_free(&drv->ignored);
    bn_sql_splitter_done(&drv->splitter);
  }
  bn_sql_errors_free(&sys->ignored);
  bn_sql_trace_close(&sys->trace);
}

static const struct bn_sql_row *row_named(const struct bn_sqlsys *sys, const char *name)
{
  for (size_t i = 0; i < sys->n_rows; i++) {
    if (strcmp(sys->rows[i].name, name) == 0)
      return &sys->rows[i];
  }
  return NULL;
}

/* typed: it is the value of the option. */
static void log_unknown(const struct bn_sqlsys *sys, const char *name, bool typed)
{
  const bool refuses = typed && sys->n_rows > 0 && !sys->policy->plain_errors;
  struct bn_err err = {0};
  struct bn_buf names;

  bn_buf_init(&names, 0);
  for (size_t i = 0; i < sys->n_rows; i++)
    (void)bn_buf_printf(&names, "%s%s", i == 0 ? "" : refuses ? ", " : " ", sys->rows[i].name);
  if (refuses) {
    (void)bn_opt_refuse(
        sys->policy, &(struct bn_opt_refusal){"db-driver", name, "unknown", names.data}, "", &err);
    bn_log_failure(&err);
  } else {
    bn_log(BN_FATAL, "invalid database driver name: '%s'", name);
    if (names.len > 0)
      bn_log_hint("drivers to choose from with --db-driver: %s", names.data);
  }
  bn_buf_done(&names);
}

/* The row to use, or NULL when a message has been logged. */
static const struct bn_sql_row *driver_choose(const struct bn_sqlsys *sys, const char *name)
{
  const struct bn_sql_row *row;
  const bool typed = name == NULL;

  if (typed)
    name = sys->conf->driver;
  if (name == NULL && sys->policy->driver_must_be_named) {
    bn_log(BN_FATAL, "no database driver specified");
    return NULL;
  }
  if (name != NULL && name[0] != '\0') {
    row = row_named(sys, name);
    if (row == NULL)
      log_unknown(sys, name, typed);
    return row;
  }
  if (sys->n_rows == 1) {
    bn_log(BN_INFO, "No DB drivers specified, using %s", sys->rows[0].name);
    return &sys->rows[0];
  }
  if (sys->n_rows == 0)
    bn_log(BN_FATAL, "No DB drivers available");
  else
    bn_log(BN_FATAL, "Multiple DB drivers are available. Use --db-driver=name to specify which "
                     "one to use");
  return NULL;
}

static int set_ps_mode(struct bn_sqlsys *sys, struct bn_err *err)
{
  const char *mode = sys->conf->ps_mode;

  if (mode == NULL)
    mode = "auto";
  sys->emulate = strcmp(mode, "disable") == 0 || strcmp(mode, "simple") == 0;
  sys->anew = strcmp(mode, "extended") == 0;
  if (sys->emulate || sys->anew || strcmp(mode, "auto") == 0)
    return 0;
  return bn_opt_refuse(
      sys->policy,
      &(struct bn_opt_refusal){"db-ps-mode", mode, "unknown", "auto, disable, simple, extended"},
      "Invalid value for db-ps-mode: %s", err);
}

/* What all drivers share, once; the caller holds the lock. */
static int settle_options(struct bn_sqlsys *sys, struct bn_err *err)
{
  if (sys->settled)
    return 0;
  if (set_ps_mode(sys, err) != 0 ||
      bn_sql_errors_parse(&sys->ignored, sys->policy, &sys->conf->ignore_errors, err) != 0)
    return -1;
  if (sys->conf->trace != NULL && sys->conf->trace[0] != '\0' &&
      bn_sql_trace_open(&sys->trace, sys->conf->trace, err) != 0)
    return -1;
  sys->announces = sys->trace.file != NULL || sys->conf->statements;
  sys->settled = true;
  return 0;
}

static int check_isolation(const struct bn_sqlsys *sys, const struct bn_driver *ops,
                           struct bn_err *err)
{
  const int level = sys->conf->isolation;

  if (level == BN_ISOLATION_DEFAULT || (ops->isolation != NULL && ops->isolation[level] != NULL))
    return 0;
  return bn_err_set(err, EINVAL, "the database driver '%s' has no isolation level '%s'", ops->name,
                    isolation_words[level]);
}

/* The run goes on, however such a connection fails. */
static bool ignores_silence(const struct bn_sql_driver *drv, const struct bn_driver *ops)
{
  const struct bn_sql_named *each = ops->silence;

  for (; each != NULL && each->state != NULL; each++) {
    struct bn_sql_diag d = {.code = each->code};

    (void)snprintf(d.state, sizeof d.state, "%s", each->state);
    if (!bn_sql_driver_ignores(drv, &d, BN_CLASS_CONNECTION))
      return false;
  }
  return each != NULL;
}

static int driver_load(struct bn_sql_driver *drv, const struct bn_sql_row *row, struct bn_err *err)
{
  static const struct bn_plugin_kind kind = BN_DRIVER_KIND;
  const struct bn_driver *ops = row->ops != NULL ? row->ops : bn_plugin_open(&kind, row->name, err);

  if (ops == NULL)
    return -1;
  if (ops->conf_size != row->conf_size)
    return bn_err_set(err, EINVAL, "the module of the database driver '%s' is of another version",
                      row->name);
  if (check_isolation(drv->sys, ops, err) != 0)
    return -1;
  if (bn_sql_errors_of_driver(&drv->ignored, ops, row->conf, err) != 0)
    return -1;
  if (bn_sql_splitter_init(&drv->splitter, &drv->sys->conf->read_hosts, ops, &drv->caps, err) != 0)
    return -1;
  drv->host.anew = drv->sys->anew;
  drv->host.names_loss = bn_sql_errors_name_loss(&drv->sys->ignored, ops) ||
                         bn_sql_errors_name_loss(&drv->ignored, ops);
  drv->ignores_silence = ignores_silence(drv, ops);
  if (ops->init != NULL && ops->init(&drv->self, row->conf, &drv->host, err) != 0)
    return -1;
  drv->caps = ops->caps();
  drv->ops = ops;
  return 0;
}

struct bn_sql_driver *bn_sql_driver(struct bn_sqlsys *sys, struct bn_session *s, const char *name)
{
  const struct bn_sql_row *row = driver_choose(sys, name);
  struct bn_sql_driver *drv;
  struct bn_err err = {0};
  int rc;

  if (row == NULL)
    return NULL;
  drv = &sys->drivers[row - sys->rows];
  pthread_mutex_lock(&sys->lock);
  rc = settle_options(sys, &err);
  if (rc == 0 && drv->ops == NULL) {
    rc = driver_load(drv, row, &err);
    if (rc == 0)
      s->services->fact(s->services->of, "database", "driver", row->name);
  }
  pthread_mutex_unlock(&sys->lock);
  if (rc != 0) {
    bn_log_failure(&err);
    return NULL;
  }
  s->services->set_kind(s->services->of, BN_KIND_SQL);
  return drv;
}

const char *bn_sql_driver_name(const struct bn_sql_driver *drv)
{
  return drv->ops->name;
}

const struct bn_sql_committer *bn_sql_driver_verify(const struct bn_sql_driver *drv,
                                                    const struct bn_driver *below,
                                                    const struct bn_session *s)
{
  /* Its connections are the run's first and last: they make no database either. */
  const struct bn_sql_verified verified = {.ops = drv->ops,
                                           .self = drv->self,
                                           .caps = &drv->caps,
                                           .trace = &drv->sys->trace,
                                           .prepared = drv->sys->preflight.all_connect};

  return bn_sql_verify_start(&drv->sys->verify, &verified, below, s);
}
