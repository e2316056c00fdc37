/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims a file by flock(2).  A file that another process has left under the name is moved aside,
   never removed. */
#include "measure/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum { ASIDE_MAX = 9999 }; /* the last number of a file that is moved aside, PATH.9999 */
enum { TRIES_MAX = 100 };  /* to claim a name that other processes take */

/* How a step of a claim went.  After STEP_FAILED, err has the reason. */
enum step {
  STEP_DONE,  /* the next step can follow; after the last one the file is claimed */
  STEP_RETRY, /* the name leads to another file now, or to none: begin again */
  STEP_FAILED
};

/* The file that an attempt has opened. */
struct found {
  bool is_new;      /* this attempt has made the file */
  bool is_writable; /* for this user */
  bool is_locked;   /* false: its file system has no locks */
};

/* Sets err: the file is refused because of an errno value, which `why` explains.  Returns
   STEP_FAILED. */
static enum step lockfile_refuse(const struct bn_lockfile *l, int error, const char *why,
                                 struct bn_err *err)
{
  (void)bn_err_set(err, error, "cannot write the journal '%s': %s", l->path, why);
  return STEP_FAILED;
}

/* Returns whether the name still leads to the file that is open. */
static bool lockfile_has_name(const struct bn_lockfile *l)
{
  struct stat of_fd, of_name;

  return fstat(l->fd, &of_fd) == 0 && lstat(l->path, &of_name) == 0 &&
         of_fd.st_dev == of_name.st_dev && of_fd.st_ino == of_name.st_ino;
}

/* Renames a file unless the new name is taken, which is errno EEXIST.  A file system without
   RENAME_NOREPLACE needs two calls.  Returns 0, or -1 and errno. */
static int lockfile_move(const char *from, const char *to)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  return link(from, to) == 0 ? unlink(from) : -1;
}

/* Renames the file at l->path to PATH.1, or the next number that is free, which l->aside gets. */
static enum step lockfile_move_aside(struct bn_lockfile *l, struct bn_err *err)
{
  int error = EEXIST;

  for (int n = 1; error == EEXIST && n <= ASIDE_MAX; n++) {
    char *aside = bn_alloc_print("%s.%d", l->path, n);

    if (lockfile_move(l->path, aside) == 0) {
      free(l->aside);
      l->aside = aside;
      return STEP_RETRY;
    }
    error = errno; /* before free(), which may change it */
    free(aside);
  }
  (void)bn_err_set(err, error, "cannot rename '%s', which another run has left: %s", l->path,
                   strerror(error));
  return STEP_FAILED;
}

/* Decides what to do with the open file: claims it if it is empty and nobody else writes to it, or
   moves it aside for another attempt.  Checks that it still has its name: another process may have
   moved or removed it before the lock.  An empty file that this attempt did not make is of a
   process that has not written its first byte: only the lock shows that this process has ended. */
static enum step lockfile_claim_or_move(struct bn_lockfile *l, const struct found *f,
                                        struct bn_err *err)
{
  struct stat st;
  bool is_ours;

  if (fstat(l->fd, &st) != 0)
    return lockfile_refuse(l, errno, strerror(errno), err);
  if (!S_ISREG(st.st_mode))
    return lockfile_refuse(l, EINVAL, "it is not a regular file", err);
  if (!lockfile_has_name(l))
    return STEP_RETRY;
  /* Servers and file systems may give a new file to another user. */
  is_ours =
      f->is_new || (f->is_locked && f->is_writable && st.st_nlink == 1 && st.st_uid == geteuid());
  return st.st_size == 0 && is_ours ? STEP_DONE : lockfile_move_aside(l, err);
}

/* Returns why a file could not be opened.  ELOOP means that the file is a symbolic link, which
   O_NOFOLLOW refuses, or that links in its path lead in circles. */
static const char *lockfile_reason(const struct bn_lockfile *l, int error)
{
  struct stat st;

  if (error == EACCES)
    return "Permission denied; remove this file or name another";
  if (error == ELOOP && lstat(l->path, &st) == 0 && S_ISLNK(st.st_mode))
    return "it is a symbolic link";
  return strerror(error);
}

/* Makes the file, or opens the one that exists.  A file of another user that cannot be written is
   opened for reading, so that it can be moved aside; O_NONBLOCK, because opening a FIFO would wait
   for a writer. */
static enum step lockfile_open_file(struct bn_lockfile *l, struct found *f, struct bn_err *err)
{
  enum { FLAGS = O_APPEND | O_CLOEXEC | O_NOFOLLOW };
  int error;

  l->fd = open(l->path, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0666);
  f->is_new = f->is_writable = l->fd >= 0;
  if (l->fd >= 0)
    return STEP_DONE;
  if (errno != EEXIST)
    return lockfile_refuse(l, errno, strerror(errno), err);
  l->fd = open(l->path, O_RDWR | FLAGS);
  f->is_writable = l->fd >= 0;
  if (l->fd < 0 && errno == EACCES)
    l->fd = open(l->path, O_RDONLY | O_NONBLOCK | FLAGS);
  if (l->fd >= 0)
    return STEP_DONE;
  error = errno;
  if (error == ENOENT) /* the file was removed meanwhile */
    return STEP_RETRY;
  return lockfile_refuse(l, error, lockfile_reason(l, error), err);
}

/* Tries once to claim the name.  On a file system without locks (NFS without its lock service,
   Lustre, FUSE), a journal in use may be moved aside; its run goes on writing to it under the other
   name. */
static enum step lockfile_try_claim(struct bn_lockfile *l, struct bn_err *err)
{
  struct found f = {.is_new = false};
  const enum step opened = lockfile_open_file(l, &f, err);

  if (opened != STEP_DONE)
    return opened;
  f.is_locked = flock(l->fd, LOCK_EX | LOCK_NB) == 0;
  if (!f.is_locked && errno == EWOULDBLOCK) {
    (void)bn_err_set(err, EBUSY, "'%s' belongs to a run in progress", l->path);
    return STEP_FAILED;
  }
  return lockfile_claim_or_move(l, &f, err);
}

/* Closes the file if it is open, which also ends the lock. */
static void lockfile_close_file(struct bn_lockfile *l)
{
  if (l->fd >= 0)
    (void)close(l->fd);
  l->fd = -1;
}

int bn_lockfile_claim(struct bn_lockfile *l, const char *path, struct bn_err *err)
{
  enum step step = STEP_RETRY;

  memset(l, 0, sizeof *l);
  l->fd = -1;
  l->path = bn_alloc_text(path);
  for (int n = 0; step == STEP_RETRY && n < TRIES_MAX; n++) {
    lockfile_close_file(l); /* of the attempt before */
    step = lockfile_try_claim(l, err);
  }
  if (step == STEP_DONE)
    return 0;
  if (step == STEP_RETRY)
    (void)bn_err_set(err, EAGAIN,
                     "cannot write the journal '%s': others took its name %d times; name another "
                     "file",
                     l->path, (int)TRIES_MAX);
  lockfile_close_file(l); /* first, because a file that is not claimed must not be removed */
  bn_lockfile_release(l, BN_LOCKFILE_UNDO);
  return -1;
}

/* The lock ends last: without it another run could claim the file before it is removed.
   lockfile_move() replaces no file: if another run has taken the name since, the file that was
   moved aside keeps its other name. */
void bn_lockfile_release(struct bn_lockfile *l, enum bn_lockfile_end how)
{
  if (l->fd >= 0 && how != BN_LOCKFILE_KEEP && lockfile_has_name(l))
    (void)unlink(l->path);
  if (how == BN_LOCKFILE_UNDO && l->aside != NULL)
    (void)lockfile_move(l->aside, l->path);
  lockfile_close_file(l);
  free(l->path);
  free(l->aside);
  memset(l, 0, sizeof *l);
  l->fd = -1;
}
