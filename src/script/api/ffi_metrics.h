/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that modules sysbench.metrics, sysbench.kinds and sysbench.mix declare. */
#ifndef BN_SCRIPT_API_FFI_METRICS_H
#define BN_SCRIPT_API_FFI_METRICS_H

#include "script/api/ffi.h"

/* Returns the address of a counter of the session whose code runs, valid as long as its instance
   lives.  The index is that of internal.declare_metric(). */
BN_API uint64_t *bn_ffi_metric_counter(unsigned index);
/* Records a time of 0 ns or more in the histogram of that index. */
BN_API void bn_ffi_metric_record(unsigned index, double ns);
/* Sets the kind, from 1 on, of the event in flight; without one it has no effect. */
BN_API void bn_ffi_event_set_kind(unsigned kind);
/* As bn_ffi_event_next(), for an event that is of this kind. */
BN_API bool bn_ffi_event_next_of_kind(unsigned kind);
/* Draws the workload of the next event of a mix; returns its number, from 1 on. */
BN_API unsigned bn_ffi_choose_workload(void);

#endif
