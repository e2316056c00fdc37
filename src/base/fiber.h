/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls on C stacks of their own, which can be left in their middle and entered again.

   A switch is a function call that saves the registers which the ABI tells a called function to
   preserve; it makes no system call, and keeps the signal mask and the rounding mode of floating
   point.  One thread uses a pool and its fibers. */
#ifndef BN_BASE_FIBER_H
#define BN_BASE_FIBER_H

#include <stdbool.h>
#include <stddef.h>

/* Address space of a stack, its guard included; memory is used only as far as calls have reached.
   Client libraries that resolve names and shake hands by TLS need about 100 KiB. */
enum { BN_FIBER_STACK = 256 * 1024, BN_FIBER_GUARD = 16 * 1024 };

struct bn_fiber {
  void *sp; /* stack pointer of the side that does not run: of the fiber, or of its caller */
  void (*fn)(void *arg);
  void *arg;
  bool ended;
  struct bn_fiber *next; /* in the pool */
  void *low;             /* lowest address of the stack, above the guard */
  void *sanitizer[2];    /* fiber_sanitizer.h */
  const void *sanitizer_low;
  size_t sanitizer_size;
};

struct bn_fiber_pool {
  struct bn_fiber *unused; /* the stack used last comes first: its memory is in the caches */
  unsigned mapped;         /* stacks that were made */
};

/* Frees the stacks, of which none is in use. */
void bn_fiber_pool_done(struct bn_fiber_pool *p);
/* Returns an unused stack, or NULL if there is no memory for another one. */
struct bn_fiber *bn_fiber_take(struct bn_fiber_pool *p);
/* Returns a stack to the pool; the call on it has returned. */
void bn_fiber_give_back(struct bn_fiber_pool *p, struct bn_fiber *f);
/* Calls fn(arg) on the stack.  Returns true if fn has returned, false if it has called
   bn_fiber_leave. */
bool bn_fiber_call(struct bn_fiber *f, void (*fn)(void *arg), void *arg);
/* Goes on with a fiber that was left.  Returns as bn_fiber_call does. */
bool bn_fiber_resume(struct bn_fiber *f);
/* Leaves the fiber, on whose stack this is called, until it is resumed. */
void bn_fiber_leave(struct bn_fiber *f);

/* --- by architecture --- */
/* Prepares the stack that ends at `top`, a multiple of 16 bytes, so that the first switch to it
   calls begin(f), which never returns.  Returns its stack pointer, for bn_fiber_switch. */
void *bn_fiber_prepare(void *top, void (*begin)(struct bn_fiber *f), struct bn_fiber *f);
/* Leaves this stack, stores its stack pointer in *from, and goes on with the stack whose pointer is
   `to`.  Returns when another call switches to *from. */
void bn_fiber_switch(void **from, void *to);

#endif
