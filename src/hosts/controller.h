/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controller of a run on several hosts: starts an agent on each, compares their clocks, starts
   them at one instant, and reports what they measure as one run.

   The main thread does all of it but printing (hosts/printer.h).  Each of its waits has a
   deadline. */
#ifndef BN_HOSTS_CONTROLLER_H
#define BN_HOSTS_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>

#include "api/report.h"
#include "hosts/launcher.h"
#include "measure/assert.h"
#include "option/conf.h"
#include "option/opt.h"

/* What main() knows of the run.  Everything is borrowed. */
struct bn_hosts_setup {
  const struct bn_conf *conf;
  const struct bn_optset *options;
  const struct bn_ranks *ranks; /* the ranks of a launcher, which are the hosts; NULL: none */
  char *const *args;            /* the command line as main() gets it; has passwords */
  const char *test, *command;   /* NULL: there is none */
  /* The texts of --group, "NAME: SCRIPT [OPTIONS]", or several with ';'.  Passwords are removed. */
  struct bn_list *groups;
  /* Returns what a word is that cannot be the script of a group, or NULL. */
  const char *(*no_script)(const char *word);
  /* Returns the name of the tables that a bundled script makes, or NULL for another script. */
  const char *(*find_tables)(const char *name, size_t len);
  bool is_builtin; /* the test is built in */
  unsigned kinds;  /* the kinds that the run may turn out to be, as in struct bn_assert_scope */
  bool statements; /* the run tells statements apart (--statements) */
  bool local;      /* each host has data of its own, so it executes a whole command */
  /* Returns `local` for a group with its own --db-driver and --connect; NULL: it does not have that
     option. */
  bool (*is_local)(const char *driver, const char *uri);
  /* How long --verify-commits may take on a host after its last event, and how long once the host
     was told to stop. */
  unsigned verify_s, verify_hurry_s;
  const struct bn_report_use *reporters;
  size_t n_reporters;
  const struct bn_reporter *text; /* prints the result if another report is lost */
  const struct bn_assert *asserts;
  size_t n_asserts;
};

/* Returns whether several processes execute the command: --hosts, --hosts-file or --group is given,
   or a launcher has started several processes.  Without --group, this process alone answers `help`.
   Under a launcher, it alone executes a test without a command, and the script "-", which only one
   process can read from standard input. */
bool bn_hosts_are_wanted(const struct bn_conf *conf, const struct bn_ranks *ranks, const char *test,
                         const char *command);
/* Executes the command.  `run` is executed on all hosts together, and another command on the first
   one, or on all if it is parallel or each host has data of its own.  Groups run together, and
   other commands are executed for one group after the other.  Returns the exit status; everything
   that went wrong has been printed. */
int bn_hosts_run(const struct bn_hosts_setup *setup);

#endif
