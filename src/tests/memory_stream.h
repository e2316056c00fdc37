/* SPDX-License-Identifier: GPL-2.0-or-later */
/* STREAM's kernels (McCalpin 1995) as macros, to be compiled for several widths of vectors: scale
   b = q c, add c = a + b, triad a = b + q c. */
#ifndef BN_TESTS_MEMORY_STREAM_H
#define BN_TESTS_MEMORY_STREAM_H

#include "tests/memory_vector.h"

#define BN_STREAM_SCALAR 3.0

/* Defines memory_scale_<NAME>, memory_add_<NAME> and memory_triad_<NAME> with vectors of BYTES
   bytes. */
#define BN_STREAM_KERNELS(NAME, TARGET, BYTES)                                                     \
  typedef double vector_##NAME __attribute__((vector_size(BYTES)));                                \
                                                                                                   \
  TARGET static void memory_scale_##NAME(const struct bn_vector_job *job)                          \
  {                                                                                                \
    vector_##NAME *b = (void *)job->b;                                                             \
    const vector_##NAME *c = (const void *)job->c;                                                 \
                                                                                                   \
    for (size_t i = 0, n = job->bytes / (BYTES); i < n; i++)                                       \
      b[i] = BN_STREAM_SCALAR * c[i];                                                              \
  }                                                                                                \
                                                                                                   \
  TARGET static void memory_add_##NAME(const struct bn_vector_job *job)                            \
  {                                                                                                \
    vector_##NAME *c = (void *)job->c;                                                             \
    const vector_##NAME *a = (const void *)job->a, *b = (const void *)job->b;                      \
                                                                                                   \
    for (size_t i = 0, n = job->bytes / (BYTES); i < n; i++)                                       \
      c[i] = a[i] + b[i];                                                                          \
  }                                                                                                \
                                                                                                   \
  TARGET static void memory_triad_##NAME(const struct bn_vector_job *job)                          \
  {                                                                                                \
    vector_##NAME *a = (void *)job->a;                                                             \
    const vector_##NAME *b = (const void *)job->b, *c = (const void *)job->c;                      \
                                                                                                   \
    for (size_t i = 0, n = job->bytes / (BYTES); i < n; i++)                                       \
      a[i] = b[i] + BN_STREAM_SCALAR * c[i];                                                       \
  }

/* The rows of these kernels in a table. */
#define BN_STREAM_ROWS(NAME, WIDTH, NEEDS)                                                         \
  {"scale", WIDTH, NEEDS, 1, 1, memory_scale_##NAME},                                              \
      {"add", WIDTH, NEEDS, 2, 1, memory_add_##NAME},                                              \
  {                                                                                                \
    "triad", WIDTH, NEEDS, 2, 1, memory_triad_##NAME                                               \
  }

#endif
