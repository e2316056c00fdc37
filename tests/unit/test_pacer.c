/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrivals are Poisson, reproducible, follow ramps, and the replay counts what was due. */

#include "cm.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "engine/arrivals.h"
#include "option/profile.h"

enum { N = 200000 };

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double next_s(const struct bn_arrivals *a, uint64_t *position)
{
  return bn_arrivals_time(a, *position = bn_arrivals_next(a, *position));
}

/* The largest distance between the distribution of N sorted gaps and the exponential one. */
static double kolmogorov(double *gap, double rate)
{
  double ks = 0;

  qsort(gap, N, sizeof *gap, compare);
  for (size_t i = 0; i < N; i++) {
    const double f = -expm1(-gap[i] * rate);

    ks = fmax(ks, fmax(f - (double)i / N, (double)(i + 1) / N - f));
  }
  return ks;
}

/* Correlation of a gap with the one after it; of independent ones, 1 / sqrt(N) is its deviation. */
static double correlation(const double *gap, double mean)
{
  double with_next = 0, with_itself = 0;

  for (size_t i = 0; i + 1 < N; i++) {
    with_next += (gap[i] - mean) * (gap[i + 1] - mean);
    with_itself += (gap[i] - mean) * (gap[i] - mean);
  }
  return with_next / with_itself;
}

/* The asymptotic critical value of Kolmogorov's D at 1 % is sqrt(-ln(0.01 / 2) / 2) = 1.6276 /
   sqrt(n) (Massey, The Kolmogorov-Smirnov Test for Goodness of Fit, JASA 46, 1951, table 1).  The
   mean of N gaps deviates by 1 / sqrt(N) of itself; 3.291 deviations are passed once in a
   thousand. */
static void expect_poisson(double rate, uint64_t seed)
{
  const struct bn_rate_piece phase = {.start_rate = rate, .end_rate = rate};
  double *gap = calloc(N, sizeof *gap), last = 0;
  struct bn_arrivals a;
  uint64_t position = 0;

  assert_non_null(gap);
  bn_arrivals_init(&a, seed, &phase, 1);
  for (size_t i = 0; i < N; i++) {
    const double at = next_s(&a, &position);

    assert_true(at > last);
    gap[i] = at - last;
    last = at;
  }
  assert_true(fabs(last * rate / N - 1) < 3.291 / sqrt(N));
  assert_true(fabs(correlation(gap, last / N)) < 3.291 / sqrt(N));
  assert_true(kolmogorov(gap, rate) < 1.6276 / sqrt(N));
  free(gap);
}

static void gaps_are_exponential(void **state)
{
  static const double rates[] = {0.01, 10, 1000, 1e5, 1e6, 5e6};

  (void)state;
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
    expect_poisson(rates[i], 21 + i);
}

/* The number of arrivals in a second has a variance of its mean.  Of 2,000 seconds the ratio
   deviates by sqrt(2 / 2000) = 0.032; 2.576 of that are passed once in a hundred. */
static void counts_are_dispersed_as_poisson(void **state)
{
  enum { SECONDS = 2000 };
  const struct bn_rate_piece phase = {.start_rate = 100, .end_rate = 100};
  static unsigned count[SECONDS];
  struct bn_arrivals a;
  uint64_t position = 0;
  double sum = 0, squares = 0, at;

  (void)state;
  bn_arrivals_init(&a, 11, &phase, 1);
  while ((at = next_s(&a, &position)) < SECONDS)
    count[(size_t)at]++;
  for (size_t i = 0; i < SECONDS; i++) {
    sum += count[i];
    squares += (double)count[i] * count[i];
  }
  assert_true(fabs((squares - sum * sum / SECONDS) / (SECONDS - 1) / (sum / SECONDS) - 1) <
              2.576 * sqrt(2.0 / SECONDS));
}

/* Threads that claim at the same time get each arrival of the sequence once, in order of each. */
enum { CLAIMERS = 4, CLAIMS = 100000 };

struct claimer {
  struct bn_pacer *p;
  uint64_t at_ns[CLAIMS];
};

static void *claim_many(void *arg)
{
  struct claimer *c = arg;

  for (size_t i = 0; i < CLAIMS; i++)
    c->at_ns[i] = bn_pacer_claim(c->p);
  return NULL;
}

static int compare_ns(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

static void claims_of_threads_are_the_sequence(void **state)
{
  static struct claimer claimer[CLAIMERS];
  static uint64_t all[CLAIMERS * CLAIMS];
  pthread_t thread[CLAIMERS];
  struct bn_pacer p, alone;

  (void)state;
  bn_pacer_init_rate(&p, 21, 1e5);
  bn_pacer_init_rate(&alone, 21, 1e5);
  bn_pacer_start(&p, 1000);
  bn_pacer_start(&alone, 1000);
  for (size_t i = 0; i < CLAIMERS; i++) {
    claimer[i].p = &p;
    assert_int_equal(pthread_create(&thread[i], NULL, claim_many, &claimer[i]), 0);
  }
  for (size_t i = 0; i < CLAIMERS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (size_t k = 1; k < CLAIMS; k++)
      assert_true(claimer[i].at_ns[k] >= claimer[i].at_ns[k - 1]);
    memcpy(all + i * CLAIMS, claimer[i].at_ns, sizeof claimer[i].at_ns);
  }
  qsort(all, CLAIMERS * CLAIMS, sizeof *all, compare_ns);
  for (size_t k = 0; k < CLAIMERS * CLAIMS; k++)
    assert_int_equal(all[k], bn_pacer_claim(&alone));
  bn_pacer_done(&alone);
  bn_pacer_done(&p);
}

/* Constant gaps: at 4/s each quarter of a second, and at integers of the cumulative rate of a ramp
   from 0/s to 100/s in 10 s, which is 5 t^2.  A host that leads by half a gap is in between. */
static void constant_gaps_are_exact(void **state)
{
  static const struct bn_rate_piece ramp = {.end_rate = 100, .span_s = 10};
  struct bn_pacer p, leading, ramped;

  (void)state;
  bn_pacer_init_rate(&p, 1, 4);
  bn_pacer_make_constant(&p, 0);
  bn_pacer_init_rate(&leading, 1, 4);
  bn_pacer_make_constant(&leading, 0.5);
  bn_pacer_init(&ramped, 1, &ramp, 1);
  bn_pacer_make_constant(&ramped, 0);
  for (uint64_t n = 1; n <= 500; n++) {
    const double at_ns = sqrt((double)n / 5) * 1e9;

    assert_int_equal(bn_pacer_claim(&p), n * 250000000);
    assert_int_equal(bn_pacer_claim(&leading), n * 250000000 - 125000000);
    assert_true(fabs((double)bn_pacer_claim(&ramped) - at_ns) <= 1);
  }
  assert_int_equal(bn_pacer_count_passed(&p, UINT64_C(2249999999)), 8);
  assert_int_equal(bn_pacer_count_passed(&p, UINT64_C(2250000000)), 9);
  bn_pacer_done(&ramped);
  bn_pacer_done(&leading);
  bn_pacer_done(&p);
}

/* The last position is that of an arrival that never comes. */
static void positions_end(void **state)
{
  const struct bn_rate_piece phase = {.start_rate = 1000, .end_rate = 1000};
  struct bn_arrivals a;

  (void)state;
  bn_arrivals_init(&a, 3, &phase, 1);
  assert_true(bn_arrivals_next(&a, UINT64_MAX - 1) == UINT64_MAX);
  assert_true(bn_arrivals_next(&a, UINT64_MAX) == UINT64_MAX);
}

static void ramps_follow_the_cumulative_rate(void **state)
{
  /* 10 s from 100/s to 300/s, 5 s at 300/s, then 50/s: 2,000, 1,500 and 50 a second */
  struct bn_rate_piece phases[] = {{.start_rate = 100, .end_rate = 300, .span_s = 10},
                                   {.start_rate = 300, .end_rate = 300, .span_s = 5},
                                   {.start_rate = 50, .end_rate = 50}};
  struct bn_arrivals a;
  unsigned in_first = 0, first_half = 0, in_second = 0, after = 0, i, runs;
  uint64_t position;
  const unsigned repeats = 50;

  (void)state;
  bn_rate_curve_sum(phases, 3);
  for (runs = 0; runs < repeats; runs++) {
    bn_arrivals_init(&a, 100 + runs, phases, 3);
    position = 0;
    for (i = 0; i < 5000; i++) {
      const double at = next_s(&a, &position);

      first_half += at < 5;
      in_first += at < 10;
      in_second += at >= 10 && at < 15;
      after += at >= 15 && at < 25;
    }
  }
  assert_in_range(first_half, repeats * 750 - 1000, repeats * 750 + 1000);
  assert_in_range(in_first, repeats * 2000 - 1500, repeats * 2000 + 1500);
  assert_in_range(in_second, repeats * 1500 - 1200, repeats * 1500 + 1200);
  assert_in_range(after, repeats * 500 - 800, repeats * 500 + 800);
}

/* A profile with a ramp, a step, a wave and bursts: the number of events of each phase with
   constant gaps is the integral, but for the event at either end, and of random gaps within 4
   deviations. The pieces of the phases are those of the grammar. */
static void phases_have_their_events(void **state)
{
  static const char text[] = "ramp:0..5000/60s; hold:5000/20s; step:1000..5000+1000/5s; "
                             "sine:4000+-1000/30s for 75s; burst:20000/2s every 30s for 60s; "
                             "ramp:4000..0/10s";
  static const uint64_t end_s[] = {60, 80, 105, 180, 240, 250};
  static const double mass[] = {150000, 100000, 75000, 300000 + 1000 * 30 / M_PI, 304000, 20000};
  char wrong[BN_PROFILE_WRONG];
  struct bn_profile f;

  (void)state;
  assert_int_equal(bn_profile_parse(text, BN_PROFILE_RATE, 0, &f, wrong), 0);
  for (int constant = 0; constant < 2; constant++) {
    struct bn_pacer p;
    uint64_t at_ns, n = 0;

    bn_pacer_init(&p, 5, f.piece, f.n_pieces);
    if (constant)
      bn_pacer_make_constant(&p, 0.5);
    at_ns = bn_pacer_claim(&p);
    for (size_t i = 0; i < sizeof end_s / sizeof end_s[0]; i++, n = 0) {
      for (; at_ns < end_s[i] * BN_NSEC_PER_SEC; at_ns = bn_pacer_claim(&p))
        n++;
      assert_true(fabs((double)n - mass[i]) <
                  (constant ? 0.0002 * mass[i] + 1 : 4 * sqrt(mass[i])));
    }
    bn_pacer_done(&p);
  }
  bn_profile_done(&f);
}

/* Hosts with a quarter and three quarters of a profile have all of its events, in turns. */
static void hosts_share_a_profile(void **state)
{
  const struct bn_rate_piece ramp[] = {{.start_rate = 0, .end_rate = 800, .span_s = 10},
                                       {.end_rate = 0, .from_s = 10, .from_mass = 4000}};
  struct bn_pacer small, large;

  (void)state;
  bn_pacer_init(&small, 1, ramp, 2);
  bn_pacer_init(&large, 2, ramp, 2);
  bn_pacer_set_share(&small, 0.25);
  bn_pacer_set_share(&large, 0.75);
  bn_pacer_make_constant(&small, 0.125);
  bn_pacer_make_constant(&large, 0.625);
  assert_int_equal(bn_pacer_count_passed(&small, 5 * BN_NSEC_PER_SEC), 250);
  assert_int_equal(bn_pacer_count_passed(&large, 5 * BN_NSEC_PER_SEC), 750);
  assert_int_equal(bn_pacer_count_passed(&small, 100 * BN_NSEC_PER_SEC), 1000);
  assert_int_equal(bn_pacer_count_passed(&large, 100 * BN_NSEC_PER_SEC), 3000);
  bn_pacer_done(&large);
  bn_pacer_done(&small);
}

static void replay_counts_what_was_due(void **state)
{
  const struct bn_rate_piece phase = {.start_rate = 500, .end_rate = 500};
  struct bn_pacer p, q;
  uint64_t at = 0, claimed = 0;

  (void)state;
  bn_pacer_init(&p, 3, &phase, 1);
  bn_pacer_init(&q, 3, &phase, 1);
  bn_pacer_start(&p, 1000);
  bn_pacer_start(&q, 1000);
  while (at < 2000000000) {
    at = bn_pacer_claim(&p);
    assert_int_equal(at, bn_pacer_claim(&q)); /* a pure function of the seed */
    claimed++;
    assert_int_equal(bn_pacer_count_passed(&p, at), claimed);
  }
  bn_pacer_done(&p);
  bn_pacer_done(&q);
}

/* A rate that nobody can serve must not keep whoever counts the backlog from the report. */
static void hopeless_rates_are_estimated(void **state)
{
  const struct bn_rate_piece phase = {.start_rate = 1e12, .end_rate = 1e12};
  struct bn_pacer p;
  uint64_t at = 0, passed, last = 0;

  (void)state;
  bn_pacer_init(&p, 3, &phase, 1);
  bn_pacer_start(&p, 1000);
  for (at = 1000; at < UINT64_C(100000000000); at += UINT64_C(999999999)) {
    const double wanted = (double)(at - 1000) * 1e3;

    passed = bn_pacer_count_passed(&p, at);
    assert_true(passed >= last);
    assert_true(fabs((double)passed - wanted) <= 2000 + wanted * 1e-3); /* times are whole ns */
    last = passed;
  }
  bn_pacer_done(&p);
}

/* Five million arrivals in a pause are more than one call replays. */
static void the_count_is_exact_again_after_a_pause(void **state)
{
  const struct bn_rate_piece phase = {.start_rate = 1e6, .end_rate = 1e6};
  const uint64_t end_ns = 1000 + 7 * BN_NSEC_PER_SEC;
  struct bn_pacer p;
  uint64_t claimed = 0, passed;

  (void)state;
  bn_pacer_init(&p, 3, &phase, 1);
  bn_pacer_start(&p, 1000);
  assert_in_range(bn_pacer_count_passed(&p, 1000 + BN_NSEC_PER_SEC), 995000, 1005000);
  passed = bn_pacer_count_passed(&p, 1000 + 6 * BN_NSEC_PER_SEC);
  assert_in_range(passed, 5990000, 6010000);
  assert_true(bn_pacer_count_passed(&p, 1000 + 6 * BN_NSEC_PER_SEC) >= passed);
  while (bn_pacer_claim(&p) <= end_ns)
    claimed++;
  assert_int_equal(bn_pacer_count_passed(&p, end_ns), claimed);
  bn_pacer_done(&p);
}

/* What a replay from the start says is what was handed out. */
static void a_replay_tells_who_waits(void **state)
{
  const struct bn_rate_piece phase = {.start_rate = 1000, .end_rate = 1000};
  const uint64_t warm_ns = 1000 + BN_NSEC_PER_SEC, end_ns = 1000 + 3 * BN_NSEC_PER_SEC;
  struct bn_hist *ages = bn_hist_new();
  struct bn_pacer_due due;
  struct bn_pacer p;
  uint64_t before = 0, counted = 0, at, first_left = 0, oldest;

  (void)state;
  assert_non_null(ages);
  bn_pacer_init(&p, 3, &phase, 1);
  bn_pacer_start(&p, 1000);
  while ((at = bn_pacer_claim(&p)) <= end_ns) {
    before += at < warm_ns;
    counted += at >= warm_ns;
    if (before + counted == 2001)
      first_left = at;
  }
  due = bn_pacer_count_due(&p, warm_ns, end_ns);
  assert_true(due.warmup == before && due.counted == counted);
  oldest = bn_pacer_add_ages(&p, end_ns, 2000, before + counted - 2000, ages);
  assert_int_equal(oldest, end_ns - first_left);
  assert_int_equal(bn_hist_count(ages), before + counted - 2000);
  bn_pacer_done(&p);
  bn_hist_free(ages);
}

/* Two seconds of ten million arrivals, counted one by one. */
struct many {
  uint64_t warmup, cut, all; /* arrivals before from_ns, up to cut_ns and to_ns */
  uint64_t at_ns[3];         /* of the arrivals 101 and many_middle, and of the last */
};

static const uint64_t from_ns = 1000 + BN_NSEC_PER_SEC, cut_ns = from_ns + BN_NSEC_PER_SEC / 2,
                      to_ns = from_ns + 11 * BN_NSEC_PER_SEC / 10;
static const double many_rate = 1e7;
static const uint64_t many_middle = 20500000;

static struct many count_many(void)
{
  const struct bn_rate_piece phase = {.start_rate = many_rate, .end_rate = many_rate};
  struct many m = {0};
  struct bn_arrivals a;
  uint64_t at, position = 0;

  bn_arrivals_init(&a, 5, &phase, 1);
  while ((at = 1000 + (uint64_t)(next_s(&a, &position) * 1e9)) <= to_ns) {
    m.all++;
    m.warmup += at < from_ns;
    m.cut += at <= cut_ns;
    if (m.all == 101)
      m.at_ns[0] = at;
    if (m.all == many_middle)
      m.at_ns[1] = at;
    m.at_ns[2] = at;
  }
  return m;
}

static void expect_due(struct bn_pacer *p, uint64_t until_ns, uint64_t warmup, uint64_t all)
{
  const struct bn_pacer_due due = bn_pacer_count_due(p, from_ns, until_ns);

  assert_int_equal(due.warmup, warmup);
  assert_int_equal(due.counted, all - warmup);
  assert_false(due.estimated);
}

static void expect_ages(struct bn_pacer *p, uint64_t skip, uint64_t n, uint64_t first_ns)
{
  struct bn_hist *ages = bn_hist_new();
  uint64_t oldest = 1;

  assert_non_null(ages);
  oldest = bn_pacer_add_ages(p, to_ns, skip, n, ages);
  assert_int_equal(bn_hist_count(ages), n);
  assert_int_equal(oldest, to_ns - first_ns);
  for (unsigned percent = 10; percent < 100; percent += 10) {
    const double wanted = (double)oldest * percent / 100;

    assert_true(fabs((double)bn_hist_percentile(ages, percent) - wanted) < wanted * 0.01 + 1000);
  }
  bn_hist_free(ages);
}

static void many_arrivals_are_counted(void **state)
{
  const struct many m = count_many();
  struct bn_pacer p;

  (void)state;
  assert_in_range(m.all, 20990000, 21010000);
  bn_pacer_init_rate(&p, 5, many_rate);
  bn_pacer_start(&p, 1000);
  for (uint64_t at = 1000; at < to_ns; at += BN_NSEC_PER_SEC / 4)
    (void)bn_pacer_count_passed(&p, at);
  expect_due(&p, to_ns, m.warmup, m.all);
  expect_due(&p, cut_ns, m.warmup, m.cut); /* the replay has gone beyond it */
  assert_int_equal(bn_pacer_count_due(&p, 0, to_ns).counted, m.all);
  assert_int_equal(bn_pacer_count_passed(&p, to_ns), m.all);
  expect_ages(&p, many_middle - 1, m.all - many_middle + 1, m.at_ns[1]);
  expect_ages(&p, 100, m.all - 100, m.at_ns[0]); /* in groups */
  expect_ages(&p, m.all - 1, 1, m.at_ns[2]);
  bn_pacer_done(&p);
}

/* Each number of arrivals, whichever marks are left. */
static void marks_stay_exact(void **state)
{
  enum { ALL = 3 * BN_PACER_MARKS };
  static uint64_t at_ns[ALL + 1];
  struct bn_pacer p, q;

  (void)state;
  bn_pacer_init_rate(&p, 9, 1000);
  bn_pacer_init_rate(&q, 9, 1000);
  bn_pacer_start(&p, 1000);
  bn_pacer_start(&q, 1000);
  for (unsigned i = 0; i <= ALL; i++)
    at_ns[i] = bn_pacer_claim(&p);
  for (unsigned i = 0; i < ALL; i++) {
    struct bn_hist *ages = i % 64 == 0 ? bn_hist_new() : NULL;
    uint64_t oldest;

    assert_int_equal(bn_pacer_count_due(&q, 0, at_ns[i]).counted, i + 1);
    assert_int_equal(bn_pacer_count_due(&p, at_ns[ALL - i - 1], at_ns[ALL - 1]).counted, i + 1);
    if (ages != NULL) {
      oldest = bn_pacer_add_ages(&p, at_ns[ALL - 1], i, ALL - i, ages);
      assert_int_equal(oldest, at_ns[ALL - 1] - at_ns[i]);
      assert_int_equal(bn_hist_count(ages), ALL - i);
      bn_hist_free(ages);
    }
  }
  assert_true(p.step == 2 || p.step == 4);
  bn_pacer_done(&p);
  bn_pacer_done(&q);
}

/* Nobody waits a minute for a count. */
static void a_replay_without_end_is_estimated(void **state)
{
  const uint64_t warmup = UINT64_C(1000000000000), counted = UINT64_C(2000000000000);
  struct bn_hist *ages = bn_hist_new();
  struct bn_pacer_due due;
  struct bn_pacer p;
  uint64_t oldest = 1, youngest, end_ns = 3 * BN_NSEC_PER_SEC;

  (void)state;
  assert_non_null(ages);
  bn_pacer_init_rate(&p, 3, 1e12);
  bn_pacer_start(&p, 0);
  due = bn_pacer_count_due(&p, BN_NSEC_PER_SEC, end_ns);
  assert_true(due.estimated);
  assert_in_range(due.warmup, warmup - 1000, warmup); /* at the nanosecond before */
  assert_int_equal(due.warmup + due.counted, warmup + counted);
  oldest = bn_pacer_add_ages(&p, end_ns, due.warmup, due.counted, ages);
  assert_in_range(oldest, 2 * BN_NSEC_PER_SEC - 2, 2 * BN_NSEC_PER_SEC + 2);
  assert_int_equal(bn_hist_count(ages), due.counted);
  assert_true(bn_hist_bounds(ages, &youngest, &oldest) && youngest < BN_NSEC_PER_SEC / 1000);
  bn_hist_clear(ages);
  oldest = bn_pacer_add_ages(&p, end_ns, due.warmup, 10, ages);
  assert_in_range(oldest, 2 * BN_NSEC_PER_SEC - 2, 2 * BN_NSEC_PER_SEC + 2);
  assert_int_equal(bn_hist_count(ages), 10);
  oldest = bn_pacer_add_ages(&p, end_ns, 0, 0, ages);
  assert_true(oldest == 0 && bn_hist_count(ages) == 10);
  bn_pacer_done(&p);
  bn_hist_free(ages);
}

static void distant_arrivals_never_come(void **state)
{
  static const double rates[] = {1e-9, 1e-300, 5e-324};
  size_t i;

  (void)state;
  for (i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    const struct bn_rate_piece phase = {.start_rate = rates[i], .end_rate = rates[i]};
    struct bn_pacer p;

    bn_pacer_init(&p, 3, &phase, 1);
    bn_pacer_start(&p, 1000);
    assert_true(bn_pacer_claim(&p) > UINT64_C(1000000000000));
    assert_int_equal(bn_pacer_count_passed(&p, UINT64_C(1000000000000)), 0);
    bn_pacer_done(&p);
  }
}

/* due = started + dropped + queued, as far as there are tickets left. */
static void the_backlog_is_what_has_not_begun(void **state)
{
  (void)state;
  assert_int_equal(bn_pacer_count_queued(0, 0, UINT64_MAX), 0);
  assert_int_equal(bn_pacer_count_queued(100, 40, UINT64_MAX), 60);
  assert_int_equal(bn_pacer_count_queued(100, 40, 60), 60);
  assert_int_equal(bn_pacer_count_queued(100, 40, 7), 7);
  assert_int_equal(bn_pacer_count_queued(100, 40, 0), 0);
  assert_int_equal(bn_pacer_count_queued(40, 41, UINT64_MAX),
                   0); /* begun before the replay saw it */
}

/* Sleeping ends at the arrival, or at once when the limit is below it. */
static void sleep_ends_at_the_arrival_or_the_limit(void **state)
{
  struct bn_limit limit = {UINT64_MAX, UINT64_MAX};
  struct bn_pacer p;
  uint64_t began;

  (void)state;
  bn_pacer_init_rate(&p, 7, 1000);
  assert_int_equal(p.constant.start_rate, 1000);
  began = bn_clock_mono();
  assert_true(bn_pacer_sleep(&p, &limit, began + 5 * BN_NSEC_PER_MSEC));
  assert_true(bn_clock_mono() - began >= 5 * BN_NSEC_PER_MSEC);
  assert_true(bn_pacer_sleep(&p, &limit, began));
  atomic_store(&limit.until_ns, 0);
  bn_pacer_wake(&p);
  assert_false(bn_pacer_sleep(&p, &limit, began + 3600 * BN_NSEC_PER_SEC));
  bn_pacer_done(&p);
}

BN_TESTS(pacer)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_are_exponential),
      cmocka_unit_test(counts_are_dispersed_as_poisson),
      cmocka_unit_test(claims_of_threads_are_the_sequence),
      cmocka_unit_test(constant_gaps_are_exact),
      cmocka_unit_test(positions_end),
      cmocka_unit_test(ramps_follow_the_cumulative_rate),
      cmocka_unit_test(phases_have_their_events),
      cmocka_unit_test(hosts_share_a_profile),
      cmocka_unit_test(replay_counts_what_was_due),
      cmocka_unit_test(hopeless_rates_are_estimated),
      cmocka_unit_test(the_count_is_exact_again_after_a_pause),
      cmocka_unit_test(a_replay_tells_who_waits),
      cmocka_unit_test(many_arrivals_are_counted),
      cmocka_unit_test(marks_stay_exact),
      cmocka_unit_test(a_replay_without_end_is_estimated),
      cmocka_unit_test(distant_arrivals_never_come),
      cmocka_unit_test(the_backlog_is_what_has_not_begun),
      cmocka_unit_test(sleep_ends_at_the_arrival_or_the_limit),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
