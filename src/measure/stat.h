/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-session statistics: one writer, counters that only grow, any number of readers. */
#ifndef BN_MEASURE_STAT_H
#define BN_MEASURE_STAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/metric.h"
#include "base/hist.h"
#include "measure/metric.h"
#include "measure/statements.h"

/* Identities: begun = ended + in flight; sum of the starts of events in flight = begun_at -
   ended_at, so their time so far at T is (begun - ended) * T - (begun_at - ended_at) (modulo 2^64);
   ended = events + warm_events + dropped. */
struct bn_stat {
  _Alignas(64) _Atomic uint64_t begun, begun_at, ended, ended_at;
  _Atomic uint64_t busy_ns;        /* sum of the durations of counted events, modulo 2^64 */
  _Atomic uint64_t min_ns, max_ns; /* of events that ended after measure_from_ns */
  _Atomic uint64_t longest_statement_ns;
  /* Events that started before counts_from_ns, and their durations: counted nowhere else. */
  _Atomic uint64_t warm_events, warm_busy_ns;
  _Atomic uint64_t late;            /* events that ended after the span */
  _Atomic uint64_t late_service_ns; /* --rate: the part of late events in service_ns */
  _Atomic uint64_t dropped;         /* events that were begun, but not counted */
  _Atomic uint64_t failed;          /* of the dropped, events that failed for good in the span */
  _Atomic uint64_t overdue;         /* --rate: events of the warm-up that were begun after it */
  _Atomic uint64_t service_ns;      /* busy_ns without queueing, where it is told apart */
  _Atomic uint64_t last_end_ns;     /* the end of the latest event, if `pauses` */
  uint64_t edge_ns; /* events that take longer are examined (engine/event.c); of its worker */
  /* Events that start before it are of the warm-up.  It and the members up to shared_hist are set
     before the start barrier opens. */
  uint64_t counts_from_ns;
  /* Indexes of histograms that not every run has; 0: none.  phase_hist: that of the first phase; it
     is of no meaning without phases. */
  unsigned short warm_hist, queueing_hist, service_hist, lag_hist, phase_hist;
  unsigned short n_counters; /* in `counter` and at_end */
  /* The metrics of the first kind of events: its histogram, and the first of its BN_EVENT_COUNTERS
     counters.  Those of the other kinds follow.  Both are of no meaning without kinds. */
  unsigned short kind_hist, kind_counter;
  uint64_t measure_from_ns; /* end of the warm-up */
  struct bn_hist **hist;    /* by histogram index, this session's stripes */
  bool shared_hist;         /* the stripes have other writers */
  _Atomic bool pauses;      /* --rate, think times: its events do not follow each other at once */
  struct bn_statements *statements; /* of the set; NULL: they are not told apart */
  _Atomic bool running;             /* in its loop */
  uint64_t *at_end;                 /* its counters when it left its loop, if `left` is true */
  uint64_t at_end_ns;               /* the end of its last event */
  _Atomic bool left;
  /* failing_since_ns: the start of the first event that was not counted since the last one that was
     counted; 0: none.  last_ok_ns: the end of the last event before it. */
  _Atomic uint64_t failing_since_ns, last_ok_ns;
  _Atomic uint64_t counter[]; /* by enum bn_counter, then the workload's */
};

/* Returns a counter.  ThreadSanitizer does not see it: a script adds to counters, and LuaJIT's
   interpreter stores them by memcpy, in one piece of 8 bytes, which is no atomic store in C.  Any
   thread. */
__attribute__((no_sanitize("thread"))) static inline uint64_t bn_stat_get(const _Atomic uint64_t *v)
{
  return atomic_load_explicit(v, memory_order_relaxed);
}

/* Returns whether events of the session may not follow each other at once.  Any thread. */
static inline bool bn_stat_pauses(const struct bn_stat *st)
{
  return atomic_load_explicit(&st->pauses, memory_order_relaxed);
}

/* Returns the average start of n events in flight, at least one, by the sum of their starts.  The
   sum wraps around for many events on a host that has been up for days; that of their ages at
   now_ns does not. */
static inline uint64_t bn_stat_average_start(uint64_t n, uint64_t sum_of_starts_ns, uint64_t now_ns)
{
  return now_ns - (uint64_t)((int64_t)(n * now_ns - sum_of_starts_ns) / (int64_t)n);
}

/* Adds n to v, whose only writer is this thread. */
static inline void bn_stat_bump(_Atomic uint64_t *v, uint64_t n)
{
  atomic_store_explicit(v, atomic_load_explicit(v, memory_order_relaxed) + n, memory_order_relaxed);
}

/* Raises v to n; a larger value stays.  Any thread. */
static inline void bn_stat_raise(_Atomic uint64_t *v, uint64_t n)
{
  uint64_t seen = atomic_load(v);

  while (seen < n && !atomic_compare_exchange_weak(v, &seen, n))
    ;
}

/* Adds n to a counter of the session.  Its worker. */
static inline void bn_stat_count(struct bn_stat *st, unsigned counter, uint64_t n)
{
  bn_stat_bump(&st->counter[counter], n);
}

/* Records a time in a histogram of the session.  Its worker. */
static inline void bn_stat_record(struct bn_stat *st, unsigned hist, uint64_t ns)
{
  if (__builtin_expect(st->shared_hist, 0))
    bn_hist_record_shared(st->hist[hist], ns);
  else
    bn_hist_record(st->hist[hist], ns);
}

/* Labelled counts (errors by code, statements by endpoint): rare events, guarded by a lock
   inside. */
struct bn_labels;
struct bn_labels *bn_labels_new(void);
void bn_labels_free(struct bn_labels *l);
/* Adds n to the count of a label; beyond BN_LABELS_MAX different labels the others are counted as
   "other".  Returns true for the first count of a label.  Any thread. */
bool bn_labels_count(struct bn_labels *l, const char *label, uint64_t n);
struct bn_label {
  char name[BN_LABEL_LEN];
  uint64_t n;
};
/* Copies at most max rows, and returns how many rows there are, which may be more.  Any thread. */
size_t bn_labels_read(struct bn_labels *l, struct bn_label *out, size_t max);
/* Returns the row of a name, which is cut to BN_LABEL_LEN - 1 bytes, among *n rows.  Adds a row
   after them if there is none, and raises *n.  Names beyond BN_LABELS_MAX share the last row,
   "other".  row: room for BN_LABELS_MAX + 1 rows, whose counts are 0 from *n on. */
struct bn_label *bn_label_find_or_add(struct bn_label *row, size_t *n, const char *name);

/* The statistics of all sessions of a run and what their parts mean. */
struct bn_statset {
  unsigned n_sessions, n_writers, n_stripes;
  struct bn_metrics metrics; /* owned */
  struct bn_stat **stat;     /* by session */
  struct bn_hist **stripe;   /* [hist * n_stripes + stripe] */
  size_t n_rows;             /* of stripes: metrics.n_hists, and one more if the warm-up has one */
  struct bn_labels **labels;
  struct bn_statements *statements; /* owned; NULL: they are not told apart */
  /* The function of struct bn_workload that looks counters up; NULL: none.  `sampled` is its
     argument `self`. */
  void (*sample)(void *self, uint64_t *counter);
  void *sampled;
  void *block;      /* owned: the memory behind stat */
  uint64_t *at_end; /* owned: the memory behind the sessions' at_end */
  size_t stat_size; /* bytes of a session's statistics in the block */
};

/* Parts that not every run tells apart. */
enum {
  BN_STAT_WARMUP = 1,  /* events of the warm-up, when they have a histogram of their own */
  BN_STAT_WAITING = 2, /* --rate: the histograms "queueing", "service" and "wakeup_lag" come after
                          the workload's */
  BN_STAT_STATEMENTS = 4, /* statements by name */
  BN_STAT_LAG = 8         /* sessions may pause: only "wakeup_lag" of these histograms */
};

/* Makes the statistics of a run.  n_writers threads drive the sessions, session i by thread
   i % n_writers; the sessions of a thread share its histograms.  metrics: the workload's, ending
   with a NULL name, or NULL.  parts: BN_STAT_…, ORed.  Returns 0, or -1 if there is no memory for
   so many sessions. */
int bn_statset_init(struct bn_statset *set, unsigned n_sessions, unsigned n_writers,
                    const struct bn_metric *metrics, unsigned parts);
void bn_statset_done(struct bn_statset *set);
/* Returns whether metrics have the histograms of BN_STAT_WAITING. */
bool bn_statset_has_waiting(const struct bn_metrics *m);
/* Returns whether metrics have the histogram "wakeup_lag", which then is the last one. */
bool bn_statset_has_lag(const struct bn_metrics *m);
/* The number of the histograms of waiting, which follow all others. */
enum { BN_STAT_WAITS = 3 };
/* Returns the place of a histogram of waiting among them, from 1 to BN_STAT_WAITS, or 0 if the name
   is that of another metric. */
unsigned bn_statset_waiting_place(const char *name);
/* Returns whether no workload may have a metric of that name, because sets have such a metric in
   every run or in some. */
bool bn_statset_reserves(const char *name);

/* Copies the counters of a session to at_end when it leaves its loop, in which its last event ended
   at end_ns: no rate includes the counts after that.  Its worker calls it; only the first call has
   an effect. */
void bn_stat_leave(struct bn_stat *st, uint64_t end_ns);

#endif
