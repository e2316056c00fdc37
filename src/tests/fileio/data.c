/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of blocks that are written without --validate. */
#include "tests/fileio/data.h"

#include <string.h>

/* Bytes that are filled with one share of zeros, and the words in as many bytes. */
enum { WORDS = BN_DATA_STRETCH / sizeof(uint64_t) };

void bn_data_init(struct bn_data *d, unsigned zeros, struct bn_rng *rng)
{
  d->zeros = zeros;
  for (size_t i = 0; i < sizeof d->base / sizeof d->base[0]; i++)
    d->base[i] = bn_rng_next(rng);
}

/* Fills len bytes with the words of `base`, each XORed with `key`.  With a new random key the words
   are new, so storage that looks for repetitions finds none, and it costs no more than a copy. */
static void data_fill_words(unsigned char *at, size_t len, const uint64_t *base, uint64_t key)
{
  uint64_t word;

  for (; len >= sizeof word; len -= sizeof word, at += sizeof word) {
    word = *base++ ^ key;
    memcpy(at, &word, sizeof word);
  }
  if (len > 0) {
    word = *base ^ key;
    memcpy(at, &word, len);
  }
}

void bn_data_fill(const struct bn_data *d, void *buf, size_t len, struct bn_rng *rng)
{
  const size_t n_stretches = sizeof d->base / BN_DATA_STRETCH;
  unsigned char *at = buf;
  uint64_t key = 0;

  for (size_t i = 0; len > 0; i++) {
    const size_t stretch = len < BN_DATA_STRETCH ? len : BN_DATA_STRETCH;
    const size_t random_len = stretch * (BN_DATA_ALL_ZEROS - d->zeros) / BN_DATA_ALL_ZEROS;
    const uint64_t *base = d->base + i % n_stretches * WORDS;

    if (base == d->base) /* the words are used again from here on */
      key = bn_rng_next(rng);
    data_fill_words(at, random_len, base, key);
    memset(at + random_len, 0, stretch - random_len);
    at += stretch;
    len -= stretch;
  }
}
