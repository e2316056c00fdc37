/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for a server until a deadline. */
#include <errno.h>
#include <poll.h>

#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/lib/lib.h"

int bn_pgsql_lib_left_ms(const struct bn_pgsql *driver, uint64_t deadline_ns)
{
  uint64_t now;

  if (deadline_ns == UINT64_MAX)
    return -1;
  now = driver->host->now_ns();
  if (now >= deadline_ns)
    return 0;
  return deadline_ns - now < UINT64_C(86400000000000) ? (int)((deadline_ns - now) / 1000000 + 1)
                                                      : 86400000;
}

bool bn_pgsql_lib_wait(const struct bn_pgsql_lib *c, short events, uint64_t deadline_ns)
{
  struct pollfd p = {.fd = PQsocket(c->handle), .events = events};
  int rc;

  do {
    const int ms = bn_pgsql_lib_left_ms(c->driver, deadline_ns);

    if (ms == 0)
      return false;
    rc = poll(&p, 1, ms);
  } while (rc == 0 || (rc < 0 && errno == EINTR));
  return true;
}
