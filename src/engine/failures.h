/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why threads have failed while others went on: the first message of each kind, as facts. */
#ifndef BN_ENGINE_FAILURES_H
#define BN_ENGINE_FAILURES_H

#include <pthread.h>
#include <stdbool.h>

#include "engine/reports.h"

enum { BN_FAILURE_KINDS = 16 };

struct bn_failures {
  struct bn_reports *reports; /* borrowed */
  pthread_mutex_t lock;       /* before the reports' */
  unsigned n;
  char kind[BN_FAILURE_KINDS][BN_LABEL_LEN]; /* those that are known already */
};

void bn_failures_init(struct bn_failures *f, struct bn_reports *reports);
void bn_failures_done(struct bn_failures *f);
/* A thread has failed at_s after the measurement began, before it if that is negative.  true: as
   the first one of its kind.  A kind may be any text; the fact has it as bn_escape() and cut
   between characters.  Beyond BN_FAILURE_KINDS no kind is new.  Any thread. */
bool bn_failures_add(struct bn_failures *f, const char *kind, const char *text, double at_s);

#endif
