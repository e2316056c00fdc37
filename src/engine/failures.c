/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remembers the kinds of failures and adds the first failure of each to the reports. */
#include "engine/failures.h"

#include <string.h>

#include "base/escape.h"

void bn_failures_init(struct bn_failures *f, struct bn_reports *reports)
{
  memset(f, 0, sizeof *f);
  f->reports = reports;
  (void)pthread_mutex_init(&f->lock, NULL);
}

void bn_failures_done(struct bn_failures *f)
{
  if (f->reports != NULL)
    (void)pthread_mutex_destroy(&f->lock);
  f->reports = NULL;
}

/* The caller holds the lock. */
static bool is_new(const struct bn_failures *f, const char *label)
{
  for (unsigned i = 0; i < f->n; i++)
    if (strcmp(f->kind[i], label) == 0)
      return false;
  return f->n < BN_FAILURE_KINDS;
}

bool bn_failures_add(struct bn_failures *f, const char *kind, const char *text, double at_s)
{
  char label[BN_LABEL_LEN];
  bool first;

  (void)bn_escape(label, sizeof label, kind[0] != '\0' ? kind : "unknown", "\n\t");
  (void)pthread_mutex_lock(&f->lock);
  first = is_new(f, label);
  if (first) {
    memcpy(f->kind[f->n++], label, sizeof label);
    bn_reports_fact(f->reports, BN_THREAD_ERRORS, label, text);
    bn_reports_fact_f64(f->reports, BN_THREAD_ERROR_TIMES, label, at_s);
  }
  (void)pthread_mutex_unlock(&f->lock);
  return first;
}
