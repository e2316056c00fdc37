/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of what this program was built with: workloads, reports, drivers, bundled scripts,
   subcommands. */
#include "registry.h"

#include <string.h>

#include "drivers/mysql/options.h"
#include "drivers/null/options.h"
#include "drivers/pgsql/options.h"
#include "drivers/sqlite/options.h"
#include "report/merged.h"
#include "report/reporters.h"
#include "report/saved.h"
#include "tests/tests.h"
#include "watch/watchers.h"

const struct bn_workload *const bn_registry_workloads[] = {
    &bn_workload_fileio,  &bn_workload_cpu,   &bn_workload_memory,
    &bn_workload_threads, &bn_workload_mutex, NULL};

/* Turns a row of BN_REPORTERS into an item of a list of reporters. */
#define ADDRESS(name, reporter) &(reporter),

const struct bn_reporter *const bn_registry_reporters[] = {BN_REPORTERS(ADDRESS, ) NULL};

static const char *const mysql_schemes[] = {"mysql", "mariadb", NULL};
static const char *const pgsql_schemes[] = {"postgresql", "postgres", NULL};

const struct bn_registry_driver bn_registry_drivers[] = {
    {.name = "mysql",
     .title = "MySQL driver",
     .group = "mysql options",
     .options = bn_mysql_options,
     .conf_size = sizeof(struct bn_mysql_conf),
     .schemes = mysql_schemes,
     .package = "libmariadb-dev"},
    {.name = "pgsql",
     .title = "PostgreSQL driver",
     .group = "pgsql options",
     .options = bn_pgsql_options,
     .conf_size = sizeof(struct bn_pgsql_conf),
     .schemes = pgsql_schemes,
     .package = "libpq-dev"},
    {.name = "sqlite",
     .title = "SQLite driver",
     .group = "sqlite options",
     .options = bn_sqlite_options,
     .conf_size = sizeof(struct bn_sqlite_conf),
     .package = "libsqlite3-dev",
     .embedded = true},
    {.name = "null",
     .title = "null driver",
     .group = "null options",
     .options = bn_null_options,
     .conf_size = sizeof(struct bn_null_conf)},
    {.name = NULL},
};

const struct bn_registry_script bn_registry_scripts[] = {
    {"oltp_read_write", "transactions that read and write", "oltp"},
    {"oltp_read_only", "transactions that only read", "oltp"},
    {"oltp_write_only", "transactions that only write", "oltp"},
    {"oltp_point_select", "one row by its key", "oltp"},
    {"oltp_insert", "insert one row", "oltp"},
    {"oltp_delete", "delete one row", "oltp"},
    {"oltp_update_index", "update an indexed column", "oltp"},
    {"oltp_update_non_index", "update a column without index", "oltp"},
    {"select_random_points", "several rows by random keys", "oltp"},
    {"select_random_ranges", "several random ranges", "oltp"},
    {"bulk_insert", "insert many rows at a time", "bulk_insert"},
    {"order_entry", "order entry, five kinds of transactions", "order_entry"},
    {"tpcb_like", "payments into accounts, on the tables of pgbench", "pgbench"},
    {.name = NULL},
};

/* A row with a name alone is a study in Lua (api/subcommand.h). */
const struct bn_subcommand bn_registry_subcommands[] = {
    {.name = "compare"},
    {.name = "history"},
    {.name = "sweep"},
    {.name = "report",
     .title = "print the report of a saved result",
     .operands = "FILE...",
     .min_operands = 1,
     .max_operands = SIZE_MAX,
     .options = bn_saved_options,
     .conf_size = sizeof(struct bn_saved_conf),
     .run = bn_saved_run},
    {.name = "plot"},
    {.name = "merge",
     .title = "sum results of several processes or hosts",
     .operands = "FILE...",
     .min_operands = 1,
     .max_operands = SIZE_MAX,
     .options = bn_merged_options,
     .conf_size = sizeof(struct bn_merged_conf),
     .traits_of = offsetof(struct bn_merged_conf, traits_of),
     .run = bn_merged_run},
    {.name = "search"},
    {.name = "ab"},
    {.name = "study",
     .title = "run a study of your own, a file of Lua",
     .operands = "FILE [options]... [operands]...",
     .min_operands = 1,
     .max_operands = SIZE_MAX,
     .loads_file = true},
    {.name = NULL},
};

const struct bn_watcher *const bn_registry_watchers[] = {&bn_watcher_host, &bn_watcher_device,
                                                         &bn_watcher_server, NULL};

static bool registry_is_named(const char *row_name, const char *name, size_t len)
{
  return strlen(row_name) == len && strncmp(row_name, name, len) == 0;
}

const struct bn_workload *bn_registry_find_workload(const char *name)
{
  for (size_t i = 0; name != NULL && bn_registry_workloads[i] != NULL; i++)
    if (strcmp(bn_registry_workloads[i]->name, name) == 0)
      return bn_registry_workloads[i];
  return NULL;
}

const struct bn_registry_driver *bn_registry_find_driver(const char *name)
{
  for (const struct bn_registry_driver *d = bn_registry_drivers; name != NULL && d->name != NULL;
       d++)
    if (strcmp(d->name, name) == 0)
      return d;
  return NULL;
}

const struct bn_reporter *bn_registry_find_reporter(const char *name, size_t len)
{
  for (size_t i = 0; bn_registry_reporters[i] != NULL; i++)
    if (registry_is_named(bn_registry_reporters[i]->name, name, len))
      return bn_registry_reporters[i];
  return NULL;
}

const char *bn_registry_find_tables(const char *name, size_t len)
{
  for (const struct bn_registry_script *s = bn_registry_scripts; s->name != NULL; s++)
    if (registry_is_named(s->name, name, len))
      return s->tables;
  return NULL;
}

bool bn_registry_is_script(const char *name, size_t len)
{
  return bn_registry_find_tables(name, len) != NULL;
}

bool bn_registry_is_local(const char *test, const char *driver)
{
  const struct bn_workload *ops = bn_registry_find_workload(test);
  const struct bn_registry_driver *d = bn_registry_find_driver(driver);

  if (ops != NULL)
    return ops->commands != NULL; /* `prepare` makes files */
  return d != NULL && d->embedded;
}
