/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: the servers of its list, and which of them a connection goes to. */
#ifndef BN_SQL_READHOSTS_H
#define BN_SQL_READHOSTS_H

#include <stddef.h>

#include "api/driver.h"
#include "base/err.h"

/* A server of the list, as overrides of a driver's options. */
struct bn_sql_read_host {
  const char *name[2]; /* "host" or "socket", "port" */
  const char *value[2];
  size_t n;
};

struct bn_sql_read_hosts {
  struct bn_sql_read_host *item;
  size_t n;    /* 0: the option is not given */
  char **text; /* n texts, which `item` points into */
};

/* Reads the list as servers of a driver, into zeroed memory.  An item is "host", "host:port",
   "[address]", "[address]:port", or a path, which the driver takes for a socket or for a folder
   with sockets. Returns 0, or -1 and err if an item is none of these, or if the driver has no
   servers or cannot tell whether a transaction is open.  bn_sql_read_hosts_free is called also
   after a failure. */
int bn_sql_read_hosts_parse(struct bn_sql_read_hosts *h, const struct bn_list *list,
                            const struct bn_driver *ops, struct bn_err *err);
void bn_sql_read_hosts_free(struct bn_sql_read_hosts *h); /* also of zeroed memory */

/* Returns the index of the read server for the connection with that ordinal, whose write server is
   number ordinal % places.  Each pair of a write and a read server belongs to one of the ordinals
   from 0 to places * n - 1, so that a pair of servers that both work is found. */
size_t bn_sql_read_hosts_choose(const struct bn_sql_read_hosts *h, unsigned ordinal, size_t places);

/* Returns whether the driver has this option: "host" is one of the driver "mysql" if its options
   have "mysql-host". */
bool bn_sql_has_option(const struct bn_driver *ops, const char *name);

#endif
