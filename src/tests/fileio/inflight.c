/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of a session: keeps the queue of the engine full and ends events with their requests. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/event.h"
#include "engine/run.h"
#include "tests/fileio/fileio.h"
#include "tests/fileio/verify.h"

/* The longest wait before the next check whether the run is over. */
static const uint64_t poll_ns = 50 * BN_NSEC_PER_MSEC;

enum kind {
  EVENT,       /* a request that is an event */
  EVENT_WRITE, /* the first half of an event whose flush follows (--file-fsync-all) */
  EVENT_FLUSH, /* the flush that ends such an event */
  BARE_FLUSH   /* a flush that is no event */
};

struct bn_flight {
  struct bn_io_req io; /* first member: engines return a pointer to it */
  struct bn_tick tick;
  uint64_t submitted_ns;
  enum kind kind;
};

/* --- session --- */

/* Opens the engine of a session; bn_inflight_close closes it also after a failure.  Returns 0, or
   -1 and err. */
static int inflight_open_engine(struct bn_fileio *f, struct bn_fileio_session *w,
                                struct bn_err *err)
{
  struct bn_io_setup setup = f->setup;

  setup.buffers = w->buffers;
  setup.buffer_size = f->plan.buffer_size;
  w->engine = bn_alloc(1, f->engine->session_size);
  w->opened = true;
  return f->engine->open(w->engine, &setup, err);
}

int bn_inflight_open(void *self, struct bn_session *s, struct bn_err *err)
{
  struct bn_fileio *f = self;
  struct bn_fileio_session *w = s->state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);

  w->flight = calloc(f->depth, sizeof *w->flight);
  w->idle = calloc(f->depth, sizeof *w->idle);
  w->done = calloc(f->depth, sizeof(struct bn_io_req *));
  w->buffers = bn_alloc_try_aligned(page, f->depth, f->plan.buffer_size);
  if (w->flight == NULL || w->idle == NULL || w->done == NULL || w->buffers == NULL)
    return bn_err_set(err, ENOMEM,
                      "out of memory for %u request(s) of %zu bytes per thread: lower "
                      "%s--file-block-size or --threads",
                      f->depth, f->plan.buffer_size, f->depth > 1 ? "--file-async-backlog, " : "");
  for (unsigned i = 0; i < f->depth; i++) {
    w->flight[i].io.slot = i;
    w->flight[i].io.buf = w->buffers + i * f->plan.buffer_size;
    w->idle[i] = &w->flight[f->depth - 1 - i]; /* the last one is taken first */
  }
  w->n_idle = f->depth;
  bn_rng_seed(&w->data, s->services->conf->seed, BN_RNG_DATA, s->number);
  return inflight_open_engine(f, w, err);
}

int bn_inflight_close(void *self, struct bn_session *s, struct bn_err *err)
{
  const struct bn_fileio *f = self;
  struct bn_fileio_session *w = s->state;

  (void)err;
  if (w->opened && f->engine->close != NULL)
    f->engine->close(w->engine);
  free(w->engine);
  free(w->flight);
  free(w->idle);
  free((void *)w->done);
  free(w->buffers);
  return 0;
}

/* --- what a completion means --- */

/* Returns the verb for what a request does. */
static const char *inflight_get_verb(const struct bn_io_req *r)
{
  if (bn_io_is_flush(r->op))
    return "flush";
  return r->op == BN_IO_READ ? "read" : "write";
}

/* Logs why a request has failed, or was cut short by a file that has become shorter. */
static void inflight_log_request_failure(struct bn_fileio *f, const struct bn_io_req *r)
{
  const int error = r->result < 0 ? (int)-r->result : 0;

  /* The first request of every thread meets this error, so it is logged once. */
  if (error == EOPNOTSUPP && f->setup.iopoll) {
    if (!atomic_exchange_explicit(&f->poll_error_logged, true, memory_order_relaxed))
      bn_log(BN_FATAL, "the device of the files cannot be polled: leave out --file-uring-iopoll");
    return;
  }
  if (error == EINVAL && f->plan.direct)
    bn_log_hint("direct I/O may need a --file-block-size that is a multiple of 4096 bytes");
  if (bn_io_is_flush(r->op))
    bn_log_errno(BN_FATAL, error, "Failed to fsync file! file: %u", r->file);
  else if (error != 0)
    bn_log_errno(BN_FATAL, error, "Failed to %s file! file: %u pos: %llu", inflight_get_verb(r),
                 r->file, (unsigned long long)r->offset);
  else
    bn_log(
        BN_FATAL, "Failed to %s file! file: %u pos: %llu: %lld of %zu bytes, the file has changed",
        inflight_get_verb(r), r->file, (unsigned long long)r->offset, (long long)r->result, r->len);
}

/* Returns whether a request has flushed, or has moved all its bytes. */
static inline bool inflight_is_done(const struct bn_io_req *r)
{
  return bn_io_is_flush(r->op) ? r->result >= 0 : r->result == (int64_t)r->len;
}

/* Moves the bytes that the kernel has left of a request, which is rare, by system calls that block.
   Returns whether the request is done.  If it is not, logs why, unless the session has failed
   before. */
static bool inflight_finish_transfer(struct bn_fileio *f, const struct bn_fileio_session *w,
                                     struct bn_io_req *r)
{
  if (inflight_is_done(r))
    return true;
  if (!bn_io_is_flush(r->op) && r->result > 0) {
    bn_io_execute(f->fd[r->file], r, (size_t)r->result);
    if (inflight_is_done(r))
      return true;
  }
  /* After the first failure, the requests in flight often fail for the same reason. */
  if (!w->failed)
    inflight_log_request_failure(f, r);
  return false;
}

/* Logs a bad block in three lines, in the words of sysbench.  The words are the kind of the error,
   so another bad block, which has another offset, is logged too. */
static void inflight_log_bad_block(const struct bn_fileio *f, unsigned file, enum bn_verify verdict,
                                   const struct bn_verify_fault *fault)
{
  const unsigned long long offset = fault->offset;
  const bool has_title_offset = !f->plan.policy->unknown_offset;
  char title[80], values[96], where[96];
  const char *const lines[] = {title, values, where};

  if (verdict == BN_VERIFY_OFFSET) {
    (void)snprintf(title, sizeof title, "Offset mismatch in block:");
    (void)snprintf(values, sizeof values, "   Actual offset: %llu    Stored offset: %llu", offset,
                   (unsigned long long)fault->stored_offset);
  } else {
    if (has_title_offset)
      (void)snprintf(title, sizeof title, "Checksum mismatch in block with offset: %llu", offset);
    else
      (void)snprintf(title, sizeof title, "Checksum mismatch in block: ");
    (void)snprintf(values, sizeof values, "    Calculated value: 0x%x    Stored value: 0x%x",
                   fault->computed, fault->stored);
  }
  (void)snprintf(where, sizeof where,
                 has_title_offset ? "Validation failed on file %u, block offset %llu, exiting..."
                                  : "Validation failed on file %u, block offset 0x%llx, exiting...",
                 file, offset);
  bn_log_fatal_as(NULL, lines, sizeof lines / sizeof *lines);
}

/* Checks the blocks of a read with --validate, and logs the first bad one.  Returns whether all are
   good; true for any other request, which has nothing to check. */
static bool inflight_verify_data(const struct bn_fileio *f, const struct bn_io_req *r)
{
  struct bn_verify_fault fault;

  if (!f->plan.validate || r->op != BN_IO_READ)
    return true;
  const size_t block = (size_t)f->plan.conf->block_size;
  const enum bn_verify verdict = bn_verify_check(r->buf, r->len, block, r->offset, &fault);

  if (verdict != BN_VERIFY_GOOD)
    inflight_log_bad_block(f, r->file, verdict, &fault);
  return verdict == BN_VERIFY_GOOD;
}

/* Counts a request and the time since its submission; an event may have two requests. */
static void inflight_count_request(struct bn_session *s, const struct bn_flight *flight,
                                   uint64_t now_ns)
{
  const uint64_t took_ns = bn_clock_between(flight->submitted_ns, now_ns);
  struct bn_stat *st = s->stat;

  switch (flight->io.op) {
  case BN_IO_READ:
    bn_stat_count(st, BN_C_READ, 1);
    bn_stat_count(st, BN_C_BYTES_READ, flight->io.len);
    bn_stat_record(st, BN_H_READ, took_ns);
    break;
  case BN_IO_WRITE:
    bn_stat_count(st, BN_C_WRITE, 1);
    bn_stat_count(st, BN_C_BYTES_WRITTEN, flight->io.len);
    bn_stat_record(st, BN_H_WRITE, took_ns);
    break;
  case BN_IO_FSYNC:
  case BN_IO_FDATASYNC:
    bn_stat_count(st, BN_C_OTHER, 1);
    bn_stat_record(st, BN_H_FSYNC, took_ns);
    break;
  }
}

static void inflight_complete(struct bn_fileio *f, struct bn_session *s, struct bn_flight *flight);

/* Returns the flush that --file-fsync-mode asks for. */
static enum bn_io_op inflight_flush_op(const struct bn_fileio *f)
{
  return f->plan.conf->fsync_mode == BN_FILE_FSYNC ? BN_IO_FSYNC : BN_IO_FDATASYNC;
}

/* Hands a request to the engine, and completes it if the engine does it at once. */
static void inflight_submit(struct bn_fileio *f, struct bn_session *s, struct bn_flight *flight)
{
  struct bn_fileio_session *w = s->state;

  w->in_flight++;
  w->writes_in_flight += flight->io.op == BN_IO_WRITE;
  if (f->engine->submit(w->engine, &flight->io) == 1)
    inflight_complete(f, s, flight);
}

/* Begins the second half of an event: the flush of the file that its first half has written. */
static void inflight_flush_written(struct bn_fileio *f, struct bn_session *s,
                                   struct bn_flight *flight)
{
  flight->kind = EVENT_FLUSH;
  flight->io.op = inflight_flush_op(f);
  flight->submitted_ns = bn_clock_now(&s->clock);
  inflight_submit(f, s, flight);
}

/* Marks the session failed because of a request.  Keeps the reason of an earlier failure, which
   explains this one. */
static void inflight_mark_failed(struct bn_fileio_session *w, const struct bn_io_req *r)
{
  if (w->failed)
    return;
  w->failed = true;
  if (r->result < 0)
    (void)snprintf(w->reason, sizeof w->reason, "cannot %s: %s", inflight_get_verb(r),
                   strerror((int)-r->result));
  else if (!inflight_is_done(r))
    (void)snprintf(w->reason, sizeof w->reason, "cannot %s: the file has changed",
                   inflight_get_verb(r));
  else /* all data was moved: --validate has found a bad block */
    (void)snprintf(w->reason, sizeof w->reason, "a block that was read is not as it was written");
}

/* Releases the block of a completed request, and makes its flight idle again.  Then ends its event,
   if it has one, and counts the request; after a failure drops the event instead. */
static void inflight_end_request(struct bn_fileio *f, struct bn_session *s,
                                 struct bn_flight *flight, bool has_succeeded)
{
  struct bn_fileio_session *w = s->state;
  /* The flush of an event still has the offset of its write, whose block is in use until now. */
  const enum bn_io_op drawn_op = flight->kind == EVENT_FLUSH ? BN_IO_WRITE : flight->io.op;

  bn_pattern_release(&f->pattern, flight->io.file, flight->io.offset, drawn_op);
  w->idle[w->n_idle++] = flight;
  if (has_succeeded) {
    if (flight->kind == BARE_FLUSH)
      s->last_ns = bn_clock_now(&s->clock);
    else
      bn_event_end(s, &flight->tick); /* sets s->last_ns */
    inflight_count_request(s, flight, s->last_ns);
  } else {
    inflight_mark_failed(w, &flight->io);
    if (flight->kind != BARE_FLUSH)
      bn_event_drop(s, &flight->tick);
  }
}

/* Continues after a request whose result is known: begins the flush of its event, or ends the
   event. */
static void inflight_complete(struct bn_fileio *f, struct bn_session *s, struct bn_flight *flight)
{
  struct bn_fileio_session *w = s->state;

  w->in_flight--;
  w->writes_in_flight -= flight->io.op == BN_IO_WRITE;
  const bool has_succeeded =
      inflight_finish_transfer(f, w, &flight->io) && inflight_verify_data(f, &flight->io);

  if (has_succeeded && flight->kind == EVENT_WRITE && !w->failed) {
    inflight_count_request(s, flight, bn_clock_now(&s->clock));
    inflight_flush_written(f, s, flight);
  } else {
    inflight_end_request(f, s, flight, has_succeeded);
  }
}

/* Marks the session failed because the engine cannot wait, but keeps the reason of an earlier
   failure.  No request counts as in flight any more: the close of the engine waits for them. */
static void inflight_give_up_waiting(const struct bn_fileio *f, struct bn_fileio_session *w,
                                     int error)
{
  bn_log_errno(BN_FATAL, error, "the I/O engine '%s' cannot wait for requests", f->engine->name);
  if (!w->failed)
    (void)snprintf(w->reason, sizeof w->reason, "cannot wait for requests: %s", strerror(error));
  w->failed = true;
  w->in_flight = 0;
  w->writes_in_flight = 0;
}

/* Completes the next of the requests that the engine has returned. */
static void inflight_complete_next_request(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_fileio_session *w = s->state;

  inflight_complete(f, s, (struct bn_flight *)(void *)w->done[w->next_done++]);
}

/* Completes one of the requests that the engine has returned.  If none is left, first waits for at
   least min requests in flight, but no longer than timeout_ns, and completes none if none has
   ended.  The caller has requests in flight, which an engine without `reap` never has. */
static void inflight_reap(struct bn_fileio *f, struct bn_session *s, unsigned min,
                          uint64_t timeout_ns)
{
  struct bn_fileio_session *w = s->state;
  int n;

  /* One per call: the caller submits the next request after each, so that the queue is never empty
     for longer than a submission takes. */
  if (w->next_done < w->n_done) {
    inflight_complete_next_request(f, s);
    return;
  }
  n = f->engine->reap(w->engine, min, w->done, w->in_flight, timeout_ns);
  if (n < 0) {
    inflight_give_up_waiting(f, w, -n);
    return;
  }
  w->n_done = (unsigned)n;
  w->next_done = 0;
  if (n > 0)
    inflight_complete_next_request(f, s);
}

/* --- the next event --- */

/* Completes requests in flight until the claimed arrival of --rate is due.  Returns false if the
   run is over or the session has failed. */
static bool inflight_await_arrival(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_fileio_session *w = s->state;
  const uint64_t due_ns = s->due_ns;

  for (;;) {
    const uint64_t now_ns = bn_clock_now(&s->clock);
    const uint64_t remaining_ns = bn_clock_between(now_ns, due_ns);
    const uint64_t wait_ns = bn_clock_min(remaining_ns, poll_ns);

    s->last_ns = now_ns;
    if (w->failed || bn_session_over(s))
      return false;
    if (remaining_ns == 0)
      return true;
    if (w->in_flight > 0)
      inflight_reap(f, s, 1, wait_ns);
    else
      bn_clock_sleep_until(now_ns + wait_ns);
  }
}

/* Gives back the ticket of a claimed event that does not begin, if this session has failed: another
   session takes it.  Otherwise the run is over for all, and nobody needs the ticket. */
static void inflight_return_ticket(struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  if (w->failed)
    bn_event_return_unbegun(s);
}

/* Claims the next event and, with --rate, waits for its arrival.  A session with several requests
   in flight completes them while it waits, which bn_event_more() does not do.  Returns false if
   there is no event for this session. */
static bool inflight_claim_event(struct bn_fileio *f, struct bn_session *s)
{
  const bool completes_while_waiting = f->paced && f->depth > 1;

  if (!completes_while_waiting)
    return bn_event_more(s);
  if (!bn_event_claim(s))
    return false;
  if (s->due_ns == 0 || inflight_await_arrival(f, s))
    return true;
  inflight_return_ticket(s);
  return false;
}

/* Fills the block of a write with data.  Returns whether it has made any, which takes time. */
static bool inflight_fill_block(const struct bn_fileio *f, struct bn_fileio_session *w,
                                struct bn_io_req *r)
{
  if (r->op != BN_IO_WRITE || (f->data == NULL && !f->plan.validate))
    return false;
  if (f->plan.validate)
    bn_verify_stamp(r->buf, r->len, (size_t)f->plan.conf->block_size, r->offset, &w->data);
  else
    bn_data_fill(f->data, r->buf, r->len, &w->data);
  return true;
}

/* Returns the number that sysbench's debug messages have for an operation. */
static int inflight_get_debug_number(enum bn_io_op op)
{
  enum { NUMBER_READ = 1, NUMBER_WRITE, NUMBER_FLUSH };

  switch (op) {
  case BN_IO_READ:
    return NUMBER_READ;
  case BN_IO_WRITE:
    return NUMBER_WRITE;
  case BN_IO_FSYNC:
  case BN_IO_FDATASYNC:
    break;
  }
  return NUMBER_FLUSH;
}

/* Submits a request that was drawn, in an idle flight: the caller has called inflight_make_room().
   Begins an event with it, unless it is a BARE_FLUSH. */
static void inflight_begin_request(struct bn_fileio *f, struct bn_session *s,
                                   const struct bn_draw *d, enum kind kind)
{
  struct bn_fileio_session *w = s->state;
  struct bn_flight *flight = w->idle[--w->n_idle];

  flight->io.op = d->op == BN_IO_FSYNC ? inflight_flush_op(f) : d->op;
  flight->io.file = d->file;
  flight->io.offset = d->offset;
  flight->io.len = d->len;
  flight->io.result = 0;
  flight->kind = kind;
  if (f->debug && (kind != BARE_FLUSH || f->plan.policy->flushes_are_quiet))
    bn_log(BN_DEBUG, "Executing request, operation: %d, file_id: %u, pos: %llu, size: %zu",
           inflight_get_debug_number(d->op), d->file, (unsigned long long)d->offset, d->len);
  /* The event begins after its data is made, so that its time is the device's alone.  Without that
     work in between, the end of the last event is the start of this one. */
  const bool has_made_data = inflight_fill_block(f, w, &flight->io);

  if (kind == BARE_FLUSH)
    s->last_ns = bn_clock_now(&s->clock);
  else if (f->depth == 1 && !has_made_data)
    bn_event_start(s, &flight->tick);
  else
    bn_event_start_now(s, &flight->tick);
  flight->submitted_ns = s->last_ns;
  inflight_submit(f, s, flight);
}

/* Waits until a flight is idle.  Returns false if the session has failed. */
static bool inflight_make_room(struct bn_fileio *f, struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  while (!w->failed && w->n_idle == 0)
    inflight_reap(f, s, 1, UINT64_MAX);
  return !w->failed;
}

/* Waits for the writes of this session, which a flush must not overtake, and until a flight is
   idle.  Returns false if the session has failed. */
static bool inflight_make_room_for_flush(struct bn_fileio *f, struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  while (!w->failed && w->writes_in_flight > 0)
    inflight_reap(f, s, 1, UINT64_MAX);
  return inflight_make_room(f, s);
}

/* Draws a request.  While the blocks that it tries are in use, waits for the session's own
   requests, or lets other sessions go on.  Returns false if the run ends or the session fails while
   it waits; neither is checked if the first draw succeeds. */
static bool inflight_draw_request(struct bn_fileio *f, struct bn_session *s, struct bn_draw *d)
{
  struct bn_fileio_session *w = s->state;

  while (!bn_pattern_draw(&f->pattern, &s->rng, &w->mix, d)) {
    if (bn_session_over(s) || w->failed)
      return false;
    if (w->in_flight > 0)
      inflight_reap(f, s, 1, UINT64_MAX);
    else
      (void)sched_yield();
  }
  return true;
}

/* Draws the request of an event and makes room for it.  Flushes that are no events, drawn on the
   way, are submitted at once.  Returns false if the run is over or the session has failed. */
static bool inflight_draw_event(struct bn_fileio *f, struct bn_session *s, struct bn_draw *d)
{
  while (inflight_draw_request(f, s, d)) {
    if (d->op != BN_IO_FSYNC)
      return inflight_make_room(f, s);
    if (!inflight_make_room_for_flush(f, s))
      return false;
    if (!f->plan.policy->flushes_are_quiet) /* the flush is the event */
      return true;
    inflight_begin_request(f, s, d, BARE_FLUSH);
  }
  return false;
}

/* Begins the next event.  Returns false if there is none for this session, or it has failed. */
static bool inflight_begin_next_event(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_draw d;

  if (!inflight_make_room(f, s) || !inflight_claim_event(f, s))
    return false;
  if (!inflight_draw_event(f, s, &d)) {
    inflight_return_ticket(s);
    return false;
  }
  const bool has_flush = d.op == BN_IO_WRITE && f->plan.conf->fsync_all;

  inflight_begin_request(f, s, &d, has_flush ? EVENT_WRITE : EVENT);
  return true;
}

/* --- the end --- */

/* Completes all requests in flight. */
static void inflight_drain(struct bn_fileio *f, struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  while (w->in_flight > 0)
    inflight_reap(f, s, w->in_flight, UINT64_MAX);
}

/* Returns whether all files are to be flushed at the end.  Some versions of sysbench do so only if
   the limit of events has ended the run. */
static bool inflight_wants_end_flush(const struct bn_fileio *f, const struct bn_session *s)
{
  if (!f->plan.fsync_end || !f->plan.writing)
    return false;
  if (!f->plan.policy->end_flush_after_events)
    return true;
  return f->plan.events != 0 && !bn_session_over(s); /* the limit of events has ended the run */
}

/* Flushes every file once.  Stops between two files if a request has failed or the run has been
   asked to stop (a deadline of 0), because each flush may take longer than the thread that receives
   signals waits.  Flushes after the limit of the run count for no rate. */
static void inflight_flush_all_files(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_draw d = {.op = BN_IO_FSYNC};

  if (bn_session_over(s))
    bn_stat_leave(s->stat, bn_event_find_last_end(s, s->last_ns));
  for (; d.file < f->plan.files && bn_session_deadline(s) != 0; d.file++) {
    if (!inflight_make_room(f, s))
      return;
    inflight_begin_request(f, s, &d, BARE_FLUSH);
  }
  inflight_drain(f, s);
}

/* Returns whether to ask for tickets again after the last request: while requests were in flight,
   the session did not wait for tickets that failing sessions give back. */
static bool inflight_wants_more_tickets(const struct bn_fileio *f, const struct bn_session *s)
{
  return f->depth > 1 && s->services->conf->raw.on_thread_error == BN_THREAD_ERROR_CONTINUE;
}

/* Executes events until there is none for this session, or it has failed.  No request is in flight
   then. */
static void inflight_execute_events(struct bn_fileio *f, struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;
  bool has_begun;

  do {
    while (inflight_begin_next_event(f, s))
      continue;
    inflight_drain(f, s);
    has_begun = !w->failed && inflight_wants_more_tickets(f, s) && inflight_begin_next_event(f, s);
  } while (has_begun);
}

enum bn_next bn_inflight_loop(void *self, struct bn_session *s)
{
  struct bn_fileio *f = self;
  const struct bn_fileio_session *w = s->state;

  inflight_execute_events(f, s);
  if (w->failed) {
    /* Failures with the same reason are counted together, so the reason is their name too. */
    s->services->fail_session(s, w->reason, w->reason);
    if (!s->failed) /* the failure ends the run, instead of this session alone */
      return BN_FAILED;
  }
  /* Acquire pairs with release here: the flushes of the last session come after all writes. */
  const unsigned n_ended = atomic_fetch_add_explicit(&f->ended, 1, memory_order_acq_rel) + 1;
  const bool is_last = n_ended == f->plan.threads;

  if (is_last && inflight_wants_end_flush(f, s))
    inflight_flush_all_files(f, s);
  return w->failed ? BN_FAILED : BN_FINISHED;
}
