/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims a file by flock(2); what another left under the name is moved aside, never removed. */
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

enum { ASIDE_MAX = 9999, TRIES_MAX = 100 };

/* The state of the file that an attempt has found. */
struct found {
  bool is_new;      /* this attempt has made it */
  bool is_writable; /* for this user */
  bool is_locked;   /* false: its file system has no locks */
};

/* Refuses the file because of an errno value, which `why` explains.  Returns -1. */
static int lockfile_refuse(const struct bn_lockfile *l, int error, const char *why,
                           struct bn_err *err)
{
  return bn_err_set(err, error, "cannot write the journal '%s': %s", l->path, why);
}

/* Returns whether the name still leads to the file that is open. */
static bool lockfile_has_name(const struct bn_lockfile *l)
{
  struct stat st;

  return lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino;
}

/* Renames a file, but replaces none.  A file system without RENAME_NOREPLACE needs two calls.
   Returns 0, or -1 and errno; EEXIST: there is a file of the new name. */
static int lockfile_move(const char *from, const char *to)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  return link(from, to) == 0 ? unlink(from) : -1;
}

/* Gives the file that has the name another one, and notes it.  Returns 0, or -1 and err. */
static int lockfile_move_aside(struct bn_lockfile *l, struct bn_err *err)
{
  int error = EEXIST;

  for (int n = 1; error == EEXIST && n <= ASIDE_MAX; n++) {
    char *aside = bn_alloc_print("%s.%d", l->path, n);

    if (lockfile_move(l->path, aside) == 0) {
      free(l->aside);
      l->aside = aside;
      return 0;
    }
    error = errno; /* before free(), which may change it */
    free(aside);
  }
  return bn_err_set(err, error, "cannot rename '%s', which another run has left: %s", l->path,
                    strerror(error));
}

/* Returns whether the file can be used as it is: nobody writes to it, and nothing is in it.  An
   empty file that is not new was left by a process before its first byte; that this process is gone
   is known only by the lock. */
static bool lockfile_is_free(const struct found *f, const struct stat *st)
{
  if (st->st_size != 0)
    return false;
  /* Servers and file systems may give a new file to another user. */
  if (f->is_new)
    return true;
  return f->is_locked && f->is_writable && st->st_nlink == 1 && st->st_uid == geteuid();
}

/* Decides about the file that is open.  Returns 0 if it is claimed; 1 if its name is free now or
   leads to another file, so that another attempt is needed; or -1 and err. */
static int lockfile_settle(struct bn_lockfile *l, const struct found *f, struct bn_err *err)
{
  struct stat st;

  if (fstat(l->fd, &st) != 0)
    return lockfile_refuse(l, errno, strerror(errno), err);
  if (!S_ISREG(st.st_mode))
    return lockfile_refuse(l, EINVAL, "it is not a plain file", err);
  l->dev = st.st_dev;
  l->ino = st.st_ino;
  if (!lockfile_has_name(l))
    return 1;
  if (lockfile_is_free(f, &st))
    return 0;
  return lockfile_move_aside(l, err) == 0 ? 1 : -1;
}

/* Returns why a file could not be opened: ELOOP may mean the file itself, which is not followed, or
   a folder on its way. */
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
   opened for reading, so that it can be moved aside.  Returns 0, 1 if the file has gone meanwhile,
   or -1 and err. */
static int lockfile_open_file(struct bn_lockfile *l, struct found *f, struct bn_err *err)
{
  enum { FLAGS = O_APPEND | O_CLOEXEC | O_NOFOLLOW };
  int error;

  l->fd = open(l->path, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0666);
  f->is_new = f->is_writable = l->fd >= 0;
  if (l->fd >= 0)
    return 0;
  if (errno != EEXIST)
    return lockfile_refuse(l, errno, strerror(errno), err);
  l->fd = open(l->path, O_RDWR | FLAGS);
  f->is_writable = l->fd >= 0;
  if (l->fd < 0 && errno == EACCES)
    l->fd = open(l->path, O_RDONLY | O_NONBLOCK | FLAGS);
  if (l->fd >= 0)
    return 0;
  error = errno;
  return error == ENOENT ? 1 : lockfile_refuse(l, error, lockfile_reason(l, error), err);
}

/* Tries once to claim the name.  Returns as lockfile_settle().  On a file system without locks (NFS
   without its lock service, Lustre, FUSE), a journal in use may be moved aside; its run goes on
   writing to it under the other name. */
static int lockfile_try_claim(struct bn_lockfile *l, struct bn_err *err)
{
  struct found f = {false, false, false};
  const int rc = lockfile_open_file(l, &f, err);

  if (rc != 0)
    return rc;
  f.is_locked = flock(l->fd, LOCK_EX | LOCK_NB) == 0;
  if (!f.is_locked && errno == EWOULDBLOCK)
    return bn_err_set(err, EBUSY, "'%s' belongs to a run in progress", l->path);
  return lockfile_settle(l, &f, err);
}

static void lockfile_close_file(struct bn_lockfile *l)
{
  if (l->fd >= 0)
    (void)close(l->fd);
  l->fd = -1;
}

int bn_lockfile_claim(struct bn_lockfile *l, const char *path, struct bn_err *err)
{
  int rc = 1;

  memset(l, 0, sizeof *l);
  l->fd = -1;
  l->path = bn_alloc_text(path);
  for (int n = 0; rc > 0 && n < TRIES_MAX; n++) {
    lockfile_close_file(l);
    rc = lockfile_try_claim(l, err);
  }
  if (rc == 0)
    return 0;
  if (rc > 0)
    (void)bn_err_set(err, EAGAIN,
                     "cannot write the journal '%s': others took its name %d times; name another "
                     "file",
                     l->path, (int)TRIES_MAX);
  lockfile_close_file(l);
  bn_lockfile_release(l, BN_LOCKFILE_UNDO);
  return -1;
}

/* If another run has taken the name since, the file that was moved aside keeps its other name. */
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
