/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands other than `run`: once in the main thread, or in parallel with a common start and
 * barriers. */
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "engine/run_internal.h"
#include "engine/stop.h"

static void call(struct bn_worker *w, struct bn_session *s, const struct bn_command *c)
{
  struct bn_run *run = w->run;
  struct bn_err err = {0};

  if (c->run(run->self, s, c->name, &err) == 0)
    return;
  if (err.text[0] != '\0')
    bn_log(BN_FATAL, "%s", err.text);
  bn_run_fail(run);
}

static void *command_main(void *arg)
{
  struct bn_worker *w = arg;

  bn_clock_reader_init(&w->session->clock, &w->run->clock);
  if (bn_gate_wait(&w->run->gate))
    call(w, w->session, w->command);
  bn_worker_gone(w);
  return NULL;
}

static void run_parallel(struct bn_run *run, const struct bn_command *command)
{
  struct bn_err err = {0};
  unsigned i, made = 0;

  if (!command->quiet)
    bn_log(BN_NOTICE, "Initializing worker threads...\n\n");
  for (i = 0; i < run->conf->threads; i++) {
    run->workers[i].command = command;
    if (bn_worker_spawn(run, &run->workers[i], command_main, &err) != 0) {
      bn_log(BN_FATAL, "%s", err.text);
      bn_run_fail(run);
      bn_gate_fail(&run->gate);
      break;
    }
    made++;
  }
  if (made == run->conf->threads && bn_gate_await(&run->gate, UINT64_MAX) == BN_GATE_OPEN)
    bn_gate_open(&run->gate);
  (void)pthread_mutex_lock(&run->lock);
  while (run->gone < made && !run->abandoned)
    (void)pthread_cond_wait(&run->changed, &run->lock);
  (void)pthread_mutex_unlock(&run->lock);
  for (i = 0; i < made && !run->abandoned; i++)
    (void)pthread_join(run->workers[i].thread, NULL);
}

int bn_run_command(struct bn_run *run, const struct bn_command *command)
{
  struct bn_err err = {0};

  run->services.is_command = true;
  bn_run_allow_files(run);
  if (bn_sampler_start(run, &err) != 0 || bn_receiver_start(run, &err) != 0) {
    bn_log(BN_FATAL, "%s", err.text);
    bn_sampler_stop(run);
    return BN_STATUS_FAILED;
  }
  if (command->parallel && run->conf->threads > 1)
    run_parallel(run, command);
  else
    call(&run->workers[run->conf->threads], bn_run_main_session(run), command);
  bn_log_progress(NULL);
  bn_sampler_stop(run);
  if (!bn_run_stop_interrupting(run))
    run->abandoned = true;
  bn_receiver_stop(run);
  if (run->signo != 0)
    bn_log(BN_FATAL, "'%s' was ended by a signal before it was complete: %s", command->name,
           strsignal(run->signo));
  return bn_run_status(run);
}

bool bn_run_barrier(struct bn_session *s)
{
  struct bn_run *run = s->services->of;
  const bool alone = s == bn_run_main_session(run);
  unsigned round;
  bool ok;

  if (alone)
    return !bn_session_over(s);
  (void)pthread_mutex_lock(&run->lock);
  round = run->barrier_round;
  run->barrier_here++;
  while (round == run->barrier_round && !run->barrier_failed) {
    /* Sessions that have returned from the command need not be waited for. */
    if (run->barrier_here + run->gone >= run->conf->threads) {
      run->barrier_here = 0;
      run->barrier_round++;
      (void)pthread_cond_broadcast(&run->changed);
    } else {
      (void)pthread_cond_wait(&run->changed, &run->lock);
    }
  }
  ok = !run->barrier_failed;
  (void)pthread_mutex_unlock(&run->lock);
  return ok;
}
