/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a limit with the need of a run, and says which limit to raise, and to what value. */
#ifndef BN_BASE_LIMIT_CHECK_H
#define BN_BASE_LIMIT_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* A limit of a server or of the host, and what a run needs of it. */
struct bn_limit_check {
  const char *what;    /* the things that are limited: "connections" */
  const char *by;      /* the party that sets the limit: "the server" */
  const char *remedy;  /* how to raise the limit; see bn_limit_check_append_remedy */
  const char *instead; /* what else helps: "use fewer --threads" */
  int64_t needed;
  int64_t allowed;  /* negative: without limit */
  int64_t others;   /* used by other clients; negative: unknown */
  int64_t reserved; /* added to the number that the remedy names */
  bool certain;     /* the run will surely need that many */
};

/* TIGHT: enough are allowed, but other clients use too many.  TOO_FEW: fewer are allowed, but the
   run may not need them all.  REFUSED: fewer are allowed, and the run needs them all. */
enum bn_judgement { BN_ENOUGH, BN_TIGHT, BN_TOO_FEW, BN_REFUSED };

/* Compares the need with the limit, and appends a message for the user to b unless the result is
   ENOUGH. */
enum bn_judgement bn_limit_check_append(struct bn_buf *b, const struct bn_limit_check *c);
/* As bn_limit_check_append, but prints the message on standard error: as an error if the result is
   REFUSED, else as a note. */
enum bn_judgement bn_limit_check_log(const struct bn_limit_check *c);
/* Appends a remedy, with the number in the place of each %n, and ", or ", which another remedy
   follows.  A remedy is such as "type \"ulimit -u %n\""; if it is NULL, nothing is appended. */
void bn_limit_check_append_remedy(struct bn_buf *b, const char *remedy, int64_t number);

#endif
