/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends the program with a sentence if the C stack overflows (recursion through library
   callbacks). */
#include "script/vm/stackguard.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "script/vm/lua.h"

/* LuaJIT limits its own stack, but not the C stack that nested calls of string.gsub, table.sort or
   pcall use up.  So the kernel's guard page has to detect an overflow.  The handler needs a stack
   of its own, for which the overflowing stack has room that costs nothing until then.  In a thread
   that room is the lower end of the stack: nothing returns to the frames that the handler
   overwrites there.  MARGIN keeps the handler away from the stack pointer of that moment, because
   the kernel would otherwise believe that the handler's stack is in use already.  In the main
   thread the lower end of the stack does not exist before the stack has grown so far, so there the
   handler gets an array in the frame of the guarded call. */
enum { HANDLER_STACK = 32 * 1024, MARGIN = 4096, GUARD_SIZE = 256 * 1024 };

/* Returns whether the handler runs during a guarded call: only then it has a stack of its own. */
static bool stackguard_is_in_call(void)
{
  stack_t stack;

  return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

/* Returns whether a fault at this address is an overflow of the stack of the call.  A large frame
   may skip the guard page, so addresses next to it count too: those within GUARD_SIZE below the
   stack, where nothing is mapped, and those of the lowest part of the stack, which the handler
   alone uses. */
static bool stackguard_is_overflow(const struct bn_lua *lua, uintptr_t address)
{
  return address + GUARD_SIZE >= lua->stack_low && address < lua->stack_low + HANDLER_STACK;
}

/* Handles SIGSEGV.  When it returns, the instruction that has failed runs again, so that another
   fault gets its usual effect: from the handler before ours during a call, else from the
   default. */
static void stackguard_on_fault(int number, siginfo_t *info, void *context)
{
  const struct bn_lua *lua = bn_lua_current();

  (void)context;
  if (lua == NULL || !stackguard_is_in_call()) {
    (void)signal(number, SIG_DFL);
    return;
  }
  if (stackguard_is_overflow(lua, (uintptr_t)info->si_addr))
    bn_alloc_fail_with(
        "FATAL: C stack overflow: the script recurses without end through a library function "
        "(string.gsub, table.sort, pcall or the like)\n");
  (void)sigaction(number, lua->vm->guard, NULL);
}

struct sigaction *bn_stackguard_install(void)
{
  struct sigaction *previous = bn_alloc(1, sizeof *previous);
  struct sigaction ours;

  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = stackguard_on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  (void)sigemptyset(&ours.sa_mask);
  (void)sigaction(SIGSEGV, &ours, previous);
  return previous;
}

void bn_stackguard_remove(struct sigaction *previous)
{
  (void)sigaction(SIGSEGV, previous, NULL);
  free(previous);
}

/* Returns the lowest address of the thread's stack, or 0 if it is not known. */
static uintptr_t stackguard_lowest_address(void)
{
  pthread_attr_t attr;
  void *low = NULL;
  size_t size = 0;

  if (pthread_getattr_np(pthread_self(), &attr) != 0)
    return 0;
  (void)pthread_attr_getstack(&attr, &low, &size);
  (void)pthread_attr_destroy(&attr);
  return (uintptr_t)low;
}

/* Sets lua->stack_low for the thread that calls, unless the same thread called last: finding the
   stack costs system calls, and leaves memory in the thread's cache. */
static void stackguard_find_stack(struct bn_lua *lua)
{
  if (lua->stack_low != 0 && pthread_equal(lua->stack_thread, pthread_self()))
    return;
  lua->stack_low = stackguard_lowest_address();
  lua->stack_thread = pthread_self();
}

void bn_stackguard_trim_stack(struct bn_lua *lua)
{
  enum { IN_USE = 1024 }; /* bytes below this frame's address for its own variables and madvise */
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

  stackguard_find_stack(lua);
  if (lua->stack_low == 0)
    return;
  const uintptr_t from = (lua->stack_low + page - 1) / page * page;
  const uintptr_t to = (here - IN_USE) / page * page;

  if (from < to) /* whole pages only */
    (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Calls fn(arg) with HANDLER_STACK bytes of `memory` as the stack of the handler; without a guard
   if the kernel refuses that stack. */
static int stackguard_call_on(void *memory, int (*fn)(void *arg), void *arg)
{
  const stack_t ours = {.ss_sp = memory, .ss_size = HANDLER_STACK};
  stack_t previous;

  if (sigaltstack(&ours, &previous) != 0)
    return fn(arg);
  const int result = fn(arg);

  (void)sigaltstack(&previous, NULL);
  return result;
}

uintptr_t bn_stackguard_guard_thread(void)
{
  const uintptr_t low = stackguard_lowest_address();

  if (low == 0)
    return 0;
  const stack_t ours = {.ss_sp = (unsigned char *)low + MARGIN, .ss_size = HANDLER_STACK};

  (void)sigaltstack(&ours, NULL);
  return low;
}

/* Calls fn(arg) on the main thread, whose stack has no lower end yet: the handler gets an array in
   this frame.  An overflow happens far below it, so the handler overwrites nothing that is in use.
   The function is not inlined, because the array must lie above all frames of the call. */
__attribute__((noinline)) static int stackguard_call_on_main_thread(int (*fn)(void *arg), void *arg)
{
  _Alignas(16) unsigned char memory[HANDLER_STACK];

  return stackguard_call_on(memory, fn, arg);
}

int bn_stackguard_call(struct bn_lua *lua, int (*fn)(void *arg), void *arg)
{
  stackguard_find_stack(lua);
  if (lua->stack_low == 0)
    return fn(arg);
  if (gettid() == getpid())
    return stackguard_call_on_main_thread(fn, arg);
  return stackguard_call_on((unsigned char *)lua->stack_low + MARGIN, fn, arg);
}
