/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A histogram is what it was after it has been sent as a short text, and the text is short. */
#include "cm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure/hist_codec.h"

/* What a host may send for an interval, besides statements. */
enum { INTERVAL_BYTES = 64 << 10 };

static char *text_of(const struct bn_hist *h, size_t *len)
{
  struct bn_buf b = {.max = 0};

  bn_hist_codec_put(&b, h, NULL);
  assert_false(b.failed);
  *len = b.len;
  return b.data != NULL ? bn_buf_take(&b) : strdup("");
}

static int take(struct bn_hist_codec *b, size_t i, const char *text)
{
  return bn_hist_codec_take(b, i, text, strlen(text));
}

/* Bucket by bucket. */
static void check_same(const struct bn_hist *h, const struct bn_hist_codec *b)
{
  struct bn_hist_sparse s;

  bn_hist_sparse_pack(&s, h);
  assert_int_equal(b->end[0], s.n);
  for (size_t k = 0; k < s.n; k++) {
    assert_int_equal(bn_hist_lowest(b->part[k].index), s.bucket[k].lowest);
    assert_int_equal(b->part[k].count, s.bucket[k].count);
  }
  assert_int_equal(b->count[0], bn_hist_count(h));
  bn_hist_sparse_done(&s);
}

/* Frees the histogram; returns how long its text is. */
static size_t check(struct bn_hist *h)
{
  struct bn_hist_codec b = {.n = 0};
  size_t len;
  char *text = text_of(h, &len);

  assert_int_equal(bn_hist_codec_take(&b, 0, text, len), 1);
  check_same(h, &b);
  for (size_t i = 0; i < len; i++)
    assert_true(text[i] > ' ' && text[i] < 127 && text[i] != '"' && text[i] != '\\');
  free(b.part);
  free(text);
  bn_hist_free(h);
  return len;
}

static void single_buckets_come_back(void **state)
{
  static const uint64_t values[] = {0, 1, 2, 3, 2047, 2048, 5000000, UINT64_C(1) << 41};
  struct bn_hist *h = bn_hist_new();

  struct bn_hist_codec none = {.n = 0};

  (void)state;
  assert_int_equal(take(&none, 0, ""), 1);
  assert_non_null(none.part);
  assert_int_equal(none.end[0], 0);
  free(none.part);
  assert_int_equal(check(h), 0);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    h = bn_hist_new();
    bn_hist_put(h, values[i], i + 1);
    (void)check(h);
  }
  h = bn_hist_new();
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    bn_hist_put(h, values[i], UINT64_C(1) << (7 * i));
  bn_hist_put(h, UINT64_C(1) << BN_HIST_TOP_BIT, 31);
  (void)check(h);
  h = bn_hist_new();
  bn_hist_put(h, UINT64_MAX, UINT64_MAX);
  (void)check(h);
}

static void the_widest_histogram_is_short(void **state)
{
  struct bn_hist *h = bn_hist_new();

  (void)state;
  for (size_t i = 0; i < BN_HIST_BUCKETS; i++)
    bn_hist_put(h, bn_hist_lowest(i), 31);
  assert_true(check(h) < INTERVAL_BYTES * 3 / 4);
}

/* With --rate there are four: of latencies, of service, of queueing, of late wake-ups. */
static void four_histograms_of_many_events_are_short(void **state)
{
  struct bn_hist *h = bn_hist_new();
  struct bn_rng rng;

  (void)state;
  bn_rng_seed(&rng, 1, BN_RNG_WORKLOAD, 0);
  for (int i = 0; i < 200000; i++) /* from 0.1 ms to 100 ms */
    bn_hist_put(h, (uint64_t)(1e5 * exp(6.9 * bn_rng_double(&rng))), 1);
  assert_true(4 * check(h) < INTERVAL_BYTES * 9 / 10);
}

static void other_texts_are_refused(void **state)
{
  static const char *const texts[] = {" ",
                                      "(",
                                      "!",
                                      "!(",
                                      "!_",
                                      "_ _",
                                      "_\"",
                                      "_~",
                                      "!!_",
                                      "_!^",
                                      "!P|_",
                                      "GGGGGGGGGGGGG}",
                                      "/}}}}}}}}}}}}}~"};
  struct bn_hist_codec b = {.n = 0};

  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_int_equal(take(&b, 0, texts[i]), 0);
  /* 2^64 - 1 of one value are as many as there may be. */
  assert_int_equal(take(&b, 0, "7GGGGGGGGGGG}"), 1);
  assert_true(b.count[0] == UINT64_MAX);
  assert_int_equal(take(&b, 1, "7GGGGGGGGGGG}_"), 0);
  /* Behind the last bucket there is one for what is larger, and no other. */
  b.n = 0;
  assert_int_equal(take(&b, 0, "!))(^_"), 1);
  assert_int_equal(b.part[0].index, BN_HIST_BUCKETS);
  assert_int_equal(take(&b, 0, "!))(^__"), 0);
  assert_int_equal(take(&b, 0, "!))(__"), 0);
  free(b.part);
}

BN_TESTS(hist_codec)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(single_buckets_come_back),
                                     cmocka_unit_test(the_widest_histogram_is_short),
                                     cmocka_unit_test(four_histograms_of_many_events_are_short),
                                     cmocka_unit_test(other_texts_are_refused)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
