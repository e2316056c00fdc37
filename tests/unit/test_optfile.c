/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows how configuration files are read: blanks, quotes, comments, types, unknown names,
   faults. */
#include "cm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dialect/dialect.h"
#include "option/opt.h"

struct values {
  bool flag;
  int64_t count;
  uint64_t size;
  char *text, *file;
  struct bn_list list;
};

static const struct bn_opt table[] = {
    {.name = "flag", .type = BN_BOOL, .def = "off", .offset = offsetof(struct values, flag)},
    {.name = "long-count",
     .type = BN_INT,
     .def = "1",
     .offset = offsetof(struct values, count),
     .min = 1,
     .max = 100,
     .range_text = "Invalid value for --long-count: %s.\n\n"},
    {.name = "size", .type = BN_SIZE, .def = "64K", .offset = offsetof(struct values, size)},
    {.name = "text", .type = BN_STRING, .offset = offsetof(struct values, text)},
    {.name = "list", .type = BN_LIST, .offset = offsetof(struct values, list)},
    {.name = "config-file",
     .type = BN_PATH,
     .traits = BN_OPT_COMMAND_LINE_ONLY,
     .offset = offsetof(struct values, file)},
    BN_OPT_END};

static struct values values;
static struct bn_optset *set;

static void open_set(const struct bn_policy *policy)
{
  struct bn_err err = {0};

  set = bn_optset_new(policy);
  assert_non_null(set);
  assert_int_equal(bn_optset_add(set, "Test options", table, &values, false, &err), 0);
}

static int setup(void **state)
{
  (void)state;
  open_set(&bn_policy_bench);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  bn_optset_free(set);
  set = NULL;
  return 0;
}

static int read_text(const char *text, char *path, struct bn_err *err)
{
  FILE *out;
  int fd, rc;

  (void)snprintf(path, 64, "/tmp/bn-test-opt-XXXXXX");
  fd = mkstemp(path);
  assert_true(fd >= 0);
  out = fdopen(fd, "w");
  assert_non_null(out);
  (void)fputs(text, out);
  (void)fclose(out);
  rc = bn_optset_read_file(set, path, err);
  (void)unlink(path);
  return rc;
}

struct unknown {
  char names[256];
  unsigned line;
};

static void note_unknown(void *arg, const char *name, const char *value, const char *path,
                         unsigned line)
{
  struct unknown *u = arg;

  (void)value;
  assert_non_null(path);
  (void)strncat(u->names, name, sizeof u->names - strlen(u->names) - 1);
  (void)strncat(u->names, ";", sizeof u->names - strlen(u->names) - 1);
  u->line = line;
}

/* The value ends at the carriage return, and with it the quote has no end. */
static void a_carriage_return_does_not_empty_a_list(void **state)
{
  struct bn_err err = {0};
  char path[64];

  (void)state;
  assert_int_equal(read_text("list=\"1213\r1205\"\n", path, &err), -1);
  assert_non_null(strstr(err.text, ":1: the quote in the value of 'list' is not closed"));
  assert_int_equal(read_text("list=\"1213\",1205\r\n", path, &err), 0);
  assert_int_equal(values.list.n, 2);
  assert_string_equal(values.list.item[1], "1205");
}

static void test_file(void **state)
{
  struct bn_err err = {0};
  struct unknown unknown = {.names = ""};
  struct bn_optset_fault fault;
  char path[64];

  (void)state;
  assert_int_equal(read_text("# comment=1\n"
                             "  long_count = 12   # tail\n"
                             "just words\n"
                             "--size=4K\r\n"
                             "flag=off\n"
                             "text=\"a, # b\"\n"
                             "list=1, 2  '3 4',\n"
                             "file-num=3\n"
                             "cpu=x=y",
                             path, &err),
                   0);
  assert_int_equal(values.count, 12);
  assert_int_equal(values.size, 4096);
  assert_false(values.flag);
  assert_string_equal(values.text, "a, # b");
  assert_int_equal(values.list.n, 3);
  assert_string_equal(values.list.item[2], "3 4");
  bn_optset_each_pending(set, note_unknown, &unknown);
  assert_string_equal(unknown.names, "file-num;cpu;");
  assert_int_equal(unknown.line, 9);
  assert_false(bn_optset_find_unknown(set, false, &fault));
  assert_int_equal(bn_optset_set(set, "flag", NULL, "--flag"), BN_OPTSET_OK);
  assert_true(values.flag);
  assert_int_equal(read_text("flag=\n", path, &err), 0);
  assert_false(values.flag);
}

static void test_file_faults(void **state)
{
  struct bn_optset_fault fault;
  struct bn_err err = {0};
  char path[64], wanted[160];

  (void)state;
  assert_int_equal(read_text("flag=maybe\n", path, &err), 0);
  assert_true(bn_optset_find_fault(set, &fault));
  assert_int_equal(fault.kind, BN_OPTSET_BAD);
  (void)snprintf(wanted, sizeof wanted,
                 "%s:1: flag=maybe: neither on nor off; allowed: on, true, 1, off, false, 0", path);
  assert_string_equal(fault.text, wanted);
  assert_int_equal(read_text("a\nb\ntext=\"open\n", path, &err), -1);
  assert_non_null(strstr(err.text, ":3: the quote in the value of 'text' is not closed"));
  assert_int_equal(read_text("config-file=x\n", path, &err), -1);
  assert_int_equal(bn_optset_read_file(set, "/nonexistent/x.cfg", &err), -1);
  assert_string_equal(err.text, "/nonexistent/x.cfg: No such file or directory");
  assert_int_equal(bn_optset_read_file(set, "/tmp", &err), -1);
}

/* In a dialect the rest of the file is skipped and the option is left empty, as the reference
   does. */
static void test_file_open_quote_in_dialect(void **state)
{
  struct bn_optset_fault fault;
  struct bn_err err = {0};
  char path[64];

  (void)state;
  (void)teardown(NULL);
  open_set(&bn_policy_10);
  assert_int_equal(read_text("size=8K\nlong-count=\"2\nsize=9K\n", path, &err), 0);
  assert_int_equal(values.size, 8192);
  assert_true(bn_optset_find_fault(set, &fault));
  assert_string_equal(fault.text, "Invalid value for --long-count: 0.\n\n");
}

static void test_file_long_line(void **state)
{
  struct bn_err err = {0};
  char path[64], *text = malloc(70000);

  (void)state;
  assert_non_null(text);
  (void)snprintf(text, 16, "text=");
  memset(text + 5, 'z', 65000);
  (void)snprintf(text + 65005, 16, "\nsize=1K\n");
  assert_int_equal(read_text(text, path, &err), 0);
  assert_int_equal(strlen(values.text), 65000);
  assert_int_equal(values.size, 1024);
  free(text);
}

BN_TESTS(optfile)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_file, setup, teardown),
      cmocka_unit_test_setup_teardown(test_file_faults, setup, teardown),
      cmocka_unit_test_setup_teardown(test_file_open_quote_in_dialect, setup, teardown),
      cmocka_unit_test_setup_teardown(test_file_long_line, setup, teardown),
      cmocka_unit_test_setup_teardown(a_carriage_return_does_not_empty_a_list, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
