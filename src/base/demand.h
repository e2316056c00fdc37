/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges whether a limit leaves what a run needs, and says what to raise, and to what. */
#ifndef BN_BASE_DEMAND_H
#define BN_BASE_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct bn_demand {
  const char *what; /* "connections" */
  const char *by,
      *clients;            /* who allows them, and who uses others: "the server", "other clients" */
  const char *remedy;      /* as bn_demand_remedy has it */
  const char *instead;     /* "use fewer --threads" */
  int64_t needed, allowed; /* allowed -1: without limit */
  int64_t others, reserved; /* used by others, kept for some */
  bool certain;             /* that many will be needed */
};

enum bn_judgement { BN_ENOUGH, BN_TIGHT, BN_TOO_FEW, BN_REFUSED };

/* TIGHT: too few are left because of what others use.  TOO_FEW: fewer are allowed, but the run may
   not need them all.  REFUSED: fewer are allowed, and the run needs them all. */
/* Adds what a user should know to b, nothing if there is ENOUGH. */
enum bn_judgement bn_demand_say(struct bn_buf *b, const struct bn_demand *d);
/* The same to standard error. */
enum bn_judgement bn_demand_tell(const struct bn_demand *d);
/* Adds what to do and ", or ": "type \"ulimit -u %n\"", in which each %n is the number.  NULL:
   nothing. */
void bn_demand_remedy(struct bn_buf *b, const char *remedy, int64_t number);

#endif
