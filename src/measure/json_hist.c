/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes and reads the histograms of documents. */
#include "measure/json_hist.h"

#include <stdlib.h>
#include <string.h>

#include "measure/hist_codec.h"

/* Adds a bucket to a list: the number of empty buckets before it, negative, and its count.  A
   single empty bucket becomes a count of 0, which is shorter than -1. */
static void json_hist_add_bucket(void *list, uint64_t empty, uint64_t count)
{
  if (empty > 0)
    bn_json_add(list, bn_node_integer(empty > 1 ? -(int64_t)empty : 0));
  bn_json_add(list, bn_node_u64(count));
}

struct bn_node *bn_json_hist(const struct bn_hist *h, const struct bn_hist_sparse *s)
{
  struct bn_node *list = bn_node_list();

  bn_hist_codec_each(h, s, json_hist_add_bucket, list);
  return list;
}

/* Reads a bucket of version 1, [lowest, count]. */
static void json_hist_read_pair(struct bn_json_in *in, const struct bn_node *pair, const char *key,
                                struct bn_hist *h)
{
  const uint64_t lowest = bn_json_in_read_count(in, bn_node_get_at(pair, 0), key);

  bn_hist_put(h, lowest, bn_json_in_read_count(in, bn_node_get_at(pair, 1), key));
}

/* Reads a number of version 2 at bucket `at`: the count of that bucket, or -n for n empty buckets.
   Returns for how many buckets it stands.  A count beyond the last bucket is not added; the caller
   refuses it. */
static uint64_t json_hist_read_number(struct bn_json_in *in, const struct bn_node *n,
                                      const char *key, struct bn_hist *h, uint64_t at)
{
  const int64_t number = bn_node_get_integer(n); /* 0 if it is a text */
  uint64_t count;

  if (number < 0)
    return -(uint64_t)number; /* also right for INT64_MIN */
  count = bn_json_in_read_count(in, n, key);
  if (count > 0 && at <= BN_HIST_BUCKETS)
    bn_hist_put(h, bn_hist_lowest(at), count);
  return 1;
}

/* Reads a text, which bn_skip_to_totals() makes. */
static void json_hist_read_text(struct bn_json_in *in, const char *text, const char *key,
                                struct bn_hist *h)
{
  struct bn_hist_codec buckets = {.n = 0};

  if (bn_hist_codec_take(&buckets, 0, text, strlen(text)))
    bn_hist_put_parts(h, buckets.part, buckets.n);
  else
    bn_json_in_refuse(in, "'%s' is not a histogram", key);
  free(buckets.part);
}

/* Reads a list of either version. */
static void json_hist_read_list(struct bn_json_in *in, const struct bn_node *list, const char *key,
                                struct bn_hist *h)
{
  enum { ALL_BUCKETS = BN_HIST_BUCKETS + 1 }; /* with that of greater values */
  const size_t n_values = bn_node_count(list);
  uint64_t bucket = 0;

  /* Version 1 has a list of pairs, and version 2 a list of numbers. */
  for (size_t i = 0; i < n_values && !in->failed; i++) {
    const struct bn_node *value = bn_node_get_at(list, i);

    if (bn_node_type_of(value) == BN_NODE_LIST)
      json_hist_read_pair(in, value, key, h);
    else
      bucket += json_hist_read_number(in, value, key, h, bucket);
    if (bucket > ALL_BUCKETS)
      bn_json_in_refuse(in, "'%s' has more than %d buckets", key, ALL_BUCKETS);
  }
}

void bn_json_in_hist(struct bn_json_in *in, const struct bn_node *map, const char *key,
                     struct bn_hist *h)
{
  const char *text = bn_node_get_text(bn_node_get(map, key));

  if (text != NULL)
    json_hist_read_text(in, text, key, h);
  else
    json_hist_read_list(in, bn_json_in_list(in, map, key), key, h);
}
