/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that a caller of the printer waits for nobody, and what becomes of the jobs that wait. */
#include "cm.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "hosts/printer.h"

static const uint64_t soon_ns = 20 * BN_NSEC_PER_MSEC;
static const uint64_t long_ns = 60 * BN_NSEC_PER_SEC;

/* Notes the letters in their order; a pipe holds up the letter 'w'. */
struct scene {
  struct bn_printer printer;
  int gate[2];
  char said[8];
  size_t n;
  unsigned done;
};

struct letter {
  struct bn_printer_job job;
  char c;
};

static void letter_say(struct bn_printer_job *job)
{
  const struct letter *l = (const struct letter *)job;
  struct scene *s = job->arg;
  char c;

  if (l->c == 'w')
    assert_int_equal(read(s->gate[0], &c, 1), 1);
  if (s->n < sizeof s->said - 1)
    s->said[s->n++] = l->c;
}

static void letter_done(struct bn_printer_job *job)
{
  struct scene *s = job->arg;

  s->done++;
}

static void letter_make(struct scene *s, struct letter *l, char c)
{
  *l = (struct letter){.job = {.arg = s, .say = letter_say, .done = letter_done}, .c = c};
}

static void put(struct scene *s, struct letter *l, char c)
{
  letter_make(s, l, c);
  bn_printer_put_job(&s->printer, &l->job);
}

static void begin(struct scene *s)
{
  struct bn_err err;

  memset(s, 0, sizeof *s);
  assert_int_equal(pipe2(s->gate, O_CLOEXEC), 0);
  assert_int_equal(bn_printer_open(&s->printer, &err), 0);
}

static void open_gate(struct scene *s)
{
  assert_int_equal(write(s->gate[1], "", 1), 1);
}

static void end(struct scene *s)
{
  assert_true(bn_printer_wait(&s->printer, bn_clock_mono() + long_ns));
  bn_printer_close(&s->printer);
  (void)close(s->gate[0]);
  (void)close(s->gate[1]);
}

static void nobody_waits_for_a_reader(void **state)
{
  struct scene s;
  struct letter l[3];

  (void)state;
  begin(&s);
  put(&s, &l[0], 'w');
  put(&s, &l[1], 'a');
  put(&s, &l[2], 'b');
  assert_false(bn_printer_wait(&s.printer, bn_clock_mono() + soon_ns));
  open_gate(&s);
  end(&s);
  assert_string_equal(s.said, "wab");
  assert_int_equal(s.done, 3);
}

static void too_many_jobs_are_dropped(void **state)
{
  enum { JOBS = BN_PRINTER_MAX + 2 };
  static struct letter l[JOBS];
  struct scene s;

  (void)state;
  begin(&s);
  put(&s, &l[0], 'w');
  for (size_t i = 1; i < JOBS; i++) {
    letter_make(&s, &l[i], 'a');
    bn_printer_offer_job(&s.printer, &l[i].job);
  }
  assert_in_range(s.done, 1, 2); /* the first one may still wait itself */
  assert_true(s.printer.dropped);
  put(&s, &l[JOBS - 1], 'b'); /* is not dropped */
  open_gate(&s);
  end(&s);
  assert_int_equal(s.done, JOBS + 1);
}

static int errors_open(int *before)
{
  int fd[2];

  assert_int_equal(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
  *before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  assert_true(*before >= 0 && dup2(fd[1], STDERR_FILENO) == STDERR_FILENO);
  (void)close(fd[1]);
  return fd[0];
}

static void lines_are_printed_in_order(void **state)
{
  struct bn_err failure = {0};
  char text[256] = "";
  struct scene s;
  struct letter l;
  int before, reader;

  (void)state;
  (void)bn_err_set(&failure, BN_ERR_OPTION, "--assert=x: no such figure");
  reader = errors_open(&before);
  begin(&s);
  put(&s, &l, 'w');
  bn_printer_say(&s.printer, "%s is lost", "a");
  bn_printer_say_foreign(&s.printer, "b: \x1b[2J");
  bn_printer_say_failure(&s.printer, &failure);
  assert_int_equal(read(reader, text, sizeof text - 1), -1);
  open_gate(&s);
  end(&s);
  (void)!read(reader, text, sizeof text - 1);
  (void)dup2(before, STDERR_FILENO);
  (void)close(before);
  (void)close(reader);
  assert_string_equal(text, "a is lost\nb: \\x1b[2J\n--assert=x: no such figure\n");
}

static void without_a_thread_a_job_is_done_at_once(void **state)
{
  struct scene s = {.n = 0};
  struct letter l;

  (void)state;
  put(&s, &l, 'a');
  assert_string_equal(s.said, "a");
  assert_int_equal(s.done, 1);
  assert_true(bn_printer_wait(&s.printer, 0));
  bn_printer_close(&s.printer);
}

BN_TESTS(printer)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_waits_for_a_reader),
      cmocka_unit_test(too_many_jobs_are_dropped),
      cmocka_unit_test(lines_are_printed_in_order),
      cmocka_unit_test(without_a_thread_a_job_is_done_at_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
