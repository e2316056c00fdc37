/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bodies of worker threads: one session of a run from opening to closing, or of a command. */
#ifndef BN_ENGINE_WORKER_H
#define BN_ENGINE_WORKER_H

#include "api/workload.h"
#include "engine/threads.h"
#include "option/conf.h"

/* What all workers of a run or command do; set before they are started. */
struct bn_job {
  const struct bn_conf *conf;
  const struct bn_workload *ops;
  void *self; /* the workload's */
  struct bn_clock *clock;
  const struct bn_statset *stats;   /* of the workers' sessions */
  const struct bn_command *command; /* NULL: `run` */
};

/* For bn_threads_spawn. */
void *bn_worker_run(void *worker);
void *bn_worker_command(void *worker);
/* A command that is not parallel: in this thread. */
void bn_worker_call(struct bn_threads *c, struct bn_session *s, const struct bn_job *job);

#endif
