/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the parts of a run as tables: statements by name, and events by kind. */
#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "measure/bounds.h"
#include "measure/event_kinds.h"
#include "measure/phases.h"
#include "report/text/form.h"

enum { TIME_WIDTH = 10 }; /* columns of a time in a table, after a blank */

/* Inserts each index before the first index of a higher rank.  Of equal ranks, the first stays. */
struct bn_text_ranks bn_text_sort_ranks(const struct bn_view *v)
{
  struct bn_text_ranks r = {.n = 0};

  for (size_t i = 0; i < v->n_percents; i++) {
    const double rank = v->percents[i];
    size_t to = 0;

    while (to < r.n && v->percents[r.at[to]] < rank)
      to++;
    if (to < r.n && v->percents[r.at[to]] == rank)
      continue;
    memmove(&r.at[to + 1], &r.at[to], (r.n - to) * sizeof *r.at);
    r.at[to] = i;
    r.n++;
  }
  return r;
}

/* Prints a name at the end of a line, escaped, because a script or its SQL has chosen it. */
static void tables_print_name(FILE *out, const char *name)
{
  char shown[BN_ESCAPED * BN_STATEMENT_NAME + 1];

  (void)bn_escape(shown, sizeof shown, name, "");
  (void)fprintf(out, "  %s\n", shown);
}

/* Prints a blank and a latency, right-aligned in at least `width` columns.  at_least: it is a lower
   bound. */
static void tables_print_ms(FILE *out, double s, int width, bool at_least)
{
  char text[BN_FORM_NUMBER];

  (void)fprintf(out, " %s", bn_form_format_latency(text, width, s, at_least));
}

/* Prints the average, in the column "avg", and the percentiles and the maximum in the columns of
   tables_print_time_heads().  A document may have no percentiles. */
static void tables_print_times(FILE *out, const struct bn_view *v, const struct bn_timing *timing)
{
  const struct bn_text_ranks ranks = bn_text_sort_ranks(v);
  const bool are_known = timing->percentile_s != NULL;

  tables_print_ms(out, timing->avg_s, TIME_WIDTH, false /* at_least */);
  for (size_t i = 0; i < ranks.n; i++) {
    const size_t at = ranks.at[i];

    tables_print_ms(out, are_known ? timing->percentile_s[at] : NAN, TIME_WIDTH,
                    are_known && bn_timing_at_least(timing, at));
  }
  tables_print_ms(out, timing->max_s, TIME_WIDTH, timing->unfinished > 0);
}

/* Prints the heads of the columns after "avg", from the percentiles to the name, and ends the
   line. */
static void tables_print_time_heads(FILE *out, const struct bn_view *v)
{
  const struct bn_text_ranks ranks = bn_text_sort_ranks(v);
  char rank[32];

  for (size_t i = 0; i < ranks.n; i++) {
    (void)snprintf(rank, sizeof rank, "%.15gth", v->percents[ranks.at[i]]);
    (void)fprintf(out, " %*s", TIME_WIDTH, rank);
  }
  (void)fprintf(out, " %*s  name\n", TIME_WIDTH, "max");
}

/* Prints a line under the heading of bn_text_print_statements(). */
static void tables_print_statement(FILE *out, const struct bn_view *v,
                                   const struct bn_statement_view *s)
{
  const struct bn_timing *timing = &s->timing;

  (void)fprintf(out, "    %12" PRIu64 " %12" PRIu64 " %8" PRIu64 " %6.1f%%", timing->count, s->rows,
                s->errors, bn_view_statement_share(v, s) * 100);
  tables_print_times(out, v, timing);
  tables_print_name(out, timing->name);
}

/* Names are of any length, so they come last, here and in the other tables. */
void bn_text_print_statements(FILE *out, const struct bn_view *v)
{
  if (v->n_statements == 0)
    return;
  (void)fprintf(out, "Statements (times in ms):\n    %12s %12s %8s %7s %10s", "count", "rows",
                "errors", "share", "avg");
  tables_print_time_heads(out, v);
  for (size_t i = 0; i < v->n_statements; i++)
    tables_print_statement(out, v, &v->statements[i]);
  (void)fputs("\n", out);
}

/* The kinds of events that a table has: those that scripts name, or the groups. */
enum tables_parts { PARTS_KINDS, PARTS_GROUPS };

static void tables_print_kind_heads(FILE *out, const struct bn_view *v, enum tables_parts parts)
{
  (void)fprintf(out, "%s (times in ms):\n    %12s %7s %12s %8s %8s %10s",
                parts == PARTS_GROUPS ? "Groups" : "Kinds of events", "events", "share", "per sec.",
                "retries", "failed", "avg");
  tables_print_time_heads(out, v);
}

/* Prints a line under the heading of tables_print_kinds(). */
static void tables_print_kind(FILE *out, const struct bn_view *v, const struct bn_event_kind *k)
{
  (void)fprintf(out, "    %12" PRIu64 " %6.1f%% %12.2f %8" PRIu64 " %8" PRIu64, k->events,
                isnan(k->share) ? 0 : k->share * 100, k->events_per_s, k->retries,
                k->failed_events);
  tables_print_times(out, v, k->timing);
  tables_print_name(out, k->name);
}

/* Prints the table of these kinds of events; nothing if the view has none of them. */
static void tables_print_kinds(FILE *out, const struct bn_view *v, enum tables_parts parts)
{
  size_t n_printed = 0;

  for (size_t i = 0; i < v->n_event_kinds; i++) {
    if (bn_event_kinds_is_group(v->event_kinds[i].name) != (parts == PARTS_GROUPS))
      continue;
    if (n_printed++ == 0)
      tables_print_kind_heads(out, v, parts);
    tables_print_kind(out, v, &v->event_kinds[i]);
  }
  if (n_printed > 0)
    (void)fputs("\n", out);
}

/* In a run with groups each event is of a group and may be of a kind, so there are two tables. */
void bn_text_print_event_kinds(FILE *out, const struct bn_view *v)
{
  tables_print_kinds(out, v, PARTS_KINDS);
  tables_print_kinds(out, v, PARTS_GROUPS);
}

/* Prints how long it took to recover from a phase; nothing if the latency did not grow in it, or if
   that is not known. */
static void tables_print_recovery(FILE *out, const struct bn_phase_view *p, size_t number)
{
  char text[BN_ESCAPED * BN_BOUND_NAME + 1];
  char digits[BN_UNITS_DIGITS];

  if (isnan(p->recovery_s) || p->recovery_s <= 0)
    return;
  (void)bn_escape(text, sizeof text, p->text, "");
  (void)fprintf(out, "    phase %zu (%s): %s after %s s\n", number, text,
                p->recovered ? "recovered" : "not recovered", bn_phases_print_recovery(p, digits));
}

/* Prints the columns before "avg" for a phase of --rate-profile. */
static void tables_print_phase_of_rate(FILE *out, const struct bn_phase_view *p)
{
  (void)fprintf(out,
                "    %12.3f %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64
                " %8" PRIu64 " %8" PRIu64 " %10.2f %10.2f",
                p->to_s, p->due, p->started, p->timing->count, p->dropped, p->queued, p->retries,
                p->failed_events, p->wanted_per_s, p->started_per_s);
}

/* Prints the columns before "avg" for a phase of --threads-profile. */
static void tables_print_phase_of_threads(FILE *out, const struct bn_phase_view *p)
{
  (void)fprintf(out,
                "    %12.3f %10.2f %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
                " %10.2f",
                p->to_s, p->wanted_threads, p->started, p->timing->count, p->dropped, p->retries,
                p->failed_events, p->started_per_s);
}

/* Prints the heads of the columns of phases, of a --threads-profile or of a --rate-profile. */
static void tables_print_phase_heads(FILE *out, const struct bn_view *v, bool of_threads)
{
  if (of_threads)
    (void)fprintf(out, "    %12s %10s %10s %10s %8s %8s %8s %10s %10s", "until s", "threads",
                  "started", "ended", "dropped", "retries", "failed", "started/s", "avg");
  else
    (void)fprintf(out, "    %12s %10s %10s %10s %8s %8s %8s %8s %10s %10s %10s", "until s", "due",
                  "started", "ended", "dropped", "queued", "retries", "failed", "wanted/s",
                  "started/s", "avg");
  tables_print_time_heads(out, v);
}

/* Prints a line under the heads of tables_print_phase_heads(). */
static void tables_print_phase(FILE *out, const struct bn_view *v, const struct bn_phase_view *p,
                               bool of_threads)
{
  if (of_threads)
    tables_print_phase_of_threads(out, p);
  else
    tables_print_phase_of_rate(out, p);
  tables_print_times(out, v, p->timing);
  tables_print_name(out, p->text);
}

/* All phases of a run are of one profile.  A --threads-profile has no wanted rate. */
void bn_text_print_phases(FILE *out, const struct bn_view *v, const char *group)
{
  bool of_threads;

  if (v->n_phases == 0)
    return;
  of_threads = isnan(v->phases[0].wanted_per_s);
  (void)fprintf(out, "Phases%s%s (times in ms):\n", group != NULL ? " of the group " : "",
                group != NULL ? group : "");
  tables_print_phase_heads(out, v, of_threads);
  for (size_t i = 0; i < bn_phases_count_begun(v); i++)
    tables_print_phase(out, v, &v->phases[i], of_threads);
  for (size_t i = 0; i < v->n_phases; i++)
    tables_print_recovery(out, &v->phases[i], i + 1);
  (void)fputs("\n", out);
}

void bn_text_print_event_kind(FILE *out, const struct bn_view *v, const struct bn_event_kind *k)
{
  const double *percentile_s = k->timing->percentile_s;
  const size_t rank = bn_view_greatest_rank(v);
  char name[BN_ESCAPED * BN_PART_NAME + 1];

  (void)bn_escape(name, sizeof name, k->name, "");
  (void)fprintf(out, "  %s: eps: %.2f", name, k->events_per_s);
  if (percentile_s != NULL && v->n_percents > 0) {
    (void)fprintf(out, " lat (ms,%.15g%%):", v->percents[rank]);
    tables_print_ms(out, percentile_s[rank], 0 /* width */, false /* at_least */);
  }
  (void)fprintf(out, " retries: %" PRIu64 " failed: %" PRIu64 "\n", k->retries, k->failed_events);
}
