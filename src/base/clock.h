/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock: nanoseconds of CLOCK_MONOTONIC, read through a calibrated TSC where that is sound. */
#ifndef BN_BASE_CLOCK_H
#define BN_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define BN_NSEC_PER_SEC  UINT64_C(1000000000)
#define BN_NSEC_PER_MSEC UINT64_C(1000000)

/* TSC skips the checks of AUTO but not the 50 ppm rule; where there is no TSC it means VDSO. */
enum bn_clock_choice { BN_CLOCK_AUTO, BN_CLOCK_TSC, BN_CLOCK_VDSO };

/* A linear map from counter ticks to CLOCK_MONOTONIC: ns = base_ns + ((ticks - base_ticks) * mult
   >> 32).  A reader may use the map for `horizon` ticks after base_ticks, and then fetches the next
   one.  Horizon 0 selects the vdso for good; base_ns is then a lower bound of the time. */
struct bn_clock_fit {
  uint64_t base_ticks, base_ns, mult, horizon;
};

/* Shared by all threads of a run.  The thread that calls bn_clock_refit is its only writer. */
struct bn_clock {
  _Atomic uint32_t seq; /* odd while the fit is being written */
  _Atomic uint64_t base_ticks, base_ns, mult, horizon;
  uint64_t sample_ticks, sample_ns; /* the last comparison of both clocks, for the writer */
};

/* Private to one thread: its copy of the fit, so that reading the clock touches nothing shared. */
struct bn_clock_reader {
  struct bn_clock_fit fit;
  struct bn_clock *clock;
};

/* Chooses the source of the time: the TSC where the CPU has constant_tsc and nonstop_tsc and the
   kernel itself runs on tsc (choice AUTO), else the vdso.  Calibrates the TSC for about 2 ms, and
   takes the vdso if that fails.  Call before any thread reads. */
void bn_clock_init(struct bn_clock *c, enum bn_clock_choice choice);
/* Returns "tsc" or "vdso". */
const char *bn_clock_name(const struct bn_clock *c);
/* Fits again; call about once a second from one thread.  Slews, never steps back; switches to the
   vdso for good when the old fit is off by more than 50 ppm.  Without these calls the clock stays
   right all the same: a reader whose fit ran out compares with CLOCK_MONOTONIC itself. */
void bn_clock_refit(struct bn_clock *c);
/* Makes a reader of c, which outlives it. */
void bn_clock_reader_init(struct bn_clock_reader *r, struct bn_clock *c);
/* Returns the time as bn_clock_now does, which calls this if its fit has run out: fetches the
   current fit, or reads the vdso. */
uint64_t bn_clock_now_slow(struct bn_clock_reader *r);
/* Returns CLOCK_MONOTONIC in ns, read by the vdso.  Any thread. */
uint64_t bn_clock_mono(void);
/* Returns CLOCK_REALTIME in ns.  Any thread. */
uint64_t bn_clock_wall(void);
/* Sleeps until CLOCK_MONOTONIC reaches ns; signals do not end the sleep.  Any thread. */
void bn_clock_sleep_until(uint64_t ns);

#if defined(__x86_64__)
#define BN_CLOCK_HAS_TSC 1
static inline uint64_t bn_clock_ticks(void)
{
  return __builtin_ia32_rdtsc();
}
#else
#define BN_CLOCK_HAS_TSC 0
static inline uint64_t bn_clock_ticks(void)
{
  return 0;
}
#endif

/* Returns a time or a duration in the form of system calls. */
static inline struct timespec bn_clock_to_timespec(uint64_t ns)
{
  return (struct timespec){.tv_sec = (time_t)(ns / BN_NSEC_PER_SEC),
                           .tv_nsec = (long)(ns % BN_NSEC_PER_SEC)};
}

/* Returns the time from from_ns to to_ns, or 0 if to_ns is earlier. */
static inline uint64_t bn_clock_between(uint64_t from_ns, uint64_t to_ns)
{
  return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Return the lesser and the greater of two times or durations. */
static inline uint64_t bn_clock_min(uint64_t a_ns, uint64_t b_ns)
{
  return a_ns < b_ns ? a_ns : b_ns;
}
static inline uint64_t bn_clock_max(uint64_t a_ns, uint64_t b_ns)
{
  return a_ns > b_ns ? a_ns : b_ns;
}

/* Returns the time s >= 0 seconds after start_ns, or UINT64_MAX, which stands for never, if s is 95
   years or more: the sum might overflow. */
static inline uint64_t bn_clock_after(uint64_t start_ns, double s)
{
  const double never_s = 3e9;

  return s < never_s ? start_ns + (uint64_t)(s * 1e9) : UINT64_MAX;
}

/* Returns the time in ns of CLOCK_MONOTONIC.  It never falls for the same reader (as far as the
   TSCs of the CPUs agree, which the kernel checked before it chose tsc itself). */
static inline uint64_t bn_clock_now(struct bn_clock_reader *r)
{
  /* A reader of the vdso does not read the counter, which costs 10 ns in a virtual machine. */
  if (__builtin_expect(r->fit.horizon == 0, 0))
    return bn_clock_now_slow(r);
  const uint64_t ticks = bn_clock_ticks() - r->fit.base_ticks;

  if (__builtin_expect(ticks < r->fit.horizon, 1))
    return r->fit.base_ns + (uint64_t)(((unsigned __int128)ticks * r->fit.mult) >> 32);
  return bn_clock_now_slow(r);
}

#endif
