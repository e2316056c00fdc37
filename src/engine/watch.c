/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the watchers and compares their readings. */
#include "engine/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

int bn_watch_init(struct bn_watch *w, const struct bn_watcher *const *watchers, size_t n)
{
  memset(w, 0, sizeof *w);
  if (pthread_mutex_init(&w->lock, NULL) != 0)
    return -1;
  for (; w->n < n; w->n++) {
    w->one[w->n].ops = watchers[w->n];
    w->one[w->n].state = calloc(1, watchers[w->n]->state_size);
    if (w->one[w->n].state == NULL)
      return -1;
  }
  return 0;
}

static void shut(struct bn_watch_one *o)
{
  if (o->open && o->ops->close != NULL)
    o->ops->close(o->state);
  o->open = false;
}

void bn_watch_done(struct bn_watch *w)
{
  for (size_t i = 0; i < w->n; i++) {
    shut(&w->one[i]);
    free(w->one[i].state);
  }
  if (w->n > 0)
    (void)pthread_mutex_destroy(&w->lock);
  w->n = 0;
}

static void tell(const struct bn_watch_one *o, const struct bn_err *err)
{
  bn_log_stderr("--watch=%s: %s", o->ops->name, err->text);
}

void bn_watch_open(struct bn_watch *w, const struct bn_facts *f)
{
  for (size_t i = 0; i < w->n; i++) {
    struct bn_err err = {0};

    w->one[i].open = w->one[i].ops->open(w->one[i].state, f, &err) == 0;
    if (!w->one[i].open)
      tell(&w->one[i], &err);
  }
}

/* The time is that before the reading, which takes a fraction of a millisecond. */
static void read_one(struct bn_watch_one *o, struct bn_reading *r)
{
  struct bn_err err = {0};

  r->at_ns = 0;
  if (!o->open)
    return;
  const uint64_t at_ns = bn_clock_mono();

  if (o->ops->read(o->state, r, &err) == 0) {
    r->at_ns = at_ns;
    return;
  }
  tell(o, &err);
  shut(o);
}

void bn_watch_start(struct bn_watch *w)
{
  if (w->n == 0)
    return;
  (void)pthread_mutex_lock(&w->lock);
  for (size_t i = 0; i < w->n; i++) {
    read_one(&w->one[i], &w->one[i].base);
    w->one[i].last = w->one[i].base;
    w->one[i].end.at_ns = 0;
  }
  (void)pthread_mutex_unlock(&w->lock);
}

/* With the lock. */
static void read_end(struct bn_watch *w)
{
  for (size_t i = 0; i < w->n; i++)
    if (w->one[i].end.at_ns == 0)
      read_one(&w->one[i], &w->one[i].end);
}

void bn_watch_end(struct bn_watch *w)
{
  if (w->n == 0)
    return;
  (void)pthread_mutex_lock(&w->lock);
  read_end(w);
  (void)pthread_mutex_unlock(&w->lock);
}

/* With the lock.  A watcher that has failed since has no figures. */
static void compare(const struct bn_watch_one *o, const struct bn_reading *from,
                    const struct bn_reading *to, const struct bn_view *v, struct bn_watched *out)
{
  if (from->at_ns != 0 && to->at_ns > from->at_ns)
    o->ops->compare(from, to, v, out);
}

/* With the lock. */
static void show_part(struct bn_watch *w, const struct bn_view *v, struct bn_watched *out)
{
  for (size_t i = 0; i < w->n; i++) {
    struct bn_watch_one *o = &w->one[i];
    struct bn_reading *from = v->span == BN_VIEW_INTERVAL ? &o->last : &o->base;

    read_one(o, &o->now);
    compare(o, from, &o->now, v, out);
    *from = o->now;
  }
}

void bn_watch_show(struct bn_watch *w, struct bn_view *v)
{
  struct bn_watched *out = v->span == BN_VIEW_INTERVAL ? &w->interval : &w->sum;

  if (w->n == 0 || v->span == BN_VIEW_TICK)
    return;
  (void)pthread_mutex_lock(&w->lock);
  out->n = 0;
  if (v->span == BN_VIEW_TOTAL) {
    read_end(w);
    for (size_t i = 0; i < w->n; i++)
      compare(&w->one[i], &w->one[i].base, &w->one[i].end, v, out);
  } else {
    show_part(w, v, out);
  }
  v->watched = out->figure;
  v->n_watched = out->n;
  (void)pthread_mutex_unlock(&w->lock);
}
