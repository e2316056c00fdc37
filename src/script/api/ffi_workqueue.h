/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that module sysbench.workqueue declares. */
#ifndef BN_SCRIPT_API_FFI_WORKQUEUE_H
#define BN_SCRIPT_API_FFI_WORKQUEUE_H

#include "script/api/ffi.h"

/* The session gives work or takes it.  Returns false if it cannot take: there are too many
   descriptors. */
BN_API bool bn_ffi_workqueue_join(bool takes);
/* Returns whether the session is one of the last n of the process. */
BN_API bool bn_ffi_workqueue_among_last(unsigned n);
/* Hands work over.  Returns 0; 1: a session that shares its worker tries again later, because there
   is no room; 2: nobody takes it; 3: the run is over. */
BN_API int bn_ffi_workqueue_give(double a, double b);
/* Waits for work and begins an event, which has started when the work was handed over.  Returns
   false if there is no more work. */
BN_API bool bn_ffi_workqueue_take(void);
/* Returns one of the two numbers of the work taken last. */
BN_API double bn_ffi_workqueue_taken(int which);
/* Returns the number of pieces of work that wait. */
BN_API unsigned bn_ffi_workqueue_left(void);
/* Returns the largest number of pieces of work that have waited. */
BN_API unsigned bn_ffi_workqueue_longest(void);

#endif
