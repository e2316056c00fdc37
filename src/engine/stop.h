/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals: who receives SIGINT, SIGTERM and SIGHUP, and how a sleeper is woken; one of the places
   with mutable globals. */
#ifndef BN_ENGINE_STOP_H
#define BN_ENGINE_STOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/wait.h"

/* From now on a write to standard output without a reader ends the program as SIGPIPE does, or,
   when there is a receiver, makes its bn_stop_wait return once.  Other pipes and sockets do not
   matter. Nothing happens if SIGPIPE was ignored when the program was started. */
void bn_stop_watch_reader(void);
/* From now on the program goes on then, and asks now and then what is below.  Nothing happens if
   SIGPIPE was ignored. */
void bn_stop_note_reader(void);
/* true: standard output has lost its reader. */
bool bn_stop_reader_left(void);

/* Watches the reader, blocks SIGINT, SIGTERM, SIGHUP and the wake-up signal in the calling thread
   and all threads created later, and installs the handler that passes on a signal which arrives
   while a thread has them unblocked for a child. Call once, in main, before any thread exists;
   until then signals do what they do by default. */
void bn_stop_block_signals(void);
/* Undoes the blocking in this thread around starting a child process (children inherit the mask),
 * and back. */
void bn_stop_unblock_for_child(void);
void bn_stop_block_again(void);

/* There is no run any more: signals do again what they do by default, and those that nobody has
   received are dropped.  main, as the last thread; nothing happens before bn_stop_block_signals. */
void bn_stop_release_signals(void);

/* The calling thread receives the signals from now on (a run's receiver; main without a run). */
void bn_stop_become_receiver(void);

/* Who sent a signal: a process, or the kernel for who typed it. */
struct bn_stop_sender {
  int signo;
  bool typed;
  pid_t pid;
};
/* Sleeps until deadline_ns (as bn_wait_signal), a signal, or bn_stop_wake.
   Returns the signal's number and fills *sender, 0 for a wake-up, -1 at the deadline.  Receiver
   only. */
int bn_stop_wait(const struct bn_wait *w, uint64_t deadline_ns, struct bn_stop_sender *sender);
/* The same for other threads: signals are left to the receiver. */
void bn_stop_sleep(const struct bn_wait *w, uint64_t deadline_ns);
/* Makes that thread's bn_stop_wait or bn_stop_sleep return; any thread. */
void bn_stop_wake(pthread_t thread);
/* The same for the receiver, if there is one; async-signal-safe. */
void bn_stop_wake_receiver(void);

#endif
