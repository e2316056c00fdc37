/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the general options as typed to what the engine uses: checks and derived values. */
#include "option/conf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/rng.h"
#include "base/units.h"
#include "option/opt.h"

__attribute__((format(printf, 3, 4))) static int
refuse(struct bn_optset_fault *fault, enum bn_optset_error kind, const char *fmt, ...)
{
  va_list ap;

  fault->kind = kind;
  fault->opt = NULL;
  fault->hint[0] = '\0';
  va_start(ap, fmt);
  (void)vsnprintf(fault->text, sizeof fault->text, fmt, ap);
  va_end(ap);
  return (int)kind;
}

static uint64_t to_ns(double seconds)
{
  return (uint64_t)llround(seconds * (double)BN_NSEC_PER_SEC);
}

/* Digits after the point that time stamps need to tell multiples of the interval apart. */
static int decimals_of(double seconds)
{
  double scale = 1;
  int digits = 0;

  while (digits < 3 && fabs(seconds * scale - nearbyint(seconds * scale)) > 1e-6) {
    scale *= 10;
    digits++;
  }
  return digits;
}

static int finish_times(struct bn_conf *c, struct bn_optset_fault *fault)
{
  const struct bn_conf_raw *r = &c->raw;

  c->threads = (unsigned)r->threads;
  c->events = (uint64_t)r->events;
  c->time_ns = to_ns(r->time_s);
  c->warmup_ns = to_ns(r->warmup_s);
  c->init_timeout_ns = to_ns(r->thread_init_timeout_s);
  c->interval_ns = to_ns(r->report_interval_s);
  c->interval_decimals = decimals_of(r->report_interval_s);
  c->rate_unlimited_backlog = r->rate_max_backlog == 0;
  if (c->interval_ns > 0 && c->interval_ns < BN_NSEC_PER_MSEC)
    return refuse(fault, BN_OPTSET_RANGE,
                  "Invalid value for --report-interval: %g (at least 0.001 s)",
                  r->report_interval_s);
  if (c->events == 0 && c->time_ns == 0)
    bn_log(BN_WARNING, "%s", c->policy->endless);
  return 0;
}

/* Whole seconds, or a percentage of the time limit cut to whole seconds. */
static int finish_forced_shutdown(struct bn_conf *c, struct bn_optset_fault *fault)
{
  const char *text = c->raw.forced_shutdown != NULL ? c->raw.forced_shutdown : "5%";
  uint64_t limit_ns = c->time_ns;
  size_t len;
  char *end;
  double v;

  c->forced = c->time_ns > 0 && strcasecmp(text, "off") != 0;
  if (!c->forced)
    return 0;
  if (c->policy->forced_shutdown_of_warmup)
    limit_ns += c->warmup_ns;
  len = strspn(text, "0123456789");
  v = strtod(text, &end);
  if (len == 0 || len > 9 || (text[len] != '\0' && strcmp(text + len, "%") != 0))
    return refuse(fault, BN_OPTSET_RANGE, "Invalid value for --forced-shutdown: '%s'", text);
  if (text[len] == '%')
    v = floor((double)limit_ns / (double)BN_NSEC_PER_SEC * v / 100);
  c->forced_ns = to_ns(v);
  return 0;
}

static int finish_grace(struct bn_conf *c, struct bn_optset_fault *fault)
{
  const char *text = c->raw.time_grace != NULL ? c->raw.time_grace : "0";
  double seconds;

  c->grace_auto = strcasecmp(text, "auto") == 0;
  if (c->grace_auto)
    return 0;
  if (bn_units_duration(text, &seconds) != 0 || seconds < 0 || seconds > INT32_MAX)
    return refuse(fault, BN_OPTSET_RANGE, "Invalid value for --time-grace: '%s'", text);
  c->grace_ns = to_ns(seconds);
  return 0;
}

static int finish_random(struct bn_conf *c, struct bn_optset_fault *fault)
{
  struct bn_conf_raw *r = &c->raw;

  if (r->rand_init && r->rand_seed != 0)
    return refuse(fault, BN_OPTSET_RANGE, "Cannot set both --rand-init and --rand-seed");
  if (c->policy->loose_values && (r->rand_pareto_h <= 0 || r->rand_pareto_h >= 1)) {
    bn_log_stderr("--rand-pareto-h=%g is taken for 0.2: it lies between 0 and 1", r->rand_pareto_h);
    r->rand_pareto_h = 0.2;
  }
  if (r->rand_pareto_h <= 0 || r->rand_pareto_h >= 1)
    return refuse(fault, BN_OPTSET_RANGE,
                  "Invalid value for --rand-pareto-h: %g (it lies between 0 and 1)",
                  r->rand_pareto_h);
  c->dist = (struct bn_dist){.type = (enum bn_dist_type)r->rand_type,
                             .iterations = (unsigned)r->rand_spec_iter,
                             .special_pct = (unsigned)r->rand_spec_pct,
                             .special_res = (unsigned)r->rand_spec_res,
                             .pareto_h = r->rand_pareto_h,
                             .zipf_exp = r->rand_zipfian_exp};
  bn_dist_init(&c->dist);
  c->seed_given = r->rand_seed != 0;
  c->seed = (uint64_t)r->rand_seed;
  /* 0.5 draws the same numbers in every run unless told otherwise. */
  if (!c->seed_given && (!c->policy->same_seed_each_run || r->rand_init))
    c->seed = bn_rng_entropy();
  return 0;
}

static int by_value_u64(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

static int by_value_double(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static int finish_checkpoints(struct bn_conf *c, struct bn_optset_fault *fault)
{
  const struct bn_list *list = &c->raw.report_checkpoints;

  if (list->n > BN_CHECKPOINTS_MAX)
    return refuse(fault, BN_OPTSET_RANGE,
                  "Too many checkpoints in --report-checkpoints (up to %d can be defined)",
                  (int)BN_CHECKPOINTS_MAX);
  for (size_t i = 0; i < list->n; i++) {
    int64_t seconds;

    if (bn_units_int(list->item[i], &seconds) != 0 || seconds < 0 || seconds > INT32_MAX)
      return refuse(fault, BN_OPTSET_RANGE, "Invalid value for --report-checkpoints: '%s'",
                    list->item[i]);
    c->checkpoint_ns[i] = (uint64_t)seconds * BN_NSEC_PER_SEC;
  }
  if (list->n > 0)
    qsort(c->checkpoint_ns, list->n, sizeof c->checkpoint_ns[0], by_value_u64);
  c->n_checkpoints = list->n;
  return 0;
}

static bool has_percentile(const struct bn_conf *c, double rank)
{
  for (size_t i = 0; i < c->n_percents; i++)
    if (fabs(c->percents[i] - rank) < 1e-9)
      return true;
  return false;
}

static int finish_percentiles(struct bn_conf *c, struct bn_optset_fault *fault)
{
  const struct bn_list *list = &c->raw.percentile;
  double rank = 0;

  c->n_percents = 0;
  for (size_t i = 0; i < list->n; i++) {
    if (bn_units_double(list->item[i], &rank) != 0)
      return refuse(fault, BN_OPTSET_BAD, "Invalid value for the 'percentile' option: '%s'",
                    list->item[i]);
    if (list->n == 1 && rank < 1e-9 && rank > -1e-9 && !c->policy->percentile_from_1)
      break;
    if (rank <= 0 || rank > 100 || (c->policy->percentile_from_1 && rank < 1))
      return refuse(fault, BN_OPTSET_RANGE, "Invalid value for %s: %s", c->policy->percentile_name,
                    list->item[i]);
    if (has_percentile(c, rank))
      continue;
    if (c->n_percents == BN_PERCENTS_MAX)
      return refuse(fault, BN_OPTSET_RANGE, "Too many percentiles in --percentile (up to %d)",
                    (int)BN_PERCENTS_MAX);
    c->percents[c->n_percents++] = rank;
  }
  if (c->n_percents > 1)
    qsort(c->percents + 1, c->n_percents - 1, sizeof c->percents[0], by_value_double);
  if (c->raw.histogram && c->n_percents == 0)
    return refuse(fault, BN_OPTSET_RANGE, "--histogram cannot be used with --percentile=0");
  return 0;
}

int bn_conf_finish(struct bn_conf *c, const struct bn_optset *s, struct bn_optset_fault *fault)
{
  static int (*const steps[])(struct bn_conf *, struct bn_optset_fault *) = {
      finish_times,  finish_forced_shutdown, finish_grace,
      finish_random, finish_checkpoints,     finish_percentiles};
  int rc = 0;

  if (bn_optset_fault(s, fault))
    return (int)fault->kind;
  for (size_t i = 0; rc == 0 && i < sizeof steps / sizeof steps[0]; i++)
    rc = steps[i](c, fault);
  if (rc == 0 && c->raw.debug)
    c->raw.verbosity = BN_DEBUG;
  return rc;
}
