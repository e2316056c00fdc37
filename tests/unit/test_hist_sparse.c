/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sparse histograms have the non-empty buckets, and a difference has what is left in them. */
#include "measure/hist_sparse.h"

#include "cm.h"

static void check(const struct bn_hist_sparse *s, const struct bn_bucket *wanted, size_t n)
{
  assert_int_equal(s->n, n);
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(s->bucket[i].lowest, wanted[i].lowest);
    assert_int_equal(s->bucket[i].count, wanted[i].count);
  }
}

static void differences_keep_what_is_left(void **state)
{
  static const struct bn_bucket wanted[] = {
      {7, 5}, {2048, 1}, {4096, 8}, {UINT64_C(1) << BN_HIST_TOP_BIT, 2}};
  struct bn_hist *a = bn_hist_new(), *b = bn_hist_new();
  struct bn_hist_sparse from, base;

  (void)state;
  assert_non_null(a);
  assert_non_null(b);
  bn_hist_put(a, 7, 5);
  bn_hist_put(a, 9, 5); /* as many in both */
  bn_hist_put(b, 9, 5);
  bn_hist_put(b, 10, 1); /* only in the other */
  bn_hist_put(a, 2049, 3);
  bn_hist_put(b, 2048, 2); /* the same bucket */
  bn_hist_put(a, 4096, 8);
  bn_hist_put(a, 8192, 1); /* fewer than in the other */
  bn_hist_put(b, 8192, 2);
  bn_hist_put(a, UINT64_MAX, 3);
  bn_hist_put(b, UINT64_C(1) << BN_HIST_TOP_BIT, 1);
  bn_hist_sparse_pack(&from, a);
  bn_hist_sparse_pack(&base, b);
  bn_hist_sparse_sub(&from, &base);
  check(&from, wanted, sizeof wanted / sizeof *wanted);
  bn_hist_sparse_sub(&from, &from);
  assert_int_equal(from.n, 0);
  bn_hist_sparse_done(&from);
  bn_hist_sparse_done(&base);
  assert_null(base.bucket);
  bn_hist_free(a);
  bn_hist_free(b);
}

BN_TESTS(hist_sparse)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(differences_keep_what_is_left)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
