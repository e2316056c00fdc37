/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of an argument or a line may be shown although it may hold a password.

   Pure: judged by the text alone.  Nothing here knows which options exist. */
#ifndef BN_BASE_MASK_H
#define BN_BASE_MASK_H

#include <stdbool.h>

enum { BN_MASK_MAX = 256 };

/* Shown in the place of a secret. */
#define BN_MASK "***"

/* The name has one of the words password, passwd, passphrase, pwd, secret, token. */
bool bn_mask_names_secret(const char *name);
/* As above, or like one that was mistyped, up to '=': "--mysql-pasword=x". */
bool bn_mask_resembles_secret(const char *arg);
/* What may be shown of "--NAME=VALUE", "NAME VALUE", "NAME:VALUE" or "NAMEVALUE": arg itself, or a
   text in out in which what follows the name is replaced.  is_secret: the caller knows that it is
   one, whatever its name. */
const char *bn_mask_arg(const char *arg, bool is_secret, char out[BN_MASK_MAX]);
/* The same of the NAME of a setting with that value.  value NULL: it was given none, so that NAME
   may be NAMEVALUE; else a name in small letters is shown whole. */
const char *bn_mask_name(const char *name, const char *value, bool is_secret,
                         char out[BN_MASK_MAX]);
/* The same of a value whose name is no secret's: "host=x password=y", "mysql://user:password@host".
 */
const char *bn_mask_value(const char *value, char out[BN_MASK_MAX]);

#endif
