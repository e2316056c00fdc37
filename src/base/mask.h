/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Masks the part of an argument or a line that may be a password.

   Pure: the text alone decides.  Nothing here knows which options exist. */
#ifndef BN_BASE_MASK_H
#define BN_BASE_MASK_H

#include <stdbool.h>

enum { BN_MASK_MAX = 256 };

/* The text shown instead of a secret. */
#define BN_MASK "***"

/* Returns whether the name has a word password, passwd, passphrase, pwd, secret or token. */
bool bn_mask_names_secret(const char *name);
/* As above, also for a name that looks like a mistyped one, up to '=': "--mysql-pasword=x". */
bool bn_mask_resembles_secret(const char *arg);
/* Returns a form of "--NAME=VALUE", "NAME VALUE", "NAME:VALUE" or "NAMEVALUE" that may be shown:
   arg itself, or a text in out in which the part after the name is replaced. is_secret: the caller
   knows that the value is a secret, whatever its name. */
const char *bn_mask_arg(const char *arg, bool is_secret, char out[BN_MASK_MAX]);
/* As bn_mask_arg for the NAME of a setting with that value. value NULL: it was given none, so that
   NAME may be NAMEVALUE; else a name in small letters is shown completely. */
const char *bn_mask_name(const char *name, const char *value, bool is_secret,
                         char out[BN_MASK_MAX]);
/* As bn_mask_arg for a value whose name is not that of a secret: "host=x password=y",
   "mysql://user:password@host". */
const char *bn_mask_value(const char *value, char out[BN_MASK_MAX]);

#endif
