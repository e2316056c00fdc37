/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that end a run, and those that the user wants ignored. */

#include "cm.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/stop.h"

static const struct bn_wait a_signal = {"a signal", BN_BOUND_STOP};

static void send_to_self(int signo)
{
  assert_int_equal(kill(getpid(), signo), 0);
}

/* As it is while pthread_create() runs: glibc blocks every signal, and one that is ignored is
   queued all the same. */
static void test_an_ignored_signal_that_was_queued(void **state)
{
  struct bn_end_signal received;
  sigset_t all, before, pending;

  (void)state;
  (void)sigfillset(&all);
  assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
  send_to_self(SIGHUP);
  assert_int_equal(sigpending(&pending), 0);
  assert_true(sigismember(&pending, SIGHUP));
  assert_int_equal(bn_stop_wait(&a_signal, bn_clock_mono(), &received), -1);
  assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

static void test_the_others_are_received(void **state)
{
  static const int signals[] = {SIGINT, SIGTERM};
  size_t i;

  (void)state;
  for (i = 0; i < 2; i++) {
    struct bn_end_signal received;

    send_to_self(signals[i]);
    assert_int_equal(bn_stop_wait(&a_signal, UINT64_MAX, &received), signals[i]);
    assert_int_equal(received.signo, signals[i]);
    assert_int_equal(received.pid, getpid());
  }
  assert_int_equal(bn_stop_wait(&a_signal, bn_clock_mono(), &(struct bn_end_signal){0}), -1);
}

/* As while another thread is in system(3). */
static void test_what_is_ignored_later_is_received(void **state)
{
  struct bn_end_signal received;
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

  (void)state;
  assert_int_equal(sigaction(SIGINT, &ignore, &before), 0);
  send_to_self(SIGINT);
  assert_int_equal(bn_stop_wait(&a_signal, bn_clock_mono() + BN_NSEC_PER_SEC, &received), SIGINT);
  bn_stop_unblock_for_child();
  bn_stop_block_again();
  send_to_self(SIGINT);
  assert_int_equal(bn_stop_wait(&a_signal, bn_clock_mono() + BN_NSEC_PER_SEC, &received), SIGINT);
  assert_int_equal(sigaction(SIGINT, &before, NULL), 0);
}

/* Around the start of a child process. */
static void test_blocking_again_leaves_ignored_signals_alone(void **state)
{
  sigset_t now;

  (void)state;
  bn_stop_unblock_for_child();
  bn_stop_block_again();
  assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
  assert_true(sigismember(&now, SIGINT) && sigismember(&now, SIGTERM));
  assert_false(sigismember(&now, SIGHUP));
}

/* timeout(1) sends its signal twice; keys and other signals count each time. */
static void test_echoes(void **state)
{
  static const struct {
    struct bn_end_signal first, second;
    bool is_echo;
  } cases[] = {
      {{SIGTERM, 7, 1000}, {SIGTERM, 7, 1000 + BN_END_SIGNAL_ECHO_NS}, true},
      {{SIGTERM, 7, 1000}, {SIGTERM, 7, 1001 + BN_END_SIGNAL_ECHO_NS}, false},
      {{SIGTERM, 7, 1000}, {SIGTERM, 8, 1000}, false},
      {{SIGTERM, 7, 1000}, {SIGINT, 7, 1000}, false},
      {{SIGINT, 0, 1000}, {SIGINT, 0, 1000}, false},
      {{0, 0, 0}, {SIGINT, 7, 1000}, false},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(bn_end_signal_is_echo(&cases[i].first, &cases[i].second), cases[i].is_echo);
}

BN_TESTS(stop)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_ignored_signal_that_was_queued),
      cmocka_unit_test(test_the_others_are_received),
      cmocka_unit_test(test_what_is_ignored_later_is_received),
      cmocka_unit_test(test_blocking_again_leaves_ignored_signals_alone),
      cmocka_unit_test(test_echoes),
  };

  /* A shell that starts us in the background ignores SIGINT. */
  (void)signal(SIGINT, SIG_DFL);
  (void)signal(SIGTERM, SIG_DFL);
  (void)signal(SIGHUP, SIG_IGN);
  bn_stop_block_signals();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
