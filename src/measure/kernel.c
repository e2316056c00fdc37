/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads files of /proc and /sys, and finds the control groups of this process. */
#include "measure/kernel.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- texts ------------------------------------------------------------------------------------ */

bool bn_kernel_read_text(char text[BN_KERNEL_TEXT], const char *fmt, ...)
{
  char path[PATH_MAX];
  size_t len = 0;
  ssize_t n;
  va_list ap;
  int fd, path_len;

  text[0] = '\0';
  va_start(ap, fmt);
  path_len = vsnprintf(path, sizeof path, fmt, ap);
  va_end(ap);
  if (path_len < 0 || path_len >= (int)sizeof path)
    return false;
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  do {
    n = read(fd, text + len, BN_KERNEL_TEXT - 1 - len);
    len += n > 0 ? (size_t)n : 0;
  } while (n > 0 && len < BN_KERNEL_TEXT - 1);
  text[len] = '\0';
  (void)close(fd);
  return len > 0;
}

const char *bn_kernel_next_line(const char *line)
{
  const char *end = strchr(line, '\n');

  return end != NULL ? end + 1 : "";
}

void bn_kernel_copy_line(char *out, size_t size, const char *from)
{
  size_t len;

  from += strspn(from, " \t\""); /* os-release(5) has quotes around its values */
  len = strcspn(from, "\n");
  while (len > 0 && (isspace((unsigned char)from[len - 1]) || from[len - 1] == '"'))
    len--;
  (void)snprintf(out, size, "%.*s", (int)len, from);
}

const char *bn_kernel_find_field(const char *text, const char *key, char mark)
{
  const size_t len = strlen(key);

  for (const char *line = text; *line != '\0'; line = bn_kernel_next_line(line))
    if (strncmp(line, key, len) == 0 && line[len + strspn(line + len, " \t")] == mark)
      return strchr(line + len, mark) + 1;
  return NULL;
}

/* --- control groups --------------------------------------------------------------------------- */

/* Returns whether a name is in the list names[0..end), "cpu,cpuacct"; *end is a colon.  The empty
   list has one name, "". */
static bool kernel_is_listed(const char *names, const char *end, const char *name)
{
  const size_t len = strlen(name);

  while (names < end) {
    const size_t item_len = strcspn(names, ",:");

    if (item_len == len && strncmp(names, name, len) == 0)
      return true;
    names += item_len + 1;
  }
  return len == 0 && names == end;
}

/* Finds the group of this process in the hierarchy with that controller, in the text of
   /proc/self/cgroup, whose lines are "4:cpu,cpuacct:/a".  Version 2 has a single hierarchy, whose
   list of controllers is "".  Returns false if there is no such hierarchy. */
static bool kernel_find_group(char *group, size_t size, const char *text, const char *controller)
{
  for (const char *line = text; *line != '\0'; line = bn_kernel_next_line(line)) {
    const char *names = strchr(line, ':'), *path = names != NULL ? strchr(names + 1, ':') : NULL;

    if (path != NULL && kernel_is_listed(names + 1, path, controller)) {
      bn_kernel_copy_line(group, size, path + 1);
      return true;
    }
  }
  return false;
}

/* Visits the group `name`, "/a/b", and then each group above it, up to "/"; cuts `name` on the way.
   A container with its own namespace of groups sees its own group as "/".  hierarchy: the folder of
   the topmost group. */
static void kernel_visit_upwards(const char *hierarchy, char *name, bool is_v2,
                                 void (*visit)(void *arg, const struct bn_kernel_group *g),
                                 void *arg)
{
  char folder[PATH_MAX], *slash;

  if (strcmp(name, "/") == 0)
    name[0] = '\0'; /* as the loop leaves the topmost group, so that it is visited once */
  for (;;) {
    const struct bn_kernel_group group = {
        .folder = folder, .name = name[0] != '\0' ? name : "/", .is_v2 = is_v2};

    (void)snprintf(folder, sizeof folder, "%s%s", hierarchy, name); /* each is below PATH_MAX / 2 */
    visit(arg, &group);
    slash = strrchr(name, '/');
    if (slash == NULL)
      return;
    *slash = '\0';
  }
}

void bn_kernel_each_group(const char *root, const char *controller,
                          void (*visit)(void *arg, const struct bn_kernel_group *g), void *arg)
{
  char groups[BN_KERNEL_TEXT], name[PATH_MAX / 2];
  char hierarchy[PATH_MAX / 2]; /* it and a name fit into a path */

  (void)bn_kernel_read_text(groups, "%s/proc/self/cgroup", root);
  if (kernel_find_group(name, sizeof name, groups, "") &&
      (size_t)snprintf(hierarchy, sizeof hierarchy, "%s/sys/fs/cgroup", root) < sizeof hierarchy)
    kernel_visit_upwards(hierarchy, name, true /* version 2 */, visit, arg);
  if (kernel_find_group(name, sizeof name, groups, controller) &&
      (size_t)snprintf(hierarchy, sizeof hierarchy, "%s/sys/fs/cgroup/%s", root, controller) <
          sizeof hierarchy)
    kernel_visit_upwards(hierarchy, name, false /* version 1 */, visit, arg);
}
