/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waits of a connection that shares its thread with other sessions (struct bn_sql_waiter). */
#ifndef BN_DRIVERS_COMMON_SOCKWAIT_H
#define BN_DRIVERS_COMMON_SOCKWAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "api/driver.h"

struct bn_sockwait {
  const struct bn_sql_waiter *waiter; /* NULL: calls block the thread */
  bool armed;                         /* the socket is registered for its whole life */
};

/* These functions need a waiter.  If the session was interrupted, they shut the socket down, so
   that the next call on it finds its end as after bn_sockref_shut, and the first two return 0. */

/* Waits for bytes that come after the socket was last found empty, or after the caller has sent a
   request.  Returns the events of poll().  Bytes and the end of the connection may be one event. */
int bn_sockwait_await_bytes(struct bn_sockwait *w, int fd);
/* Waits until the socket takes bytes or has some.  Returns the events of poll(). */
int bn_sockwait_await_room(const struct bn_sockwait *w, int fd);
/* Waits until there are bytes, old or new, and leaves them in the socket.  Returns false if the
   socket has ended. */
bool bn_sockwait_await_unread(struct bn_sockwait *w, int fd);

/* The waits between connects to a Unix socket that are repeated because its backlog is full:
   connect does not wait for room there.  All zero before the first wait. */
struct bn_backlog {
  uint64_t until_ns; /* the end of all waits */
  unsigned ms;       /* the length of the next wait; 0: there was none yet */
};

/* Waits a while before the next connect, by the waiter, or asleep if that is NULL.  Returns false
   if the caller has to give up: the wait would pass the deadline or the limit of 10 s for all
   waits, or the session was interrupted. */
bool bn_backlog_wait(struct bn_backlog *b, const struct bn_sql_waiter *waiter,
                     const struct bn_driver_host *host, uint64_t deadline_ns);

#endif
