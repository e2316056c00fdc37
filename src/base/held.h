/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said on standard error while nobody is to wait for its reader. */
#ifndef BN_BASE_HELD_H
#define BN_BASE_HELD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Zero but for the lock, which is taken last.  Any thread may make any call. */
struct bn_held {
  pthread_mutex_t lock;
  struct bn_buf text; /* what standard error did not take at once */
  size_t gone;        /* bytes of it that have been written */
  bool on;
};

/* From begin on, what standard error does not take at once, up to 1 MiB, follows with a later
   text.  Texts above that are lost.  end gives what is left, to be printed from byte *gone on and
   to be freed. */
void bn_held_begin(struct bn_held *h);
struct bn_buf bn_held_end(struct bn_held *h, size_t *gone);
/* Takes both as one piece; false: outside, and nothing has been done. */
bool bn_held_put(struct bn_held *h, const char *text, const char *end);
/* Writes at most PIPE_BUF bytes at once.  false: standard error takes nothing now.  true also if it
   failed: nobody could be told. */
bool bn_held_write(const char *text, size_t len);

#endif
