/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs that a result holds, with their times of day: how long they took together, and for how
   much of that all of them ran. */
#ifndef BN_MEASURE_RUNS_H
#define BN_MEASURE_RUNS_H

#include "measure/result.h"

/* Each takes six facts of the bound on facts. */
enum { BN_RUNS_MAX = 512 };

/* The section of facts about them, and how the line about them begins in the heading. */
#define BN_RUNS_SECTION "merge"
#define BN_RUNS_ROW     "Merged from "

/* A result to merge; both are borrowed. */
struct bn_part {
  const char *name; /* of its file */
  const struct bn_result *result;
};

/* The span of a run's total.  Texts are borrowed from the part or its facts. */
struct bn_run {
  const char *part;        /* the file that holds it now */
  const char *file, *host; /* host: "" where it is not known */
  char seed[24];           /* of its random numbers, in digits */
  uint64_t start_ns;       /* CLOCK_MONOTONIC of its host */
  uint64_t start_wall_ns, end_wall_ns;
};

struct bn_runs {
  struct bn_run run[BN_RUNS_MAX]; /* from bn_runs_settle() on in the order of their starts */
  size_t n;
  uint64_t union_ns; /* the time in which at least one of them ran */
  double overlap;    /* the share of it in which all of them did */
};

/* The time of day at which the total of a result ends, from the clocks at its start; -1: it does
   not say. */
int bn_run_end(const struct bn_result *r, uint64_t *wall_ns);

/* Adds the run of a part, or those of a part that was merged itself.  -1 and err: its times make no
   sense, or there are too many. */
int bn_runs_add(struct bn_runs *runs, const struct bn_part *part, struct bn_err *err);
/* Puts them in order and finds the time that they took. */
void bn_runs_settle(struct bn_runs *runs);
/* -1 and err: one is there twice. */
int bn_runs_refuse_twice(const struct bn_runs *runs, struct bn_err *err);
/* The line, which one run does not need, and the section. */
void bn_runs_add_facts(const struct bn_runs *runs, struct bn_facts *f);

#endif
