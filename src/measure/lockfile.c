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
  bool made;     /* the file is new */
  bool writable; /* for this user */
  bool locked;   /* false: its file system has no locks */
};

static int lockfile_refuse(const struct bn_lockfile *l, const char *why, struct bn_err *err)
{
  return bn_err_set(err, errno, "cannot write the journal '%s': %s", l->path, why);
}

/* Returns whether the name still leads to the file that is open. */
static bool lockfile_has_name(const struct bn_lockfile *l)
{
  struct stat st;

  return lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino;
}

/* Renames a file, but replaces none.  A file system without RENAME_NOREPLACE needs two calls. */
static int lockfile_move(const char *from, const char *to)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  return link(from, to) == 0 ? unlink(from) : -1;
}

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

/* Returns whether no other process writes to the file.  An empty file that is not new was left by a
   process before its first byte; the lock says that this process is gone. */
static bool lockfile_is_free(const struct found *f, const struct stat *st)
{
  if (st->st_size != 0)
    return false;
  /* Servers and file systems may give a new file to another user. */
  if (f->made)
    return true;
  return f->locked && f->writable && st->st_nlink == 1 && st->st_uid == geteuid();
}

/* Returns 0 if the file is locked, 1 if the name is free now or was taken by another file, or -1
   and err. */
static int lockfile_settle(struct bn_lockfile *l, const struct found *f, struct bn_err *err)
{
  struct stat st;

  if (fstat(l->fd, &st) != 0)
    return lockfile_refuse(l, strerror(errno), err);
  if (!S_ISREG(st.st_mode))
    return lockfile_refuse(l, "it is not a plain file", err);
  l->dev = st.st_dev;
  l->ino = st.st_ino;
  if (!lockfile_has_name(l))
    return 1;
  if (lockfile_is_free(f, &st))
    return 0;
  return lockfile_move_aside(l, err) == 0 ? 1 : -1;
}

/* Makes the file, or opens the file that exists; to move that of another user aside, it need not be
   writable.  Returns 0, 1 if the file has gone meanwhile, or -1 and err. */
static int lockfile_open_file(struct bn_lockfile *l, struct found *f, struct bn_err *err)
{
  enum { FLAGS = O_APPEND | O_CLOEXEC | O_NOFOLLOW };

  l->fd = open(l->path, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0666);
  f->made = f->writable = l->fd >= 0;
  if (l->fd >= 0)
    return 0;
  if (errno != EEXIST)
    return lockfile_refuse(l, strerror(errno), err);
  l->fd = open(l->path, O_RDWR | FLAGS);
  f->writable = l->fd >= 0;
  if (l->fd < 0 && errno == EACCES)
    l->fd = open(l->path, O_RDONLY | O_NONBLOCK | FLAGS);
  if (l->fd >= 0)
    return 0;
  if (errno == ENOENT)
    return 1;
  if (errno == EACCES)
    return lockfile_refuse(l, "Permission denied; remove this file or name another", err);
  return lockfile_refuse(l, errno == ELOOP ? "it is a symbolic link" : strerror(errno), err);
}

/* Tries once to claim the name.  Returns as lockfile_settle().  On a file system without locks (NFS
   without its lock service, Lustre, FUSE), a journal in use may be moved aside; neither run loses
   anything. */
static int lockfile_try_claim(struct bn_lockfile *l, struct bn_err *err)
{
  struct found f = {false, false, false};
  const int rc = lockfile_open_file(l, &f, err);

  if (rc != 0)
    return rc;
  f.locked = flock(l->fd, LOCK_EX | LOCK_NB) == 0;
  if (!f.locked && errno == EWOULDBLOCK)
    return bn_err_set(err, EBUSY, "'%s' belongs to a run in progress", l->path);
  return lockfile_settle(l, &f, err);
}

static void lockfile_close_file(struct bn_lockfile *l)
{
  if (l->fd >= 0)
    (void)close(l->fd);
  l->fd = -1;
}

int bn_lockfile_take(struct bn_lockfile *l, const char *path, struct bn_err *err)
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

/* If another run takes the name once it is free, what stands aside stays there. */
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
