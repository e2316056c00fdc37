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

/* If as many jobs wait, bn_printer_offer_job() drops its job. */
enum { BN_PRINTER_MAX = 2048 };

/* A job, as the first member of a larger struct, which is the printer's until `done` has been
   called. */
struct bn_printer_job {
  void *arg; /* for `say`; the printer does not use it */
  void (*say)(struct bn_printer_job *job);
  /* Frees the struct, also if the job was dropped.  NULL: there is nothing to free. */
  void (*done)(struct bn_printer_job *job);
  struct bn_printer_job *next; /* the printer's own */
};

/* All zero: there is no thread. */
struct bn_printer {
  pthread_t thread;
  bool has_thread;
  bool dropped; /* a job has been dropped */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  /* The lock guards the rest. */
  struct bn_printer_job *first, *last; /* the jobs that wait */
  size_t n;                            /* how many jobs wait */
  bool busy;                           /* a job is being done */
  bool stop;                           /* no more jobs come */
};

/* Starts the thread.  Returns 0, or -1 and err; there is then no thread. */
int bn_printer_open(struct bn_printer *p, struct bn_err *err);
/* Waits until all jobs are done, and ends the thread. */
void bn_printer_close(struct bn_printer *p);

/* The thread that opened it makes the calls below, but bn_printer_free_job(). */

/* Queues a job, which is done after those before it. */
void bn_printer_put_job(struct bn_printer *p, struct bn_printer_job *job);
/* Queues a job, or drops it if too many wait, and says once that jobs have been dropped. */
void bn_printer_offer_job(struct bn_printer *p, struct bn_printer_job *job);
/* Queue a text that is printed as bn_log_stderr(), bn_log_foreign() or bn_log_failure() does it. */
__attribute__((format(printf, 2, 3))) void bn_printer_say(struct bn_printer *p, const char *fmt,
                                                          ...);
void bn_printer_say_foreign(struct bn_printer *p, const char *text);
void bn_printer_say_failure(struct bn_printer *p, const struct bn_err *err);
/* Frees a job that owns nothing, as its `done`. */
void bn_printer_free_job(struct bn_printer_job *job);
/* Waits until all jobs are done, or until that time (CLOCK_MONOTONIC).  Returns whether they
   are. */
bool bn_printer_wait(struct bn_printer *p, uint64_t until_ns);

#endif
