/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of watchers: what the host, a device or a server counts while a run lasts. */
#ifndef BN_API_WATCH_H
#define BN_API_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct bn_reading; /* measure/watch.h */
struct bn_sqlsys;  /* sql/sql.h */
struct bn_view;    /* measure/view.h */
struct bn_watched; /* measure/watch.h */

/* What there may be to watch. */
struct bn_watch_place {
  const char *folder;    /* where the test makes its files; NULL: it makes none */
  struct bn_sqlsys *sql; /* NULL: the test has no database */
};

/* A watcher with an interrupt may block: open, read and close are called by a thread of its own. */
struct bn_watcher {
  const char *name; /* as --watch has it: "host" */
  size_t state_size;
  bool shared; /* what it counts is the same for all hosts of a run: the first one watches it */
  /* Before the start barrier opens; the sentence says why there is nothing to watch, and the run
   * goes on. */
  int (*open)(void *self, const struct bn_watch_place *place, struct bn_err *err);
  /* Fills a reading but for its time.  -1: nothing is read any more, and the run goes on. */
  int (*read)(void *self, struct bn_reading *r, struct bn_err *err);
  /* The figures of the time between two readings of its own.  v: the view of about that time. */
  void (*compare)(void *self, const struct bn_reading *from, const struct bn_reading *to,
                  const struct bn_view *v, struct bn_watched *out);
  void (*interrupt)(void *self); /* from another thread: the read that blocks returns */
  void (*close)(void *self);     /* paired with open, also a failed one; NULL: nothing to close */
  void (*done)(void *self);      /* frees what figures refer to, after all reports; NULL: nothing */
};

#endif
