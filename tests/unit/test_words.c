/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that are split into words: blanks, quotes, and what has no end. */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "option/words.h"

static void splits(const char *text, const char *const *want)
{
  struct bn_list got;
  struct bn_err err = {0};

  assert_int_equal(bn_words_split(text, &got, &err), 0);
  for (size_t i = 0; i < got.n; i++) {
    assert_non_null(want[i]);
    assert_string_equal(got.item[i], want[i]);
  }
  assert_null(want[got.n]);
  bn_words_done(&got);
}

static void blanks_separate(void **state)
{
  (void)state;
  splits("", (const char *const[]){NULL});
  splits(" \t\n ", (const char *const[]){NULL});
  splits("--mysql-host=one  --threads=2\n",
         (const char *const[]){"--mysql-host=one", "--threads=2", NULL});
}

static void quotes_keep_blanks(void **state)
{
  (void)state;
  splits("--x='a b' \"c 'd'\" ''", (const char *const[]){"--x=a b", "c 'd'", "", NULL});
  splits("a'b'\"c\"d\\n", (const char *const[]){"abcd\\n", NULL});
}

static void a_quote_needs_an_end(void **state)
{
  struct bn_list got;
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(bn_words_split("one 'two three", &got, &err), -1);
  assert_string_equal(err.text, "the quote ' has no end");
  assert_int_equal(got.n, 0);
  assert_int_equal(bn_words_split("--x=\"", &got, &err), -1);
  assert_string_equal(err.text, "the quote \" has no end");
}

static void masks(const char *text, const char *want)
{
  char *got = bn_words_mask(text);

  assert_string_equal(got, want);
  free(got);
}

static void what_stands_behind_a_password_stays(void **state)
{
  (void)state;
  masks("a: ./a.lua --rate='1;'; b: ./b.lua", "a: ./a.lua --rate='1;'; b: ./b.lua");
  masks("a: ./a.lua --mysql-password=s --x='a b'; b: ./b.lua --threads=2",
        "a: ./a.lua --mysql-password=*** '--x=a b'; b: ./b.lua --threads=2");
  masks("a: ./a.lua --connect=mysql://u:s@h/d; b: ./b.lua --pgsql-password='s t'",
        "a: ./a.lua --connect=mysql://u:***; b: ./b.lua --pgsql-password=***");
  masks("a: ./a.lua --mysql-password='s;';b: ./b.lua --pgsql-password t --threads=2",
        "a: ./a.lua --mysql-password=***; b: ./b.lua --pgsql-password=*** *** --threads=2");
  masks("a: ./token.lua '' --mysql-password=s; b: ./secrets.lua --x=''",
        "a: ./token.lua '' --mysql-password=***; b: ./secrets.lua --x=");
  masks("a: ./a.lua --x=' --mysql-password=s", "a: ./a.lua --x=' --mysql-password=***");
}

BN_TESTS(words)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blanks_separate),
      cmocka_unit_test(quotes_keep_blanks),
      cmocka_unit_test(a_quote_needs_an_end),
      cmocka_unit_test(what_stands_behind_a_password_stays),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
