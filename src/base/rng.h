/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xoroshiro128+ streams (Blackman and Vigna 2016, constants 55/14/36), seeded by (seed, purpose,
   id). */
#ifndef BN_BASE_RNG_H
#define BN_BASE_RNG_H

#include <stdint.h>

/* A stream; owned and used by one thread at a time. */
struct bn_rng {
  uint64_t s[2];
};

/* The purpose of a stream.  Streams of different purposes never share numbers, so that measuring
   options cannot change the numbers that a workload draws. */
enum bn_rng_purpose {
  BN_RNG_WORKLOAD = 1,
  BN_RNG_PACER,
  BN_RNG_UNIQUE,
  BN_RNG_COMMAND,
  BN_RNG_DATA,
  BN_RNG_STUDY,
  BN_RNG_THINK,
  BN_RNG_MIX
};

/* The output function of SplitMix64 (Steele, Lea and Flood 2014): a bijection of 64 bits in which
   every input bit changes every output bit with probability one half. */
static inline uint64_t bn_rng_mix(uint64_t x)
{
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Derives the state with SplitMix64 over (seed, purpose, id); full 64 bits, never all zero. */
void bn_rng_seed(struct bn_rng *r, uint64_t seed, enum bn_rng_purpose purpose, uint64_t id);
/* Returns a seed for runs without --rand-seed: from getrandom, or else from time and pid. */
uint64_t bn_rng_entropy(void);

/* Returns the next 64 bits of the stream. */
static inline uint64_t bn_rng_next(struct bn_rng *r)
{
  const uint64_t a = r->s[0];
  uint64_t b = r->s[1];
  const uint64_t result = a + b;

  b ^= a;
  r->s[0] = ((a << 55) | (a >> 9)) ^ b ^ (b << 14);
  r->s[1] = (b << 36) | (b >> 28);
  return result;
}

/* Returns a uniform double in [0, 1), from the upper 53 bits. */
static inline double bn_rng_double(struct bn_rng *r)
{
  return (double)(bn_rng_next(r) >> 11) * 0x1.0p-53;
}

/* Returns a uniform integer in [0, n), n >= 1, without bias (Lemire's multiply-and-reject). */
static inline uint64_t bn_rng_below(struct bn_rng *r, uint64_t n)
{
  unsigned __int128 product = (unsigned __int128)bn_rng_next(r) * n;

  if (__builtin_expect((uint64_t)product < n, 0)) {
    const uint64_t least = (0 - n) % n; /* 2^64 modulo n; lower halves below it are rejected */

    while ((uint64_t)product < least)
      product = (unsigned __int128)bn_rng_next(r) * n;
  }
  return (uint64_t)(product >> 64);
}

#endif
