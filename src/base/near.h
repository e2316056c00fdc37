/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a name among known names, or the one that a mistyped name is closest to. */
#ifndef BN_BASE_NEAR_H
#define BN_BASE_NEAR_H

#include <stddef.h>

/* Returns the index of a name among names that end with NULL, or -1 if it is none of them, or is
   NULL itself. */
int bn_near_find(const char *const *names, const char *name);

/* The best candidate so far: set `typed` and all else to zero, offer each name, read `best`. */
struct bn_near {
  const char *typed;
  const char *best; /* NULL: none is close enough */
  size_t distance;
};

/* Makes a name, which must live as long as n, the best candidate if it is close, and closer than
   all names before.  The distance is the number of letters inserted, left out, replaced or swapped;
   '-' and '_' are equal, and case is ignored.  A name is close if its distance is at most a third
   of the typed length, or 1 if that is more. */
void bn_near_offer(struct bn_near *n, const char *name);

/* Writes the name of an option with dashes, as users write it, also if a script declares it with
   underscores.  The name is cut off at size - 1 bytes. */
void bn_near_copy_dashed(char *out, size_t size, const char *name);
/* Puts an underscore in the place of each dash of an option's name, as scripts see it. */
void bn_near_replace_dashes(char *name);

/* Prints on stderr that the option --name is unknown, and the nearest known option, if any, with
   dashes.  The caller has masked secrets in name. */
void bn_near_complain(const char *name, const char *nearest);

#endif
