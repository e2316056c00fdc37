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
  void *self;                       /* the state of the workload */
  const struct bn_command *command; /* NULL: `run` */
};

/* Thread bodies for bn_threads_spawn.  The first two are for a worker that has one session, and the
   third is for a worker that has several (engine/shared_worker.c). */
void *bn_worker_main(void *worker);
void *bn_worker_command_main(void *worker);
void *bn_worker_shared_main(void *worker);

/* The steps of a session's life, for both bodies of `run`, in this order.  The session's worker
   calls them. */
/* Begins to open the session. */
void bn_worker_begin_session(const struct bn_worker *w, struct bn_session *s);
/* Note that the session is open, or that opening it has failed, which fails the run. */
void bn_worker_note_opened(const struct bn_worker *w, struct bn_session *s);
void bn_worker_note_not_opened(struct bn_session *s, const struct bn_err *err);
/* Notes that the session has left its loop, which may have failed: records the end of its last
   event, and returns its tickets. */
void bn_worker_note_looped(const struct bn_worker *w, struct bn_session *s, bool failed);
/* Notes that the session is closed.  If that failed, fails the session. */
void bn_worker_note_closed(struct bn_session *s, bool failed, const struct bn_err *err);
/* Ends the session, also one that was not begun: no thread waits for it any more. */
void bn_worker_leave_session(const struct bn_worker *w, struct bn_session *s);
/* Refuses options that the built-in test of that name does not have.  Returns 0, or -1 and err. */
int bn_worker_refuse_builtin(const struct bn_conf *c, const char *test, struct bn_err *err);
/* Runs the command of the job with a session, in this thread.  A failure ends the run. */
void bn_worker_run_command(struct bn_threads *t, struct bn_session *s, const struct bn_job *job);

#endif
