/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that belongs to one process while it runs, which it shows by a lock.  The lock goes with
   the process, so that a file without one is what a killed process left.  Where the file system has
   no locks, files are claimed without one. */
#ifndef BN_MEASURE_LOCKFILE_H
#define BN_MEASURE_LOCKFILE_H

#include <sys/types.h>

#include "base/err.h"

struct bn_lockfile {
  int fd;      /* for appending; -1: nothing is claimed */
  char *path;  /* owned */
  char *aside; /* owned; where that stands now which had the name before; NULL: nothing had */
  dev_t dev;   /* of the file */
  ino_t ino;
};

enum bn_lockfile_end {
  BN_LOCKFILE_KEEP,   /* the file stays */
  BN_LOCKFILE_REMOVE, /* the file is removed */
  BN_LOCKFILE_UNDO    /* as if it had not been claimed: what stands aside gets its name again */
};

/* Makes an empty file.  One of that name that nobody holds becomes PATH.1, or the next that is
   free.  -1: err says why, with the code EBUSY when another process holds it; nothing is
   claimed. */
int bn_lockfile_take(struct bn_lockfile *l, const char *path, struct bn_err *err);
/* Also of a claim without a file, or all zero but fd. */
void bn_lockfile_release(struct bn_lockfile *l, enum bn_lockfile_end how);

#endif
