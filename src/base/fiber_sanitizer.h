/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the sanitizers of switches between stacks, which they would take for overflows and races;
   empty without a sanitizer.

   bn_sanitizer_made and _freed report that a stack was made and will be freed.  A switch to a fiber
   has _enters before it, on the stack of the caller, and _entered after it, on that of the fiber.
   A switch back has _leaves before it, on the stack of the fiber, and _left after it. */
#ifndef BN_BASE_FIBER_SANITIZER_H
#define BN_BASE_FIBER_SANITIZER_H

#include "base/fiber.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BN_FIBER_ASAN 1
#elif __has_feature(thread_sanitizer)
#define BN_FIBER_TSAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define BN_FIBER_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define BN_FIBER_TSAN 1
#endif

/* Defines a function that does nothing: the sanitizer, if any, need not know of such a moment. */
#define UNOBSERVED(name)                                                                           \
  static inline void name(struct bn_fiber *f)                                                      \
  {                                                                                                \
    (void)f;                                                                                       \
  }

#if defined(BN_FIBER_ASAN)

#include <sanitizer/common_interface_defs.h>

enum { SAN_OWN, SAN_CALLER };

UNOBSERVED(bn_sanitizer_made)
UNOBSERVED(bn_sanitizer_freed)

static inline void bn_sanitizer_enters(struct bn_fiber *f)
{
  __sanitizer_start_switch_fiber(&f->sanitizer[SAN_CALLER], f->low,
                                 BN_FIBER_STACK - BN_FIBER_GUARD);
}

static inline void bn_sanitizer_entered(struct bn_fiber *f)
{
  __sanitizer_finish_switch_fiber(f->sanitizer[SAN_OWN], &f->sanitizer_low, &f->sanitizer_size);
}

static inline void bn_sanitizer_leaves(struct bn_fiber *f)
{
  __sanitizer_start_switch_fiber(&f->sanitizer[SAN_OWN], f->sanitizer_low, f->sanitizer_size);
}

static inline void bn_sanitizer_left(struct bn_fiber *f)
{
  __sanitizer_finish_switch_fiber(f->sanitizer[SAN_CALLER], NULL, NULL);
}

#elif defined(BN_FIBER_TSAN)

#include <sanitizer/tsan_interface.h>

enum { SAN_OWN, SAN_CALLER };

static inline void bn_sanitizer_made(struct bn_fiber *f)
{
  f->sanitizer[SAN_OWN] = __tsan_create_fiber(0);
}

static inline void bn_sanitizer_freed(struct bn_fiber *f)
{
  __tsan_destroy_fiber(f->sanitizer[SAN_OWN]);
}

static inline void bn_sanitizer_enters(struct bn_fiber *f)
{
  f->sanitizer[SAN_CALLER] = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(f->sanitizer[SAN_OWN], 0);
}

UNOBSERVED(bn_sanitizer_entered)

static inline void bn_sanitizer_leaves(struct bn_fiber *f)
{
  __tsan_switch_to_fiber(f->sanitizer[SAN_CALLER], 0);
}

UNOBSERVED(bn_sanitizer_left)

#else

UNOBSERVED(bn_sanitizer_made)
UNOBSERVED(bn_sanitizer_freed)
UNOBSERVED(bn_sanitizer_enters)
UNOBSERVED(bn_sanitizer_entered)
UNOBSERVED(bn_sanitizer_leaves)
UNOBSERVED(bn_sanitizer_left)

#endif

#undef UNOBSERVED

#endif
