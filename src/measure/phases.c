/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the phases of a profile in a table of metrics, and sums them over hosts. */
#include "measure/phases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/layout.h"

enum { PART_LEN = sizeof BN_PHASE_PART - 1 };

size_t bn_phases_count(const struct bn_metrics *m)
{
  return bn_metrics_count_kind(m->hist, m->n_hists, BN_PHASE_HISTOGRAM);
}

size_t bn_phases_find_hist(const struct bn_metrics *m, size_t k)
{
  return bn_metrics_find_nth(m->hist, m->n_hists, BN_PHASE_HISTOGRAM, k);
}

bool bn_phases_is_part(const char *part)
{
  return strncmp(part, BN_PHASE_PART, PART_LEN) == 0;
}

size_t bn_phases_part_len(const char *metric)
{
  return bn_phases_is_part(metric) ? strcspn(metric, " ") : strlen(metric);
}

bool bn_phases_is_metric_of(const char *metric, const char *part)
{
  const size_t len = bn_phases_part_len(metric);

  return bn_phases_is_part(metric) && strlen(part) == len && strncmp(metric, part, len) == 0;
}

const struct bn_phase_view *bn_phases_find(const struct bn_view *v, const char *part)
{
  for (size_t k = 0; k < v->n_phases; k++)
    if (bn_phases_is_metric_of(v->phases[k].timing->name, part))
      return &v->phases[k];
  return NULL;
}

bool bn_phases_have_figure(const char *figure)
{
  return bn_layout_has_number(bn_layout_phase, figure) ||
         bn_layout_has_number(bn_layout_ages, figure);
}

bool bn_phases_get_value(const struct bn_phase_view *p, const char *figure, double *value)
{
  return bn_layout_get_number(bn_layout_phase, p, figure, value) ||
         bn_layout_get_number(bn_layout_ages, p->timing, figure, value);
}

bool bn_phases_is_lower_bound(const struct bn_phase_view *p, const char *figure)
{
  return strcmp(figure, "recovery_s") == 0 && !p->recovered;
}

const char *bn_phases_print_recovery(const struct bn_phase_view *p, char digits[BN_UNITS_DIGITS])
{
  if (p->recovered)
    return bn_units_format_shortest(digits, p->recovery_s);
  /* A lower bound is the time at which the search has ended: three digits say enough. */
  (void)snprintf(digits, BN_UNITS_DIGITS, "%.*f", bn_units_count_decimals(p->recovery_s, 1),
                 p->recovery_s);
  bn_units_restore_point(digits);
  return digits;
}

size_t bn_phases_count_begun(const struct bn_view *v)
{
  size_t n = 0;

  while (n < v->n_phases && v->phases[n].to_s > v->phases[n].from_s)
    n++;
  return n;
}

/* Sets a figure that is not known to NaN; from a document it comes as HUGE_VAL. */
static void phases_mark_unknown(double *figure)
{
  if (!isfinite(*figure))
    *figure = NAN;
}

void bn_phases_settle(struct bn_phase_view *p)
{
  phases_mark_unknown(&p->recovery_s);
  phases_mark_unknown(&p->started_per_s);
  phases_mark_unknown(&p->wanted_per_s);
  phases_mark_unknown(&p->wanted_threads);
  if (!isnan(p->wanted_per_s)) /* a phase with a rate has no number of threads */
    p->wanted_threads = NAN;
}

/* Returns the text of a phase, "hold:5000/5m", from the name of its metric, "phase:2 hold:5000/5m".
   If a document has a name of another form, returns the whole name. */
static const char *phases_find_text(const char *metric)
{
  const char *blank = bn_phases_is_part(metric) ? strchr(metric, ' ') : NULL;

  return blank != NULL ? blank + 1 : metric;
}

void bn_phases_set_unknown(struct bn_phase_view *p)
{
  p->wanted_per_s = p->wanted_threads = p->started_per_s = NAN;
  p->carried = p->queued = UINT64_MAX;
}

void bn_phases_name_all(struct bn_view *v, struct bn_view_store *store, const struct bn_metrics *m)
{
  v->n_phases = bn_phases_count(m);
  for (size_t k = 0; k < v->n_phases; k++) {
    const size_t hist = bn_phases_find_hist(m, k);

    store->phase[k] = (struct bn_phase_view){.text = phases_find_text(m->hist[hist].name),
                                             .timing = &store->timing[hist - BN_H_FIXED],
                                             .recovery_s = NAN};
  }
  v->phases = store->phase;
}

struct bn_timing *bn_phases_timing(struct bn_view_store *store, const struct bn_metrics *m,
                                   size_t k)
{
  return &store->timing[bn_phases_find_hist(m, k) - BN_H_FIXED];
}

void bn_phases_copy(struct bn_view *to, struct bn_view_store *store, const struct bn_view *from,
                    const struct bn_metrics *m)
{
  to->n_phases = 0;
  to->phases = NULL;
  if (from->n_phases == 0)
    return;
  bn_phases_name_all(to, store, m);
  for (size_t k = 0; k < to->n_phases && k < from->n_phases; k++) {
    struct bn_phase_view *phase = &store->phase[k];
    const struct bn_phase_view named = *phase; /* with the text and the timing of `to` */

    *phase = from->phases[k];
    phase->text = named.text;
    phase->timing = named.timing;
  }
}

/* Adds a figure of a phase on one host to the sum, which is NaN until a host knows the figure.  A
   host that does not know it is left out. */
static void phases_add_real(double *sum, double part)
{
  if (!isnan(part))
    *sum = isnan(*sum) ? part : *sum + part;
}

/* Adds a number of events, as phases_add_real() does.  UINT64_MAX: it is not known. */
static void phases_add_count(uint64_t *sum, uint64_t part)
{
  if (part != UINT64_MAX)
    *sum = *sum == UINT64_MAX ? part : *sum + part;
}

/* Adds the figures of a phase on one host.  The hosts begin and end a phase together, so the sum
   has the times of the host with the latest end: a host that lost its controller has ended earlier.
   The run has recovered when its last host has. */
static void phases_add_host(struct bn_phase_view *sum, const struct bn_phase_view *part)
{
  if (part->to_s > sum->to_s) {
    sum->from_s = part->from_s;
    sum->to_s = part->to_s;
  }
  phases_add_real(&sum->wanted_per_s, part->wanted_per_s);
  phases_add_real(&sum->wanted_threads, part->wanted_threads);
  phases_add_real(&sum->started_per_s, part->started_per_s);
  sum->due += part->due;
  phases_add_count(&sum->carried, part->carried);
  sum->started += part->started;
  sum->dropped += part->dropped;
  phases_add_count(&sum->queued, part->queued);
  sum->retries += part->retries;
  sum->failed_events += part->failed_events;
  if (!isnan(part->recovery_s)) {
    const bool is_first = isnan(sum->recovery_s);

    sum->recovered = part->recovered && (is_first || sum->recovered);
    sum->recovery_s = is_first ? part->recovery_s : fmax(sum->recovery_s, part->recovery_s);
  }
}

/* Adds the counts and times of a phase on one host to `all`, and the sum of the squares of its
   values, in s^2, to *squares.  From a deviation and a mean, that sum is n (dev^2 + mean^2). */
static void phases_add_timing(struct bn_timing *all, double *squares, const struct bn_timing *t)
{
  if (t->unfinished > 0)
    all->youngest_s = fmin(all->youngest_s, t->youngest_s);
  all->unfinished += t->unfinished;
  if (t->count == 0) /* its other statistics are NaN */
    return;
  all->count += t->count;
  all->sum_s += t->sum_s;
  all->min_s = fmin(all->min_s, t->min_s);
  *squares += (double)t->count * (t->dev_s * t->dev_s + t->avg_s * t->avg_s);
}

/* Sets the statistics of phase k that do not count the ages of unfinished events.  Without such
   events the statistics of the histogram are right and stay.  A histogram with ages gives wrong
   statistics, so they are summed from those of the parts. */
static void phases_sum_timing(struct bn_timing *sum, const struct bn_views *parts, size_t k)
{
  struct bn_timing all = {.min_s = HUGE_VAL, .youngest_s = HUGE_VAL};
  double squares = 0;

  for (size_t i = 0; i < parts->n; i++)
    if (k < parts->view[i]->n_phases)
      phases_add_timing(&all, &squares, parts->view[i]->phases[k].timing);
  if (all.unfinished == 0)
    return;
  sum->unfinished = all.unfinished;
  sum->youngest_s = all.youngest_s;
  sum->count = all.count;
  sum->sum_s = all.sum_s;
  sum->min_s = sum->avg_s = sum->dev_s = NAN;
  if (all.count > 0) {
    sum->min_s = all.min_s;
    sum->avg_s = all.sum_s / (double)all.count;
    sum->dev_s = sqrt(fmax(0, squares / (double)all.count - sum->avg_s * sum->avg_s));
  }
}

/* The first part that has phases shows that the run has them.  The sum then gets all phases of its
   metrics, whose figures stay unknown until a part knows them. */
void bn_phases_sum(struct bn_view *v, struct bn_view_store *store, const struct bn_views *parts)
{
  for (size_t i = 0; i < parts->n; i++) {
    const struct bn_view *part = parts->view[i];
    const bool is_first_with_phases = part->n_phases > 0 && v->n_phases == 0;

    if (is_first_with_phases) {
      bn_phases_name_all(v, store, &v->delta->metrics);
      for (size_t k = 0; k < v->n_phases; k++)
        bn_phases_set_unknown(&store->phase[k]);
    }
    for (size_t k = 0; k < part->n_phases && k < v->n_phases; k++)
      phases_add_host(&store->phase[k], &part->phases[k]);
  }
  for (size_t k = 0; k < v->n_phases; k++)
    phases_sum_timing(bn_phases_timing(store, &v->delta->metrics, k), parts, k);
}
