/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames that an agent has to send: any thread puts them, and one thread sends them.

   A thread that puts a frame never waits for the reader, so that a slow network holds up no
   report. */
#ifndef BN_HOSTS_SEND_QUEUE_H
#define BN_HOSTS_SEND_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "hosts/frame.h"

/* The most bytes that wait.  If there would be more, the reader counts as gone. */
enum { BN_SEND_QUEUE_MAX = 256 << 20 };

struct bn_send_queue {
  int fd;   /* a pipe or socket; borrowed */
  int wake; /* eventfd: becomes readable when there is something to send */
  pthread_mutex_t lock;
  struct bn_buf queue; /* guarded by the lock, as is the rest */
  size_t sent;         /* how many bytes of the queue have been sent */
  bool broken;         /* nobody reads any more, or there is no memory */
};

/* Prepares a queue for the descriptor.  Returns 0, or -1 and errno; bn_send_queue_done() follows in
   both cases. */
int bn_send_queue_init(struct bn_send_queue *q, int fd);
void bn_send_queue_done(struct bn_send_queue *q);

/* --- any thread --- */

/* Puts a frame, and wakes the sender.  Returns 0, or -1 if the queue is broken, as it is after a
   frame for which it has no room. */
int bn_send_queue_put(struct bn_send_queue *q, enum bn_frame_type type, const void *data,
                      size_t len);
/* Returns how many bytes have not been sent, or 0 if the queue is broken. */
size_t bn_send_queue_get_pending(struct bn_send_queue *q);
/* Returns whether the queue is broken, so that no frame is put or sent any more. */
bool bn_send_queue_is_broken(struct bn_send_queue *q);
/* Makes the eventfd readable, so that the sender looks at the queue. */
void bn_send_queue_wake(struct bn_send_queue *q);

/* --- the thread that sends --- */

/* Sends a piece, once poll(2) has said that the descriptor takes one.  Returns 0, or -1 if that has
   failed; the queue is then broken. */
int bn_send_queue_send_piece(struct bn_send_queue *q);
/* Drops all frames, because nobody reads them.  The queue is broken from then on. */
void bn_send_queue_break(struct bn_send_queue *q);
/* Resets the eventfd after it was readable. */
void bn_send_queue_reset_wake(struct bn_send_queue *q);
/* Sends until nothing is left, or until that time (CLOCK_MONOTONIC), or until the queue breaks. */
void bn_send_queue_flush(struct bn_send_queue *q, uint64_t until_ns);

#endif
