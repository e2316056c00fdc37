/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits on threads: their values, from folders made up for that. */
#include "cm.h"
#include "engine/limits.h"
#include "madeup.h"

static void expect(const char *text)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  bn_limits_append_thread_limits(&b, root);
  assert_string_equal(b.len > 0 ? b.data : "", text);
  bn_buf_done(&b);
}

static void an_empty_folder_has_none(void **state)
{
  (void)state;
  expect("");
}

static void each_limit_is_named_with_its_value(void **state)
{
  (void)state;
  put("proc/self/limits",
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max processes             500                  600                  processes \n"
      "Max address space         1048576              unlimited            bytes     \n");
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/pids.max", "max\n");
  put("sys/fs/cgroup/a/pids.max", "60\n");
  put("sys/fs/cgroup/a/pids.current", "59\n");
  put("proc/sys/kernel/threads-max", "1000\n");
  put("proc/sys/kernel/pid_max", "32768\n");
  put("proc/sys/vm/max_map_count", "65530\n");
  put("proc/sys/vm/overcommit_memory", "2\n");
  expect("ulimit -u 500, ulimit -v (bytes) 1048576, pids.max 60 of the control group '/a' (59 in "
         "use), kernel.threads-max 1000, kernel.pid_max 32768, vm.max_map_count 65530, "
         "vm.overcommit_memory 2");
}

/* A container often sees its own group as the topmost one. */
static void the_topmost_group_is_named_once(void **state)
{
  (void)state;
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/pids.max", "60\n");
  put("sys/fs/cgroup/pids.current", "59\n");
  expect("pids.max 60 of the control group '/' (59 in use)");
}

static void what_is_unlimited_is_no_limit(void **state)
{
  (void)state;
  put("proc/self/limits",
      "Max processes             unlimited            unlimited            processes \n"
      "Max address space         unlimited            unlimited            bytes     \n");
  put("proc/sys/kernel/threads-max", "1000\n");
  expect("kernel.threads-max 1000");
}

#define ON_EMPTY(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

BN_TESTS(limits)
{
  const struct CMUnitTest tests[] = {
      ON_EMPTY(an_empty_folder_has_none),
      ON_EMPTY(each_limit_is_named_with_its_value),
      ON_EMPTY(the_topmost_group_is_named_once),
      ON_EMPTY(what_is_unlimited_is_no_limit),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
