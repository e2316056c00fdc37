/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remedies for failures that look the same to every driver. */
#ifndef BN_DRIVERS_COMMON_REMEDY_H
#define BN_DRIVERS_COMMON_REMEDY_H

#include <errno.h>
#include <string.h>

#include "api/driver.h"

/* The remedy if connect() has failed with EADDRNOTAVAIL. */
static const char bn_remedy_ports[] =
    "all local ports of net.ipv4.ip_local_port_range are in use: widen the range with sysctl, "
    "connect to a socket file, or use fewer --threads";

/* The reason and the remedy if a login is given up because it does not end. */
static const char bn_remedy_endless_login[] =
    "the server asks for authentication again and again; check what listens at this address";

/* The remedy if CREATE TABLE fails because there is such a table. */
static const char bn_remedy_table[] = "run 'cleanup' first, with the options of its 'prepare'";

/* Refuses a URI, and a port that is written after the host, because they have options of their own.
   The text after the first colon of an IPv6 address is no number.  Returns 0, or -1 and err, which
   does not show the URI: it may have a password. */
static inline int bn_remedy_check_host(const char *host, const char *driver, struct bn_err *err)
{
  const char *colon = strchr(host, ':'), *port = colon != NULL ? colon + 1 : "";
  const bool ends_in_port = port[0] != '\0' && port[strspn(port, "0123456789")] == '\0';

  if (strstr(host, "://") != NULL)
    return bn_err_set(err, EINVAL, "--%s-host: this is a URI, not a host; use --connect=URI",
                      driver);
  if (host[0] == '/' || !ends_in_port)
    return 0;
  return bn_err_set(err, EINVAL, "--%s-host=%s: write --%s-host=%.*s --%s-port=%s", driver, host,
                    driver, (int)(colon - host), host, driver, port);
}

/* Checks n hosts, of which any may be NULL, for the option --DRIVER-host.  sysbench leaves hosts to
   the client library, so dialects do not check them.  Returns 0, or -1 and err. */
static inline int bn_remedy_check_hosts(char *const *hosts, size_t n, const char *driver,
                                        const struct bn_policy *policy, struct bn_err *err)
{
  if (!bn_policy_is_native(policy))
    return 0;
  for (size_t i = 0; i < n; i++)
    if (hosts[i] != NULL && bn_remedy_check_host(hosts[i], driver, err) != 0)
      return -1;
  return 0;
}

#endif
