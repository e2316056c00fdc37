/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plain members of a result's structs by the names that they have in a document. */
#include "measure/layout.h"

#include <string.h>

#include "base/near.h"
#include "measure/result.h"

#define MEMBER(what, type, name)                                                                   \
  {                                                                                                \
#name, type, offsetof(struct what, name)                                                       \
  }
#define END                                                                                        \
  {                                                                                                \
    .name = NULL                                                                                   \
  }

const struct bn_layout bn_layout_plan[] = {
    MEMBER(bn_plan, BN_LAY_INT, verbosity),
    MEMBER(bn_plan, BN_LAY_UNSIGNED, threads),
    MEMBER(bn_plan, BN_LAY_WHOLE, events),
    MEMBER(bn_plan, BN_LAY_WHOLE, time_ns),
    MEMBER(bn_plan, BN_LAY_WHOLE, warmup_ns),
    MEMBER(bn_plan, BN_LAY_WHOLE, interval_ns),
    MEMBER(bn_plan, BN_LAY_INT, interval_decimals),
    MEMBER(bn_plan, BN_LAY_REAL, rate),
    MEMBER(bn_plan, BN_LAY_BOOL, forced),
    MEMBER(bn_plan, BN_LAY_WHOLE, forced_ns),
    MEMBER(bn_plan, BN_LAY_BOOL, debug),
    MEMBER(bn_plan, BN_LAY_BOOL, validate),
    MEMBER(bn_plan, BN_LAY_BOOL, histogram),
    MEMBER(bn_plan, BN_LAY_BOOL, watch_lines),
    MEMBER(bn_plan, BN_LAY_BOOL, kind_lines),
    MEMBER(bn_plan, BN_LAY_BOOL, seed_given),
    MEMBER(bn_plan, BN_LAY_SIGNED, seed_typed),
    MEMBER(bn_plan, BN_LAY_WHOLE, seed),
    MEMBER(bn_plan, BN_LAY_BOOL, seed_from_timer),
    END,
};

const struct bn_layout bn_layout_times[] = {
    MEMBER(bn_facts, BN_LAY_WHOLE, start_ns),
    MEMBER(bn_facts, BN_LAY_WHOLE, start_wall_ns),
    MEMBER(bn_facts, BN_LAY_WHOLE, end_wall_ns),
    END,
};

const struct bn_layout bn_layout_end[] = {
    MEMBER(bn_end, BN_LAY_INT, status),
    MEMBER(bn_end, BN_LAY_INT, signo),
    MEMBER(bn_end, BN_LAY_BOOL, failed),
    MEMBER(bn_end, BN_LAY_BOOL, timeout),
    MEMBER(bn_end, BN_LAY_BOOL, left),
    MEMBER(bn_end, BN_LAY_BOOL, early),
    MEMBER(bn_end, BN_LAY_BOOL, overload),
    MEMBER(bn_end, BN_LAY_BOOL, partial),
    MEMBER(bn_end, BN_LAY_BOOL, replaced_intervals),
    MEMBER(bn_end, BN_LAY_BOOL, replaced_total),
    END,
};

/* The members that are not figures. */
const struct bn_layout bn_layout_view[] = {
    MEMBER(bn_view, BN_LAY_UNSIGNED, running),
    MEMBER(bn_view, BN_LAY_BOOL, paced),
    MEMBER(bn_view, BN_LAY_BOOL, replaced),
    MEMBER(bn_view, BN_LAY_BOOL, max_at_least),
    END,
};

const struct bn_layout bn_layout_snap[] = {
    MEMBER(bn_snap, BN_LAY_WHOLE, at_ns),
    MEMBER(bn_snap, BN_LAY_WHOLE, wall_ns),
    MEMBER(bn_snap, BN_LAY_WHOLE, span_ns),
    MEMBER(bn_snap, BN_LAY_WHOLE, busy_ns),
    MEMBER(bn_snap, BN_LAY_WHOLE, min_ns),
    MEMBER(bn_snap, BN_LAY_WHOLE, max_ns),
    MEMBER(bn_snap, BN_LAY_WHOLE, late),
    MEMBER(bn_snap, BN_LAY_WHOLE, dropped),
    MEMBER(bn_snap, BN_LAY_WHOLE, service_ns),
    MEMBER(bn_snap, BN_LAY_WHOLE, unfinished),
    MEMBER(bn_snap, BN_LAY_REAL, unfinished_s),
    MEMBER(bn_snap, BN_LAY_UNSIGNED, running),
    END,
};

/* Members of other structs may have the names of figures (lint: figure list). */
const struct bn_layout bn_layout_timing[] = {
    MEMBER(bn_timing, BN_LAY_WHOLE, count),
    MEMBER(bn_timing, BN_LAY_REAL, min_s),
    MEMBER(bn_timing, BN_LAY_REAL, avg_s),
    MEMBER(bn_timing, BN_LAY_REAL, max_s),
    MEMBER(bn_timing, BN_LAY_REAL, sum_s),
    MEMBER(bn_timing, BN_LAY_REAL, dev_s),
    END,
};

const struct bn_layout bn_layout_count[] = {
    MEMBER(bn_count, BN_LAY_WHOLE, count),
    MEMBER(bn_count, BN_LAY_REAL, per_s),
    END,
};

/* A kind of events has the figures of all events (lint: figure list). */
const struct bn_layout bn_layout_event_kind[] = {
    MEMBER(bn_event_kind, BN_LAY_WHOLE, events),
    MEMBER(bn_event_kind, BN_LAY_REAL, events_per_s),
    MEMBER(bn_event_kind, BN_LAY_REAL, share),
    MEMBER(bn_event_kind, BN_LAY_WHOLE, retries),
    MEMBER(bn_event_kind, BN_LAY_WHOLE, failed_events),
    END,
};

/* A phase has the figures of a run with --rate (lint: figure list). */
const struct bn_layout bn_layout_phase[] = {
    MEMBER(bn_phase_view, BN_LAY_REAL, from_s),
    MEMBER(bn_phase_view, BN_LAY_REAL, to_s),
    MEMBER(bn_phase_view, BN_LAY_REAL, wanted_per_s),
    MEMBER(bn_phase_view, BN_LAY_REAL, wanted_threads),
    MEMBER(bn_phase_view, BN_LAY_REAL, started_per_s),
    MEMBER(bn_phase_view, BN_LAY_WHOLE, due),
    MEMBER(bn_phase_view, BN_LAY_WHOLE, carried),
    MEMBER(bn_phase_view, BN_LAY_WHOLE, started),
    MEMBER(bn_phase_view, BN_LAY_WHOLE, dropped),
    MEMBER(bn_phase_view, BN_LAY_WHOLE, queued),
    MEMBER(bn_phase_view, BN_LAY_WHOLE, retries),
    MEMBER(bn_phase_view, BN_LAY_WHOLE, failed_events),
    MEMBER(bn_phase_view, BN_LAY_REAL, recovery_s),
    MEMBER(bn_phase_view, BN_LAY_BOOL, recovered),
    END,
};

/* The timing of a phase has these members besides those of others (lint: figure list). */
const struct bn_layout bn_layout_ages[] = {
    MEMBER(bn_timing, BN_LAY_WHOLE, unfinished),
    MEMBER(bn_timing, BN_LAY_REAL, youngest_s),
    END,
};

/* A session's members have the names of figures too (lint: figure list). */
const struct bn_layout bn_layout_session[] = {
    MEMBER(bn_session_view, BN_LAY_WHOLE, events), MEMBER(bn_session_view, BN_LAY_REAL, min_s),
    MEMBER(bn_session_view, BN_LAY_REAL, avg_s),   MEMBER(bn_session_view, BN_LAY_REAL, max_s),
    MEMBER(bn_session_view, BN_LAY_REAL, busy_s),  END,
};

const struct bn_layout bn_layout_member[] = {
    MEMBER(bn_member, BN_LAY_UNSIGNED, threads),   MEMBER(bn_member, BN_LAY_REAL, processor_s),
    MEMBER(bn_member, BN_LAY_REAL, clock_error_s), MEMBER(bn_member, BN_LAY_REAL, start_lag_s),
    MEMBER(bn_member, BN_LAY_REAL, time_s),        END,
};

const char *const bn_layout_dialects[] = {
    [BN_V05] = "0.5", [BN_V10] = "1.0", [BN_V11] = "1.1", NULL};
const char *const bn_layout_spans[] = {[BN_VIEW_INTERVAL] = "interval",
                                       [BN_VIEW_CHECKPOINT] = "checkpoint",
                                       [BN_VIEW_TOTAL] = "total",
                                       [BN_VIEW_TICK] = "tick"};
const char *const bn_layout_kinds[] = {
    [BN_KIND_PLAIN] = "plain",   [BN_KIND_CPU] = "cpu", [BN_KIND_MEMORY] = "memory",
    [BN_KIND_FILEIO] = "fileio", [BN_KIND_SQL] = "sql", NULL};
const char *const bn_layout_levels[] = {"fatal", "alert", "warning", "note", "caveat", NULL};
const char *const bn_layout_reasons[] = {
    [BN_END_UNKNOWN] = "unknown", [BN_END_TIME] = "time limit",     [BN_END_EVENTS] = "event limit",
    [BN_END_DONE] = "done",       [BN_END_SIGNAL] = "signal",       [BN_END_TIMEOUT] = "timeout",
    [BN_END_SCRIPT] = "script",   [BN_END_OVERLOAD] = "overload",   [BN_END_FAILURE] = "failure",
    [BN_END_KILLED] = "killed",   [BN_END_ASSERTION] = "assertion", NULL};
const char *const bn_layout_origins[] = {[BN_FROM_DEFAULT] = "default",
                                         [BN_FROM_FILE] = "file",
                                         [BN_FROM_COMMAND_LINE] = "command line",
                                         NULL};
const char *const bn_layout_traits[] = {
    "per_host",    "controller_only",   "output_only", "observes", "figures_only",
    "repeat_only", "endpoint",          "place",       "added",    "keeps_data",
    "fixed",       "command_line_only", "connects",    NULL};
const char *const bn_layout_metric_kinds[] = {[BN_COUNTER] = "counter",
                                              [BN_HISTOGRAM] = "histogram",
                                              [BN_LABELLED] = "labelled",
                                              [BN_SCRIPT_COUNTER] = "script counter",
                                              [BN_SCRIPT_HISTOGRAM] = "script histogram",
                                              [BN_EVENT_HISTOGRAM] = "event kind",
                                              [BN_EVENT_ENDED] = "events of a kind",
                                              [BN_EVENT_RETRIES] = "retries of a kind",
                                              [BN_EVENT_FAILED] = "failures of a kind",
                                              [BN_EVENT_LATE] = "late events of a kind",
                                              [BN_PHASE_HISTOGRAM] = "phase",
                                              NULL};
const char *const bn_layout_merges[] = {[BN_MERGE_SUM] = "sum",
                                        [BN_MERGE_RATE] = "rate",
                                        [BN_MERGE_MEAN] = "mean",
                                        [BN_MERGE_NONE] = "none",
                                        NULL};

unsigned bn_layout_find_trait(const char *name)
{
  const int bit = bn_near_find(bn_layout_traits, name);

  return bit >= 0 ? 1U << bit : 0;
}

/* Returns the member of that name if it is a BN_LAY_WHOLE or a BN_LAY_REAL, as all figures are, or
   NULL. */
static const struct bn_layout *layout_find_number(const struct bn_layout *l, const char *name)
{
  for (; l->name != NULL; l++)
    if (strcmp(l->name, name) == 0 && (l->type == BN_LAY_WHOLE || l->type == BN_LAY_REAL))
      return l;
  return NULL;
}

bool bn_layout_has_number(const struct bn_layout *l, const char *name)
{
  return layout_find_number(l, name) != NULL;
}

bool bn_layout_get_number(const struct bn_layout *l, const void *from, const char *name,
                          double *value)
{
  const struct bn_layout *member = layout_find_number(l, name);

  if (member == NULL)
    return false;

  const void *at = (const char *)from + member->offset;

  if (member->type == BN_LAY_REAL) {
    *value = *(const double *)at;
  } else {
    const uint64_t whole = *(const uint64_t *)at;

    *value = whole != UINT64_MAX ? (double)whole : NAN; /* UINT64_MAX: not known */
  }
  return true;
}
