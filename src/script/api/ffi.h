/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that Lua reaches through ffi.C: compiled by C and, without preprocessor lines,
   declared to Lua. */
#ifndef BN_SCRIPT_API_FFI_H
#define BN_SCRIPT_API_FFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BN_API __attribute__((visibility("default")))

/* None of these functions raises an error, calls back into Lua or blocks except to wait for the
   next event.  All serve the session that the calling thread drives at present. */

/* Begins an event at the end of the previous one.  Returns false, and begins none, if the run is
   over. */
BN_API bool bn_ffi_event_begin(void);
/* Ends and counts the event. */
BN_API void bn_ffi_event_end(void);
/* Ends and counts the event, and begins the next one.  Returns false, and begins none, if the run
   is over. */
BN_API bool bn_ffi_event_next(void);
/* Drops the event, which is not counted, because the script has said "stop". */
BN_API void bn_ffi_event_drop(void);
/* Goes on after an ignored error, which has ended the event at the try of this number.  Returns,
   perhaps after a wait, tries + 1 if the event is repeated, 1 if it has failed and the next event
   has begun, or 0 if the run is over and no event has begun. */
BN_API uint32_t bn_ffi_event_again(uint32_t tries);
/* Allows connections of the session to be opened again between events.  Returns false if the run
   does not ask for it. */
BN_API bool bn_ffi_may_reconnect(void);
/* Returns true if the run is over, so that no event and no further try may begin. */
BN_API bool bn_ffi_over(void);

#endif
