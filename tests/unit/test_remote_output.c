/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows which lines of hosts begin with their names, and that no line has the text of two hosts. */
#include "cm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hosts/remote_output.h"

/* Standard output, which is a file during a test. */
struct output {
  int before; /* the standard output outside of the test */
  FILE *file;
};

static void begin_output(struct output *o)
{
  o->file = tmpfile();
  assert_non_null(o->file);
  (void)fflush(stdout);
  o->before = dup(STDOUT_FILENO);
  assert_true(o->before >= 0 && dup2(fileno(o->file), STDOUT_FILENO) == STDOUT_FILENO);
}

/* Stores what was printed, and gives standard output back. */
static void end_output(struct output *o, char *text, size_t size)
{
  ssize_t n;

  (void)fflush(stdout);
  assert_int_equal(dup2(o->before, STDOUT_FILENO), STDOUT_FILENO);
  (void)close(o->before);
  n = pread(fileno(o->file), text, size - 1, 0);
  assert_true(n >= 0);
  text[n] = '\0';
  (void)fclose(o->file);
}

/* A piece of the output of a host. */
struct piece {
  const char *host, *text;
};

/* Without a thread, the printer prints at once. */
static void expect(const struct piece *piece, size_t n, const char *want)
{
  struct bn_printer printer = {.has_thread = false};
  struct bn_remote_line line = {.is_open = false};
  struct output o;
  char text[256];

  begin_output(&o);
  for (size_t i = 0; i < n; i++)
    bn_remote_output_show(&printer, &line, piece[i].host, piece[i].text, strlen(piece[i].text));
  end_output(&o, text, sizeof text);
  assert_string_equal(text, want);
}

static void a_line_in_pieces_has_one_name(void **state)
{
  static const struct piece pieces[] = {{"a", "one"},  {"a", "two"}, {"a", "three\nfour\n"},
                                        {"a", "five"}, {"a", "\n"},  {"a", "six\n"}};

  (void)state;
  expect(pieces, 6, "a: onetwothree\na: four\na: five\na: six\n");
}

static void a_line_of_another_host_begins_a_line(void **state)
{
  static const struct piece pieces[] = {{"a", "one"}, {"b", "two\n"}, {"a", "three\n"}};

  (void)state;
  expect(pieces, 3, "a: one\nb: two\na: three\n");
}

static void empty_lines_have_no_name(void **state)
{
  static const struct piece pieces[] = {{"a", "\n\none\n"}, {NULL, "two"}, {NULL, "three\nfour\n"}};

  (void)state;
  expect(pieces, 3, "\n\na: one\ntwothree\nfour\n");
}

BN_TESTS(remote_output)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_in_pieces_has_one_name),
      cmocka_unit_test(a_line_of_another_host_begins_a_line),
      cmocka_unit_test(empty_lines_have_no_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
