/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PostgreSQL driver's process-wide state: only init and done write it, all files read it. */
#ifndef BN_DRIVERS_PGSQL_DRIVER_H
#define BN_DRIVERS_PGSQL_DRIVER_H

#include "api/driver.h"
#include "drivers/pgsql/options.h"

struct bn_names;

struct bn_pgsql {
  const struct bn_pgsql_conf *conf;
  const struct bn_driver_host *host;
  char *password; /* from option, file or prompt; NULL: libpq looks for one */
  char **hosts;   /* NULL entries: libpq's default, a socket */
  size_t n_hosts;
  struct bn_names *names;
  char *require_auth; /* for libpq; NULL: the option was not given */
};

extern const struct bn_sql_question bn_pgsql_questions[];

#endif
