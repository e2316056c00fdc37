/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads test: an event locks, yields and unlocks a mutex out of a few many times. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "measure/facts.h"
#include "tests/tests.h"

enum { CACHE_LINE = 64 };

struct threads_conf {
  int64_t yields, locks;
};

struct threads {
  const struct threads_conf *conf;
  pthread_mutex_t *lock;                       /* [conf->locks] */
  int64_t made;                                /* number of initialised locks */
  _Alignas(CACHE_LINE) _Atomic uint64_t event; /* number of the next event of all sessions */
};

static const struct bn_opt threads_options[] = {
    {.name = "thread-yields",
     .type = BN_INT,
     .in = BN_IN_ALL,
     .def = "1000",
     .offset = offsetof(struct threads_conf, yields),
     .min = 0,
     .max = INT32_MAX,
     .help = "yields in each event"},
    {.name = "thread-locks",
     .type = BN_INT,
     .in = BN_IN_ALL,
     .def = "8",
     .offset = offsetof(struct threads_conf, locks),
     .min = 1,
     .max = INT32_MAX,
     .help = "number of mutexes of all threads together"},
    BN_OPT_END,
};

/* Makes the mutexes.  Returns 0, or -1 and err; threads_close() frees the mutexes that were made in
   both cases. */
static int threads_open(void **self, struct bn_session *s, const void *conf, struct bn_err *err)
{
  struct threads *t = bn_alloc_aligned(CACHE_LINE, sizeof *t);

  (void)s;
  *self = t;
  *t = (struct threads){.conf = conf};
  t->lock = calloc((size_t)t->conf->locks, sizeof *t->lock);
  if (t->lock == NULL)
    return bn_err_set(err, 0, "out of memory for %lld locks: lower --thread-locks",
                      (long long)t->conf->locks);
  for (; t->made < t->conf->locks; t->made++) {
    const int error = pthread_mutex_init(&t->lock[t->made], NULL);

    if (error != 0)
      return bn_err_set(err, error, "cannot make a mutex: %s", strerror(error));
  }
  return 0;
}

/* Adds rows of the heading that are sysbench's, word for word. */
static void threads_describe(const void *self, struct bn_facts *f)
{
  const struct threads *t = self;

  bn_facts_add_row(f, BN_INFO, "Doing thread subsystem performance test");
  bn_facts_add_row(f, BN_INFO, "Thread yields per test: %lld Locks used: %lld",
                   (long long)t->conf->yields, (long long)t->conf->locks);
}

/* Locks, yields and unlocks --thread-yields times.  Event n of all sessions together takes lock
   n mod --thread-locks. */
static enum bn_next threads_event(void *self, struct bn_session *s)
{
  struct threads *t = self;
  const uint64_t n = atomic_fetch_add_explicit(&t->event, 1, memory_order_relaxed);
  pthread_mutex_t *lock = &t->lock[n % (uint64_t)t->conf->locks];

  (void)s;
  for (int64_t i = 0; i < t->conf->yields; i++) {
    (void)pthread_mutex_lock(lock);
    (void)sched_yield();
    (void)pthread_mutex_unlock(lock);
  }
  return BN_CONTINUE;
}

/* Frees the mutexes that were made, also after a failure of threads_open(). */
static void threads_close(void *self)
{
  struct threads *t = self;

  if (t == NULL)
    return;
  for (; t->made > 0; t->made--)
    (void)pthread_mutex_destroy(&t->lock[t->made - 1]);
  free(t->lock);
  free(t);
}

const struct bn_workload bn_workload_threads = {
    .name = "threads",
    .title = "Threads subsystem performance test",
    .options = threads_options,
    .conf_size = sizeof(struct threads_conf),
    .open = threads_open,
    .describe = threads_describe,
    .event = threads_event,
    .close = threads_close,
};
