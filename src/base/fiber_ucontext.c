/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches between stacks by the C library, for processors without a switch of our own; each makes
   two system calls for the signal mask. */
#include <stdint.h>
#include <ucontext.h>

#include "base/fiber.h"

/* Calls begin(f).  Both pointers come in halves, because makecontext passes only integers of 32
   bits. */
static void fiber_enter(unsigned begin_high, unsigned begin_low, unsigned f_high, unsigned f_low)
{
  const uintptr_t begin = (uintptr_t)((uint64_t)begin_high << 32 | begin_low);
  const uintptr_t f = (uintptr_t)((uint64_t)f_high << 32 | f_low);

  ((void (*)(struct bn_fiber *))begin)((struct bn_fiber *)f);
}

/* The context for the first switch takes the upper end of the stack; the calls run below it. */
void *bn_fiber_prepare(void *top, void (*begin)(struct bn_fiber *f), struct bn_fiber *f)
{
  ucontext_t *context = (ucontext_t *)top - 1;
  const uint64_t begin_bits = (uintptr_t)begin, f_bits = (uintptr_t)f;

  (void)getcontext(context); /* it fails only for a bad pointer, as swapcontext does */
  context->uc_stack.ss_sp = f->low;
  context->uc_stack.ss_size = (size_t)((char *)context - (char *)f->low);
  context->uc_link = NULL; /* begin() never returns */
  /* fiber_enter joins the halves of each pointer. */
  makecontext(context, (void (*)(void))fiber_enter, 4, (unsigned)(begin_bits >> 32),
              (unsigned)begin_bits, (unsigned)(f_bits >> 32), (unsigned)f_bits);
  return context;
}

/* The context of the stack that is left is kept on that stack. */
void bn_fiber_switch(void **from, void *to)
{
  ucontext_t context;

  *from = &context;
  (void)swapcontext(&context, to);
}
