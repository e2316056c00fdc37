/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames that an agent has to send: any thread puts them, one sends them.

   Who puts never waits for the reader, so a slow network holds up no report. */
#ifndef BN_HOSTS_OUTBOX_H
#define BN_HOSTS_OUTBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "hosts/frame.h"

/* More than that waits for no reader: it is taken for gone. */
enum { BN_OUTBOX_MAX = 256 << 20 };

struct bn_outbox {
  int fd;   /* a pipe or socket; borrowed */
  int wake; /* eventfd: becomes readable when there is something to send */
  pthread_mutex_t lock;
  struct bn_buf queue; /* with the lock, as is the rest */
  size_t sent;         /* of it */
  bool broken;         /* nobody reads any more, or there is no memory */
};

/* 0 or -1: errno. */
int bn_outbox_init(struct bn_outbox *o, int fd);
void bn_outbox_done(struct bn_outbox *o);

/* Any thread.  -1: it is broken. */
int bn_outbox_put(struct bn_outbox *o, enum bn_frame_type type, const void *data, size_t len);
int bn_outbox_put_pong(struct bn_outbox *o, uint64_t sent_ns, uint64_t there_ns);
/* How many bytes have not been sent; 0 if it is broken. */
size_t bn_outbox_left(struct bn_outbox *o);
bool bn_outbox_is_broken(struct bn_outbox *o);

/* --- the thread that sends --- */
/* Sends a piece, once poll(2) has said that the descriptor takes one.  -1: it is broken. */
int bn_outbox_send(struct bn_outbox *o);
void bn_outbox_break(struct bn_outbox *o);
/* Makes the sender look.  Any thread. */
void bn_outbox_wake(struct bn_outbox *o);
/* Resets that. */
void bn_outbox_woken(struct bn_outbox *o);
/* Sends until nothing is left, or until that time (CLOCK_MONOTONIC). */
void bn_outbox_flush(struct bn_outbox *o, uint64_t until_ns);

#endif
