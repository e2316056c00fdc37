/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts threads, blocks and wakes them: no other code in base/ and engine/ does.

   Each wait has a text that says what it waits for, and a bound.  A wait without a deadline of its
   own is bounded by a deadline of the two threads that watch a run: engine/sampler (the time grace
   and the forced shutdown) and engine/signals (the patience after a signal).  A mutex is not a
   wait: a thread that holds a mutex waits only by bn_wait_until with this mutex.  The log holds its
   mutex while it prints, and engine/reports holds its mutex while it passes facts to reporters.
   tests/lint/waits.sh refuses calls that block elsewhere in base/ and engine/; tests replace this
   file by a simulated clock. */
#ifndef BN_BASE_WAIT_H
#define BN_BASE_WAIT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum bn_bound {
  /* The deadline that is passed, which is not UINT64_MAX. */
  BN_BOUND_DEADLINE,
  /* The deadline that is passed, or, for UINT64_MAX, which the user asked for, bn_threads_end,
     which the two watching threads call at their deadlines. */
  BN_BOUND_END,
  /* No bound: once the watching threads have abandoned the workers, no thread waits for this
     one. */
  BN_BOUND_LEFT_BEHIND,
  /* The end of the run: the main thread then stops this thread, which waits for work. */
  BN_BOUND_STOP,
  /* The return of a thread that has announced it and is joined. */
  BN_BOUND_RETURNING,
  /* The reader of the output decides, as in write(2). */
  BN_BOUND_READER
};

/* The description of a wait: const data beside the code that waits. */
struct bn_wait {
  const char *what; /* the thing that is waited for */
  enum bn_bound bound;
};

/* Bytes of addresses below the stack of each thread started here, where nothing may be read or
   written.  A frame of LuaJIT's string.gsub has 9 KB and would step over one page into the stack of
   the next thread, which ends with the data that libc keeps of that thread. */
enum { BN_WAIT_GUARD = 64 << 10 };

/* Starts a thread with a stack of stack_bytes (0: the default) besides the guard.  Returns 0, or an
   errno value, as pthread_create does. */
int bn_wait_spawn(pthread_t *thread, uint64_t stack_bytes, void *(*body)(void *), void *arg);
/* Waits for the end of a thread that is about to return, or returns after a call of a reporter. */
void bn_wait_join(const struct bn_wait *w, pthread_t thread);

/* Makes a condition variable for bn_wait_until. */
void bn_wait_init_cond(pthread_cond_t *cond);
/* Waits with the lock until bn_wait_wake or deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: none).
   Returns false if the deadline has passed.  It may return true without a wake-up. */
bool bn_wait_until(const struct bn_wait *w, pthread_cond_t *cond, pthread_mutex_t *lock,
                   uint64_t deadline_ns);
/* Wakes all waiting threads. */
void bn_wait_wake(pthread_cond_t *cond);

/* Waits for a signal of the set, which the thread has blocked.  Returns its number and sets *info
   (may be NULL), or returns -1 if the deadline has passed. */
int bn_wait_signal(const struct bn_wait *w, const sigset_t *set, uint64_t deadline_ns,
                   siginfo_t *info);
/* Returns whether that pipe or socket still has a reader; true for other files.  Returns at once; a
   signal handler may call it. */
bool bn_wait_has_reader(int fd);
/* Returns whether that descriptor takes more now. */
bool bn_wait_is_writable(int fd);
/* Waits until that descriptor takes more, as write(2) itself does on a descriptor that blocks, or a
   signal comes.  Returns false if the deadline has passed; UINT64_MAX: the reader decides how
   long. */
bool bn_wait_until_writable(int fd, uint64_t deadline_ns);
struct epoll_event;
/* Waits for events of an epoll set until deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: none; 0: not at
   all).  Returns how many it has stored, at most n; 0 after the deadline or a signal. */
int bn_wait_events(const struct bn_wait *w, int epoll_fd, struct epoll_event *events, int n,
                   uint64_t deadline_ns);
/* Waits for events of poll() on one descriptor (-1: only the time passes); returns those that have
   come, or 0 after the deadline or a signal. */
short bn_wait_poll(const struct bn_wait *w, int fd, short events, uint64_t deadline_ns);
/* Waits until the process ends. */
__attribute__((noreturn)) void bn_wait_park(const struct bn_wait *w);
/* Sends SIGALRM with `value` to this thread once, after after_ns, even while it waits for a mutex.
   For one call in a process: the timer and the handler stay.  If no timer can be made, no signal
   comes. */
void bn_wait_set_alarm(uint64_t after_ns,
                       void (*handler)(int signo, siginfo_t *info, void *context), int value);
/* Sends a signal to that thread. */
void bn_wait_send_signal(pthread_t thread, int signo);

#endif
