/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are written under a name that a user has typed.  In a folder in which others may
   write, such as /tmp, that name may be a link by which another user has some other file
   overwritten. */
#ifndef BN_BASE_FILE_H
#define BN_BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The number of an open file that `path` stands for ("/dev/stdout", "/dev/fd/3"); -1: none. */
int bn_file_descriptor(const char *path);
/* Text that was printed before comes first there.  NULL: standard output. */
bool bn_file_is_stdout(const char *path);

/* As open(2) with flags that allow writing, but without following links.  -1 and errno: ELOOP, it
   is a symbolic link; EMLINK, it is a plain file that has other names too. */
int bn_file_open(const char *path, int flags, mode_t mode);
/* The same for a text that replaces the file.  A path that stands for an open file gives a
   duplicate, which is written where that stands; EBADF: it is not open for writing. */
int bn_file_create(const char *path);
/* As bn_file_create, but what the file has stays until the caller cuts it. */
int bn_file_reopen(const char *path);
/* What to tell the user of the error of any: a sentence without its subject's name. */
const char *bn_file_reason(int error);

/* Whether both names lead to one file, or to one place where neither is a file yet. */
bool bn_file_is_same(const char *a, const char *b);

/* Where `path` leads by symbolic links that belong to this user or to root.  -1 and errno: ELOOP,
   there is a link of somebody else, or there are too many.  bn_file_open is then to be given out,
   which may be changed to a link in between. */
int bn_file_follow(const char *path, char out[PATH_MAX]);

/* What is wrong with a file that is to be saved, which is better known before a run of hours than
   after it; NULL: nothing. */
const char *bn_file_fault(const char *path);
/* Whether `path` is, or would be, a name that can be replaced. */
bool bn_file_is_plain(const char *path);
/* Whether bn_file_save() could make its file now; it leaves nothing.  0, or -1 and errno. */
int bn_file_try(const char *path);
/* Writes a text so that `path` is always the old file or the whole new one, which has the rights of
   the old one.  A symbolic link is replaced.  Descriptors, devices and FIFOs are written to.  0, or
   -1 and errno. */
int bn_file_save(const char *path, const char *text, size_t len);
/* Before the process ends by force: removes what another thread that is still in bn_file_save() has
   written beside `path`. */
void bn_file_drop(const char *path);

struct bn_buf; /* base/buf.h */
/* Adds what a file has.  0, or an errno: EFBIG, it has more than the buffer takes. */
int bn_file_read(const char *path, struct bn_buf *text);

#endif
