/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of ffi.h that module sysbench.workqueue declares. */
#ifndef BN_SCRIPT_API_FFI_WORKQUEUE_H
#define BN_SCRIPT_API_FFI_WORKQUEUE_H

#include "script/api/ffi.h"

/* Lets the session take work, or else give it.  Does nothing in the main instance, or if the
   session has joined before.  Returns false if the process has too many descriptors. */
BN_API bool bn_ffi_workqueue_join(bool as_taker);
/* Returns whether the session is one of the last n of the process. */
BN_API bool bn_ffi_workqueue_among_last(unsigned n);
/* Hands over work, which is two numbers.  If the queue is full, waits, unless the session shares
   its worker: then its script tries again later.  Returns 0 when the work is in the queue, 1 if the
   session is to try again, 2 if no session takes work, or 3 if the run is over. */
BN_API int bn_ffi_workqueue_give(double a, double b);
/* Waits for work and begins an event, whose start is the time at which the work was handed over.
   Returns false if there is no more work. */
BN_API bool bn_ffi_workqueue_take(void);
/* Returns the first number (which 0) or the second one of the work that was taken last. */
BN_API double bn_ffi_workqueue_taken(int which);
/* Returns the number of pieces of work that wait. */
BN_API unsigned bn_ffi_workqueue_left(void);
/* Returns the largest number of pieces of work that have waited. */
BN_API unsigned bn_ffi_workqueue_longest(void);

#endif
