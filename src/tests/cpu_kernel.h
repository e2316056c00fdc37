/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic that the cpu test times, in a separate file so that a test can count it. */
#ifndef BN_TESTS_CPU_KERNEL_H
#define BN_TESTS_CPU_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Divides n by 2, 3, 4, … up to its root until it finds a divisor.  Returns that divisor, or the
   first number above the root.  The comparison of doubles and the division of 64 bits are
   deliberate: they are the arithmetic sysbench times.  An integer bound scores 4 % higher on the
   same machine, a division of 32 bits 22 %. */
static inline uint64_t bn_cpu_first_divisor(uint64_t n, double root)
{
  uint64_t d = 2;

  while ((double)d <= root && n % d != 0)
    d++;
  return d;
}

/* Returns whether n >= 3 is a prime. */
static inline bool bn_cpu_is_prime(uint64_t n)
{
  const double root = sqrt((double)n);

  return (double)bn_cpu_first_divisor(n, root) > root;
}

/* Counts the primes p with 3 <= p < limit, the work of an event. */
static inline uint64_t bn_cpu_count_primes(uint64_t limit)
{
  uint64_t found = 0;

  for (uint64_t n = 3; n < limit; n++)
    found += bn_cpu_is_prime(n);
  return found;
}

#endif
