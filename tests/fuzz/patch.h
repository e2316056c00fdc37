/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes bytes of a text by what a fuzzer sends. */
#ifndef BN_TESTS_FUZZ_PATCH_H
#define BN_TESTS_FUZZ_PATCH_H

#include <stddef.h>
#include <stdint.h>

/* So many at most: each takes three bytes of the input, which are a place and a value.  Returns how
   many bytes were used. */
static size_t patch(char *text, size_t len, size_t changes, const uint8_t *data, size_t size)
{
  enum { PATCH = 3 };
  size_t used = 0;

  for (size_t i = 0; i < changes && used + PATCH <= size; i++, used += PATCH)
    text[(data[used] | (size_t)data[used + 1] << 8) % len] = (char)data[used + 2];
  return used;
}

#endif
