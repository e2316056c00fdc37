/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only place in base/ and engine/ where threads start, block and are woken.

   Each wait says what it waits for and what bounds it.  A wait without a deadline of its own is
   bounded by a deadline of the two threads that watch a run: engine/sampler (the time grace and the
   forced shutdown) and engine/signals (the patience after a signal).  A mutex is not a wait: a
   thread that holds one waits only with the wait's own.  The log holds its mutex while it prints,
   and engine/reports its own while it tells facts to reporters.  tests/lint/waits.sh refuses calls
   that block elsewhere in base/ and engine/; tests replace this file by a simulated clock. */
#ifndef BN_BASE_WAIT_H
#define BN_BASE_WAIT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum bn_bound {
  /* The deadline that is passed, which is not UINT64_MAX. */
  BN_BOUND_DEADLINE,
  /* The deadline that is passed.  If it is UINT64_MAX, which is what the user asked for: the call
     that ends the run (bn_threads_end), which the two threads that watch make at their deadlines.
   */
  BN_BOUND_END,
  /* None, and nobody waits for this thread either, once the watching threads have given the workers
     up: it is left behind. */
  BN_BOUND_LEFT_BEHIND,
  /* A thread that serves others waits for work: the main thread stops it at the end of the run. */
  BN_BOUND_STOP,
  /* A thread has said that it is about to return, and is joined. */
  BN_BOUND_RETURNING,
  /* Who reads what is printed decides how long, as in write(2). */
  BN_BOUND_READER
};

/* Const data beside the code that waits. */
struct bn_wait {
  const char *what; /* is waited for */
  enum bn_bound bound;
};

/* Bytes of addresses below the stack of each thread that is started here.  Nothing may be read or
   written there.  A frame of LuaJIT's string.gsub has 9 KB and would step over one page into the
   next thread's stack, which ends with what libc keeps of that thread. */
enum { BN_WAIT_GUARD = 64 << 10 };

/* As pthread_create with stack_bytes (0: the default) besides the guard, and as pthread_join
   without a result. */
int bn_wait_spawn(pthread_t *thread, uint64_t stack_bytes, void *(*body)(void *), void *arg);
void bn_wait_join(const struct bn_wait *w, pthread_t thread);

/* A condition variable for bn_wait_until; 0 or an errno value. */
int bn_wait_init(pthread_cond_t *cond);
/* Waits with the lock until bn_wait_wake or deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: none); false:
   the deadline has passed.  true may come without a reason. */
bool bn_wait_until(const struct bn_wait *w, pthread_cond_t *cond, pthread_mutex_t *lock,
                   uint64_t deadline_ns);
/* Wakes all who wait. */
void bn_wait_wake(pthread_cond_t *cond);

/* Waits for a signal of the set, which the thread has blocked: its number and *info (may be NULL),
   or -1: the deadline has passed. */
int bn_wait_signal(const struct bn_wait *w, const sigset_t *set, uint64_t deadline_ns,
                   siginfo_t *info);
/* Whether somebody may yet read what is written to that pipe or socket; true for other files.
   Returns at once; a signal handler may call it. */
bool bn_wait_has_reader(int fd);
/* Whether that descriptor takes more now. */
bool bn_wait_is_writable(int fd);
/* Waits until that descriptor takes more, as write(2) itself does on one that blocks: its reader
   decides how long. */
void bn_wait_writable(int fd);
/* Stays until the process ends. */
__attribute__((noreturn)) void bn_wait_park(const struct bn_wait *w);
/* Sends a signal to that thread. */
void bn_wait_send(pthread_t thread, int signo);

#endif
