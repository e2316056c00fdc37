/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread of a run on several hosts that prints and reports, in order.

   A reader that stops, such as a pager, holds up this thread, and neither the hosts nor the signals
   of the user.  Without the thread, before bn_printer_open() and after bn_printer_close(), a job is
   done at once by the caller. */
#ifndef BN_HOSTS_PRINTER_H
#define BN_HOSTS_PRINTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* If more jobs wait, jobs that may be dropped are dropped. */
enum { BN_PRINTER_MAX = 2048 };

/* Part of a larger struct, which is the printer's until `done`. */
struct bn_printer_job {
  void *of; /* the caller's */
  void (*say)(struct bn_printer_job *job);
  /* Frees the struct, also if nothing was said.  NULL: there is nothing to free. */
  void (*done)(struct bn_printer_job *job);
  struct bn_printer_job *next; /* the printer's own */
};

/* All zero: there is no thread. */
struct bn_printer {
  pthread_t thread;
  bool made;    /* the thread exists */
  bool dropped; /* a job has been dropped */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct bn_printer_job *first, *last; /* guarded by the lock, as is the rest: jobs that wait */
  size_t n;                            /* the number of these */
  bool busy, stop;                     /* a job is being done; no more come */
};

/* -1 and err: there is no thread. */
int bn_printer_open(struct bn_printer *p, struct bn_err *err);
/* Ends the thread once all jobs are done. */
void bn_printer_close(struct bn_printer *p);

/* The thread that opened it makes the calls below. */

void bn_printer_put(struct bn_printer *p, struct bn_printer_job *job);
/* As bn_printer_put(); drops the job if too many wait, and says so once. */
void bn_printer_offer(struct bn_printer *p, struct bn_printer_job *job);
/* As bn_log_stderr(), bn_log_foreign() and bn_log_failure(), in order with the reports. */
__attribute__((format(printf, 2, 3))) void bn_printer_say(struct bn_printer *p, const char *fmt,
                                                          ...);
void bn_printer_foreign(struct bn_printer *p, const char *text);
void bn_printer_failure(struct bn_printer *p, const struct bn_err *err);
/* Returns whether all jobs have been done by that time. */
bool bn_printer_wait(struct bn_printer *p, uint64_t until_ns);

#endif
