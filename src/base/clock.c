/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrates the TSC against CLOCK_MONOTONIC, and serves readers whose fit has run out. */
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
  CALIBRATE_NS = 2000000, /* gives a rate within a few ppm, if samples are good to about 5 ns */
  INIT_TRIES = 4,         /* calibrations before the vdso is taken */
  INIT_WIDTH_NS = 1000,   /* looser samples than this do not calibrate anything */
  INIT_ROUNDS = 64,       /* readings per sample; the tightest counts */
  REFIT_ROUNDS = 16,
  READER_ROUNDS = 4,
  HORIZON_NS = 1500000000, /* refits come once a second: every fit is replaced in time */
  SLACK_NS = 2000,         /* error that samples and slewing add, in the 50 ppm rule */
  BASELINE = 100000        /* a rate is taken over this many times the width of the sample */
};
#define MAX_PPM 50.0

/* Both clocks at the same instant, known to within `width` ticks. */
struct sample {
  uint64_t ticks, ns, width;
};

/* The fit that selects the vdso for good.  Its base_ns is no lower bound: each reader knows that of
   its own results. */
static const struct bn_clock_fit vdso_fit = {.horizon = 0};

static inline uint64_t clock_read(clockid_t clock)
{
  struct timespec t;

  (void)clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * BN_NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t bn_clock_mono(void)
{
  return clock_read(CLOCK_MONOTONIC);
}

uint64_t bn_clock_wall(void)
{
  return clock_read(CLOCK_REALTIME);
}

void bn_clock_sleep_until(uint64_t ns)
{
  const struct timespec t = bn_clock_to_timespec(ns);

  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
    continue;
}

/* Reads CLOCK_MONOTONIC between two reads of the counter, `rounds` times.  Returns the reading
   whose two counter reads are closest together, because nothing has interrupted it. */
static struct sample clock_take_sample(unsigned rounds)
{
  struct sample best = {.width = UINT64_MAX};

  for (unsigned i = 0; i < rounds; i++) {
    const uint64_t before = bn_clock_ticks();
    const uint64_t ns = bn_clock_mono();
    const uint64_t width = bn_clock_ticks() - before;

    if (width < best.width)
      best = (struct sample){.ticks = before + width / 2, .ns = ns, .width = width};
  }
  return best;
}

static uint64_t clock_ticks_to_ns(uint64_t ticks, uint64_t mult)
{
  return (uint64_t)(((unsigned __int128)ticks * mult) >> 32);
}

static uint64_t clock_ns_to_ticks(uint64_t ns, uint64_t mult)
{
  return (uint64_t)(((unsigned __int128)ns << 32) / mult);
}

/* Returns the nanoseconds of one tick in 32.32 fixed point, as `mult` of a fit has them. */
static uint64_t clock_compute_mult(uint64_t ns, uint64_t ticks)
{
  return (uint64_t)(((unsigned __int128)ns << 32) / ticks);
}

/* Returns the time that the fit gives for a counter of `ticks`, which is not before its base. */
static uint64_t clock_fit_ns_at(const struct bn_clock_fit *f, uint64_t ticks)
{
  return f->base_ns + clock_ticks_to_ns(ticks - f->base_ticks, f->mult);
}

/* Returns the ticks since base.  The counter is read out of order with the loads around it, so it
   may seem to be shortly before a base just published: less than a horizon before it counts as 0.
   A counter that was set back further seems to be far ahead of base, since the difference wraps. */
static uint64_t clock_ticks_since(uint64_t base, uint64_t ticks, uint64_t horizon)
{
  return base - ticks < horizon ? 0 : ticks - base;
}

/* Returns a line from (ticks, from_ns) that meets the line (ticks, to_ns, mult) one horizon later.
   The caller has made sure that the two are less than half a horizon apart, so that the result
   rises too. */
static struct bn_clock_fit clock_slew(uint64_t ticks, uint64_t from_ns, uint64_t to_ns,
                                      uint64_t mult)
{
  const uint64_t span = clock_ns_to_ticks(HORIZON_NS, mult);
  const uint64_t gap = from_ns > to_ns ? from_ns - to_ns : to_ns - from_ns;
  const uint64_t tilt = clock_compute_mult(gap, span);

  return (struct bn_clock_fit){.base_ticks = ticks,
                               .base_ns = from_ns,
                               .mult = from_ns > to_ns ? mult - tilt : mult + tilt,
                               .horizon = span};
}

/* Returns whether the fit no longer agrees with CLOCK_MONOTONIC: the counter was stopped or set, or
   the fit is off by more than MAX_PPM of the time since it began, besides the error of a sample. */
static bool clock_is_off(const struct bn_clock_fit *f, const struct sample *s)
{
  if (s->ticks <= f->base_ticks)
    return true;
  const double elapsed_ns = (double)clock_ticks_to_ns(s->ticks - f->base_ticks, f->mult);
  const double off_ns = fabs((double)(int64_t)(clock_fit_ns_at(f, s->ticks) - s->ns));
  const double error_ns = (double)clock_ticks_to_ns(s->width, f->mult) / 2 + SLACK_NS;

  /* clock_slew bridges less than half a horizon. */
  return off_ns > error_ns + elapsed_ns * MAX_PPM / 1e6 || off_ns > HORIZON_NS / 2.0;
}

/* Returns whether a sample is too loose for a rate over the last `span` ticks before it. */
static bool clock_is_loose(const struct sample *s, uint64_t span)
{
  return span / BASELINE < s->width;
}

/* Replaces the published fit.  The sequence lock has no fences, so that ThreadSanitizer can follow
   it.  The release stores here pair with the acquire loads of clock_fetch: a reader of a new field
   sees the odd number. */
static void clock_publish(struct bn_clock *c, const struct bn_clock_fit *f)
{
  const uint32_t seq = atomic_load_explicit(&c->seq, memory_order_relaxed);

  atomic_store_explicit(&c->seq, seq + 1, memory_order_relaxed);
  atomic_store_explicit(&c->base_ticks, f->base_ticks, memory_order_release);
  atomic_store_explicit(&c->base_ns, f->base_ns, memory_order_release);
  atomic_store_explicit(&c->mult, f->mult, memory_order_release);
  atomic_store_explicit(&c->horizon, f->horizon, memory_order_release);
  atomic_store_explicit(&c->seq, seq + 2, memory_order_release);
}

/* Returns the published fit, of which no field is older or newer than the others. */
static struct bn_clock_fit clock_fetch(struct bn_clock *c)
{
  for (;;) {
    const uint32_t seq = atomic_load_explicit(&c->seq, memory_order_acquire);
    const struct bn_clock_fit f = {
        .base_ticks = atomic_load_explicit(&c->base_ticks, memory_order_acquire),
        .base_ns = atomic_load_explicit(&c->base_ns, memory_order_acquire),
        .mult = atomic_load_explicit(&c->mult, memory_order_acquire),
        .horizon = atomic_load_explicit(&c->horizon, memory_order_acquire)};

    if (seq % 2 == 0 && seq == atomic_load_explicit(&c->seq, memory_order_relaxed))
      return f;
    sched_yield(); /* the writer was interrupted between its five stores */
  }
}

/* Returns whether the kernel itself tells the time by the TSC: it has found the TSCs of all CPUs to
   agree. */
static bool clock_kernel_runs_on_tsc(void)
{
  char name[32] = "";
  FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

  if (f == NULL)
    return false;
  if (fgets(name, sizeof name, f) == NULL)
    name[0] = '\0';
  (void)fclose(f);
  return strcmp(name, "tsc\n") == 0;
}

/* Returns whether a blank-separated list contains the word. */
static bool clock_has_word(const char *list, const char *word)
{
  const size_t len = strlen(word);

  for (const char *p = strstr(list, word); p != NULL; p = strstr(p + len, word)) {
    const bool begins_word = p == list || p[-1] == ' ' || p[-1] == '\t';
    const bool ends_word = p[len] == ' ' || p[len] == '\n';

    if (begins_word && ends_word)
      return true;
  }
  return false;
}

/* Returns whether the TSC of the first CPU has one rate in all states of the CPU.  All CPUs are
   taken to be alike. */
static bool clock_tsc_rate_is_constant(void)
{
  char line[8192]; /* the flags line has about 1,500 characters today */
  bool is_flags = false;
  FILE *f = fopen("/proc/cpuinfo", "re");

  if (f == NULL)
    return false;
  while (!is_flags && fgets(line, sizeof line, f) != NULL)
    is_flags = strncmp(line, "flags", strlen("flags")) == 0;
  (void)fclose(f);
  return is_flags && clock_has_word(line, "constant_tsc") && clock_has_word(line, "nonstop_tsc");
}

/* Returns whether the TSC is to be calibrated. */
static bool clock_wants_tsc(enum bn_clock_choice choice)
{
  if (!BN_CLOCK_HAS_TSC || choice == BN_CLOCK_VDSO)
    return false;
  return choice == BN_CLOCK_TSC || (clock_kernel_runs_on_tsc() && clock_tsc_rate_is_constant());
}

/* Makes the first fit, over CALIBRATE_NS.  Returns false, and leaves *fit alone, if the samples are
   too loose for a fit. */
static bool clock_calibrate(struct bn_clock *c, struct bn_clock_fit *fit)
{
  const struct sample first = clock_take_sample(INIT_ROUNDS);

  bn_clock_sleep_until(first.ns + CALIBRATE_NS);
  const struct sample last = clock_take_sample(INIT_ROUNDS);

  if (last.ticks <= first.ticks || last.ns <= first.ns)
    return false;
  const uint64_t mult = clock_compute_mult(last.ns - first.ns, last.ticks - first.ticks);

  if (mult == 0 || clock_ticks_to_ns(first.width, mult) > INIT_WIDTH_NS ||
      clock_ticks_to_ns(last.width, mult) > INIT_WIDTH_NS)
    return false;
  c->sample_ticks = first.ticks; /* the first refit takes its rate from here on */
  c->sample_ns = first.ns;
  *fit = clock_slew(last.ticks, last.ns, last.ns, mult);
  return true;
}

void bn_clock_init(struct bn_clock *c, enum bn_clock_choice choice)
{
  struct bn_clock_fit fit = vdso_fit; /* unless a calibration replaces it */

  *c = (struct bn_clock){0};
  if (clock_wants_tsc(choice))
    for (int i = 0; i < INIT_TRIES && !clock_calibrate(c, &fit); i++)
      continue;
  clock_publish(c, &fit);
}

const char *bn_clock_name(const struct bn_clock *c)
{
  return atomic_load_explicit(&c->horizon, memory_order_relaxed) != 0 ? "tsc" : "vdso";
}

void bn_clock_refit(struct bn_clock *c)
{
  const struct bn_clock_fit old = clock_fetch(c);

  if (old.horizon == 0) /* the vdso is in use */
    return;
  const struct sample s = clock_take_sample(REFIT_ROUNDS);

  if (clock_is_off(&old, &s)) {
    clock_publish(c, &vdso_fit);
    return;
  }
  /* Soon after the sample before, or with a wide sample, the old fit is better than a new one. */
  if (clock_is_loose(&s, s.ticks - c->sample_ticks))
    return;
  const uint64_t mult = clock_compute_mult(s.ns - c->sample_ns, s.ticks - c->sample_ticks);
  /* The new fit begins at the time that the old one gives now, so that no reader steps back. */
  const struct bn_clock_fit fit = clock_slew(s.ticks, clock_fit_ns_at(&old, s.ticks), s.ns, mult);

  clock_publish(c, &fit);
  c->sample_ticks = s.ticks;
  c->sample_ns = s.ns;
}

/* Returns a lower bound for the next result of r: none of its earlier results can be larger,
   because r used its fit for no longer than the horizon. */
static uint64_t clock_reader_floor(const struct bn_clock_reader *r, uint64_t ticks)
{
  const struct bn_clock_fit *f = &r->fit;
  const uint64_t since_base = clock_ticks_since(f->base_ticks, ticks, f->horizon);

  return f->base_ns + clock_ticks_to_ns(since_base < f->horizon ? since_base : f->horizon, f->mult);
}

/* Switches the reader to the vdso for good, with `floor_ns` as the lower bound of its results.
   Returns the time. */
static uint64_t clock_use_vdso(struct bn_clock_reader *r, uint64_t floor_ns)
{
  const uint64_t now_ns = bn_clock_mono();

  r->fit = (struct bn_clock_fit){.base_ns = floor_ns};
  return bn_clock_max(now_ns, floor_ns);
}

/* Returns the published fit while it holds.  If it has run out, because no thread refits, returns a
   fit that begins at a fresh sample.  Its rate is that since the published fit began, or the rate
   of the published fit if the sample is too loose.  Returns vdso_fit if the TSC can no longer be
   used. */
static struct bn_clock_fit clock_next_fit(struct bn_clock *c)
{
  const struct bn_clock_fit fit = clock_fetch(c);

  if (fit.horizon == 0) /* the vdso is in use */
    return fit;
  if (clock_ticks_since(fit.base_ticks, bn_clock_ticks(), fit.horizon) < fit.horizon)
    return fit;
  const struct sample s = clock_take_sample(READER_ROUNDS);

  if (clock_is_off(&fit, &s))
    return vdso_fit;
  const uint64_t span = s.ticks - fit.base_ticks;
  const uint64_t mult =
      clock_is_loose(&s, span) ? fit.mult : clock_compute_mult(s.ns - fit.base_ns, span);

  return clock_slew(s.ticks, s.ns, s.ns, mult);
}

/* Serves readers of the vdso, and readers whose fit has run out, which get another one or
   the vdso. */
uint64_t bn_clock_now_slow(struct bn_clock_reader *r)
{
  if (r->fit.horizon == 0)
    return clock_use_vdso(r, r->fit.base_ns);

  const uint64_t floor_ns = clock_reader_floor(r, bn_clock_ticks());
  const struct bn_clock_fit fit = clock_next_fit(r->clock);

  if (fit.horizon == 0)
    return clock_use_vdso(r, floor_ns);
  const uint64_t ticks = bn_clock_ticks();
  const uint64_t since_base = clock_ticks_since(fit.base_ticks, ticks, fit.horizon);
  const uint64_t published_ns = fit.base_ns + clock_ticks_to_ns(since_base, fit.mult);

  if (published_ns >= floor_ns) {
    r->fit = fit;
    return published_ns;
  }
  if (floor_ns - published_ns > HORIZON_NS / 2) /* clock_slew bridges less than that */
    return clock_use_vdso(r, floor_ns);
  /* This reader is ahead of the published fit.  Its own fit runs slower until both meet, and holds
     no longer than the published one, so that the reader fetches the next fit in time. */
  r->fit = clock_slew(ticks, floor_ns, published_ns, fit.mult);
  if (since_base + 1 < fit.horizon)
    r->fit.horizon = fit.horizon - since_base;
  return floor_ns;
}

void bn_clock_reader_init(struct bn_clock_reader *r, struct bn_clock *c)
{
  *r = (struct bn_clock_reader){.fit = clock_fetch(c), .clock = c};
}
