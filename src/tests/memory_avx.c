/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Vector kernels for AVX, each compiled for its instructions and called only where they exist. */
#include <immintrin.h>

#include "tests/memory_stream.h"

#define AVX    __attribute__((target("avx")))
#define AVX2   __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))

BN_STREAM_KERNELS(avx2, AVX2, 32)
BN_STREAM_KERNELS(avx512, AVX512, 64)

/* The kernels below access a cache line in each iteration. */

/* Reads array a.  The accesses are volatile, so that none is merged or dropped. */
AVX static void memory_avx_read(const struct bn_vector_job *job)
{
  const volatile __m256d *v = (const volatile void *)job->a, *end = v + job->bytes / sizeof *v;

  for (; v != end; v += 2) {
    (void)v[0];
    (void)v[1];
  }
}

/* Writes array a. */
AVX static void memory_avx_write(const struct bn_vector_job *job)
{
  const __m256d value = _mm256_set1_pd(BN_STREAM_SCALAR);
  volatile __m256d *v = (volatile void *)job->a, *end = v + job->bytes / sizeof *v;

  for (; v != end; v += 2) {
    v[0] = value;
    v[1] = value;
  }
}

/* Writes array a past the caches; the fence ends the pass when all stores are on their way. */
AVX static void memory_avx_write_nt(const struct bn_vector_job *job)
{
  const __m256d value = _mm256_set1_pd(BN_STREAM_SCALAR);
  double *v = job->a, *end = v + job->bytes / sizeof *v;

  for (; v != end; v += 8) {
    _mm256_stream_pd(v, value);
    _mm256_stream_pd(v + 4, value);
  }
  _mm_sfence();
}

const struct bn_vector_kernel bn_vector_kernels_wide[] = {
    BN_STREAM_ROWS(avx512, "512 bits", BN_VECTOR_AVX512),
    BN_STREAM_ROWS(avx2, "256 bits", BN_VECTOR_AVX2),
    {"avx-read", "256 bits", BN_VECTOR_AVX, 1, 0, memory_avx_read},
    {"avx-write", "256 bits", BN_VECTOR_AVX, 0, 1, memory_avx_write},
    {"nt-write", "256 bits", BN_VECTOR_AVX, 0, 1, memory_avx_write_nt},
    {.name = NULL},
};

unsigned bn_vector_features(void)
{
  unsigned features = 0;

  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx"))
    features |= BN_VECTOR_AVX;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    features |= BN_VECTOR_AVX2;
  if (__builtin_cpu_supports("avx512f"))
    features |= BN_VECTOR_AVX512;
  return features;
}
