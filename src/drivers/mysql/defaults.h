/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option file of --mysql-defaults-file, as MySQL's clients have it. */
#ifndef BN_DRIVERS_MYSQL_DEFAULTS_H
#define BN_DRIVERS_MYSQL_DEFAULTS_H

#include "api/driver.h"

/* NULL: the file does not say. */
struct bn_mysql_defaults {
  char *user, *password, *host, *port, *socket;
  char *ssl_mode, *ssl_ca, *ssl_cert, *ssl_key, *ssl_cipher;
};

/* Of the groups [client], [client-mariadb] and [bench]; path may begin with "~/".  0, or -1 and
   err; d is to be freed in either case. */
int bn_mysql_defaults_read(struct bn_mysql_defaults *d, const char *path, struct bn_err *err);
void bn_mysql_defaults_free(struct bn_mysql_defaults *d);

#endif
