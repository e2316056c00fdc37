/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames that an agent has to send: any thread puts them, one sends them.

   Who puts never waits for the reader, so a slow network holds up no report. */
#ifndef BN_HOSTS_SEND_QUEUE_H
#define BN_HOSTS_SEND_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "hosts/frame.h"

/* More than that waits for no reader: it is taken for gone. */
enum { BN_SEND_QUEUE_MAX = 256 << 20 };

struct bn_send_queue {
  int fd;   /* a pipe or socket; borrowed */
  int wake; /* eventfd: becomes readable when there is something to send */
  pthread_mutex_t lock;
  struct bn_buf queue; /* with the lock, as is the rest */
  size_t sent;         /* bytes of the queue that have been sent */
  bool broken;         /* nobody reads any more, or there is no memory */
};

/* 0 or -1: errno. */
int bn_send_queue_init(struct bn_send_queue *q, int fd);
void bn_send_queue_done(struct bn_send_queue *q);

/* Any thread.  -1: it is broken. */
int bn_send_queue_put(struct bn_send_queue *q, enum bn_frame_type type, const void *data,
                      size_t len);
int bn_send_queue_put_pong(struct bn_send_queue *q, uint64_t sent_ns, uint64_t there_ns);
/* Returns how many bytes have not been sent; 0 if it is broken. */
size_t bn_send_queue_pending(struct bn_send_queue *q);
bool bn_send_queue_is_broken(struct bn_send_queue *q);

/* --- the thread that sends --- */
/* Sends a piece, once poll(2) has said that the descriptor takes one.  -1: it is broken. */
int bn_send_queue_send(struct bn_send_queue *q);
void bn_send_queue_break(struct bn_send_queue *q);
/* Makes the sender look.  Any thread. */
void bn_send_queue_wake(struct bn_send_queue *q);
/* Resets the eventfd. */
void bn_send_queue_woken(struct bn_send_queue *q);
/* Sends until nothing is left, or until that time (CLOCK_MONOTONIC). */
void bn_send_queue_flush(struct bn_send_queue *q, uint64_t until_ns);

#endif
