/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of PostgreSQL connections: known to every command line and to scripts, driver or not. */
#ifndef BN_DRIVERS_PGSQL_OPTIONS_H
#define BN_DRIVERS_PGSQL_OPTIONS_H

#include "api/opt.h"
#include "drivers/common/protocol.h"

struct bn_pgsql_conf {
  char *host; /* a list with commas; scripts see it as one text */
  char *user, *password, *db, *service;
  char *sslmode, *sslrootcert, *sslcert, *sslkey;
  char *password_file;
  char *parameters; /* as in connection strings of libpq */
  struct bn_list port, ignore_errors, require_auth;
  int64_t connect_timeout_s; /* 0: none */
  bool password_prompt;
  bool host_given, port_given, user_given, db_given, sslmode_given; /* false: the service decides */
  int protocol;                                                     /* enum bn_protocol */
};

extern const struct bn_opt bn_pgsql_options[];

#endif
