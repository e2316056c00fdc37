/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The geometric 1,024-step grid of sysbench: the `--histogram` picture and sysbench.histogram. */
#ifndef BN_BASE_GEOHIST_H
#define BN_BASE_GEOHIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bn_hist;

enum { BN_GEOHIST_SIZE = 1024 };
#define BN_GEOHIST_MIN_MS 0.001
#define BN_GEOHIST_MAX_MS 100000.0

/* Bucket of v: floor((ln v - ln min) * per_log + 1/2), clamped to the ends, where per_log is
   (size - 1) / (ln max - ln min).  The value of bucket i is exp(i / per_log + ln min).  Not
   thread-safe. */
struct bn_geohist {
  size_t size;
  double log_min, per_log; /* ln min; buckets for each 1 of the logarithm */
  uint64_t *count;         /* owned */
};

/* Makes an empty histogram, size >= 2, 0 < min < max.  Returns 0, or -1 for other arguments or if
   there is no memory; g is then all zero. */
int bn_geohist_init(struct bn_geohist *g, size_t size, double min, double max);
void bn_geohist_done(struct bn_geohist *g);
/* Counts a value that many times. */
void bn_geohist_update(struct bn_geohist *g, double value, uint64_t times);
/* Returns the value that stands for bucket i. */
double bn_geohist_value(const struct bn_geohist *g, size_t i);
/* Adds every bucket of a latency histogram (ns, taken at the bucket's middle, converted to ms). */
void bn_geohist_add_hist(struct bn_geohist *g, const struct bn_hist *h);
/* Prints a heading and a line per non-empty bucket, or nothing if all are empty.  With
   `significant`, a value has as many decimals, at least three, as show three significant digits. */
void bn_geohist_print_rows(const struct bn_geohist *g, bool significant, FILE *out);
/* Prints the table of `--histogram`, with title, heading and closing " \n" line. */
void bn_geohist_print(const struct bn_geohist *g, bool significant, FILE *out);

#endif
