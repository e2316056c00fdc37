/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what base/log.c prints: prefixes, folding of duplicates, exempt lines, streams, lost
   output. */
#include "cm.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

static char caught[65536];

/* Sends a stream into a temporary file, and what arrived there into `caught`. */
struct capture {
  FILE *stream, *file;
  int saved;
};

static struct capture capture_begin(FILE *stream)
{
  struct capture c = {.stream = stream, .file = tmpfile()};

  assert_non_null(c.file);
  (void)fflush(stream);
  c.saved = dup(fileno(stream));
  assert_true(c.saved >= 0);
  assert_true(dup2(fileno(c.file), fileno(stream)) >= 0);
  return c;
}

static const char *capture_end(struct capture *c)
{
  size_t n;

  (void)fflush(c->stream);
  assert_true(dup2(c->saved, fileno(c->stream)) >= 0);
  (void)close(c->saved);
  rewind(c->file);
  n = fread(caught, 1, sizeof caught - 1, c->file);
  caught[n] = '\0';
  (void)fclose(c->file);
  return caught;
}

static void test_prefixes(void **state)
{
  struct capture c = capture_begin(stdout);

  (void)state;
  bn_log_set_verbosity(5);
  bn_log(BN_FATAL, "a %d", 1);
  bn_log(BN_ALERT, "b");
  bn_log(BN_WARNING, "c\n");
  bn_log(BN_NOTICE, "d\n\n");
  bn_log(BN_INFO, "e");
  bn_log(BN_DEBUG, "f\ng");
  bn_log_errno(BN_FATAL, 2, "open");
  bn_log_set_verbosity(3);
  assert_string_equal(capture_end(&c), "FATAL: a 1\nALERT: b\nWARNING: c\nd\n\ne\nDEBUG: f\ng\n"
                                       "FATAL: open errno = 2 (No such file or directory)\n");
}

static void test_verbosity(void **state)
{
  struct capture c = capture_begin(stdout);

  (void)state;
  assert_int_equal(bn_log_get_verbosity(), 3);
  bn_log(BN_INFO, "not shown");
  bn_log(BN_NOTICE, "shown");
  bn_log_set_verbosity(0);
  bn_log(BN_ALERT, "not shown");
  bn_log(BN_FATAL, "shown too");
  bn_log_set_verbosity(3);
  assert_string_equal(capture_end(&c), "shown\nFATAL: shown too\n");
}

static void test_folding(void **state)
{
  struct capture c = capture_begin(stdout);

  (void)state;
  for (int i = 0; i < 4; i++)
    bn_log(BN_NOTICE, "same");
  bn_log(BN_WARNING, "same");
  bn_log(BN_NOTICE, "end");
  assert_string_equal(capture_end(&c),
                      "same\n(last message repeated 3 times)\nWARNING: same\nend\n");
}

static void test_reports_separate_messages(void **state)
{
  struct capture c = capture_begin(stdout);

  (void)state;
  bn_log_settle();
  bn_log(BN_NOTICE, "same");
  bn_log(BN_NOTICE, "same");
  bn_log_settle();
  bn_log_settle();
  bn_log(BN_NOTICE, "same");
  assert_string_equal(capture_end(&c), "same\n(last message repeated 1 times)\nsame\n");
}

static void test_empty_lines_are_exempt(void **state)
{
  struct capture c = capture_begin(stdout);

  (void)state;
  bn_log(BN_NOTICE, "%s", "");
  bn_log(BN_NOTICE, "%s", "");
  bn_log_text(BN_NOTICE, "\n");
  bn_log(BN_NOTICE, "x");
  assert_string_equal(capture_end(&c), "\n\n\nx\n");
}

static void test_length_is_not_limited(void **state)
{
  struct capture c = capture_begin(stdout);
  char *text = malloc(20001);

  (void)state;
  assert_non_null(text);
  memset(text, 'y', 20000);
  text[20000] = '\0';
  bn_log(BN_NOTICE, "%s", text);
  capture_end(&c);
  assert_int_equal(strlen(caught), 20001);
  assert_int_equal(caught[20000], '\n');
  free(text);
}

static void test_stderr(void **state)
{
  struct capture c = capture_begin(stderr);

  (void)state;
  bn_log_set_verbosity(0);
  bn_log_stderr("n = %d", 7);
  bn_log_stderr("n = %d", 7);
  bn_log_set_verbosity(3);
  assert_string_equal(capture_end(&c), "n = 7\nn = 7\n");
}

/* Threads that say what went wrong one after another, and go when all have. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  void (*say)(int number);
  int turn, n;
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *fail_in_turn(void *number)
{
  const int i = *(const int *)number;

  (void)pthread_mutex_lock(&turns.lock);
  while (turns.turn != i)
    (void)pthread_cond_wait(&turns.changed, &turns.lock);
  turns.say(i);
  turns.turn++;
  (void)pthread_cond_broadcast(&turns.changed);
  while (turns.turn < turns.n)
    (void)pthread_cond_wait(&turns.changed, &turns.lock);
  (void)pthread_mutex_unlock(&turns.lock);
  return NULL;
}

static void fail_in_threads(int n, void (*say)(int number))
{
  pthread_t thread[8];
  int number[8];

  turns.say = say;
  turns.turn = 0;
  turns.n = n;
  for (int i = 0; i < n; i++) {
    number[i] = i;
    assert_int_equal(pthread_create(&thread[i], NULL, fail_in_turn, &number[i]), 0);
  }
  for (int i = 0; i < n; i++)
    assert_int_equal(pthread_join(thread[i], NULL), 0);
}

/* What a process that has said nothing yet prints on standard error. */
static void expect_in_new_process(void (*body)(void), const char *expected)
{
  struct capture out = capture_begin(stdout), err = capture_begin(stderr);
  const pid_t child = fork();
  int status = -1;

  if (child == 0) {
    bn_log_separate_errors();
    body();
    (void)fflush(NULL);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_string_equal(capture_end(&err), expected);
  assert_string_equal(capture_end(&out), "");
  assert_int_equal(status, 0);
}

static void fail_statement(int i)
{
  char what[48], sql[48];

  (void)snprintf(what, sizeof what, "failed: 7 (id %d)", i);
  (void)snprintf(sql, sizeof sql, "failed query was: SELECT %d", i);
  bn_log_fatal_as("query: error 7\nin full", (const char *const[]){what, sql}, 2);
}

static void fail_statements(void)
{
  fail_in_threads(3, fail_statement);
  bn_log_print_more_threads();
  bn_log_print_more_threads();
}

static void test_errors_of_a_kind_are_told_once(void **state)
{
  (void)state;
  expect_in_new_process(fail_statements, "FATAL: failed: 7 (id 0)\n"
                                         "FATAL: failed query was: SELECT 0\n"
                                         "(2 more threads)\n");
}

/* The sessions of a worker, one after another. */
static void fail_in_sessions(void)
{
  static const char session[3];

  for (int i = 0; i < 3; i++) {
    bn_log_set_session(&session[i]);
    fail_statement(i);
  }
  bn_log_print_more_threads();
}

static void test_sessions_of_a_worker_are_threads(void **state)
{
  (void)state;
  expect_in_new_process(fail_in_sessions, "FATAL: failed: 7 (id 0)\n"
                                          "FATAL: failed query was: SELECT 0\n"
                                          "(2 more threads)\n");
}

static void fail_block(int i)
{
  const char *const where = i < 2 ? "offset: 4096" : "offset: 8192";

  bn_log_fatal_as(NULL, (const char *const[]){where, "stored: 0xab"}, 2);
  bn_log(BN_FATAL, "cannot connect to 10.0.0.%d for query 'SELECT %d'", i / 2, i % 2);
}

static void fail_blocks(void)
{
  fail_in_threads(3, fail_block);
  bn_log_print_more_threads();
}

static void test_errors_in_other_words_are_other_errors(void **state)
{
  (void)state;
  expect_in_new_process(fail_blocks, "FATAL: offset: 4096\n"
                                     "FATAL: stored: 0xab\n"
                                     "FATAL: cannot connect to 10.0.0.0 for query 'SELECT 0'\n"
                                     "FATAL: cannot connect to 10.0.0.0 for query 'SELECT 1'\n"
                                     "FATAL: offset: 8192\n"
                                     "FATAL: stored: 0xab\n"
                                     "FATAL: cannot connect to 10.0.0.1 for query 'SELECT 0'\n"
                                     "(1 more thread: offset: 4096: stored: 0xab)\n");
}

static void warn_twice(int i)
{
  (void)i;
  bn_log(BN_ALERT, "statement closed");
  bn_log(BN_WARNING, "files differ");
}

static void warn_in_threads(void)
{
  fail_in_threads(2, warn_twice);
  bn_log(BN_WARNING, "files differ");
  bn_log_print_more_threads();
}

static void test_warnings_are_apart_too(void **state)
{
  (void)state;
  expect_in_new_process(warn_in_threads, "ALERT: statement closed\n"
                                         "WARNING: files differ\n"
                                         "(1 more thread: statement closed)\n"
                                         "(2 more threads: files differ)\n");
}

static void fail_twice(int i)
{
  fail_statement(i);
  bn_log(BN_FATAL, "event failed");
}

static void fail_once_more_later(void)
{
  fail_in_threads(4, fail_twice);
  bn_log_print_more_threads();
  bn_log(BN_FATAL, "event failed");
  bn_log(BN_FATAL, "mine 1");
  bn_log(BN_FATAL, "mine 1");
  bn_log(BN_FATAL, "mine 2");
  bn_log_print_more_threads();
}

static void test_threads_that_had_all_errors_are_one_number(void **state)
{
  (void)state;
  expect_in_new_process(fail_once_more_later, "FATAL: failed: 7 (id 0)\n"
                                              "FATAL: failed query was: SELECT 0\n"
                                              "FATAL: event failed\n"
                                              "(3 more threads)\n"
                                              "FATAL: mine 1\n"
                                              "(last message repeated 1 times)\n"
                                              "FATAL: mine 2\n"
                                              "(1 more thread: event failed)\n");
}

static void fail_in_halves(int i)
{
  if (i < 2)
    fail_statement(i);
  else
    bn_log(BN_FATAL, "event failed");
}

static void fail_in_two_halves(void)
{
  fail_in_threads(4, fail_in_halves);
  bn_log_print_more_threads();
}

static void test_threads_with_different_errors_are_told_apart(void **state)
{
  (void)state;
  expect_in_new_process(fail_in_two_halves,
                        "FATAL: failed: 7 (id 0)\n"
                        "FATAL: failed query was: SELECT 0\n"
                        "FATAL: event failed\n"
                        "(1 more thread: failed: 7 (id 0): failed query was: SELECT 0)\n"
                        "(1 more thread: event failed)\n");
}

/* 250 bytes of it are characters of two. */
static const char *long_text(void)
{
  static char text[252] = "x";

  for (size_t at = 1; at < sizeof text - 1; at += 2)
    memcpy(text + at, "\xc3\xa4", 2);
  return text;
}

static void fail_at_length(int i)
{
  bn_log(BN_FATAL, "%s", i < 2 ? long_text() : "short");
}

static void fail_at_length_or_not(void)
{
  fail_in_threads(3, fail_at_length);
  bn_log_print_more_threads();
}

static void test_what_is_printed_again_is_short(void **state)
{
  char expected[1024];

  (void)state;
  (void)snprintf(expected, sizeof expected, "FATAL: %s\nFATAL: short\n(1 more thread: %.199s...)\n",
                 long_text(), long_text());
  expect_in_new_process(fail_at_length_or_not, expected);
}

static void fail_in_many_ways(int i)
{
  (void)i;
  for (int kind = 0; kind < 66; kind++)
    bn_log(BN_FATAL, "%d", kind);
}

static void fail_in_too_many_ways(void)
{
  fail_in_threads(2, fail_in_many_ways);
  bn_log_print_more_threads();
}

/* What there is no place for is told by each thread. */
static void test_no_kind_of_error_is_lost(void **state)
{
  char expected[1024];
  size_t len = 0;

  (void)state;
  for (int kind = 0; kind < 66; kind++)
    len += (size_t)snprintf(expected + len, sizeof expected - len, "FATAL: %d\n", kind);
  (void)snprintf(expected + len, sizeof expected - len, "FATAL: 64\nFATAL: 65\n(1 more thread)\n");
  expect_in_new_process(fail_in_too_many_ways, expected);
}

/* Sends standard error to a terminal; returns its other end. */
static int use_terminal(void)
{
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  int theirs;

  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    _exit(1);
  theirs = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  if (theirs < 0 || dup2(theirs, STDERR_FILENO) < 0)
    _exit(1);
  return terminal;
}

static void fail_during_progress(void)
{
  const int saved = dup(STDERR_FILENO), terminal = use_terminal();
  char shown[256] = "";
  size_t len = 0;

  fail_in_threads(2, fail_statement);
  bn_log_progress("50 %");
  bn_log_print_more_threads();
  while (strstr(shown, "thread)\r\n") == NULL && len < sizeof shown - 1) {
    const ssize_t n = read(terminal, shown + len, sizeof shown - 1 - len);

    if (n <= 0)
      _exit(1);
    len += (size_t)n;
  }
  (void)dup2(saved, STDERR_FILENO);
  (void)fputs(shown, stderr);
}

static void test_the_number_of_threads_replaces_progress(void **state)
{
  (void)state;
  expect_in_new_process(fail_during_progress, "FATAL: failed: 7 (id 0)\r\n"
                                              "FATAL: failed query was: SELECT 0\r\n"
                                              "50 %\r\033[K(1 more thread)\r\n");
}

static void refuse_in_turn(int i)
{
  struct bn_err err = {0};

  (void)i;
  (void)bn_err_set(&err, BN_ERR_OPTION, "--db-driver=x: unknown");
  bn_log_failure(&err);
}

static void refuse_in_threads(void)
{
  fail_in_threads(3, refuse_in_turn);
}

static void test_a_wrong_option_is_told_once(void **state)
{
  (void)state;
  expect_in_new_process(refuse_in_threads, "--db-driver=x: unknown\n");
}

/* Where fatal errors are not apart each line is a message. */
static void test_lines_of_an_error_are_messages(void **state)
{
  struct capture c = capture_begin(stdout);

  (void)state;
  bn_log_fatal_as("kind", (const char *const[]){"one", "two\n"}, 2);
  bn_log_fatal_as("kind", (const char *const[]){"two", "three"}, 2);
  assert_string_equal(capture_end(&c), "FATAL: one\nFATAL: two\n"
                                       "(last message repeated 1 times)\nFATAL: three\n");
}

/* Last: stdout is spoilt for good. */
static void test_full_disk_is_noticed(void **state)
{
  FILE *full = fopen("/dev/full", "w");
  int saved;

  (void)state;
  if (full == NULL)
    skip();
  assert_true(bn_log_flush());
  (void)fflush(stdout);
  saved = dup(STDOUT_FILENO);
  assert_true(dup2(fileno(full), STDOUT_FILENO) >= 0);
  bn_log(BN_NOTICE, "lost");
  assert_true(dup2(saved, STDOUT_FILENO) >= 0);
  assert_false(bn_log_flush());
  clearerr(stdout);
  assert_true(bn_log_flush());
  (void)close(saved);
  (void)fclose(full);
}

/* What sysbench does not say is not said in its name. */
static void print_told(void *arg, const struct bn_log_message *told)
{
  (void)arg;
  (void)printf("%d %s %d %d\n", told->level, told->text, (int)told->times,
               told->wall_ns > UINT64_C(1700000000000000000));
}

static void test_what_was_told_is_remembered(void **state)
{
  struct capture out = capture_begin(stdout), err = capture_begin(stderr);
  const pid_t child = fork();
  const char *text;

  (void)state;
  if (child == 0) {
    bn_log(BN_NOTICE, "a report");
    bn_log(BN_FATAL, "x = %d\n", 1);
    bn_log_stderr("y");
    bn_log(BN_FATAL, "x = %d", 1);
    bn_log_set_verbosity(0);
    bn_log(BN_WARNING, "unheard");
    bn_log_settle();
    for (int i = 0; i < 2 * BN_LOG_MESSAGES_MAX; i++)
      bn_log_stderr("z %d", i);
    (void)puts("told:");
    bn_log_each_message(print_told, NULL);
    (void)fflush(NULL);
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
  (void)capture_end(&err);
  text = strstr(capture_end(&out), "told:\n") + 6;
  assert_ptr_equal(strstr(text, "0 x = 1 2 1\n3 y 1 1\n3 z 0 1 1\n"), text);
  assert_non_null(strstr(text, "z 97 1 1\n"));
  assert_null(strstr(text, "z 98 1 1\n"));
}

static void test_asides(void **state)
{
  struct capture c = capture_begin(stderr);

  (void)state;
  bn_log_hint("hint %d", 1);
  bn_log_note("note %d", 1);
  bn_log_set_asides(false);
  bn_log_hint("hint %d", 2);
  bn_log_note("note %d", 2);
  bn_log_at_once("signal");
  bn_log_stderr("error");
  bn_log_set_asides(true);
  bn_log_hint("hint %d", 3);
  assert_string_equal(capture_end(&c), "hint 1\nnote 1\nerror\nhint 3\n");
}

/* A pipe in place of standard error. */
struct unread {
  int saved, reader;
  size_t held; /* bytes that fill it */
};

static struct unread unread_begin(void)
{
  struct unread u = {.saved = dup(STDERR_FILENO)};
  static char text[1 << 16];
  ssize_t n;
  int fd[2];

  memset(text, '.', sizeof text);
  assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
  while ((n = write(fd[1], text, sizeof text)) > 0)
    u.held += (size_t)n;
  assert_int_equal(fcntl(fd[1], F_SETFL, 0), 0);
  assert_int_equal(dup2(fd[1], STDERR_FILENO), STDERR_FILENO);
  (void)close(fd[1]);
  u.reader = fd[0];
  return u;
}

static void unread_read(struct unread *u)
{
  static char text[1 << 16];
  ssize_t n;

  while (u->held > 0 && (n = read(u->reader, text, sizeof text)) > 0)
    u->held -= (size_t)n;
}

static void unread_end(const struct unread *u, const char *told)
{
  static char text[1 << 16];
  ssize_t n;

  assert_int_equal(dup2(u->saved, STDERR_FILENO), STDERR_FILENO);
  (void)close(u->saved);
  n = read(u->reader, text, sizeof text - 1);
  text[n > 0 ? n : 0] = '\0';
  (void)close(u->reader);
  assert_string_equal(text, told);
}

static void test_at_once_does_not_wait(void **state)
{
  struct unread u = unread_begin();

  (void)state;
  bn_log_at_once("signal %d", 1);
  unread_read(&u);
  bn_log_at_once("signal %d", 2);
  unread_end(&u, "signal 2\n");
}

BN_TESTS(log)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_was_told_is_remembered), /* before others tell something */
      cmocka_unit_test(test_prefixes),
      cmocka_unit_test(test_verbosity),
      cmocka_unit_test(test_folding),
      cmocka_unit_test(test_reports_separate_messages),
      cmocka_unit_test(test_empty_lines_are_exempt),
      cmocka_unit_test(test_length_is_not_limited),
      cmocka_unit_test(test_stderr),
      cmocka_unit_test(test_asides),
      cmocka_unit_test(test_at_once_does_not_wait),
      cmocka_unit_test(test_lines_of_an_error_are_messages),
      cmocka_unit_test(test_errors_of_a_kind_are_told_once),
      cmocka_unit_test(test_sessions_of_a_worker_are_threads),
      cmocka_unit_test(test_errors_in_other_words_are_other_errors),
      cmocka_unit_test(test_warnings_are_apart_too),
      cmocka_unit_test(test_threads_that_had_all_errors_are_one_number),
      cmocka_unit_test(test_threads_with_different_errors_are_told_apart),
      cmocka_unit_test(test_what_is_printed_again_is_short),
      cmocka_unit_test(test_no_kind_of_error_is_lost),
      cmocka_unit_test(test_the_number_of_threads_replaces_progress),
      cmocka_unit_test(test_a_wrong_option_is_told_once),
      cmocka_unit_test(test_full_disk_is_noticed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
