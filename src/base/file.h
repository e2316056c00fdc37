/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with names that a user has typed: opened, replaced whole, read, compared.  Other users may
   write to a folder such as /tmp: a name in it may be a link that they have made to another file,
   which must not be overwritten. */
#ifndef BN_BASE_FILE_H
#define BN_BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens /dev/null for each of the descriptors 0 to 2 that is closed.  Else a file or a connection
   of the program would get the number of a standard stream, and the text that is printed there.
   /dev/null is open for reading only, so that writing fails as it would on a closed descriptor.
   Returns 0, or -1 and errno. */
int bn_file_open_standard(void);

/* Returns the descriptor that `path` stands for, 1 for "/dev/stdout" and 3 for "/dev/fd/3", or -1
   if `path` is the name of a file. */
int bn_file_find_descriptor(const char *path);
/* Returns whether `path` stands for standard output, as NULL does.  A caller then writes through
   `stdout`, so that its text follows the text printed before. */
bool bn_file_is_stdout(const char *path);

/* Opens as open(2) does, for writing, but follows no links.  Returns the descriptor, or -1 and
   errno: ELOOP, the path is a symbolic link; EMLINK, it is a plain file that has other names
   too. */
int bn_file_open(const char *path, int flags, mode_t mode);
/* Writes all bytes, also after interruptions.  Returns 0, or -1 and errno; a part may have been
   written then. */
int bn_file_write_all(int fd, const char *text, size_t len);
/* Opens a file as bn_file_open does, for a text that replaces its content; a missing file is made.
   For a path that stands for a descriptor, returns a duplicate of that descriptor, at its current
   position; EBADF: the descriptor is not open for writing. */
int bn_file_create(const char *path);
/* As bn_file_create, but keeps the content until the caller truncates the file. */
int bn_file_reopen(const char *path);
/* Returns a sentence without a subject about an error of any of these functions. */
const char *bn_file_explain(int error);

/* Writes the folder of a file with its last slash, or "." for a name alone.  A folder that is too
   long, so that no call takes it, is cut. */
void bn_file_copy_folder(const char *path, char out[PATH_MAX]);
/* Returns the part of a path after its folder. */
const char *bn_file_name(const char *path);
/* Returns whether both names lead to the same file, or to the same place for a new one. */
bool bn_file_is_same(const char *a, const char *b);

/* Writes to `out` the path that the symbolic links at `path` lead to, if all of them belong to this
   user or to root.  Returns 0, or -1 and errno: ELOOP, a link belongs to another user or has a
   second name, or there are too many; ENAMETOOLONG.  A link may be replaced afterwards, so
   bn_file_open is to open `out`. */
int bn_file_follow(const char *path, char out[PATH_MAX]);

/* Returns why bn_file_save() cannot save a file, as a sentence that follows its name, or NULL.  A
   run calls this at its start, so that the user need not wait for hours to learn it. */
const char *bn_file_find_fault(const char *path);
/* Returns whether a rename may replace `path`: it is a file or a symbolic link, or there is nothing
   yet.  Descriptors, devices and FIFOs have to be written to in place. */
bool bn_file_is_replaceable(const char *path);
/* Checks whether bn_file_save() could make its file; leaves none.  Returns 0, or -1 and errno. */
int bn_file_try_save(const char *path);
/* Writes a text so that `path` is always the old file or the complete new one, which has the rights
   of the old one.  A symbolic link is replaced.  Descriptors, devices and FIFOs are written to.
   Returns 0, or -1 and errno. */
int bn_file_save(const char *path, const char *text, size_t len);
/* While a FIFO has no reader, the functions that open it wait for a reader as long as `wanted`
   returns true; after that they fail with ENXIO.  Without this call they wait for ever.  Is called
   before any thread is started. */
void bn_file_wait_while(bool (*wanted)(void));
/* Removes the unfinished file that another thread in bn_file_save() has written beside `path`,
   before the process ends by force. */
void bn_file_drop_unsaved(const char *path);

struct bn_buf; /* base/buf.h */
/* Appends the content of a file.  Returns 0, or -1 and errno: EFBIG, the content would exceed the
   maximum of the buffer; ENOMEM.  text->data is not NULL after a success, even for an empty
   file. */
int bn_file_read(const char *path, struct bn_buf *text);
/* As bn_file_read, from a descriptor up to its end. */
int bn_file_read_all(int fd, struct bn_buf *text);

#endif
