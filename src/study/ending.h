/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a study ends by signals, and the temporary folder that goes with it in any case.

   Signals are those of study/child.h.  One of the places with mutable globals. */
#ifndef BN_STUDY_ENDING_H
#define BN_STUDY_ENDING_H

#include <limits.h>

#include "base/err.h"

/* From this call on, the first signal is noted, so that the study ends itself; the next one ends
   the process, unless it comes within 0.2 s. */
void bn_ending_begin(void);
/* The signal that was noted; 0: none. */
int bn_ending_signal(void);
/* Notes a signal that was received in another way. */
void bn_ending_note(int signo);

/* Makes an empty folder that only this user can read.  It is removed with its content by
   bn_ending_remove_folder(), by exit(), and before a signal ends the process.  -1 and err. */
int bn_ending_folder(char path[PATH_MAX], struct bn_err *err);
void bn_ending_remove_folder(void);

#endif
