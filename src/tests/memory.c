/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory test: an event is a pass over a block, or a chain of dependent loads. */
#include "tests/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "engine/event.h"
#include "measure/facts.h"
#include "measure/view.h"
#include "option/opt.h"
#include "tests/memory_kernel.h"
#include "tests/tests.h"

static const struct bn_metric memory_metrics[] = {
    {.name = "bytes_untouched", .unit = "bytes"}, /* --memory-oper=none */
    {.name = "loads", .unit = "1"},               /* --memory-oper=latency */
    {.name = "empty_events", .unit = "1"},
    {.name = "empty_events_time", .unit = "ns"},
    {.name = NULL},
};

/* --- areas ------------------------------------------------------------------------------------ */

/* Bytes after each array.  Without them, arrays of equal size would begin at the same offset in a
   page, and loads would wait for stores to that offset of another page. */
enum { ARRAY_GAP = 17 * BN_VECTOR_LINE };

/* Returns the bytes of an area: a block, or an array of its size for each of a, b and c. */
static size_t memory_area_size(const struct bn_memory *m)
{
  const size_t block = (size_t)m->conf->block_size;

  return m->work == BN_MEMORY_VECTORS ? BN_VECTOR_ARRAYS * (block + ARRAY_GAP) : block;
}

/* Returns array i of an area for vectors: 0, 1 and 2 are STREAM's a, b and c. */
static double *memory_get_array(const struct bn_memory *m, const struct bn_area *a, unsigned i)
{
  return (double *)(void *)((char *)a->at + i * ((size_t)m->conf->block_size + ARRAY_GAP));
}

/* Returns the area of a session: its own, or the only one. */
static const struct bn_area *memory_get_area(const struct bn_memory *m, unsigned id)
{
  return &m->area[m->local ? id : 0];
}

/* Writes STREAM's initial values to the bytes from `from` up to `to` of its arrays a and b. */
static void memory_fill_arrays(const struct bn_memory *m, const struct bn_area *area, size_t from,
                               size_t to)
{
  double *const a = memory_get_array(m, area, 0), *const b = memory_get_array(m, area, 1);

  for (size_t i = from / sizeof *a; i < to / sizeof *a; i++) {
    a[i] = 1;
    b[i] = 2;
  }
}

/* Writes the bytes from `from` up to `to` of a block as the work needs them.  Words keep the zeros
   of bn_area_open(). */
static void memory_fill_piece(const struct bn_memory *m, const struct bn_area *a, size_t from,
                              size_t to, struct bn_rng *rng)
{
  if (m->work == BN_MEMORY_LOADS)
    bn_chase_link(a->at, from, to, rng);
  else if (m->work == BN_MEMORY_VECTORS)
    memory_fill_arrays(m, a, from, to);
}

/* Fills an area in pieces, between which the run may end.  Returns 0, or -1 and EINTR without a
   text in err if the run is over. */
static int memory_fill_area(const struct bn_memory *m, const struct bn_area *a,
                            struct bn_session *s, struct bn_err *err)
{
  const size_t size = (size_t)m->conf->block_size;

  for (size_t from = 0; from < size; from += BN_AREA_PIECE) {
    const size_t to = size - from < BN_AREA_PIECE ? size : from + BN_AREA_PIECE;

    if (bn_area_check_run(s, err) != 0)
      return -1;
    memory_fill_piece(m, a, from, to, &s->rng);
  }
  return 0;
}

/* Sets the sentence for area i, whose memory was refused, in the words of sysbench.  Returns -1. */
static int memory_refuse_area(const struct bn_memory *m, unsigned i, struct bn_err *err)
{
  if (m->local)
    return bn_err_set(err, 0, "Failed to allocate buffer for thread #%u!", i);
  return bn_err_set(err, 0, "Failed to allocate buffer!");
}

/* Makes and fills area i.  Returns 0, or -1 and err: EINTR without a text if the run is over.  For
   memory that is refused, bn_area_open() leaves err empty. */
static int memory_open_area(struct bn_memory *m, unsigned i, struct bn_session *s,
                            struct bn_err *err)
{
  if (bn_area_open(&m->area[i], memory_area_size(m), &m->traits, s, err) == 0)
    return memory_fill_area(m, &m->area[i], s, err);
  const bool is_run_over = err->code == EINTR;
  const bool has_reason = err->text[0] != '\0';

  if (is_run_over || has_reason)
    return -1;
  return memory_refuse_area(m, i, err);
}

/* Returns whether each session opens its own area, because the area is to lie on the node of the
   thread. */
static bool memory_opens_by_session(const struct bn_memory *m)
{
  return m->traits.numa != NULL && m->traits.where == BN_PLACE_LOCAL;
}

/* Refuses blocks that need more memory together than there is.  Returns -1. */
static int memory_refuse_block(const struct bn_memory *m, size_t limit, struct bn_err *err)
{
  const unsigned long long size = m->conf->block_size, mib = limit >> 20;
  char value[32], reason[160], message[192];

  (void)snprintf(value, sizeof value, "%llu", size);
  (void)snprintf(reason, sizeof reason,
                 "too large: with %u threads, the blocks need more than the %llu MiB of memory of "
                 "this machine or its control group",
                 m->run_conf->plan.threads, mib);
  (void)snprintf(message, sizeof message,
                 "--memory-block-size=%llu with %u threads is more than the %llu MiB of memory "
                 "this machine or its control group has",
                 size, m->run_conf->plan.threads, mib);
  return bn_opt_refuse(
      m->run_conf->policy,
      &(struct bn_opt_refusal){.name = "memory-block-size", .value = value, .wrong = reason},
      message, err);
}

/* Refuses to place a block of all threads on the node of each thread.  Returns 0, or -1 and err. */
static int memory_check_placement(const struct bn_memory *m, struct bn_err *err)
{
  if (!memory_opens_by_session(m) || m->local)
    return 0;
  return bn_opt_refuse(
      m->run_conf->policy,
      &(struct bn_opt_refusal){.name = "memory-numa",
                               .value = "local",
                               .wrong = "cannot be used without --memory-scope=local: a "
                                        "block for all threads lies on one node"},
      "--memory-numa=local needs --memory-scope=local: a block for all threads "
      "lies on one node",
      err);
}

/* Refuses areas that need more memory than there is, before any is made: a run that uses up the
   memory may get another process killed.  Returns 0, or -1 and err. */
static int memory_check_size(const struct bn_memory *m, struct bn_err *err)
{
  const size_t limit = bn_area_read_limit(m->traits.huge);
  const uint64_t block_max = SIZE_MAX / (BN_VECTOR_ARRAYS + 1); /* + 1: room for the gaps */

  /* The size of an area is computed only for a block with which it does not overflow. */
  if (m->conf->block_size > block_max || memory_area_size(m) > limit / m->n_areas)
    return memory_refuse_block(m, limit, err);
  return 0;
}

/* Makes the areas, unless each session makes its own.  Returns 0, or -1 and err. */
static int memory_make_areas(struct bn_memory *m, struct bn_err *err)
{
  m->n_areas = m->local ? m->run_conf->plan.threads : 1;
  m->area = bn_alloc(m->n_areas, sizeof *m->area);
  if (memory_check_placement(m, err) != 0 || memory_check_size(m, err) != 0)
    return -1;
  if (memory_opens_by_session(m))
    return 0;
  for (unsigned i = 0; i < m->n_areas; i++)
    if (memory_open_area(m, i, m->main, err) != 0)
      return -1;
  return 0;
}

/* Reads the options and makes the areas.  Returns 0, or -1 and err. */
static int memory_open(void **self, struct bn_session *s, const void *conf, struct bn_err *err)
{
  struct bn_memory *m = bn_alloc(1, sizeof *m);

  *self = m;
  m->main = s;
  m->conf = conf;
  m->run_conf = s->services->conf;
  if (bn_memory_read_options(m, err) != 0)
    return -1;
  return memory_make_areas(m, err);
}

/* With --memory-numa=local, keeps the thread on its node and makes its area there.  Returns 0, or
   -1 and err. */
static int memory_session_open(void *self, struct bn_session *s, struct bn_err *err)
{
  struct bn_memory *m = self;

  if (!memory_opens_by_session(m))
    return 0;
  if (m->traits.numa->stay(err) != 0)
    return -1;
  return memory_open_area(m, s->id, s, err);
}

/* --- the heading ------------------------------------------------------------------------------ */

/* Adds the rows that say what an event does.  sysbench has only the rows about words. */
static void memory_describe_work(const struct bn_memory *m, struct bn_facts *f)
{
  if (m->work == BN_MEMORY_VECTORS)
    bn_facts_add_row(f, BN_NOTICE, "  operation: %s (%s)", m->vector->name, m->vector->width);
  else
    bn_facts_add_row(f, BN_NOTICE, "  operation: %s", m->conf->oper);
  if (m->work == BN_MEMORY_LOADS)
    bn_facts_add_row(f, BN_NOTICE, "  loads per operation: %d", BN_CHASE_LOADS);
  if (m->traits.numa != NULL)
    bn_facts_add_row(f, BN_NOTICE, "  NUMA placement: %s", m->conf->numa);
}

/* Describes the test; 0.5 has other rows than later versions. */
static void memory_describe(const void *self, struct bn_facts *f)
{
  const struct bn_memory *m = self;
  const unsigned long long kib = m->conf->block_size / 1024;
  const unsigned long long mib = m->conf->total_size / 1024 / 1024;

  if (m->run_conf->policy->memory_short_words) {
    bn_facts_add_row(f, BN_INFO, "Doing memory operations speed test\nMemory block size: %lluK\n\n",
                     kib);
    bn_facts_add_row(f, BN_INFO, "Memory transfer size: %lluM\n\n", mib);
    bn_facts_add_row(f, BN_INFO, "Memory operations type: %s\nMemory scope type: %s", m->conf->oper,
                     m->conf->scope);
    return;
  }
  bn_facts_add_row(f, BN_NOTICE, "Running memory speed test with the following options:");
  bn_facts_add_row(f, BN_NOTICE, "  block size: %lluKiB", kib);
  bn_facts_add_row(f, BN_NOTICE, "  total size: %lluMiB", mib);
  memory_describe_work(m, f);
  bn_facts_add_row(f, BN_NOTICE, "  scope: %s\n\n", m->conf->scope);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Returns the passes of a session: all (each_does_all), or its share of the total.  The passes that
   remain after an equal division go to the sessions with the lowest numbers, one to each. */
static uint64_t memory_compute_share(const struct bn_memory *m, unsigned id)
{
  const unsigned n_sessions = m->run_conf->plan.threads;

  if (m->each_does_all)
    return m->passes;
  return m->passes / n_sessions + (id < m->passes % n_sessions ? 1 : 0);
}

/* Returns whether the session has passes of its share to do. */
static bool memory_has_passes_to_do(const struct bn_memory *m, struct bn_session *s, uint64_t share)
{
  const bool is_endless = m->passes == 0 && !m->short_words; /* in 0.5, a total of 0 is a limit */

  return is_endless || s->services->counted_events(s) < share;
}

/* Makes a pass over the words of a job, and ends the event that has begun for it. */
static inline void memory_pass_words(const struct bn_memory *m, const struct bn_memory_job *job,
                                     bn_memory_kernel kernel, struct bn_session *s,
                                     struct bn_tick *tick)
{
  kernel(job);
  bn_stat_count(s->stat, m->bytes_counter, m->conf->block_size);
  bn_event_end(s, tick);
}

/* Makes passes over the words of the session's block.  Returns BN_FINISHED.  With no_request, as in
   0.5, the first event fails, and it returns BN_FAILED. */
static enum bn_next memory_loop_words(const struct bn_memory *m, struct bn_session *s)
{
  const struct bn_memory_job job = {
      .word = memory_get_area(m, s->id)->at,
      .n = ((size_t)m->conf->block_size + sizeof(bn_memory_word) - 1) / sizeof(bn_memory_word),
      .tid = s->id,
      .rng = &s->rng,
      .dist = &m->run_conf->dist};
  const uint64_t share = memory_compute_share(m, s->id);
  struct bn_tick tick = {0, 0};

  while (memory_has_passes_to_do(m, s, share) && bn_event_begin(s, &tick)) {
    if (__builtin_expect(m->no_request, 0)) {
      bn_stat_count(s->stat, m->bytes_counter, m->conf->block_size);
      bn_log(BN_FATAL, "Unknown memory request type:0. Aborting...\n\n");
      return BN_FAILED;
    }
    memory_pass_words(m, &job, m->kernel, s, &tick);
  }
  return BN_FINISHED;
}

/* Returns the first line of part `part` when the lines are divided into n parts of almost equal
   size: lines * part / n, computed in two terms, because the product may not fit. */
static uint64_t memory_find_first_line(uint64_t lines, unsigned n, unsigned part)
{
  return lines / n * part + lines % n * part / n;
}

/* Returns the arrays of a session: a local block is its own; the global one is divided among all
   sessions, as in STREAM. */
static struct bn_vector_job memory_make_vector_job(const struct bn_memory *m, unsigned id)
{
  const struct bn_area *a = memory_get_area(m, id);
  const uint64_t lines = m->conf->block_size / BN_VECTOR_LINE;
  const unsigned n_parts = m->local ? 1 : m->run_conf->plan.threads;
  const unsigned part = m->local ? 0 : id;
  const size_t from = (size_t)memory_find_first_line(lines, n_parts, part) * BN_VECTOR_LINE;
  const size_t to = (size_t)memory_find_first_line(lines, n_parts, part + 1) * BN_VECTOR_LINE;
  const size_t first = from / sizeof(double); /* element of each array */

  return (struct bn_vector_job){.a = memory_get_array(m, a, 0) + first,
                                .b = memory_get_array(m, a, 1) + first,
                                .c = memory_get_array(m, a, 2) + first,
                                .bytes = to - from};
}

/* Makes passes of the vector kernel over the session's part of the arrays. */
static void memory_loop_vectors(const struct bn_memory *m, struct bn_session *s)
{
  const struct bn_vector_job job = memory_make_vector_job(m, s->id);
  const uint64_t share = memory_compute_share(m, s->id);
  struct bn_tick tick = {0, 0};

  while (memory_has_passes_to_do(m, s, share) && bn_event_begin(s, &tick)) {
    m->vector->work(&job);
    bn_stat_count(s->stat, BN_C_BYTES_READ, job.bytes * m->vector->reads);
    bn_stat_count(s->stat, BN_C_BYTES_WRITTEN, job.bytes * m->vector->writes);
    bn_event_end(s, &tick);
  }
}

/* Follows the pointers of a block, on which sessions begin at different places. */
static void memory_loop_loads(const struct bn_memory *m, struct bn_session *s)
{
  const uint64_t lines = m->conf->block_size / BN_CHASE_LINE;
  const struct bn_area *a = memory_get_area(m, s->id);
  const void *position = (const char *)a->at + bn_rng_below(&s->rng, lines) * BN_CHASE_LINE;
  const uint64_t share = memory_compute_share(m, s->id);
  struct bn_tick tick = {0, 0};

  while (memory_has_passes_to_do(m, s, share) && bn_event_begin(s, &tick)) {
    position = bn_chase_follow(position);
    bn_stat_count(s->stat, BN_MEMORY_LOADS_DONE, BN_CHASE_LOADS);
    bn_stat_count(s->stat, BN_C_BYTES_READ, BN_CHASE_LOADS * sizeof position);
    bn_event_end(s, &tick);
  }
}

/* Executes the events of a session.  Returns BN_FINISHED, or BN_FAILED in a run that fails at the
   first event (memory_loop_words). */
static enum bn_next memory_loop(void *self, struct bn_session *s)
{
  const struct bn_memory *m = self;
  enum bn_next outcome = BN_FINISHED;

  switch (m->work) {
  case BN_MEMORY_WORDS:
    outcome = memory_loop_words(m, s);
    break;
  case BN_MEMORY_VECTORS:
    memory_loop_vectors(m, s);
    break;
  case BN_MEMORY_LOADS:
    memory_loop_loads(m, s);
    break;
  }
  /* The empty events of memory_start() are counted at the end, so that no baseline subtracts
     them. */
  if (s->id == 0) {
    bn_stat_count(s->stat, BN_MEMORY_EMPTY_EVENTS, m->empty_events);
    bn_stat_count(s->stat, BN_MEMORY_EMPTY_NS, m->empty_ns);
  }
  return outcome;
}

/* The kernel of the events without work that memory_start times. */
static void memory_do_nothing(const struct bn_memory_job *job)
{
  (void)job;
}

/* Logs that --events has no effect, if it is given. */
static void memory_log_ignored_events(const struct bn_memory *m)
{
  const struct bn_conf *c = m->run_conf;
  const char *option = c->raw.events_per_session != 0 ? "--events-per-session" : "--events";

  if (c->plan.events != 0 && !c->policy->memory_short_words)
    bn_log_note("the memory test ends after --memory-total-size and ignores %s", option);
}

/* Times events without work, so that the report can show the cost of an event itself.  They are
   events of the main thread's session, whose statistics are not reported.  Keeps the time of the
   fastest round, because that round was disturbed least.  Returns 0. */
static int memory_start(void *self, struct bn_err *err)
{
  enum { ROUNDS = 8, EVENTS = 4000 };
  struct bn_memory *m = self;
  struct bn_session *s = m->main;
  const struct bn_memory_job job = {.n = 0};
  struct bn_tick tick = {0, 0};

  (void)err;
  memory_log_ignored_events(m);
  m->empty_events = EVENTS;
  m->empty_ns = UINT64_MAX;
  for (int round = 0; round < ROUNDS; round++) {
    const uint64_t from_ns = bn_clock_now(&s->clock);

    s->last_ns = from_ns; /* the start of the first event */
    for (int i = 0; i < EVENTS && bn_event_begin(s, &tick); i++)
      memory_pass_words(m, &job, memory_do_nothing, s, &tick);
    if (s->last_ns - from_ns < m->empty_ns)
      m->empty_ns = s->last_ns - from_ns;
  }
  return 0;
}

/* Implements bn_workload.verify: logs that the total has ended the run before --time was over.
   Returns 0. */
static int memory_log_early_end(void *self, struct bn_session *main, struct bn_err *err)
{
  const struct bn_memory *m = self;
  const struct bn_conf *c = m->run_conf;
  const bool has_time_limit = c->raw.time_given && c->plan.time_ns != 0;
  const bool has_total = m->passes != 0;
  char total[32];

  (void)err;
  if (!bn_policy_is_native(c->policy) || !has_time_limit || !has_total)
    return 0;
  if (bn_session_over(main)) /* the time, or a request to stop, has ended the run */
    return 0;
  bn_log_note("--memory-total-size=%s was reached before --time=%.15g; --memory-total-size=0 "
              "removes this limit",
              bn_units_format_size(total, sizeof total, m->conf->total_size, false /* iec */),
              c->raw.time_s);
  return 0;
}

/* Makes the latency of a load, if the run has loads, and the cost of an event, if empty events were
   timed.  With --rate there is no latency of a load, because the times of events count from their
   arrivals.  Returns the number of figures. */
static size_t memory_figures(const struct bn_view *v, struct bn_figure *out, size_t max)
{
  const uint64_t loads = v->counter[BN_MEMORY_LOADS_DONE];
  const uint64_t empty_events = v->counter[BN_MEMORY_EMPTY_EVENTS];
  const uint64_t empty_ns = v->counter[BN_MEMORY_EMPTY_NS];
  size_t n = 0;

  if (loads > 0 && !v->paced && n < max)
    out[n++] = (struct bn_figure){.key = "ns_per_load",
                                  .value = v->sum_s * 1e9 / (double)loads,
                                  .merge = BN_MERGE_MEAN,
                                  .weight = BN_MEMORY_LOADS_DONE,
                                  .text = "Nanoseconds per load"};
  if (empty_events > 0 && n < max)
    out[n++] = (struct bn_figure){.key = "event_overhead_ns",
                                  .value = (double)empty_ns / (double)empty_events,
                                  .merge = BN_MERGE_MEAN,
                                  .weight = BN_MEMORY_EMPTY_EVENTS};
  return n;
}

/* Frees the areas that were made, also after a failure of memory_open(). */
static void memory_close(void *self)
{
  struct bn_memory *m = self;

  if (m == NULL)
    return;
  for (unsigned i = 0; m->area != NULL && i < m->n_areas; i++)
    bn_area_close(&m->area[i]);
  free(m->area);
  free(m);
}

const struct bn_workload bn_workload_memory = {
    .name = "memory",
    .title = "Memory functions speed test",
    .kind = BN_KIND_MEMORY,
    .options = bn_memory_options,
    .metrics = memory_metrics,
    .conf_size = sizeof(struct bn_memory_conf),
    .fixed_amount = true,
    .open = memory_open,
    .describe = memory_describe,
    .start = memory_start,
    .session_open = memory_session_open,
    .loop = memory_loop,
    .figures = memory_figures,
    .verify = memory_log_early_end,
    .close = memory_close,
};
