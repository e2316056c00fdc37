/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads facts about the machine from /proc, /sys and /etc. */
#include "measure/host.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "measure/kernel.h"

/* --- the machine ------------------------------------------------------------------------------ */

/* Returns how many processors a list such as "0-3,8,10-11" names, up to the first text of another
   form. */
static unsigned host_count_list(const char *list)
{
  unsigned n = 0;

  for (;;) {
    char *end;
    const unsigned long first = strtoul(list, &end, 10);
    unsigned long last = first;

    if (end == list)
      return n;
    if (*end == '-')
      last = strtoul(end + 1, &end, 10);
    if (last >= first)
      n += (unsigned)(last - first) + 1;
    if (*end != ',')
      return n;
    list = end + 1;
  }
}

/* Reads the model of the processor, whose key in /proc/cpuinfo differs between architectures.  If
   that file has none, the device tree may name the board. */
static void host_read_cpu(struct bn_host *h, const char *root)
{
  char text[BN_KERNEL_TEXT];
  static const char *const keys[] = {"model name", "Model", "cpu model", "Processor", "Hardware"};
  const char *value = NULL;

  (void)bn_kernel_read_text(text, "%s/proc/cpuinfo", root);
  for (size_t i = 0; value == NULL && i < sizeof keys / sizeof *keys; i++)
    value = bn_kernel_find_field(text, keys[i], ':');
  if (value == NULL && bn_kernel_read_text(text, "%s/sys/firmware/devicetree/base/model", root))
    value = text;
  if (value != NULL)
    bn_kernel_copy_line(h->cpu_model, sizeof h->cpu_model, value);
}

/* Counts the processors that are online, and those that this process may use. */
static void host_read_processors(struct bn_host *h, const char *root)
{
  char text[BN_KERNEL_TEXT];
  const char *list;

  if (bn_kernel_read_text(text, "%s/sys/devices/system/cpu/online", root))
    h->processors_online = host_count_list(text);
  (void)bn_kernel_read_text(text, "%s/proc/self/status", root);
  list = bn_kernel_find_field(text, "Cpus_allowed_list", ':');
  if (list != NULL)
    h->processors_allowed = host_count_list(list);
}

/* Reads the memory of the machine, which /proc/meminfo has in KiB. */
static void host_read_memory(struct bn_host *h, const char *root)
{
  char text[BN_KERNEL_TEXT];
  const char *value;

  (void)bn_kernel_read_text(text, "%s/proc/meminfo", root);
  value = bn_kernel_find_field(text, "MemTotal", ':');
  if (value != NULL)
    h->memory_bytes = strtoull(value, NULL, 10) * 1024;
}

/* Copies the first line of a file; if it cannot be read, `out` stays as it is. */
static void host_read_line(char *out, size_t size, const char *root, const char *file)
{
  char text[BN_KERNEL_TEXT];

  if (bn_kernel_read_text(text, "%s/%s", root, file))
    bn_kernel_copy_line(out, size, text);
}

/* Reads the names of the host, the kernel and the machine. */
static void host_read_names(struct bn_host *h, const char *root)
{
  struct utsname u;
  char type[32] = "", release[sizeof u.release] = "";

  host_read_line(h->name, sizeof h->name, root, "proc/sys/kernel/hostname");
  host_read_line(type, sizeof type, root, "proc/sys/kernel/ostype");
  host_read_line(release, sizeof release, root, "proc/sys/kernel/osrelease");
  if (release[0] != '\0')
    (void)snprintf(h->kernel, sizeof h->kernel, "%s %s", type, release);
  if (uname(&u) == 0)
    (void)snprintf(h->machine, sizeof h->machine, "%.*s", (int)sizeof h->machine - 1, u.machine);
}

/* Reads the name of the distribution, from the first place of os-release(5) that has the file. */
static void host_read_distribution(struct bn_host *h, const char *root)
{
  char text[BN_KERNEL_TEXT];
  const char *value;

  if (!bn_kernel_read_text(text, "%s/etc/os-release", root))
    (void)bn_kernel_read_text(text, "%s/usr/lib/os-release", root);
  value = bn_kernel_find_field(text, "PRETTY_NAME", '=');
  if (value != NULL)
    bn_kernel_copy_line(h->distribution, sizeof h->distribution, value);
}

/* --- virtual machines and containers ---------------------------------------------------------- */

/* Signs of hypervisors in the names that the firmware has for the machine and its maker.  The first
   row whose sign is found counts. */
static const struct {
  const char *sign;
  const char *name;
} hypervisors[] = {
    {"KVM", "kvm"},
    {"OpenStack", "kvm"},
    {"Amazon EC2", "kvm"},
    {"Google Compute Engine", "kvm"},
    {"QEMU", "qemu"},
    {"VMware", "vmware"},
    {"VirtualBox", "virtualbox"},
    {"innotek", "virtualbox"},
    {"Virtual Machine", "hyper-v"},
    {"Xen", "xen"},
    {"HVM domU", "xen"},
    {"Bochs", "bochs"},
    {"Parallels", "parallels"},
    {"BHYVE", "bhyve"},
};

/* Returns the hypervisor that the firmware names, or NULL. */
static const char *host_find_hypervisor(const char *root)
{
  char text[BN_KERNEL_TEXT];
  static const char *const files[] = {"product_name", "sys_vendor", "bios_vendor"};

  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    (void)bn_kernel_read_text(text, "%s/sys/class/dmi/id/%s", root, files[f]);
    for (size_t i = 0; i < sizeof hypervisors / sizeof *hypervisors; i++)
      if (strstr(text, hypervisors[i].sign) != NULL)
        return hypervisors[i].name;
  }
  return NULL;
}

/* Returns whether a line of /proc/cpuinfo, which lists the flags of a processor, has the flag
   "hypervisor". */
static bool host_has_hypervisor_flag(const char *flags)
{
  const char *flag = strstr(flags, " hypervisor");

  return flag != NULL && flag < flags + strcspn(flags, "\n");
}

/* Finds out whether this is a virtual machine, and of which hypervisor.  The firmware of a cloud
   may have the same names on its hardware and in its virtual machines, so the flag "hypervisor"
   decides whether there is one.  Some processors, such as those of ARM, have no flags: with them
   the firmware alone decides.  If the kernel has a name itself, such as "xen", it counts alone. */
static void host_read_hypervisor(struct bn_host *h, const char *root)
{
  char text[BN_KERNEL_TEXT];
  const char *flags, *name = NULL;
  bool has_flag;

  (void)bn_kernel_read_text(text, "%s/proc/cpuinfo", root);
  flags = bn_kernel_find_field(text, "flags", ':');
  has_flag = flags != NULL && host_has_hypervisor_flag(flags);
  if (has_flag || flags == NULL)
    name = host_find_hypervisor(root);
  if (name == NULL)
    name = has_flag ? "unknown" : "none";
  (void)snprintf(h->hypervisor, sizeof h->hypervisor, "%s", name);
  host_read_line(h->hypervisor, sizeof h->hypervisor, root, "sys/hypervisor/type");
}

/* Finds out whether this is a container, by the file that an engine leaves in each.  If systemd has
   a name for it, that name counts. */
static void host_read_container(struct bn_host *h, const char *root)
{
  static const struct {
    const char *file, *name;
  } signs[] = {{".dockerenv", "docker"}, {"run/.containerenv", "podman"}};
  const char *name = NULL;
  char path[PATH_MAX];

  for (size_t i = 0; name == NULL && i < sizeof signs / sizeof *signs; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", root, signs[i].file);
    if (access(path, F_OK) == 0)
      name = signs[i].name;
  }
  (void)snprintf(h->container, sizeof h->container, "%s", name != NULL ? name : "none");
  host_read_line(h->container, sizeof h->container, root, "run/systemd/container");
}

/* --- limits of control groups ----------------------------------------------------------------- */

/* Lowers *limit to `to`.  In both, 0 or less stands for no limit. */
static void host_lower_limit(double *limit, double to)
{
  if (to > 0 && (*limit <= 0 || to < *limit))
    *limit = to;
}

/* Lowers *quota, a double in processors, to that of a group: the time that it may use in a period,
   divided by the period.  Version 2 has both in one file, "150000 100000", or "max 100000" without
   a limit; version 1 has two files, and -1 for no limit. */
static void host_lower_processors(void *quota, const struct bn_kernel_group *g)
{
  char text[BN_KERNEL_TEXT], *end;
  double time_us, period_us;

  if (g->is_v2) {
    (void)bn_kernel_read_text(text, "%s/cpu.max", g->folder);
    time_us = strtod(text, &end); /* 0 for "max" */
    period_us = strtod(end, NULL);
  } else {
    (void)bn_kernel_read_text(text, "%s/cpu.cfs_quota_us", g->folder);
    time_us = strtod(text, NULL);
    (void)bn_kernel_read_text(text, "%s/cpu.cfs_period_us", g->folder);
    period_us = strtod(text, NULL);
  }
  if (period_us > 0)
    host_lower_limit(quota, time_us / period_us);
}

/* Raises *throttled_s, a double, to the time for which a group was held back, if its cpu.stat has
   that.  Version 2 counts microseconds, version 1 nanoseconds. */
static void host_raise_throttled(void *throttled_s, const struct bn_kernel_group *g)
{
  const char *const key = g->is_v2 ? "throttled_usec " : "throttled_time ";
  char text[BN_KERNEL_TEXT];
  double *most_s = throttled_s, group_s;
  const char *found;

  (void)bn_kernel_read_text(text, "%s/cpu.stat", g->folder);
  found = strstr(text, key);
  if (found == NULL)
    return;
  group_s = strtod(found + strlen(key), NULL) * (g->is_v2 ? 1e-6 : 1e-9);
  if (group_s > *most_s)
    *most_s = group_s;
}

double bn_host_throttled_s(const char *root)
{
  double throttled_s = -1;

  bn_kernel_each_group(root, "cpu", host_raise_throttled, &throttled_s);
  return throttled_s;
}

double bn_host_processor_s(void)
{
  struct timespec used = {.tv_sec = 0};

  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

double bn_host_throttled_since_s(const char *root, double before_s)
{
  const double now_s = bn_host_throttled_s(root);
  const bool is_known = before_s >= 0 && now_s >= before_s;

  return is_known ? now_s - before_s : -1;
}

/* Lowers *memory, a double in bytes, to the limit of a group.  The text "max" of version 2, or the
   highest address of version 1, nearly 2^63, is no limit. */
static void host_lower_memory(void *memory, const struct bn_kernel_group *g)
{
  char text[BN_KERNEL_TEXT];
  double bytes;

  (void)bn_kernel_read_text(text, "%s/%s", g->folder,
                            g->is_v2 ? "memory.max" : "memory.limit_in_bytes");
  bytes = strtod(text, NULL); /* exact up to 2^53; 0 for "max" */
  if (bytes < 0x1p62)
    host_lower_limit(memory, bytes);
}

/* Reads the limits of the control groups.  That of memory is less than 2^62, so that it fits into
   64 bits. */
static void host_read_limits(struct bn_host *h, const char *root)
{
  double memory = 0;

  bn_kernel_each_group(root, "cpu", host_lower_processors, &h->processors_quota);
  bn_kernel_each_group(root, "memory", host_lower_memory, &memory);
  h->memory_limit_bytes = (uint64_t)memory;
}

void bn_host_read(struct bn_host *h, const char *root)
{
  memset(h, 0, sizeof *h);
  host_read_cpu(h, root);
  host_read_processors(h, root);
  host_read_memory(h, root);
  host_read_names(h, root);
  host_read_distribution(h, root);
  host_read_line(h->governor, sizeof h->governor, root,
                 "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  host_read_line(h->clocksource, sizeof h->clocksource, root,
                 "sys/devices/system/clocksource/clocksource0/current_clocksource");
  host_read_hypervisor(h, root);
  host_read_container(h, root);
  host_read_limits(h, root);
}

/* --- places of files -------------------------------------------------------------------------- */

enum { ESCAPE_LEN = 4 }; /* a backslash and three octal digits */

/* Returns whether a text begins with an escape of the mount table, which stands for one byte. */
static bool host_is_escape(const char *text)
{
  return text[0] == '\\' && text[1] <= '3' && strspn(text + 1, "01234567") >= ESCAPE_LEN - 1;
}

/* Copies a word of the mount table, in which a blank or a backslash is written as an escape.  What
   does not fit is cut. */
static void host_copy_word(char *out, size_t size, const char *from)
{
  size_t n = 0;

  while (n + 1 < size && *from != '\0' && *from != ' ' && *from != '\n')
    if (host_is_escape(from)) {
      out[n++] = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
      from += ESCAPE_LEN;
    } else {
      out[n++] = *from++;
    }
  out[n] = '\0';
}

/* Returns whether a path is a folder or within it. */
static bool host_is_below(const char *path, const char *folder)
{
  const size_t len = strlen(folder);
  const bool ends_with_slash = len > 0 && folder[len - 1] == '/'; /* only "/" does */

  return strncmp(path, folder, len) == 0 &&
         (ends_with_slash || path[len] == '/' || path[len] == '\0');
}

/* Returns the text after n words, each with a blank after it, or NULL if there are fewer. */
static const char *host_skip_words(const char *text, unsigned n)
{
  for (; n > 0; n--) {
    const char *blank = strchr(text, ' ');

    if (blank == NULL)
      return NULL;
    text = blank + 1;
  }
  return text;
}

/* Replaces the mount of p by that of a line, "36 35 98:0 / /home rw shared:1 - ext4 /dev/sda1 rw",
   if its mount point is nearer to the path: the path is below it, and it is the longest so far.  Of
   equal mount points the last one counts, because its mount hides the others. */
static void host_replace_mount(struct bn_place *p, const char *line)
{
  enum { WORDS_BEFORE_POINT = 4 };
  static const char separator[] = " - "; /* before the file system and the device */
  const char *point = host_skip_words(line, WORDS_BEFORE_POINT);
  const char *type = strstr(line, separator), *device;
  char mount[sizeof p->mount_point];

  if (point == NULL || type == NULL || type < point) /* the line has another form */
    return;
  host_copy_word(mount, sizeof mount, point);
  if (!host_is_below(p->path, mount) || strlen(mount) < strlen(p->mount_point))
    return;
  (void)snprintf(p->mount_point, sizeof p->mount_point, "%s", mount);
  type += sizeof separator - 1;
  host_copy_word(p->file_system, sizeof p->file_system, type);
  device = host_skip_words(type, 1);
  host_copy_word(p->device, sizeof p->device, device != NULL ? device : "");
}

/* Finds the mount that holds a path, in the mount table of this process. */
void bn_place_read(struct bn_place *p, const char *root, const char *path)
{
  char table[PATH_MAX], *line = NULL, *resolved = realpath(path, NULL);
  size_t size = 0;
  FILE *f;

  memset(p, 0, sizeof *p);
  (void)snprintf(p->path, sizeof p->path, "%s", resolved != NULL ? resolved : path);
  free(resolved);
  (void)snprintf(table, sizeof table, "%s/proc/self/mountinfo", root);
  f = fopen(table, "re");
  if (f == NULL)
    return;
  while (getline(&line, &size, f) > 0)
    host_replace_mount(p, line);
  free(line);
  (void)fclose(f);
}
