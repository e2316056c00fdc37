/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a limit with the need of a run, and says which limit to raise, and to what value. */
#ifndef BN_BASE_LIMIT_CHECK_H
#define BN_BASE_LIMIT_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct bn_limit_check {
  const char *what;         /* "connections" */
  const char *by, *clients; /* the party that sets the limit, and the parties that use a part: "the
                               server", "other clients" */
  const char *remedy;       /* see bn_limit_check_remedy */
  const char *instead;      /* "use fewer --threads" */
  int64_t needed, allowed;  /* allowed -1: without limit */
  int64_t others, reserved; /* used by other parties, -1: unknown; reserved for some */
  bool certain;             /* the run will surely need that many */
};

/* TIGHT: enough are allowed, but other parties use too many.  TOO_FEW: fewer are allowed, but the
   run may not need them all.  REFUSED: fewer are allowed, and the run needs them all. */
enum bn_judgement { BN_ENOUGH, BN_TIGHT, BN_TOO_FEW, BN_REFUSED };

/* Appends a message for the user to b, none if there is ENOUGH. */
enum bn_judgement bn_limit_check_append(struct bn_buf *b, const struct bn_limit_check *d);
/* As bn_limit_check_append, but prints the message on standard error. */
enum bn_judgement bn_limit_check_log(const struct bn_limit_check *d);
/* Appends the remedy and ", or ": "type \"ulimit -u %n\"", in which each %n is replaced by the
   number. remedy NULL appends nothing. */
void bn_limit_check_remedy(struct bn_buf *b, const char *remedy, int64_t number);

#endif
