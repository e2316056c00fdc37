/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fileio writes neither compresses nor repeats, has the wanted share of zeros, and stays
   within its buffer at every length. */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fileio/data.h"

static void data_make(struct bn_data *d, unsigned zeros, struct bn_rng *rng)
{
  bn_rng_seed(rng, 7, BN_RNG_DATA, 0);
  bn_data_init(d, zeros, rng);
}

/* A sanitizer sees a byte too many on either side of what was allocated. */
static void every_length_is_filled_and_no_more(void **state)
{
  static struct bn_data d;
  struct bn_rng rng;

  (void)state;
  data_make(&d, 0, &rng);
  for (size_t len = 1; len <= 70000; len += len < 40 ? 1 : len / 3 + 1) {
    unsigned char *buf = malloc(len + 1);
    unsigned zero_tails = 0;

    assert_non_null(buf);
    for (unsigned i = 0; i < 8; i++) {
      buf[len] = 0x5a;
      buf[len - 1] = 0;
      bn_data_fill(&d, buf, len, &rng);
      assert_int_equal(buf[len], 0x5a);
      zero_tails += buf[len - 1] == 0;
    }
    assert_true(zero_tails < 4);
    free(buf);
  }
}

static int word_compare(const void *a, const void *b)
{
  return memcmp(a, b, sizeof(uint64_t));
}

static void no_word_repeats(void **state)
{
  enum { LEN = 1 << 17, CALLS = 8, WORDS = LEN / sizeof(uint64_t) * CALLS };
  static struct bn_data d;
  static unsigned char all[CALLS][LEN];
  struct bn_rng rng;
  unsigned equal = 0;

  (void)state;
  data_make(&d, 0, &rng);
  for (int i = 0; i < CALLS; i++)
    bn_data_fill(&d, all[i], LEN, &rng);
  qsort(all, WORDS, sizeof(uint64_t), word_compare);
  for (size_t i = 1; i < WORDS; i++)
    equal += memcmp(all[0] + (i - 1) * 8, all[0] + i * 8, 8) == 0;
  assert_int_equal(equal, 0);
}

static void zeros_end_each_stretch(void **state)
{
  static const unsigned percents[] = {1, 25, 50, 99, 100};
  static struct bn_data d;
  static unsigned char buf[3 * 4096 + 100];
  struct bn_rng rng;

  (void)state;
  for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
    data_make(&d, percents[i], &rng);
    memset(buf, 1, sizeof buf);
    bn_data_fill(&d, buf, sizeof buf, &rng);
    for (size_t at = 0; at < sizeof buf; at += 4096) {
      const size_t len = sizeof buf - at < 4096 ? sizeof buf - at : 4096;

      for (size_t k = len * (100 - percents[i]) / 100; k < len; k++)
        assert_int_equal(buf[at + k], 0);
    }
  }
}

BN_TESTS(fileio_data)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_length_is_filled_and_no_more),
      cmocka_unit_test(no_word_repeats),
      cmocka_unit_test(zeros_end_each_stretch),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
