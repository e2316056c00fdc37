/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a history shows, in each of its forms. */
#ifndef BN_STUDY_HISTORYFORM_H
#define BN_STUDY_HISTORYFORM_H

#include "api/store.h"
#include "study/history/trend.h"

/* The trends of the first series come first, in the order of the metrics. */
struct bn_history {
  struct bn_series_set set;
  struct bn_trend *trend; /* owned */
  size_t n_trends;
};

/* The difference of the medians at change i in percent of the one before; NAN: that is 0. */
double bn_history_difference(const struct bn_trend *t, size_t i);
/* "p99 of NAME is worse by 5.1 % since 2026-03-01 12:00 ('x.json')"; of the last change. */
void bn_history_tell(const struct bn_history *h, const struct bn_series *s,
                     const struct bn_trend *t, struct bn_buf *out);

/* Text or Markdown; -1: out of memory. */
int bn_history_print(const struct bn_history *h, bool markdown, struct bn_buf *out);
/* NULL: out of memory. */
struct bn_node *bn_history_json(const struct bn_history *h, const struct bn_store *js);
/* What github-action-benchmark reads: the newest run of each series. */
struct bn_node *bn_history_github(const struct bn_history *h, const struct bn_store *js);

#endif
