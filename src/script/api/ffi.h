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
/* Ends and counts the event, and begins the next one.  Returns false, and begins none, if the run
   is over. */
BN_API bool bn_ffi_event_next(void);
/* Drops the event, which is not counted, because the script has said "stop". */
BN_API void bn_ffi_event_drop(void);
/* Allows connections of the session to be opened again between events.  Returns false if the run
   does not ask for it. */
BN_API bool bn_ffi_may_reconnect(void);

#endif
