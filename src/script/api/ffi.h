/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Lua reaches through ffi.C: compiled by C and, without its preprocessor lines, declared to
 * Lua. */
#ifndef BN_SCRIPT_API_FFI_H
#define BN_SCRIPT_API_FFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BN_API __attribute__((visibility("default")))

/* None of these raises an error, calls back into Lua or blocks other than by waiting for the next
   event.  All serve the session that the calling thread drives at the moment. */

/* Begins an event at the end of the previous one; false: the run is over, nothing was begun. */
BN_API bool bn_ffi_event_begin(void);
/* Ends and counts it. */
BN_API void bn_ffi_event_end(void);
/* Ends it and begins the next one; false: the run is over. */
BN_API bool bn_ffi_event_next(void);
/* Forgets it: the script said "stop". */
BN_API void bn_ffi_event_drop(void);
/* An ignored error has ended it for the tries-th time.  After a wait the result is tries + 1: it is
   repeated; 1: it has failed, and the next one has begun; 0: the run is over, and nothing is begun.
 */
BN_API uint32_t bn_ffi_event_again(uint32_t tries);
/* No event and no retry may begin any more. */
BN_API bool bn_ffi_over(void);

#endif
