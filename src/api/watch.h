/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of watchers: what the host, a device or a server counts while a run lasts. */
#ifndef BN_API_WATCH_H
#define BN_API_WATCH_H

#include <stddef.h>

#include "base/err.h"

struct bn_facts;   /* measure/facts.h */
struct bn_reading; /* measure/watch.h */
struct bn_view;    /* measure/view.h */
struct bn_watched; /* measure/watch.h */

struct bn_watcher {
  const char *name; /* as --watch has it: "host" */
  size_t state_size;
  /* Before the gate opens; the sentence says why there is nothing to watch, and the run goes on. */
  int (*open)(void *self, const struct bn_facts *f, struct bn_err *err);
  /* Fills a reading but for its time.  -1: the watcher is closed, and the run goes on. */
  int (*read)(void *self, struct bn_reading *r, struct bn_err *err);
  /* The figures of the time between two readings of its own: pure.  v: the view of about that
     time. */
  void (*compare)(const struct bn_reading *from, const struct bn_reading *to,
                  const struct bn_view *v, struct bn_watched *out);
  void (*close)(void *self); /* NULL: there is nothing to close */
};

#endif
