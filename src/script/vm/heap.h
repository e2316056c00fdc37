/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of one interpreter: small blocks without headers from pages of its own, large ones from
   the C library. */
#ifndef BN_SCRIPT_VM_HEAP_H
#define BN_SCRIPT_VM_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Small blocks have at most BN_HEAP_SMALL bytes; each multiple of BN_HEAP_GRAIN is a class. */
enum { BN_HEAP_GRAIN = 8, BN_HEAP_SMALL = 512, BN_HEAP_CLASSES = BN_HEAP_SMALL / BN_HEAP_GRAIN };

struct bn_heap_page;

/* All zero is a valid empty heap.  One thread at a time uses it.  A freed small block serves
   requests that are not larger; pages return to the C library when the heap is closed. */
struct bn_heap {
  uint64_t available;          /* bit c: free[c] is not empty */
  void *free[BN_HEAP_CLASSES]; /* lists of free blocks by class; a block begins with the next one */
  char *next, *end;            /* the unused rest of the newest page */
  struct bn_heap_page *pages;
};

/* A lua_Alloc; ud is the heap.  Frees a block if size is 0, else returns a block of that size with
   the old content, or NULL if memory runs out. */
void *bn_heap_alloc(void *ud, void *block, size_t old_size, size_t size);
/* Frees all pages.  Large blocks have been freed by lua_close(). */
void bn_heap_done(struct bn_heap *h);

#endif
