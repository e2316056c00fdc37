/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeding of random streams. */
#include "base/rng.h"

#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"

/* Both words absorb all three inputs, each in its own chain: for a given seed and purpose, no two
   ids share either word. */
void bn_rng_seed(struct bn_rng *r, uint64_t seed, enum bn_rng_purpose purpose, uint64_t id)
{
  const uint64_t a = bn_rng_mix(seed);
  const uint64_t b = bn_rng_mix(~a);

  r->s[0] = bn_rng_mix(bn_rng_mix(a ^ (uint64_t)purpose) ^ id);
  r->s[1] = bn_rng_mix(bn_rng_mix(b ^ (uint64_t)purpose) ^ id);
  if (r->s[0] == 0 && r->s[1] == 0)
    r->s[0] = 1; /* the only state that xoroshiro never leaves */
}

uint64_t bn_rng_entropy(void)
{
  uint64_t seed;

  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
    return seed;
  /* While a machine starts, the kernel may have no random numbers yet. */
  return bn_rng_mix(bn_rng_mix(bn_clock_wall()) ^ (uint64_t)getpid());
}
