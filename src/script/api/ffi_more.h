/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions like those of ffi.h and ffi_rand.h that few workers need, declared to Lua by the
   modules that call them. */
#ifndef BN_SCRIPT_API_FFI_MORE_H
#define BN_SCRIPT_API_FFI_MORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/api/ffi.h"

/* Ends and counts the event. */
BN_API void bn_ffi_event_end(void);
/* Goes on after an ignored error, which has ended the event at the try of this number.  Returns,
   perhaps after a wait, tries + 1 if the event is repeated, 1 if it has failed and the next event
   has begun, or 0 if the run is over and no event has begun. */
BN_API uint32_t bn_ffi_event_again(uint32_t tries);
/* Sets the length of the pause after this event.  Returns false under --rate, where events have no
   pauses. */
BN_API bool bn_ffi_think(double seconds);
/* Returns the seconds from the end of the previous event to the limit of the run; without a limit,
   infinity. */
BN_API double bn_ffi_time_left(void);
/* Moves the start of the event in flight to now, except under --rate. */
BN_API void bn_ffi_event_start_later(void);
/* Returns true if the session has to open a connection again before the event that has begun. */
BN_API bool bn_ffi_take_renewal(void);
/* Returns true if the run is over, so that no event and no further try may begin. */
BN_API bool bn_ffi_over(void);
/* Returns the next number of a mixed order of [a, b].  If all draws are of one range, each number
   comes once before any repeats.  All threads share the order.  Where it begins follows from the
   seed, but not in 0.5, and from the host. */
BN_API double bn_ffi_rand_uniq(int64_t a, int64_t b);
/* Returns a text of `len` characters '0'..'z', valid until the next call; NULL: no object is that
   large. */
BN_API const char *bn_ffi_rand_chars(size_t len);

#endif
