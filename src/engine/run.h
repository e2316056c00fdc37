/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run, from opening the workload to the final report: each phase is entered once, in order. */
#ifndef BN_ENGINE_RUN_H
#define BN_ENGINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/report.h"
#include "api/watch.h"
#include "api/workload.h"
#include "engine/host_group.h"
#include "engine/outcome.h"
#include "engine/reports.h"
#include "option/conf.h"

struct bn_run;

/* The parts that a run is made from; everything is borrowed and outlives the run. */
struct bn_run_setup {
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  void *self;                /* the state of a script; NULL: ops->open, if any, makes the state */
  const void *workload_conf; /* the options of the workload */
  const struct bn_report_use *reporters;
  size_t n_reporters;
  /* Prints the report if the process is ended by force, or if another report is lost; or NULL. */
  const struct bn_reporter *text;
  const struct bn_assert *asserts;
  size_t n_asserts;
  unsigned workers; /* that sessions share, for `run` alone; 0: each session has its own */
  const struct bn_watcher *const *watchers;
  size_t n_watchers;                      /* at most BN_WATCHERS_MAX (engine/watch.h) */
  struct bn_sqlsys *sql;                  /* for the watchers; NULL: the test has no database */
  const struct bn_host_group *host_group; /* NULL: the run has one host */
};

/* Makes a run and opens nothing yet.  Returns 0, or -1 and err if out of memory. */
int bn_run_new(struct bn_run **out, const struct bn_run_setup *setup, struct bn_err *err);
void bn_run_free(struct bn_run *run);
/* Replaces the metrics of the workload by those that a script declares at its top level; they end
   with a NULL name.  The caller does so before the run is executed or a command runs.  Returns 0,
   or -1 and err if out of memory; then the run can only be freed. */
int bn_run_set_metrics(struct bn_run *run, const struct bn_metric *metrics, struct bn_err *err);
/* Moves facts about the program, its options and the host into the run, before it is executed. */
void bn_run_add_facts(struct bn_run *run, struct bn_facts *facts);
/* Executes all phases of `run`, prints all errors, and returns the exit status. */
int bn_run_execute(struct bn_run *run);
/* Sets when the start barrier of a host group opens (CLOCK_MONOTONIC, not 0; at once if that time
   has passed).  The run waits for this call after its reporters have been told that it starts.  Any
   thread, between attach and detach. */
void bn_run_set_start(struct bn_run *run, uint64_t at_ns);
/* Releases the sessions that wait after the host group's `meet`.  Threads as for
   bn_run_set_start. */
void bn_run_release_barrier(struct bn_run *run);
/* Stops the run as the first SIGINT would, or (at_once) as the second one, but prints nothing.
   Threads as for bn_run_set_start. */
void bn_run_stop(struct bn_run *run, bool at_once);
/* Runs another command than `run`: in parallel on all hosts if it asks for that and there are
   several sessions, otherwise on the first host.  Returns the exit status. */
int bn_run_command(struct bn_run *run, const struct bn_command *command);

/* Returns the session of the main thread (id 0, statistics apart), for init() and commands. */
struct bn_session *bn_run_main_session(struct bn_run *run);
/* Returns whether threads hang and were abandoned: nothing of the run may be freed then, and the
   process must leave by _exit. */
bool bn_run_is_abandoned(const struct bn_run *run);

#endif
