/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts of hosts are compared with those here, or with those of the first host. */
#include "cm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hosts/source.h"

static int compare(struct bn_sources *all, const char *host, const char *file, const char *text,
                   struct bn_err *err)
{
  struct bn_buf data = {.max = 0};
  int rc;

  bn_source_print(&data, file, 0, text, strlen(text));
  rc = bn_sources_compare(all, host, data.data, data.len, err);
  bn_buf_done(&data);
  return rc;
}

static void a_file_that_is_not_here_is_that_of_the_first_host(void **state)
{
  struct bn_sources all = {.n = 0};
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(compare(&all, "a", "/nowhere/x.lua", "return 1", &err), 0);
  assert_int_equal(compare(&all, "b", "/nowhere/x.lua", "return 1", &err), 0);
  assert_int_equal(compare(&all, "b", "/nowhere/y.lua", "return 2", &err), 0);
  assert_int_equal(compare(&all, "b", "/nowhere/x.lua", "return 2", &err), -1);
  assert_string_equal(err.text,
                      "its script '/nowhere/x.lua' is another one than '/nowhere/x.lua' of a; put "
                      "it beside the script of the run, whose folder is sent to all hosts");
  bn_sources_done(&all);
}

static void a_file_that_is_here_counts(void **state)
{
  struct bn_sources all = {.n = 0};
  struct bn_err err = {0};
  char path[] = "/tmp/bench-source-XXXXXX", wanted[128];
  const int fd = mkstemp(path);

  (void)state;
  assert_true(fd >= 0 && write(fd, "here", 4) == 4 && close(fd) == 0);
  assert_int_equal(compare(&all, "a", path, "here", &err), 0);
  assert_int_equal(compare(&all, "b", path, "hers", &err), -1);
  (void)snprintf(wanted, sizeof wanted, "its script '%s' is another one than '%s' here; ", path,
                 path);
  assert_memory_equal(err.text, wanted, strlen(wanted));
  bn_sources_done(&all);
  (void)unlink(path);
}

/* The payload is that of another process. */
static void foreign_bytes_are_refused(void **state)
{
  static const char *const bad[] = {
      "", "00000000 1 0 ", "0000000g 1 0 x", "00000000 1 1 x", "00000000 1 99 /x", "00000000"};
  struct bn_sources all = {.n = 0};
  struct bn_err err = {0};

  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(bn_sources_compare(&all, "a", bad[i], strlen(bad[i]), &err), -1);
  assert_int_equal(all.n, 0);
  assert_int_equal(compare(&all, "a", "/dev/zero", "x", &err), 0);
  assert_int_equal(compare(&all, "a", "\033[2J", "x", &err), 0);
  assert_int_equal(compare(&all, "b", "\033[2J", "y", &err), -1);
  assert_null(strchr(err.text, '\033'));
  bn_sources_done(&all);
}

BN_TESTS(source)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_that_is_not_here_is_that_of_the_first_host),
      cmocka_unit_test(a_file_that_is_here_counts),
      cmocka_unit_test(foreign_bytes_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
