/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the next request: sequential or random, read or write, and the flushes between them. */
#include "tests/fileio/pattern.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Blocks in flight are marked in a table by the low bits of their number: two blocks may share a
   mark, which costs only a second draw.  Neighbouring blocks never share a mark. */
enum { BUSY_MARKS = 1 << 16, TRIES = 32 };

static bool pattern_is_random(enum bn_file_mode mode)
{
  return mode >= BN_FILE_RNDRD;
}

/* Returns whether the threads share a position, marks, a mix, or a count of writes since a flush.
   Threads that share nothing need not wait for each other. */
static bool pattern_is_shared(const struct bn_pattern_conf *c)
{
  if (!pattern_is_random(c->mode) || c->exclusive)
    return true;
  if (c->mode == BN_FILE_RNDRD)
    return false;
  return c->fsync_freq > 0 || (c->mode == BN_FILE_RNDRW && c->global_mix);
}

void bn_pattern_init(struct bn_pattern *p, const struct bn_pattern_conf *conf)
{
  *p = (struct bn_pattern){.conf = *conf, .flushed = conf->files};
  p->locked = pattern_is_shared(conf);
  p->busy = conf->exclusive ? bn_alloc(BUSY_MARKS, 1) : NULL;
  (void)pthread_mutex_init(&p->lock, NULL);
}

void bn_pattern_done(struct bn_pattern *p)
{
  (void)pthread_mutex_destroy(&p->lock);
  free(p->busy);
  p->busy = NULL;
}

/* Returns how many requests of this size a file has, the last of which may be shorter. */
static uint64_t pattern_count_per_file(const struct bn_pattern_conf *c, uint64_t unit)
{
  return (c->span + unit - 1) / unit;
}

static unsigned char *pattern_mark_of(struct bn_pattern *p, unsigned file, uint64_t offset)
{
  const uint64_t unit = pattern_is_random(p->conf.mode) ? p->conf.block : p->conf.request;
  const uint64_t n = file * pattern_count_per_file(&p->conf, unit) + offset / unit;

  return &p->busy[n % BUSY_MARKS];
}

static bool pattern_is_busy(struct bn_pattern *p, const struct bn_draw *d)
{
  return p->busy != NULL && *pattern_mark_of(p, d->file, d->offset) != 0;
}

static size_t pattern_length_up_to_end(const struct bn_pattern_conf *c, uint64_t offset,
                                       uint64_t wanted)
{
  return (size_t)(c->span - offset < wanted ? c->span - offset : wanted);
}

static bool pattern_next_in_sequence(struct bn_pattern *p, struct bn_draw *d)
{
  const struct bn_pattern_conf *c = &p->conf;

  d->op = c->mode == BN_FILE_SEQRD ? BN_IO_READ : BN_IO_WRITE;
  d->file = p->file;
  d->offset = p->pos;
  d->len = pattern_length_up_to_end(c, p->pos, c->request);
  if (pattern_is_busy(p, d))
    return false;
  p->pos += d->len;
  if (p->pos == c->span) {
    p->pos = 0;
    p->file = p->file + 1 < c->files ? p->file + 1 : 0;
  }
  return true;
}

static enum bn_io_op pattern_random_op(const struct bn_pattern_conf *c,
                                       const struct bn_pattern_mix *mix)
{
  if (c->mode == BN_FILE_RNDRW)
    return (double)(mix->reads + 1) / (double)(mix->writes + 1) < c->rw_ratio ? BN_IO_READ
                                                                              : BN_IO_WRITE;
  return c->mode == BN_FILE_RNDRD ? BN_IO_READ : BN_IO_WRITE;
}

/* Draws a block that is not in use.  Returns false if all that were tried are. */
static bool pattern_next_at_random(struct bn_pattern *p, struct bn_rng *rng, struct bn_draw *d)
{
  const struct bn_pattern_conf *c = &p->conf;
  const uint64_t per_file = pattern_count_per_file(c, c->block);

  for (int i = 0; i < TRIES; i++) {
    const uint64_t block = bn_rng_below(rng, per_file * c->files);

    d->file = (unsigned)(block / per_file);
    d->offset = block % per_file * c->block;
    d->len = pattern_length_up_to_end(c, d->offset, c->block);
    if (!pattern_is_busy(p, d))
      return true;
  }
  return false;
}

/* Draws the next flush of a series; a series begins after fsync_freq requests.  Returns false if
   none is due. */
static bool pattern_next_flush(struct bn_pattern *p, struct bn_draw *d)
{
  const struct bn_pattern_conf *c = &p->conf;

  if (p->flushed == c->files) {
    if (c->fsync_freq == 0 || !p->dirty || p->requests % c->fsync_freq != 0)
      return false;
    p->dirty = false;
    p->flushed = 0;
  }
  *d = (struct bn_draw){.op = BN_IO_FSYNC, .file = p->flushed++};
  return true;
}

/* Draws without shared state. */
static void pattern_draw_alone(struct bn_pattern *p, struct bn_rng *rng, struct bn_pattern_mix *mix,
                               struct bn_draw *d)
{
  d->op = pattern_random_op(&p->conf, mix);
  (void)pattern_next_at_random(p, rng, d);
  mix->reads += d->op == BN_IO_READ;
  mix->writes += d->op == BN_IO_WRITE;
}

/* As bn_pattern_draw; the caller holds the lock. */
static bool pattern_draw_locked(struct bn_pattern *p, struct bn_rng *rng,
                                struct bn_pattern_mix *mix, struct bn_draw *d)
{
  if (pattern_next_flush(p, d))
    return true;
  if (pattern_is_random(p->conf.mode)) {
    d->op = pattern_random_op(&p->conf, mix);
    if (!pattern_next_at_random(p, rng, d))
      return false;
  } else if (!pattern_next_in_sequence(p, d)) {
    return false;
  }
  mix->reads += d->op == BN_IO_READ;
  mix->writes += d->op == BN_IO_WRITE;
  p->dirty = p->dirty || d->op == BN_IO_WRITE;
  p->requests++;
  if (p->busy != NULL)
    *pattern_mark_of(p, d->file, d->offset) = 1;
  return true;
}

bool bn_pattern_draw(struct bn_pattern *p, struct bn_rng *rng, struct bn_pattern_mix *mix,
                     struct bn_draw *out)
{
  bool drawn;

  if (!p->locked) {
    pattern_draw_alone(p, rng, mix, out);
    return true;
  }
  (void)pthread_mutex_lock(&p->lock);
  drawn = pattern_draw_locked(p, rng, p->conf.global_mix ? &p->mix : mix, out);
  (void)pthread_mutex_unlock(&p->lock);
  return drawn;
}

void bn_pattern_release(struct bn_pattern *p, unsigned file, uint64_t offset, enum bn_io_op op)
{
  if (p->busy == NULL || bn_io_is_flush(op))
    return;
  (void)pthread_mutex_lock(&p->lock);
  *pattern_mark_of(p, file, offset) = 0;
  (void)pthread_mutex_unlock(&p->lock);
}
