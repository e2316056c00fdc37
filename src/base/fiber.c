/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks for calls that can be left: mapped once, then used again. */
#include "base/fiber.h"

#include <sys/mman.h>

#include "base/fiber_sanitizer.h"

/* The first function on a stack, which has no caller to return to: it runs the function of each
   bn_fiber_call, one after another. */
static void fiber_begin(struct bn_fiber *f)
{
  bn_sanitizer_entered(f);
  for (;;) {
    f->fn(f->arg);
    f->ended = true;
    bn_fiber_leave(f);
  }
}

/* Maps a stack, with a guard at its lower end, which a call that uses up the stack meets instead of
   other memory.  The struct is at the upper end, and the stack begins at a cache line below it.  A
   cache has few lines for addresses that are a power of two apart, so stacks begin at SHIFTS
   different places within half a page.  Returns NULL if there is no memory. */
static struct bn_fiber *fiber_map(struct bn_fiber_pool *p)
{
  enum { CACHE_LINE = 64, SHIFTS = 32 };
  const size_t struct_lines = (sizeof(struct bn_fiber) + CACHE_LINE - 1) / CACHE_LINE;
  const size_t above_stack = (struct_lines + p->mapped % SHIFTS) * CACHE_LINE;
  char *memory = mmap(NULL, BN_FIBER_STACK, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  struct bn_fiber *f;

  if (memory == MAP_FAILED)
    return NULL;
  if (mprotect(memory, BN_FIBER_GUARD, PROT_NONE) != 0) {
    (void)munmap(memory, BN_FIBER_STACK);
    return NULL;
  }
  p->mapped++;
  f = (struct bn_fiber *)(void *)(memory + BN_FIBER_STACK - above_stack);
  f->low = memory + BN_FIBER_GUARD;
  f->sp = bn_fiber_prepare(f, fiber_begin, f); /* the stack ends where the struct begins */
  bn_sanitizer_made(f);
  return f;
}

struct bn_fiber *bn_fiber_take(struct bn_fiber_pool *p)
{
  struct bn_fiber *f = p->unused;

  if (f == NULL)
    return fiber_map(p);
  p->unused = f->next;
  return f;
}

void bn_fiber_give_back(struct bn_fiber_pool *p, struct bn_fiber *f)
{
  f->next = p->unused;
  p->unused = f;
}

void bn_fiber_pool_done(struct bn_fiber_pool *p)
{
  while (p->unused != NULL) {
    struct bn_fiber *f = p->unused;

    p->unused = f->next;
    bn_sanitizer_freed(f);
    (void)munmap((char *)f->low - BN_FIBER_GUARD, BN_FIBER_STACK);
  }
}

bool bn_fiber_resume(struct bn_fiber *f)
{
  bn_sanitizer_enters(f);
  /* The switch takes the pointer of the fiber's stack out of f->sp and leaves that of this stack
     there, until the call in bn_fiber_leave swaps them back. */
  bn_fiber_switch(&f->sp, f->sp);
  bn_sanitizer_left(f);
  return f->ended;
}

bool bn_fiber_call(struct bn_fiber *f, void (*fn)(void *arg), void *arg)
{
  f->fn = fn;
  f->arg = arg;
  f->ended = false;
  return bn_fiber_resume(f);
}

void bn_fiber_leave(struct bn_fiber *f)
{
  bn_sanitizer_leaves(f);
  bn_fiber_switch(&f->sp, f->sp);
  bn_sanitizer_entered(f);
}
