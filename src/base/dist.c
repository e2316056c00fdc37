/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions of random integers, string templates and the sequence without repetition. */
#include "base/dist.h"

#include <math.h>

const char *const bn_dist_names[] = {"uniform", "gaussian", "special", "pareto", "zipfian", NULL};

/* Returns log1p(x) / x, continued to 1 at 0.  With this function and the next, the zipfian formulas
   hold for every exponent, 1 included, without cancellation next to it. */
static double dist_log1p_over(double x)
{
  return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2;
}

/* Returns expm1(x) / x, continued to 1 at 0. */
static double dist_expm1_over(double x)
{
  return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2;
}

/* Returns H(x) = (x^(1 - theta) - 1) / (1 - theta), ln x for theta = 1: dist_zipf_weight
   integrated. */
static double dist_zipf_integral(double theta, double x)
{
  const double l = log(x);

  return dist_expm1_over((1 - theta) * l) * l;
}

/* Returns the x for which dist_zipf_integral(theta, x) is y. */
static double dist_zipf_inverse(double theta, double y)
{
  const double t = fmax((1 - theta) * y, -1); /* rounding may go below the pole */

  return exp(dist_log1p_over(t) * y);
}

/* Returns x^-theta, the relative frequency of the integer x. */
static double dist_zipf_weight(double theta, double x)
{
  return exp(-theta * log(x));
}

void bn_dist_init(struct bn_dist *d)
{
  const double theta = d->zipf_exp;

  d->pareto_power = log(d->pareto_h) / log(1 - d->pareto_h);
  /* The part of the integral that selects the integer 1 ends at 1.5 and is as long as its weight,
     which is 1.  bn_dist_zipfian says how both numbers are used. */
  d->zipf_first = dist_zipf_integral(theta, 1.5) - 1;
  d->zipf_accept =
      2 - dist_zipf_inverse(theta, dist_zipf_integral(theta, 2.5) - dist_zipf_weight(theta, 2));
}

/* Swaps the bounds if the first is the greater one. */
static void dist_sort_bounds(uint64_t *a, uint64_t *b)
{
  if (*a > *b) {
    const uint64_t t = *a;

    *a = *b;
    *b = t;
  }
}

/* Returns floor(x), or span if that is less: rounding may bring x past span, up to 2^64. */
static uint64_t dist_clamp_offset(double x, uint64_t span)
{
  return x >= (double)span ? span : (uint64_t)x;
}

static double dist_mean_of_uniforms(const struct bn_dist *d, struct bn_rng *r)
{
  double sum = 0;

  for (unsigned i = 0; i < d->iterations; i++)
    sum += bn_rng_double(r);
  return sum / d->iterations;
}

uint64_t bn_dist_default(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b)
{
  switch (d->type) {
  case BN_DIST_GAUSSIAN:
    return bn_dist_gaussian(d, r, a, b);
  case BN_DIST_SPECIAL:
    return bn_dist_special(d, r, a, b);
  case BN_DIST_PARETO:
    return bn_dist_pareto(d, r, a, b);
  case BN_DIST_ZIPFIAN:
    return bn_dist_zipfian(d, r, a, b);
  case BN_DIST_UNIFORM:
  default:
    return bn_dist_uniform(r, a, b);
  }
}

uint64_t bn_dist_uniform(struct bn_rng *r, uint64_t a, uint64_t b)
{
  dist_sort_bounds(&a, &b);
  if (b - a == UINT64_MAX) /* 2^64 integers, a number that bn_rng_below cannot take */
    return bn_rng_next(r);
  return a + bn_rng_below(r, b - a + 1);
}

uint64_t bn_dist_gaussian(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b)
{
  dist_sort_bounds(&a, &b);
  return a + dist_clamp_offset(dist_mean_of_uniforms(d, r) * ((double)(b - a) + 1), b - a);
}

/* u chooses between the whole range and the band in its middle.  In the band, the same u also
   places the value, so that only the upper part of the band is hit: this is sysbench's law, kept
   because published scores depend on it. */
uint64_t bn_dist_special(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b)
{
  dist_sort_bounds(&a, &b);
  const double span = (double)(b - a);
  const double u = bn_rng_double(r);

  if (u * 100 < 100.0 - d->special_res && b > a)
    return a + dist_clamp_offset(span * dist_mean_of_uniforms(d, r), b - a);
  const double band_span = span * d->special_pct / 100;
  const double band_low = span / 2 - band_span / 2;

  return a + dist_clamp_offset(band_low + u * (band_span + 1), b - a);
}

uint64_t bn_dist_pareto(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b)
{
  dist_sort_bounds(&a, &b);
  return a +
         dist_clamp_offset(pow(bn_rng_double(r), d->pareto_power) * ((double)(b - a) + 1), b - a);
}

/* Rejection inversion (Hörmann and Derflinger 1996): a uniform point u of the integral of the
   weight selects x, which rounds to the integer k.  The point counts for k if k is at most
   zipf_accept above x, or if the point lies within the weight of k; else another one is drawn. */
uint64_t bn_dist_zipfian(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b)
{
  dist_sort_bounds(&a, &b);
  const double theta = d->zipf_exp;
  const double n = (double)(b - a) + 1;
  const double end = dist_zipf_integral(theta, n + 0.5);

  for (;;) {
    const double u = end + bn_rng_double(r) * (d->zipf_first - end);
    const double x = dist_zipf_inverse(theta, u);
    const double k = fmin(fmax(floor(x + 0.5), 1), n);

    if (k - x <= d->zipf_accept ||
        u >= dist_zipf_integral(theta, k + 0.5) - dist_zipf_weight(theta, k))
      return a + dist_clamp_offset(k - 1, b - a);
  }
}

/* The upper 52 bits choose one of 2^52 equal parts of (0, 1).  The middle of a part is neither 0
   nor 1, so that the gap is neither infinite nor 0. */
double bn_dist_exponential(uint64_t number)
{
  return -log(((double)(number >> 12) + 0.5) * 0x1.0p-52);
}

/* Returns the first digit after the point, to the given base, of *fraction / 2^64, and removes it
   from the fraction. */
static unsigned dist_take_digit(uint64_t *fraction, unsigned base)
{
  const unsigned __int128 product = (unsigned __int128)*fraction * base;

  *fraction = (uint64_t)product;
  return (unsigned)(product >> 64);
}

/* A random number of 64 bits serves several characters: after six of 75 kinds, the chances of the
   characters differ by less than one part in 2^26. */
enum { CHARS_PER_DRAW = 6 };

void bn_dist_fill_template(struct bn_rng *r, const char *fmt, size_t len, char *out)
{
  uint64_t fraction = 0;
  unsigned remaining = 0; /* characters that the fraction still serves */

  for (size_t i = 0; i < len; i++) {
    if (fmt[i] != '#' && fmt[i] != '@') {
      out[i] = fmt[i];
      continue;
    }
    if (remaining == 0) {
      fraction = bn_rng_next(r);
      remaining = CHARS_PER_DRAW;
    }
    remaining--;
    out[i] = (char)(fmt[i] == '#' ? '0' + dist_take_digit(&fraction, 10)
                                  : 'a' + dist_take_digit(&fraction, 26));
  }
}

void bn_dist_fill_varchars(struct bn_rng *r, char *out, size_t len)
{
  uint64_t fraction = 0;

  for (size_t i = 0; i < len; i++) {
    if (i % CHARS_PER_DRAW == 0)
      fraction = bn_rng_next(r);
    out[i] = (char)('0' + dist_take_digit(&fraction, 'z' - '0' + 1));
  }
}

void bn_dist_text(struct bn_rng *r, enum bn_dist_text kind, char *out, size_t len)
{
  static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  enum { N_LETTERS = 2 * 26, N_DIGITS = 10 };
  /* The characters of each kind are n of `all`, from this index on. */
  static const struct {
    unsigned from, n;
  } part[] = {[BN_DIST_ALNUM] = {0, N_LETTERS + N_DIGITS},
              [BN_DIST_DIGITS] = {N_LETTERS, N_DIGITS},
              [BN_DIST_LETTERS] = {0, N_LETTERS}};
  const char *chars = all + part[kind].from;
  const unsigned n_chars = part[kind].n;
  size_t i = 0;

  /* Draws do not depend on each other's characters, so the processor overlaps them. */
  for (; len - i >= CHARS_PER_DRAW; i += CHARS_PER_DRAW) {
    uint64_t fraction = bn_rng_next(r);

    for (unsigned k = 0; k < CHARS_PER_DRAW; k++)
      out[i + k] = chars[dist_take_digit(&fraction, n_chars)];
  }
  uint64_t fraction = i < len ? bn_rng_next(r) : 0; /* for the rest, fewer than a draw serves */

  for (; i < len; i++)
    out[i] = chars[dist_take_digit(&fraction, n_chars)];
}

/* Maps the 32-bit integers one to one: x^2 modulo a prime that is 3 modulo 4 gives each residue
   twice, once from either half of the range; the few numbers above the prime stay. */
static uint32_t dist_permute(uint32_t x)
{
  const uint32_t prime = UINT32_C(4294967291); /* the greatest one below 2^32 */

  if (x >= prime)
    return x;
  const uint32_t residue = (uint32_t)((uint64_t)x * x % prime);

  return x <= prime / 2 ? residue : prime - residue;
}

void bn_unique_init(struct bn_unique *u, uint64_t seed)
{
  struct bn_rng r;

  bn_rng_seed(&r, seed, BN_RNG_UNIQUE, 0);
  atomic_init(&u->index, (uint32_t)(bn_rng_next(&r) >> 32));
  u->offset = (uint32_t)(bn_rng_next(&r) >> 32);
  u->start = seed != 0 ? bn_rng_next(&r) : 0;
  atomic_init(&u->drawn, 0);
}

void bn_unique_skip(struct bn_unique *u, double share)
{
  (void)atomic_fetch_add_explicit(&u->index, (uint32_t)(share * 0x1p32), memory_order_relaxed);
  u->start += (uint64_t)(share * 0x1p64);
}

/* The constant is that of Preshing's sequence. */
uint32_t bn_unique_next(struct bn_unique *u)
{
  const uint32_t i = atomic_fetch_add_explicit(&u->index, 1, memory_order_relaxed);

  return dist_permute((dist_permute(i) + u->offset) ^ UINT32_C(0x5bf03635));
}

uint64_t bn_unique_next_up_to(struct bn_unique *u, uint64_t last)
{
  /* The factor of 0.5.  It is prime, so it permutes every range that is not a multiple of it. */
  enum { FACTOR = 2147483647 };
  const unsigned __int128 range = (unsigned __int128)last + 1;
  const uint64_t drawn = atomic_fetch_add_explicit(&u->drawn, 1, memory_order_relaxed);
  const unsigned __int128 position = (range * u->start >> 64) + drawn + 1;

  return (uint64_t)(position * (range % FACTOR != 0 ? FACTOR : 1) % range);
}
