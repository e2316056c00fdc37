/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of jobs with a lock, and the thread that does them. */
#include "hosts/printer.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/wait.h"

static const struct bn_wait working = {"something to say", BN_BOUND_STOP};
static const struct bn_wait saying = {"what is being said", BN_BOUND_DEADLINE};
static const struct bn_wait returning = {"the printer to return", BN_BOUND_RETURNING};

/* Does a job, and calls its `done`, if it has one, which frees it. */
static void printer_do_job(struct bn_printer_job *job)
{
  job->say(job);
  if (job->done != NULL)
    job->done(job);
}

/* The thread: does the jobs in their order until it is to stop and no job waits.  Releases the lock
   while it does a job, so that others can be queued. */
static void *printer_do_jobs(void *arg)
{
  struct bn_printer *p = arg;

  (void)pthread_mutex_lock(&p->lock);
  while (!p->stop || p->first != NULL) {
    struct bn_printer_job *job = p->first;

    if (job == NULL) {
      (void)bn_wait_until(&working, &p->changed, &p->lock, UINT64_MAX);
      continue;
    }
    p->first = job->next;
    p->n--;
    p->busy = true;
    (void)pthread_mutex_unlock(&p->lock);
    printer_do_job(job);
    (void)pthread_mutex_lock(&p->lock);
    p->busy = false;
    bn_wait_wake(&p->changed);
  }
  (void)pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Starts the thread.  It blocks all signals, which are for the thread that follows the hosts,
   except SIGPIPE, which it may cause itself.  Returns 0 or an error number. */
static int printer_start_thread(struct bn_printer *p)
{
  sigset_t masked, before;
  int rc;

  (void)sigfillset(&masked);
  (void)sigdelset(&masked, SIGPIPE);
  (void)pthread_sigmask(SIG_BLOCK, &masked, &before);
  rc = bn_wait_spawn(&p->thread, 0 /* the default stack */, printer_do_jobs, p);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

int bn_printer_open(struct bn_printer *p, struct bn_err *err)
{
  int rc;

  bn_wait_init_cond(&p->changed);
  (void)pthread_mutex_init(&p->lock, NULL);
  rc = printer_start_thread(p);
  if (rc != 0) {
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
    return bn_err_set(err, rc, "cannot start the thread that prints: %s", strerror(rc));
  }
  p->has_thread = true;
  return 0;
}

void bn_printer_close(struct bn_printer *p)
{
  if (!p->has_thread)
    return;
  (void)pthread_mutex_lock(&p->lock);
  p->stop = true;
  bn_wait_wake(&p->changed);
  (void)pthread_mutex_unlock(&p->lock);
  bn_wait_join(&returning, p->thread);
  (void)pthread_cond_destroy(&p->changed);
  (void)pthread_mutex_destroy(&p->lock);
  p->has_thread = false;
}

void bn_printer_put_job(struct bn_printer *p, struct bn_printer_job *job)
{
  if (!p->has_thread) {
    printer_do_job(job);
    return;
  }
  job->next = NULL;
  (void)pthread_mutex_lock(&p->lock);
  if (p->first != NULL)
    p->last->next = job;
  else
    p->first = job;
  p->last = job;
  p->n++;
  bn_wait_wake(&p->changed);
  (void)pthread_mutex_unlock(&p->lock);
}

/* Returns whether BN_PRINTER_MAX jobs wait.  Without a thread, none waits. */
static bool printer_is_full(struct bn_printer *p)
{
  bool full;

  if (!p->has_thread)
    return false;
  (void)pthread_mutex_lock(&p->lock);
  full = p->n >= BN_PRINTER_MAX;
  (void)pthread_mutex_unlock(&p->lock);
  return full;
}

/* A line that waits to be printed. */
struct line {
  struct bn_printer_job job;
  char *text; /* owned */
};

static void printer_say_line(struct bn_printer_job *job)
{
  const struct line *line = (const struct line *)job;

  bn_log_stderr("%s", line->text);
}

static void printer_say_foreign_line(struct bn_printer_job *job)
{
  bn_log_foreign(((const struct line *)job)->text);
}

static void printer_free_line(struct bn_printer_job *job)
{
  free(((struct line *)job)->text);
  free(job);
}

/* Queues a line, which owns the text. */
static void printer_put_line(struct bn_printer *p, char *text,
                             void (*say)(struct bn_printer_job *job))
{
  struct line *line = bn_alloc(1, sizeof *line);

  *line = (struct line){.job = {.say = say, .done = printer_free_line}, .text = text};
  bn_printer_put_job(p, &line->job);
}

void bn_printer_say(struct bn_printer *p, const char *fmt, ...)
{
  char *text;
  va_list ap;

  va_start(ap, fmt);
  text = bn_alloc_vprint(fmt, ap);
  va_end(ap);
  printer_put_line(p, text, printer_say_line);
}

void bn_printer_say_foreign(struct bn_printer *p, const char *text)
{
  printer_put_line(p, bn_alloc_text(text), printer_say_foreign_line);
}

/* An error that waits to be printed. */
struct failure {
  struct bn_printer_job job;
  struct bn_err err;
};

static void printer_say_failure(struct bn_printer_job *job)
{
  bn_log_failure(&((const struct failure *)job)->err);
}

void bn_printer_free_job(struct bn_printer_job *job)
{
  free(job);
}

void bn_printer_say_failure(struct bn_printer *p, const struct bn_err *err)
{
  struct failure *f = bn_alloc(1, sizeof *f);

  *f = (struct failure){.job = {.say = printer_say_failure, .done = bn_printer_free_job},
                        .err = *err};
  bn_printer_put_job(p, &f->job);
}

void bn_printer_offer_job(struct bn_printer *p, struct bn_printer_job *job)
{
  if (!printer_is_full(p)) {
    bn_printer_put_job(p, job);
    return;
  }
  if (job->done != NULL)
    job->done(job);
  if (!p->dropped)
    bn_printer_say(p,
                   "standard output was not read for too long: reports of intervals and lines of "
                   "hosts are left out, also in files");
  p->dropped = true;
}

bool bn_printer_wait(struct bn_printer *p, uint64_t until_ns)
{
  bool all_done;

  if (!p->has_thread)
    return true;
  (void)pthread_mutex_lock(&p->lock);
  while ((p->first != NULL || p->busy) && bn_wait_until(&saying, &p->changed, &p->lock, until_ns))
    continue;
  all_done = p->first == NULL && !p->busy;
  (void)pthread_mutex_unlock(&p->lock);
  return all_done;
}
