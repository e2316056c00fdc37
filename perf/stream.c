/* SPDX-License-Identifier: GPL-2.0-or-later */
/* STREAM by its published definition (J. McCalpin, "Memory Bandwidth and Machine Balance", 1995):
   three arrays of doubles, four loops in turn, each timed; the first round is not counted.

     stream KERNEL
       MiB per second of copy, scale, add or triad: bytes that the definition counts by the average
       time.  Threads: OMP_NUM_THREADS.  Elements: -DSTREAM_ARRAY_SIZE=N.  */
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef STREAM_ARRAY_SIZE
#define STREAM_ARRAY_SIZE (16 * 1024 * 1024)
#endif

enum { ROUNDS = 10, KERNELS = 4 };

static const char *const names[KERNELS] = {"copy", "scale", "add", "triad"};
static const double arrays_touched[KERNELS] = {2, 2, 3, 3};
static double a[STREAM_ARRAY_SIZE], b[STREAM_ARRAY_SIZE], c[STREAM_ARRAY_SIZE];

static double now_s(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run(int kernel, double scalar)
{
  switch (kernel) {
  case 0:
#pragma omp parallel for
    for (long j = 0; j < STREAM_ARRAY_SIZE; j++)
      c[j] = a[j];
    break;
  case 1:
#pragma omp parallel for
    for (long j = 0; j < STREAM_ARRAY_SIZE; j++)
      b[j] = scalar * c[j];
    break;
  case 2:
#pragma omp parallel for
    for (long j = 0; j < STREAM_ARRAY_SIZE; j++)
      c[j] = a[j] + b[j];
    break;
  default:
#pragma omp parallel for
    for (long j = 0; j < STREAM_ARRAY_SIZE; j++)
      a[j] = b[j] + scalar * c[j];
    break;
  }
}

int main(int argc, char **argv)
{
  double sum_s[KERNELS] = {0};

#pragma omp parallel for
  for (long j = 0; j < STREAM_ARRAY_SIZE; j++) {
    a[j] = 1;
    b[j] = 2;
    c[j] = 0;
  }
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < KERNELS; k++) {
      const double from = now_s();

      run(k, 3);
      if (round > 0)
        sum_s[k] += now_s() - from;
    }
  for (int k = 0; k < KERNELS && argc == 2; k++)
    if (strcmp(argv[1], names[k]) == 0) {
      (void)printf("%.1f\n", arrays_touched[k] * sizeof a * (ROUNDS - 1) / sum_s[k] / (1 << 20));
      return a[1] + b[2] + c[3] > 0 ? 0 : 1;
    }
  (void)fputs("usage: stream copy|scale|add|triad\n", stderr);
  return 2;
}
