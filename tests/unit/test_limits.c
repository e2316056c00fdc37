/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits on threads and files: what is said of each, on folders made up for that. */
#include "cm.h"
#include "madeup.h"
#include "measure/limits.h"

static struct bn_limits limits;
static char said[1024];

static const char *sentences(void)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  for (size_t i = 0; i < limits.n; i++)
    if (bn_demand_say(&b, &limits.limit[i].demand) != BN_ENOUGH)
      (void)bn_buf_char(&b, '\n');
  (void)snprintf(said, sizeof said, "%s", b.data != NULL ? b.data : "");
  bn_buf_done(&b);
  return said;
}

/* What is said of that many threads with stacks of 8 MiB. */
static const char *threads(unsigned n)
{
  bn_limits_read(&limits, root, n, (uint64_t)8 << 20);
  return sentences();
}

static const char *files(unsigned n)
{
  bn_limits_files(&limits, root, n, &(struct bn_limits_range){2, 1024, 4096});
  return sentences();
}

/* Of user 1000, who may have 500 to 600 threads. */
static void put_user(const char *capabilities)
{
  char text[128];

  put("proc/self/limits",
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max processes             500                  600                  processes \n"
      "Max address space         unlimited            unlimited            bytes     \n");
  (void)snprintf(text, sizeof text,
                 "Name:\tbench\nUid:\t1000\t1000\t1000\t1000\nVmSize:\t  204800 kB\nThreads:\t3\n"
                 "CapEff:\t%s\n",
                 capabilities);
  put("proc/self/status", text);
  put("proc/11/status", text);
  put("proc/12/status", "Uid:\t1000\t1000\t1000\t1000\nThreads:\t97\n");
  put("proc/13/status", "Uid:\t0\t0\t0\t0\nThreads:\t4000\n");
}

static void nothing_is_said_of_an_empty_folder(void **state)
{
  (void)state;
  assert_string_equal(threads(1000000), "");
  assert_null(bn_limits_met(&limits, 1));
}

static void threads_of_the_user(void **state)
{
  (void)state;
  put_user("0000000000000000");
  assert_string_equal(threads(100), "");
  assert_string_equal(threads(400), "");
  assert_string_equal(threads(450),
                      "warning: the run needs up to 450 threads; ulimit -u of this user allows "
                      "500, and other processes use 100: type \"ulimit -u 550\", or use fewer "
                      "--threads\n");
  assert_string_equal(threads(501),
                      "the run needs up to 501 threads, but ulimit -u of this user allows 500: "
                      "ask root to raise it to 601 (nproc of limits.conf, LimitNPROC=601 of "
                      "systemd), or use fewer --threads\n");
}

static void who_may_change_limits_has_none(void **state)
{
  (void)state;
  put_user("0000000001000000");
  assert_string_equal(threads(600), "");
  put_user("0000000000200000");
  assert_string_equal(threads(600), "");
  put_user("0");
  put("proc/self/status", "Uid:\t0\t0\t0\t0\nVmSize:\t  204800 kB\nCapEff:\t00000000a80425fb\n");
  assert_string_equal(threads(600), "");
}

static void open_files(void **state)
{
  (void)state;
  assert_string_equal(files(1022), "");
  assert_string_equal(files(1023),
                      "warning: the run needs up to 1023 open files and connections; ulimit -n "
                      "allows 1024, and other parts of the process use 2: type \"ulimit -n 1025\", "
                      "or use fewer --threads\n");
  assert_string_equal(files(5000),
                      "warning: the run needs up to 5000 open files and connections, but ulimit -n "
                      "allows 1024: ask root to raise it to 5002 (nofile of limits.conf, "
                      "LimitNOFILE=5002 of systemd, --ulimit nofile=5002 of containers), or use "
                      "fewer --threads\n");
}

static void open_files_of_the_host(void **state)
{
  (void)state;
  put("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000001000000\n");
  put("proc/sys/fs/file-max", "600\n");
  put("proc/sys/fs/file-nr", "500\t0\t600\n");
  assert_string_equal(files(100), "");
  assert_string_equal(files(101),
                      "warning: the run needs up to 101 open files and connections; fs.file-max "
                      "allows 600, and other processes use 500: type \"sysctl fs.file-max=601\" as "
                      "root, or use fewer --threads\n");
  put("proc/sys/fs/file-max", "9223372036854775807\n");
  assert_string_equal(files(1000), "");
  put("proc/sys/fs/file-max", "600\n");
  put("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000200000\n");
  assert_string_equal(files(1000), "");
}

static void addresses(void **state)
{
  (void)state;
  put_user("0");
  put("proc/self/limits", "Max address space         1073741824           unlimited    bytes\n");
  assert_string_equal(threads(100), "");
  assert_string_equal(threads(110),
                      "warning: the run needs up to 886 MiB of addresses for stacks; ulimit -v "
                      "allows 1024, and other parts of the process use 200: type \"ulimit -v "
                      "unlimited\", or use fewer --threads or a smaller --thread-stack-size\n");
  assert_string_equal(threads(128),
                      "the run needs up to 1032 MiB of addresses for stacks, but ulimit -v allows "
                      "1024: type \"ulimit -v unlimited\", or use fewer --threads or a smaller "
                      "--thread-stack-size\n");
}

static void control_groups_2(void **state)
{
  (void)state;
  put("proc/self/cgroup", "0::/a.slice/b.service\n");
  put("sys/fs/cgroup/a.slice/b.service/pids.max", "max\n");
  put("sys/fs/cgroup/a.slice/pids.max", "100\n");
  put("sys/fs/cgroup/a.slice/pids.current", "20\n");
  assert_string_equal(threads(80), "");
  assert_string_equal(threads(81),
                      "warning: the run needs up to 81 threads; pids.max of the control group "
                      "'/a.slice' allows 100, and other processes use 20: raise it to 101 "
                      "(TasksMax=101 of systemd, --pids-limit=101 of containers), or use fewer "
                      "--threads\n");
  assert_string_equal(threads(101),
                      "the run needs up to 101 threads, but pids.max of the control group "
                      "'/a.slice' allows 100: raise it to 121 (TasksMax=121 of systemd, "
                      "--pids-limit=121 of containers), or use fewer --threads\n");
}

/* In a container: its own group is the topmost that it can see. */
static void control_groups_1(void **state)
{
  (void)state;
  put("proc/self/cgroup", "8:pids:/docker/1234\n4:memory:/docker/1234\n0::/\n");
  put("sys/fs/cgroup/pids/pids.max", "50\n");
  put("sys/fs/cgroup/pids/pids.current", "1\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "4194304\n");
  assert_string_equal(threads(51),
                      "the run needs up to 51 threads, but pids.max of the control group '/' "
                      "allows 50: raise it to 52 (TasksMax=52 of systemd, --pids-limit=52 of "
                      "containers), or use fewer --threads\n");
  put("sys/fs/cgroup/pids/pids.max", "max\n");
  assert_string_equal(threads(170), "");
  assert_string_equal(threads(1000),
                      "warning: the run needs at least 24 MiB of memory, but "
                      "memory.limit_in_bytes of the control group '/' allows 4: raise it to 24M "
                      "(MemoryMax=24M of systemd, --memory=24m of containers), or use fewer "
                      "--threads\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  assert_string_equal(threads(1000000), "");
}

static void settings_of_the_kernel(void **state)
{
  (void)state;
  put("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n");
  put("proc/sys/kernel/pid_max", "32768\n");
  assert_string_equal(threads(32388), "");
  assert_string_equal(threads(32389),
                      "warning: the run needs up to 32389 threads; kernel.pid_max allows 32468, "
                      "and other processes use 80: type \"sysctl kernel.pid_max=32769\" as root, "
                      "or use fewer --threads\n");
  assert_string_equal(threads(40000),
                      "the run needs up to 40000 threads, but kernel.pid_max allows 32468: type "
                      "\"sysctl kernel.pid_max=40380\" as root, or use fewer --threads\n");
  put("proc/sys/kernel/pid_max", "4194304\n");
  put("proc/sys/kernel/threads-max", "1000\n");
  assert_string_equal(threads(1001),
                      "the run needs up to 1001 threads, but kernel.threads-max allows 1000: type "
                      "\"sysctl kernel.threads-max=1081\" as root, or use fewer --threads\n");
}

static void mappings_of_memory(void **state)
{
  (void)state;
  put("proc/sys/vm/max_map_count", "65530\n");
  put("proc/self/maps", "00400000-0040b000 r-xp 00000000 08:01 1 /bin/a\n"
                        "0060a000-0060b000 r--p 0000a000 08:01 1 /bin/a\n");
  assert_string_equal(threads(32764), "");
  assert_string_equal(threads(32765),
                      "warning: the run needs up to 65530 mappings of memory; vm.max_map_count "
                      "allows 65530, and other parts of the process use 2: type \"sysctl "
                      "vm.max_map_count=65532\" as root, or use fewer --threads\n");
  assert_string_equal(threads(50000),
                      "warning: the run needs up to 100000 mappings of memory, but "
                      "vm.max_map_count allows 65530: type \"sysctl vm.max_map_count=100002\" as "
                      "root, or use fewer --threads\n");
}

static void memory_of_the_host(void **state)
{
  (void)state;
  put("proc/meminfo", "MemTotal:  20480 kB\nMemAvailable:  10240 kB\nCommitLimit:   1048576 kB\n"
                      "Committed_AS:   204800 kB\n");
  put("proc/sys/vm/overcommit_memory", "0\n");
  assert_string_equal(threads(426), "");
  assert_string_equal(threads(1000),
                      "warning: the run needs at least 24 MiB of memory, but MemAvailable of "
                      "/proc/meminfo allows 10: end other processes, or use fewer --threads\n");
  put("proc/sys/vm/overcommit_memory", "2\n");
  assert_string_equal(threads(129),
                      "the run needs up to 1032 MiB of memory for stacks, but "
                      "vm.overcommit_memory=2 allows 1024: type \"sysctl vm.overcommit_memory=0\" "
                      "as root, or use fewer --threads or a smaller --thread-stack-size\n");
}

static void what_has_been_met(void **state)
{
  const struct bn_demand *met;

  (void)state;
  put_user("0");
  put("proc/sys/vm/max_map_count", "65530\n");
  (void)threads(450);
  assert_null(bn_limits_met(&limits, 450));
  put("proc/12/status", "Uid:\t1000\t1000\t1000\t1000\nThreads:\t490\n");
  (void)threads(450);
  met = bn_limits_met(&limits, 450);
  assert_non_null(met);
  assert_string_equal(met->by, "ulimit -u of this user");
}

BN_TESTS(limits)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)
  const struct CMUnitTest tests[] = {
      TEST(nothing_is_said_of_an_empty_folder),
      TEST(threads_of_the_user),
      TEST(who_may_change_limits_has_none),
      TEST(open_files),
      TEST(open_files_of_the_host),
      TEST(addresses),
      TEST(control_groups_2),
      TEST(control_groups_1),
      TEST(settings_of_the_kernel),
      TEST(mappings_of_memory),
      TEST(memory_of_the_host),
      TEST(what_has_been_met),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
