/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of several runs as those of one. */
#ifndef BN_MEASURE_MESSAGES_H
#define BN_MEASURE_MESSAGES_H

#include "measure/runs.h"

/* Adds the messages of all parts to `out`, in the order of time.  A text that several parts have
   with the same level becomes one message, with the time of the first, and logged as often as in
   all parts together.  Messages beyond what a document holds are left out. */
void bn_messages_merge(const struct bn_part *part, size_t n, struct bn_facts *out);

#endif
