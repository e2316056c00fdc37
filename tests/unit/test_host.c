/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what is read about a machine, on folders made up for that: processors, memory, limits of
   control groups, virtual machines, containers, mounts. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "madeup.h"
#include "measure/host.h"

static struct bn_host read_host(void)
{
  struct bn_host h;

  bn_host_read(&h, root);
  return h;
}

static void nothing_is_known_of_an_empty_folder(void **state)
{
  const struct bn_host h = read_host();

  (void)state;
  assert_string_equal(h.cpu_model, "");
  assert_int_equal(h.processors_online, 0);
  assert_int_equal(h.memory_bytes, 0);
  assert_string_equal(h.kernel, "");
  assert_string_equal(h.hypervisor, "none");
  assert_string_equal(h.container, "none");
}

static void a_server_of_metal(void **state)
{
  (void)state;
  put("proc/cpuinfo",
      "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763 \nflags\t\t: fpu sse2\n"
      "\nprocessor\t: 1\nmodel name\t: another\n");
  put("sys/devices/system/cpu/online", "0-63,128-191\n");
  put("proc/self/status", "Name:\tbench\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8,10-11\n");
  put("proc/meminfo", "MemTotal:       65536000 kB\nMemFree: 1 kB\n");
  put("proc/sys/kernel/hostname", "db1\n");
  put("proc/sys/kernel/ostype", "Linux\n");
  put("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
  put("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  put("sys/class/dmi/id/product_name", "Amazon EC2\n"); /* also the name of machines without one */
  const struct bn_host h = read_host();

  assert_string_equal(h.name, "db1");
  assert_string_equal(h.cpu_model, "AMD EPYC 7763");
  assert_int_equal(h.processors_online, 128);
  assert_int_equal(h.processors_allowed, 7);
  assert_true(h.processors_quota <= 0);
  assert_int_equal(h.memory_bytes, 65536000ull * 1024);
  assert_int_equal(h.memory_limit_bytes, 0);
  assert_string_equal(h.kernel, "Linux 6.1.0-28-amd64");
  assert_string_equal(h.distribution, "Debian GNU/Linux 12 (bookworm)");
  assert_string_equal(h.governor, "performance");
  assert_string_equal(h.clocksource, "tsc");
  assert_string_equal(h.hypervisor, "none");
}

static void processors_of_other_kinds_have_other_names(void **state)
{
  (void)state;
  put("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\nCPU part\t: 0xd0c\n\n");
  assert_string_equal(read_host().cpu_model, "");
  put("sys/firmware/devicetree/base/model", "Raspberry Pi 5 Model B Rev 1.0");
  assert_string_equal(read_host().cpu_model, "Raspberry Pi 5 Model B Rev 1.0");
  put("proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9\nModel\t\t: Talos II\n");
  assert_string_equal(read_host().cpu_model, "Talos II");
}

static void virtual_machines_have_a_name(void **state)
{
  (void)state;
  put("proc/cpuinfo", "model name\t: x\nflags\t\t: fpu hypervisor lahf_lm\n");
  assert_string_equal(read_host().hypervisor, "unknown");
  put("sys/class/dmi/id/sys_vendor", "QEMU\n");
  assert_string_equal(read_host().hypervisor, "qemu");
  put("sys/class/dmi/id/product_name", "VMware Virtual Platform\n");
  assert_string_equal(read_host().hypervisor, "vmware");
  put("sys/hypervisor/type", "xen\n");
  assert_string_equal(read_host().hypervisor, "xen");
}

static void containers_leave_signs(void **state)
{
  (void)state;
  put("run/.containerenv", "");
  assert_string_equal(read_host().container, "podman");
  put(".dockerenv", "");
  assert_string_equal(read_host().container, "docker");
  put("run/systemd/container", "lxc\n");
  assert_string_equal(read_host().container, "lxc");
}

static void the_least_limit_of_groups_counts(void **state)
{
  (void)state;
  put("proc/self/cgroup", "0::/system.slice/bench.service\n");
  put("sys/fs/cgroup/system.slice/bench.service/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/system.slice/bench.service/memory.max", "max\n");
  assert_true(read_host().processors_quota <= 0);
  assert_int_equal(read_host().memory_limit_bytes, 0);
  put("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n");
  put("sys/fs/cgroup/system.slice/memory.max", "2147483648\n");
  put("sys/fs/cgroup/memory.max", "1073741824\n");
  assert_true(read_host().processors_quota > 1.4999 && read_host().processors_quota < 1.5001);
  assert_int_equal(read_host().memory_limit_bytes, 1073741824);
}

static void the_longest_throttling_of_groups_counts(void **state)
{
  (void)state;
  put("proc/self/cgroup", "0::/system.slice/bench.service\n");
  assert_true(bn_host_throttled_s(root) < 0);
  put("sys/fs/cgroup/system.slice/bench.service/cpu.stat",
      "usage_usec 9\nnr_periods 4\nnr_throttled 2\nthrottled_usec 1500000\n");
  assert_float_equal(bn_host_throttled_s(root), 1.5, 1e-9);
  put("sys/fs/cgroup/system.slice/cpu.stat", "usage_usec 9\nthrottled_usec 2500000\n");
  assert_float_equal(bn_host_throttled_s(root), 2.5, 1e-9);
  assert_float_equal(bn_host_throttled_since_s(root, 1.5), 1, 1e-9);
  assert_true(bn_host_throttled_since_s(root, -1) < 0);
  /* The group is another one, or was made again. */
  assert_true(bn_host_throttled_since_s(root, 2.6) < 0);
  /* A group without a quota has no such line. */
  put("sys/fs/cgroup/system.slice/cpu.stat", "usage_usec 9\n");
  assert_float_equal(bn_host_throttled_s(root), 1.5, 1e-9);
}

static void throttling_of_version_1_is_in_nanoseconds(void **state)
{
  (void)state;
  put("proc/self/cgroup", "2:cpu,cpuacct:/docker/ab\n0::/\n");
  put("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 250000000\n");
  assert_float_equal(bn_host_throttled_s(root), 0.25, 1e-9);
}

static void groups_of_version_1_have_limits(void **state)
{
  (void)state;
  put("proc/self/cgroup", "4:cpuset:/\n3:memory:/docker/ab\n2:cpu,cpuacct:/docker/ab\n0::/\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  assert_true(read_host().processors_quota > 0.4999 && read_host().processors_quota < 0.5001);
  assert_int_equal(read_host().memory_limit_bytes, 0);
  put("sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "536870912\n");
  put("sys/fs/cgroup/cpu/docker/ab/cpu.cfs_quota_us", "-1\n");
  assert_int_equal(read_host().memory_limit_bytes, 536870912);
  assert_true(read_host().processors_quota > 0.4999 && read_host().processors_quota < 0.5001);
}

static void a_folder_is_on_its_longest_mount_point(void **state)
{
  struct bn_place p;

  (void)state;
  put("proc/self/mountinfo", "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                             "21 20 0:20 / /proc rw - proc proc rw\n"
                             "22 20 0:5 / /nowhere rw - tmpfs first rw\n"
                             "23 20 0:6 / /nowhere rw - xfs /dev/mapper/a\\040b rw\n"
                             "24 20 0:7 / /nowhere/else rw - btrfs /dev/sdb rw\n");
  bn_place_read(&p, root, "/nowhere/elsewhere");
  assert_string_equal(p.path, "/nowhere/elsewhere");
  assert_string_equal(p.file_system, "xfs");
  assert_string_equal(p.device, "/dev/mapper/a b");
  assert_string_equal(p.mount_point, "/nowhere");
  bn_place_read(&p, root, "/nowhereland");
  assert_string_equal(p.device, "/dev/sda1");
  assert_string_equal(p.mount_point, "/");
}

static void a_link_is_followed_to_its_place(void **state)
{
  struct bn_place p;
  char link[128];

  (void)state;
  (void)snprintf(link, sizeof link, "%s/link", root);
  assert_int_equal(symlink("/dev", link), 0);
  put("proc/self/mountinfo",
      "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 0:6 / /dev rw - devtmpfs udev rw\n");
  bn_place_read(&p, root, link);
  assert_string_equal(p.path, "/dev");
  assert_string_equal(p.file_system, "devtmpfs");
}

#define ON_EMPTY(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

BN_TESTS(host)
{
  const struct CMUnitTest tests[] = {
      ON_EMPTY(nothing_is_known_of_an_empty_folder),
      ON_EMPTY(a_server_of_metal),
      ON_EMPTY(processors_of_other_kinds_have_other_names),
      ON_EMPTY(virtual_machines_have_a_name),
      ON_EMPTY(containers_leave_signs),
      ON_EMPTY(the_least_limit_of_groups_counts),
      ON_EMPTY(the_longest_throttling_of_groups_counts),
      ON_EMPTY(throttling_of_version_1_is_in_nanoseconds),
      ON_EMPTY(groups_of_version_1_have_limits),
      ON_EMPTY(a_folder_is_on_its_longest_mount_point),
      ON_EMPTY(a_link_is_followed_to_its_place),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
