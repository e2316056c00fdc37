/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of watchers, which read counters of the host, a device or a server during a run. */
#ifndef BN_API_WATCH_H
#define BN_API_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct bn_reading; /* measure/watch.h */
struct bn_sqlsys;  /* sql/sql.h */
struct bn_view;    /* measure/view.h */
struct bn_watched; /* measure/watch.h */

/* The things of a test that may be watched. */
struct bn_watch_place {
  const char *folder;    /* folder of the files of the test; NULL: it makes none */
  struct bn_sqlsys *sql; /* NULL: the test has no database */
};

/* A watcher with an interrupt may block: a separate thread calls its open, read and close. */
struct bn_watcher {
  const char *name; /* name for --watch: "host" */
  size_t state_size;
  bool shared; /* its counters are the same for all hosts of a run: the first host watches them */
  bool wraps;  /* its counters wrap around within hours: `read` is called once a minute at least */
  /* Is called before the start barrier opens.  Returns 0; or -1, and err says why there is nothing
     to watch, and the run goes on without this watcher. */
  int (*open)(void *self, const struct bn_watch_place *place, struct bn_err *err);
  /* Fills a reading except its time.  Returns 0, or -1 and err: then it is not called again, and
     the run goes on. */
  int (*read)(void *self, struct bn_reading *r, struct bn_err *err);
  /* Computes figures of the time between two readings.  v is the view of about that time. */
  void (*compare)(void *self, const struct bn_reading *from, const struct bn_reading *to,
                  const struct bn_view *v, struct bn_watched *out);
  void (*interrupt)(void *self); /* called by another thread: makes a blocked read return */
  void (*close)(void *self);     /* paired with open, also a failed one; NULL: nothing to close */
  void (*done)(void *self);      /* frees what figures refer to, after all reports; NULL: nothing */
};

#endif
