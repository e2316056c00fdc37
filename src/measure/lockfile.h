/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that belongs to one process, which holds a lock on it while it runs.  The lock goes with
   the process, so that a file without a lock was left by a process that was killed.  Where the file
   system has no locks, files are claimed without one. */
#ifndef BN_MEASURE_LOCKFILE_H
#define BN_MEASURE_LOCKFILE_H

#include "base/err.h"

struct bn_lockfile {
  int fd;      /* for appending; -1: nothing is claimed */
  char *path;  /* owned */
  char *aside; /* owned; the new name of the file that had `path` before; NULL: none had it */
};

enum bn_lockfile_end {
  BN_LOCKFILE_KEEP,   /* the file stays */
  BN_LOCKFILE_REMOVE, /* the file is removed */
  BN_LOCKFILE_UNDO    /* it is removed, and the file that was moved aside gets its name again */
};

/* Makes an empty file and locks it.  A file of that name which nobody holds becomes PATH.1, or the
   next number that is free.  Returns 0, or -1 and err, with the code EBUSY if another process holds
   the file; then nothing is claimed. */
int bn_lockfile_claim(struct bn_lockfile *l, const char *path, struct bn_err *err);
/* Ends a claim.  Afterwards all members are zero, but fd is -1.  A claim that failed, or one that
   is in this state already, may be released too. */
void bn_lockfile_release(struct bn_lockfile *l, enum bn_lockfile_end how);

#endif
