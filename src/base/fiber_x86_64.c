/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches between stacks on x86-64 (System V ABI, section 3.2.1: rbx, rbp and r12 to r15 belong to
   the caller). */
#include <stdint.h>
#include <string.h>

#include "base/fiber.h"

/* bn_fiber_first: the first switch to a fiber returns to here, with the function in r13 and its
   argument in r12. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl bn_fiber_switch\n"
        ".hidden bn_fiber_switch\n"
        ".type bn_fiber_switch, @function\n"
        "bn_fiber_switch:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size bn_fiber_switch, .-bn_fiber_switch\n"
        ".hidden bn_fiber_first\n"
        ".globl bn_fiber_first\n"
        ".type bn_fiber_first, @function\n"
        "bn_fiber_first:\n"
        "  movq %r12, %rdi\n"
        "  call *%r13\n"
        "  ud2\n"
        ".size bn_fiber_first, .-bn_fiber_first\n");

void bn_fiber_first(void);

void *bn_fiber_prepare(void *top, void (*begin)(struct bn_fiber *f), struct bn_fiber *f)
{
  /* r15, r14, r13, r12, rbx, rbp, the address to return to.  After that return the stack is `top`,
     which is aligned to 16 bytes, as it has to be at a call. */
  const uint64_t frame[] = {0, 0, (uintptr_t)begin, (uintptr_t)f, 0, 0, (uintptr_t)bn_fiber_first};
  char *sp = (char *)top - sizeof frame;

  memcpy(sp, frame, sizeof frame);
  return sp;
}
