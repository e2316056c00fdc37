/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session: the private state of a thread of a script or test, and the services of its run. */
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
struct bn_sql_waiter;  /* api/driver.h */
struct bn_task;        /* engine/loop.h */
struct bn_pacer;       /* engine/arrivals.h */
struct bn_phases;      /* engine/phases.h */
struct bn_stat;        /* measure/stat.h */
struct bn_unique;      /* base/dist.h */

/* The kind of a workload in reports. */
enum bn_kind { BN_KIND_PLAIN, BN_KIND_CPU, BN_KIND_MEMORY, BN_KIND_FILEIO, BN_KIND_SQL };

/* An event in flight, apart from its session, as an asynchronous loop keeps many. */
struct bn_tick {
  uint64_t start_ns; /* when it was due (--rate) or begun, CLOCK_MONOTONIC */
  uint64_t begun_ns; /* under --rate: when it was begun */
};

/* The time limit of a run or command: CLOCK_MONOTONIC; UINT64_MAX: none. */
struct bn_limit {
  _Atomic uint64_t until_ns; /* no event begins after it; 0 once the run was asked to stop */
  /* The end of the measured time: the deadline, or the time of an earlier request to stop.  It is
     written before until_ns, so that a thread that sees the limit reached finds it. */
  _Atomic uint64_t span_ns;
};

/* The checks of a session before it begins an event; bits of its `attend`. */
enum {
  BN_ATTEND_CLAIM = 1, /* there are tickets or arrivals to be claimed */
  BN_ATTEND_RATE = 2,  /* there are arrivals */
  BN_ATTEND_LIMIT = 4, /* the limit may have been reached */
  BN_ATTEND_THINK = 8  /* the session may pause after its events */
};

struct bn_session;

/* The lines of a script's proof sheet by their verdicts; the others are satisfied. */
struct bn_proof {
  unsigned lines;
  unsigned violated;
  unsigned unchecked; /* the script could not find out, because of an error */
  unsigned undecided; /* the run was too short, or has not measured it */
};

/* The services that sessions, and so workloads, scripts and the SQL layer, may ask of their run.
   Any thread may call the functions unless noted.  The data is set before there are workers and
   constant from then on. */
struct bn_services {
  void *of; /* argument of the functions below */
  const struct bn_conf *conf;
  const void *workload_conf;       /* options of the workload, for commands, which open nothing */
  const struct bn_metric *metrics; /* metrics of the workload; NULL: none */
  struct bn_session *main, *reporting; /* sessions of these two threads */
  struct bn_unique *unique;            /* the shared sequence without repetition */
  unsigned sessions;                   /* number of sessions on all hosts */
  bool is_command;                     /* a command other than `run` is under way */
  /* Sets the kind of the workload in reports: SQL once a database driver was initialised. */
  void (*set_kind)(void *of, enum bn_kind kind);
  /* Adds a fact for documents about the run: section "database", key "server_version". */
  void (*fact)(void *of, const char *section, const char *key, const char *text);
  /* Counts a label in labelled count `index` of the metrics.  Returns true if it is the first time
     for this label. */
  bool (*count_label)(void *of, unsigned index, const char *label);
  /* Is called when a script asks to end the process with that status.  While events are measured,
     and after, it ends the run as its limit would, lets the report say so, and returns true.
     Without such a run it does nothing and returns false. */
  bool (*leave)(void *of, int status);
  /* Ends the run as a failed one, because it lacks a resource; the caller has logged why. */
  void (*fail)(void *of);
  /* Is called when a script has found that data is not as it should be (is_violated), or that it
     cannot find out (not is_violated).  The command or run goes on; its exit status says so. */
  void (*judge)(void *of, bool is_violated);
  /* Decides --assert=proof, when the proof sheet of the final report is complete.  If a line could
     not be checked, the exit status says so, as after judge. */
  void (*prove)(void *of, const struct bn_proof *proof);
  /* Handles a final failure of this session, which the caller has logged. kind: a name shared by
     failures with the same reason.  Ends the run as a failed one, or with
     --on-thread-error=continue the session: its event is not counted, and it begins no other.  Its
     worker calls it; the first call counts. */
  void (*fail_session)(struct bn_session *s, const char *kind, const char *text);
  /* Parks a worker whose script runs on for ever although it has left the run. */
  __attribute__((noreturn)) void (*stay_behind)(void *of);
  /* Waits for all sessions of a parallel command, on all hosts.  Returns false if another one
     failed, true for a single session. */
  bool (*barrier)(struct bn_session *s);
  /* Returns whether a call of the session's task has not returned (engine/loop.h).  The other
     sessions of the worker run meanwhile, and their interpreter may free what this session has
     dropped. */
  bool (*in_call)(const struct bn_session *s);
  /* Waits until that time (CLOCK_MONOTONIC) or until no event may begin any more. */
  void (*pause)(struct bn_session *s, uint64_t until_ns);
  /* Registers fn(arg), which a thread of the engine calls to interrupt the call that this session
     is blocked in.  NULL unregisters it; once that has returned, fn is not running and never will
     be. */
  void (*set_interrupt)(struct bn_session *s, void (*fn)(void *arg), void *arg);
  /* Returns the events of this session that reports count: those since the baseline of the warm-up;
     waits while the baseline is being taken.  Only its worker calls it, between events; for
     workloads with an amount of work. */
  uint64_t (*counted_events)(struct bn_session *s);
};

/* The pauses of a session: its think times, and the times in which --threads-profile does not want
   it. */
struct bn_think {
  struct bn_rng rng;
  uint64_t own_ns;      /* the script's time for the next pause; UINT64_MAX: that of --think-time */
  uint64_t drawn_after; /* events that had begun when the last pause was drawn */
  uint64_t until_ns;    /* end of the pause of a session that shares its worker; 0: it has none */
  uint64_t active_until_ns; /* then it may have to pause for --threads-profile; UINT64_MAX: never */
};

/* The turns at which a session opens its connections again (engine/renewal.h). */
struct bn_renewal {
  uint64_t next_ns;                /* when the next turn is due */
  _Atomic uint64_t passed, missed; /* turns so far, and how many of them were missed */
  bool allowed;                    /* the script says where a connection may be opened again */
};

/* A thread, in the words of a script: an id, random numbers and separate statistics.  A worker is
   the OS thread that drives it, alone or, under --workers, with others.  Only its worker uses the
   members, except `doing`, `interrupted` and those that measure/stat.h lets other threads read. */
struct bn_session {
  _Alignas(64) unsigned id; /* 0 … threads-1; `threads` in the reporting thread */
  unsigned number;          /* the id over all hosts; used by scripts, random numbers and traces */
  struct bn_rng rng;        /* the stream of the workload; nothing else draws from it */
  struct bn_stat *stat;
  const struct bn_limit *limit;
  const struct bn_services *services;
  struct bn_quota_share *share; /* used by the engine only, as are the next three */
  struct bn_pacer *pacer;       /* NULL: no --rate */
  struct bn_phases *phases;     /* NULL: events are not counted by phases */
  struct bn_outage *outage;     /* where outages are recorded; NULL: not recorded */
  void *state;                  /* session_size zeroed bytes, cache-line aligned */
  struct bn_task *task;         /* the engine's; NULL: the session has its worker for itself */
  const struct bn_sql_waiter *waiter; /* for the drivers of its connections; NULL without a task */
  void *sql;                          /* the SQL layer's part of the session; NULL: none */
  struct bn_clock_reader clock;
  uint64_t start_ns;     /* when the run began; set before the first event */
  uint64_t last_ns;      /* end of the previous event; start of the next one in a closed loop */
  struct bn_think think; /* the engine's */
  uint64_t due_ns;       /* --rate: the claimed arrival of an event that may begin; else 0 */
  /* An event that ends before *mark is only counted.  Any other event is looked at, because it may
     be late, for example (engine/event.h).  The limit, or a constant 0 to look at each event. */
  const _Atomic uint64_t *mark;
  unsigned kind;        /* of the event in flight, from 1 on; 0: none, or not said yet */
  unsigned repeats;     /* how often the event in flight has been repeated */
  unsigned char attend; /* BN_ATTEND_… */
  bool failed; /* failed for good, while the other sessions go on; `attend` and *mark enforce it */
  /* Any thread may read the next two members. */
  _Atomic bool interrupted;    /* set by the engine: calls fail, without a message */
  _Atomic(const char *) doing; /* static text for --thread-init-timeout: "connecting" */
  struct bn_renewal renewal;   /* the engine's; all zero without --reconnect-rate */
};
/* Sessions are in an array and write at every event: none shares a cache line with another. */
_Static_assert(sizeof(struct bn_session) % 64 == 0, "a session ends with a cache line");

/* Returns whether the session belongs to a thread of the run or of a parallel command, and not to
   the main thread or the reporting thread. */
static inline bool bn_session_is_worker(const struct bn_session *s)
{
  return s != s->services->main && s != s->services->reporting;
}

/* Returns the time from which on no event may begin (CLOCK_MONOTONIC); 0: the run has been asked to
   stop; UINT64_MAX: no limit. */
static inline uint64_t bn_session_deadline(const struct bn_session *s)
{
  return atomic_load_explicit(&s->limit->until_ns, memory_order_relaxed);
}

/* Returns whether no event or retry may begin any more: the limit is reached, or a signal or a
   failure has ended the run.  Reads the clock if there is a time limit. */
static inline bool bn_session_over(const struct bn_session *s)
{
  const uint64_t until = bn_session_deadline(s);

  return until == 0 || (until != UINT64_MAX && bn_clock_mono() >= until);
}

/* Returns whether the calls of the session were interrupted, because the time grace is used up, a
   signal ends the run, or its worker cannot wait for its connection.  The failure that follows is
   not reported. */
static inline bool bn_session_interrupted(const struct bn_session *s)
{
  return atomic_load_explicit(&s->interrupted, memory_order_relaxed);
}

#endif
