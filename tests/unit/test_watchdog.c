/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watchdog ends a process without memory, also if it is told to stop at the same time. */
#include "cm.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "engine/watchdog.h"

enum { ROUNDS = 300, LONGEST_S = 20 };

static void *thread_without_memory(void *arg)
{
  (void)arg;
  bn_alloc_fail();
}

/* The main thread stops the watchdog delay_us after the other thread has begun to fail. */
static void stop_while_memory_fails(unsigned delay_us)
{
  struct bn_outcome outcome;
  const struct bn_run_parts parts = {.outcome = &outcome};
  struct bn_watchdog w;
  struct bn_err err;
  pthread_t thread;

  (void)alarm(LONGEST_S);
  (void)close(STDERR_FILENO);
  bn_outcome_init(&outcome);
  bn_watchdog_init(&w, &parts);
  if (bn_watchdog_start(&w, &err) != 0 ||
      pthread_create(&thread, NULL, thread_without_memory, NULL) != 0)
    _exit(2);
  (void)usleep(delay_us);
  bn_watchdog_stop(&w);
  for (;;)
    (void)pause();
}

static void a_process_without_memory_ends_while_the_watchdog_stops(void **state)
{
  (void)state;
  for (unsigned i = 0; i < ROUNDS; i++) {
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0)
      stop_while_memory_fails(i / 2);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), BN_STATUS_FAILED);
  }
}

BN_TESTS(watchdog)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_process_without_memory_ends_while_the_watchdog_stops),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
