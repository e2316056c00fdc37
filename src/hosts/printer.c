/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of jobs with a lock, and the thread that does them. */
#include "hosts/printer.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/wait.h"

/* What takes longer waits for its reader. */
static const uint64_t held_up_ns = BN_NSEC_PER_SEC / 2;

static const struct bn_wait working = {"something to say", BN_BOUND_STOP};
static const struct bn_wait saying = {"what is being said", BN_BOUND_DEADLINE};
static const struct bn_wait left_behind = {"the end of the process", BN_BOUND_LEFT_BEHIND};
static const struct bn_wait returning = {"the printer to return", BN_BOUND_RETURNING};

static bool is_open(const struct bn_printer *o)
{
  return o != NULL && o->made;
}

static void end_job(struct bn_printer_job *job)
{
  if (job->done != NULL)
    job->done(job);
}

/* --- the queue, with the lock ----------------------------------------------------------------- */

/* What counts the bytes of jobs of its kind. */
static size_t *printer_waiting(struct bn_printer *o, const struct bn_printer_job *job)
{
  return job->kind == BN_PRINTER_ERRORS ? &o->line_bytes : &o->bytes;
}

static void printer_append(struct bn_printer *o, struct bn_printer_job *job)
{
  job->next = NULL;
  if (o->last != NULL)
    o->last->next = job;
  else
    o->first = job;
  o->last = job;
  *printer_waiting(o, job) += job->bytes;
}

/* The first job that `fits` goes; NULL: none does. */
static struct bn_printer_job *printer_take(struct bn_printer *o,
                                           bool (*fits)(const struct bn_printer_job *))
{
  struct bn_printer_job **at = &o->first, *before = NULL, *job;

  while (*at != NULL && !fits(*at)) {
    before = *at;
    at = &before->next;
  }
  job = *at;
  if (job == NULL)
    return NULL;
  *at = job->next;
  if (o->last == job)
    o->last = before;
  *printer_waiting(o, job) -= job->bytes;
  job->next = NULL;
  return job;
}

static bool is_any(const struct bn_printer_job *job)
{
  (void)job;
  return true;
}

static bool is_latest(const struct bn_printer_job *job)
{
  return job->kind == BN_PRINTER_LATEST;
}

/* A pipe that is writable takes so much without blocking. */
static bool is_short_line(const struct bn_printer_job *job)
{
  return job->kind == BN_PRINTER_ERRORS && job->bytes < PIPE_BUF;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void *printer_speak(void *arg)
{
  struct bn_printer *o = arg;

  (void)pthread_mutex_lock(&o->lock);
  while (!o->stop || o->first != NULL) {
    struct bn_printer_job *job = printer_take(o, is_any);

    if (job == NULL) {
      (void)bn_wait_until(&working, &o->changed, &o->lock, UINT64_MAX);
      continue;
    }
    o->now = job;
    o->now_ns = bn_clock_mono();
    (void)pthread_mutex_unlock(&o->lock);
    job->say(job);
    (void)pthread_mutex_lock(&o->lock);
    if (o->left) {
      (void)pthread_mutex_unlock(&o->lock);
      bn_wait_park(&left_behind);
    }
    end_job(job);
    o->now = NULL;
    bn_wait_wake(&o->changed);
  }
  (void)pthread_mutex_unlock(&o->lock);
  return NULL;
}

/* Signals are for the thread that follows the hosts, but for the one of a pipe without a reader. */
static int start_thread(pthread_t *thread, void *(*body)(void *), struct bn_printer *o)
{
  sigset_t masked, before;
  int rc;

  (void)sigfillset(&masked);
  (void)sigdelset(&masked, SIGPIPE);
  (void)pthread_sigmask(SIG_BLOCK, &masked, &before);
  rc = bn_wait_spawn(thread, 0, body, o);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

int bn_printer_open(struct bn_printer *o, struct bn_err *err)
{
  int rc = bn_wait_init(&o->changed);

  if (rc != 0)
    return bn_err_set(err, rc, "out of memory");
  (void)pthread_mutex_init(&o->lock, NULL);
  rc = start_thread(&o->thread, printer_speak, o);
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

/* --- what is put ------------------------------------------------------------------------------ */

struct line {
  struct bn_printer_job job;
  char text[];
};

static void say_line(struct bn_printer_job *job)
{
  bn_log_stderr("%s", ((const struct line *)job)->text);
}

static void free_job(struct bn_printer_job *job)
{
  free(job);
}

/* NULL: out of memory. */
static struct bn_printer_job *line_of(enum bn_printer_kind kind, const char *text)
{
  const size_t size = strlen(text) + 1;
  struct line *line = malloc(sizeof *line + size);

  if (line == NULL)
    return NULL;
  memcpy(line->text, text, size);
  line->job =
      (struct bn_printer_job){.kind = kind, .bytes = size, .say = say_line, .done = free_job};
  return &line->job;
}

/* With the lock. */
static bool has_room(struct bn_printer *o, const struct bn_printer_job *job)
{
  switch (job->kind) {
  case BN_PRINTER_BOUNDED:
    return o->bytes + job->bytes <= BN_PRINTER_MAX;
  case BN_PRINTER_ERRORS:
    return o->line_bytes + job->bytes <= BN_PRINTER_LINES_MAX;
  case BN_PRINTER_ALWAYS:
  case BN_PRINTER_LATEST:
    break;
  }
  return true;
}

/* With the lock: says once that jobs of that kind are left out, on standard error, which may have a
   reader. */
static void tell_short(struct bn_printer *o, enum bn_printer_kind kind)
{
  const bool of_line = kind == BN_PRINTER_ERRORS;
  bool *told = of_line ? &o->short_of_lines : &o->short_of;
  struct bn_printer_job *word =
      *told ? NULL
            : line_of(BN_PRINTER_ERRORS,
                      of_line ? "standard error was not read for too long: some messages are left "
                                "out"
                              : "standard output was not read for too long: interval reports and "
                                "lines are left out from now on, also of files; the final report "
                                "is kept");

  *told = true;
  if (word != NULL)
    printer_append(o, word);
}

/* With the lock: puts it, or gives back what gives way. */
static struct bn_printer_job *printer_queue(struct bn_printer *o, struct bn_printer_job *job)
{
  struct bn_printer_job *gone = is_latest(job) ? printer_take(o, is_latest) : NULL;

  if (!has_room(o, job)) {
    tell_short(o, job->kind);
    return job;
  }
  printer_append(o, job);
  return gone;
}

void bn_printer_put(struct bn_printer *o, struct bn_printer_job *job)
{
  struct bn_printer_job *gone;

  if (!is_open(o)) {
    job->say(job);
    end_job(job);
    return;
  }
  (void)pthread_mutex_lock(&o->lock);
  gone = printer_queue(o, job);
  bn_wait_wake(&o->changed);
  (void)pthread_mutex_unlock(&o->lock);
  if (gone != NULL)
    end_job(gone);
}

void bn_printer_say(struct bn_printer *o, const char *fmt, ...)
{
  struct bn_printer_job *line = NULL;
  char *text = NULL;
  va_list ap;

  va_start(ap, fmt);
  if (vasprintf(&text, fmt, ap) >= 0)
    line = line_of(BN_PRINTER_ERRORS, text);
  va_end(ap);
  if (line != NULL)
    bn_printer_put(o, line);
  free(text);
}

/* How much it takes is known once it is escaped. */
void bn_printer_foreign(struct bn_printer *o, const char *text)
{
  char *shown = bn_escape_copy(text);
  struct bn_printer_job *line = shown != NULL ? line_of(BN_PRINTER_ERRORS, shown) : NULL;

  if (line != NULL)
    bn_printer_put(o, line);
  free(shown);
}

struct failure {
  struct bn_printer_job job;
  struct bn_err err;
};

static void say_failure(struct bn_printer_job *job)
{
  bn_log_failure(&((const struct failure *)job)->err);
}

/* A dialect has it on standard output. */
void bn_printer_failure(struct bn_printer *o, const struct bn_err *err)
{
  struct failure *f = malloc(sizeof *f);

  if (f == NULL)
    return;
  *f = (struct failure){
      {.kind = BN_PRINTER_ALWAYS, .bytes = sizeof *f, .say = say_failure, .done = free_job}, *err};
  bn_printer_put(o, &f->job);
}

bool bn_printer_is_short(struct bn_printer *o)
{
  bool is_short;

  if (!is_open(o))
    return o != NULL && o->short_of;
  (void)pthread_mutex_lock(&o->lock);
  is_short = o->short_of;
  (void)pthread_mutex_unlock(&o->lock);
  return is_short;
}

/* --- readers that stop ------------------------------------------------------------------------ */

/* NULL: there is none, or it would have to wait as well. */
static struct bn_printer_job *next_line(struct bn_printer *o, uint64_t now_ns)
{
  struct bn_printer_job *line = NULL;

  (void)pthread_mutex_lock(&o->lock);
  if (o->now != NULL && o->now->kind != BN_PRINTER_ERRORS && now_ns > o->now_ns + held_up_ns &&
      bn_wait_is_writable(STDERR_FILENO))
    line = printer_take(o, is_short_line);
  (void)pthread_mutex_unlock(&o->lock);
  return line;
}

void bn_printer_look(struct bn_printer *o, uint64_t now_ns)
{
  struct bn_printer_job *line;

  while (is_open(o) && (line = next_line(o, now_ns)) != NULL) {
    line->say(line);
    end_job(line);
  }
}

bool bn_printer_wait(struct bn_printer *o, uint64_t until_ns)
{
  bool said;

  if (!is_open(o))
    return true;
  (void)pthread_mutex_lock(&o->lock);
  while ((o->first != NULL || o->now != NULL) &&
         bn_wait_until(&saying, &o->changed, &o->lock, until_ns))
    continue;
  said = o->first == NULL && o->now == NULL;
  (void)pthread_mutex_unlock(&o->lock);
  return said;
}

/* In place of the thread that hangs, which takes nothing out of the queue any more. */
static void *speak_last(void *arg)
{
  struct bn_printer *o = arg;
  struct bn_printer_job *job = o->now;

  if (job != NULL && job->kind == BN_PRINTER_ALWAYS)
    job->say(job);
  while ((job = printer_take(o, is_any)) != NULL) {
    if (job->kind == BN_PRINTER_ALWAYS)
      job->say(job);
    end_job(job);
  }
  (void)pthread_mutex_lock(&o->lock);
  o->over = true;
  bn_wait_wake(&o->changed);
  (void)pthread_mutex_unlock(&o->lock);
  return NULL;
}

void bn_printer_leave(struct bn_printer *o, uint64_t until_ns)
{
  pthread_t last;
  bool over;

  (void)pthread_mutex_lock(&o->lock);
  o->left = true;
  (void)pthread_mutex_unlock(&o->lock);
  if (start_thread(&last, speak_last, o) != 0)
    return;
  (void)pthread_mutex_lock(&o->lock);
  while (!o->over && bn_wait_until(&saying, &o->changed, &o->lock, until_ns))
    continue;
  over = o->over;
  (void)pthread_mutex_unlock(&o->lock);
  if (over)
    bn_wait_join(&returning, last);
}
