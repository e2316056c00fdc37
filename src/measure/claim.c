/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims a file by flock(2); what another left under the name is moved aside, never removed. */
#include "measure/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASIDE_MAX = 9999 };

static int cannot(const struct bn_claim *c, const char *why, struct bn_err *err)
{
  return bn_err_set(err, errno, "cannot write the journal '%s': %s", c->path, why);
}

/* Whether the name still leads to the file that is open. */
static bool has_name(const struct bn_claim *c)
{
  struct stat st;

  return lstat(c->path, &st) == 0 && st.st_dev == c->dev && st.st_ino == c->ino;
}

/* rename(2) that replaces nothing, also where the file system has no such call. */
static int move(const char *from, const char *to)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;
  return link(from, to) == 0 ? unlink(from) : -1;
}

static int move_aside(struct bn_claim *c, struct bn_err *err)
{
  for (int n = 1; n <= ASIDE_MAX; n++) {
    char *aside;

    if (asprintf(&aside, "%s.%d", c->path, n) < 0)
      return bn_err_set(err, ENOMEM, "out of memory");
    if (move(c->path, aside) == 0) {
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

/* One that this process has made, or that somebody left before the first byte. */
static bool is_fresh(const struct stat *st)
{
  return st->st_size == 0 && st->st_nlink == 1 && st->st_uid == geteuid();
}

/* With the lock.  0: the file is claimed, 1: the name is free now, -1. */
static int settle(struct bn_claim *c, struct bn_err *err)
{
  struct stat st;

  if (fstat(c->fd, &st) != 0)
    return cannot(c, strerror(errno), err);
  if (!S_ISREG(st.st_mode))
    return cannot(c, "it is not a plain file", err);
  c->dev = st.st_dev;
  c->ino = st.st_ino;
  if (!has_name(c))
    return 1;
  if (is_fresh(&st))
    return 0;
  return move_aside(c, err) == 0 ? 1 : -1;
}

/* As settle(). */
static int try(struct bn_claim *c, struct bn_err *err)
{
  c->fd = open(c->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (c->fd < 0)
    return cannot(c, errno == ELOOP ? "it is a symbolic link" : strerror(errno), err);
  if (flock(c->fd, LOCK_EX | LOCK_NB) == 0)
    return settle(c, err);
  if (errno == EWOULDBLOCK)
    return bn_err_set(err, EBUSY, "'%s' belongs to a run in progress", c->path);
  return bn_err_set(err, errno, "cannot lock '%s': %s", c->path, strerror(errno));
}

static void close_file(struct bn_claim *c)
{
  if (c->fd >= 0)
    (void)close(c->fd);
  c->fd = -1;
}

int bn_claim_take(struct bn_claim *c, const char *path, struct bn_err *err)
{
  int rc;

  memset(c, 0, sizeof *c);
  c->fd = -1;
  c->path = strdup(path);
  if (c->path == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  while ((rc = try(c, err)) > 0)
    close_file(c);
  if (rc == 0)
    return 0;
  close_file(c);
  bn_claim_release(c, BN_CLAIM_UNDO);
  return -1;
}

/* With the lock, so that nobody takes the name in between. */
void bn_claim_release(struct bn_claim *c, enum bn_claim_end how)
{
  if (c->fd >= 0 && how != BN_CLAIM_KEEP && has_name(c))
    (void)unlink(c->path);
  if (how == BN_CLAIM_UNDO && c->aside != NULL)
    (void)move(c->aside, c->path);
  close_file(c);
  free(c->path);
  free(c->aside);
  memset(c, 0, sizeof *c);
  c->fd = -1;
}
