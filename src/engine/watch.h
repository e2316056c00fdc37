/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watchers of a run: when they read, and which view gets their figures.

   A reading is made when the measurement begins, when an interval or a checkpoint is reported, and
   at the end of the span.  An interval has the figures since the interval before it; a checkpoint
   and the total have those since the last checkpoint, or since the start.  A watcher that fails
   costs one line on standard error.  A watcher that may block is read by a separate thread.  If it
   does not answer within a tenth of a second at the end of an interval, that interval lacks its
   figures, and those of the next interval cover both intervals. */
#ifndef BN_ENGINE_WATCH_H
#define BN_ENGINE_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/watch.h"
#include "measure/facts.h"
#include "measure/view.h"
#include "measure/watch.h"

enum { BN_WATCHERS_MAX = 8 };

struct bn_watch_slot {
  struct bn_watch *watch;
  const struct bn_watcher *ops;
  void *state;        /* owned */
  bool entered, open; /* ops->open was called; it has succeeded */
  /* The thread of a watcher that may block.  A call that was given up goes on; no other call is
     made until it returns.  The lock of the watch, which is not held during a call, guards these.
   */
  pthread_t thread;
  pthread_cond_t changed;
  bool made;                             /* the thread has been started */
  bool busy;                             /* a call is to be made or has not returned */
  bool stop, gone;                       /* the thread is to end, has ended */
  void (*call)(struct bn_watch_slot *s); /* set while busy */
  /* The results of its calls; those of a call that was given up are ignored. */
  int rc;
  struct bn_err err;
  struct bn_reading answer;
  struct bn_reading base, last, now, end; /* end: at the end of the span */
  /* The transactions since base, and since last, of views that had no reading. */
  uint64_t base_unread, last_unread;
};

struct bn_watch {
  struct bn_watch_slot *slot; /* owned */
  size_t n;
  pthread_mutex_t lock; /* guards the watchers after init */
  struct bn_watch_place place;
  char *folder;                      /* place.folder; owned */
  struct bn_watched *interval, *sum; /* owned; views point at them */
};

/* n <= BN_WATCHERS_MAX; watchers and sql are borrowed.  Without watchers, no function does
   anything. */
void bn_watch_init(struct bn_watch *w, const struct bn_watcher *const *watchers, size_t n,
                   struct bn_sqlsys *sql);
/* Frees the watch, after bn_watch_close has returned true or if nothing was opened. */
void bn_watch_done(struct bn_watch *w);

/* The main thread sets the place that the facts name, opens all watchers, and closes them after the
   last reading. bn_watch_close returns false if a watcher hangs in a call and was abandoned. */
void bn_watch_set_place(struct bn_watch *w, const struct bn_facts *f);
void bn_watch_open(struct bn_watch *w);
bool bn_watch_close(struct bn_watch *w);
/* Make the readings at the begin of the measurement, and again after a warm-up, and those at the
   end of the span, where the first call counts.  Any thread may call these, one call at a time. */
void bn_watch_start(struct bn_watch *w);
void bn_watch_end(struct bn_watch *w);
/* Reads the watchers whose counters wrap around, so that no wrap is missed. */
void bn_watch_follow_counters(struct bn_watch *w);
/* Adds figures to the view of an interval, a checkpoint or the total.  They are valid until the
   next view of that kind. */
void bn_watch_add_figures(struct bn_watch *w, struct bn_view *v);

#endif
