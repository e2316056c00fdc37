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

static void job_do(struct bn_printer_job *job)
{
  job->say(job);
  if (job->done != NULL)
    job->done(job);
}

static struct bn_printer_job *printer_take(struct bn_printer *o)
{
  struct bn_printer_job *job = o->first;

  if (job != NULL) {
    o->first = job->next;
    o->n--;
  }
  o->busy = job != NULL;
  return job;
}

static void *printer_main(void *arg)
{
  struct bn_printer *o = arg;

  (void)pthread_mutex_lock(&o->lock);
  while (!o->stop || o->first != NULL) {
    struct bn_printer_job *job = printer_take(o);

    if (job == NULL) {
      (void)bn_wait_until(&working, &o->changed, &o->lock, UINT64_MAX);
      continue;
    }
    (void)pthread_mutex_unlock(&o->lock);
    job_do(job);
    (void)pthread_mutex_lock(&o->lock);
    o->busy = false;
    bn_wait_wake(&o->changed);
  }
  (void)pthread_mutex_unlock(&o->lock);
  return NULL;
}

/* Signals are for the thread that follows the hosts, but for the one of a pipe without a reader. */
static int printer_start(struct bn_printer *o)
{
  sigset_t masked, before;
  int rc;

  (void)sigfillset(&masked);
  (void)sigdelset(&masked, SIGPIPE);
  (void)pthread_sigmask(SIG_BLOCK, &masked, &before);
  rc = bn_wait_spawn(&o->thread, 0, printer_main, o);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

int bn_printer_open(struct bn_printer *o, struct bn_err *err)
{
  int rc;

  bn_wait_init(&o->changed);
  (void)pthread_mutex_init(&o->lock, NULL);
  rc = printer_start(o);
  if (rc != 0) {
    (void)pthread_cond_destroy(&o->changed);
    (void)pthread_mutex_destroy(&o->lock);
    return bn_err_set(err, rc, "cannot start the thread that prints: %s", strerror(rc));
  }
  o->made = true;
  return 0;
}

void bn_printer_close(struct bn_printer *o)
{
  if (!o->made)
    return;
  (void)pthread_mutex_lock(&o->lock);
  o->stop = true;
  bn_wait_wake(&o->changed);
  (void)pthread_mutex_unlock(&o->lock);
  bn_wait_join(&returning, o->thread);
  (void)pthread_cond_destroy(&o->changed);
  (void)pthread_mutex_destroy(&o->lock);
  o->made = false;
}

/* The caller holds the lock. */
static void printer_append(struct bn_printer *o, struct bn_printer_job *job)
{
  job->next = NULL;
  if (o->first != NULL)
    o->last->next = job;
  else
    o->first = job;
  o->last = job;
  o->n++;
  bn_wait_wake(&o->changed);
}

void bn_printer_put(struct bn_printer *o, struct bn_printer_job *job)
{
  if (!o->made) {
    job_do(job);
    return;
  }
  (void)pthread_mutex_lock(&o->lock);
  printer_append(o, job);
  (void)pthread_mutex_unlock(&o->lock);
}

static bool is_full(struct bn_printer *o)
{
  bool full;

  if (!o->made)
    return false;
  (void)pthread_mutex_lock(&o->lock);
  full = o->n >= BN_PRINTER_MAX;
  (void)pthread_mutex_unlock(&o->lock);
  return full;
}

struct line {
  struct bn_printer_job job;
  char *text; /* owned */
};

static void line_say(struct bn_printer_job *job)
{
  const struct line *line = (const struct line *)job;

  bn_log_stderr("%s", line->text);
}

static void line_say_foreign(struct bn_printer_job *job)
{
  bn_log_foreign(((const struct line *)job)->text);
}

static void line_done(struct bn_printer_job *job)
{
  free(((struct line *)job)->text);
  free(job);
}

/* Takes the text. */
static void line_put(struct bn_printer *o, char *text, void (*say)(struct bn_printer_job *job))
{
  struct line *line = bn_alloc(1, sizeof *line);

  *line = (struct line){.job = {.say = say, .done = line_done}, .text = text};
  bn_printer_put(o, &line->job);
}

void bn_printer_say(struct bn_printer *o, const char *fmt, ...)
{
  char *text;
  va_list ap;

  va_start(ap, fmt);
  text = bn_alloc_vprint(fmt, ap);
  va_end(ap);
  line_put(o, text, line_say);
}

void bn_printer_foreign(struct bn_printer *o, const char *text)
{
  line_put(o, bn_alloc_text(text), line_say_foreign);
}

struct failure {
  struct bn_printer_job job;
  struct bn_err err;
};

static void failure_say(struct bn_printer_job *job)
{
  bn_log_failure(&((const struct failure *)job)->err);
}

static void failure_done(struct bn_printer_job *job)
{
  free(job);
}

void bn_printer_failure(struct bn_printer *o, const struct bn_err *err)
{
  struct failure *f = bn_alloc(1, sizeof *f);

  *f = (struct failure){{.say = failure_say, .done = failure_done}, *err};
  bn_printer_put(o, &f->job);
}

void bn_printer_offer(struct bn_printer *o, struct bn_printer_job *job)
{
  if (!is_full(o)) {
    bn_printer_put(o, job);
    return;
  }
  if (job->done != NULL)
    job->done(job);
  if (!o->dropped)
    bn_printer_say(o,
                   "standard output was not read for too long: reports of intervals and lines of "
                   "hosts are left out, also in files");
  o->dropped = true;
}

bool bn_printer_wait(struct bn_printer *o, uint64_t until_ns)
{
  bool all_done;

  if (!o->made)
    return true;
  (void)pthread_mutex_lock(&o->lock);
  while ((o->first != NULL || o->busy) && bn_wait_until(&saying, &o->changed, &o->lock, until_ns))
    continue;
  all_done = o->first == NULL && !o->busy;
  (void)pthread_mutex_unlock(&o->lock);
  return all_done;
}
