/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run from opening the workload to the final report, and what its parts may ask of it. */
#ifndef BN_ENGINE_RUN_H
#define BN_ENGINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/report.h"
#include "api/workload.h"
#include "option/conf.h"

struct bn_run;

/* Exit statuses; of several the first in the order signal, timeout, failed, assertion counts. */
enum bn_status {
  BN_STATUS_OK = 0,
  BN_STATUS_FAILED = 1,
  BN_STATUS_TIMEOUT = 2, /* thread-init timeout, forced shutdown, time grace used up */
  BN_STATUS_ASSERT = 3,
  BN_STATUS_SIGNAL = 128 /* + n */
};

/* A reporter to use in this run; borrowed by the run. */
struct bn_report_use {
  const struct bn_reporter *ops;
  const void *conf;
  FILE *out;
  const char *path; /* for messages; NULL: standard output */
};

/* What is to be run; everything is borrowed and outlives the run.  self: preset by scripts, else
 * NULL. */
struct bn_run_setup {
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  void *self;
  const void *workload_conf;
  const struct bn_report_use *reports;
  size_t n_reports;
};

/* 0 or -1 (err: out of memory).  Opens nothing yet. */
int bn_run_new(struct bn_run **out, const struct bn_run_setup *setup, struct bn_err *err);
void bn_run_free(struct bn_run *run);
/* The `run` command: all phases; returns the exit status.  Everything that went wrong has been
 * printed. */
int bn_run_execute(struct bn_run *run);
/* Any other command, in parallel when it asks for it and threads > 1; returns the exit status. */
int bn_run_command(struct bn_run *run, const struct bn_command *command);

/* --- what workloads, scripts, the SQL layer and reporters may ask; any thread unless noted --- */
const struct bn_conf *bn_run_conf(const struct bn_run *run);
const struct bn_workload *bn_run_workload(const struct bn_run *run);
/* The values of the workload's options, for commands, which open nothing. */
const void *bn_run_workload_conf(const struct bn_run *run);
struct bn_session *bn_run_session(struct bn_run *run, unsigned id);
/* The session of the main thread (id 0, statistics apart): init(), commands run once. */
struct bn_session *bn_run_main_session(struct bn_run *run);
/* The session of the reporting thread (id = threads). */
struct bn_session *bn_run_report_session(struct bn_run *run);
/* No event and no retry may begin any more: limit reached, signal, another worker failed. */
bool bn_run_over(const struct bn_session *s);
/* CLOCK_MONOTONIC after which nothing new may begin; UINT64_MAX: none. */
uint64_t bn_run_deadline(const struct bn_run *run);
/* Events of this session that reports count: those since the warm-up's baseline, for which it waits
   while that is taken.  Its worker only, between events; for workloads that know how much there is
   to do. */
uint64_t bn_run_counted_events(struct bn_session *s);
/* A worker failed (it has logged why): the others stop after their event; the status becomes 1. */
void bn_run_fail(struct bn_run *run);
/* A script wants to leave the process with that status.  While events are measured, and after, that
   ends the run as its limit would, and the report says so: true.  false: there is no such run, and
   nothing has happened. */
bool bn_run_leave(struct bn_run *run, int status);
/* A worker's script goes on for ever although it has left: its thread stays here, without it. */
_Noreturn void bn_run_stay_behind(struct bn_run *run);
/* Reports become SQL reports: a database driver was initialised. */
void bn_run_set_kind(struct bn_run *run, enum bn_kind kind);
enum bn_kind bn_run_kind(const struct bn_run *run);
/* Process-wide numbers: the shared sequence without repetition, entropy or seed of streams. */
struct bn_unique *bn_run_unique(struct bn_run *run);
/* fn(arg) makes a call that this session is blocked in return, from a thread of the engine; NULL:
   nothing to interrupt. After the call that sets NULL has returned, fn is not running and will not
   be called. */
void bn_run_set_interrupt(struct bn_session *s, void (*fn)(void *arg), void *arg);
/* Labelled count `index` of the workload's labelled metrics; 0 is "errors" of every run, by code.
 */
void bn_run_count_label(struct bn_run *run, unsigned index, const char *label);
/* The time grace is used up and the session has been interrupted: its failure is not to be
 * reported. */
bool bn_run_interrupted(const struct bn_session *s);
/* true: workers hang and were left behind; nothing of the run may be freed and the process must
 * leave by _exit. */
bool bn_run_abandoned(const struct bn_run *run);
/* A command other than `run` is under way. */
bool bn_run_is_command(const struct bn_run *run);
/* Parallel commands: waits for all sessions of the command; false: another one failed.  One
 * session: true. */
bool bn_run_barrier(struct bn_session *s);

#endif
