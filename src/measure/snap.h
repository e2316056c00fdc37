/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots: plain values that sum all sessions at one instant; every report is the difference of
   two. */
#ifndef BN_MEASURE_SNAP_H
#define BN_MEASURE_SNAP_H

#include "base/err.h"
#include "measure/hist_sparse.h"
#include "measure/metric.h"
#include "measure/stat.h"

struct bn_moments { /* mean and deviation survive merging; long double because sum_sq cancels
                       against sum^2 / n */
  long double n, sum, sum_sq;
};

struct bn_snap_session { /* kept per session because fairness is a difference too */
  uint64_t events, busy_ns, service_ns;
  uint64_t min_ns, max_ns; /* exact, since the measurement began; min > max: none */
  uint64_t warm_events, warm_busy_ns;
  uint64_t in_flight, begun_at; /* events in flight; the sum of their starts */
  uint64_t counts_from_ns;      /* events that started before it are of the warm-up */
};

struct bn_snap {
  uint64_t at_ns, wall_ns,
      span_ns;               /* at_ns is CLOCK_MONOTONIC of this host; wall time serves merging */
  struct bn_metrics metrics; /* owned: what the rows below mean */
  uint64_t *counter;         /* owned; [metrics.n_counters] */
  struct bn_hist **hist; /* owned; [metrics.n_hists]; each NULL in a snapshot without histograms */
  struct bn_hist_sparse *sparse; /* owned; [metrics.n_hists]; NULL unless it was packed */
  struct bn_label **label;       /* owned; [labelled][BN_LABELS_MAX + 1], of a record [n_labels] */
  size_t *n_labels;              /* owned */
  struct bn_statement_table statements; /* owned; no place: they are not told apart */
  uint64_t busy_ns, min_ns,
      max_ns;          /* exact extremes since the measurement began; min > max: none */
  uint64_t late;       /* of the events, those that ended after the span */
  uint64_t dropped;    /* events that were begun, but not counted */
  uint64_t overdue;    /* --rate: events of the warm-up that were begun after it */
  uint64_t service_ns; /* of busy_ns what is not queueing; where that is told apart */
  bool waiting;        /* it is told apart */
  uint64_t unfinished; /* events in flight */
  double unfinished_s; /* their time so far */
  unsigned running;
  unsigned n_sessions;
  struct bn_snap_session *session;            /* owned; [n_sessions] */
  struct bn_moments fair_events, fair_busy_s; /* set by diff */
};

/* Allocates for a statset; reusable for any number of takes. */
void bn_snap_init(struct bn_snap *s, const struct bn_statset *set);
/* The same for a table of metrics, which is copied; without hists only the histograms' names. */
void bn_snap_make(struct bn_snap *s, const struct bn_metrics *metrics, unsigned n_sessions,
                  bool hists);
void bn_snap_done(struct bn_snap *s);
void bn_snap_take(struct bn_snap *out, const struct bn_statset *set, uint64_t now_ns);
/* Raises the counters, [set->metrics.n_counters], to what sessions have counted at now_ns, when the
   span has ended, at end_ns.  Of sessions that have left their loops, what they had counted then.
   What is looked up (set->sample) is left as it is.  Returns the time up to which they are on
   average: a session that has left begins nothing after the span, so it is covered up to the end of
   its last event, but at least to end_ns; the others up to now_ns. */
uint64_t bn_snap_count(uint64_t *counter, const struct bn_statset *set, uint64_t end_ns,
                       uint64_t now_ns);
/* Adds the events of the warm-up, for a report of a run that ended in it. */
void bn_snap_add_warmup(struct bn_snap *s, const struct bn_statset *set);
/* The end of the warm-up: events, which were counted apart until now, begin with 0, and the rest
   with what it is.  Sets that do not count them apart are left alone. */
void bn_snap_end_warmup(struct bn_snap *s);
/* How long the oldest event in flight has been so at now_ns; 0: there is none. */
uint64_t bn_snap_oldest(const struct bn_snap *s, uint64_t now_ns);
/* Returns when the event in flight of a session started: the average of several; UINT64_MAX: there
   is none. */
uint64_t bn_snap_start(const struct bn_snap_session *s);
/* Returns how many events are in flight, without those of the warm-up or (warming) with them.  ages
   gets the age of each at now_ns, and *oldest_ns the largest (0: there is none).  Several events of
   one session have their average. */
uint64_t bn_snap_ages(const struct bn_snap *s, uint64_t now_ns, bool warming, struct bn_hist *ages,
                      uint64_t *oldest_ns);
/* now -= base; span_ns = the time between. */
void bn_snap_diff(struct bn_snap *now, const struct bn_snap *base);
void bn_snap_copy(struct bn_snap *to,
                  const struct bn_snap *from); /* both made for the same metrics; what
                                                  one has no histograms for is not copied */
/* Adds what other sessions, of another process or host, have counted: counters, histograms in
   either form, labels by name (beyond BN_LABELS_MAX as "other"), moments, extremes.  Their sessions
   take the places from `first` on, as far as there are any.  The times are the caller's.  `into`
   was made for the same metrics, with histograms.  0, or -1: a sum does not fit into 64 bits, and
   `into` is of no use. */
int bn_snap_merge(struct bn_snap *into, const struct bn_snap *from, unsigned first);
/* Returns whether all counts are at most so large, and those of labels and statements so much
   smaller that all of them may be summed as "other". */
bool bn_snap_fits(const struct bn_snap *s, uint64_t most);
/* Gives a snapshot without a sparse form that of another one, or of itself: copied, or made from
   the histograms, if it has any. */
void bn_snap_pack(struct bn_snap *to, const struct bn_snap *from);
/* Gives back the memory of labels that are not used: nothing more can be copied or taken into the
   snapshot. */
void bn_snap_trim(struct bn_snap *s);
/* How many buckets the sparse form has. */
size_t bn_snap_buckets(const struct bn_snap *s);

#endif
