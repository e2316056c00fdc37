/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The offset of another host's monotonic clock from the clock here, and the bound of its error.

   An exchange sends the time here, gets the time there, and notes the time here again.  The clock
   there was read at some moment between the two times here, so its offset lies in an interval as
   long as the round trip, whatever the delays of the two ways are.  Between exchanges the interval
   widens by the greatest drift that two clocks are taken to have, and each exchange cuts it.  With
   one exchange the estimate is the middle of its round trip and the bound half of it; the exchange
   with the shortest round trip decides as long as it is fresh. */
#ifndef BN_HOSTS_CLOCK_SYNC_H
#define BN_HOSTS_CLOCK_SYNC_H

#include <stdbool.h>
#include <stdint.h>

enum {
  BN_CLOCK_SYNC_FIRST = 20,     /* exchanges before the start */
  BN_CLOCK_SYNC_DRIFT_PPM = 200 /* the greatest drift between two clocks, 100 for each */
};

/* At the time at_ns here, the offset (there minus here) is not less than low_ns and not greater
   than high_ns. */
struct bn_clock_sync_span {
  int64_t low_ns, high_ns;
  uint64_t at_ns;
};

/* All zero: nothing is known. */
struct bn_clock_sync {
  struct bn_clock_sync_span now; /* after the last exchange */
  uint64_t best_trip_ns;         /* the shortest round trip */
  uint64_t exchanges;            /* since a clock was found where it could not have drifted to */
};

/* Adds an exchange that began here at sent_ns, found the time there_ns there, and was back here at
   back_ns.  Exchanges are added in the order of back_ns.  Returns 0, or -1 if the times are
   impossible, so that the stream is not to be trusted; then nothing changes. */
int bn_clock_sync_add(struct bn_clock_sync *s, uint64_t sent_ns, uint64_t there_ns,
                      uint64_t back_ns);

struct bn_clock_sync_view {
  int64_t offset_ns; /* there minus here */
  uint64_t error_ns; /* the true offset is not farther from offset_ns than this */
};

/* Stores the offset at the time at_ns here, which is not before the last exchange.  Returns false,
   and stores nothing, if there was no exchange. */
bool bn_clock_sync_read(const struct bn_clock_sync *s, uint64_t at_ns,
                        struct bn_clock_sync_view *out);
/* Returns the time there when it is here_ns here, by the offset of the view. */
uint64_t bn_clock_sync_to_there(const struct bn_clock_sync_view *v, uint64_t here_ns);
/* Returns the time here when it is there_ns there. */
uint64_t bn_clock_sync_to_here(const struct bn_clock_sync_view *v, uint64_t there_ns);

#endif
