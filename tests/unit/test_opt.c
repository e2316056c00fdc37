/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows how options are declared, set, refused, kept for later and listed. */
#include "cm.h"

#include <stdio.h>
#include <string.h>

#include "dialect/dialect.h"
#include "option/opt.h"

struct values {
  bool flag;
  int64_t count, wide;
  uint64_t size;
  double ratio, span;
  char *text;
  int kind;
  struct bn_list list, all;
};

static const char *const kinds[] = {"red", "green", "blue", NULL};

static const struct bn_opt table[] = {{.name = "flag",
                                       .type = BN_BOOL,
                                       .in = BN_IN_ALL,
                                       .def = "off",
                                       .offset = offsetof(struct values, flag),
                                       .help = "a flag"},
                                      {.name = "long-count",
                                       .type = BN_INT,
                                       .in = BN_IN_1X,
                                       .def = "1",
                                       .def05 = "7",
                                       .offset = offsetof(struct values, count),
                                       .min = 1,
                                       .max = 100,
                                       .range_text = "Invalid value for --long-count: %s.\n\n",
                                       .help = "a count"},
                                      {.name = "wide",
                                       .type = BN_INT,
                                       .in = BN_IN_11,
                                       .def = "0",
                                       .offset = offsetof(struct values, wide),
                                       .min = 0,
                                       .max = INT64_MAX,
                                       .help = "a wide one"},
                                      {.name = "size",
                                       .type = BN_SIZE,
                                       .in = BN_IN_ALL,
                                       .def = "64K",
                                       .offset = offsetof(struct values, size),
                                       .min = 1,
                                       .max = INT64_MAX,
                                       .range_text = "Invalid value for size: %s.",
                                       .help = "bytes"},
                                      {.name = "ratio",
                                       .type = BN_DOUBLE,
                                       .in = BN_IN_ALL,
                                       .def = "1.5",
                                       .offset = offsetof(struct values, ratio),
                                       .help = "a ratio"},
                                      {.name = "span",
                                       .type = BN_SECONDS,
                                       .def = "10",
                                       .offset = offsetof(struct values, span),
                                       .min = 0,
                                       .max = 1000,
                                       .help = "seconds"},
                                      {.name = "text",
                                       .type = BN_STRING,
                                       .in = BN_IN_ALL,
                                       .offset = offsetof(struct values, text),
                                       .help = "a text"},
                                      {.name = "kind",
                                       .type = BN_CHOICE,
                                       .in = BN_IN_ALL,
                                       .def = "red",
                                       .def10 = "blue",
                                       .offset = offsetof(struct values, kind),
                                       .choices = kinds,
                                       .help = "a kind"},
                                      {.name = "list",
                                       .type = BN_LIST,
                                       .in = BN_IN_ALL,
                                       .def = "",
                                       .offset = offsetof(struct values, list),
                                       .help = "a list"},
                                      {.name = "all",
                                       .type = BN_LIST,
                                       .repeat = true,
                                       .def = "text",
                                       .offset = offsetof(struct values, all),
                                       .help = "all of them"},
                                      {.name = "num-count",
                                       .type = BN_INT,
                                       .in = BN_IN_10 | BN_IN_05,
                                       .def = "1",
                                       .min = 1,
                                       .max = 100,
                                       .alias_of = "long-count",
                                       .deprecated_text = "--num-count is deprecated",
                                       .help = "old"},
                                      BN_OPT_END};

static struct values values;
static struct bn_optset *set;

static void open_set(const struct bn_policy *policy)
{
  struct bn_err err = {0};

  memset(&values, 0xa5, sizeof values);
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

static enum bn_optset_error put(const char *name, const char *value)
{
  char typed[256];

  (void)snprintf(typed, sizeof typed, "--%s%s%s", name, value != NULL ? "=" : "",
                 value != NULL ? value : "");
  return bn_optset_set(set, name, value, typed);
}

static const char *fault_text(void)
{
  static struct bn_optset_fault fault;

  return bn_optset_find_fault(set, &fault) ? fault.text : NULL;
}

/* The first unknown name or bad boolean, as typed. */
static const char *unknown(void)
{
  static struct bn_optset_fault fault;

  return bn_optset_find_unknown(set, false, &fault) ? fault.text : NULL;
}

static void test_defaults(void **state)
{
  (void)state;
  assert_false(values.flag);
  assert_int_equal(values.count, 1);
  assert_int_equal(values.wide, 0);
  assert_int_equal(values.size, 65536);
  assert_true(values.ratio > 1.49 && values.ratio < 1.51);
  assert_null(values.text);
  assert_int_equal(values.kind, 0);
  assert_int_equal(values.list.n, 0);
  assert_int_equal(values.all.n, 1);
  assert_string_equal(values.all.item[0], "text");
  assert_null(fault_text());
}

static void test_defaults_of_dialects(void **state)
{
  (void)state;
  (void)teardown(NULL);
  open_set(&bn_policy_10);
  assert_int_equal(values.count, 1);
  assert_int_equal(values.kind, 2);
  (void)teardown(NULL);
  open_set(&bn_policy_05);
  assert_int_equal(values.count, 7);
  assert_int_equal(values.kind, 0);
}

static void test_names(void **state)
{
  (void)state;
  assert_int_equal(put("long_count", "5"), BN_OPTSET_OK);
  assert_int_equal(values.count, 5);
  assert_int_equal(put("long-count", "6"), BN_OPTSET_OK);
  assert_int_equal(values.count, 6);
  assert_int_equal(put("Long-count", "7"), BN_OPTSET_UNKNOWN);
  assert_int_equal(put("long-coun", "7"), BN_OPTSET_UNKNOWN);
  assert_int_equal(values.count, 6);
  assert_true(bn_optset_is_given(set, "long_count"));
  assert_false(bn_optset_is_given(set, "size"));
}

static void test_booleans(void **state)
{
  static const struct {
    const char *text;
    int result;
    bool value;
  } cases[] = {{NULL, BN_OPTSET_OK, true},   {"off", BN_OPTSET_OK, false},
               {"on", BN_OPTSET_OK, true},   {"0", BN_OPTSET_OK, false},
               {"1", BN_OPTSET_OK, true},    {"false", BN_OPTSET_OK, false},
               {"true", BN_OPTSET_OK, true}, {"", BN_OPTSET_BOOL, true},
               {"ON", BN_OPTSET_BOOL, true}, {"yes", BN_OPTSET_BOOL, true}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(put("flag", cases[i].text), cases[i].result);
    assert_int_equal(values.flag, cases[i].value);
  }
  assert_string_equal(unknown(),
                      "--flag=: neither on nor off; allowed: on, true, 1, off, false, 0");
}

static void test_integers(void **state)
{
  static const char *const malformed[] = {"abc", "1e3", "0x10",        "5 ",
                                          "9.9", "1K",  "99999999999", "-"};

  (void)state;
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
    assert_int_equal(put("long-count", malformed[i]), BN_OPTSET_BAD);
  assert_int_equal(values.count, 1);
  assert_int_equal(put("long-count", "abc"), BN_OPTSET_BAD);
  assert_string_equal(fault_text(), "--long-count=abc: not a whole number; allowed: 1 to 100");
  assert_int_equal(put("long-count", "0"), BN_OPTSET_RANGE);
  assert_string_equal(fault_text(), "--long-count=0: out of range; allowed: 1 to 100");
  assert_int_equal(put("long-count", NULL), BN_OPTSET_BAD);
  assert_string_equal(fault_text(), "--long-count: no value; allowed: 1 to 100");
  assert_int_equal(put("long-count", "101"), BN_OPTSET_RANGE);
  assert_int_equal(put("long-count", " +100"), BN_OPTSET_OK);
  assert_int_equal(values.count, 100);
  assert_null(fault_text());
  assert_int_equal(put("wide", "99999999999"), BN_OPTSET_OK);
  assert_true(values.wide == 99999999999);
  assert_int_equal(put("wide", "-1"), BN_OPTSET_RANGE);
  assert_string_equal(fault_text(), "--wide=-1: out of range; allowed: 0 or more");
}

static void test_sizes(void **state)
{
  struct bn_optset_fault fault;

  (void)state;
  assert_int_equal(put("size", "2g"), BN_OPTSET_OK);
  assert_true(values.size == (uint64_t)2 << 30);
  assert_int_equal(put("size", "64KB"), BN_OPTSET_OK);
  assert_int_equal(values.size, 65536);
  assert_int_equal(put("size", "16X"), BN_OPTSET_RANGE);
  assert_int_equal(values.size, 65536);
  assert_true(bn_optset_find_fault(set, &fault));
  assert_string_equal(fault.text,
                      "--size=16X: not a size; allowed: 1 or more bytes, also with K, M, G or T");
  assert_int_equal(put("size", "0"), BN_OPTSET_RANGE);
}

static void test_numbers(void **state)
{
  (void)state;
  assert_int_equal(put("ratio", "0.25"), BN_OPTSET_OK);
  assert_true(values.ratio > 0.249 && values.ratio < 0.251);
  assert_int_equal(put("ratio", "1K"), BN_OPTSET_OK);
  assert_true(values.ratio > 1023.9 && values.ratio < 1024.1);
  assert_int_equal(put("ratio", "abc"), BN_OPTSET_BAD);
  assert_int_equal(put("ratio", "nan"), BN_OPTSET_BAD);
  assert_int_equal(put("span", "250ms"), BN_OPTSET_OK);
  assert_true(values.span > 0.2499 && values.span < 0.2501);
  assert_int_equal(put("span", "-1"), BN_OPTSET_RANGE);
  assert_int_equal(put("span", "1e9"), BN_OPTSET_RANGE);
  assert_int_equal(put("span", "1x"), BN_OPTSET_BAD);
}

static void test_texts_and_choices(void **state)
{
  (void)state;
  assert_int_equal(put("text", "a=b, c"), BN_OPTSET_OK);
  assert_string_equal(values.text, "a=b, c");
  assert_int_equal(put("text", ""), BN_OPTSET_OK);
  assert_null(values.text);
  assert_int_equal(put("kind", "GREEN"), BN_OPTSET_OK);
  assert_int_equal(values.kind, 1);
  assert_int_equal(put("kind", "pink"), BN_OPTSET_RANGE);
  assert_int_equal(values.kind, 1);
  assert_string_equal(fault_text(), "--kind=pink: unknown; allowed: red, green, blue");
}

static void test_lists(void **state)
{
  (void)state;
  assert_int_equal(put("list", "p,q,,r"), BN_OPTSET_OK);
  assert_int_equal(values.list.n, 3);
  assert_string_equal(values.list.item[2], "r");
  assert_int_equal(put("list", "x"), BN_OPTSET_OK);
  assert_int_equal(values.list.n, 1);
  assert_int_equal(put("list", ""), BN_OPTSET_OK);
  assert_int_equal(values.list.n, 0);
  assert_int_equal(put("all", "json:a.json,b"), BN_OPTSET_OK);
  assert_int_equal(put("all", "csv"), BN_OPTSET_OK);
  assert_int_equal(values.all.n, 3);
  assert_string_equal(values.all.item[0], "json:a.json");
  assert_string_equal(values.all.item[2], "csv");
}

struct late {
  int64_t file_num;
  bool on;
};

static void test_pending(void **state)
{
  static const struct bn_opt more[] = {
      {.name = "file-num", .type = BN_INT, .def = "128", .offset = offsetof(struct late, file_num)},
      {.name = "on", .type = BN_BOOL, .def = "off", .offset = offsetof(struct late, on)},
      BN_OPT_END};
  struct late late;
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(put("file_num", "1"), BN_OPTSET_UNKNOWN);
  assert_int_equal(put("on", "maybe"), BN_OPTSET_UNKNOWN);
  assert_int_equal(put("file-num", "4"), BN_OPTSET_UNKNOWN);
  assert_int_equal(put("longcount", "4"), BN_OPTSET_UNKNOWN);
  assert_string_equal(unknown(), "--file_num=***: no such option");
  assert_int_equal(bn_optset_add(set, "late options", more, &late, false, &err), 0);
  assert_int_equal(late.file_num, 4);
  assert_false(late.on);
  assert_string_equal(unknown(),
                      "--on=maybe: neither on nor off; allowed: on, true, 1, off, false, 0");
  assert_int_equal(bn_optset_add(set, "again", more, &late, false, &err), -1);
  assert_non_null(strstr(err.text, "--file-num"));
  bn_optset_free(set);
  open_set(&bn_policy_bench);
  (void)put("longcount", "4");
  assert_string_equal(unknown(), "--longcount=***: no such option; did you mean --long-count?");
  bn_optset_free(set);
  open_set(&bn_policy_bench);
  (void)put("my-password", "4711");
  assert_string_equal(unknown(), "--my-password=***: no such option");
  assert_string_equal(bn_optset_find_nearest(set, "oltp-longcount"), "long-count");
  assert_string_equal(bn_optset_find_nearest(set, "size"), "size");
  assert_null(bn_optset_find_nearest(set, "something-else"));
  assert_null(bn_optset_find_nearest(set, ""));
}

static void find_count(void *arg, const char *name, const struct bn_opt *o, const void *value)
{
  if (strcmp(name, "long_count") == 0 || strcmp(name, "num_count") == 0)
    *(double *)arg +=
        o->type == BN_DOUBLE ? *(const double *)value * 100 : (double)*(const int64_t *)value;
}

static void test_override(void **state)
{
  static const struct bn_opt own[] = {{.name = "long_count", .type = BN_DOUBLE, .def = "0.5"},
                                      BN_OPT_END};
  double value = 0, sum = 0;
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(bn_optset_add(set, "script", own, &value, true, &err), 0);
  assert_true(value > 0.49 && value < 0.51);
  (void)teardown(NULL);
  open_set(&bn_policy_bench);
  (void)put("long-count", "3");
  assert_int_equal(bn_optset_add(set, "script", own, &value, true, &err), 0);
  assert_true(value > 2.99 && value < 3.01);
  assert_int_equal(values.count, 3);
  bn_optset_each(set, find_count, &sum);
  /* The script's 3 as a double, and 3 threads under the old name, which is the engine's. */
  assert_true(sum > 302.9 && sum < 303.1);
}

static void count_warning(void *arg, const char *text)
{
  assert_string_equal(text, "--num-count is deprecated");
  ++*(int *)arg;
}

static void test_aliases(void **state)
{
  static const struct {
    const char *own, *alias;
    int count, warnings;
  } cases[] = {
      {NULL, "4", 4, 1}, {"3", "4", 4, 1}, {"3", "1", 3, 0}, {NULL, "1", 1, 0}, {"3", NULL, 3, 0}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int warnings = 0;
    double sum = 0;

    (void)teardown(NULL);
    open_set(&bn_policy_10);
    if (cases[i].alias != NULL)
      (void)put("num-count", cases[i].alias);
    if (cases[i].own != NULL)
      (void)put("long-count", cases[i].own);
    bn_optset_resolve_aliases(set, count_warning, &warnings);
    assert_int_equal(values.count, cases[i].count);
    assert_int_equal(warnings, cases[i].warnings);
    assert_true(bn_optset_is_given(set, "long-count"));
    bn_optset_each(set, find_count, &sum);
    assert_int_equal((int)sum, 2 * cases[i].count);
  }
}

static const char *help_text(void)
{
  static const char *const groups[] = {"Test options"};
  static char text[4096];
  FILE *out = fmemopen(text, sizeof text, "w");

  assert_non_null(out);
  bn_optset_print_help(set, groups, 1, out);
  (void)fclose(out);
  return text;
}

static void test_help_lists(void **state)
{
  (void)state;
  (void)teardown(NULL);
  open_set(&bn_policy_10);
  assert_string_equal(help_text(), "  --flag[=on|off]   a flag [off]\n"
                                   "  --long-count=N    a count [1]\n"
                                   "  --size=SIZE       bytes [64K]\n"
                                   "  --ratio=N         a ratio [1.5]\n"
                                   "  --text=STRING     a text\n"
                                   "  --kind=STRING     a kind [blue]\n"
                                   "  --list=[LIST,...] a list []\n"
                                   "  --num-count=N     old [1]\n");
  (void)teardown(NULL);
  open_set(&bn_policy_05);
  assert_string_equal(help_text(), "  --flag=[on|off]    a flag [off]\n"
                                   "  --num-count=N      a count [1]\n"
                                   "  --size=SIZE        bytes [64K]\n"
                                   "  --ratio=N          a ratio [1.5]\n"
                                   "  --text=STRING      a text\n"
                                   "  --kind=STRING      a kind [red]\n"
                                   "  --list=[LIST,...]  a list []\n");
  (void)teardown(NULL);
  open_set(&bn_policy_bench);
  assert_non_null(strstr(help_text(), "  --span=N          seconds [10]\n"));
  assert_non_null(strstr(help_text(), "  --num-count=N     old [1]\n"));
}

BN_TESTS(opt)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_defaults, setup, teardown),
      cmocka_unit_test_setup_teardown(test_defaults_of_dialects, setup, teardown),
      cmocka_unit_test_setup_teardown(test_names, setup, teardown),
      cmocka_unit_test_setup_teardown(test_booleans, setup, teardown),
      cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_texts_and_choices, setup, teardown),
      cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pending, setup, teardown),
      cmocka_unit_test_setup_teardown(test_override, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aliases, setup, teardown),
      cmocka_unit_test_setup_teardown(test_help_lists, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
