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
  QUIET        /* a flush that is no event */
};

struct bn_flight {
  struct bn_io_req io; /* first member: engines return a pointer to it */
  struct bn_tick tick;
  uint64_t submitted_ns;
  enum kind kind;
};

/* --- session --- */

static int inflight_make_engine(struct bn_fileio *f, struct bn_fileio_session *w,
                                struct bn_err *err)
{
  struct bn_io_setup setup = f->setup;

  setup.buffers = w->buffers;
  setup.buffer_size = w->buffer_size;
  w->engine = bn_alloc(1, f->engine->session_size);
  w->opened = true;
  return f->engine->open(w->engine, &setup, err);
}

int bn_inflight_open(void *self, struct bn_session *s, struct bn_err *err)
{
  struct bn_fileio *f = self;
  struct bn_fileio_session *w = s->state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);

  w->buffer_size = ((size_t)f->plan.request + page - 1) / page * page;
  w->flight = calloc(f->depth, sizeof *w->flight);
  w->idle = calloc(f->depth, sizeof *w->idle);
  w->done = calloc(f->depth, sizeof(struct bn_io_req *));
  w->buffers = bn_alloc_try_aligned(page, f->depth, w->buffer_size);
  if (w->flight == NULL || w->idle == NULL || w->done == NULL || w->buffers == NULL)
    return bn_err_set(err, ENOMEM,
                      "out of memory for %u requests of %zu bytes per thread: lower "
                      "--file-async-backlog",
                      f->depth, w->buffer_size);
  for (unsigned i = 0; i < f->depth; i++) {
    w->flight[i].io.slot = i;
    w->flight[i].io.buf = w->buffers + i * w->buffer_size;
    w->idle[i] = &w->flight[f->depth - 1 - i]; /* the last one is taken first */
  }
  w->n_idle = f->depth;
  bn_rng_seed(&w->data, s->services->conf->seed, BN_RNG_DATA, s->number);
  return inflight_make_engine(f, w, err);
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
static const char *inflight_verb(const struct bn_io_req *r)
{
  if (bn_io_is_flush(r->op))
    return "flush";
  return r->op == BN_IO_READ ? "read" : "write";
}

static void inflight_log_request_failure(struct bn_fileio *f, const struct bn_io_req *r)
{
  const int error = r->result < 0 ? (int)-r->result : 0;

  /* The error is known now, and to every thread at once. */
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
    bn_log_errno(BN_FATAL, error, "Failed to %s file! file: %u pos: %llu", inflight_verb(r),
                 r->file, (unsigned long long)r->offset);
  else
    bn_log(BN_FATAL,
           "Failed to %s file! file: %u pos: %llu: %lld of %zu bytes, the file has changed",
           inflight_verb(r), r->file, (unsigned long long)r->offset, (long long)r->result, r->len);
}

/* Moves what is left of a request: the kernel may move less than requested, which is rare enough to
   wait for.  Returns whether the request has done all it should. */
static bool inflight_move_rest(struct bn_fileio *f, const struct bn_fileio_session *w,
                               struct bn_io_req *r)
{
  if (bn_io_is_flush(r->op) ? r->result >= 0 : r->result == (int64_t)r->len)
    return true;
  if (!bn_io_is_flush(r->op) && r->result > 0) {
    bn_io_now(f->fd[r->file], r, (size_t)r->result);
    if (r->result == (int64_t)r->len)
      return true;
  }
  /* Later failures in flight have the same cause. */
  if (!w->failed)
    inflight_log_request_failure(f, r);
  return false;
}

/* Logs a bad block; each is a separate error. */
static void inflight_log_bad_block(const struct bn_fileio *f, unsigned file, enum bn_verify found,
                                   const struct bn_verify_fault *fault)
{
  const unsigned long long offset = fault->offset;
  const bool unknown = f->plan.policy->unknown_offset;
  char title[80] = "Checksum mismatch in block: ", values[96], where[96];

  if (found == BN_VERIFY_OFFSET) {
    (void)snprintf(title, sizeof title, "Offset mismatch in block:");
    (void)snprintf(values, sizeof values, "   Actual offset: %llu    Stored offset: %llu", offset,
                   (unsigned long long)fault->stored_offset);
  } else {
    if (!unknown)
      (void)snprintf(title, sizeof title, "Checksum mismatch in block with offset: %llu", offset);
    (void)snprintf(values, sizeof values, "    Calculated value: 0x%x    Stored value: 0x%x",
                   fault->computed, fault->stored);
  }
  (void)snprintf(where, sizeof where,
                 unknown ? "Validation failed on file %u, block offset 0x%llx, exiting..."
                         : "Validation failed on file %u, block offset %llu, exiting...",
                 file, offset);
  bn_log_fatal_as(NULL, (const char *const[]){title, values, where}, 3);
}

/* Checks a block that was read with --validate, and logs it if it is bad. */
static bool inflight_verify(const struct bn_fileio *f, const struct bn_io_req *r)
{
  struct bn_verify_fault fault;
  enum bn_verify found;

  if (!f->plan.validate || r->op != BN_IO_READ)
    return true;
  found = bn_verify_check(r->buf, r->len, (size_t)f->plan.conf->block_size, r->offset, &fault);
  if (found != BN_VERIFY_GOOD)
    inflight_log_bad_block(f, r->file, found, &fault);
  return found == BN_VERIFY_GOOD;
}

/* Counts a request and the time since its submission; an event may have two requests. */
static void inflight_count(struct bn_session *s, const struct bn_flight *x, uint64_t now_ns)
{
  const uint64_t took = bn_clock_between(x->submitted_ns, now_ns);
  struct bn_stat *st = s->stat;

  switch (x->io.op) {
  case BN_IO_READ:
    bn_stat_count(st, BN_C_READ, 1);
    bn_stat_count(st, BN_C_BYTES_READ, x->io.len);
    bn_stat_record(st, BN_H_READ, took);
    break;
  case BN_IO_WRITE:
    bn_stat_count(st, BN_C_WRITE, 1);
    bn_stat_count(st, BN_C_BYTES_WRITTEN, x->io.len);
    bn_stat_record(st, BN_H_WRITE, took);
    break;
  case BN_IO_FSYNC:
  case BN_IO_FDATASYNC:
    bn_stat_count(st, BN_C_OTHER, 1);
    bn_stat_record(st, BN_H_FSYNC, took);
    break;
  }
}

static void inflight_complete(struct bn_fileio *f, struct bn_session *s, struct bn_flight *x);

static enum bn_io_op inflight_flush_op(const struct bn_fileio *f)
{
  return f->plan.conf->fsync_mode == BN_FILE_FSYNC ? BN_IO_FSYNC : BN_IO_FDATASYNC;
}

static void inflight_submit(struct bn_fileio *f, struct bn_session *s, struct bn_flight *x)
{
  struct bn_fileio_session *w = s->state;

  w->in_flight++;
  w->writes_in_flight += x->io.op == BN_IO_WRITE;
  if (f->engine->submit(w->engine, &x->io) == 1)
    inflight_complete(f, s, x);
}

/* Flushes the written file inside the event. */
static void inflight_flush_written(struct bn_fileio *f, struct bn_session *s, struct bn_flight *x)
{
  x->kind = EVENT_FLUSH;
  x->io.op = inflight_flush_op(f);
  x->submitted_ns = bn_clock_now(&s->clock);
  inflight_submit(f, s, x);
}

/* Records the first failure, which explains later ones. */
static void inflight_note_failure(struct bn_fileio_session *w, const struct bn_io_req *r)
{
  if (w->failed)
    return;
  w->failed = true;
  if (r->result < 0)
    (void)snprintf(w->reason, sizeof w->reason, "cannot %s: %s", inflight_verb(r),
                   strerror((int)-r->result));
  else if (!bn_io_is_flush(r->op) && r->result != (int64_t)r->len)
    (void)snprintf(w->reason, sizeof w->reason, "cannot %s: the file has changed",
                   inflight_verb(r));
  else
    (void)snprintf(w->reason, sizeof w->reason, "a block that was read is not as it was written");
}

/* Ends the event of a request, or drops it if that has failed. */
static void inflight_finish(struct bn_fileio *f, struct bn_session *s, struct bn_flight *x,
                            bool good)
{
  struct bn_fileio_session *w = s->state;
  const bool wrote = x->kind == EVENT_FLUSH;

  bn_pattern_release(&f->pattern, x->io.file, x->io.offset, wrote ? BN_IO_WRITE : x->io.op);
  w->idle[w->n_idle++] = x;
  if (!good)
    inflight_note_failure(w, &x->io);
  if (!good && x->kind != QUIET)
    bn_event_drop(s, &x->tick);
  if (!good)
    return;
  if (x->kind == QUIET)
    s->last_ns = bn_clock_now(&s->clock);
  else
    bn_event_end(s, &x->tick);
  inflight_count(s, x, s->last_ns);
}

/* Goes on with a request whose result is known: with the flush of its event, or with the end. */
static void inflight_complete(struct bn_fileio *f, struct bn_session *s, struct bn_flight *x)
{
  struct bn_fileio_session *w = s->state;
  bool good;

  w->in_flight--;
  w->writes_in_flight -= x->io.op == BN_IO_WRITE;
  good = inflight_move_rest(f, w, &x->io) && inflight_verify(f, &x->io);
  if (good && x->kind == EVENT_WRITE && !w->failed) {
    inflight_count(s, x, bn_clock_now(&s->clock));
    inflight_flush_written(f, s, x);
  } else {
    inflight_finish(f, s, x, good);
  }
}

static void inflight_complete_next_request(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_fileio_session *w = s->state;

  inflight_complete(f, s, (struct bn_flight *)(void *)w->done[w->next_done++]);
}

/* Ends a request that the engine has returned, or waits for more.  Requests that the engine
   returned together end one by one, and the next request is submitted after each end, so that the
   queue is never empty for longer than a submission takes. Waits for at least min requests, but no
   longer than timeout_ns. */
static void inflight_reap(struct bn_fileio *f, struct bn_session *s, unsigned min,
                          uint64_t timeout_ns)
{
  struct bn_fileio_session *w = s->state;
  int n;

  if (w->next_done < w->n_done) {
    inflight_complete_next_request(f, s);
    return;
  }
  n = f->engine->reap(w->engine, min, w->done, w->in_flight, timeout_ns);
  if (n < 0) {
    bn_log_errno(BN_FATAL, -n, "the I/O engine '%s' cannot wait for requests", f->engine->name);
    w->failed = true;
    (void)snprintf(w->reason, sizeof w->reason, "cannot wait for requests: %s", strerror(-n));
    /* The close of the engine waits for these requests. */
    w->in_flight = w->writes_in_flight = 0;
    return;
  }
  w->n_done = (unsigned)n;
  w->next_done = 0;
  if (n > 0)
    inflight_complete_next_request(f, s);
}

/* --- the next event --- */

/* --rate: reaps requests in flight until the claimed arrival is due.  Returns false if the run is
   over or the session has failed. */
static bool inflight_await_arrival(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_fileio_session *w = s->state;
  const uint64_t due = s->due_ns;

  for (;;) {
    const uint64_t now = bn_clock_now(&s->clock);
    const uint64_t remaining = bn_clock_between(now, due);
    const uint64_t wait = remaining < poll_ns ? remaining : poll_ns;

    s->last_ns = now;
    if (bn_session_over(s))
      return false;
    if (remaining == 0 || w->failed)
      return !w->failed;
    if (w->in_flight > 0)
      inflight_reap(f, s, 1, wait);
    else
      bn_clock_sleep_until(now + wait);
  }
}

/* Gives the ticket of the claimed event, which does not begin, back for other sessions if this one
   has failed; otherwise the run is over for all.  Returns false, as there is no event. */
static bool inflight_give_back(struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  if (w->failed)
    bn_event_return_unbegun(s);
  return false;
}

static bool inflight_claim(struct bn_fileio *f, struct bn_session *s)
{
  if (!f->paced || f->depth == 1)
    return bn_event_more(s);
  if (!bn_event_claim(s))
    return false;
  return s->due_ns == 0 || inflight_await_arrival(f, s) || inflight_give_back(s);
}

/* Makes the data of a write.  Returns whether that took time. */
static bool inflight_fill(const struct bn_fileio *f, struct bn_fileio_session *w,
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

/* Returns the number of a request in the debug messages of sysbench. */
static int inflight_number_of(enum bn_io_op op)
{
  switch (op) {
  case BN_IO_READ:
    return 1;
  case BN_IO_WRITE:
    return 2;
  case BN_IO_FSYNC:
  case BN_IO_FDATASYNC:
    break;
  }
  return 3;
}

/* Submits a request that was drawn.  An event begins with it, unless it is quiet. */
static void inflight_begin(struct bn_fileio *f, struct bn_session *s, const struct bn_draw *d,
                           enum kind kind)
{
  struct bn_fileio_session *w = s->state;
  struct bn_flight *x = w->idle[--w->n_idle];
  const bool flush = d->op == BN_IO_FSYNC;
  bool filled;

  x->io.op = flush ? inflight_flush_op(f) : d->op;
  x->io.file = d->file;
  x->io.offset = d->offset;
  x->io.len = d->len;
  x->io.result = 0;
  x->kind = kind;
  if (f->debug && (kind != QUIET || f->plan.policy->flushes_are_quiet))
    bn_log(BN_DEBUG, "Executing request, operation: %d, file_id: %u, pos: %llu, size: %zu",
           inflight_number_of(d->op), d->file, (unsigned long long)d->offset, d->len);
  /* The event begins after its data is made, so that its time is the device's alone.  Without that
     work in between, the end of the last event is the start of this one. */
  filled = inflight_fill(f, w, &x->io);
  if (kind != QUIET && f->depth == 1 && !filled)
    bn_event_start(s, &x->tick);
  else if (kind != QUIET)
    bn_event_start_now(s, &x->tick);
  else
    s->last_ns = bn_clock_now(&s->clock);
  x->submitted_ns = s->last_ns;
  inflight_submit(f, s, x);
}

/* Waits for a place in the queue.  Returns false if the session has failed. */
static bool inflight_make_room(struct bn_fileio *f, struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  while (!w->failed && w->n_idle == 0)
    inflight_reap(f, s, 1, UINT64_MAX);
  return !w->failed;
}

/* Waits for the writes of this session, which a flush must not overtake, and for a place in the
   queue.  Returns false if the session has failed. */
static bool inflight_make_room_for_flush(struct bn_fileio *f, struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  while (!w->failed && w->writes_in_flight > 0)
    inflight_reap(f, s, 1, UINT64_MAX);
  return inflight_make_room(f, s);
}

/* Draws a request.  Returns false if the run is over or has failed. */
static bool inflight_draw(struct bn_fileio *f, struct bn_session *s, struct bn_draw *d)
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

/* Draws an event; quiet flushes on the way are no events. */
static bool inflight_draw_event(struct bn_fileio *f, struct bn_session *s, struct bn_draw *d)
{
  while (inflight_draw(f, s, d)) {
    if (d->op != BN_IO_FSYNC)
      return inflight_make_room(f, s);
    if (!inflight_make_room_for_flush(f, s))
      return false;
    if (!f->plan.policy->flushes_are_quiet)
      return true;
    inflight_begin(f, s, d, QUIET);
  }
  return false;
}

static bool inflight_next_event(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_draw d;

  if (!inflight_make_room(f, s) || !inflight_claim(f, s))
    return false;
  if (!inflight_draw_event(f, s, &d))
    return inflight_give_back(s);
  inflight_begin(f, s, &d, d.op == BN_IO_WRITE && f->plan.conf->fsync_all ? EVENT_WRITE : EVENT);
  return true;
}

/* --- the end --- */

static void inflight_drain(struct bn_fileio *f, struct bn_session *s)
{
  const struct bn_fileio_session *w = s->state;

  while (w->in_flight > 0)
    inflight_reap(f, s, w->in_flight, UINT64_MAX);
}

/* Returns whether to flush at the end; in a dialect, perhaps only after an event limit. */
static bool inflight_wants_end_flush(const struct bn_fileio *f, const struct bn_session *s)
{
  if (!f->plan.fsync_end || !f->plan.writing)
    return false;
  return !f->plan.policy->end_flush_after_events || (f->plan.events != 0 && !bn_session_over(s));
}

/* Flushes every file once, in the session that ends last. */
static void inflight_flush_all(struct bn_fileio *f, struct bn_session *s)
{
  struct bn_draw d = {.op = BN_IO_FSYNC};

  for (; d.file < f->plan.files && !bn_session_interrupted(s); d.file++) {
    if (!inflight_make_room(f, s))
      return;
    inflight_begin(f, s, &d, QUIET);
  }
  inflight_drain(f, s);
}

/* Returns whether to ask for tickets again: with requests in flight, the session did not wait for
   tickets that other sessions return. */
static bool inflight_wants_more_tickets(const struct bn_fileio *f, const struct bn_session *s)
{
  return f->depth > 1 && s->services->conf->raw.on_thread_error == BN_THREAD_ERROR_CONTINUE;
}

enum bn_next bn_inflight_loop(void *self, struct bn_session *s)
{
  struct bn_fileio *f = self;
  const struct bn_fileio_session *w = s->state;
  bool last;

  do {
    while (inflight_next_event(f, s))
      continue;
    inflight_drain(f, s);
  } while (!w->failed && inflight_wants_more_tickets(f, s) && inflight_next_event(f, s));
  if (w->failed) {
    s->services->fail_session(s, w->reason, w->reason);
    if (!s->failed)
      return BN_FAILED;
  }
  /* Acquire pairs with release here: the flushes of the last session come after all writes. */
  last = atomic_fetch_add_explicit(&f->ended, 1, memory_order_acq_rel) + 1 == f->threads;
  if (last && inflight_wants_end_flush(f, s))
    inflight_flush_all(f, s);
  return w->failed ? BN_FAILED : BN_FINISHED;
}
