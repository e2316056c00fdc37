/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --connect: the URI of a database stands for options of its driver. */
#ifndef BN_CLI_CONNECT_H
#define BN_CLI_CONNECT_H

#include "option/opt.h"

/* Sets the driver and its options to what the URI says, as if they had been typed; an option that
   the user has set where --connect is set, or nearer, keeps its value.  uri NULL: none was given.
   driver: the value of --db-driver.  0, or -1 after saying what is wrong, without any password. */
int bn_cli_connect(struct bn_optset *options, const char *uri, const char *driver);

#endif
