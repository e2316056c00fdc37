/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are written under a name that a user has typed.  In a folder in which other users may
   write, such as /tmp, that name may be a link that would have another file overwritten. */
#ifndef BN_BASE_FILE_H
#define BN_BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens /dev/null for each of descriptors 0 to 2 that is closed, so that no file or connection of
   the program gets its number and with it what is printed.  What is written there fails, as it did.
   Returns 0, or -1 and errno. */
int bn_file_open_standard(void);

/* Returns the open file that `path` stands for ("/dev/stdout", "/dev/fd/3"), or -1. */
int bn_file_descriptor(const char *path);
/* Returns whether `path` is standard output, where earlier text comes first, as is NULL. */
bool bn_file_is_stdout(const char *path);

/* Opens as open(2) does, for writing, but follows no links.  Returns -1 and errno: ELOOP, the path
   is a symbolic link; EMLINK, it is a plain file that has other names too. */
int bn_file_open(const char *path, int flags, mode_t mode);
/* As bn_file_open for a text that replaces the file.  For a path that stands for an open file it
   returns a duplicate at its current position; EBADF: it is not open for writing. */
int bn_file_create(const char *path);
/* As bn_file_create, but keeps the content until the caller truncates the file. */
int bn_file_reopen(const char *path);
/* Returns a sentence without a subject about an error of any of these functions. */
const char *bn_file_reason(int error);

/* Returns the folder of a file, with its last slash: "." for a name alone. */
void bn_file_folder(const char *path, char out[PATH_MAX]);
/* Returns the part of a path behind its folder. */
const char *bn_file_name(const char *path);
/* Returns whether both names lead to the same file, or to the same place for a new one. */
bool bn_file_is_same(const char *a, const char *b);

/* Follows symbolic links of this user or of root from `path`.  Returns -1 and errno: ELOOP, a link
   belongs to another user or has a second name, or there are too many.  A link may be replaced
   afterwards, so bn_file_open is to open `out`. */
int bn_file_follow(const char *path, char out[PATH_MAX]);

/* Returns why a file cannot be saved, so that it is known before a run of hours, or NULL. */
const char *bn_file_fault(const char *path);
/* Returns whether a rename may replace `path`: it is a file or a symbolic link, or there is nothing
   yet.  Devices and FIFOs have to be written to in place. */
bool bn_file_is_replaceable(const char *path);
/* Checks whether bn_file_save() could make its file; leaves none.  Returns 0, or -1 and errno. */
int bn_file_try_save(const char *path);
/* Writes a text so that `path` is always the old file or the complete new one, which has the rights
   of the old one.  A symbolic link is replaced.  Descriptors, devices and FIFOs are written to.
   Returns 0, or -1 and errno. */
int bn_file_save(const char *path, const char *text, size_t len);
/* While a FIFO has no reader, the functions that open it wait for one as long as `wanted` returns
   true; after that they fail with ENXIO.  Without this call they wait for ever.  Comes before any
   thread. */
void bn_file_wait_while(bool (*wanted)(void));
/* Removes the unfinished file that another thread in bn_file_save() has written beside `path`,
   before the process ends by force. */
void bn_file_drop_unsaved(const char *path);

struct bn_buf; /* base/buf.h */
/* Appends the content of a file, which is "" if the file is empty.  Returns 0, or -1 and errno:
   EFBIG, it does not fit. */
int bn_file_read(const char *path, struct bn_buf *text);

#endif
