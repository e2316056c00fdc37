/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controller of a run on several hosts: starts an agent on each, compares their clocks, starts
   them at one instant, and reports what they measure as one run.

   Main thread only; another one prints (hosts/printer.h).  Each of its waits has a deadline. */
#ifndef BN_HOSTS_CONTROLLER_H
#define BN_HOSTS_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>

#include "api/report.h"
#include "hosts/launcher.h"
#include "measure/assert.h"
#include "option/conf.h"
#include "option/opt.h"

/* Everything is borrowed. */
struct bn_hosts_setup {
  const struct bn_conf *conf;
  const struct bn_optset *options;
  const struct bn_ranks *ranks; /* that a launcher has started are the hosts; NULL: none */
  char *const *args;            /* the command line with its passwords, as of main */
  const char *test, *command;   /* NULL: there is none */
  struct bn_list *groups;       /* the texts of --group, from which passwords are removed */
  const char *(*no_script)(const char *word);              /* as of struct bn_groups_from */
  bool (*is_bundled_script)(const char *name, size_t len); /* a script of the bundle */
  bool is_builtin;                                         /* the test is built in */
  unsigned kinds;  /* of runs that it may turn out to be, as in struct bn_assert_scope */
  bool statements; /* it tells statements apart (--statements) */
  bool local;      /* each host has data of its own, for which a command is run there whole */
  /* Seconds that a host may take between its events and its result, and once it was told to end. */
  unsigned verify_s, verify_hurry_s;
  const struct bn_report_use *reporters;
  size_t n_reporters;
  const struct bn_reporter *text; /* prints the result if another report is lost */
  const struct bn_assert *asserts;
  size_t n_asserts;
};

/* Whether several processes make the run or the command: --hosts, --hosts-file or --group is given,
   or a launcher has started several processes.  `help` is answered here; of what a launcher has
   started so is "-", of which only the top level is executed. */
bool bn_hosts_wanted(const struct bn_conf *conf, const struct bn_ranks *ranks, const char *test,
                     const char *command);
/* The command `run` on all hosts; another on the first one, and if it is parallel on all.  Groups
   run together, and other commands are executed for one group after the other.  Returns the exit
   status; everything that went wrong has been printed. */
int bn_hosts_run(const struct bn_hosts_setup *setup);

#endif
