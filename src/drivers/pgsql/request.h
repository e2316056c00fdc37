/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A prepared statement as both ways send it: data that stmt.c owns. */
#ifndef BN_DRIVERS_PGSQL_REQUEST_H
#define BN_DRIVERS_PGSQL_REQUEST_H

#include "api/driver.h"

struct bn_pgsql_request {
  const char *text; /* with question marks; the SQL layer's */
  size_t len, n_params;
  char *sql;      /* with $1, $2, …; NULL while nothing is to be prepared */
  char name[24];  /* "": the server does not know the statement; lib/ sets it */
  uint32_t *type; /* object ids of n_params types */
  const struct bn_sql_bind *binds;
};

#endif
