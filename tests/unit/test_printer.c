/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that who puts something into an printer waits for nobody, and what becomes of what waits.
 */
#include "cm.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "hosts/printer.h"

static const uint64_t soon_ns = 20 * BN_NSEC_PER_MSEC;
static const uint64_t long_ns = 60 * BN_NSEC_PER_SEC;

/* What was said, in order, and a pipe that holds up who says 'w'. */
struct scene {
  struct bn_printer printer;
  int start_barrier[2];
  char said[64];
  size_t n;
  unsigned done;
};

struct letter {
  struct bn_printer_job job;
  char c;
};

static void say(struct bn_printer_job *job)
{
  const struct letter *l = (const struct letter *)job;
  struct scene *s = job->of;
  char c;

  if (l->c == 'w')
    assert_int_equal(read(s->start_barrier[0], &c, 1), 1);
  s->said[s->n++] = l->c;
}

static void done(struct bn_printer_job *job)
{
  struct scene *s = job->of;

  s->done++;
}

static void put(struct scene *s, struct letter *l, enum bn_printer_kind kind, char c, size_t bytes)
{
  *l = (struct letter){.job = {.kind = kind, .bytes = bytes, .of = s, .say = say, .done = done},
                       .c = c};
  bn_printer_put(&s->printer, &l->job);
}

static void begin(struct scene *s)
{
  struct bn_err err;

  memset(s, 0, sizeof *s);
  assert_int_equal(pipe2(s->start_barrier, O_CLOEXEC), 0);
  assert_int_equal(bn_printer_open(&s->printer, &err), 0);
}

/* Until the thread hangs in what was put first. */
static void await_hang(struct scene *s)
{
  bool hangs = false;

  while (!hangs) {
    (void)pthread_mutex_lock(&s->printer.lock);
    hangs = s->printer.now != NULL;
    (void)pthread_mutex_unlock(&s->printer.lock);
  }
}

static void open_gate(struct scene *s)
{
  assert_int_equal(write(s->start_barrier[1], "", 1), 1);
}

static void end(struct scene *s, const char *said)
{
  assert_true(bn_printer_wait(&s->printer, bn_clock_mono() + long_ns));
  bn_printer_close(&s->printer);
  assert_string_equal(s->said, said);
  (void)close(s->start_barrier[0]);
  (void)close(s->start_barrier[1]);
}

static void nobody_waits_for_a_reader(void **state)
{
  struct scene s;
  struct letter l[3];

  (void)state;
  begin(&s);
  put(&s, &l[0], BN_PRINTER_BOUNDED, 'w', 1);
  put(&s, &l[1], BN_PRINTER_ALWAYS, 'a', 1);
  put(&s, &l[2], BN_PRINTER_BOUNDED, 'b', 1);
  assert_false(bn_printer_wait(&s.printer, bn_clock_mono() + soon_ns));
  open_gate(&s);
  end(&s, "wab");
  assert_int_equal(s.done, 3);
}

/* Of ticks only the last one that waits is of use. */
static void the_latest_takes_the_place_of_the_one_before(void **state)
{
  struct scene s;
  struct letter l[5];

  (void)state;
  begin(&s);
  put(&s, &l[0], BN_PRINTER_ALWAYS, 'w', 1);
  put(&s, &l[1], BN_PRINTER_LATEST, '1', 1);
  put(&s, &l[2], BN_PRINTER_BOUNDED, 'b', 1);
  put(&s, &l[3], BN_PRINTER_LATEST, '2', 1);
  put(&s, &l[4], BN_PRINTER_LATEST, '3', 1);
  open_gate(&s);
  end(&s, "wb3");
  assert_int_equal(s.done, 5);
}

static void what_is_too_much_is_left_out(void **state)
{
  struct scene s;
  struct letter l[5];

  (void)state;
  begin(&s);
  put(&s, &l[0], BN_PRINTER_ALWAYS, 'w', 1);
  await_hang(&s);
  put(&s, &l[1], BN_PRINTER_BOUNDED, 'a', BN_PRINTER_MAX - 2);
  assert_false(bn_printer_is_short(&s.printer));
  put(&s, &l[2], BN_PRINTER_BOUNDED, 'b', BN_PRINTER_MAX - 2);
  put(&s, &l[3], BN_PRINTER_LATEST, 'c', BN_PRINTER_MAX - 2);
  put(&s, &l[4], BN_PRINTER_ALWAYS, 'd', BN_PRINTER_MAX - 2);
  assert_int_equal(s.done, 1);
  assert_true(bn_printer_is_short(&s.printer));
  open_gate(&s);
  end(&s, "wacd");
  assert_int_equal(s.done, 5);
  assert_true(bn_printer_is_short(&s.printer));
}

/* Standard error in place of its own until `close_errors`. */
struct errors {
  int before, reader;
};

static struct errors open_errors(void)
{
  int fd[2];
  struct errors e;

  assert_int_equal(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
  e = (struct errors){fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), fd[0]};
  assert_true(e.before >= 0 && dup2(fd[1], STDERR_FILENO) == STDERR_FILENO);
  (void)close(fd[1]);
  return e;
}

static void close_errors(struct errors e)
{
  (void)dup2(e.before, STDERR_FILENO);
  (void)close(e.before);
  (void)close(e.reader);
}

/* What is there so far, as text. */
static void read_errors(struct errors e, char *text, size_t size)
{
  const ssize_t n = read(e.reader, text, size - 1);

  text[n > 0 ? n : 0] = '\0';
}

/* The loss is told while the reader of standard output stands still, and so is all else. */
static void messages_do_not_wait_for_what_is_too_much(void **state)
{
  const struct errors errors = open_errors();
  char text[512];
  struct scene s;
  struct letter l[3];

  (void)state;
  begin(&s);
  put(&s, &l[0], BN_PRINTER_ALWAYS, 'w', 1);
  await_hang(&s);
  put(&s, &l[1], BN_PRINTER_BOUNDED, 'a', BN_PRINTER_MAX);
  put(&s, &l[2], BN_PRINTER_BOUNDED, 'b', 1);
  bn_printer_say(&s.printer, "a host is lost");
  bn_printer_look(&s.printer, bn_clock_mono() + long_ns);
  read_errors(errors, text, sizeof text);
  open_gate(&s);
  end(&s, "wa");
  close_errors(errors);
  assert_string_equal(
      text, "standard output was not read for too long: interval reports and lines are left "
            "out from now on, also of files; the final report is kept\na host is lost\n");
}

/* What looks short is four times as long once it is escaped. */
static void a_line_is_as_long_as_it_is_escaped(void **state)
{
  const struct errors errors = open_errors();
  char line[PIPE_BUF / 2], text[3 * PIPE_BUF];
  struct scene s;
  struct letter l;

  (void)state;
  memset(line, '\x1b', sizeof line - 1);
  line[sizeof line - 1] = '\0';
  begin(&s);
  put(&s, &l, BN_PRINTER_ALWAYS, 'w', 1);
  await_hang(&s);
  bn_printer_foreign(&s.printer, line);
  bn_printer_look(&s.printer, bn_clock_mono() + long_ns);
  read_errors(errors, text, sizeof text);
  assert_string_equal(text, "");
  open_gate(&s);
  end(&s, "w");
  read_errors(errors, text, sizeof text);
  close_errors(errors);
  assert_int_equal(strlen(text), 4 * (sizeof line - 1) + 1);
  assert_memory_equal(text, "\\x1b\\x1b", 8);
}

/* It does not keep who follows the hosts. */
static void a_failure_waits_as_well(void **state)
{
  const struct errors errors = open_errors();
  struct bn_err err = {0};
  char text[256];
  struct scene s;
  struct letter l;

  (void)state;
  (void)bn_err_set(&err, BN_ERR_OPTION, "--assert=x: no such figure");
  begin(&s);
  put(&s, &l, BN_PRINTER_ALWAYS, 'w', 1);
  await_hang(&s);
  bn_printer_failure(&s.printer, &err);
  read_errors(errors, text, sizeof text);
  assert_string_equal(text, "");
  open_gate(&s);
  end(&s, "w");
  read_errors(errors, text, sizeof text);
  close_errors(errors);
  assert_string_equal(text, "--assert=x: no such figure\n");
}

static void lines_have_a_bound_of_their_own(void **state)
{
  const struct errors errors = open_errors();
  char text[512];
  struct scene s;
  struct letter l[5];

  (void)state;
  begin(&s);
  put(&s, &l[0], BN_PRINTER_ALWAYS, 'w', 1);
  await_hang(&s);
  put(&s, &l[1], BN_PRINTER_ERRORS, 'a', BN_PRINTER_LINES_MAX);
  put(&s, &l[2], BN_PRINTER_ERRORS, 'b', 1);
  put(&s, &l[3], BN_PRINTER_ERRORS, 'c', 1);
  put(&s, &l[4], BN_PRINTER_BOUNDED, 'd', BN_PRINTER_MAX);
  assert_int_equal(s.done, 2);
  assert_false(bn_printer_is_short(&s.printer));
  bn_printer_look(&s.printer, bn_clock_mono() + long_ns);
  read_errors(errors, text, sizeof text);
  open_gate(&s);
  end(&s, "wad");
  close_errors(errors);
  assert_string_equal(text,
                      "standard error was not read for too long: some messages are left out\n");
}

/* Before it is opened, and after it is closed. */
static void without_a_thread_it_is_said_at_once(void **state)
{
  struct scene s = {.n = 0};
  struct letter l;

  (void)state;
  put(&s, &l, BN_PRINTER_BOUNDED, 'a', 1);
  assert_string_equal(s.said, "a");
  assert_true(bn_printer_wait(&s.printer, 0));
  bn_printer_close(&s.printer);
}

/* The thread that hangs is left behind with the test's memory: the process ends. */
static void what_hangs_is_left(void **state)
{
  static struct scene s;
  static struct letter l[4];

  (void)state;
  begin(&s);
  put(&s, &l[0], BN_PRINTER_BOUNDED, 'w', 1);
  await_hang(&s);
  put(&s, &l[1], BN_PRINTER_BOUNDED, 'a', 1);
  put(&s, &l[2], BN_PRINTER_ALWAYS, 'b', 1);
  put(&s, &l[3], BN_PRINTER_ALWAYS, 'c', 1);
  bn_printer_leave(&s.printer, bn_clock_mono() + long_ns);
  bn_tests_left += 2;
  assert_string_equal(s.said, "bc");
  assert_int_equal(s.done, 3);
}

BN_TESTS(printer)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_waits_for_a_reader),
      cmocka_unit_test(the_latest_takes_the_place_of_the_one_before),
      cmocka_unit_test(what_is_too_much_is_left_out),
      cmocka_unit_test(messages_do_not_wait_for_what_is_too_much),
      cmocka_unit_test(a_line_is_as_long_as_it_is_escaped),
      cmocka_unit_test(a_failure_waits_as_well),
      cmocka_unit_test(lines_have_a_bound_of_their_own),
      cmocka_unit_test(without_a_thread_it_is_said_at_once),
      cmocka_unit_test(what_hangs_is_left),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
