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
/* Returns "--NAME=***" for "--NAME=VALUE", and the same for any other character that ends a name.
   Returns arg itself if it is nothing but a name. */
const char *bn_mask_arg(const char *arg, char out[BN_MASK_MAX]);
/* Masks what follows the first password in a text: "host=x password=y", "mysql://user:password@h".
   Returns the text itself if there is none. */
const char *bn_mask_text(const char *text, char out[BN_MASK_MAX]);
/* Overwrites a secret in an argument vector by four letters and blanks, so that `ps` does not show
   its length either. */
void bn_mask_overwrite(char *secret);

#endif
