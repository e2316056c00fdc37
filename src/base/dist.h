/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions of random integers over a given stream, and sequences without repetition. */
#ifndef BN_BASE_DIST_H
#define BN_BASE_DIST_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

enum bn_dist_type {
  BN_DIST_UNIFORM,
  BN_DIST_GAUSSIAN,
  BN_DIST_SPECIAL,
  BN_DIST_PARETO,
  BN_DIST_ZIPFIAN
};

/* Parameters, constant during a run; plain data, may be shared by all threads. */
struct bn_dist {
  enum bn_dist_type type; /* the distribution that bn_dist_default draws from */
  /* --rand-spec-iter: uniform numbers averaged by gaussian and special; >= 1 */
  unsigned iterations;
  unsigned special_pct;           /* --rand-spec-pct, 1..100 */
  unsigned special_res;           /* --rand-spec-res, 0..99 */
  double pareto_h;                /* 0 < h < 1 */
  double pareto_power;            /* ln h / ln(1 - h), set by bn_dist_init */
  double zipf_exp;                /* theta >= 0 */
  double zipf_first, zipf_accept; /* constants of the rejection method, set by bn_dist_init */
};

/* Names in the order of the enum, NULL-terminated: "uniform", "gaussian", … */
extern const char *const bn_dist_names[];

/* Fills the derived fields; call after setting the others and before any draw. */
void bn_dist_init(struct bn_dist *d);

/* Each returns an integer in [a, b] (a <= b; if a > b the two are swapped).  The whole 64-bit range
   is allowed: uniform reaches every integer of it, the other laws have 53 bits of resolution.  The
   laws are those of sysbench 1.x; gaussian and special use `iterations`, and bn_dist_default has
   the law of d->type. */
uint64_t bn_dist_default(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b);
uint64_t bn_dist_uniform(struct bn_rng *r, uint64_t a, uint64_t b);
uint64_t bn_dist_gaussian(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b);
uint64_t bn_dist_special(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b);
uint64_t bn_dist_pareto(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b);
uint64_t bn_dist_zipfian(const struct bn_dist *d, struct bn_rng *r, uint64_t a, uint64_t b);

/* Returns an exponential gap > 0 with mean 1, made of a uniform number of 64 bits. */
double bn_dist_exponential(uint64_t number);

/* Fills out[0..len) from the first len characters of a template: '#' becomes a digit, '@' a
   lower-case letter, and all else is copied.  Adds no terminator. */
void bn_dist_fill_template(struct bn_rng *r, const char *fmt, size_t len, char *out);
/* Fills out[0..len) with characters '0'..'z' (ASCII 48-122), uniform, without a terminator. */
void bn_dist_fill_varchars(struct bn_rng *r, char *out, size_t len);

/* Kinds of random texts, and the number of their characters. */
enum bn_dist_text { BN_DIST_ALNUM /* 62 */, BN_DIST_DIGITS /* 10 */, BN_DIST_LETTERS /* 52 */ };
/* Fills out[0..len) with characters of that kind, uniform and independent, without a terminator. */
void bn_dist_text(struct bn_rng *r, enum bn_dist_text kind, char *out, size_t len);

/* A permutation of the 32-bit integers (Preshing 2012), shared by all threads, and one of each
   other range; each draw takes the next.  The start is derived from the seed. */
struct bn_unique {
  _Atomic uint32_t index;
  uint32_t offset;
  uint64_t start;         /* of bn_unique_next_up_to: a share of the range, times 2^64; wraps */
  _Atomic uint64_t drawn; /* draws of bn_unique_next_up_to so far */
};
/* Seed 0 makes bn_unique_next_up_to return the numbers of sysbench 0.5. */
void bn_unique_init(struct bn_unique *u, uint64_t seed);
/* Moves the start on by that share of the whole sequence, 0 <= share < 1, so that processes with
   the same seed draw different numbers. */
void bn_unique_skip(struct bn_unique *u, double share);
/* Returns the next number.  Any thread. */
uint32_t bn_unique_next(struct bn_unique *u);
/* Returns the next number of a mixed order of 0..last.  If all draws are of one range, each number
   comes once before any repeats: the ranges share the number of draws.  Any thread. */
uint64_t bn_unique_next_up_to(struct bn_unique *u, uint64_t last);

#endif
