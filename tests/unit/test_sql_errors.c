/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of errors to ignore: what each option takes, and which failures match. */
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "sql/errors.h"

enum { MAX = 4, FAILURES = 6 };

static const struct bn_policy policy = {.plain_errors = false};

struct conf {
  int64_t other;
  struct bn_list ignored;
};

static const struct bn_opt options[] = {
    {.name = "toy-other", .type = BN_INT, .offset = offsetof(struct conf, other)},
    {.name = "toy-ignore", .type = BN_LIST, .offset = offsetof(struct conf, ignored)},
    BN_OPT_END};

static const struct {
  struct bn_sql_diag diag;
  enum bn_sql_class class;
} failures[FAILURES] = {
    {{.code = 1213, .state = "40001"}, BN_CLASS_DEADLOCK},
    {{.code = 1205, .state = "HY000"}, BN_CLASS_LOCK_TIMEOUT},
    {{.code = 0, .state = "40P01"}, BN_CLASS_DEADLOCK},
    {{.code = 23505, .state = ""}, BN_CLASS_OTHER},
    {{.code = 0, .state = "23505"}, BN_CLASS_DUPLICATE},
    {{.code = 0, .state = ""}, BN_CLASS_OTHER},
};

/* A letter for each failure: 'x' if it matches. */
static const char *matched(const struct bn_sql_errors *e)
{
  static char text[FAILURES + 1];

  for (size_t i = 0; i < FAILURES; i++)
    text[i] = bn_sql_errors_have(e, &failures[i].diag, failures[i].class) ? 'x' : '.';
  return text;
}

static struct bn_list list_of(const char *const *items, char copy[MAX][16], char *item[MAX])
{
  struct bn_list list = {.item = item};

  for (; list.n < MAX && items[list.n] != NULL; list.n++) {
    (void)snprintf(copy[list.n], sizeof copy[list.n], "%s", items[list.n]);
    item[list.n] = copy[list.n];
  }
  return list;
}

static void parse(struct bn_sql_errors *e, const char *const *items)
{
  char copy[MAX][16], *item[MAX];
  const struct bn_list list = list_of(items, copy, item);
  struct bn_err err = {0};

  assert_int_equal(bn_sql_errors_parse(e, &policy, &list, &err), 0);
}

static void reads_the_common_option(void **state)
{
  static const struct {
    const char *item[MAX], *expected;
  } rows[] = {
      {{NULL}, "......"},
      {{"1205", "40P01"}, ".xx..."},
      {{"Deadlock"}, "x.x..."},
      {{"lock_timeout", "duplicate"}, ".x..x."},
      {{"Lock-Timeout"}, ".x...."},
      {{"OTHER"}, "...x.x"},
      {{"23505"}, "...xx."}, /* may be both */
      {{"40001"}, "x....."},
      {{"0"}, "......"},
      {{"99999999999999999999"}, "......"},
      {{"ALL"}, "xxxxxx"},
  };
  struct bn_sql_errors e = {0};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    parse(&e, rows[i].item);
    assert_string_equal(matched(&e), rows[i].expected);
  }
  bn_sql_errors_free(&e);
}

static void reads_a_driver_s_option(void **state)
{
  static const struct {
    struct bn_sql_ignore ignore;
    const char *item[MAX], *expected; /* matches, or the complaint */
  } rows[] = {
      {{0}, {"1213"}, "......"}, /* there is no option */
      {{.classes = 1u << BN_CLASS_DUPLICATE}, {NULL}, "....x."},
      {{.option = "toy-ignore", .key = BN_KEY_CODE}, {"1213", "1205"}, "xx...."},
      {{.option = "toy-ignore", .key = BN_KEY_CODE}, {"23505"}, "...x.."},
      {{.option = "toy-ignore", .key = BN_KEY_CODE}, {"all"}, "xxxxxx"},
      {{.option = "toy-ignore", .key = BN_KEY_STATE}, {"23505", "40P01"}, "..x.x."},
      {{.option = "toy-ignore", .key = BN_KEY_STATE}, {"all"}, "xxxxxx"},
      {{.option = "toy-ignore", .key = BN_KEY_CODE},
       {"ALL"},
       "Invalid value for --toy-ignore: 'ALL' is no error number and not 'all'"},
      {{.option = "toy-ignore", .key = BN_KEY_STATE},
       {"40P01", "1213"},
       "Invalid value for --toy-ignore: '1213' is no SQLSTATE and not 'all'"},
  };
  struct bn_sql_errors e = {0};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct bn_driver ops = {.name = "toy", .options = options, .ignore = rows[i].ignore};
    char copy[MAX][16], *item[MAX];
    const struct conf conf = {.ignored = list_of(rows[i].item, copy, item)};
    struct bn_err err = {0};
    const int rc = bn_sql_errors_read_driver(&e, &ops, &conf, &err);

    assert_string_equal(rc == 0 ? matched(&e) : err.text, rows[i].expected);
  }
  bn_sql_errors_free(&e);
}

/* Of a driver that knows 2013 and 57P01 as lost connections. */
static enum bn_sql_class classify(const struct bn_sql_diag *d)
{
  return d->code == 2013 || strcmp(d->state, "57P01") == 0 ? BN_CLASS_CONNECTION : BN_CLASS_OTHER;
}

static void knows_whether_a_loss_is_named(void **state)
{
  static const struct {
    const char *item[MAX];
    bool expected;
  } rows[] = {
      {{"1213", "57P01"}, true}, {{"all"}, false},   {{"connection"}, false}, {{"2013"}, false},
      {{"deadlock"}, false},     {{"40001"}, false}, {{NULL}, false},
  };
  const struct bn_driver ops = {.classify = classify}, plain = {0};
  struct bn_sql_errors e = {0};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    parse(&e, rows[i].item);
    assert_int_equal(bn_sql_errors_include_loss(&e, &ops), rows[i].expected);
    assert_false(bn_sql_errors_include_loss(&e, &plain));
  }
  bn_sql_errors_free(&e);
}

BN_TESTS(sql_errors)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_the_common_option),
      cmocka_unit_test(reads_a_driver_s_option),
      cmocka_unit_test(knows_whether_a_loss_is_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
