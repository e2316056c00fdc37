/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the host allows of what threads take, and how much of it is in use. */
#include "measure/limits.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"
#include "measure/kernel.h"

static const uint64_t mib = (uint64_t)1 << 20;

/* What is read, and for what. */
struct reading {
  struct bn_limits *limits;
  const char *root;
  int64_t threads;
  uint64_t stack_bytes;
};

/* Returns a limit to fill in; NULL: there are too many, as of control groups in many folders. */
static struct bn_limit *limits_add(const struct reading *r, int64_t allowed, int64_t used)
{
  struct bn_limit *one;

  if (r->limits->n == BN_LIMITS_MAX)
    return NULL;
  one = &r->limits->limit[r->limits->n++];
  one->demand = (struct bn_demand){.what = "threads",
                                   .by = one->by,
                                   .clients = "other processes",
                                   .remedy = one->remedy,
                                   .instead = "use fewer --threads",
                                   .needed = r->threads,
                                   .allowed = allowed,
                                   .others = used,
                                   .certain = true};
  return one;
}

/* The number at the beginning of a file; -1: there is none. */
static int64_t whole_of(const char *root, const char *file)
{
  char text[BN_KERNEL_TEXT], *end;
  const int64_t n = bn_kernel_text(text, "%s%s", root, file) ? strtoll(text, &end, 10) : -1;

  return n >= 0 && isdigit((unsigned char)text[0]) ? n : -1;
}

/* Of "KEY: 123 kB"; -1: there is no such line. */
static int64_t field_of(const char *text, const char *key)
{
  const char *value = bn_kernel_field(text, key, ':');

  return value != NULL ? strtoll(value, NULL, 10) : -1;
}

/* --- of the user ------------------------------------------------------------------------------ */

/* "Max processes   96365   96365   processes"; -1: unlimited, or unknown. */
static void limits_resource(const char *text, const char *name, int64_t *soft, int64_t *hard)
{
  const char *line = strstr(text, name);
  char *end;

  *soft = *hard = -1;
  if (line == NULL)
    return;
  line += strlen(name);
  line += strspn(line, " ");
  if (isdigit((unsigned char)*line)) {
    *soft = strtoll(line, &end, 10);
    end += strspn(end, " ");
    if (isdigit((unsigned char)*end))
      *hard = strtoll(end, NULL, 10);
  }
}

enum { CAN_ADMINISTER = 21, CAN_CHANGE_LIMITS = 24 };

static bool limits_may(const char *status, int right)
{
  const char *value = bn_kernel_field(status, "CapEff", ':');

  return value != NULL && (strtoull(value, NULL, 16) >> right & 1) != 0;
}

/* The kernel does not count threads of who may change limits or administer the host, and lets root
   pass without these rights. */
static bool is_exempt(const char *status)
{
  return field_of(status, "Uid") == 0 || limits_may(status, CAN_ADMINISTER) ||
         limits_may(status, CAN_CHANGE_LIMITS);
}

/* Of all processes of this user. */
static int64_t count_threads(const char *root, int64_t user)
{
  char path[PATH_MAX], text[BN_KERNEL_TEXT];
  struct dirent *entry;
  int64_t n = 0;
  DIR *folder;

  (void)snprintf(path, sizeof path, "%s/proc", root);
  folder = opendir(path);
  if (folder == NULL)
    return 0;
  while ((entry = readdir(folder)) != NULL)
    if (isdigit((unsigned char)entry->d_name[0]) &&
        bn_kernel_text(text, "%s/%s/status", path, entry->d_name) && field_of(text, "Uid") == user)
      n += field_of(text, "Threads");
  (void)closedir(folder);
  return n;
}

/* ulimit -u */
static void read_processes(const struct reading *r, const char *limits, const char *status)
{
  const char *way = "type \"ulimit -u %n\"";
  struct bn_limit *one;
  int64_t soft, hard;

  limits_resource(limits, "Max processes", &soft, &hard);
  /* To count takes time: where the limit is far away, nobody needs to. */
  if (soft < 0 || soft / 4 > r->threads || is_exempt(status))
    return;
  one = limits_add(r, soft, count_threads(r->root, field_of(status, "Uid")));
  if (one == NULL)
    return;
  if (hard >= 0 && hard < one->demand.needed + one->demand.others)
    way = "ask root to raise it to %n (nproc of limits.conf, LimitNPROC=%n of systemd)";
  (void)snprintf(one->by, sizeof one->by, "ulimit -u of this user");
  (void)snprintf(one->remedy, sizeof one->remedy, "%s", way);
}

/* ulimit -v */
static void read_addresses(const struct reading *r, const char *limits, const char *status)
{
  int64_t soft, hard, used_kib = field_of(status, "VmSize");
  struct bn_limit *one;

  limits_resource(limits, "Max address space", &soft, &hard);
  one = soft >= 0 ? limits_add(r, soft / (int64_t)mib, used_kib / 1024) : NULL;
  if (one == NULL)
    return;
  one->demand.what = "MiB of addresses for stacks";
  one->demand.clients = "other parts of the process";
  one->demand.needed =
      (int64_t)((double)r->threads * ((double)r->stack_bytes + BN_WAIT_GUARD) / (double)mib);
  one->demand.instead = "use fewer --threads or a smaller --thread-stack-size";
  (void)snprintf(one->by, sizeof one->by, "ulimit -v");
  (void)snprintf(one->remedy, sizeof one->remedy, "type \"ulimit -v unlimited\"");
}

/* --- of control groups ------------------------------------------------------------------------ */

/* What each thread takes at least: its stack in the kernel, and what it touches of its own. */
static const int64_t kib_of_thread = 24;

static struct bn_limit *add_memory(const struct reading *r, int64_t allowed_kib)
{
  struct bn_limit *one = allowed_kib >= 0 ? limits_add(r, allowed_kib / 1024, 0) : NULL;

  if (one == NULL)
    return NULL;
  one->demand.what = "MiB of memory";
  one->demand.least = true;
  one->demand.needed = (r->threads * kib_of_thread + 1023) / 1024;
  one->demand.certain = false;
  return one;
}

static void read_group_memory(void *reading, const struct bn_kernel_group *g)
{
  const int64_t bytes = whole_of(g->folder, g->second ? "/memory.max" : "/memory.limit_in_bytes");
  struct bn_limit *one = add_memory(reading, bytes >= 0 ? bytes / 1024 : -1);

  if (one == NULL)
    return;
  (void)snprintf(one->by, sizeof one->by, "%s of the control group '%.200s'",
                 g->second ? "memory.max" : "memory.limit_in_bytes",
                 g->name[0] != '\0' ? g->name : "/");
  (void)snprintf(one->remedy, sizeof one->remedy,
                 "raise it to %%nM (MemoryMax=%%nM of systemd, --memory=%%nm of containers)");
}

static void read_group_threads(void *reading, const struct bn_kernel_group *g)
{
  const struct reading *r = reading;
  const int64_t allowed = whole_of(g->folder, "/pids.max");
  struct bn_limit *one =
      allowed >= 0 ? limits_add(r, allowed, whole_of(g->folder, "/pids.current")) : NULL;

  if (one == NULL)
    return;
  (void)snprintf(one->by, sizeof one->by, "pids.max of the control group '%.200s'",
                 g->name[0] != '\0' ? g->name : "/");
  (void)snprintf(one->remedy, sizeof one->remedy,
                 "raise it to %%n (TasksMax=%%n of systemd, --pids-limit=%%n of containers)");
}

/* --- of the kernel ---------------------------------------------------------------------------- */

/* "0.20 0.18 0.12 1/80 11206": of the whole host. */
static int64_t running_threads(const char *root)
{
  char text[BN_KERNEL_TEXT];
  const char *all = bn_kernel_text(text, "%s/proc/loadavg", root) ? strchr(text, '/') : NULL;

  return all != NULL ? strtoll(all + 1, NULL, 10) : 0;
}

static void read_setting(const struct reading *r, const char *name, int64_t kept, int64_t used)
{
  char path[64], *dot;
  struct bn_limit *one;
  int64_t allowed;

  (void)snprintf(path, sizeof path, "/proc/sys/%s", name);
  dot = strchr(path, '.');
  *dot = '/';
  allowed = whole_of(r->root, path);
  one = allowed > kept ? limits_add(r, allowed - kept, used) : NULL;
  if (one == NULL)
    return;
  one->demand.reserved = kept;
  (void)snprintf(one->by, sizeof one->by, "%s", name);
  (void)snprintf(one->remedy, sizeof one->remedy, "type \"sysctl %s=%%n\" as root", name);
}

/* Each stack is a mapping, and so is the page before it that catches overflows; where the kernel
   marks that page otherwise, stacks need fewer. */
static void read_mappings(const struct reading *r)
{
  const size_t before = r->limits->n;
  char path[PATH_MAX];
  int64_t used = 0;
  FILE *f;
  int c;

  read_setting(r, "vm.max_map_count", 0, 0);
  if (r->limits->n == before)
    return;
  (void)snprintf(path, sizeof path, "%s/proc/self/maps", r->root);
  f = fopen(path, "re");
  while (f != NULL && (c = getc_unlocked(f)) != EOF)
    used += c == '\n';
  if (f != NULL)
    (void)fclose(f);
  r->limits->limit[before].demand.what = "mappings of memory";
  r->limits->limit[before].demand.clients = "other parts of the process";
  r->limits->limit[before].demand.needed = 2 * r->threads;
  r->limits->limit[before].demand.others = used;
  r->limits->limit[before].demand.certain = false;
}

static void read_memory(const struct reading *r)
{
  char text[BN_KERNEL_TEXT];
  struct bn_limit *one;

  (void)bn_kernel_text(text, "%s/proc/meminfo", r->root);
  one = add_memory(r, field_of(text, "MemAvailable"));
  if (one == NULL)
    return;
  (void)snprintf(one->by, sizeof one->by, "MemAvailable of /proc/meminfo");
  (void)snprintf(one->remedy, sizeof one->remedy, "end other processes");
}

/* Where the kernel promises no more memory than it has (vm.overcommit_memory=2), whole stacks
   count. */
static void read_promises(const struct reading *r)
{
  char text[BN_KERNEL_TEXT];
  struct bn_limit *one;
  int64_t kib;

  if (whole_of(r->root, "/proc/sys/vm/overcommit_memory") != 2 ||
      !bn_kernel_text(text, "%s/proc/meminfo", r->root))
    return;
  kib = field_of(text, "CommitLimit");
  if (kib < 0)
    return;
  one = limits_add(r, kib / 1024, field_of(text, "Committed_AS") / 1024);
  if (one == NULL)
    return;
  one->demand.what = "MiB of memory for stacks";
  one->demand.needed = (int64_t)((double)r->threads * (double)r->stack_bytes / (double)mib);
  one->demand.instead = "use fewer --threads or a smaller --thread-stack-size";
  (void)snprintf(one->by, sizeof one->by, "vm.overcommit_memory=2");
  (void)snprintf(one->remedy, sizeof one->remedy, "type \"sysctl vm.overcommit_memory=0\" as root");
}

void bn_limits_read(struct bn_limits *l, const char *root, unsigned threads, uint64_t stack_bytes)
{
  enum { NEVER_GIVEN = 300 }; /* numbers of processes that the kernel gives only once */
  struct reading r = {l, root, threads, stack_bytes};
  char status[BN_KERNEL_TEXT], limits[BN_KERNEL_TEXT];
  const int64_t running = running_threads(root);

  l->n = 0;
  (void)bn_kernel_text(status, "%s/proc/self/status", root);
  (void)bn_kernel_text(limits, "%s/proc/self/limits", root);
  read_processes(&r, limits, status);
  read_addresses(&r, limits, status);
  bn_kernel_groups(root, "pids", read_group_threads, &r);
  read_setting(&r, "kernel.pid_max", NEVER_GIVEN, running);
  read_setting(&r, "kernel.threads-max", 0, running);
  read_mappings(&r);
  read_promises(&r);
  bn_kernel_groups(root, "memory", read_group_memory, &r);
  read_memory(&r);
}

/* Of all processes; who may administer the host is not bound by it. */
static void read_all_files(const struct reading *r)
{
  const size_t before = r->limits->n;
  char status[BN_KERNEL_TEXT];
  int64_t used;

  if (!bn_kernel_text(status, "%s/proc/self/status", r->root) || limits_may(status, CAN_ADMINISTER))
    return;
  used = whole_of(r->root, "/proc/sys/fs/file-nr");
  read_setting(r, "fs.file-max", 0, used > 0 ? used : 0);
  if (r->limits->n == before)
    return;
  r->limits->limit[before].demand.what = "open files and connections";
  r->limits->limit[before].demand.certain = false;
}

void bn_limits_files(struct bn_limits *l, const char *root, unsigned files,
                     const struct bn_limits_range *range)
{
  const struct reading r = {l, root, files, 0};
  const char *way = "type \"ulimit -n %n\"";
  struct bn_limit *one;

  l->n = 0;
  read_all_files(&r);
  one = limits_add(&r, range->soft, range->used);
  if (one == NULL)
    return;
  if (range->hard >= 0 && range->hard < one->demand.needed + one->demand.others)
    way = "ask root to raise it to %n (nofile of limits.conf, LimitNOFILE=%n of systemd, --ulimit "
          "nofile=%n of containers)";
  one->demand.what = "open files and connections";
  one->demand.clients = "other parts of the process";
  one->demand.certain = false;
  (void)snprintf(one->by, sizeof one->by, "ulimit -n");
  (void)snprintf(one->remedy, sizeof one->remedy, "%s", way);
}

const struct bn_demand *bn_limits_met(const struct bn_limits *l, unsigned n)
{
  enum { SOME = 16 };
  const struct bn_demand *met = NULL;
  double least = SOME;

  for (size_t i = 0; i < l->n; i++) {
    const struct bn_demand *d = &l->limit[i].demand;
    const double of_one = (double)d->needed / (double)n;
    const double room = (double)(d->allowed - d->others) / (of_one > 0 ? of_one : 1);

    if (room < least) {
      least = room;
      met = d;
    }
  }
  return met;
}
