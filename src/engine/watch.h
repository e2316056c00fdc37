/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is watched beside a run: when readings are made, and which view gets their figures.

   A reading is made when the measurement begins, when an interval or a checkpoint is reported, and
   at the end of the span.  An interval has the figures since the one before it, a checkpoint and
   the total those since the last checkpoint, or since the start.  A watcher that fails costs one
   line on standard error, and nothing else.  One that may block is read by a thread of its own,
   and has no figures of an interval at whose end it does not answer in a tenth of a second; the
   next one's are of both.  Without watchers, nothing is done. */
#ifndef BN_ENGINE_WATCH_H
#define BN_ENGINE_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/watch.h"
#include "engine/timed_call.h"
#include "measure/facts.h"
#include "measure/view.h"
#include "measure/watch.h"

enum { BN_WATCHERS_MAX = 8 };

struct bn_watch_one {
  const struct bn_watcher *ops;
  const struct bn_watch_place *place; /* the watch's */
  void *state;                        /* owned */
  bool entered, open;                 /* entered: open was called */
  struct bn_timed_call timed_call;    /* of one that may block */
  /* What its calls return; those of a call that was given up are nobody's. */
  int rc;
  struct bn_err err;
  struct bn_reading answer;
  struct bn_reading base, last, now, end; /* end: of the span */
};

struct bn_watch {
  struct bn_watch_one *one; /* owned */
  size_t n;
  pthread_mutex_t lock; /* of all that follows init */
  struct bn_watch_place place;
  char *folder;                      /* of the place; owned */
  struct bn_watched *interval, *sum; /* owned; what views point at */
};

/* watchers: n <= BN_WATCHERS_MAX, borrowed, as is sql.  0 or -1: out of memory. */
int bn_watch_init(struct bn_watch *w, const struct bn_watcher *const *watchers, size_t n,
                  struct bn_sqlsys *sql);
/* After close, which has returned true, unless nothing was opened. */
void bn_watch_done(struct bn_watch *w);

/* The main thread: what the facts say of the place; opens all; closes all, when no more is read.
   false: one hangs in a call and is left behind. */
void bn_watch_place(struct bn_watch *w, const struct bn_facts *f);
void bn_watch_open(struct bn_watch *w);
bool bn_watch_close(struct bn_watch *w);
/* Any thread, one after the other: the measurement begins, or begins anew after a warm-up; the span
   ends, which counts the first time. */
void bn_watch_start(struct bn_watch *w);
void bn_watch_end(struct bn_watch *w);
/* Gives a view of an interval, a checkpoint or the total its figures; they stay until the next of
   that kind. */
void bn_watch_show(struct bn_watch *w, struct bn_view *v);

#endif
