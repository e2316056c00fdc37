/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits the silence of a peer, and shuts down the socket that a reference was made for. */
#include "drivers/common/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>

/* The longest silence of a peer, and the time between two keepalive probes. */
enum { SILENCE_MAX_MS = 10000, PROBE_INTERVAL_S = 1, MS_PER_S = 1000 };

/* Returns the value of an option of TCP, or -1 if the socket has no such option. */
static int socket_get_option(int fd, int name)
{
  int value;
  socklen_t size = sizeof value;

  return getsockopt(fd, IPPROTO_TCP, name, &value, &size) == 0 ? value : -1;
}

/* Sets an option.  A socket without it stays as it is, with the limits of the system. */
static void socket_set_option(int fd, int level, int name, int value)
{
  (void)setsockopt(fd, level, name, &value, sizeof value);
}

/* Linux applies TCP_USER_TIMEOUT to unacknowledged data and, once a host has been silent for
   TCP_KEEPIDLE, to keepalive probes.  Then the limit of their number has no effect (tcp(7)), so
   TCP_KEEPCNT is not set. */
void bn_socket_limit_silence(int fd)
{
  int limit_ms = socket_get_option(fd, TCP_USER_TIMEOUT);
  int half_s, idle_s;

  if (limit_ms < 0)
    return;
  if (limit_ms == 0) {
    limit_ms = SILENCE_MAX_MS;
    socket_set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, limit_ms);
  }
  /* Probes begin after half of the limit, but not before a second, the system's least value. */
  half_s = limit_ms / 2 / MS_PER_S;
  idle_s = half_s > 0 ? half_s : 1;
  if (socket_get_option(fd, TCP_KEEPIDLE) > idle_s) /* a user may have set less */
    socket_set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
  socket_set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_INTERVAL_S);
  socket_set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

/* Gets the socket's cookie, which is unique since the system started.  Returns false if it has
   none. */
static bool socket_get_cookie(int fd, uint64_t *cookie)
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
  const bool has_cookie = socket_get_cookie(fd, &s->cookie);

  /* Without a cookie, the socket could not be told from a later one with the same number. */
  atomic_store_explicit(&s->fd, has_cookie ? fd : -1, memory_order_relaxed);
}

void bn_sockref_shut(const struct bn_sockref *s)
{
  const int fd = atomic_load_explicit(&s->fd, memory_order_relaxed);
  uint64_t cookie;

  /* With another cookie, the number belongs to another socket by now. */
  if (socket_get_cookie(fd, &cookie) && cookie == s->cookie)
    (void)shutdown(fd, SHUT_RDWR);
}

const char *bn_socket_transport(int fd)
{
  struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
  socklen_t len = sizeof address;

  if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
    return "";
  switch (address.ss_family) {
  case AF_UNIX:
    return "Unix socket";
  case AF_INET:
  case AF_INET6:
    return "TCP";
  default:
    return "";
  }
}
