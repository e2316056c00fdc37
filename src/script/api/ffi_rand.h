/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that module sysbench.rand declares. */
#ifndef BN_SCRIPT_API_FFI_RAND_H
#define BN_SCRIPT_API_FFI_RAND_H

#include "script/api/ffi.h"

/* Returns an integer in [a, b], exact up to 2^53.  One function serves all distributions, which
   have the numbers of enum bn_ffi_distribution (instance.h), because every declaration costs memory
   in every interpreter. */
BN_API double bn_ffi_rand(int distribution, int64_t a, int64_t b);
/* Returns the next number of the stream of unique numbers that all threads share. */
BN_API uint32_t bn_ffi_rand_unique(void);
/* Returns the next number of a mixed order of [a, b], in which each number comes once before any
   repeats.  All threads share the order. */
BN_API double bn_ffi_rand_uniq(int64_t a, int64_t b);
/* Returns any number of 64 bits. */
BN_API uint64_t bn_ffi_rand_uint64(void);
/* Returns a number in [0, 1). */
BN_API double bn_ffi_rand_double(void);
/* Returns the template with a random digit for each '#' and a random letter for each '@'.  The text
   is valid until the next call; NULL: no object is that large. */
BN_API const char *bn_ffi_rand_string(const char *fmt, size_t len);
/* The same for a text of `len` characters '0'..'z'. */
BN_API const char *bn_ffi_rand_chars(size_t len);

#endif
