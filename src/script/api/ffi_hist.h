/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that module sysbench.histogram declares. */
#ifndef BN_SCRIPT_API_FFI_HIST_H
#define BN_SCRIPT_API_FFI_HIST_H

#include "script/api/ffi.h"

struct bn_geohist;
/* Returns a geometric histogram, which bn_ffi_hist_free frees, or NULL if an argument is wrong or
   there is no memory for its size. */
BN_API struct bn_geohist *bn_ffi_hist_new(size_t size, double min, double max);
BN_API void bn_ffi_hist_free(struct bn_geohist *h);
BN_API void bn_ffi_hist_update(struct bn_geohist *h, double value);
/* Returns a text of *len bytes, the histogram as a table, which bn_ffi_free frees. */
BN_API char *bn_ffi_hist_text(const struct bn_geohist *h, size_t *len);
BN_API void bn_ffi_free(void *text);

#endif
