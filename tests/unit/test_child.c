/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children: where their output goes, how they end, what becomes of signals and of time limits. */
#include "cm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/spawn.h"
#include "study/child.h"

#define MS UINT64_C(1000000)

/* Begins the wait for children with no signal blocked, as at the start of a program. */
static struct bn_children begin_children(void)
{
  struct bn_children c;
  sigset_t none;

  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  bn_children_begin(&c);
  return c;
}

/* Runs a script of sh as a child, whose streams and limit `child` has. */
static struct bn_child_end run_script(struct bn_children *c, struct bn_child child,
                                      const char *script)
{
  char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)script, NULL};
  struct bn_child_end end;
  struct bn_err err = {0};

  child.argv = argv;
  if (bn_child_run(c, &child, &end, &err) != 0)
    fail_msg("%s", err.text);
  return end;
}

/* Checks the content of a file, and removes the file. */
static void expect_file(const char *path, const char *want)
{
  char text[256] = "";
  FILE *f = fopen(path, "r");

  assert_non_null(f);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  (void)fclose(f);
  (void)unlink(path);
  assert_string_equal(text, want);
}

static void output_goes_to_files_and_the_status_is_told(void **state)
{
  struct bn_children c = begin_children();
  struct bn_child_end end;
  char out[] = "/tmp/bench-child-XXXXXX", errors[] = "/tmp/bench-child-XXXXXX";

  (void)state;
  (void)close(mkstemp(out));
  (void)close(mkstemp(errors));
  end = run_script(&c, (struct bn_child){.out = out, .errors = errors},
                   "cat; echo result; echo trouble >&2; exit 3");
  assert_int_equal(end.status, 3);
  assert_int_equal(end.signo, 0);
  expect_file(out, "result\n");
  expect_file(errors, "trouble\n");
  end = run_script(&c, (struct bn_child){.out = out, .errors = out}, "echo a; echo b >&2");
  assert_int_equal(end.status, 0);
  expect_file(out, "a\nb\n");
  end = run_script(&c, (struct bn_child){.out = NULL}, "kill -SEGV $$");
  assert_int_equal(end.status, -1);
  assert_int_equal(end.signo, SIGSEGV);
  assert_int_equal(c.signo, 0);
}

static void a_child_has_the_signals_that_this_process_had(void **state)
{
  struct bn_children c = begin_children();
  struct bn_child_end end;

  (void)state;
  end = run_script(&c, (struct bn_child){.out = NULL}, "kill -TERM $$; exit 0");
  assert_int_equal(end.signo, SIGTERM);
}

static void what_cannot_be_started_is_told(void **state)
{
  char *const none[] = {(char[]){"/nonexistent/program"}, NULL};
  struct bn_children c = begin_children();
  struct bn_child_end end;
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(bn_child_run(&c, &(struct bn_child){.argv = none}, &end, &err), -1);
  assert_string_equal(err.text, "cannot start '/nonexistent/program': No such file or directory");
  assert_int_equal(
      bn_child_run(&c, &(struct bn_child){.argv = none, .out = "/nonexistent/out"}, &end, &err),
      -1);
  assert_string_equal(err.text, "cannot write '/nonexistent/out': No such file or directory");
  /* The process that could not become the program is waited for. */
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
}

static void a_child_that_takes_too_long_is_ended(void **state)
{
  struct bn_children c = begin_children();
  struct bn_child_end end;

  (void)state;
  end = run_script(&c, (struct bn_child){.limit_ns = 50 * MS}, "sleep 60");
  assert_true(end.timed_out);
  assert_int_equal(end.signo, SIGTERM);
}

/* The child sends the signal to this process and ends by it when it is passed on. */
static void signals_are_passed_on_and_noted(void **state)
{
  struct bn_children c = begin_children();
  struct bn_child_end end;

  (void)state;
  end = run_script(&c, (struct bn_child){.out = NULL},
                   "trap 'exit 7' INT; kill -INT $PPID; while :; do sleep 0.01; done");
  assert_int_equal(end.status, 7);
  assert_int_equal(c.signo, SIGINT);
  bn_children_pause(&c, 3600 * BN_NSEC_PER_SEC);
}

static void a_pause_takes_its_time(void **state)
{
  struct bn_children c = begin_children();
  const uint64_t before_ns = bn_clock_mono();

  (void)state;
  bn_children_pause(&c, 20 * MS);
  assert_true(bn_clock_mono() - before_ns >= 20 * MS);
  assert_int_equal(c.signo, 0);
}

static void the_path_of_this_program_is_known(void **state)
{
  struct bn_err err = {0};
  char *self = bn_spawn_self(&err);

  (void)state;
  assert_non_null(self);
  assert_non_null(strstr(self, "/study"));
  free(self);
}

BN_TESTS(child)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_goes_to_files_and_the_status_is_told),
      cmocka_unit_test(a_child_has_the_signals_that_this_process_had),
      cmocka_unit_test(what_cannot_be_started_is_told),
      cmocka_unit_test(a_child_that_takes_too_long_is_ended),
      cmocka_unit_test(signals_are_passed_on_and_noted),
      cmocka_unit_test(a_pause_takes_its_time),
      cmocka_unit_test(the_path_of_this_program_is_known),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
