/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which known name a mistyped one was meant to be. */
#ifndef BN_BASE_NEAR_H
#define BN_BASE_NEAR_H

#include <stddef.h>

/* The best candidate so far; start with all zero, offer each name, read `best`. */
struct bn_near {
  const char *typed;
  const char *best; /* NULL: none is close enough */
  size_t distance;
};

/* Letters inserted, left out, replaced or swapped, '-' and '_' being equal and case ignored; a name
   is close when that is at most a third of the length typed (at least one). */
void bn_near_offer(struct bn_near *n, const char *name);

/* An option's name as users write it, with dashes, whatever a script declares; cut off at size - 1.
 */
void bn_near_dash(char *out, size_t size, const char *name);

/* On stderr: nobody knows the option --name, in which the caller has masked secrets, and which one
   it was probably meant to be (NULL: it is near none), written with dashes as options are. */
void bn_near_complain(const char *name, const char *nearest);

#endif
