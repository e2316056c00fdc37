/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heap of an interpreter keeps every block's content through 200,000 random calls and reuses
   memory. */
#include "cm.h"

#include <string.h>

#include "base/rng.h"
#include "script/vm/heap.h"

enum { BLOCKS = 500, CALLS = 200000 };

struct block {
  unsigned char *data;
  size_t size;
  unsigned char mark;
};

/* Checks that the first `size` bytes of a block are those that were written. */
static void check_content(const struct block *b, size_t size)
{
  for (size_t i = 0; i < size; i++)
    assert_int_equal(b->data[i], b->mark);
}

/* Resizes a block to less than 2,000 bytes, mostly to a small size or to nothing, checks that it
   has kept its content, and fills it anew. */
static void resize_block(struct bn_heap *h, struct bn_rng *r, struct block *b)
{
  const size_t size = bn_rng_below(r, bn_rng_below(r, 4) == 0 ? 2000 : 200);
  unsigned char *to = bn_heap_alloc(h, b->data, b->size, size);

  assert_true((to == NULL) == (size == 0));
  b->data = to;
  check_content(b, size < b->size ? size : b->size);
  b->size = size;
  b->mark = (unsigned char)bn_rng_next(r);
  if (size > 0)
    memset(to, b->mark, size);
}

static void keeps_contents(void **state)
{
  static struct block blocks[BLOCKS];
  struct bn_heap h = {0};
  struct bn_rng r;

  (void)state;
  bn_rng_seed(&r, 42, BN_RNG_DATA, 0);
  for (int i = 0; i < CALLS; i++)
    resize_block(&h, &r, &blocks[bn_rng_below(&r, BLOCKS)]);
  for (int i = 0; i < BLOCKS; i++) {
    check_content(&blocks[i], blocks[i].size);
    (void)bn_heap_alloc(&h, blocks[i].data, blocks[i].size, 0);
  }
  bn_heap_done(&h);
}

static void blocks_are_aligned_and_apart(void **state)
{
  struct bn_heap h = {0};
  uintptr_t last = 0;

  (void)state;
  for (size_t size = 1; size <= BN_HEAP_SMALL; size++) {
    const uintptr_t at = (uintptr_t)bn_heap_alloc(&h, NULL, 0, size);

    assert_true(at != 0 && at % 8 == 0);
    if (at > last && last != 0)
      assert_true(at - last >= size - 1);
    last = at;
  }
  bn_heap_done(&h);
}

static void freed_blocks_serve_again(void **state)
{
  struct bn_heap h = {0};
  void *first = bn_heap_alloc(&h, NULL, 0, 40);

  (void)state;
  (void)bn_heap_alloc(&h, first, 40, 0);
  assert_ptr_equal(bn_heap_alloc(&h, NULL, 0, 33), first);   /* 33 to 40 are one class */
  assert_ptr_equal(bn_heap_alloc(&h, first, 33, 40), first); /* and need no move */
  assert_ptr_not_equal(bn_heap_alloc(&h, first, 40, 41), first);
  bn_heap_done(&h);
}

BN_TESTS(script_heap)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_contents),
                                     cmocka_unit_test(blocks_are_aligned_and_apart),
                                     cmocka_unit_test(freed_blocks_serve_again)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
