/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated runs whose process has to be left: they are made in a child. */
#ifndef BN_TESTS_UNIT_LEFTRUN_H
#define BN_TESTS_UNIT_LEFTRUN_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "toyrun.h"

/* Shared with the child. */
static struct shared {
  _Atomic double alive_s; /* when it was last seen alive */
  char fresh[64];         /* what has been written of a document */
  /* What the watchdog has printed. */
  bool forced;
  uint64_t events, unfinished;
} * shared;

static inline void note_forced(const struct bn_facts *f, const struct bn_view *v, FILE *out)
{
  (void)f;
  (void)out;
  shared->forced = true;
  shared->events = v->events;
  shared->unfinished = v->unfinished;
}

/* The reporter that prints by force. */
static const struct bn_reporter forced = {
    .name = "forced", .total = note_total, .summary = note_forced};

static inline void check_forced(uint64_t events, uint64_t unfinished)
{
  assert_true(shared->forced);
  assert_int_equal(shared->events, events);
  assert_int_equal(shared->unfinished, unfinished);
}

static inline void *live(void *arg)
{
  for (;;) {
    atomic_store(&shared->alive_s, sim_s());
    sim_sleep_ms(10);
  }
  return arg;
}

static double again_s; /* of a second signal; 0: there is none */

/* The exit status of a process that has to be left.  command: NULL for a run. */
static inline int left_status(const struct bn_conf *c, const struct bn_workload *ops,
                              const struct bn_reporter *first, const struct bn_reporter *second,
                              const struct bn_command *command)
{
  pthread_t thread;
  pid_t child;
  int status;

  shared->forced = false;
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct toy t = {.sleep_us = 7000};
    struct bn_run *run;

    sim_begin();
    sim_send_at(100, SIGTERM);
    if (again_s > 0)
      sim_send_at(again_s, SIGTERM);
    run = new_run(c, ops, &t, first, second);
    (void)bn_wait_spawn(&thread, 0, live, NULL);
    (void)(command != NULL ? bn_run_command(run, command) : bn_run_execute(run));
    _exit(99);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int hung_finish(void *self, struct bn_err *err)
{
  (void)self;
  (void)err;
  sim_hang();
  return 0;
}

static inline int hung_command(void *self, struct bn_session *s, const char *name,
                               struct bn_err *err)
{
  (void)s;
  (void)name;
  return hung_finish(self, err);
}

static inline void check_alive(double at_s)
{
  const double s = atomic_load(&shared->alive_s);

  if (s < at_s - 0.011 || s > at_s + 1e-9)
    fail_msg("the process was left at %.3f s instead of %.3f s", s, at_s);
}

#endif
