/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints what reading the clock, recording a latency and drawing a number cost, in ns per call;
   each the best of several rounds, because whatever else runs only adds. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/crc32.h"
#include "base/dist.h"
#include "base/hist.h"
#include "base/rng.h"

enum { ROUNDS = 15, CALLS = 200000 };

struct bench {
  struct bn_clock_reader tsc, vdso;
  struct bn_hist *hist;
  struct bn_rng rng;
  struct bn_dist dist;
  struct bn_unique unique;
  uint64_t sink; /* results go here, so that no call is left out */
  uint16_t latency[4096];
};

static void clock_tsc(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_clock_now(&b->tsc);
}

static void clock_vdso(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_clock_now(&b->vdso);
}

/* Values spread over 256 buckets, as latencies are. */
static void hist_record(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    bn_hist_record(b->hist, b->latency[i % 4096]);
}

static void hist_record_shared(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    bn_hist_record_shared(b->hist, b->latency[i % 4096]);
}

static void rng_next(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_rng_next(&b->rng);
}

static void uniform(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_dist_uniform(&b->rng, 1, 1000000);
}

static void gaussian(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_dist_gaussian(&b->dist, &b->rng, 1, 1000000);
}

static void special(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_dist_special(&b->dist, &b->rng, 1, 1000000);
}

static void pareto(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_dist_pareto(&b->dist, &b->rng, 1, 1000000);
}

static void zipfian(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_dist_zipfian(&b->dist, &b->rng, 1, 1000000);
}

static void unique(struct bench *b)
{
  for (int i = 0; i < CALLS; i++)
    b->sink += bn_unique_next(&b->unique);
}

static void template_char(struct bench *b)
{
  static const char fmt[] = "###########-###########-###########-###########-###########-";
  char out[sizeof fmt];

  for (int i = 0; i < CALLS; i += (int)sizeof fmt - 1) {
    bn_dist_fill_template(&b->rng, fmt, sizeof fmt - 1, out);
    b->sink += (uint64_t)out[i % 10];
  }
}

static void crc32_byte(struct bench *b)
{
  const unsigned char *const p = (const unsigned char *)b->latency;

  for (size_t i = 0; i < CALLS; i += sizeof b->latency)
    b->sink += bn_crc32(0, p, CALLS - i < sizeof b->latency ? CALLS - i : sizeof b->latency);
}

static void measure(const char *name, void (*body)(struct bench *), struct bench *b)
{
  double best = INFINITY;

  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t start = bn_clock_mono();

    body(b);
    best = fmin(best, (double)(bn_clock_mono() - start) / CALLS);
  }
  printf("%-22s %8.2f\n", name, best);
}

static void measure_all(struct bench *b)
{
  measure("clock, fast row", clock_tsc, b);
  measure("clock, vdso row", clock_vdso, b);
  measure("hist record", hist_record, b);
  measure("hist record, shared", hist_record_shared, b);
  measure("rng", rng_next, b);
  measure("uniform", uniform, b);
  measure("gaussian, 12", gaussian, b);
  measure("special, 12", special, b);
  measure("pareto", pareto, b);
  measure("zipfian", zipfian, b);
  measure("unique", unique, b);
  measure("template, per char", template_char, b);
  measure("crc32, per byte", crc32_byte, b);
}

int main(void)
{
  static struct bench b = {
      .dist = {
          .iterations = 12, .special_pct = 1, .special_res = 75, .pareto_h = 0.2, .zipf_exp = 0.8}};
  struct bn_clock fast, vdso;

  bn_clock_init(&fast, BN_CLOCK_AUTO);
  bn_clock_init(&vdso, BN_CLOCK_VDSO);
  bn_clock_reader_init(&b.tsc, &fast);
  bn_clock_reader_init(&b.vdso, &vdso);
  bn_rng_seed(&b.rng, 1, BN_RNG_DATA, 0);
  bn_dist_init(&b.dist);
  bn_unique_init(&b.unique, 1);
  b.hist = bn_hist_new();
  if (b.hist == NULL)
    return 1;
  for (size_t i = 0; i < 4096; i++)
    b.latency[i] = (uint16_t)(40000 + bn_rng_below(&b.rng, 8192));
  printf("%-22s %8s\n", "ns per call", bn_clock_name(&fast));
  measure_all(&b);
  printf("(%d)\n", (int)(b.sink & 1));
  bn_hist_free(b.hist);
  return 0;
}
