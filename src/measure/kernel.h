/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small texts of the kernel: files of /proc and /sys, fields of them, control groups.

   All paths are below a folder: "", or one with made-up files in tests. */
#ifndef BN_MEASURE_KERNEL_H
#define BN_MEASURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* Enough for the first processor of /proc/cpuinfo, which is all that is read of it. */
enum { BN_KERNEL_TEXT = 8192 };

/* The beginning of a file, or "" and false if it cannot be read or is empty. */
__attribute__((format(printf, 2, 3))) bool bn_kernel_text(char text[BN_KERNEL_TEXT],
                                                          const char *fmt, ...);
/* Returns the text behind "KEY", blanks and `mark` on the first line that begins so, or NULL. */
const char *bn_kernel_field(const char *text, const char *key, char mark);
/* Returns the line behind this one, or "". */
const char *bn_kernel_next_line(const char *line);
/* Copies up to the end of the line, without blanks and quotes around it. */
void bn_kernel_line(char *out, size_t size, const char *from);

/* A control group that this process is in. */
struct bn_kernel_group {
  const char *folder; /* with the files of its limits */
  const char *name;   /* "/system.slice/a.service"; "": the topmost that this process can see */
  bool second;        /* version 2, where files have other names than in version 1 */
};

/* Calls visit for each group that limits what that controller ("memory") limits: first those of
   version 2, then those of version 1, each followed by the groups above it.  A container may see
   its own group only as the topmost. */
void bn_kernel_groups(const char *root, const char *controller,
                      void (*visit)(void *arg, const struct bn_kernel_group *g), void *arg);

#endif
