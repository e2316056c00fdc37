/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows every option as a fact: its value as a user would type it, who set it, and no secret. */
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

#define AT(field) .offset = offsetof(struct values, field)

static const struct bn_opt table[] = {
    {.name = "flag", .type = BN_BOOL, .def = "off", AT(flag)},
    {.name = "long-count",
     .type = BN_INT,
     .traits = BN_OPT_PER_HOST | BN_OPT_ADDED,
     .def = "1",
     AT(count)},
    {.name = "wide", .type = BN_INT, .def = "0", AT(wide), .max = INT64_MAX},
    {.name = "size", .type = BN_SIZE, .traits = BN_OPT_OBSERVES, .def = "64K", AT(size)},
    {.name = "ratio", .type = BN_DOUBLE, .def = "1.5", AT(ratio)},
    {.name = "span", .type = BN_SECONDS, .def = "10", AT(span)},
    {.name = "text", .type = BN_STRING, AT(text)},
    {.name = "kind", .type = BN_CHOICE, .def = "red", AT(kind), .choices = kinds},
    {.name = "list", .type = BN_LIST, .def = "", AT(list)},
    {.name = "all", .type = BN_LIST, .repeat = true, .def = "text", AT(all)},
    {.name = "num-count", .type = BN_INT, .def = "1", .alias_of = "long-count"},
    BN_OPT_END};

static struct values values;
static struct bn_optset *set;

static void open_set(void)
{
  struct bn_err err = {0};

  memset(&values, 0xa5, sizeof values);
  set = bn_optset_new(&bn_policy_bench);
  assert_non_null(set);
  assert_int_equal(bn_optset_add(set, "Test options", table, &values, false, &err), 0);
}

static int setup(void **state)
{
  (void)state;
  open_set();
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

/* "name=value" lines with 'd', 'f' or 'c' for where it came from; a secret has '*'. */
static void add_fact(void *arg, const struct bn_opt_fact *f)
{
  static const char letters[] = "dfc";
  char *out = arg;

  assert_true(f->secret == (f->text == NULL));
  (void)snprintf(out + strlen(out), 2048 - strlen(out), "%c %s %s=%s\n", letters[f->origin],
                 f->group != NULL ? f->group : "-", f->name, f->secret ? "*" : f->text);
}

static const char *facts(void)
{
  static char text[2048];

  text[0] = '\0';
  bn_optset_each_fact(set, add_fact, text);
  return text;
}

/* Knows a script whose text has these names. */
static bool script_reads(void *arg, const char *name)
{
  (void)arg;
  return strncmp(name, "free", 4) == 0;
}

static void test_a_number_is_shown_as_it_is_typed(void **state)
{
  static const char *const numbers[] = {"1000000", "0.1", "2147483647", "0.30000000000000004"};
  char wanted[64];

  (void)state;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    (void)put("ratio", numbers[i]);
    (void)snprintf(wanted, sizeof wanted, " ratio=%s\n", numbers[i]);
    assert_non_null(strstr(facts(), wanted));
  }
}

static void test_facts(void **state)
{
  static const struct bn_opt own[] = {
      {.name = "pin", .type = BN_STRING, .secret = true, .offset = 0},
      {.name = "old_password", .type = BN_STRING, .offset = sizeof(char *)},
      {.name = "unseen", .type = BN_STRING, .hidden = true, .offset = 2 * sizeof(char *)},
      BN_OPT_END};
  static char *texts[3];
  struct bn_err err = {0};

  (void)state;
  (void)put("size", "3145728");
  (void)put("ratio", "0.1");
  (void)put("span", "1.5m");
  (void)put("flag", "true");
  (void)put("kind", "GREEN");
  (void)put("list", "a,b");
  (void)put("all", "csv:x");
  (void)put("all", "hdr");
  (void)put("num-count", "5");
  (void)put("free", "1");
  (void)put("free", "2");
  (void)put("free-password", "3");
  (void)put("mistyped", "4");
  (void)put("pin", "4711");
  bn_optset_set_from_file(set, "wide", "1000", "a.conf", 3);
  bn_optset_set_from_file(set, "unknown", "1", "a.conf", 4);
  bn_optset_resolve_aliases(set, NULL, NULL);
  assert_int_equal(bn_optset_add(set, "own", own, texts, false, &err), 0);
  bn_optset_mark_read(set, script_reads, NULL);
  assert_string_equal(facts(), "c Test options flag=on\n"
                               "c Test options long-count=5\n"
                               "f Test options wide=1000\n"
                               "c Test options size=3M\n"
                               "c Test options ratio=0.1\n"
                               "c Test options span=90\n"
                               "d Test options text=\n"
                               "c Test options kind=green\n"
                               "c Test options list=a,b\n"
                               "c Test options all=csv:x,hdr\n"
                               "c own pin=*\n"
                               "d own old_password=*\n"
                               "c - free=2\n"
                               "c - free-password=*\n"
                               "c - mistyped=*\n");
  assert_true(bn_optset_is_secret(set, "pin"));
  assert_true(bn_optset_is_secret(set, "Free_password"));
  assert_true(bn_optset_is_secret(set, "oldpasword"));
  assert_true(bn_optset_is_secret(set, "password-file")); /* nobody says that it is a path */
  assert_true(bn_optset_is_secret(set, "long-counts"));
}

/* A script's option of a general name keeps what the general one is to others. */
static void test_traits(void **state)
{
  static const struct bn_opt own[] = {
      {.name = "text", .type = BN_STRING, .traits = BN_OPT_KEEPS_DATA, .offset = 0},
      {.name = "size", .type = BN_STRING, .offset = sizeof(char *)},
      BN_OPT_END};
  static char *texts[2];
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(bn_optset_get_traits(set, "long_count"), BN_OPT_PER_HOST | BN_OPT_ADDED);
  assert_int_equal(bn_optset_get_traits(set, "num-count"), BN_OPT_PER_HOST | BN_OPT_ADDED);
  assert_int_equal(bn_optset_get_traits(set, "text"), 0);
  assert_int_equal(bn_optset_get_traits(set, "nobody"), 0);
  assert_int_equal(bn_optset_add(set, "own", own, texts, true, &err), 0);
  assert_int_equal(bn_optset_get_traits(set, "text"), BN_OPT_KEEPS_DATA);
  assert_int_equal(bn_optset_get_traits(set, "size"), BN_OPT_OBSERVES);
}

static void test_facts_of_defaults(void **state)
{
  (void)state;
  (void)put("long-count", "9");
  (void)put("long-count", "1");
  assert_string_equal(facts(), "d Test options flag=off\n"
                               "c Test options long-count=1\n"
                               "d Test options wide=0\n"
                               "d Test options size=64K\n"
                               "d Test options ratio=1.5\n"
                               "d Test options span=10\n"
                               "d Test options text=\n"
                               "d Test options kind=red\n"
                               "d Test options list=\n"
                               "d Test options all=text\n");
}

BN_TESTS(opt_facts)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_number_is_shown_as_it_is_typed, setup, teardown),
      cmocka_unit_test_setup_teardown(test_facts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_traits, setup, teardown),
      cmocka_unit_test_setup_teardown(test_facts_of_defaults, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
