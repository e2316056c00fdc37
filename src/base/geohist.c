/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The geometric grid of `--histogram` and its picture. */
#include "base/geohist.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/hist.h"
#include "base/units.h"

enum { DECIMALS = 3 };

int bn_geohist_init(struct bn_geohist *g, size_t size, double min, double max)
{
  const bool is_valid_size = size >= 2 && size <= PTRDIFF_MAX / sizeof g->count[0];
  const bool is_valid_range = min > 0 && max > min && isfinite(max); /* false for NaN */

  *g = (struct bn_geohist){0};
  if (!is_valid_size || !is_valid_range)
    return -1;
  g->count = calloc(size, sizeof g->count[0]);
  if (g->count == NULL)
    return -1;
  g->size = size;
  g->log_min = log(min);
  g->per_log = (double)(size - 1) / (log(max) - log(min));
  return 0;
}

void bn_geohist_done(struct bn_geohist *g)
{
  free(g->count);
  *g = (struct bn_geohist){0};
}

/* Returns the bucket of a value, which is the first for NaN and values that are not above 0. */
static size_t geohist_find_bucket(const struct bn_geohist *g, double value)
{
  if (!(value > 0))
    return 0;
  const double i = floor((log(value) - g->log_min) * g->per_log + 0.5);

  if (!(i > 0))
    return 0;
  return i < (double)(g->size - 1) ? (size_t)i : g->size - 1;
}

void bn_geohist_update(struct bn_geohist *g, double value, uint64_t times)
{
  g->count[geohist_find_bucket(g, value)] += times;
}

double bn_geohist_value(const struct bn_geohist *g, size_t i)
{
  return exp((double)i / g->per_log + g->log_min);
}

/* Adds a bucket of latencies in ns to a struct bn_geohist in ms; for bn_hist_each. */
static void geohist_add_bucket(void *arg, uint64_t lowest, uint64_t highest, uint64_t count)
{
  const double middle_ns = ((double)lowest + (double)highest) / 2;

  bn_geohist_update(arg, middle_ns / 1e6, count);
}

void bn_geohist_add_hist(struct bn_geohist *g, const struct bn_hist *h)
{
  bn_hist_each(h, geohist_add_bucket, g);
}

/* Prints the line of bucket i; max_count is the count with a full bar. */
static void geohist_print_row(const struct bn_geohist *g, size_t i, bool significant,
                              uint64_t max_count, FILE *out)
{
  static const char stars[] = "****************************************";
  enum { WIDTH = sizeof stars - 1 };
  const double value = bn_geohist_value(g, i);
  const int decimals = significant ? bn_units_count_decimals(value, DECIMALS) : DECIMALS;
  const int n_stars = (int)floor(WIDTH * (double)g->count[i] / (double)max_count + 0.5);

  (void)fprintf(out, "%12.*f |%-*.*s %" PRIu64 "\n", decimals, value, WIDTH, n_stars, stars,
                g->count[i]);
}

void bn_geohist_print_rows(const struct bn_geohist *g, bool significant, FILE *out)
{
  uint64_t max_count = 0;

  for (size_t i = 0; i < g->size; i++)
    if (g->count[i] > max_count)
      max_count = g->count[i];
  if (max_count == 0)
    return;

  (void)fputs("       value  ------------- distribution ------------- count\n", out);
  for (size_t i = 0; i < g->size; i++)
    if (g->count[i] != 0)
      geohist_print_row(g, i, significant, max_count, out);
}

void bn_geohist_print(const struct bn_geohist *g, bool significant, FILE *out)
{
  (void)fputs("Latency histogram (values are in milliseconds)\n", out);
  bn_geohist_print_rows(g, significant, out);
  (void)fputs(" \n", out); /* the last line of sysbench's table */
}
