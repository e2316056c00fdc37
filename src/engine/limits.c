/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads limits from /proc and /sys, and names the limits to raise. */
#include "engine/limits.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fiber.h"
#include "base/log.h"
#include "measure/kernel.h"

/* --- threads ---------------------------------------------------------------------------------- */

/* Appends a limit with the first word of its value, if that is a number: "max" and "unlimited"
   limit nothing.  This and the functions below leave out a limit that they cannot read. */
static void limits_append_number(struct bn_buf *b, const char *name, const char *value)
{
  if (isdigit((unsigned char)value[0]))
    (void)bn_buf_printf(b, "%s%s %.*s", b->len > 0 ? ", " : "", name, (int)strcspn(value, " \n"),
                        value);
}

/* Appends a limit of /proc/self/limits, whose text is `limits`, from a line such as
   "Max processes   96365   96365 processes".  No title is a part of another line. */
static void limits_append_resource(struct bn_buf *b, const char *limits, const char *name,
                                   const char *title)
{
  const char *line = strstr(limits, title);

  if (line == NULL)
    return;
  line += strlen(title);
  limits_append_number(b, name, line + strspn(line, " "));
}

/* Appends the limit of a control group on threads, and how many it has; for
   bn_kernel_each_group. */
static void limits_append_group(void *buf, const struct bn_kernel_group *g)
{
  char text[BN_KERNEL_TEXT], used[BN_KERNEL_TEXT];
  struct bn_buf *b = buf;
  const size_t len_before = b->len;

  if (!bn_kernel_read_text(text, "%s/pids.max", g->folder))
    return;
  limits_append_number(b, "pids.max", text);
  if (b->len == len_before) /* there is no limit */
    return;
  (void)bn_buf_printf(b, " of the control group '%.100s'", g->name);
  if (bn_kernel_read_text(used, "%s/pids.current", g->folder))
    (void)bn_buf_printf(b, " (%.*s in use)", (int)strcspn(used, "\n"), used);
}

/* Appends a setting of the kernel, from its file in /proc/sys. */
static void limits_append_setting(struct bn_buf *b, const char *root, const char *name,
                                  const char *file)
{
  char text[BN_KERNEL_TEXT];

  if (bn_kernel_read_text(text, "%s/proc/sys/%s", root, file))
    limits_append_number(b, name, text);
}

void bn_limits_append_thread_limits(struct bn_buf *b, const char *root)
{
  char limits[BN_KERNEL_TEXT];

  (void)bn_kernel_read_text(limits, "%s/proc/self/limits", root);
  limits_append_resource(b, limits, "ulimit -u", "Max processes");
  limits_append_resource(b, limits, "ulimit -v (bytes)", "Max address space");
  bn_kernel_each_group(root, "pids", limits_append_group, b);
  limits_append_setting(b, root, "kernel.threads-max", "kernel/threads-max");
  limits_append_setting(b, root, "kernel.pid_max", "kernel/pid_max");
  limits_append_setting(b, root, "vm.max_map_count", "vm/max_map_count");
  limits_append_setting(b, root, "vm.overcommit_memory", "vm/overcommit_memory");
}

/* The list of limits is as long as the control groups are deep: it would not fit into *err. */
void bn_limits_log_failure(const struct bn_err *err)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  bn_limits_append_thread_limits(&b, "");
  bn_log(BN_FATAL,
         "%s: use fewer --threads or a smaller --thread-stack-size, or raise the limit that is "
         "met: %s",
         err->text, b.len > 0 ? b.data : "none can be read");
  bn_buf_done(&b);
}

void bn_limits_report_stacks(void)
{
  char limits[BN_KERNEL_TEXT];
  struct bn_buf b;

  bn_buf_init(&b, 0);
  /* A stack is two maps, its guard and the rest, and address space: either limit may be met. */
  (void)bn_kernel_read_text(limits, "/proc/self/limits");
  limits_append_setting(&b, "", "vm.max_map_count", "vm/max_map_count");
  limits_append_resource(&b, limits, "ulimit -v (bytes)", "Max address space");
  char *text =
      bn_alloc_print("there is no memory for the stack of another statement in flight: use "
                     "fewer --threads, or raise the limit that is met: %s; each stack "
                     "takes two maps and %d bytes of address space",
                     b.len > 0 ? b.data : "none can be read", BN_FIBER_STACK);

  bn_log_refusal(text);
  free(text);
  bn_buf_done(&b);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Returns the number of open files that the sessions need at most: a session of SQLite has four,
   which are database, log, index and journal, and the program has some of its own. */
static unsigned limits_count_files_needed(unsigned sessions)
{
  enum { OF_SESSION = 4, OTHERS = 256 };

  return sessions * OF_SESSION + OTHERS;
}

void bn_limits_allow_files(unsigned sessions)
{
  const rlim_t wanted = limits_count_files_needed(sessions);
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  (void)setrlimit(RLIMIT_NOFILE, &limit); /* bn_limits_report_files tells the user */
}

/* Returns false if the limit keeps A_FEW more files from being opened.  One free file would not
   prove the contrary: a session that has failed at the limit may have closed its files since. */
static bool limits_has_free_files(void)
{
  enum { A_FEW = 16 };
  int fd[A_FEW], n_taken = 0;
  bool has_free;

  for (; n_taken < A_FEW; n_taken++) {
    fd[n_taken] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd[n_taken] < 0)
      break;
  }
  has_free = n_taken == A_FEW || errno != EMFILE;
  while (n_taken > 0)
    (void)close(fd[--n_taken]);
  return has_free;
}

/* Advises the number of files that the sessions need, but at least twice the limit: a script may
   have opened files of its own, whose number is not known.  The text is the same for every failed
   session, so that bn_log_refusal prints it once. */
void bn_limits_report_files(unsigned sessions)
{
  const rlim_t needed = limits_count_files_needed(sessions);
  unsigned long long allowed, advised;
  struct rlimit limit;
  char text[320];

  /* The search for free files comes last: it takes them from other threads for a moment. */
  if (!bn_log_has_asides() || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limits_has_free_files())
    return;
  allowed = limit.rlim_cur;
  advised = needed > 2 * limit.rlim_cur ? needed : 2 * limit.rlim_cur;
  (void)snprintf(text, sizeof text,
                 "ulimit -n allows %llu open files and connections, and no more are left: raise it "
                 "to %llu (nofile of limits.conf, LimitNOFILE=%llu of systemd, --ulimit "
                 "nofile=%llu of containers), or use fewer --threads",
                 allowed, advised, advised, advised);
  bn_log_refusal(text);
}
