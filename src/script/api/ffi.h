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

/* Begins an event at the end of the previous one; false: the run is over and no event was begun. */
BN_API bool bn_ffi_event_begin(void);
/* Ends and counts the event. */
BN_API void bn_ffi_event_end(void);
/* Ends the event and begins the next one; false: the run is over. */
BN_API bool bn_ffi_event_next(void);
/* Forgets the event, because the script has said "stop". */
BN_API void bn_ffi_event_drop(void);
/* Called when an ignored error has ended an event for the tries-th time.  Returns, perhaps after a
   wait, tries + 1: the event is repeated; 1: it has failed, and the next event has begun; 0: the
   run is over, and no event is begun. */
BN_API uint32_t bn_ffi_event_again(uint32_t tries);
/* Sets the length of the pause after this event.  Returns false under --rate, where there is none.
 */
BN_API bool bn_ffi_think(double seconds);
BN_API double bn_ffi_time_left(void);
/* Moves the start of the event in flight to now, except under --rate. */
BN_API void bn_ffi_event_start_later(void);
/* Lets connections of the session be opened again between events; false: the run does not
   ask for it. */
BN_API bool bn_ffi_may_reconnect(void);
/* Returns true if the session has to open one again before the event that has begun. */
BN_API bool bn_ffi_take_renewal(void);
/* Returns true if no event and no retry may begin any more. */
BN_API bool bn_ffi_over(void);

#endif
