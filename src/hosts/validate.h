/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks what a host sends about its run: it is bounded before it is read, and refused if it does
   not fit what the host said when it was ready.

   Figures that pass can be summed with those of other hosts, so that no host costs the report of
   the others. */
#ifndef BN_HOSTS_VALIDATE_H
#define BN_HOSTS_VALIDATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "measure/json.h"
#include "measure/result.h"

/* Values of a READY and of an interval, of which each takes about 130 bytes when it is read. */
enum { BN_VALID_HEAD_VALUES = 1 << 18, BN_VALID_LINE_VALUES = 1 << 16 };

/* The description of a host's measurements, which it sends when it is ready. */
struct bn_valid_as {
  char *name; /* owned; of its workload */
  struct bn_metrics metrics;
  struct bn_plan plan;
  bool paced;   /* --rate or --rate-profile */
  size_t hosts; /* with which its figures are summed */
};

/* group: of a journal; facts: of the same READY.  -1: err says what is wrong, and *as is empty. */
int bn_valid_begin(struct bn_valid_as *as, const struct bn_node *group,
                   const struct bn_facts *facts, size_t hosts, struct bn_err *err);
void bn_valid_done(struct bn_valid_as *as);
/* Whether figures of both can be summed.  -1: err says how `a` differs. */
int bn_valid_compare(const struct bn_valid_as *a, const struct bn_valid_as *b, struct bn_err *err);
/* The same for groups, which may measure different things. */
int bn_valid_compare_plans(const struct bn_valid_as *a, const struct bn_valid_as *b,
                           struct bn_err *err);
/* A view that was read.  -1: err says why it is no part of a sum. */
int bn_valid_check(const struct bn_valid_as *as, const struct bn_view *v, struct bn_err *err);

/* Returns how long the text of a result may be.  as NULL: the host was never ready. */
size_t bn_valid_bytes(const struct bn_valid_as *as, bool statements);
/* Reads a result: a document with the total of one group and nothing else, or of a run that has
   measured nothing.  -1: err says why it is refused, and *out is empty. */
int bn_valid_read(const struct bn_valid_as *as, const struct bn_buf *text, bool statements,
                  struct bn_result *out, struct bn_err *err);

#endif
