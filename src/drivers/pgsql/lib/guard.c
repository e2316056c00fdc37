/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what a server asks for before libpq does.  libpq's socket is exchanged for one end of a
   pair under the same number; when the server has let us in, or encryption begins, it gets its own
   back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/lib/lib.h"

/* Of `room`: bytes from libpq, and those of the server that are looked at. */
enum { OUT_MAX = 4096, LOOK_MAX = BN_LOGIN_MESSAGE_MAX + 1 };

/* Many threads may connect at once; the numbers that one needs are soon free again. */
enum { TRIES_MAX = 1000, TRY_MS = 10 };

static ino_t ino_of(int fd)
{
  struct stat st;

  return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static void guard_leave(struct bn_pgsql_guard *g)
{
  if (g->server >= 0)
    (void)close(g->server);
  if (g->peer >= 0)
    (void)close(g->peer);
  free(g->room);
  g->room = NULL;
  g->server = g->peer = -1;
  g->out_len = 0;
  g->last = false;
}

void bn_pgsql_guard_init(struct bn_pgsql_guard *g, const struct bn_pgsql_lib *c)
{
  *g = (struct bn_pgsql_guard){.lib = c, .server = -1, .peer = -1};
}

void bn_pgsql_guard_done(struct bn_pgsql_guard *g)
{
  guard_leave(g);
}

void bn_pgsql_guard_why(const struct bn_pgsql_guard *g, char *out, size_t room)
{
  if (g->error != 0)
    (void)snprintf(out, room, "cannot look at what the server asks for: %s\n\n",
                   strerror(g->error));
  else if (g->unchecked)
    (void)snprintf(out, room,
                   "--pgsql-require-auth needs libpq 16 or later on an encrypted connection; use "
                   "--pgsql-sslmode=disable, or leave the option out\n\n");
  else
    bn_pgsql_login_why(&g->login, out, room);
}

/* --- whose socket it is --------------------------------------------------------------------------
 */

static bool is_local(int fd)
{
  struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
  socklen_t len = sizeof address;

  return getsockname(fd, (struct sockaddr *)&address, &len) == 0 && address.ss_family == AF_UNIX;
}

/* libpq has sent its first words, and read nothing. */
static bool guard_begins(const PGconn *handle)
{
  switch (PQstatus(handle)) {
  case CONNECTION_AWAITING_RESPONSE:
  case CONNECTION_SSL_STARTUP:
  case CONNECTION_GSS_STARTUP:
    return true;
  default:
    return false;
  }
}

/* libpq checks the list by itself if it knows it; then only the password in clear text matters,
   which nobody hears on a socket of this machine. */
static bool is_wanted(const struct bn_pgsql_guard *g, int fd)
{
  const struct bn_pgsql *driver = g->lib->driver;

  if (driver->login.given && driver->require_auth == NULL)
    return true;
  return (driver->login.allowed & BN_LOGIN_PASSWORD) == 0 && !is_local(fd);
}

static int enter_once(struct bn_pgsql_guard *g, int fd)
{
  int pair[2] = {-1, -1}, rc = -1;

  g->login = (struct bn_pgsql_login){.rule = &g->lib->driver->login};
  g->room = malloc(OUT_MAX + LOOK_MAX);
  if (g->room != NULL)
    rc = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
  if (rc == 0)
    rc = g->server = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (rc >= 0)
    rc = dup3(pair[0], fd, O_CLOEXEC);
  g->error = rc < 0 ? errno : 0;
  g->pair = rc < 0 ? 0 : ino_of(fd);
  g->peer = pair[1];
  if (pair[0] >= 0)
    (void)close(pair[0]);
  if (rc < 0)
    guard_leave(g);
  return rc < 0 ? -1 : 0;
}

static int guard_enter(struct bn_pgsql_guard *g, int fd, uint64_t deadline_ns)
{
  int rc = enter_once(g, fd);

  for (int i = 0; rc != 0 && (g->error == EMFILE || g->error == ENFILE) && i < TRIES_MAX &&
                  bn_pgsql_lib_left_ms(g->lib->driver, deadline_ns) != 0;
       i++) {
    (void)poll(NULL, 0, TRY_MS);
    rc = enter_once(g, fd);
  }
  return rc;
}

/* Gives libpq its connection; there is nothing in the pair that it has not read. */
static enum bn_pgsql_guard_wait give_back(struct bn_pgsql_guard *g, int fd)
{
  const int rc = dup3(g->server, fd, O_CLOEXEC);

  g->error = rc < 0 ? errno : 0;
  g->opened = ino_of(g->server);
  guard_leave(g);
  return rc < 0 ? BN_GUARD_REFUSED : BN_GUARD_AWAY;
}

/* --- what goes through ---------------------------------------------------------------------------
 */

/* From libpq to the server, as much as goes. */
static void send_out(struct bn_pgsql_guard *g)
{
  for (;;) {
    ssize_t n;

    if (g->out_len == 0) {
      n = recv(g->peer, g->room, OUT_MAX, MSG_DONTWAIT);
      g->out_len = n > 0 ? (size_t)n : 0;
    }
    if (g->out_len == 0)
      return;
    n = send(g->server, g->room, g->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    /* Of a connection that is lost libpq hears when it reads. */
    if (n < 0)
      n = (ssize_t)g->out_len;
    g->out_len -= (size_t)n;
    memmove(g->room, g->room + n, g->out_len);
  }
}

/* n of the bytes that were looked at.  The pair has room: libpq has read all that came before. */
static enum bn_pgsql_guard_wait guard_pass(struct bn_pgsql_guard *g, char *data, size_t n)
{
  const bool all = recv(g->server, data, n, MSG_DONTWAIT) == (ssize_t)n &&
                   send(g->peer, data, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;

  if (!all)
    (void)shutdown(g->peer, SHUT_WR);
  return BN_GUARD_READY;
}

/* There are n bytes, ended: and there will be no more.  AWAY: they are too few. */
static enum bn_pgsql_guard_wait guard_judge(struct bn_pgsql_guard *g, int fd, char *data,
                                            size_t len, bool ended)
{
  const bool negotiates = PQstatus(g->lib->handle) != CONNECTION_AWAITING_RESPONSE;
  size_t n = 0;

  switch (bn_pgsql_login_look(&g->login, negotiates, data, len, &n)) {
  case BN_LOGIN_WAIT:
    return ended ? guard_pass(g, data, len) : BN_GUARD_AWAY;
  case BN_LOGIN_PASS:
    return guard_pass(g, data, n);
  case BN_LOGIN_LAST:
    g->last = true;
    return guard_pass(g, data, n);
  case BN_LOGIN_OPEN:
    g->unchecked = g->lib->driver->login.given && g->lib->driver->require_auth == NULL;
    return g->unchecked || give_back(g, fd) != BN_GUARD_AWAY ? BN_GUARD_REFUSED : BN_GUARD_READY;
  case BN_LOGIN_REFUSE:
    return BN_GUARD_REFUSED;
  }
  return BN_GUARD_REFUSED;
}

/* From the server.  AWAY: not enough has come. */
static enum bn_pgsql_guard_wait take_in(struct bn_pgsql_guard *g, int fd, bool ended)
{
  char *const data = g->room + OUT_MAX;
  const ssize_t n = recv(g->server, data, LOOK_MAX, MSG_PEEK | MSG_DONTWAIT);

  if (n > 0)
    return guard_judge(g, fd, data, (size_t)n, ended);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return BN_GUARD_AWAY;
  (void)shutdown(g->peer, SHUT_WR);
  return BN_GUARD_READY;
}

static bool has_unread(int fd)
{
  int n = 0;

  return ioctl(fd, FIONREAD, &n) == 0 && n > 0;
}

/* One step.  AWAY: go on. */
static enum bn_pgsql_guard_wait guard_step(struct bn_pgsql_guard *g, int fd, bool reads, int ms)
{
  struct pollfd p[] = {
      {.fd = g->server,
       .events = (short)((reads ? POLLIN | POLLRDHUP : 0) | (g->out_len > 0 ? POLLOUT : 0))},
      {.fd = reads ? -1 : fd, .events = POLLOUT},
  };
  const int rc = poll(p, 2, ms);
  enum bn_pgsql_guard_wait got;

  if (rc <= 0 || p[1].revents != 0)
    return rc > 0 ? BN_GUARD_READY : BN_GUARD_AWAY;
  if (!reads || (p[0].revents & ~POLLOUT) == 0)
    return BN_GUARD_AWAY;
  got = take_in(g, fd, (p[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0);
  /* A part of a message is there, which wakes without end. */
  if (got == BN_GUARD_AWAY)
    (void)poll(NULL, 0, 1);
  return got;
}

/* --- the guard -----------------------------------------------------------------------------------
 */

/* false: there is nothing to guard. */
static bool is_on_guard(struct bn_pgsql_guard *g, int fd, bool reads)
{
  const ino_t ino = ino_of(fd);

  /* libpq has closed it, and may have begun anew. */
  if (g->server >= 0 && ino != g->pair)
    guard_leave(g);
  if (g->server >= 0)
    return true;
  return fd >= 0 && reads && guard_begins(g->lib->handle) && ino != g->opened && is_wanted(g, fd);
}

enum bn_pgsql_guard_wait bn_pgsql_guard_wait(struct bn_pgsql_guard *g, bool reads,
                                             uint64_t deadline_ns)
{
  const int fd = PQsocket(g->lib->handle);
  enum bn_pgsql_guard_wait got = BN_GUARD_AWAY;

  if (!is_on_guard(g, fd, reads))
    return BN_GUARD_AWAY;
  if (g->server < 0 && guard_enter(g, fd, deadline_ns) != 0)
    return BN_GUARD_REFUSED;
  while (got == BN_GUARD_AWAY) {
    const int ms = bn_pgsql_lib_left_ms(g->lib->driver, deadline_ns);

    send_out(g);
    if (has_unread(fd)) {
      if (reads)
        return BN_GUARD_READY;
    } else if (g->last) {
      return give_back(g, fd);
    }
    if (ms == 0)
      return BN_GUARD_LATE;
    got = guard_step(g, fd, reads, ms);
  }
  return got;
}
