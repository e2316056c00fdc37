/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The literals of standard SQL, in which a quote is doubled and a backslash means itself. */
#ifndef BN_DRIVERS_COMMON_QUOTE_H
#define BN_DRIVERS_COMMON_QUOTE_H

#include <stddef.h>

/* Copies a text to out as the inside of a literal, without a terminator; out has room for 2 * len
   bytes.  Returns how many were written. */
static inline size_t bn_quote_double(char *out, const char *in, size_t len)
{
  size_t n = 0;

  for (size_t i = 0; i < len; i++) {
    if (in[i] == '\'')
      out[n++] = '\'';
    out[n++] = in[i];
  }
  return n;
}

#endif
