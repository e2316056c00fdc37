/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bodies of worker threads: one session of a run from opening to closing, or of a command. */
#ifndef BN_ENGINE_WORKER_H
#define BN_ENGINE_WORKER_H

#include "api/workload.h"
#include "engine/threads.h"
#include "option/conf.h"

/* The data that all workers of a run or command share; set before they are started. */
struct bn_job {
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  void *self; /* the state of the workload */
  struct bn_clock *clock;
  const struct bn_statset *stats;   /* statistics of the workers' sessions */
  const struct bn_command *command; /* NULL: `run` */
};

/* Thread bodies for bn_threads_spawn: of a worker that has one session, the first two. */
void *bn_worker_run(void *worker);
void *bn_worker_command(void *worker);
/* Of one that has several (engine/shared_worker.c). */
void *bn_worker_run_shared(void *worker);

/* The steps of a session's life, for both bodies of `run`, in this order. */
void bn_worker_begin(const struct bn_worker *w, struct bn_session *s);
void bn_worker_opened(const struct bn_worker *w, struct bn_session *s);
void bn_worker_not_opened(struct bn_session *s, const struct bn_err *err);
void bn_worker_looped(const struct bn_worker *w, struct bn_session *s, bool failed);
void bn_worker_closed(struct bn_session *s, bool failed, const struct bn_err *err);
void bn_worker_go(const struct bn_worker *w, struct bn_session *s);
/* Refuses options that a built-in test of that name does not have. */
int bn_worker_refuse_builtin(const struct bn_conf *c, const char *test, struct bn_err *err);
/* Runs a command that is not parallel, in this thread. */
void bn_worker_call(struct bn_threads *t, struct bn_session *s, const struct bn_job *job);

#endif
