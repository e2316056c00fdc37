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

/* Why an option's value is refused: `reason` outside of dialects, and in dialects `plain`, the
   words of sysbench with the value in the place of their %s. */
struct refusal {
  const char *option, *reason, *plain;
};

/* What bn_conf_finish passes to its steps. */
struct finish {
  struct bn_conf *conf;
  const struct bn_optset *options;
  struct bn_optset_fault *fault;
};

/* Sets the fault of a value.  Returns its kind, BN_OPTSET_RANGE, which is not 0. */
static int conf_refuse(const struct finish *f, const struct refusal *refusal, const char *value)
{
  const struct bn_opt_refusal r = {
      .name = refusal->option, .value = value, .wrong = refusal->reason};

  bn_optset_refuse(f->options, &r, refusal->plain, f->fault);
  return (int)f->fault->kind;
}

/* Sets the fault of a number, as conf_refuse does. */
static int conf_refuse_number(const struct finish *f, const struct refusal *refusal, double value)
{
  char text[32];

  (void)snprintf(text, sizeof text, "%g", value);
  return conf_refuse(f, refusal, text);
}

/* Returns seconds as nanoseconds.  No option has a negative number of seconds. */
static uint64_t conf_to_ns(double seconds)
{
  return (uint64_t)llround(seconds * (double)BN_NSEC_PER_SEC);
}

/* Returns how many digits after the point, at most three, time stamps need to tell multiples of the
   interval apart. */
static int conf_count_decimals(double seconds)
{
  enum { DECIMALS_MAX = 3 }; /* an interval has at least a millisecond */
  const double rounding_error = 1e-6;
  double scale = 1;
  int digits = 0;

  while (digits < DECIMALS_MAX &&
         fabs(seconds * scale - nearbyint(seconds * scale)) > rounding_error) {
    scale *= 10;
    digits++;
  }
  return digits;
}

uint64_t bn_conf_get_event_limit(const struct bn_conf *c, uint64_t threads)
{
  const struct bn_conf_raw *r = &c->raw;

  return r->events_per_session != 0 ? (uint64_t)r->events_per_session * threads
                                    : (uint64_t)r->events;
}

static const char paused[] = ": events that are due at a rate do not wait for threads that pause";
static const char endless[] = ": threads that pause would not end; use --time";

/* The pairs are not traits of options, because a trait cannot name a second option
   (lint: option list). */
const struct bn_conf_pair bn_conf_exclusions[] = {
    {"rate-profile", "rate", ", which it replaces"},
    {"think-time", "rate", paused},
    {"think-time", "rate-profile", paused},
    {"events-per-session", "events", ""},
    {"threads-profile", "rate-profile", paused},
    {"threads-profile", "rate", paused},
    {"threads-profile", "events-per-session", endless},
    {"threads-profile", "events", endless},
    {NULL, NULL, NULL}};

enum { CONF_NUMBER = 32 };

/* Returns the text of a profile, or NULL if there is none.  In a group, "none" turns off a profile
   that stands outside of the groups. */
static const char *conf_find_profile(const char *text)
{
  return text != NULL && strcmp(text, "none") != 0 ? text : NULL;
}

/* Returns the value of an option of bn_conf_exclusions for a message, or "" for a number that no
   message shows.  Returns NULL if the value does not count: it is 0 or empty, or the default that
   --events has in 0.5 (lint: option list). */
static const char *conf_find_value(const struct bn_conf *c, const char *option,
                                   char number[CONF_NUMBER])
{
  const struct bn_conf_raw *r = &c->raw;
  const struct {
    const char *name, *value;
  } options[] = {{"rate", r->rate > 0 ? "" : NULL},
                 {"rate-profile", conf_find_profile(r->rate_profile)},
                 {"threads-profile", conf_find_profile(r->threads_profile)},
                 {"think-time", !bn_delay_is_none(&c->think) ? r->think_time : NULL},
                 {"events", r->events_given && r->events > 0 ? "" : NULL},
                 {"events-per-session", r->events_per_session != 0 ? number : NULL}};
  size_t i = 0;

  (void)snprintf(number, CONF_NUMBER, "%" PRId64, r->events_per_session);
  while (strcmp(options[i].name, option) != 0) /* all options of the pairs are listed */
    i++;
  return options[i].value;
}

bool bn_conf_uses(const struct bn_conf *c, const char *option)
{
  char number[CONF_NUMBER];

  return conf_find_value(c, option, number) != NULL;
}

/* Refuses the first pair of options that cannot be used together (bn_conf_exclusions).  Returns 0,
   or as conf_refuse does. */
static int conf_check_pairs(const struct finish *f)
{
  const struct bn_conf *c = f->conf;
  char reason[128], plain[64], number[CONF_NUMBER];

  for (const struct bn_conf_pair *pair = bn_conf_exclusions; pair->name != NULL; pair++) {
    if (!bn_conf_uses(c, pair->name) || !bn_conf_uses(c, pair->other))
      continue;
    (void)snprintf(reason, sizeof reason, "cannot be used with --%s%s", pair->other, pair->why);
    (void)snprintf(plain, sizeof plain, "--%s cannot be used with --%s", pair->name, pair->other);
    return conf_refuse(f, &(struct refusal){pair->name, reason, plain},
                       conf_find_value(c, pair->name, number));
  }
  return 0;
}

/* Refuses --rate-profile or --threads-profile for this reason.  Returns as conf_refuse does. */
static int conf_refuse_profile(const struct finish *f, enum bn_profile_of kind, const char *reason)
{
  const struct bn_conf *c = f->conf;
  const bool is_rate = kind == BN_PROFILE_RATE;
  const char *name = is_rate ? "rate-profile" : "threads-profile";
  char plain[BN_PROFILE_WRONG + 40];

  (void)snprintf(plain, sizeof plain, "Invalid value for --%s: %s", name, reason);
  return conf_refuse(f, &(struct refusal){name, reason, plain},
                     is_rate ? c->raw.rate_profile : c->raw.threads_profile);
}

/* Returns the mean rate of the profile, in events per second, from the end of the warm-up to the
   end of the run, or to the end of the phases if the run has no limit of time. */
static double conf_compute_mean_rate(const struct bn_conf *c)
{
  const struct bn_profile *p = &c->profile;
  const double from_s = c->raw.warmup_s, span_s = c->raw.time_s > 0 ? c->raw.time_s : p->span_s;

  return (bn_rate_curve_mass(p->piece, p->n_pieces, from_s + span_s) -
          bn_rate_curve_mass(p->piece, p->n_pieces, from_s)) /
         span_s;
}

/* Reads a profile, whose length is the time of the run unless --time is given.  A profile that ends
   with 0 is refused if there is no limit of time: the run would go on with this value, and never
   end.  Returns 0, or as conf_refuse does. */
static int conf_read_profile(const struct finish *f, enum bn_profile_of kind)
{
  struct bn_conf *c = f->conf;
  struct bn_conf_raw *r = &c->raw;
  const char *text = kind == BN_PROFILE_RATE ? r->rate_profile : r->threads_profile;
  char reason[BN_PROFILE_WRONG];

  if (bn_profile_parse(text, kind, r->warmup_s, &c->profile, reason) != 0)
    return conf_refuse_profile(f, kind, reason);
  if (!bn_optset_is_given(f->options, "time"))
    r->time_s = c->profile.span_s;
  if (r->time_s > 0 || c->profile.piece[c->profile.n_pieces - 1].end_rate > 0)
    return 0;
  (void)snprintf(reason, sizeof reason,
                 "ends with %s, so that a run without a time limit never ends; leave out --time=0",
                 kind == BN_PROFILE_RATE ? "the rate 0" : "no active thread");
  return conf_refuse_profile(f, kind, reason);
}

/* The functions conf_finish_… read an option and derive what the run needs of it.  They return 0,
   or as conf_refuse does. */

/* Reads --rate-profile, which must make an event due in the time of the run. */
static int conf_finish_rate_profile(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  const int rc = conf_read_profile(f, BN_PROFILE_RATE);

  if (rc != 0)
    return rc;
  c->plan.rate = conf_compute_mean_rate(c);
  if (c->plan.rate > 0)
    return 0;
  return conf_refuse_profile(f, BN_PROFILE_RATE, "makes no event due in the time of the run");
}

bool bn_conf_lists_hosts(const struct bn_conf *c)
{
  const struct bn_conf_raw *r = &c->raw;
  const bool has_list = r->hosts != NULL && r->hosts[0] != '\0';
  const bool has_file = r->hosts_file != NULL && r->hosts_file[0] != '\0';

  return has_list || has_file;
}

/* Returns the number of threads of this process.  --threads-total is that number if neither other
   hosts nor groups share in it. */
static int64_t conf_count_threads(const struct bn_conf *c)
{
  const bool is_total_shared = c->raw.groups.n > 0 || bn_conf_lists_hosts(c);
  const bool has_total = c->raw.threads_total > 0 && !is_total_shared;

  return has_total ? c->raw.threads_total : c->raw.threads;
}

/* Reads --threads-profile, whose peak is the number of threads unless --threads is given. */
static int conf_finish_threads_profile(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  char reason[96];
  const int rc = conf_read_profile(f, BN_PROFILE_THREADS);

  if (rc != 0)
    return rc;
  /* A sine that ends before its peak may have a fraction as its greatest value.  It is rounded to
     the nearest number, as by bn_active_count. */
  const double peak = floor(c->profile.most + 0.5);

  if (peak < 1)
    return conf_refuse_profile(f, BN_PROFILE_THREADS, "has no active thread at any time");
  if (!bn_optset_is_given(f->options, "threads"))
    c->raw.threads = (int64_t)peak;
  if (peak <= (double)conf_count_threads(c))
    return 0;
  (void)snprintf(reason, sizeof reason,
                 "has up to %.0f active threads, more than --threads=%" PRId64, peak,
                 conf_count_threads(c));
  return conf_refuse_profile(f, BN_PROFILE_THREADS, reason);
}

/* Reads the profile that the run has, if any; conf_check_pairs, the next step, refuses two.  The
   old one is freed, because the options are finished again if a script has set defaults. */
static int conf_finish_profile(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  bn_profile_done(&c->profile);
  c->plan.rate = c->raw.rate;
  if (bn_conf_uses(c, "threads-profile"))
    return conf_finish_threads_profile(f);
  if (bn_conf_uses(c, "rate-profile"))
    return conf_finish_rate_profile(f);
  return 0;
}

/* Derives the time between reports, and refuses a time of less than a millisecond. */
static int conf_finish_interval(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  static const struct refusal too_short = {
      "report-interval", "out of range; allowed: 0, or 0.001 or more seconds",
      "Invalid value for --report-interval: %s (at least 0.001 s)"};
  const double seconds = c->raw.report_interval_s;

  c->plan.interval_ns = conf_to_ns(seconds);
  c->plan.interval_decimals = conf_count_decimals(seconds);
  if (c->plan.interval_ns == 0 || c->plan.interval_ns >= BN_NSEC_PER_MSEC)
    return 0;
  return conf_refuse_number(f, &too_short, seconds);
}

/* Derives the threads, the limits and the other times of the run, and warns if it has no limit.  No
   value can be wrong: options have bounds, and the steps before have checked the rest. */
static int conf_finish_limits(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  struct bn_conf_raw *r = &c->raw;
  const int64_t threads = conf_count_threads(c);

  /* A limit for each session, or the time of a profile, replaces the default of --events in 0.5. */
  if (r->events_per_session != 0 || bn_conf_uses(c, "threads-profile"))
    r->events = 0;
  c->plan.events = bn_conf_get_event_limit(c, (uint64_t)threads);
  /* An exponential time without a maximum, whose mean is low_ns, is cut at ten times its mean, as
     in the order-entry benchmark, so that no thread pauses for the rest of a run. */
  if (isinf(c->think.high_ns))
    c->think.high_ns = 10 * c->think.low_ns;
  c->plan.threads = (unsigned)threads;
  c->connect_at_once = (unsigned)r->connect_at_once;
  /* More workers than threads are no fault, so that a sweep can vary --threads alone. */
  c->workers = (unsigned)(r->workers != 0 && r->workers < threads ? r->workers : threads);
  c->plan.time_ns = conf_to_ns(r->time_s);
  c->plan.warmup_ns = conf_to_ns(r->warmup_s);
  c->init_timeout_ns = conf_to_ns(r->thread_init_timeout_s);
  /* Each group warns for itself, because it may have a limit of its own. */
  if (c->plan.events == 0 && c->plan.time_ns == 0 && r->groups.n == 0)
    bn_log(BN_WARNING, "%s", c->policy->endless);
  return 0;
}

/* Returns whether the text is a whole number of up to nine digits, perhaps with '%' after it. */
static bool conf_is_time_or_percentage(const char *text)
{
  enum { DIGITS_MAX = 9 }; /* any such number fits into an int32_t */
  const size_t n_digits = strspn(text, "0123456789");
  const char *unit = text + n_digits;

  return n_digits > 0 && n_digits <= DIGITS_MAX && (unit[0] == '\0' || strcmp(unit, "%") == 0);
}

/* Returns the seconds of a text for which conf_is_time_or_percentage is true.  A percentage is that
   of the time limit, in some dialects with the warm-up, and is cut to whole seconds. */
static double conf_read_forced_seconds(const struct bn_conf *c, const char *text)
{
  const double number = strtod(text, NULL);
  uint64_t limit_ns = c->plan.time_ns;

  if (strchr(text, '%') == NULL)
    return number;
  if (c->policy->forced_shutdown_of_warmup)
    limit_ns += c->plan.warmup_ns;
  return floor((double)limit_ns / (double)BN_NSEC_PER_SEC * number / 100);
}

/* Reads --forced-shutdown: whole seconds, a percentage of the time limit, or off; without a value
   it is 5%. */
static int conf_finish_forced_shutdown(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  static const struct refusal not_a_time = {"forced-shutdown",
                                            "not a time; allowed: whole seconds, N%, off",
                                            "Invalid value for --forced-shutdown: '%s'"};
  static const struct refusal too_late = {"forced-shutdown",
                                          "out of range; allowed: up to 2147483647 seconds",
                                          "Invalid value for --forced-shutdown: '%s'"};
  const char *text = c->raw.forced_shutdown != NULL ? c->raw.forced_shutdown : "5%";
  const bool is_off = strcasecmp(text, "off") == 0;
  const bool is_malformed = !is_off && !conf_is_time_or_percentage(text);
  double seconds;

  c->plan.forced = c->plan.time_ns > 0 && !is_off;
  /* Without a time limit, sysbench does not read the text, so a dialect takes any text then. */
  if (is_malformed && (c->plan.forced || !c->policy->plain_errors))
    return conf_refuse(f, &not_a_time, text);
  if (!c->plan.forced)
    return 0;
  seconds = conf_read_forced_seconds(c, text);
  if (seconds > INT32_MAX) /* of a percentage: a text of seconds has at most nine digits */
    return conf_refuse(f, &too_late, text);
  c->plan.forced_ns = conf_to_ns(seconds);
  return 0;
}

/* Reads --time-grace: "auto" or a time. */
static int conf_finish_grace(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  static const struct refusal not_a_time = {
      "time-grace", "not a time; allowed: 0 or more seconds, also with ms, s, m or h, or auto",
      "Invalid value for --time-grace: '%s'"};
  const char *text = c->raw.time_grace != NULL ? c->raw.time_grace : "0";
  double seconds;

  c->grace_auto = strcasecmp(text, "auto") == 0;
  if (c->grace_auto)
    return 0;
  if (bn_units_parse_duration(text, &seconds) != 0 || seconds > INT32_MAX)
    return conf_refuse(f, &not_a_time, text);
  c->grace_ns = conf_to_ns(seconds);
  return 0;
}

/* Chooses the seed of the run, c->seed, which is 0 only in 0.5. */
static int conf_finish_seed(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  static const struct refusal both_given = {"rand-init", "cannot be used with --rand-seed",
                                            "Cannot set both --rand-init and --rand-seed"};
  /* 0.5 draws the same numbers in every run unless told otherwise. */
  const bool is_same_each_run = c->policy->same_seed_each_run && !c->plan.seed_from_timer;

  if (c->plan.seed_from_timer && c->plan.seed_typed != 0)
    return conf_refuse(f, &both_given, "on");
  c->plan.seed_given = c->plan.seed_typed != 0;
  c->seed = (uint64_t)c->plan.seed_typed;
  if (!c->plan.seed_given && !is_same_each_run)
    c->seed = bn_rng_entropy() % INT64_MAX + 1; /* a value that --rand-seed can have */
  return 0;
}

/* Sets the distribution of random numbers and its parameters. */
static int conf_finish_dist(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  static const struct refusal out_of_range = {"rand-pareto-h",
                                              "out of range; allowed: more than 0, less than 1",
                                              "Invalid value for --rand-pareto-h: %s"};
  static const double default_h = 0.2; /* sysbench uses it if the value is out of range */
  struct bn_conf_raw *r = &c->raw;
  const bool is_in_range = r->rand_pareto_h > 0 && r->rand_pareto_h < 1;

  if (!is_in_range && !c->policy->loose_values)
    return conf_refuse_number(f, &out_of_range, r->rand_pareto_h);
  if (!is_in_range)
    r->rand_pareto_h = default_h;
  c->dist = (struct bn_dist){.type = (enum bn_dist_type)r->rand_type,
                             .iterations = (unsigned)r->rand_spec_iter,
                             .special_pct = (unsigned)r->rand_spec_pct,
                             .special_res = (unsigned)r->rand_spec_res,
                             .pareto_h = r->rand_pareto_h,
                             .zipf_exp = r->rand_zipfian_exp};
  bn_dist_init(&c->dist);
  return 0;
}

static int conf_compare_u64(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

static int conf_compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Reads the times of --report-checkpoints, and sorts them. */
static int conf_finish_checkpoints(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  static const struct refusal too_many = {"report-checkpoints", "one too many; allowed: up to 256",
                                          "Too many checkpoints in --report-checkpoints (up to 256 "
                                          "can be defined)"};
  static const struct refusal no_time = {"report-checkpoints",
                                         "not a whole number of seconds; allowed: 0 or more",
                                         "Invalid value for --report-checkpoints: '%s'"};
  _Static_assert(BN_CHECKPOINTS_MAX == 256, "as in too_many");
  const struct bn_list *list = &c->raw.report_checkpoints;

  if (list->n > BN_CHECKPOINTS_MAX)
    return conf_refuse(f, &too_many, list->item[BN_CHECKPOINTS_MAX]);
  for (size_t i = 0; i < list->n; i++) {
    int64_t seconds;

    if (bn_units_parse_int(list->item[i], &seconds) != 0 || seconds < 0 || seconds > INT32_MAX)
      return conf_refuse(f, &no_time, list->item[i]);
    c->plan.checkpoint_ns[i] = (uint64_t)seconds * BN_NSEC_PER_SEC;
  }
  if (list->n > 0)
    qsort(c->plan.checkpoint_ns, list->n, sizeof c->plan.checkpoint_ns[0], conf_compare_u64);
  c->plan.n_checkpoints = list->n;
  return 0;
}

/* Returns whether both ranks of percentiles are the same but for rounding. */
static bool conf_is_same_rank(double a, double b)
{
  return fabs(a - b) < 1e-9;
}

/* Returns whether the plan has the percentile already, such as that of "95" for "95.0". */
static bool conf_has_percentile(const struct bn_conf *c, double rank)
{
  for (size_t i = 0; i < c->plan.n_percents; i++)
    if (conf_is_same_rank(c->plan.percents[i], rank))
      return true;
  return false;
}

/* Reads an item of --percentile.  0, which means no percentile, must be the only item; for it,
   sets *rank to exactly 0.  Returns 0 and *rank, or another number and the fault. */
static int conf_read_rank(const struct finish *f, const char *text, double *rank)
{
  const struct bn_conf *c = f->conf;
  static const char ranks[] = "; allowed: more than 0, at most 100, or 0 alone for none";
  char reason[96], plain[96];

  if (bn_units_parse_double(text, rank) != 0) {
    const struct refusal not_a_number = {"percentile", reason,
                                         "Invalid value for the 'percentile' option: '%s'"};

    (void)snprintf(reason, sizeof reason, "not a number%s", ranks);
    (void)conf_refuse(f, &not_a_number, text);
    f->fault->kind = BN_OPTSET_BAD; /* not RANGE: a dialect prints it on standard error */
    return (int)f->fault->kind;
  }
  const bool from_1 = c->policy->percentile_from_1;
  const bool is_zero = conf_is_same_rank(*rank, 0);
  const bool is_large_enough = from_1 ? *rank >= 1 : *rank > 0;

  if (is_zero && c->raw.percentile.n == 1 && !from_1) {
    *rank = 0;
    return 0;
  }
  if (is_large_enough && *rank <= 100)
    return 0;
  (void)snprintf(reason, sizeof reason, "out of range%s", ranks);
  (void)snprintf(plain, sizeof plain, "Invalid value for %s: %%s", c->policy->percentile_name);
  return conf_refuse(f, &(struct refusal){"percentile", reason, plain}, text);
}

/* Reads --percentile.  The first percentile stays the first, because a report with room for a
   single percentile shows that; the rest is sorted. */
static int conf_finish_percentiles(const struct finish *f)
{
  struct bn_conf *c = f->conf;
  static const struct refusal too_many = {"percentile", "one too many; allowed: up to 32",
                                          "Too many percentiles in --percentile (up to 32)"};
  static const struct refusal none_left = {"percentile", "cannot be used with --histogram",
                                           "--histogram cannot be used with --percentile=0"};
  _Static_assert(BN_PERCENTS_MAX == 32, "as in too_many");
  const struct bn_list *list = &c->raw.percentile;
  double rank = 0;

  c->plan.n_percents = 0;
  for (size_t i = 0; i < list->n; i++) {
    const int rc = conf_read_rank(f, list->item[i], &rank);

    if (rc != 0)
      return rc;
    if (rank <= 0)
      break; /* 0 is the only item: there are no percentiles */
    if (conf_has_percentile(c, rank))
      continue;
    if (c->plan.n_percents == BN_PERCENTS_MAX)
      return conf_refuse(f, &too_many, list->item[i]);
    c->plan.percents[c->plan.n_percents++] = rank;
  }
  if (c->plan.n_percents > 1)
    qsort(c->plan.percents + 1, c->plan.n_percents - 1, sizeof c->plan.percents[0],
          conf_compare_doubles);
  if (c->plan.histogram && c->plan.n_percents == 0)
    return conf_refuse(f, &none_left, "0");
  return 0;
}

int bn_conf_finish(struct bn_conf *c, const struct bn_optset *s, struct bn_optset_fault *fault)
{
  /* Steps use what earlier ones have derived: the limits use the length of a profile, and the
     forced shutdown uses the limit of time. */
  static int (*const steps[])(const struct finish *f) = {
      conf_finish_profile,         conf_check_pairs,       conf_finish_interval, conf_finish_limits,
      conf_finish_forced_shutdown, conf_finish_grace,      conf_finish_seed,     conf_finish_dist,
      conf_finish_checkpoints,     conf_finish_percentiles};
  const struct finish f = {.conf = c, .options = s, .fault = fault};
  int rc = 0;

  if (bn_optset_find_fault(s, fault))
    return (int)fault->kind;
  for (size_t i = 0; rc == 0 && i < sizeof steps / sizeof steps[0]; i++)
    rc = steps[i](&f);
  if (rc == 0 && c->plan.debug)
    c->raw.verbosity = BN_DEBUG;
  c->plan.version = c->policy->version;
  c->plan.native = bn_policy_is_native(c->policy);
  c->plan.verbosity = (int)c->raw.verbosity;
  return rc;
}

const char *const bn_conf_profiles[] = {"rate-profile", "threads-profile", NULL};

const char *bn_conf_format_rate(const struct bn_conf *c, char text[BN_CONF_RATE])
{
  if (c->profile.of == BN_PROFILE_RATE)
    return "--rate-profile";
  (void)snprintf(text, BN_CONF_RATE, "--rate=%.15g", c->plan.rate);
  return text;
}

bool bn_conf_has_pauses(const struct bn_conf *c)
{
  return !bn_delay_is_none(&c->think) || c->profile.of == BN_PROFILE_THREADS;
}

void bn_conf_done(struct bn_conf *c)
{
  bn_profile_done(&c->profile);
}
