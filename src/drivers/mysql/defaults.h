/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option file of --mysql-defaults-file, read as MySQL's clients read it. */
#ifndef BN_DRIVERS_MYSQL_DEFAULTS_H
#define BN_DRIVERS_MYSQL_DEFAULTS_H

#include "api/driver.h"

/* The values of the file; NULL: the file has none. */
struct bn_mysql_defaults {
  const struct bn_driver_host *driver_host;
  char *user, *password, *host, *port, *socket;
  char *ssl_mode, *ssl_ca, *ssl_cert, *ssl_key, *ssl_cipher;
  char **init_command; /* all of them are sent on each connection */
  size_t n_init_commands;
};

/* Reads the groups [client], [client-server], [client-mariadb] and [bench] of the file and of those
   that it includes; path may begin with "~/".  Returns 0, or -1 and err; the caller frees d in
   either case. */
int bn_mysql_defaults_read(struct bn_mysql_defaults *d, const struct bn_driver_host *host,
                           const char *path, struct bn_err *err);
/* Overwrites and frees the values; d may have none. */
void bn_mysql_defaults_free(struct bn_mysql_defaults *d);

#endif
