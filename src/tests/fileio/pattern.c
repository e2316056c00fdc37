/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the next request: sequential or random, read or write, and the flushes between them. */
#include "tests/fileio/pattern.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Blocks in flight are marked in a table by the low bits of their number: two blocks may share a
   mark, which costs only a second draw.  Neighbouring blocks never share a mark. */
enum { BUSY_MARKS = 1 << 16, TRIES = 32 };

/* Returns whether the threads share a position, marks, a mix, or the count of requests between
   flushes.  Threads that share nothing need not wait for each other. */
static bool pattern_is_shared(const struct bn_pattern_conf *c)
{
  if (!bn_file_mode_is_random(c->mode) || c->exclusive)
    return true;
  if (c->mode == BN_FILE_RNDRD)
    return false;
  return c->fsync_freq > 0 || (c->mode == BN_FILE_RNDRW && c->global_mix);
}

void bn_pattern_init(struct bn_pattern *p, const struct bn_pattern_conf *conf)
{
  *p = (struct bn_pattern){.conf = *conf, .flushed = conf->files};
  p->is_shared = pattern_is_shared(conf);
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
static uint64_t pattern_requests_per_file(const struct bn_pattern_conf *c, uint64_t size)
{
  return (c->span + size - 1) / size;
}

/* Returns the mark of a request's block, which may be that of another block, too (BUSY_MARKS). Each
   request covers one block, of the size of a request.  Blocks are numbered across the files. */
static unsigned char *pattern_find_mark(struct bn_pattern *p, unsigned file, uint64_t offset)
{
  const uint64_t size = bn_file_mode_is_random(p->conf.mode) ? p->conf.block : p->conf.request;
  const uint64_t block = file * pattern_requests_per_file(&p->conf, size) + offset / size;

  return &p->busy[block % BUSY_MARKS];
}

/* Returns whether the block of a request is in use, as far as its mark tells. */
static bool pattern_is_busy(struct bn_pattern *p, const struct bn_draw *d)
{
  return p->busy != NULL && *pattern_find_mark(p, d->file, d->offset) != 0;
}

/* Returns the wanted length, or the length from the offset to the end of the file if less. */
static size_t pattern_length_up_to_end(const struct bn_pattern_conf *c, uint64_t offset,
                                       uint64_t wanted)
{
  const uint64_t remaining = c->span - offset;

  return (size_t)(remaining < wanted ? remaining : wanted);
}

/* Draws the next request of a sequential mode, and moves the position past it.  Returns false if
   its block is in use; then the position stays. */
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

/* Returns the operation of the next random request.  rndrw reads while the reads per write, with
   the request to come counted on both sides, are below the ratio. */
static enum bn_io_op pattern_choose_random_op(const struct bn_pattern_conf *c,
                                              const struct bn_pattern_mix *mix)
{
  bool reads = c->mode == BN_FILE_RNDRD;

  if (c->mode == BN_FILE_RNDRW)
    reads = (double)(mix->reads + 1) / (double)(mix->writes + 1) < c->rw_ratio;
  return reads ? BN_IO_READ : BN_IO_WRITE;
}

static void pattern_count_op(struct bn_pattern_mix *mix, enum bn_io_op op)
{
  mix->reads += op == BN_IO_READ;
  mix->writes += op == BN_IO_WRITE;
}

/* Draws a block that is not in use; the caller has set d->op.  Returns false if TRIES blocks in a
   row were in use. */
static bool pattern_next_at_random(struct bn_pattern *p, struct bn_rng *rng, struct bn_draw *d)
{
  const struct bn_pattern_conf *c = &p->conf;
  const uint64_t per_file = pattern_requests_per_file(c, c->block);

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

/* Draws the next flush of a series, which flushes each file once.  A series begins after every
   fsync_freq requests, if a write was among the requests since the last one.  Returns false if no
   flush is due. */
static bool pattern_next_flush(struct bn_pattern *p, struct bn_draw *d)
{
  const struct bn_pattern_conf *c = &p->conf;

  if (p->flushed == c->files) { /* no series is under way */
    if (c->fsync_freq == 0 || !p->dirty || p->requests % c->fsync_freq != 0)
      return false;
    p->dirty = false;
    p->flushed = 0;
  }
  *d = (struct bn_draw){.op = BN_IO_FSYNC, .file = p->flushed++};
  return true;
}

/* Draws for threads that share nothing.  No block is marked then, so that a draw never fails. */
static void pattern_draw_alone(struct bn_pattern *p, struct bn_rng *rng, struct bn_pattern_mix *mix,
                               struct bn_draw *d)
{
  d->op = pattern_choose_random_op(&p->conf, mix);
  (void)pattern_next_at_random(p, rng, d);
  pattern_count_op(mix, d->op);
}

/* Does the work of bn_pattern_draw(); the caller holds the lock. */
static bool pattern_draw_locked(struct bn_pattern *p, struct bn_rng *rng,
                                struct bn_pattern_mix *mix, struct bn_draw *d)
{
  if (pattern_next_flush(p, d))
    return true;
  if (bn_file_mode_is_random(p->conf.mode)) {
    d->op = pattern_choose_random_op(&p->conf, mix);
    if (!pattern_next_at_random(p, rng, d))
      return false;
  } else if (!pattern_next_in_sequence(p, d)) {
    return false;
  }
  pattern_count_op(mix, d->op);
  p->dirty = p->dirty || d->op == BN_IO_WRITE;
  p->requests++;
  if (p->busy != NULL)
    *pattern_find_mark(p, d->file, d->offset) = 1;
  return true;
}

bool bn_pattern_draw(struct bn_pattern *p, struct bn_rng *rng, struct bn_pattern_mix *mix,
                     struct bn_draw *out)
{
  if (!p->is_shared) {
    pattern_draw_alone(p, rng, mix, out);
    return true;
  }
  (void)pthread_mutex_lock(&p->lock);
  const bool is_drawn = pattern_draw_locked(p, rng, p->conf.global_mix ? &p->mix : mix, out);

  (void)pthread_mutex_unlock(&p->lock);
  return is_drawn;
}

void bn_pattern_release(struct bn_pattern *p, unsigned file, uint64_t offset, enum bn_io_op op)
{
  if (p->busy == NULL || bn_io_is_flush(op))
    return;
  (void)pthread_mutex_lock(&p->lock);
  *pattern_find_mark(p, file, offset) = 0;
  (void)pthread_mutex_unlock(&p->lock);
}
