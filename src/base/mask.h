/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Masks what may be a password in a text that is shown.

   The text alone decides.  Nothing here knows which options exist. */
#ifndef BN_BASE_MASK_H
#define BN_BASE_MASK_H

#include <stdbool.h>

enum { BN_MASK_MAX = 256 };

/* The text shown instead of a secret. */
#define BN_MASK "***"

/* Returns whether the name of an option, up to '=' if there is one, has a word password, passwd,
   passphrase, pwd, secret or token. */
bool bn_mask_names_secret(const char *arg);
/* Returns "--NAME=***" for "--NAME=VALUE", in `out`; any other character that cannot be part of a
   name ends the name as '=' does.  Returns arg itself if it is a name alone. */
const char *bn_mask_arg(const char *arg, char out[BN_MASK_MAX]);
/* Returns the text up to the first password in it, and "***", in `out`: "host=x password=***",
   "mysql://user:***".  Returns the text itself if it has no password. */
const char *bn_mask_text(const char *text, char out[BN_MASK_MAX]);
/* Overwrites a secret in an argument vector, so that `ps` shows neither the secret nor its length:
   by four letters, or fewer if it is shorter, and blanks. */
void bn_mask_overwrite(char *secret);

#endif
