/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a study ends by signals, and its temporary folder, which is removed with it in any case.

   Its state is global, because handlers of signals have no argument. */
#ifndef BN_STUDY_ENDING_H
#define BN_STUDY_ENDING_H

#include <limits.h>

#include "base/err.h"

/* The signals that end a study: SIGINT, SIGTERM, SIGHUP and SIGQUIT.  Those that this process
   ignores stay ignored. */
enum { BN_ENDING_SIGNALS = 4 };
extern const int bn_ending_signals[BN_ENDING_SIGNALS];

/* From this call on, the first signal is noted, so that the study ends itself; the next one ends
   the process, unless it comes within BN_END_SIGNAL_ECHO_NS (base/end_signals.h). */
void bn_ending_begin(void);
/* Returns the signal that was noted, or 0. */
int bn_ending_signal(void);
/* Notes a signal that a wait for a child has received, unless one was noted before.  0: none. */
void bn_ending_note_signal(int signo);

/* Makes a new empty folder in the study's temporary folder, which only this user can read and which
   the first call makes.  Returns 0 and the path, or -1 and err. */
int bn_ending_make_folder(char path[PATH_MAX], struct bn_err *err);
/* Removes the temporary folder with its content.  exit() does it too, and a signal before it ends
   the process. */
void bn_ending_remove_folder(void);

#endif
