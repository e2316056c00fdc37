/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for the socket of a connection by its target's waiter. */
#include "drivers/common/sockwait.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "drivers/common/deadline.h"

/* Waits for the events, without a limit of time, and returns those that came.  If the session is
   interrupted, shuts the socket down and returns 0. */
static int sockwait_await(const struct bn_sql_waiter *w, int fd, short events, bool *armed)
{
  const int revents = w->wait(w, fd, events, armed, UINT64_MAX);

  if (revents == 0)
    (void)shutdown(fd, SHUT_RDWR);
  return revents;
}

int bn_sockwait_await_bytes(struct bn_sockwait *w, int fd)
{
  return sockwait_await(w->waiter, fd, POLLIN, &w->armed);
}

int bn_sockwait_await_room(const struct bn_sockwait *w, int fd)
{
  return sockwait_await(w->waiter, fd, POLLIN | POLLOUT, NULL);
}

bool bn_sockwait_await_unread(struct bn_sockwait *w, int fd)
{
  for (;;) {
    char byte;
    const ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    const bool is_empty = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);

    if (!is_empty)
      return n > 0;
    /* After an interruption the next recv() finds the end of the socket. */
    (void)bn_sockwait_await_bytes(w, fd);
  }
}

/* The length of the first wait, which doubles from wait to wait up to the longest, and the limit of
   all waits together. */
enum { BACKLOG_FIRST_MS = 5, BACKLOG_LONGEST_MS = 100, BACKLOG_ALL_MS = 10000 };

bool bn_backlog_wait(struct bn_backlog *b, const struct bn_sql_waiter *waiter,
                     const struct bn_driver_host *host, uint64_t deadline_ns)
{
  const uint64_t now_ns = host->now_ns();
  uint64_t end_ns;

  if (b->ms == 0) {
    b->ms = BACKLOG_FIRST_MS;
    b->until_ns = now_ns + (uint64_t)BACKLOG_ALL_MS * BN_NS_PER_MS;
  }
  end_ns = now_ns + (uint64_t)b->ms * BN_NS_PER_MS;
  if (end_ns > b->until_ns || end_ns > deadline_ns)
    return false;
  if (waiter != NULL)
    (void)waiter->wait(waiter, -1, 0, NULL, end_ns); /* for the time, but for no socket */
  else
    (void)poll(NULL, 0, (int)b->ms);
  b->ms = 2 * b->ms < BACKLOG_LONGEST_MS ? 2 * b->ms : BACKLOG_LONGEST_MS;
  /* The waiter returns early only if the session was interrupted. */
  return waiter == NULL || host->now_ns() >= end_ns;
}
