/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the next request: sequential or random, read or write, and the flushes between them. */
#ifndef BN_TESTS_FILEIO_PATTERN_H
#define BN_TESTS_FILEIO_PATTERN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/ioengine.h"
#include "base/rng.h"

enum bn_file_mode {
  BN_FILE_SEQWR,
  BN_FILE_SEQREWR,
  BN_FILE_SEQRD,
  BN_FILE_RNDRD,
  BN_FILE_RNDWR,
  BN_FILE_RNDRW
};

static inline bool bn_file_mode_is_random(enum bn_file_mode mode)
{
  return mode >= BN_FILE_RNDRD;
}

struct bn_pattern_conf {
  enum bn_file_mode mode;
  unsigned files;
  uint64_t span;       /* bytes of each file that are used, >= 1 */
  uint64_t block;      /* size of random requests; offsets are multiples of it */
  uint64_t request;    /* size of sequential requests: a multiple of block */
  double rw_ratio;     /* reads per write in rndrw */
  bool global_mix;     /* all sessions together keep the ratio instead of each */
  uint64_t fsync_freq; /* flush every file after that many requests; 0: never */
  bool exclusive;      /* no two requests in flight touch the same block */
};

/* Requests drawn so far, for the ratio; one object per session unless global_mix. */
struct bn_pattern_mix {
  uint64_t reads, writes;
};

struct bn_pattern {
  struct bn_pattern_conf conf;
  pthread_mutex_t lock;
  bool is_shared;    /* draws change state that threads share, so they hold the lock */
  uint64_t requests; /* requests drawn so far, without flushes */
  bool dirty;        /* a write was drawn since the last series of flushes */
  unsigned flushed;  /* files flushed in the current series; conf.files: there is no series */
  unsigned file;     /* sequential modes: the file of the next request, and its offset there */
  uint64_t pos;
  struct bn_pattern_mix mix;
  unsigned char *busy; /* exclusive: marks of blocks in flight, by a hash of their number */
};

struct bn_draw {
  enum bn_io_op op; /* BN_IO_FSYNC stands for both kinds of flush */
  unsigned file;
  uint64_t offset;
  size_t len;
};

/* Places a pattern before its first request; conf is copied. */
void bn_pattern_init(struct bn_pattern *p, const struct bn_pattern_conf *conf);
/* Frees the members; no other thread may use the pattern any more. */
void bn_pattern_done(struct bn_pattern *p);
/* Draws a request; any thread, with its own generator and counters.  Returns false if the blocks
   that it tried are in use (exclusive only); then only rng has changed, and the caller tries again
   later. */
bool bn_pattern_draw(struct bn_pattern *p, struct bn_rng *rng, struct bn_pattern_mix *mix,
                     struct bn_draw *out);
/* Ends a drawn request, so that its block can be drawn again; a flush has none.  Any thread. */
void bn_pattern_release(struct bn_pattern *p, unsigned file, uint64_t offset, enum bn_io_op op);

#endif
