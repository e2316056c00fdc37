/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `search`: the highest rate, or number of threads, that keeps a goal.

   Each probe is a run of its own.  study/search/hunt.h says what to probe, study/search/goal.h what
   was found. */
#ifndef BN_STUDY_SEARCH_H
#define BN_STUDY_SEARCH_H

#include <stdint.h>

#include "api/opt.h"
#include "base/err.h"

struct bn_search_conf {
  char *goal;
  int over;        /* index into the choices of --over */
  char *precision; /* "3%" */
  double min, max; /* 0: not given */
  double time_s, time_max_s, warmup_s, cooldown_s;
  int64_t probes;
  char *out;     /* NULL: nothing is kept */
  int format;    /* index into the choices of --format */
  char *output;  /* NULL: standard output */
  char *program; /* NULL: this one */
};

extern const struct bn_opt bn_search_options[];

/* struct bn_subcommand's run. */
int bn_search_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
