/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that module sysbench.rand declares. */
#ifndef BN_SCRIPT_API_FFI_RAND_H
#define BN_SCRIPT_API_FFI_RAND_H

#include "script/api/ffi.h"

/* Returns an integer in [a, b], exact up to 2^53.  Parameters: a number of enum
   bn_ffi_distribution (instance.h), a, b.  One function serves all distributions, and its
   parameters have no names, because all that is declared costs memory in every interpreter. */
BN_API double bn_ffi_rand(int, int64_t, int64_t);
/* Returns the next number of the stream of unique numbers that all threads share. */
BN_API uint32_t bn_ffi_rand_unique(void);
/* Returns any number of 64 bits. */
BN_API uint64_t bn_ffi_rand_uint64(void);
/* Returns a number in [0, 1). */
BN_API double bn_ffi_rand_double(void);
/* Returns the template, a text of that length, with a random digit for each '#' and a random letter
   for each '@'.  The text is valid until the next call. */
BN_API const char *bn_ffi_rand_string(const char *, size_t);

#endif
