/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that module sysbench.rand declares. */
#ifndef BN_SCRIPT_API_FFI_RAND_H
#define BN_SCRIPT_API_FFI_RAND_H

#include "script/api/ffi.h"

/* Returns an integer in [a, b], exact up to 2^53.  One function serves all distributions, because
   every declaration costs memory in every interpreter: 0 the default one, 1 uniform, 2 gaussian, 3
   special, 4 pareto, 5 zipfian. */
BN_API double bn_ffi_rand(int distribution, int64_t a, int64_t b);
BN_API uint32_t bn_ffi_rand_unique(void);
/* Returns each number of [a, b] once, in mixed order, before any repeats; all threads share it. */
BN_API double bn_ffi_rand_uniq(int64_t a, int64_t b);
BN_API uint64_t bn_ffi_rand_uint64(void);
BN_API double bn_ffi_rand_double(void);
/* Return a text of the template's length, or of `len` characters '0'..'z', valid until the next
   call; NULL: no object is that large. */
BN_API const char *bn_ffi_rand_string(const char *fmt, size_t len);
BN_API const char *bn_ffi_rand_chars(size_t len);

#endif
