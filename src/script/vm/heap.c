/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of one interpreter. */
#include "script/vm/heap.h"

#include <stdlib.h>
#include <string.h>

/* Lua passes the size of a block when it frees it, so blocks need no header, and one thread at a
   time uses an interpreter, so lists need no lock.  With some thousand blocks of 50 bytes in each
   of 10,000 interpreters, malloc's headers would be a fifth of all memory. */

enum { PAGE_SIZE = 4096 - 16 }; /* 4 KiB with malloc's own header */

struct bn_heap_page {
  struct bn_heap_page *older;
};

/* Returns the class of a small size above 0. */
static size_t heap_class_of(size_t size)
{
  return (size - 1) / BN_HEAP_GRAIN;
}

/* Returns the size of the blocks of the class to which a small size belongs. */
static size_t heap_round_up(size_t size)
{
  return (heap_class_of(size) + 1) * BN_HEAP_GRAIN;
}

/* Puts a small block of that size into the list of its class.  The first bytes of the block are the
   pointer to the next one. */
static void heap_put(struct bn_heap *h, void *block, size_t size)
{
  const size_t c = heap_class_of(size);

  memcpy(block, &h->free[c], sizeof(void *));
  h->free[c] = block;
  h->available |= UINT64_C(1) << c;
}

/* Begins a new page.  The unused end of the previous page becomes a free block.  Returns 0, or -1
   if memory runs out. */
static int heap_add_page(struct bn_heap *h)
{
  struct bn_heap_page *page = malloc(PAGE_SIZE);
  const size_t unused = (size_t)(h->end - h->next);

  if (page == NULL)
    return -1;
  /* It is smaller than the request that did not fit, so it has a small class. */
  if (unused > 0)
    heap_put(h, h->next, unused);
  page->older = h->pages;
  h->pages = page;
  h->next = (char *)page + sizeof *page;
  h->end = (char *)page + PAGE_SIZE;
  return 0;
}

/* Takes the smallest free block that is large enough, and puts its unused end back.  Returns NULL
   if no free block is large enough. */
static void *heap_take_free(struct bn_heap *h, size_t size)
{
  const size_t wanted = heap_class_of(size);
  const uint64_t usable = h->available >> wanted << wanted; /* without the smaller classes */

  if (usable == 0)
    return NULL;
  const size_t c = (size_t)__builtin_ctzll(usable);
  char *block = h->free[c];

  memcpy(&h->free[c], block, sizeof(void *));
  if (h->free[c] == NULL)
    h->available &= ~(UINT64_C(1) << c);
  if (c > wanted)
    heap_put(h, block + heap_round_up(size), (c - wanted) * BN_HEAP_GRAIN);
  return block;
}

/* Returns a small block: a free block, or else the next one of the newest page.  Returns NULL if
   memory runs out. */
static void *heap_take(struct bn_heap *h, size_t size)
{
  void *block = heap_take_free(h, size);

  if (block != NULL)
    return block;
  if ((size_t)(h->end - h->next) < heap_round_up(size) && heap_add_page(h) != 0)
    return NULL;
  block = h->next;
  h->next += heap_round_up(size);
  return block;
}

/* Moves a block whose old or new size is small to another class, or to or from the C library.
   Returns NULL if memory runs out. */
static void *heap_move(struct bn_heap *h, void *block, size_t old_size, size_t size)
{
  void *moved = size <= BN_HEAP_SMALL ? heap_take(h, size) : malloc(size);

  if (moved == NULL)
    return NULL;
  memcpy(moved, block, old_size < size ? old_size : size);
  if (old_size <= BN_HEAP_SMALL)
    heap_put(h, block, old_size);
  else
    free(block);
  return moved;
}

void *bn_heap_alloc(void *ud, void *block, size_t old_size, size_t size)
{
  struct bn_heap *h = ud;

  if (size == 0) {
    if (block != NULL && old_size <= BN_HEAP_SMALL)
      heap_put(h, block, old_size);
    else
      free(block);
    return NULL;
  }
  if (block == NULL)
    return size <= BN_HEAP_SMALL ? heap_take(h, size) : malloc(size);
  if (old_size > BN_HEAP_SMALL && size > BN_HEAP_SMALL)
    return realloc(block, size);
  if (old_size <= BN_HEAP_SMALL && size <= BN_HEAP_SMALL &&
      heap_class_of(old_size) == heap_class_of(size))
    return block;
  return heap_move(h, block, old_size, size);
}

void bn_heap_done(struct bn_heap *h)
{
  while (h->pages != NULL) {
    struct bn_heap_page *older = h->pages->older;

    free(h->pages);
    h->pages = older;
  }
  memset(h, 0, sizeof *h);
}
