/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A watcher for tests of runs, one of whose calls may hang or take too long. */
#ifndef BN_TESTS_UNIT_TOYWATCH_H
#define BN_TESTS_UNIT_TOYWATCH_H

#include "api/watch.h"
#include "measure/view.h"
#include "simclock.h"

/* How many calls of each there have been, and which one hangs, or answers after the tenth of a
   second that it has, from 1 on; 0: none. */
struct toy_watch {
  unsigned reads, hung_read, late_read;
  bool hung_open;
  uint64_t transactions[16]; /* of which figures were made, in their order */
  unsigned compared;
};
static struct toy_watch toy_watch;

static inline int watch_open(void *self, const struct bn_watch_place *place, struct bn_err *err)
{
  (void)self;
  (void)place;
  (void)err;
  if (toy_watch.hung_open)
    sim_hang();
  return 0;
}

static inline int watch_read(void *self, struct bn_reading *r, struct bn_err *err)
{
  (void)self;
  (void)err;
  if (++toy_watch.reads == toy_watch.hung_read)
    sim_hang();
  sim_sleep_ms(toy_watch.reads == toy_watch.late_read ? 150 : 20);
  r->value[0] = toy_watch.reads;
  return 0;
}

static inline void watch_compare(void *self, const struct bn_reading *from,
                                 const struct bn_reading *to, const struct bn_view *v,
                                 struct bn_watched *out)
{
  (void)self;
  toy_watch.transactions[toy_watch.compared++ % 16] = v->transactions - v->in_grace;
  out->figure[out->n++] =
      (struct bn_watched_figure){"toy_reads", (double)(to->value[0] - from->value[0])};
}

static inline void watch_interrupt(void *self)
{
  (void)self;
}

static const struct bn_watcher toy_watcher = {.name = "toy",
                                              .state_size = 1,
                                              .open = watch_open,
                                              .read = watch_read,
                                              .compare = watch_compare,
                                              .interrupt = watch_interrupt};

#endif
