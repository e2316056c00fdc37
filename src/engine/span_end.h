/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters at the end of the span, from which bench's own final report, and its ticks after the
   span, compute rates: what was done in the grace has no part in them.  The reporting thread uses
   them, and after its end the main thread. */
#ifndef BN_ENGINE_SPAN_END_H
#define BN_ENGINE_SPAN_END_H

#include <stdint.h>

#include "measure/snap.h"
#include "measure/view.h"

struct bn_span_end {
  const struct bn_statset *stats; /* borrowed */
  uint64_t *counter;              /* owned; the counters at the end of the span */
  uint64_t *rated;                /* owned; `counter` less a baseline, for a view */
  uint64_t at_ns; /* `counter` counts up to this time (CLOCK_MONOTONIC); 0: not taken yet */
};

void bn_span_end_init(struct bn_span_end *e, const struct bn_statset *stats);
void bn_span_end_done(struct bn_span_end *e);
/* Takes the counters of a span that ended at end_ns.  Only the first call has an effect. */
void bn_span_end_count(struct bn_span_end *e, uint64_t end_ns, uint64_t now_ns);
/* Takes the counters, also if they were taken before, except those that the workload looks up:
   devices, for example, have gone on working since then. */
void bn_span_end_count_anew(struct bn_span_end *e, uint64_t end_ns, uint64_t now_ns);
/* Gives `rules` the counters from the base to the end of the span, unless the base is later.  The
   rules are valid until the next call. */
void bn_span_end_set_rates(struct bn_span_end *e, const struct bn_snap *base,
                           struct bn_view_rules *rules);

#endif
