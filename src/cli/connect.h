/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --connect: the URI of a database stands for options of its driver. */
#ifndef BN_CLI_CONNECT_H
#define BN_CLI_CONNECT_H

#include "option/opt.h"

/* Sets the driver and its options to the values in the URI, as if they had been typed.  An option
   keeps its value if the user has set it in the same place as --connect, or on the command line.
   uri NULL or "": none was given.  typed_driver: the value of --db-driver.  Returns 0, or -1 after
   a message, which shows no password. */
int bn_cli_apply_uri(struct bn_optset *options, const char *uri, const char *typed_driver);
/* Returns whether a script has separate data on each host, because its driver has no server.  The
   driver is that of the URI, if it is known, or else `driver`, the value of --db-driver.  NULL: the
   option is not given. */
bool bn_cli_is_local(const char *driver, const char *uri);

#endif
