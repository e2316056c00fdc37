/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sockets are told about hosts that are silent. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "drivers/common/socket.h"

static int option(int fd, int level, int name)
{
  int value = -1;
  socklen_t size = sizeof value;

  assert_int_equal(getsockopt(fd, level, name, &value, &size), 0);
  return value;
}

static void set(int fd, int name, int value)
{
  assert_int_equal(setsockopt(fd, IPPROTO_TCP, name, &value, sizeof value), 0);
}

/* Need not be connected. */
static int tcp(void)
{
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  assert_true(fd >= 0);
  return fd;
}

/* The limit, and the silence before the host is asked: as a user has set them, and as they are. */
static void a_silent_host_is_asked_and_given_up(void **state)
{
  static const struct {
    int set_ms, set_idle_s; /* 0: nothing is set */
    int limit_ms, idle_s;
  } rows[] = {
      {0, 0, 10000, 5},     {0, 3, 10000, 3},   {0, 9, 10000, 5}, {30000, 0, 30000, 15},
      {30000, 2, 30000, 2}, {3500, 0, 3500, 1}, {100, 0, 100, 1},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const int fd = tcp();

    if (rows[i].set_ms != 0)
      set(fd, TCP_USER_TIMEOUT, rows[i].set_ms);
    if (rows[i].set_idle_s != 0)
      set(fd, TCP_KEEPIDLE, rows[i].set_idle_s);
    bn_socket_limit_silence(fd);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), rows[i].limit_ms);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), rows[i].idle_s);
    assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 1);
    assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    (void)close(fd);
  }
}

static void other_sockets_are_left_alone(void **state)
{
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  (void)state;
  assert_true(fd >= 0);
  bn_socket_limit_silence(fd);
  bn_socket_limit_silence(-1);
  assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
  (void)close(fd);
}

BN_TESTS(silence)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_silent_host_is_asked_and_given_up),
      cmocka_unit_test(other_sockets_are_left_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
