/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before a run: checks that the tables of the workload exist, with as many rows as it counts on. */
#include "sql/table_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "option/conf.h"
#include "sql/driver.h"

/* The check ends after PATIENCE_S.  It asks for SAMPLE_IDS ids of each table. */
enum { PATIENCE_S = 5, SAMPLE_IDS = 20 };

/* The answer of a server about a table. */
enum finding { IS_THERE, IS_MISSING, IS_UNKNOWN };

/* The tables on one server, and the findings about them. */
struct survey {
  const struct bn_sql_driver *drv;
  const struct bn_session *session;
  const struct bn_sql_table_check *tables;
  char on_server[BN_LABEL_LEN + 4]; /* " on host:port" if there are several servers, else "" */
  uint64_t until_ns;                /* no table is examined after it */
  unsigned missing;                 /* the first table that does not exist; 0: none */
  unsigned n_small;                 /* how many tables have too few rows */
  unsigned smallest;                /* the table with the fewest rows, if n_small > 0 */
  double fewest;                    /* the most rows that the smallest table can have */
  unsigned sparse;           /* the table with the fewest ids of the sample; 0: none lacks any */
  double n_found, n_sampled; /* how many ids of its sample that table has, and was asked for */
  unsigned unused;           /* the first table with ids that the run does not use; 0: none */
  double highest;            /* its highest id */
};

/* Reads the only value of the result, 0 for NULL.  Returns false if there is none, or if it is no
   number. */
static bool table_check_read_number(const struct bn_sql_link *l, struct bn_sql_result *r,
                                    double *number)
{
  struct bn_sql_value value = {0};
  char text[32] = "", *end;

  *number = 0;
  if (r->nfields != 1 || !l->ops->fetch(l->handle, r, &value))
    return false;
  if (value.ptr == NULL)
    return true;
  if (value.len >= sizeof text)
    return false;
  memcpy(text, value.ptr, value.len);
  *number = strtod(text, &end);
  return end != text && *end == '\0';
}

/* Executes a query whose only value is a number, and sets *answer to it.  Returns IS_THERE,
   IS_MISSING if the query shows that the table is missing, which the run does not ignore, or
   IS_UNKNOWN after another failure. */
static enum finding table_check_ask(const struct survey *s, const struct bn_sql_link *l,
                                    const char *sql, double *answer)
{
  const struct bn_driver *ops = s->drv->ops;
  struct bn_sql_result r = {0};
  struct bn_sql_diag d = {0};
  const enum bn_sql rc = ops->query(l->handle, sql, strlen(sql), &r, &d);
  bool known;

  if (rc == BN_SQL_ERROR && ops->missing(&d) &&
      !bn_sql_driver_ignores(s->drv, &d, bn_sql_errors_classify(ops, &d)))
    return IS_MISSING;
  if (rc != BN_SQL_ROWS)
    return IS_UNKNOWN;
  known = table_check_read_number(l, &r, answer);
  ops->free_result(l->handle, &r);
  return known ? IS_THERE : IS_UNKNOWN;
}

/* Asks for a sample of the ids that the run draws, from 1 to the number of rows at equal distances,
   and sets *n_found to how many exist.  The highest id alone does not show that most ids are
   missing, as with an auto_increment_increment of more than 1 or after many deletions.  Returns the
   number of ids in the sample, or 0 if the query failed. */
static unsigned table_check_sample(const struct survey *s, const struct bn_sql_link *l,
                                   unsigned table, double *n_found)
{
  const struct bn_sql_table_check *t = s->tables;
  const unsigned n = t->rows < SAMPLE_IDS ? (unsigned)t->rows : SAMPLE_IDS;
  const unsigned gaps = n > 1 ? n - 1 : 1;
  struct bn_buf sql = {.max = 0};
  enum finding found;

  (void)bn_buf_printf(&sql, "SELECT COUNT(*) FROM %s%u WHERE id IN (", t->prefix, table);
  for (unsigned i = 0; i < n; i++)
    (void)bn_buf_printf(&sql, "%s%.0f", i > 0 ? "," : "", 1 + floor((t->rows - 1) * i / gaps));
  (void)bn_buf_char(&sql, ')');
  found = table_check_ask(s, l, sql.data, n_found);
  bn_buf_done(&sql);
  return found == IS_THERE ? n : 0;
}

/* Examines the rows of a table, which exists and whose highest id is known, and records it if it is
   the first or the worst of its kind up to now. */
static void table_check_rows(struct survey *s, const struct bn_sql_link *l, unsigned table,
                             double highest)
{
  const struct bn_sql_table_check *t = s->tables;
  double n_found = 0;
  unsigned n_sampled;

  if (t->rows < 1)
    return;
  if (highest < t->rows) {
    if (s->n_small == 0 || highest < s->fewest) {
      s->smallest = table;
      s->fewest = highest;
    }
    s->n_small++;
    return;
  }
  n_sampled = table_check_sample(s, l, table, &n_found);
  if (n_found < n_sampled && (s->sparse == 0 || n_found < s->n_found)) {
    s->sparse = table;
    s->n_found = n_found;
    s->n_sampled = n_sampled;
  }
  if (t->by_default && highest > t->rows && s->unused == 0) {
    s->unused = table;
    s->highest = highest;
  }
}

/* Examines the tables in turn, for bn_sql_session_ask_server.  The first table that is missing ends
   this, because the run is refused; so does any other failure, because the run will show it. */
static void table_check_examine(void *arg, struct bn_sql_link *l)
{
  struct survey *s = arg;

  for (unsigned table = 1; table <= s->tables->n; table++) {
    double highest = 0;
    char sql[128];

    if (bn_session_interrupted(s->session) || bn_clock_mono() >= s->until_ns)
      return;
    /* This is cheap if id has an index.  The table has at most as many rows, because the ids begin
       with 1. */
    (void)snprintf(sql, sizeof sql, "SELECT MAX(id) FROM %s%u", s->tables->prefix, table);
    switch (table_check_ask(s, l, sql, &highest)) {
    case IS_THERE:
      table_check_rows(s, l, table, highest);
      break;
    case IS_MISSING:
      s->missing = table;
      return;
    case IS_UNKNOWN:
      return;
    }
  }
}

/* Warns of too few rows.  A table whose highest id is below 1 counts as empty, because a run reads
   no such id. */
static void table_check_warn_of_few_rows(const struct bn_sql_table_check *t, const struct survey *s)
{
  const double fewest = s->fewest > 0 ? s->fewest : 0;
  char alternative[64] = "";

  if (fewest > 0)
    (void)snprintf(alternative, sizeof alternative, ", or use --table-size=%.0f", fewest);
  if (s->n_small == 1)
    bn_log_note("warning: table '%s%u'%s has at most %.0f row%s, fewer than --table-size=%.0f: run "
                "'cleanup' and 'prepare'%s",
                t->prefix, s->smallest, s->on_server, fewest, fewest == 1 ? "" : "s", t->rows,
                alternative);
  else
    bn_log_note("warning: %u tables%s have fewer rows than --table-size=%.0f, '%s%u' has at most "
                "%.0f: run 'cleanup' and 'prepare'%s",
                s->n_small, s->on_server, t->rows, t->prefix, s->smallest, fewest, alternative);
}

/* Warns of the tables that were found wrong on a server.  Returns whether there were any. */
static bool table_check_warn(const struct bn_sql_table_check *t, const struct survey *s)
{
  if (s->n_small > 0)
    table_check_warn_of_few_rows(t, s);
  if (s->sparse > 0)
    bn_log_note(
        "warning: of %.0f ids from 1 to --table-size=%.0f, table '%s%u'%s has %.0f, so that "
        "statements find no row for the others: run 'cleanup' and 'prepare', with "
        "--auto-inc=off if the server numbers rows in larger steps",
        s->n_sampled, t->rows, t->prefix, s->sparse, s->on_server, s->n_found);
  if (s->unused > 0)
    bn_log_note("warning: the run uses the ids 1 to %.0f, the default of --table-size, but table "
                "'%s%u'%s has ids up to %.0f: use --table-size=%.0f for all of them",
                t->rows, t->prefix, s->unused, s->on_server, s->highest, s->highest);
  return s->n_small + s->sparse + s->unused > 0;
}

/* Sets err to a sentence about the missing table.  Returns -1. */
static int table_check_refuse(const struct bn_sql_table_check *t, const struct survey *s,
                              struct bn_err *err)
{
  if (s->on_server[0] != '\0')
    return bn_err_set(err, 0,
                      "table '%s%u' does not exist%s: run 'prepare' first, for each server if they "
                      "share no data",
                      t->prefix, s->missing, s->on_server);
  if (s->missing == 1)
    return bn_err_set(err, 0, "table '%s1' does not exist: run 'prepare' first", t->prefix);
  return bn_err_set(err, 0, "table '%s%u' does not exist: run 'prepare' first, or use --%s=%u",
                    t->prefix, s->missing, t->option, s->missing - 1);
}

/* Writes the name of the target's server into the survey, unless it is the only server, which
   messages need not name.  Returns how many servers the threads of the run connect to. */
static size_t table_check_name_server(struct survey *s, const struct bn_sql_target *target)
{
  const struct bn_driver *ops = s->drv->ops;
  const size_t threads = s->session->services->conf->plan.threads;
  char name[BN_LABEL_LEN] = "";
  size_t n_servers;

  if (ops->place == NULL)
    return 1;
  n_servers = ops->place(s->drv->self, target, name, sizeof name);
  if (n_servers > 1)
    (void)snprintf(s->on_server, sizeof s->on_server, " on %s", name);
  /* Each thread has one connection; any further servers replace servers that are lost. */
  return n_servers < threads ? n_servers : threads;
}

int bn_sql_table_check(struct bn_sqlsys *sys, struct bn_session *s,
                       const struct bn_sql_table_check *t, struct bn_err *err)
{
  const uint64_t until_ns = bn_clock_mono() + PATIENCE_S * BN_NSEC_PER_SEC;
  struct bn_sql_target target = {.ordinal = 0, .prepared = true};
  struct bn_sql_driver *drv = bn_sql_driver(sys, s, NULL);
  bool warned = false; /* once is enough: the servers may have the same data */
  struct bn_sql_session *owner;
  size_t n_servers;

  if (drv == NULL)
    return bn_err_set(err, 0, "%s", ""); /* the reason has been logged */
  if (drv->ops->missing == NULL)
    return 0;
  owner = bn_sql_session_get(sys, s, drv);
  if (owner == NULL)
    return 0; /* the reason has been logged, and ends the threads if they meet it too */
  do {
    struct survey survey = {.drv = drv, .session = s, .tables = t, .until_ns = until_ns};

    n_servers = table_check_name_server(&survey, &target);
    /* The deadline also ends a statement that waits for a lock of another client. */
    bn_sql_session_ask_server(owner, drv, &target, until_ns, table_check_examine, &survey);
    if (survey.missing > 0)
      return table_check_refuse(t, &survey, err);
    if (!warned)
      warned = table_check_warn(t, &survey);
    target.ordinal++;
  } while (target.ordinal < n_servers && !bn_session_interrupted(s) && bn_clock_mono() < until_ns);
  return 0;
}
