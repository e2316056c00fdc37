/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passwords that come neither from the command line nor from a server's client library. */
#ifndef BN_DRIVERS_COMMON_SECRET_H
#define BN_DRIVERS_COMMON_SECRET_H

#include "api/driver.h"

enum { BN_SECRET_MAX = 4096 }; /* bytes of a password or path, with its terminator */

/* The first three functions return 0, or -1 and err. */

/* Copies a path, in which $HOME takes the place of a "~" before the first slash. */
int bn_secret_expand_home(const char *path, char out[BN_SECRET_MAX], struct bn_err *err);
/* Reads the first line of a file, without its end.  A leading "~/" of the path is the home folder.
   After a failure too, `out` may hold a part of the secret, which the caller wipes. */
int bn_secret_read_file(const char *path, char out[BN_SECRET_MAX], struct bn_err *err);
/* Gets the answer to a question on the terminal or, if question is NULL, the first line of a file,
   as a copy in *secret, which the caller frees by bn_secret_free.  The terminal has no echo
   meanwhile; it has its echo back before a signal ends or stops the program.  The driver's init
   calls this. */
int bn_secret_get(const char *question, const char *path, const struct bn_driver_host *host,
                  char **secret, struct bn_err *err);
/* Overwrites and frees the secret; NULL is allowed. */
void bn_secret_free(char *secret);

#endif
