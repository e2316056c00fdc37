/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots: plain values that sum all sessions at one instant; every report is the difference of
   two. */
#ifndef BN_MEASURE_SNAP_H
#define BN_MEASURE_SNAP_H

#include "base/err.h"
#include "measure/hist_sparse.h"
#include "measure/metric.h"
#include "measure/stat.h"

/* The number, sum and sum of squares of values, so that the mean and the deviation can be computed
   after merging.  long double, because sum_sq cancels against sum^2 / n. */
struct bn_moments {
  long double n, sum, sum_sq;
};

/* The numbers of one session.  They are kept because the fairness of a span follows from
   differences. */
struct bn_snap_session {
  uint64_t events, busy_ns, service_ns;
  uint64_t min_ns, max_ns; /* exact, since the measurement began; min > max: none */
  uint64_t warm_events, warm_busy_ns;
  uint64_t in_flight, start_ns; /* events in flight; when they started, on average */
  uint64_t counts_from_ns;      /* events that started before it are of the warm-up */
};

struct bn_snap {
  uint64_t at_ns, wall_ns;   /* CLOCK_MONOTONIC of this host; the time of day, for merging */
  uint64_t span_ns;          /* of a difference: the time between the two */
  struct bn_metrics metrics; /* owned: the meaning of the rows below */
  uint64_t *counter;         /* owned; [metrics.n_counters] */
  struct bn_hist **hist; /* owned; [metrics.n_hists]; each NULL in a snapshot without histograms */
  struct bn_hist_sparse *sparse; /* owned; [metrics.n_hists]; NULL unless it was packed */
  struct bn_label **label;       /* owned; [labelled][BN_LABELS_MAX + 1], of a record [n_labels] */
  size_t *n_labels;              /* owned */
  struct bn_statement_table statements; /* owned; no room: statements are not told apart */
  uint64_t busy_ns;                     /* sum of the durations of counted events, modulo 2^64 */
  uint64_t min_ns, max_ns; /* exact extremes since the measurement began; min > max: none */
  uint64_t late;           /* of the events, those that ended after the span */
  uint64_t dropped;        /* events that were begun, but not counted */
  uint64_t overdue;        /* --rate: events of the warm-up that were begun after it */
  uint64_t service_ns;     /* busy_ns without queueing, if metrics tell it apart (--rate) */
  uint64_t unfinished;     /* events in flight */
  double unfinished_s;     /* their time so far */
  unsigned running;
  unsigned n_sessions;
  struct bn_snap_session *session;            /* owned; [n_sessions] */
  struct bn_moments fair_events, fair_busy_s; /* set by diff */
};

/* Makes an empty snapshot with room for the numbers of a set, which bn_snap_take() may fill any
   number of times. */
void bn_snap_init(struct bn_snap *s, const struct bn_statset *set);
/* Makes an empty snapshot of metrics, which are copied.  Without `hists` it has no histograms, and
   in any case no room for statements. */
void bn_snap_init_for_metrics(struct bn_snap *s, const struct bn_metrics *metrics,
                              unsigned n_sessions, bool hists);
void bn_snap_done(struct bn_snap *s);
/* Takes the numbers of all sessions of a set at now_ns, while they count on.  `out` was made by
   bn_snap_init() for this set. */
void bn_snap_take(struct bn_snap *out, const struct bn_statset *set, uint64_t now_ns);
/* Raises the counters of a span that ended at end_ns, counter[0..set->metrics.n_counters), to what
   the sessions have counted at now_ns.  A session that has left its loop counts with its counters
   of that moment.  Counters that set->sample looks up stay as they are.  Returns the time up to
   which the counters count, as the mean over the sessions.  It is now_ns; for a session that has
   left, which begins nothing after the span, it is the end of its last event, but at least
   end_ns. */
uint64_t bn_snap_raise_counters(uint64_t *counter, const struct bn_statset *set, uint64_t end_ns,
                                uint64_t now_ns);
/* Adds the events of the warm-up, for a report of a run that ended in it. */
void bn_snap_add_warmup(struct bn_snap *s, const struct bn_statset *set);
/* Makes a snapshot of the end of the warm-up the base of what follows.  Events that start in the
   warm-up are counted apart, so the counts of events become 0; the others keep their values.  If
   the sessions do not count events of the warm-up apart, nothing is done. */
void bn_snap_end_warmup(struct bn_snap *s);
/* Returns how long the oldest event in flight has been in flight at now_ns, or 0 if there is
   none. */
uint64_t bn_snap_oldest_age_ns(const struct bn_snap *s, uint64_t now_ns);
/* Returns when the event in flight of a session started (of several, the average), or UINT64_MAX if
   there is none. */
uint64_t bn_snap_event_start_ns(const struct bn_snap_session *s);
/* Adds the age at now_ns of each event in flight to `ages`, and sets *oldest_ns to the largest, or
   0 if there is none.  Several events of one session all have their average age.  Events of the
   warm-up are left out unless `warming`.  Returns how many events were added. */
uint64_t bn_snap_collect_ages(const struct bn_snap *s, uint64_t now_ns, bool warming,
                              struct bn_hist *ages, uint64_t *oldest_ns);
/* Subtracts an earlier snapshot of the same sessions, so that `now` has what was counted between
   the two, and computes its span and the moments of fairness. */
void bn_snap_subtract(struct bn_snap *now, const struct bn_snap *base);
/* Copies a snapshot into one that was made for the same metrics.  Histograms, sessions and
   statements are copied as far as `to` has room for them: to->n_sessions becomes the smaller one of
   both.  Sparse forms are not copied. */
void bn_snap_copy(struct bn_snap *to, const struct bn_snap *from);
/* Copies the histograms of one kind into a snapshot of the same metrics; both have histograms. */
void bn_snap_copy_hists(struct bn_snap *to, const struct bn_snap *from, enum bn_metric_kind kind);
/* Adds what other sessions, of another process or host, have counted: counters, histograms in
   either form, labels by name (beyond BN_LABELS_MAX as "other"), moments, extremes.  Their sessions
   take the places from `first` on, as far as there are any.  The caller sets the times.  `into`
   was made for the same metrics, with histograms, and may have more of these, which are the last.
   Returns 0, or -1 if a sum does not fit into 64 bits; then `into` is of no use. */
int bn_snap_merge(struct bn_snap *into, const struct bn_snap *from, unsigned first);
/* Returns whether a count is at most `most`, or absent. */
bool bn_snap_is_within(uint64_t count, uint64_t most);
/* Returns whether all counts are at most `most`.  The counts of labels and statements have to be
   smaller, because all of them may be summed as "other": that sum is at most `most`, too. */
bool bn_snap_fits(const struct bn_snap *s, uint64_t most);
/* Gives a snapshot that has no sparse histograms those of `from`: copies of its sparse histograms,
   or its histograms packed.  `from` may be the same snapshot.  If it has neither, nothing is
   done. */
void bn_snap_pack(struct bn_snap *to, const struct bn_snap *from);
/* Gives back the memory of labels that are not used: nothing more can be copied or taken into the
   snapshot. */
void bn_snap_trim(struct bn_snap *s);
/* Returns how many buckets the sparse histograms have, or 0 if there are none. */
size_t bn_snap_count_buckets(const struct bn_snap *s);

#endif
