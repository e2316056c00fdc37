/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads small texts of the kernel: files of /proc and /sys, their fields, and the files of control
   groups.

   All paths are below a folder, `root`: "", or in tests a folder with made-up files. */
#ifndef BN_MEASURE_KERNEL_H
#define BN_MEASURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* Enough for the first processor of /proc/cpuinfo, which is all that is read of it. */
enum { BN_KERNEL_TEXT = 8192 };

/* Reads the beginning of the file that fmt names, as much as `text` holds.  Returns false, with ""
   as the text, if it cannot be read or is empty. */
__attribute__((format(printf, 2, 3))) bool bn_kernel_read_text(char text[BN_KERNEL_TEXT],
                                                               const char *fmt, ...);
/* Returns the text after the mark on the first line that begins with the key and the mark, which
   blanks may separate; or NULL. */
const char *bn_kernel_find_field(const char *text, const char *key, char mark);
/* Returns the line after this one, or "" if it is the last. */
const char *bn_kernel_next_line(const char *line);
/* Copies the text up to the end of its line, without blanks and quotes around it; what does not fit
   is cut. */
void bn_kernel_copy_line(char *out, size_t size, const char *from);

/* A control group that this process is in. */
struct bn_kernel_group {
  const char *folder; /* with the files of its limits */
  const char *name;   /* "/system.slice/a.service"; "/": the topmost that this process can see */
  bool is_v2;         /* of version 2, where files have other names than in version 1 */
};

/* Calls visit for each group whose limits of a controller ("memory") hold for this process: first
   its group of version 2, then that of version 1, each followed by the groups above it.  A
   container may see its own group only, as the topmost. */
void bn_kernel_each_group(const char *root, const char *controller,
                          void (*visit)(void *arg, const struct bn_kernel_group *g), void *arg);

#endif
