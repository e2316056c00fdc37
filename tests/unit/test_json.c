/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that the JSON module keeps every value it can keep, and refuses the others with a line. */
#include <math.h>
#include <string.h>

#include "cm.h"
#include "measure/json.h"

static struct bn_node *parse(const char *text)
{
  struct bn_err err = {0};
  struct bn_node *n = bn_node_parse(text, strlen(text), &err);

  if (n == NULL)
    fail_msg("%s: %s", text, err.text);
  return n;
}

static void assert_print(const struct bn_node *n, const char *wanted)
{
  size_t len = 0;
  char *text = bn_node_print(n, 0, &len);

  assert_non_null(text);
  assert_string_equal(text, wanted);
  assert_int_equal(len, strlen(wanted));
  free(text);
}

static void values_come_back_as_they_were(void **state)
{
  struct bn_node *map = bn_node_map(), *list = bn_node_list(), *back;
  static const double reals[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -1};
  char *text;
  size_t len = 0;

  (void)state;
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
    assert_int_equal(bn_node_append(list, bn_node_real(reals[i])), 0);
  assert_int_equal(bn_node_set(map, "reals", list), 0);
  assert_int_equal(bn_node_set(map, "most", bn_node_integer(INT64_MAX)), 0);
  assert_int_equal(bn_node_set(map, "least", bn_node_integer(INT64_MIN)), 0);
  assert_int_equal(bn_node_set(map, "text", bn_node_utf8("a\"\\\n\xc3\xa4")), 0);
  assert_int_equal(bn_node_set(map, "yes", bn_node_boolean(true)), 0);
  assert_int_equal(bn_node_set(map, "null", bn_node_null()), 0);
  text = bn_node_print(map, 2, &len);
  assert_non_null(text);
  back = parse(text);
  free(text);
  bn_node_free(map);
  assert_int_equal(bn_node_count(back), 6);
  assert_true(bn_node_get_integer(bn_node_get(back, "most")) == INT64_MAX);
  assert_true(bn_node_get_integer(bn_node_get(back, "least")) == INT64_MIN);
  assert_string_equal(bn_node_get_text(bn_node_get(back, "text")), "a\"\\\n\xc3\xa4");
  assert_true(bn_node_get_boolean(bn_node_get(back, "yes")));
  assert_int_equal(bn_node_type_of(bn_node_get(back, "null")), BN_NODE_NULL);
  assert_null(bn_node_get(back, "other"));
  assert_null(bn_node_get_text(bn_node_get(back, "most")));
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    const double x = bn_node_get_real(bn_node_get_at(bn_node_get(back, "reals"), i));

    assert_memory_equal(&x, &reals[i], sizeof x);
  }
  assert_null(bn_node_get_at(bn_node_get(back, "reals"), 5));
  bn_node_free(back);
}

static void what_cannot_be_kept_is_no_value(void **state)
{
  struct bn_node *map = bn_node_map();

  (void)state;
  assert_null(bn_node_utf8("\xff"));
  assert_null(bn_node_real(HUGE_VAL));
  assert_null(bn_node_real(NAN));
  assert_int_equal(bn_node_set(map, "x", bn_node_real(HUGE_VAL)), -1);
  assert_print(map, "{}");
  bn_node_free(map);
  bn_node_free(NULL);
}

static void missing_keys_are_added_at_every_depth(void **state)
{
  struct bn_node *into = parse("{\"a\":1,\"b\":{\"c\":2},\"l\":[1],\"m\":[{\"g\":1}]}");
  struct bn_node *from = parse("{\"a\":9,\"b\":{\"c\":9,\"d\":3},\"l\":[7,8],\"m\":[{\"h\":5}],"
                               "\"e\":{\"f\":4}}");

  (void)state;
  bn_node_complete(into, from);
  bn_node_free(from);
  assert_print(into, "{\"a\":1,\"b\":{\"c\":2,\"d\":3},\"l\":[1],"
                     "\"m\":[{\"g\":1,\"h\":5}],\"e\":{\"f\":4}}");
  bn_node_free(into);
}

static void keys_that_were_not_there_are_removed_at_every_depth(void **state)
{
  struct bn_node *into = parse("{\"a\":1,\"b\":{\"c\":2,\"d\":3},\"l\":[{\"x\":1}],"
                               "\"m\":[{\"g\":1,\"h\":5}],\"e\":{\"f\":4},\"n\":[]}");
  struct bn_node *from = parse("{\"a\":null,\"b\":{\"c\":9},\"l\":[7,8],\"m\":[{\"h\":9}],"
                               "\"y\":1}");

  (void)state;
  bn_node_confine(into, NULL);
  assert_int_equal(bn_node_count(into), 6);
  bn_node_confine(into, from);
  bn_node_free(from);
  assert_print(into, "{\"a\":1,\"b\":{\"c\":2},\"l\":[{\"x\":1}],\"m\":[{\"h\":5}],\"n\":[]}");
  bn_node_free(into);
}

static void hostile_texts_are_refused_with_a_line(void **state)
{
  char deep[8192];
  const char *const bad[] = {"",
                             "1",
                             "{\"a\":1",
                             "{\n\"a\":1,\n\"a\":2}",
                             "{\"a\":1} x",
                             "{\"a\":99999999999999999999}",
                             "{\"a\":1e999}",
                             "{\"a\":nan}",
                             "{\"a\":\"\xff\"}",
                             "{\"a\":\"\\u0000\"}",
                             "{\"a\\u0000b\":1}",
                             deep};

  (void)state;
  memset(deep, '[', sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct bn_err err = {0};

    assert_null(bn_node_parse(bad[i], strlen(bad[i]), &err));
    assert_non_null(strstr(err.text, "line "));
  }
}

BN_TESTS(json)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_come_back_as_they_were),
      cmocka_unit_test(what_cannot_be_kept_is_no_value),
      cmocka_unit_test(missing_keys_are_added_at_every_depth),
      cmocka_unit_test(keys_that_were_not_there_are_removed_at_every_depth),
      cmocka_unit_test(hostile_texts_are_refused_with_a_line),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
