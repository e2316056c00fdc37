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

static int lockfile_cannot(const struct bn_lockfile *c, const char *why, struct bn_err *err)
{
  return bn_err_set(err, errno, "cannot write the journal '%s': %s", c->path, why);
}

/* Whether the name still leads to the file that is open. */
static bool has_name(const struct bn_lockfile *c)
{
  struct stat st;

  return lstat(c->path, &st) == 0 && st.st_dev == c->dev && st.st_ino == c->ino;
}

/* rename(2) that replaces nothing, also where the file system has no such call. */
static int lockfile_move(const char *from, const char *to)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  return link(from, to) == 0 ? unlink(from) : -1;
}

static int move_aside(struct bn_lockfile *c, struct bn_err *err)
{
  for (int n = 1; n <= ASIDE_MAX; n++) {
    char *aside = bn_alloc_print("%s.%d", c->path, n);

    if (lockfile_move(c->path, aside) == 0) {
      free(c->aside);
      c->aside = aside;
      return 0;
    }
    free(aside);
    if (errno != EEXIST)
      break;
  }
  return bn_err_set(err, errno, "cannot rename '%s', which another run has left: %s", c->path,
                    strerror(errno));
}

/* Nobody else writes to the file.  An empty one that is not new is what a process left before its
   first byte, if a lock says that the process is gone. */
static bool is_free(const struct found *f, const struct stat *st)
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
static int lockfile_settle(struct bn_lockfile *c, const struct found *f, struct bn_err *err)
{
  struct stat st;

  if (fstat(c->fd, &st) != 0)
    return lockfile_cannot(c, strerror(errno), err);
  if (!S_ISREG(st.st_mode))
    return lockfile_cannot(c, "it is not a plain file", err);
  c->dev = st.st_dev;
  c->ino = st.st_ino;
  if (!has_name(c))
    return 1;
  if (is_free(f, &st))
    return 0;
  return move_aside(c, err) == 0 ? 1 : -1;
}

/* Makes the file or opens the one there is.  One that another user has left can be moved aside
   without being written.  0, 1: it is gone, -1. */
static int open_file(struct bn_lockfile *c, struct found *f, struct bn_err *err)
{
  enum { FLAGS = O_APPEND | O_CLOEXEC | O_NOFOLLOW };

  c->fd = open(c->path, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0666);
  f->made = f->writable = c->fd >= 0;
  if (c->fd >= 0)
    return 0;
  if (errno != EEXIST)
    return lockfile_cannot(c, strerror(errno), err);
  c->fd = open(c->path, O_RDWR | FLAGS);
  f->writable = c->fd >= 0;
  if (c->fd < 0 && errno == EACCES)
    c->fd = open(c->path, O_RDONLY | O_NONBLOCK | FLAGS);
  if (c->fd >= 0)
    return 0;
  if (errno == ENOENT)
    return 1;
  if (errno == EACCES)
    return lockfile_cannot(c, "Permission denied; remove this file or name another", err);
  return lockfile_cannot(c, errno == ELOOP ? "it is a symbolic link" : strerror(errno), err);
}

/* As lockfile_settle().  Where there are no locks (NFS without its lock service, Lustre, FUSE), a
   journal in use may be moved aside, which costs neither run anything. */
static int lockfile_try(struct bn_lockfile *c, struct bn_err *err)
{
  struct found f = {false, false, false};
  const int rc = open_file(c, &f, err);

  if (rc != 0)
    return rc;
  f.locked = flock(c->fd, LOCK_EX | LOCK_NB) == 0;
  if (!f.locked && errno == EWOULDBLOCK)
    return bn_err_set(err, EBUSY, "'%s' belongs to a run in progress", c->path);
  return lockfile_settle(c, &f, err);
}

static void close_file(struct bn_lockfile *c)
{
  if (c->fd >= 0)
    (void)close(c->fd);
  c->fd = -1;
}

int bn_lockfile_take(struct bn_lockfile *c, const char *path, struct bn_err *err)
{
  int rc = 1;

  memset(c, 0, sizeof *c);
  c->fd = -1;
  c->path = bn_alloc_text(path);
  for (int n = 0; rc > 0 && n < TRIES_MAX; n++) {
    close_file(c);
    rc = lockfile_try(c, err);
  }
  if (rc == 0)
    return 0;
  if (rc > 0)
    (void)bn_err_set(err, EAGAIN,
                     "cannot write the journal '%s': others took its name %d times; name another "
                     "file",
                     c->path, (int)TRIES_MAX);
  close_file(c);
  bn_lockfile_release(c, BN_LOCKFILE_UNDO);
  return -1;
}

/* If another run takes the name once it is free, what stands aside stays there. */
void bn_lockfile_release(struct bn_lockfile *c, enum bn_lockfile_end how)
{
  if (c->fd >= 0 && how != BN_LOCKFILE_KEEP && has_name(c))
    (void)unlink(c->path);
  if (how == BN_LOCKFILE_UNDO && c->aside != NULL)
    (void)lockfile_move(c->aside, c->path);
  close_file(c);
  free(c->path);
  free(c->aside);
  memset(c, 0, sizeof *c);
  c->fd = -1;
}
