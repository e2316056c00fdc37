/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The printer of a run on several hosts: what is printed and reported, in order, by a thread of its
   own.

   Who puts something never waits for a reader, so a reader that stops holds up what is printed, and
   neither the hosts nor the user's signals.  What waits is bounded.  Without the thread, before
   bn_printer_open() and after bn_printer_close(), all is said at once by who puts it. */
#ifndef BN_HOSTS_PRINTER_H
#define BN_HOSTS_PRINTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* So many bytes may wait, and of standard error so many; what comes then is left out, and that is
   said once of either. */
enum { BN_PRINTER_MAX = 256 << 20, BN_PRINTER_LINES_MAX = 1 << 20 };

enum bn_printer_kind {
  BN_PRINTER_ALWAYS,  /* is said however much waits */
  BN_PRINTER_BOUNDED, /* is left out if too much waits */
  BN_PRINTER_LATEST,  /* takes the place of the one of its kind that still waits */
  BN_PRINTER_ERRORS   /* a line of standard error; is left out if too many of them wait */
};

/* Part of a larger struct, which is the printer's until `done`. */
struct bn_printer_job {
  enum bn_printer_kind kind;
  size_t bytes; /* that it takes while it waits */
  void *of;     /* the caller's */
  void (*say)(struct bn_printer_job *job);
  /* The last call, also if nothing was said: frees what it has, and puts nothing.  NULL: none. */
  void (*done)(struct bn_printer_job *job);
  struct bn_printer_job *next; /* the printer's own */
};

/* All zero: there is no thread. */
struct bn_printer {
  pthread_t thread;
  bool made;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  /* With the lock. */
  struct bn_printer_job *first, *last; /* that wait */
  struct bn_printer_job *now;          /* that is being said */
  uint64_t now_ns;                     /* since when */
  size_t bytes, line_bytes;            /* that wait; of standard error */
  bool short_of, short_of_lines;       /* something has been left out; a line of standard error */
  bool stop, left;
  bool over; /* what was to be said after that has been */
};

/* -1 and err: there is no thread. */
int bn_printer_open(struct bn_printer *o, struct bn_err *err);
/* Ends the thread; everything has been said. */
void bn_printer_close(struct bn_printer *o);

/* All below: the thread that opened it.  o: NULL as without a thread. */
void bn_printer_put(struct bn_printer *o, struct bn_printer_job *job);
/* As bn_log_stderr() and bn_log_foreign(). */
__attribute__((format(printf, 2, 3))) void bn_printer_say(struct bn_printer *o, const char *fmt,
                                                          ...);
void bn_printer_foreign(struct bn_printer *o, const char *text);
/* As bn_log_failure(). */
void bn_printer_failure(struct bn_printer *o, const struct bn_err *err);
/* Whether something other than lines of standard error has been left out.  Any thread, and after
   bn_printer_close(). */
bool bn_printer_is_short(struct bn_printer *o);
/* At any time: lines of standard error do not wait for the reader of something else. */
void bn_printer_look(struct bn_printer *o, uint64_t now_ns);
/* Whether everything has been said by that time. */
bool bn_printer_wait(struct bn_printer *o, uint64_t until_ns);
/* The thread hangs in a job: if it comes back, it does nothing more.  Another one says what is said
   however much waits, also the job in which the first one hangs, and is waited for until that time.
   To be followed by _exit(). */
void bn_printer_leave(struct bn_printer *o, uint64_t until_ns);

#endif
