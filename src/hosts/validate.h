/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks what a host sends about its run.  Its size is bounded before it is read, and it is refused
   if it does not fit what the host has said when it was ready.

   Figures that pass can be summed with those of other hosts, so that no host costs the report of
   the others. */
#ifndef BN_HOSTS_VALIDATE_H
#define BN_HOSTS_VALIDATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "measure/json.h"
#include "measure/result.h"

/* The most JSON values of a READY and of a line.  Each takes about 130 bytes when it is read. */
enum { BN_VALID_HEAD_VALUES = 1 << 18, BN_VALID_LINE_VALUES = 1 << 16 };

/* The description of a host's measurements, which it sends when it is ready. */
struct bn_valid_spec {
  char *name; /* owned; of its workload */
  struct bn_metrics metrics;
  struct bn_plan plan;
  size_t hosts; /* the number of hosts whose figures are summed, with this one */
};

/* Reads the description of a host's measurements from a READY, which has a group, as a journal has
   it, and facts.  Returns 0, or -1 and err; *spec is then empty. */
int bn_valid_read_spec(struct bn_valid_spec *spec, const struct bn_node *group,
                       const struct bn_facts *facts, size_t hosts, struct bn_err *err);
void bn_valid_done(struct bn_valid_spec *spec);
/* Checks whether the figures of a host can be summed with those of another one: both are of one
   dialect, and have percentiles of the same ranks.  If the two have to measure the same, unlike
   hosts of different groups, their tests and metrics are compared, too.  Returns 0, or -1 and err,
   which says how the host differs. */
int bn_valid_compare(const struct bn_valid_spec *spec, const struct bn_valid_spec *other,
                     bool measure_same, struct bn_err *err);
/* Checks whether a view of a host can be summed with those of other hosts.  Returns 0, or -1 and
   err, which says why it cannot. */
int bn_valid_check_view(const struct bn_valid_spec *spec, const struct bn_view *v,
                        struct bn_err *err);

/* Returns the most bytes of the text of a result.  spec NULL: the host was never ready. */
size_t bn_valid_max_bytes(const struct bn_valid_spec *spec, bool statements);
/* Reads the text of a result: a document with the total of one group and no intervals, or without
   figures.  spec NULL: the host was never ready.  Returns 0, or -1 and err, which says why it is
   refused; *out is then empty. */
int bn_valid_read_result(const struct bn_valid_spec *spec, const struct bn_buf *text,
                         bool statements, struct bn_result *out, struct bn_err *err);

#endif
