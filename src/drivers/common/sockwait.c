/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for the socket of a connection by its target's waiter. */
#include "drivers/common/sockwait.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

static int sockwait_for(const struct bn_sql_waiter *w, int fd, short events, bool *armed)
{
  const int came = w->wait(w, fd, events, armed, UINT64_MAX);

  if (came == 0)
    (void)shutdown(fd, SHUT_RDWR);
  return came;
}

int bn_sockwait_bytes(struct bn_sockwait *w, int fd)
{
  return sockwait_for(w->waiter, fd, POLLIN, &w->armed);
}

int bn_sockwait_room(const struct bn_sockwait *w, int fd)
{
  return sockwait_for(w->waiter, fd, POLLIN | POLLOUT, NULL);
}

bool bn_sockwait_unread(struct bn_sockwait *w, int fd)
{
  char byte;
  ssize_t n;

  while ((n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT)) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK))
    (void)bn_sockwait_bytes(w, fd);
  return n > 0;
}
