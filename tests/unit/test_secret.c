/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passwords from files: the longest one is taken whatever ends its line, a longer one is
   refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "drivers/common/secret.h"

enum { LONGEST = BN_SECRET_MAX - 1 };

/* Reads a password from a file with len letters and a text behind them. */
static int read_password(size_t len, const char *end, char out[BN_SECRET_MAX], struct bn_err *err)
{
  char path[] = "/tmp/bench-secret-XXXXXX";
  const int fd = mkstemp(path);
  FILE *f;
  int rc;

  assert_true(fd >= 0);
  f = fdopen(fd, "w");
  assert_non_null(f);
  for (size_t i = 0; i < len; i++)
    (void)putc('x', f);
  assert_true(fputs(end, f) >= 0);
  assert_int_equal(fclose(f), 0);
  rc = bn_secret_read_file(path, out, err);
  (void)unlink(path);
  return rc;
}

static void the_longest_password_is_read(void **state)
{
  static const char *const ends[] = {"", "\n", "\r\n", "\nsecond line\n"};
  static char out[BN_SECRET_MAX];
  struct bn_err err;

  (void)state;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    assert_int_equal(read_password(LONGEST, ends[i], out, &err), 0);
    assert_int_equal(strlen(out), LONGEST);
    assert_int_equal(out[LONGEST - 1], 'x');
  }
}

static void a_longer_password_is_refused_in_words(void **state)
{
  static char out[BN_SECRET_MAX];
  struct bn_err err;

  (void)state;
  assert_int_equal(read_password(LONGEST + 1, "\n", out, &err), -1);
  assert_int_equal(err.code, EMSGSIZE);
  assert_non_null(strstr(err.text, ": it is longer than 4095 bytes"));
  assert_int_equal(read_password(LONGEST, "\rx", out, &err), -1);
}

static void a_file_without_a_line_is_refused(void **state)
{
  static char out[BN_SECRET_MAX];
  struct bn_err err;

  (void)state;
  assert_int_equal(read_password(0, "", out, &err), -1);
  assert_non_null(strstr(err.text, ": the file is empty"));
  assert_int_equal(read_password(0, "\n", out, &err), 0);
  assert_string_equal(out, "");
}

BN_TESTS(secret)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_longest_password_is_read),
      cmocka_unit_test(a_longer_password_is_refused_in_words),
      cmocka_unit_test(a_file_without_a_line_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
