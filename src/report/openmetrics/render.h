/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of metrics: OpenMetrics 1.0, which the parser of Prometheus's older text format reads
   too.  Therefore bench_run_info is a gauge: that format has no type "info". */
#ifndef BN_REPORT_OPENMETRICS_RENDER_H
#define BN_REPORT_OPENMETRICS_RENDER_H

#include "base/buf.h"
#include "measure/facts.h"
#include "measure/result.h"
#include "measure/view.h"

/* All functions append to a buffer, which remembers a failure.  A text is made of the facts, at
   most one view, and the end. */

/* Appends what the run is, when it started, and when it ended if it has. */
void bn_openmetrics_add_facts(struct bn_buf *b, const struct bn_facts *f);
/* Appends the figures of a total or a tick that the run measures. */
void bn_openmetrics_add_view(struct bn_buf *b, const struct bn_view *v);
/* Appends the exit status if it is known, and the end of the text.  end NULL: the run goes on. */
void bn_openmetrics_add_end(struct bn_buf *b, const struct bn_end *end);
/* Converts a text to the text format 0.0.4 of Prometheus, where all lines of a counter have its
   suffix, and there are no units and no end. */
void bn_openmetrics_convert(struct bn_buf *out, const char *text);

#endif
