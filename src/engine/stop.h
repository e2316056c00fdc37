/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals: the thread that receives SIGINT, SIGTERM and SIGHUP, and the wake-up of sleeping
   threads.  Their state is global, because handlers of signals have no argument. */
#ifndef BN_ENGINE_STOP_H
#define BN_ENGINE_STOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/end_signals.h"
#include "base/wait.h"

/* From this call on, a write to standard output without a reader ends the program as SIGPIPE does,
   or, if there is a receiver, makes its bn_stop_wait return once.  Other pipes and sockets do not
   matter.  This does not apply if SIGPIPE was ignored when the program was started.  From this call
   on, too, a signal that asks for the end ends the wait for the reader of a FIFO. */
void bn_stop_watch_reader(void);
/* From this call on, the program continues after standard output has lost its reader, and asks
   bn_stop_has_lost_reader now and then.  The call does nothing if SIGPIPE was ignored. */
void bn_stop_note_reader(void);
/* Returns true if standard output has lost its reader. */
bool bn_stop_has_lost_reader(void);

/* Notes that a signal has asked for the end, so that nothing waits for the reader of a FIFO any
   more. */
void bn_stop_note_asked(void);
/* Returns whether a signal has asked for the end, or standard output has lost its reader. */
bool bn_stop_was_asked(void);

/* Watches the reader as bn_stop_watch_reader does, and blocks SIGINT, SIGTERM, SIGHUP and the
   wake-up signal in the calling thread and all threads created later.  A signal that arrives while
   a thread has them unblocked for a child is passed on to the receiver.  main calls it once, before
   any thread exists; until then signals do what they do by default. */
void bn_stop_block_signals(void);
/* Unblocks the signals in this thread for a child, which inherits the mask, and blocks them
   again. */
void bn_stop_unblock_for_child(void);
void bn_stop_block_again(void);

/* Restores the default actions of signals and drops pending signals, after the run.  main calls it
   as the last thread; it does nothing before bn_stop_block_signals. */
void bn_stop_release_signals(void);

/* Makes the calling thread the receiver of signals: a run's receiver, or main without a run. */
void bn_stop_become_receiver(void);

/* Sleeps until deadline_ns (as bn_wait_signal), a signal, or bn_stop_wake.  Returns the number of
   the signal and fills *received, 0 if woken, -1 at the deadline.  Receiver only. */
int bn_stop_wait(const struct bn_wait *w, uint64_t deadline_ns, struct bn_end_signal *received);
/* As bn_stop_wait for other threads, which receive no signals. */
void bn_stop_sleep(const struct bn_wait *w, uint64_t deadline_ns);
/* Makes bn_stop_wait or bn_stop_sleep of that thread return.  Any thread. */
void bn_stop_wake(pthread_t thread);

#endif
