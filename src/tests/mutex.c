/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mutex test: the only event of a session takes random locks of a large array many times. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/event.h"
#include "engine/run.h"
#include "measure/facts.h"
#include "option/conf.h"
#include "option/opt.h"
#include "tests/mutex_type.h"
#include "tests/tests.h"

/* Bytes.  PADDING follows each lock, as in sysbench. */
enum { CACHE_LINE = 64, PADDING = 256 };

struct mutex_conf {
  int64_t num, locks, loops;
  char *type;
};

struct mutex {
  const struct mutex_conf *conf;
  const struct bn_mutex_type *type;
  char *slot; /* owned: conf->num locks, each followed by PADDING bytes */
  size_t stride;
  int64_t made;  /* number of initialised locks */
  char *context; /* owned: a context per session; locks may keep a context of another session, so
                    contexts live as long as the locks */
  size_t context_stride;
  uint64_t loops; /* empty iterations before each lock */
  unsigned sessions;
  _Alignas(CACHE_LINE) _Atomic uint64_t counter;
};

static const struct bn_opt mutex_options[] = {
    {.name = "mutex-num",
     .type = BN_INT,
     .in = BN_IN_ALL,
     .def = "4096",
     .offset = offsetof(struct mutex_conf, num),
     .min = 1,
     .max = INT32_MAX,
     .help = "number of mutexes"},
    {.name = "mutex-locks",
     .type = BN_INT,
     .in = BN_IN_ALL,
     .def = "50000",
     .offset = offsetof(struct mutex_conf, locks),
     .min = 1,
     .max = INT32_MAX,
     .help = "locks in the event of each thread"},
    {.name = "mutex-loops",
     .type = BN_INT,
     .in = BN_IN_ALL,
     .def = "10000",
     .offset = offsetof(struct mutex_conf, loops),
     .min = 0,
     .max = INT32_MAX,
     .help = "iterations of an empty loop before each lock"},
    {.name = "mutex-type",
     .type = BN_STRING,
     .def = "pthread",
     .offset = offsetof(struct mutex_conf, type),
     .help = "lock: pthread, spin, rwlock, or one of Concurrency Kit"},
    BN_OPT_END,
};

/* Returns the lock of that name, or NULL if there is none, or if the name is NULL. */
static const struct bn_mutex_type *mutex_find_type(const char *name)
{
  const struct bn_mutex_type *const tables[] = {bn_mutex_types_posix, bn_mutex_types_ck};

  if (name == NULL)
    return NULL;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (const struct bn_mutex_type *t = tables[i]; t->name != NULL; t++)
      if (strcmp(t->name, name) == 0)
        return t;
  return NULL;
}

/* Returns n bytes rounded up to whole cache lines. */
static size_t mutex_round_up(size_t n)
{
  return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Makes a context for each session.  Each has a byte more than the lock needs, because a lock may
   need none, and an allocation of 0 bytes may return NULL.  Returns 0, or -1 if out of memory. */
static int mutex_make_contexts(struct mutex *m)
{
  m->context_stride = mutex_round_up(m->type->context_size + 1);
  m->context = bn_alloc_try_aligned(CACHE_LINE, m->sessions, m->context_stride);
  if (m->context == NULL)
    return -1;
  if (m->type->context_init == NULL) /* zeros are right */
    return 0;
  for (unsigned i = 0; i < m->sessions; i++)
    m->type->context_init(m->context + i * m->context_stride);
  return 0;
}

/* Makes the array of locks.  m->made counts the initialised ones, which mutex_close() frees, also
   after a failure.  Returns 0, or -1 if out of memory. */
static int mutex_make_locks(struct mutex *m)
{
  m->stride = mutex_round_up(m->type->slot_size + PADDING);
  m->slot = bn_alloc_try_aligned(CACHE_LINE, (size_t)m->conf->num, m->stride);
  if (m->slot == NULL)
    return -1;
  for (; m->made < m->conf->num; m->made++)
    if (m->type->init(m->slot + (size_t)m->made * m->stride, m->sessions) != 0)
      return -1;
  return 0;
}

/* Makes the locks and the contexts of all sessions.  Returns 0, or -1 and err. */
static int mutex_open(void **self, struct bn_session *s, const void *conf, struct bn_err *err)
{
  const struct bn_policy *policy = s->services->conf->policy;
  struct mutex *m = bn_alloc_aligned(CACHE_LINE, sizeof *m);

  *self = m;
  *m = (struct mutex){.conf = conf, .sessions = s->services->conf->plan.threads};
  /* Compilers remove the empty loop from sysbench 0.5, whose scores do not depend on it. */
  m->loops = policy->mutex_loops_dropped ? 0 : (uint64_t)m->conf->loops;
  m->type = mutex_find_type(m->conf->type);
  if (m->type == NULL)
    return bn_opt_refuse(
        policy,
        &(struct bn_opt_refusal){.name = "mutex-type",
                                 .value = m->conf->type != NULL ? m->conf->type : "",
                                 .wrong = "unknown; see 'bench mutex help'"},
        "Invalid value for --mutex-type: '%s' (see 'bench mutex help')", err);
  if (mutex_make_contexts(m) != 0 || mutex_make_locks(m) != 0)
    return bn_err_set(err, 0, "out of memory for %lld locks: lower --mutex-num",
                      (long long)m->conf->num);
  return 0;
}

/* Returns the number of CPUs that this process may use, or that the machine has if the first is not
   known.  Returns -1 if neither is known. */
static long mutex_count_cpus(void)
{
  cpu_set_t set;

  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
  return sysconf(_SC_NPROCESSORS_ONLN);
}

static void mutex_describe(const void *self, struct bn_facts *f)
{
  (void)self;
  bn_facts_add_row(f, BN_INFO, "Doing mutex performance test");
}

/* Warns of a lock whose waiters need a CPU each, if there are more threads than CPUs. */
static int mutex_start(void *self, struct bn_err *err)
{
  const struct mutex *m = self;
  const long cpus = mutex_count_cpus();
  const bool is_crowded = cpus > 0 && m->sessions > (unsigned long)cpus;

  (void)err;
  if (m->type->fifo_spin && is_crowded)
    bn_log_note("--mutex-type=%s with %u threads on %ld CPUs: its waiters spin in a fixed order, "
                "so a waiter without a CPU blocks all waiters behind it; expect very long times",
                m->type->name, m->sessions, cpus);
  return 0;
}

/* Runs the only event of a session, which is all of its lock operations.  An event that begins in
   the warm-up does not count.  So it is repeated until one does, but not in dialects. */
static enum bn_next mutex_loop(void *self, struct bn_session *s)
{
  struct mutex *m = self;
  const struct bn_mutex_job job = {.slot = m->slot,
                                   .stride = m->stride,
                                   .n = (uint64_t)m->conf->num,
                                   .times = (uint64_t)m->conf->locks,
                                   .loops = m->loops,
                                   .rng = &s->rng,
                                   .counter = &m->counter,
                                   .context = m->context + s->id * m->context_stride};
  struct bn_tick tick = {0, 0};

  const bool repeats = bn_policy_is_native(s->services->conf->policy);

  while (bn_event_begin(s, &tick)) {
    m->type->work(&job);
    bn_event_end(s, &tick);
    if (!repeats || s->services->counted_events(s) > 0)
      break;
  }
  return BN_FINISHED;
}

/* Frees the locks that were made, also after a failure of mutex_open(). */
static void mutex_close(void *self)
{
  struct mutex *m = self;

  if (m == NULL)
    return;
  for (; m->made > 0 && m->type->done != NULL; m->made--)
    m->type->done(m->slot + (size_t)(m->made - 1) * m->stride);
  free(m->slot);
  free(m->context);
  free(m);
}

const struct bn_workload bn_workload_mutex = {
    .name = "mutex",
    .title = "Mutex performance test",
    .options = mutex_options,
    .conf_size = sizeof(struct mutex_conf),
    .open = mutex_open,
    .describe = mutex_describe,
    .start = mutex_start,
    .loop = mutex_loop,
    .close = mutex_close,
};
