/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the SQL layer, and what it measures when they are given. */
#include <stddef.h>
#include <string.h>

#include "sql/count.h"
#include "sql/driver.h"

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
     .traits = BN_OPT_CONNECTS,
     .in = BN_IN_ALL,
     .def = "mysql",
     .def05 = BN_OPT_NO_DEFAULT,
     .offset = offsetof(struct bn_sql_conf, driver),
     .help = "database driver"},
    {.name = "connect",
     .type = BN_STRING,
     .traits = BN_OPT_ENDPOINT,
     .secret = true,
     .offset = offsetof(struct bn_sql_conf, connect),
     .form = "=URI",
     .help = "server, user and database: mysql://user@host:port/db or postgresql://"},
    {.name = "db-ps-mode",
     .type = BN_STRING,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "auto",
     .offset = offsetof(struct bn_sql_conf, ps_mode),
     .words = ps_mode_words,
     .help = "prepared statements: auto, disable, simple or extended"},
    {.name = "db-debug",
     .type = BN_BOOL,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "off",
     .offset = offsetof(struct bn_sql_conf, debug),
     .help = "separate times of execution and fetching, at verbosity 5"},
    {.name = "db-ignore-errors",
     .type = BN_LIST,
     .traits = BN_OPT_KEEPS_DATA,
     .repeat = true,
     .offset = offsetof(struct bn_sql_conf, ignore_errors),
     .help = "errors after which an event is repeated: classes, codes, or all"},
    {.name = "db-max-tries",
     .type = BN_INT,
     .traits = BN_OPT_KEEPS_DATA,
     .def = "0",
     .offset = offsetof(struct bn_sql_conf, max_tries),
     .min = 0,
     .max = 1000000,
     .help = "tries after which an event fails; 0: no limit"},
    {.name = "db-isolation-level",
     .type = BN_CHOICE,
     .traits = BN_OPT_KEEPS_DATA,
     .def = "default",
     .offset = offsetof(struct bn_sql_conf, isolation),
     .choices = isolation_words,
     .help = "isolation level of transactions"},
    {.name = "db-init-sql",
     .type = BN_STRING,
     .offset = offsetof(struct bn_sql_conf, init_sql),
     .form = "=SQL",
     .help = "statements to execute after each connect"},
    {.name = "db-bulk-load",
     .type = BN_CHOICE,
     .def = "auto",
     .offset = offsetof(struct bn_sql_conf, bulk_load),
     .choices = bulk_words,
     .help = "way to fill tables: auto (the fastest) or insert"},
    {.name = "db-prepare",
     .type = BN_CHOICE,
     .traits = BN_OPT_KEEPS_DATA,
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
     .traits = BN_OPT_FIGURES_ONLY | BN_OPT_KEEPS_DATA,
     .def = "off",
     .offset = offsetof(struct bn_sql_conf, statements),
     .help = "counts, rows, errors and latencies of each kind of statement"},
    {.name = "sql-trace",
     .type = BN_PATH,
     .traits = BN_OPT_OUTPUT_ONLY | BN_OPT_KEEPS_DATA,
     .offset = offsetof(struct bn_sql_conf, trace),
     .form = "=FILE",
     .help = "file for the text of every statement"},
    BN_OPT_END,
};

const char *bn_sql_isolation_word(int level)
{
  return isolation_words[level];
}

/* The rows of the table below.  The indices are those of the enums in count.h. */
#define COUNTER_ROW(index, when, as, of, events)                                                   \
  {(when), {.name = (as), .unit = (of), .of_events = (events)}},
#define HISTOGRAM_ROW(index, when, as) {(when), {.name = (as), .unit = "ns", .kind = BN_HISTOGRAM}},
#define LABELLED_ROW(index, when, as)  {(when), {.name = (as), .unit = "1", .kind = BN_LABELLED}},

static const struct {
  enum bn_sql_condition condition;
  struct bn_metric metric;
} metrics[] = {BN_SQL_METRICS(COUNTER_ROW, HISTOGRAM_ROW, LABELLED_ROW)};

enum { METRICS = sizeof metrics / sizeof *metrics };

/* Returns whether the options and the dialect of the run give it the metric of that row. */
static bool options_have_metric(const struct bn_sqlsys *sys, size_t row)
{
  switch (metrics[row].condition) {
  case BN_SQL_WITH_COMMITS:
    return sys->policy->transactions_are_commits;
  case BN_SQL_WITH_VERIFYING:
    return sys->conf->verify_commits;
  case BN_SQL_WITH_READ_HOSTS:
    return sys->conf->read_hosts.n > 0;
  case BN_SQL_WITH_TIMES:
    return sys->conf->debug;
  case BN_SQL_ALWAYS:
    break;
  }
  return true;
}

void bn_sql_metrics_init(struct bn_sqlsys *sys)
{
  size_t n = 0;

  for (size_t i = 0; i < METRICS; i++) {
    if (options_have_metric(sys, i))
      sys->metrics[n++] = metrics[i].metric;
  }
  sys->metrics[n] = (struct bn_metric){.name = NULL};
}

unsigned bn_sql_counter_index(const struct bn_sqlsys *sys, unsigned counter)
{
  unsigned index = BN_C_FIXED;

  /* The first rows of the table are the counters, in the order of their numbers. */
  for (size_t i = 0; i < counter - BN_C_FIXED; i++)
    index += options_have_metric(sys, i);
  return index;
}

bool bn_sql_has_metric(const char *name)
{
  for (size_t i = 0; i < METRICS; i++) {
    if (strcmp(metrics[i].metric.name, name) == 0)
      return true;
  }
  return false;
}
