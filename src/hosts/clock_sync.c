/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets of clocks from exchanges. */
#include "hosts/clock_sync.h"

/* No clock that counts from the boot of a machine reaches 2^62 ns, which are 146 years.  So the
   difference of two times fits into an int64_t. */
#define TIME_MAX_NS (UINT64_C(1) << 62)

/* Returns how far the clocks may drift apart in a time, rounded up.  Whole millions of
   nanoseconds are divided first, because ns * BN_CLOCK_SYNC_DRIFT_PPM could overflow. */
static int64_t clock_sync_get_max_drift(uint64_t ns)
{
  enum { MILLION = 1000000 };

  return (int64_t)(ns / MILLION * BN_CLOCK_SYNC_DRIFT_PPM +
                   (ns % MILLION * BN_CLOCK_SYNC_DRIFT_PPM + MILLION - 1) / MILLION);
}

/* Returns the span at a later time, wider by the drift of two clocks until then.  A time that is
   not later leaves it as it is. */
static struct bn_clock_sync_span clock_sync_widen(struct bn_clock_sync_span span, uint64_t at_ns)
{
  int64_t more_ns;

  if (at_ns <= span.at_ns)
    return span;
  more_ns = clock_sync_get_max_drift(at_ns - span.at_ns);
  return (struct bn_clock_sync_span){
      .low_ns = span.low_ns - more_ns, .high_ns = span.high_ns + more_ns, .at_ns = at_ns};
}

/* Returns the span of one exchange, as it is at back_ns.  The clock there was read at back_ns at
   the latest, which gives the least offset, and at sent_ns at the earliest, which gives the
   greatest; by back_ns the clocks may have drifted apart a little more. */
static struct bn_clock_sync_span clock_sync_measure(uint64_t sent_ns, uint64_t there_ns,
                                                    uint64_t back_ns)
{
  return (struct bn_clock_sync_span){.low_ns = (int64_t)(there_ns - back_ns),
                                     .high_ns = (int64_t)(there_ns - sent_ns) +
                                                clock_sync_get_max_drift(back_ns - sent_ns),
                                     .at_ns = back_ns};
}

/* Returns what two spans have in common, which are of the same time and overlap. */
static struct bn_clock_sync_span clock_sync_intersect(struct bn_clock_sync_span a,
                                                      struct bn_clock_sync_span b)
{
  return (struct bn_clock_sync_span){.low_ns = a.low_ns > b.low_ns ? a.low_ns : b.low_ns,
                                     .high_ns = a.high_ns < b.high_ns ? a.high_ns : b.high_ns,
                                     .at_ns = a.at_ns};
}

int bn_clock_sync_add(struct bn_clock_sync *s, uint64_t sent_ns, uint64_t there_ns,
                      uint64_t back_ns)
{
  const bool is_first = s->exchanges == 0;
  struct bn_clock_sync_span measured, known;

  if (sent_ns > back_ns || back_ns > TIME_MAX_NS || there_ns > TIME_MAX_NS)
    return -1;
  measured = clock_sync_measure(sent_ns, there_ns, back_ns);
  known = is_first ? measured : clock_sync_widen(s->now, back_ns);
  if (is_first || back_ns - sent_ns < s->best_trip_ns)
    s->best_trip_ns = back_ns - sent_ns;
  if (known.low_ns > measured.high_ns || known.high_ns < measured.low_ns) {
    /* A clock was set, or stood still with its machine, so this exchange is the first one again. */
    s->now = measured;
    s->exchanges = 0;
  } else { /* the offset is in both spans */
    s->now = clock_sync_intersect(measured, known);
  }
  s->exchanges++;
  return 0;
}

bool bn_clock_sync_read(const struct bn_clock_sync *s, uint64_t at_ns,
                        struct bn_clock_sync_view *out)
{
  struct bn_clock_sync_span now;
  uint64_t width_ns;

  if (s->exchanges == 0)
    return false;
  now = clock_sync_widen(s->now, at_ns);
  width_ns = (uint64_t)(now.high_ns - now.low_ns);
  /* The middle is rounded down, so the error is rounded up. */
  *out = (struct bn_clock_sync_view){.offset_ns = now.low_ns + (int64_t)(width_ns / 2),
                                     .error_ns = (width_ns + 1) / 2};
  return true;
}

uint64_t bn_clock_sync_to_there(const struct bn_clock_sync_view *v, uint64_t here_ns)
{
  return here_ns + (uint64_t)v->offset_ns; /* a negative offset wraps, and so is subtracted */
}

uint64_t bn_clock_sync_to_here(const struct bn_clock_sync_view *v, uint64_t there_ns)
{
  return there_ns - (uint64_t)v->offset_ns;
}
