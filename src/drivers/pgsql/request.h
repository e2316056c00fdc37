/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A prepared statement as both ways send it: data that stmt.c owns. */
#ifndef BN_DRIVERS_PGSQL_REQUEST_H
#define BN_DRIVERS_PGSQL_REQUEST_H

#include "api/driver.h"

struct bn_pgsql_request {
  char *sql; /* with $1, $2, …; kept after prepare for a change of types */
  size_t n_params;
  char name[24];  /* "": the server does not know the statement; lib/ sets it */
  uint32_t *type; /* object ids of n_params types */
  const struct bn_sql_bind *binds;
};

/* Returns sql with "?" outside of literals, names and comments as $1, $2, …; malloc'd. */
char *bn_pgsql_number_params(const struct bn_driver_host *host, const char *sql, size_t len,
                             size_t *n);

#endif
