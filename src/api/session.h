/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session: what one thread of a script or test has to itself, and what it may ask of its run. */
#ifndef BN_API_SESSION_H
#define BN_API_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/metric.h"
#include "base/clock.h"
#include "base/rng.h"

struct bn_quota_share; /* engine/quota.h */
struct bn_conf;        /* option/conf.h */
struct bn_outage;      /* engine/outage.h */
struct bn_pacer;       /* engine/pacer.h */
struct bn_stat;        /* measure/stat.h */
struct bn_unique;      /* base/dist.h */

/* How a workload is reported. */
enum bn_kind { BN_KIND_PLAIN, BN_KIND_CPU, BN_KIND_MEMORY, BN_KIND_FILEIO, BN_KIND_SQL };

/* One event in flight.  It belongs to the event, not to the session: an asynchronous loop keeps
   many. */
struct bn_tick {
  uint64_t start_ns; /* when it was due (--rate) or begun, CLOCK_MONOTONIC */
  uint64_t begun_ns; /* under --rate: when it was begun */
};

/* CLOCK_MONOTONIC; UINT64_MAX: none. */
struct bn_limit {
  _Atomic uint64_t until_ns; /* after it no event begins: the deadline, or 0 once somebody asked to
                                stop */
  _Atomic uint64_t span_ns;  /* the deadline, or when somebody asked to stop, if that was before;
                                written first */
};

/* What a session looks at before it begins an event; bits of its `attend`. */
enum {
  BN_ATTEND_CLAIM = 1, /* there are tickets or arrivals to be claimed */
  BN_ATTEND_RATE = 2,  /* there are arrivals */
  BN_ATTEND_LIMIT = 4  /* the limit may have been reached */
};

struct bn_session;

/* What sessions, and so workloads, scripts and the SQL layer, may ask of the run that drives them.
   Any thread unless noted.  The data is set before there are workers and constant from then on. */
struct bn_services {
  void *of; /* handed back to the functions below */
  const struct bn_conf *conf;
  const void *workload_conf;       /* the values of the workload's options, for commands, which open
                                      nothing */
  const struct bn_metric *metrics; /* the workload's; NULL: none of its own */
  struct bn_session *main, *reporting; /* of those two threads */
  struct bn_unique *unique;            /* the shared sequence without repetition */
  unsigned sessions;                   /* of all hosts that make this run together */
  bool is_command;                     /* a command other than `run` is under way */
  /* Reports become SQL reports: a database driver was initialised. */
  void (*set_kind)(void *of, enum bn_kind kind);
  /* Something that documents tell about the run: section "database", key "server_version". */
  void (*fact)(void *of, const char *section, const char *key, const char *text);
  /* Labelled count `index` of the metrics; 0 is "errors_by_code" of every run.  true: the first of
     its label. */
  bool (*count_label)(void *of, unsigned index, const char *label);
  /* A script wants to leave the process with that status.  While events are measured, and after,
     that ends the run as its limit would, and the report says so: true.  false: there is no such
     run, and nothing has happened. */
  bool (*leave)(void *of, int status);
  /* What the run needs cannot be had; who calls has said why.  Ends the run as a failed one. */
  void (*fail)(void *of);
  /* The work of this session has failed for good; who calls has logged why.  kind: what failures of
     the same reason have in common.  Ends the run as a failed one, or with
     --on-thread-error=continue the session: its event is not counted, and it begins no other.  Its
     worker; the first call counts. */
  void (*fail_session)(struct bn_session *s, const char *kind, const char *text);
  /* A worker's script goes on for ever although it has left: its thread stays here, without it. */
  __attribute__((noreturn)) void (*stay_behind)(void *of);
  /* The C stack of the thread that drives this session is used up, and the handler of the signal
     calls: writes the text to standard error, unless another one has called.  For a worker, while
     events are measured and after, ends the run as a failed one, with its report, and the thread
     stays here.  Returns if there is no such run, or if what the thread holds keeps the run from
     ending: who calls ends the process. */
  void (*lose)(const struct bn_session *s, const char *text);
  /* Parallel commands: waits for all sessions of the command, on all hosts; false: another one
     failed.  One session: true. */
  bool (*barrier)(struct bn_session *s);
  /* Waits until that time (CLOCK_MONOTONIC) or until nothing may begin any more. */
  void (*pause)(struct bn_session *s, uint64_t until_ns);
  /* fn(arg) makes a call that this session is blocked in return, from a thread of the engine; NULL:
     nothing to interrupt.  After the call that sets NULL has returned, fn is not running and will
     not be called. */
  void (*set_interrupt)(struct bn_session *s, void (*fn)(void *arg), void *arg);
  /* Events of this session that reports count: those since the warm-up's baseline, for which it
     waits while that is taken.  Its worker only, between events; for workloads that know how much
     there is to do. */
  uint64_t (*counted_events)(struct bn_session *s);
};

/* What a script calls a thread: an id, random numbers and statistics of its own.  A worker is the
   OS thread that drives it.  One to one today, many sessions per worker later: keep the two apart.
   Everything here is used only by the worker that currently drives the session, but `doing` and
   what measure/stat.h says others may read. */
struct bn_session {
  _Alignas(64) unsigned id; /* 0 … threads-1; `threads` in the reporting thread */
  unsigned number;          /* the same over all hosts that make this run together: what scripts,
                               random numbers and traces go by */
  struct bn_rng rng;        /* the workload's own stream; nobody else draws from it */
  struct bn_stat *stat;
  const struct bn_limit *limit;
  const struct bn_services *services;
  struct bn_quota_share *share; /* for the engine alone, as is */
  struct bn_pacer *pacer;       /* this; NULL: no --rate */
  struct bn_outage *outage;     /* and this */
  void *state;                  /* session_size zeroed bytes, cache-line aligned */
  struct bn_clock_reader clock;
  uint64_t last_ns; /* end of the previous event: the next one's start in a closed loop */
  uint64_t due_ns;  /* --rate: the claimed arrival of an event that may begin; else 0 */
  /* An event that ends at or after *mark is looked at before it is counted: the limit, or 0 where
     all are. */
  const _Atomic uint64_t *mark;
  unsigned char attend; /* BN_ATTEND_… */
  bool failed;          /* for good, while the others go on; `attend` and *mark see to it */
  _Atomic bool
      interrupted; /* by the engine: calls fail from now on, without a word; any thread may read */
  _Atomic(const char *)
      doing; /* static text for --thread-init-timeout: "connecting"; any thread may read */
};
/* Sessions stand in an array and write at every event: none shares a cache line with another. */
_Static_assert(sizeof(struct bn_session) % 64 == 0, "a session ends with a cache line");

/* Of a thread of the run or of a parallel command, not of the main thread or that of reports. */
static inline bool bn_session_is_worker(const struct bn_session *s)
{
  return s != s->services->main && s != s->services->reporting;
}

/* CLOCK_MONOTONIC after which nothing new may begin; 0: at once; UINT64_MAX: no limit. */
static inline uint64_t bn_session_deadline(const struct bn_session *s)
{
  return atomic_load_explicit(&s->limit->until_ns, memory_order_relaxed);
}

/* No event and no retry may begin any more: limit reached, signal, another worker failed. */
static inline bool bn_session_over(const struct bn_session *s)
{
  const uint64_t until = bn_session_deadline(s);

  return until == 0 || (until != UINT64_MAX && bn_clock_mono() >= until);
}

/* The time grace is used up and the session has been interrupted: its failure is not reported. */
static inline bool bn_session_interrupted(const struct bn_session *s)
{
  return atomic_load_explicit(&s->interrupted, memory_order_relaxed);
}

#endif
