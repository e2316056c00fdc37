/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a document without its intervals: what goes, and what stays. */
#include "cm.h"

#include <stdio.h>
#include <string.h>

#include "measure/skip.h"

static void expect(const char *text, const char *want)
{
  char copy[256];
  const int len = snprintf(copy, sizeof copy, "%s", text);
  const size_t left = bn_skip_records(copy, (size_t)len);

  copy[left] = '\0';
  assert_string_equal(copy, want);
}

static void lists_of_groups_are_emptied(void **state)
{
  (void)state;
  expect("{\"a\":[{\"intervals\":[{\"x\":[1]},2],\"b\":3},{\"checkpoints\" : [{}]}],\"c\":4}",
         "{\"a\":[{\"intervals\":[],\"b\":3},{\"checkpoints\" : []}],\"c\":4}");
  expect("{\"a\":[{\"intervals\":\n[\n{\"x\":\n1},2\n],\n\"b\":3}]}",
         "{\"a\":[{\"intervals\":\n[\n\n\n],\n\"b\":3}]}");
  expect("{\"a\":[{\"intervals\":[\"]\\\"]\",\"\\\\\"],\"b\":3}]}",
         "{\"a\":[{\"intervals\":[],\"b\":3}]}");
}

static void all_else_stays(void **state)
{
  static const char *const texts[] = {
      "",
      "{\"intervals\":[1]}",
      "{\"a\":{\"intervals\":[1]}}",
      "{\"a\":[{\"b\":{\"intervals\":[1]}}]}",
      "{\"a\":[{\"b\":\"intervals\",\"c\":[1]}]}",
      "{\"a\":[{\"b\":\"\\\"intervals\",\"c\":[1]}]}",
      "{\"a\":[{\"intervals\":{\"x\":1},\"checkpoints\":7}]}",
      "{\"a\":[{\"intervals\":[1,{\"x\":[2]}",
      "{\"a\":[{\"intervals\":[1,\"]",
      "{\"a\":[{\"intervals\":",
      "{\"a\":[{\"intervals\"",
      "{\"a\":[{\"intervals\\",
      "]]]\"}",
  };

  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    expect(texts[i], texts[i]);
}

BN_TESTS(skip)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_of_groups_are_emptied),
      cmocka_unit_test(all_else_stays),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
