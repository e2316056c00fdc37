/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the reporters of a run on several hosts what one of a single host is told by the engine. */
#ifndef BN_HOSTS_REPORTERS_H
#define BN_HOSTS_REPORTERS_H

#include <stdbool.h>

#include "api/report.h"
#include "measure/result.h"

struct bn_reporters_slot {
  struct bn_report_use use;
  void *state; /* owned */
  bool opened;
};

struct bn_reporters {
  struct bn_reporters_slot *slot; /* owned */
  size_t n;
  bool failed; /* a report could not be written or made */
};

/* Opens the reporters.  false: one cannot be, which has been logged; close them all the same. */
bool bn_reporters_open(struct bn_reporters *t, const struct bn_report_use *use, size_t n,
                       const struct bn_plan *plan);
/* The heading.  The facts stay valid until the reporters are closed, and may grow. */
void bn_reporters_begin(struct bn_reporters *t, const struct bn_facts *f);
/* The hosts start. */
void bn_reporters_started(struct bn_reporters *t, const struct bn_facts *f);
/* An interval, a checkpoint or a tick. */
void bn_reporters_view(struct bn_reporters *t, const struct bn_view *v);
/* The total of the first group, and the hosts, which are the other groups. */
void bn_reporters_total(struct bn_reporters *t, const struct bn_result *r);
/* Whether a reporter wants views of that span. */
bool bn_reporters_wants(const struct bn_reporters *t, enum bn_view_span span);
/* How the run ended; the last call. */
void bn_reporters_close(struct bn_reporters *t, const struct bn_end *end);

#endif
