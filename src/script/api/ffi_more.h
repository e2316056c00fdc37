/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions like those of ffi.h that few scripts use, declared to Lua when they are first used. */
#ifndef BN_SCRIPT_API_FFI_MORE_H
#define BN_SCRIPT_API_FFI_MORE_H

#include <stdbool.h>

#include "script/api/ffi.h"

/* Sets the length of the pause after this event.  Returns false under --rate, where events have no
   pauses. */
BN_API bool bn_ffi_think(double seconds);
/* Returns the seconds from the end of the previous event to the limit of the run; without a limit,
   infinity. */
BN_API double bn_ffi_time_left(void);
/* Moves the start of the event in flight to now, except under --rate. */
BN_API void bn_ffi_event_start_later(void);
/* Returns true if the session has to open such a connection again before the event that
   has begun. */
BN_API bool bn_ffi_take_renewal(void);

#endif
