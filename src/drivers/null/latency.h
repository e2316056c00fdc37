/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that a statement takes on a simulated server: a distribution, parsed and drawn from. */
#ifndef BN_DRIVERS_NULL_LATENCY_H
#define BN_DRIVERS_NULL_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

enum bn_null_shape { BN_NULL_UNIFORM, BN_NULL_EXPONENTIAL };

/* A fixed time is uniform from itself to itself. */
struct bn_null_latency {
  enum bn_null_shape shape;
  double low_ns, high_ns; /* EXPONENTIAL: both are the mean */
};

/* Values that it parses, for messages. */
extern const char bn_null_latency_forms[];

/* Returns 0, or -1 if the text has another form or names more than a day. */
int bn_null_latency_parse(const char *text, struct bn_null_latency *out);

/* Returns whether no draw ever takes time. */
static inline bool bn_null_latency_is_none(const struct bn_null_latency *l)
{
  return l->high_ns <= 0;
}

/* Returns the state of the random stream of that number.  Streams of neighbours have nothing in
   common. */
uint64_t bn_null_latency_seed(unsigned number);
/* Draws a time, and advances the random stream. */
uint64_t bn_null_latency_draw(const struct bn_null_latency *l, uint64_t *stream);

#endif
