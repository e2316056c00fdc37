/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run from opening the workload to the final report: each phase is entered once, in order. */
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

/* What is to be run; everything is borrowed and outlives the run.  self: preset by scripts, else
 * NULL. */
struct bn_run_setup {
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  void *self;
  const void *workload_conf;
  const struct bn_report_use *reporters;
  size_t n_reporters;
  const struct bn_assert *asserts;
  size_t n_asserts;
  const struct bn_watcher *const *watchers;
  size_t n_watchers;                      /* at most BN_WATCHERS_MAX (engine/watch.h) */
  struct bn_sqlsys *sql;                  /* for them; NULL: the test has no database */
  const struct bn_host_group *host_group; /* NULL: this run is no part of a larger one */
};

/* 0 or -1 (err: out of memory).  Opens nothing yet. */
int bn_run_new(struct bn_run **out, const struct bn_run_setup *setup, struct bn_err *err);
void bn_run_free(struct bn_run *run);
/* Another table of metrics in place of the workload's, ending with a NULL name: that of a script
   that has declared some at its top level.  Before the run is executed or a command runs.  -1 and
   err: out of memory, and the run can only be freed. */
int bn_run_measure(struct bn_run *run, const struct bn_metric *metrics, struct bn_err *err);
/* What is known of program, options and host moves into the run; before it is executed. */
void bn_run_know(struct bn_run *run, struct bn_facts *facts);
/* The `run` command: all phases; returns the exit status.  Everything that went wrong has been
 * printed. */
int bn_run_execute(struct bn_run *run);
/* Of a host group: the start barrier opens at that time (CLOCK_MONOTONIC, not 0), or at once if it
   has passed. The run waits for this once it has told the reporters that it starts.  Any thread,
   from attach to detach. */
void bn_run_start_at(struct bn_run *run, uint64_t at_ns);
/* All hosts have called the host group's meet.  The same. */
void bn_run_pass(struct bn_run *run);
/* As the first SIGINT, or (at_once) as the second one, but nothing is printed.  The same. */
void bn_run_stop(struct bn_run *run, bool at_once);
/* Any other command, in parallel when it asks for it and there are several sessions, on all hosts;
   otherwise on the first one.  Returns the exit status. */
int bn_run_command(struct bn_run *run, const struct bn_command *command);

/* The session of the main thread (id 0, statistics apart): init(), commands run once. */
struct bn_session *bn_run_main_session(struct bn_run *run);
/* true: workers hang and were left behind; nothing of the run may be freed and the process must
 * leave by _exit. */
bool bn_run_abandoned(const struct bn_run *run);

#endif
