/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of this program: workloads, reports, drivers, bundled scripts, subcommands. */
#ifndef BN_REGISTRY_H
#define BN_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"
#include "api/report.h"
#include "api/subcommand.h"
#include "api/watch.h"
#include "api/workload.h"

/* A driver's options are part of the program, so that no client library is loaded before its use;
   the driver itself is a module. */
struct bn_registry_driver {
  const char *name, *title; /* "sqlite", "SQLite driver" */
  const char *group;        /* "sqlite options" */
  const struct bn_opt *options;
  size_t conf_size;
  const char *const *schemes; /* of its URIs, ends with NULL; NULL: it has none */
  const char *package;        /* of Debian that its module is built with; NULL: it needs none */
  bool embedded;              /* the database is a file or memory of the host, not a server */
};

struct bn_registry_script {
  const char *name, *title;
  const char *tables; /* name of the tables of its `prepare`; scripts with this name share them */
};

/* The tables, in the order of the help.  Each ends with NULL, or with a row whose name is NULL. */
extern const struct bn_workload *const bn_registry_workloads[];
extern const struct bn_reporter *const bn_registry_reporters[];
extern const struct bn_registry_driver bn_registry_drivers[];
extern const struct bn_registry_script bn_registry_scripts[];
extern const struct bn_subcommand bn_registry_subcommands[];
extern const struct bn_watcher *const bn_registry_watchers[];

/* Returns the built-in test of that name, or NULL if there is none, or if the name is NULL. */
const struct bn_workload *bn_registry_find_workload(const char *name);
/* Returns the row of a driver, or NULL as for a test. */
const struct bn_registry_driver *bn_registry_find_driver(const char *name);
/* Returns the report of the name name[0..len), or NULL if there is none. */
const struct bn_reporter *bn_registry_find_reporter(const char *name, size_t len);

/* Returns whether the data of a test is on the host itself: files of the test, or a database
   without a server.  test NULL: none is named; driver NULL: no database is used. */
bool bn_registry_is_local(const char *test, const char *driver);

/* Returns the name that stands for the tables of the bundled script name[0..len), or NULL if there
   is no such script. */
const char *bn_registry_find_tables(const char *name, size_t len);
/* Returns whether name[0..len) is the name of a bundled script. */
bool bn_registry_is_script(const char *name, size_t len);

#endif
