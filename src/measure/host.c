/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads facts about the machine from /proc, /sys and /etc. */
#include "measure/host.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Enough for the first processor of /proc/cpuinfo, which is all that is read of it. */
enum { TEXT_MAX = 8192 };

/* --- reading ---------------------------------------------------------------------------------- */

/* The beginning of a file; "" if there is none. */
__attribute__((format(printf, 2, 3))) static bool read_text(char text[TEXT_MAX], const char *fmt,
                                                            ...)
{
  char path[PATH_MAX];
  size_t len = 0;
  ssize_t n = 1;
  va_list ap;
  int fd;

  text[0] = '\0';
  va_start(ap, fmt);
  n = vsnprintf(path, sizeof path, fmt, ap);
  va_end(ap);
  if (n < 0 || n >= (ssize_t)sizeof path)
    return false;
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  while (len < TEXT_MAX - 1 && (n = read(fd, text + len, TEXT_MAX - 1 - len)) > 0)
    len += (size_t)n;
  text[len] = '\0';
  (void)close(fd);
  return len > 0;
}

/* Copies up to the end of the line, without blanks and quotes around it. */
static void copy_line(char *out, size_t size, const char *from)
{
  size_t len;

  from += strspn(from, " \t\"");
  len = strcspn(from, "\n");
  while (len > 0 && (isspace((unsigned char)from[len - 1]) || from[len - 1] == '"'))
    len--;
  (void)snprintf(out, size, "%.*s", (int)len, from);
}

/* What stands behind "KEY", blanks and `mark` on the first line that begins so; NULL: no such. */
static const char *find_field(const char *text, const char *key, char mark)
{
  const size_t len = strlen(key);
  const char *line = text;

  while (line != NULL && *line != '\0') {
    if (strncmp(line, key, len) == 0 && line[len + strspn(line + len, " \t")] == mark)
      return strchr(line + len, mark) + 1;
    line = strchr(line, '\n');
    line = line != NULL ? line + 1 : NULL;
  }
  return NULL;
}

/* How many a list such as "0-3,8,10-11" names. */
static unsigned count_list(const char *list)
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
    n += last >= first ? (unsigned)(last - first) + 1 : 0;
    if (*end != ',')
      return n;
    list = end + 1;
  }
}

/* --- the machine ------------------------------------------------------------------------------ */

static void read_cpu(struct bn_host *h, const char *root, char *text)
{
  static const char *const keys[] = {"model name", "Model", "cpu model", "Processor", "Hardware"};
  const char *value = NULL;

  (void)read_text(text, "%s/proc/cpuinfo", root);
  for (size_t i = 0; value == NULL && i < sizeof keys / sizeof *keys; i++)
    value = find_field(text, keys[i], ':');
  if (value == NULL && read_text(text, "%s/sys/firmware/devicetree/base/model", root))
    value = text;
  if (value != NULL)
    copy_line(h->cpu_model, sizeof h->cpu_model, value);
}

static void read_processors(struct bn_host *h, const char *root, char *text)
{
  const char *list;

  if (read_text(text, "%s/sys/devices/system/cpu/online", root))
    h->processors_online = count_list(text);
  (void)read_text(text, "%s/proc/self/status", root);
  list = find_field(text, "Cpus_allowed_list", ':');
  h->processors_allowed = list != NULL ? count_list(list + strspn(list, " \t")) : 0;
}

static void read_memory(struct bn_host *h, const char *root, char *text)
{
  const char *value;

  (void)read_text(text, "%s/proc/meminfo", root);
  value = find_field(text, "MemTotal", ':');
  h->memory_bytes = value != NULL ? strtoull(value, NULL, 10) * 1024 : 0;
}

static void read_system(struct bn_host *h, const char *root, char *text)
{
  const char *value;
  struct utsname u;
  char type[32] = "";

  if (read_text(text, "%s/proc/sys/kernel/hostname", root))
    copy_line(h->name, sizeof h->name, text);
  if (read_text(text, "%s/proc/sys/kernel/ostype", root))
    copy_line(type, sizeof type, text);
  if (read_text(text, "%s/proc/sys/kernel/osrelease", root)) {
    text[strcspn(text, "\n")] = '\0';
    (void)snprintf(h->kernel, sizeof h->kernel, "%s%s%.64s", type, type[0] != '\0' ? " " : "",
                   text);
  }
  if (uname(&u) == 0)
    (void)snprintf(h->machine, sizeof h->machine, "%.31s", u.machine);
  if (!read_text(text, "%s/etc/os-release", root))
    (void)read_text(text, "%s/usr/lib/os-release", root);
  value = find_field(text, "PRETTY_NAME", '=');
  if (value != NULL)
    copy_line(h->distribution, sizeof h->distribution, value);
  if (read_text(text, "%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", root))
    copy_line(h->governor, sizeof h->governor, text);
  if (read_text(text, "%s/sys/devices/system/clocksource/clocksource0/current_clocksource", root))
    copy_line(h->clocksource, sizeof h->clocksource, text);
}

/* --- virtual machines and containers ---------------------------------------------------------- */

static const struct {
  const char *sign; /* in the names that the firmware has for the machine and its maker */
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

static const char *named_hypervisor(const char *root, char *text)
{
  static const char *const files[] = {"product_name", "sys_vendor", "bios_vendor"};

  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    if (!read_text(text, "%s/sys/class/dmi/id/%s", root, files[f]))
      continue;
    for (size_t i = 0; i < sizeof hypervisors / sizeof *hypervisors; i++)
      if (strstr(text, hypervisors[i].sign) != NULL)
        return hypervisors[i].name;
  }
  return NULL;
}

/* A cloud names its own hardware as it names its virtual machines, so the processor's word that
   there is a hypervisor comes first where it gives one. */
static void read_hypervisor(struct bn_host *h, const char *root, char *text)
{
  const char *flags, *name, *bit;
  bool says, yes = false;

  if (read_text(text, "%s/sys/hypervisor/type", root)) {
    copy_line(h->hypervisor, sizeof h->hypervisor, text);
    return;
  }
  (void)read_text(text, "%s/proc/cpuinfo", root);
  flags = find_field(text, "flags", ':');
  says = flags != NULL;
  if (says) {
    bit = strstr(flags, " hypervisor");
    yes = bit != NULL && bit < flags + strcspn(flags, "\n");
  }
  name = says && !yes ? NULL : named_hypervisor(root, text);
  (void)snprintf(h->hypervisor, sizeof h->hypervisor, "%s",
                 name != NULL ? name
                 : yes        ? "unknown"
                              : "none");
}

static void read_container(struct bn_host *h, const char *root, char *text)
{
  static const struct {
    const char *file, *name;
  } signs[] = {{".dockerenv", "docker"}, {"run/.containerenv", "podman"}};
  char path[PATH_MAX];

  (void)snprintf(h->container, sizeof h->container, "none");
  if (read_text(text, "%s/run/systemd/container", root)) {
    copy_line(h->container, sizeof h->container, text);
    return;
  }
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", root, signs[i].file);
    if (access(path, F_OK) == 0) {
      (void)snprintf(h->container, sizeof h->container, "%s", signs[i].name);
      return;
    }
  }
}

/* --- limits of control groups ------------------------------------------------------------------
 */

/* Whether the list of names in front of `end` has that one. */
static bool is_listed(const char *names, const char *end, const char *name)
{
  const size_t len = strlen(name);

  while (names < end) {
    const size_t n = strcspn(names, ",:");

    if (n == len && strncmp(names, name, len) == 0)
      return true;
    names += n + 1;
  }
  return len == 0 && names == end;
}

/* This process's group in the hierarchy with that controller; version 2 has one, named "". */
static bool find_group(char *group, size_t size, const char *text, const char *controller)
{
  const char *line = text;

  while (line != NULL && *line != '\0') {
    const char *names = strchr(line, ':'), *path = names != NULL ? strchr(names + 1, ':') : NULL;

    if (path != NULL && is_listed(names + 1, path, controller)) {
      copy_line(group, size, path + 1);
      return true;
    }
    line = strchr(line, '\n');
    line = line != NULL ? line + 1 : NULL;
  }
  return false;
}

static void lower(double *limit, double to)
{
  if (to > 0 && (*limit <= 0 || to < *limit))
    *limit = to;
}

/* Of one group of version 2: "max 100000", "150000 100000"; "max", "1073741824". */
static void read_limits_2(const char *dir, double *quota, double *memory, char *text)
{
  char *end;
  double n;

  if (read_text(text, "%s/cpu.max", dir)) {
    n = strtod(text, &end);
    if (end != text)
      lower(quota, n / strtod(end, NULL));
  }
  if (read_text(text, "%s/memory.max", dir))
    lower(memory, strtod(text, NULL));
}

/* Of one group of version 1, where -1, or all that a machine can address, is no limit. */
static void read_limits_1(const char *dir, double *quota, double *memory, char *text)
{
  double n;

  if (read_text(text, "%s/cpu.cfs_quota_us", dir)) {
    n = strtod(text, NULL);
    if (n > 0 && read_text(text, "%s/cpu.cfs_period_us", dir))
      lower(quota, n / strtod(text, NULL));
  }
  if (read_text(text, "%s/memory.limit_in_bytes", dir)) {
    n = strtod(text, NULL);
    if (n < 0x1p62)
      lower(memory, n);
  }
}

/* The group and all above it; a container may see its own only as the top. */
static void walk_groups(const char *top, char *group,
                        void (*read)(const char *dir, double *quota, double *memory, char *text),
                        double *quota, double *memory, char *text)
{
  char dir[PATH_MAX], *slash;

  for (;;) {
    (void)snprintf(dir, sizeof dir, "%s%s", top, group);
    read(dir, quota, memory, text);
    slash = strrchr(group, '/');
    if (slash == NULL)
      return;
    *slash = '\0';
  }
}

static void read_limits(struct bn_host *h, const char *root, char *text)
{
  static const char *const controllers[] = {"", "cpu", "memory"};
  static const char *const tops[] = {"", "/cpu", "/memory"};
  char groups[TEXT_MAX], group[PATH_MAX / 2], top[PATH_MAX / 2];
  double quota = 0, memory = 0;

  (void)read_text(groups, "%s/proc/self/cgroup", root);
  for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) {
    if (!find_group(group, sizeof group, groups, controllers[i]))
      continue;
    if ((size_t)snprintf(top, sizeof top, "%s/sys/fs/cgroup%s", root, tops[i]) < sizeof top)
      walk_groups(top, group, i == 0 ? read_limits_2 : read_limits_1, &quota, &memory, text);
  }
  h->processors_quota = quota;
  h->memory_limit_bytes = (uint64_t)memory;
}

void bn_host_read(struct bn_host *h, const char *root)
{
  char text[TEXT_MAX];

  memset(h, 0, sizeof *h);
  read_cpu(h, root, text);
  read_processors(h, root, text);
  read_memory(h, root, text);
  read_system(h, root, text);
  read_hypervisor(h, root, text);
  read_container(h, root, text);
  read_limits(h, root, text);
}

/* --- places of files -------------------------------------------------------------------------- */

/* The mount table writes blanks and backslashes as three octal digits. */
static void copy_word(char *out, size_t size, const char *from)
{
  size_t n = 0;

  while (n + 1 < size && *from != '\0' && *from != ' ' && *from != '\n') {
    if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && isdigit((unsigned char)from[2]) &&
        isdigit((unsigned char)from[3])) {
      out[n++] = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
      from += 4;
    } else {
      out[n++] = *from++;
    }
  }
  out[n] = '\0';
}

static bool is_below(const char *path, const char *folder)
{
  const size_t len = strlen(folder);

  return strncmp(path, folder, len) == 0 &&
         (path[len] == '/' || path[len] == '\0' || (len > 0 && folder[len - 1] == '/'));
}

/* "36 35 98:0 / /home rw,noatime shared:1 - ext4 /dev/sda1 rw": the longest mount point above the
   path, and of equal ones the last, which hides the others. */
static void note_mount(struct bn_place *p, const char *line)
{
  const char *point = line, *tail = strstr(line, " - ");
  char mount[sizeof p->mount_point];

  for (int i = 0; point != NULL && i < 4; i++) {
    point = strchr(point, ' ');
    point = point != NULL ? point + 1 : NULL;
  }
  if (point == NULL || tail == NULL || tail < point)
    return;
  copy_word(mount, sizeof mount, point);
  if (!is_below(p->path, mount) || strlen(mount) < strlen(p->mount_point))
    return;
  (void)snprintf(p->mount_point, sizeof p->mount_point, "%s", mount);
  copy_word(p->file_system, sizeof p->file_system, tail + 3);
  tail = strchr(tail + 3, ' ');
  copy_word(p->device, sizeof p->device, tail != NULL ? tail + 1 : "");
}

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
    note_mount(p, line);
  free(line);
  (void)fclose(f);
}
