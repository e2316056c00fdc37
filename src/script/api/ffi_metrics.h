/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that module sysbench.metrics declares. */
#ifndef BN_SCRIPT_API_FFI_METRICS_H
#define BN_SCRIPT_API_FFI_METRICS_H

#include "script/api/ffi.h"

/* Returns the counter of the session whose code runs, valid as long as its instance lives.  The
   index is that of internal.declare_metric(). */
BN_API uint64_t *bn_ffi_metric_counter(unsigned index);
/* Records a time of 0 ns or more. */
BN_API void bn_ffi_metric_record(unsigned index, double ns);

#endif
