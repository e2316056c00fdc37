/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures of threads while others went on: the first message of each kind, as facts. */
#ifndef BN_ENGINE_FAILURES_H
#define BN_ENGINE_FAILURES_H

#include <pthread.h>
#include <stdbool.h>

#include "engine/reports.h"

enum { BN_FAILURE_KINDS = 16 };

struct bn_failures {
  struct bn_reports *reports; /* borrowed */
  pthread_mutex_t lock;       /* is locked before the lock of the reports */
  unsigned n;
  char kind[BN_FAILURE_KINDS][BN_LABEL_LEN]; /* the kinds seen so far */
};

void bn_failures_init(struct bn_failures *f, struct bn_reports *reports);
void bn_failures_done(struct bn_failures *f);
/* Records that a thread failed at_s after the measurement began (negative: before it).  Returns
   true for the first failure of its kind.  A kind may be any text; the fact has it escaped by
   bn_escape() and cut between characters.  After BN_FAILURE_KINDS, no kind is new.  Any thread. */
bool bn_failures_add(struct bn_failures *f, const char *kind, const char *text, double at_s);

#endif
