/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a document of which only the totals are read: what goes, is shortened, and stays. */
#include "cm.h"

#include <stdio.h>
#include <string.h>

#include "measure/skip.h"

static void expect(const char *text, const char *want)
{
  char copy[256];
  const int len = snprintf(copy, sizeof copy, "%s", text);
  const size_t left = bn_skip_to_totals(copy, (size_t)len);

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

/* Lists are passed eight characters at a time: each text is tried at each place within a word. */
static void what_a_list_holds_does_not_end_it(void **state)
{
  static const char *const texts[] = {"]",    "}",     "[",         "{", "\\\"]",
                                      "\\\\", "|~_^]", "\303\251]", ","};
  char text[256];

  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    for (int before = 0; before < 17; before++)
      for (int after = 0; after < 17; after++) {
        (void)snprintf(text, sizeof text, "{\"a\":[{\"intervals\":[{\"%*s%s%*s\":1}, 2],\"b\":3}]}",
                       before, "", texts[i], after, "");
        expect(text, "{\"a\":[{\"intervals\":[],\"b\":3}]}");
      }
  for (int before = 0; before < 17; before++) {
    (void)snprintf(text, sizeof text, "{\"a\":[{\"intervals\":[1,%*s2,\n%*s3\n],\"b\":3}]}", before,
                   "", before, "");
    expect(text, "{\"a\":[{\"intervals\":[\n\n],\"b\":3}]}");
  }
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

static void histograms_become_texts(void **state)
{
  (void)state;
  expect("{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":[7,0,1,-2,4],\"y\" : "
         "[3]},\"d\":{\"e\":[5]}}}}]}",
         "{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":\"e^_!`b\",\"y\" : "
         "\"a\"},\"d\":{\"e\":[5]}}}}]}");
  expect("{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":[123456789012345678]}}}}]}",
         "{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":\"+5<C16;+)DBl\"}}}}]}");
}

/* The list after one that stays is shortened, so its end has been found. */
static void lists_of_another_form_stay(void **state)
{
  static const char *const lists[] = {
      "[]",        "[1, 2]",  "[ 1]",     "[1,\n2]", "[-2]",
      "[-2,-3,4]", "[1,,2]",  "[-]",      "[1.5]",   "[[1,2],[3,4]]",
      "[\"1\"]",   "[null]",  "[1,true]", "[{}]",    "[1234567890123456789]",
      "[7,00]",    "[-01,5]",
  };
  char text[128], want[128];

  (void)state;
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    (void)snprintf(text, sizeof text,
                   "{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":%s,\"y\":[3]}}}}]}", lists[i]);
    (void)snprintf(want, sizeof want,
                   "{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":%s,\"y\":\"a\"}}}}]}", lists[i]);
    expect(text, want);
  }
  expect("{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":[1,2",
         "{\"a\":[{\"b\":{\"c\":{\"histograms\":{\"x\":[1,2");
}

BN_TESTS(skip)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_of_groups_are_emptied),
      cmocka_unit_test(what_a_list_holds_does_not_end_it),
      cmocka_unit_test(all_else_stays),
      cmocka_unit_test(histograms_become_texts),
      cmocka_unit_test(lists_of_another_form_stay),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
