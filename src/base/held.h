/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said on standard error while nobody is to wait for its reader.

   A regular file takes everything at once, and a pipe as much as it has room for.  What is left is
   written by a thread, which is there as long as something waits. */
#ifndef BN_BASE_HELD_H
#define BN_BASE_HELD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Zero but for the lock, which is taken last.  Any thread may make any call. */
struct bn_held {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* made by the first begin */
  pthread_t writer;
  struct bn_buf text; /* waits */
  size_t taken;       /* bytes that the writer has taken from it and is writing */
  unsigned lost;      /* messages for which there was no room, and nobody has been told */
  bool can_wait;      /* `changed` has been made */
  bool on;
  bool made; /* the writer, and it is not joined */
  bool runs; /* it has not seen yet that nothing waits */
  bool slow; /* and somebody has waited for it in vain */
};

/* From begin on, up to 1 MiB may wait; of messages above that the number is told.  end waits until
   everything is written: its reader decides how long. */
void bn_held_begin(struct bn_held *h);
void bn_held_end(struct bn_held *h);
/* Takes both as one piece.  Waits at most 0.1 s, and not at all once that was in vain, so that a
   reader who reads sees messages in their order.  false: outside, and nothing has been done. */
bool bn_held_put(struct bn_held *h, const char *text, const char *end);
/* Writes at most PIPE_BUF bytes at once.  false: standard error takes nothing now.  true also if it
   failed: nobody could be told. */
bool bn_held_try(const char *text, size_t len);

#endif
