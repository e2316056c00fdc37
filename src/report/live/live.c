/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line on a terminal that shows once a second how a run goes. */
#include "report/reporters.h"

#include <math.h>

#include "base/buf.h"
#include "base/log.h"
#include "measure/facts.h"
#include "measure/view.h"
#include "report/text/form.h"

struct live {
  const struct bn_plan *plan; /* of the run */
};

static void live_begin(void *self, const struct bn_facts *f)
{
  struct live *l = self;

  l->plan = &f->plan;
}

/* Appends the time since the start of the measurement, and the time that is left of --time. */
static void live_append_time(struct bn_buf *line, const struct bn_plan *plan, double at_s)
{
  const double limit_s = (double)plan->time_ns * 1e-9;

  (void)bn_buf_printf(line, "%.0f s", at_s);
  if (plan->time_ns != 0)
    (void)bn_buf_printf(line, ", %.0f s left", limit_s > at_s ? ceil(limit_s - at_s) : 0.0);
}

/* Appends the greatest percentile; nothing without --percentile, or before the first event has
   ended.  A lower bound gets ">=" instead of the number's own sign, because the line has ASCII
   alone, for terminals of any kind. */
static void live_append_percentile(struct bn_buf *line, const struct bn_view *v)
{
  const size_t i = bn_view_greatest_rank(v);
  const double latency_s = v->n_percents > 0 ? v->percentile_s[i] : NAN;
  const bool is_lower_bound = isfinite(latency_s) && bn_view_at_least(v, i);
  char number[BN_FORM_NUMBER];

  if (isnan(latency_s))
    return;
  (void)bn_form_format_latency(number, 0 /* width */, latency_s, false /* at_least */);
  (void)bn_buf_printf(line, ", p%.10g %s%s ms", v->percents[i], is_lower_bound ? ">= " : "",
                      number);
}

/* Replaces the line.  Tests without a database have no errors, as a rule, so 0 is not shown. */
static int live_tick(void *self, const struct bn_view *v, struct bn_err *err)
{
  const struct live *l = self;
  struct bn_buf line = {.max = 0};

  (void)err;
  live_append_time(&line, l->plan, v->at_s);
  (void)bn_buf_printf(&line, ": %.0f events/s", v->events_per_s);
  live_append_percentile(&line, v);
  if (v->kind == BN_KIND_SQL || v->errors > 0)
    (void)bn_buf_printf(&line, ", %llu errors", (unsigned long long)v->errors);
  if (v->paced && v->backlog > 0)
    (void)bn_buf_printf(&line, ", %llu waiting", (unsigned long long)v->backlog);
  bn_log_progress(line.data);
  bn_buf_done(&line);
  return 0;
}

/* Removes the line before the final report. */
static void live_ended(void *self)
{
  (void)self;
  bn_log_progress(NULL);
}

const struct bn_reporter bn_reporter_live = {
    .name = "live",
    .state_size = sizeof(struct live),
    .own_file = true,
    .aside = true,
    .begin = live_begin,
    .tick = live_tick,
    .ended = live_ended,
};
