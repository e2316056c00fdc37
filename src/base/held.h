/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages for standard error, buffered so that no thread waits for its reader.

   A regular file takes everything at once, and a pipe as much as it has room for.  A thread, which
   exists while something is buffered, writes the rest. */
#ifndef BN_BASE_HELD_H
#define BN_BASE_HELD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* All zero except the lock, which is last in the order of locks.  Any thread may make any call. */
struct bn_held {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* made by the first begin */
  pthread_t writer;
  struct bn_buf text; /* buffered text */
  size_t taken;       /* bytes that the writer has removed from `text` and is writing */
  unsigned lost;      /* messages that did not fit and have not been reported */
  bool can_wait;      /* `changed` has been made */
  bool on;
  bool made; /* the writer was started and is not joined */
  bool runs; /* the writer may still take from `text` */
  bool slow; /* a thread has waited for the writer in vain */
};

/* From bn_held_begin on, up to 1 MiB may be buffered; the number of messages beyond that is
   reported. bn_held_end waits, without limit, until the reader has taken everything. */
void bn_held_begin(struct bn_held *h);
void bn_held_end(struct bn_held *h);
/* Buffers or writes text and end as one piece.  Waits at most 0.1 s, and not at all after a wait in
   vain, so that an active reader sees messages in their order.  Returns false outside of begin and
   end, and then does nothing. */
bool bn_held_put(struct bn_held *h, const char *text, const char *end);
/* Writes at most PIPE_BUF bytes at once.  Returns false if standard error takes nothing now, true
   also if the write failed. */
bool bn_held_try(const char *text, size_t len);

#endif
