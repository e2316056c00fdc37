/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shuts down the socket that a reference was made for, and no other. */
#include "drivers/common/sockref.h"

#include <stdbool.h>
#include <sys/socket.h>

/* Gets the socket's cookie, which is unique since the system started; false: there is none. */
static bool cookie_of(int fd, uint64_t *cookie)
{
  socklen_t len = sizeof *cookie;

  return fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_COOKIE, cookie, &len) == 0;
}

void bn_sockref_clear(struct bn_sockref *s)
{
  atomic_store_explicit(&s->fd, -1, memory_order_relaxed);
}

void bn_sockref_set(struct bn_sockref *s, int fd)
{
  const bool known = cookie_of(fd, &s->cookie);

  atomic_store_explicit(&s->fd, known ? fd : -1, memory_order_relaxed);
}

void bn_sockref_shut(const struct bn_sockref *s)
{
  const int fd = atomic_load_explicit(&s->fd, memory_order_relaxed);
  uint64_t cookie;

  if (cookie_of(fd, &cookie) && cookie == s->cookie)
    (void)shutdown(fd, SHUT_RDWR);
}
