/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches between stacks on 64-bit ARM (AAPCS64, section 6.1: x19 to x29, and the lower halves of
   v8 to v15, belong to the caller). */
#include <stdint.h>
#include <string.h>

#include "base/fiber.h"

/* bn_fiber_first: the first switch to a fiber returns to here, with the function in x20 and its
   argument in x19. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl bn_fiber_switch\n"
        ".hidden bn_fiber_switch\n"
        ".type bn_fiber_switch, %function\n"
        "bn_fiber_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n"
        "  stp x21, x22, [sp, #16]\n"
        "  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n"
        "  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n"
        "  str x2, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n"
        "  ldp x21, x22, [sp, #16]\n"
        "  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n"
        "  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size bn_fiber_switch, .-bn_fiber_switch\n"
        ".hidden bn_fiber_first\n"
        ".globl bn_fiber_first\n"
        ".type bn_fiber_first, %function\n"
        "bn_fiber_first:\n"
        "  mov x0, x19\n"
        "  blr x20\n"
        "  brk #0\n"
        ".size bn_fiber_first, .-bn_fiber_first\n");

void bn_fiber_first(void);

void *bn_fiber_prepare(void *top, void (*begin)(struct bn_fiber *f), struct bn_fiber *f)
{
  /* x19 to x30, then d8 to d15, as bn_fiber_switch loads them.  It returns to x30. */
  enum { X19 = 0, X20 = 1, X30 = 11, REGISTERS = 20 };
  const uint64_t frame[REGISTERS] = {
      [X19] = (uintptr_t)f, [X20] = (uintptr_t)begin, [X30] = (uintptr_t)bn_fiber_first};
  char *sp = (char *)top - sizeof frame;

  memcpy(sp, frame, sizeof frame);
  return sp;
}
