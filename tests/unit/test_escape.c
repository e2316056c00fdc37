/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows which bytes of a foreign text are escaped, which are kept, and where a copy is cut. */
#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

#include "cm.h"

static void assert_escaped(const char *text, const char *keep, const char *expected)
{
  char out[256];

  assert_int_equal(bn_escape(out, sizeof out, text, keep), strlen(expected));
  assert_string_equal(out, expected);
}

static void control_characters_are_escaped(void **state)
{
  (void)state;
  assert_escaped("", "", "");
  assert_escaped("plain, ~ and \\x1b", "", "plain, ~ and \\x1b");
  assert_escaped("\x1b[2J\a\r\n\t\x7f", "", "\\x1b[2J\\x07\\x0d\\x0a\\x09\\x7f");
  assert_escaped("a\nb\tc\r", "\n\t", "a\nb\tc\\x0d");
  assert_escaped("\xc2\x9b[2J", "", "\\xc2\\x9b[2J"); /* CSI of C1 */
  assert_escaped("\xc2\x80\xc2\x9f", "", "\\xc2\\x80\\xc2\\x9f");
  assert_escaped("\xc2\xa0", "", "\xc2\xa0");
}

static void what_turns_the_text_is_escaped(void **state)
{
  (void)state;
  assert_escaped("\xe2\x80\xae", "", "\\xe2\\x80\\xae");                         /* U+202E */
  assert_escaped("\xe2\x80\xa7\xe2\x80\xa8", "", "\xe2\x80\xa7\\xe2\\x80\\xa8"); /* U+2027, 2028 */
  assert_escaped("\xe2\x81\xa5\xe2\x81\xa6", "", "\xe2\x81\xa5\\xe2\\x81\\xa6"); /* U+2065, 2066 */
  assert_escaped("\xe2\x81\xa9\xe2\x81\xaa", "", "\\xe2\\x81\\xa9\xe2\x81\xaa"); /* U+2069, 206A */
}

static void utf8_is_kept_and_other_bytes_are_escaped(void **state)
{
  static const char *const good[] = {"\xc3\xa4",     "\xe2\x82\xac",     "\xed\x9f\xbf",
                                     "\xee\x80\x80", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};

  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    assert_escaped(good[i], "", good[i]);
  assert_escaped("\x80\xbf\xff\xfe", "", "\\x80\\xbf\\xff\\xfe");
  assert_escaped("\xc0\x9b", "", "\\xc0\\x9b"); /* too long for ESC */
  assert_escaped("\xe0\x80\x9b", "", "\\xe0\\x80\\x9b");
  assert_escaped("\xed\xa0\x80", "", "\\xed\\xa0\\x80");          /* half of a pair */
  assert_escaped("\xf4\x90\x80\x80", "", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
  assert_escaped("\xc3", "", "\\xc3");                            /* ends early */
  assert_escaped("\xe2\x82"
                 "a",
                 "",
                 "\\xe2\\x82"
                 "a");
  assert_escaped("\xf0\x9f\x98", "", "\\xf0\\x9f\\x98");
}

/* What sysbench prints as it is stays, unless a terminal would obey it. */
static void messages_keep_letters_of_other_encodings(void **state)
{
  static const char *const texts[][2] = {
      {"line\n\tline\r", "line\n\tline\\x0d"},
      {"gr\xfc\xdf \xe9t\xe9 \xc3\xa9 \xff\xa0", "gr\xfc\xdf \xe9t\xe9 \xc3\xa9 \xff\xa0"},
      {"\x1b[2J\x7f\x9b[2J\x80\x9f", "\\x1b[2J\\x7f\\x9b[2J\\x80\\x9f"},
      {"\xc2\x9b[2J\xe2\xc2\x9b", "\\xc2\\x9b[2J\xe2\\xc2\\x9b"},
      {"\xc0\x9b\xe0\x80\x9b", "\xc0\\x9b\xe0\\x80\\x9b"}, /* too long for ESC */
      {"\xe2\x80\xae\xe2\x81\xa6", "\\xe2\\x80\\xae\\xe2\\x81\\xa6"},
      {"\xf0\x9f\x98\x80\xf0\x9f\x98", "\xf0\x9f\x98\x80\xf0\\x9f\\x98"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char out[64], *copy = bn_escape_copy(texts[i][0]);

    assert_int_equal(bn_escape_message(out, sizeof out, texts[i][0]), strlen(texts[i][1]));
    assert_string_equal(out, texts[i][1]);
    assert_string_equal(copy, texts[i][1]);
    free(copy);
  }
}

static void a_copy_is_cut_between_characters(void **state)
{
  char out[8];

  (void)state;
  assert_int_equal(bn_escape(NULL, 0, "a\x1b", ""), 5);
  for (size_t size = 1; size < 6; size++) {
    memset(out, '#', sizeof out);
    assert_int_equal(bn_escape(out, size, "a\x1b", ""), 5);
    assert_string_equal(out, size == 1 ? "" : "a");
    assert_int_equal(out[size], '#');
  }
  assert_int_equal(bn_escape(out, 6, "a\x1b", ""), 5);
  assert_string_equal(out, "a\\x1b");
  assert_int_equal(bn_escape(out, 4,
                             "\xe2\x82\xac"
                             "b",
                             ""),
                   4);
  assert_string_equal(out, "\xe2\x82\xac");
  /* Nothing comes behind what did not fit. */
  assert_int_equal(bn_escape(out, 3,
                             "a\xe2\x82\xac"
                             "b",
                             ""),
                   5);
  assert_string_equal(out, "a");
}

static void marks_of_markdown_have_a_backslash(void **state)
{
  char out[16];

  (void)state;
  bn_escape_markdown(out, sizeof out, "a|b_c*\n");
  assert_string_equal(out, "a\\|b_c\\*");
  bn_escape_markdown(out, 15, "||||||||||||");
  assert_string_equal(out, "\\|\\|\\|\\|\\|\\|\\|");
  bn_escape_markdown(out, 1, "|");
  assert_string_equal(out, "");
}

static void a_word_of_a_shell_is_in_quotes(void **state)
{
  struct bn_buf word = {.max = 16};

  (void)state;
  assert_int_equal(bn_escape_shell_word(&word, "a 'b' $c"), 0);
  assert_string_equal(word.data, "'a '\\''b'\\'' $c'");
  assert_int_equal(bn_escape_shell_word(&word, ""), -1);
  bn_buf_done(&word);
}

BN_TESTS(escape)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(control_characters_are_escaped),
      cmocka_unit_test(what_turns_the_text_is_escaped),
      cmocka_unit_test(utf8_is_kept_and_other_bytes_are_escaped),
      cmocka_unit_test(messages_keep_letters_of_other_encodings),
      cmocka_unit_test(a_copy_is_cut_between_characters),
      cmocka_unit_test(marks_of_markdown_have_a_backslash),
      cmocka_unit_test(a_word_of_a_shell_is_in_quotes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
