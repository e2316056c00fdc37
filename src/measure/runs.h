/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs that results hold, with their times of day: how long they took together, and in which
   share of that time all of them ran. */
#ifndef BN_MEASURE_RUNS_H
#define BN_MEASURE_RUNS_H

#include "measure/result.h"

/* The most runs that results to merge may hold together: each becomes six facts, whose number is
   bounded (measure/bounds.h). */
enum { BN_RUNS_MAX = 512 };

/* The section of facts about the runs of a merged result, and the beginning of the line about them
   in its heading. */
#define BN_RUNS_SECTION "merge"
#define BN_RUNS_ROW     "Merged from "

/* A result to merge; both are borrowed. */
struct bn_part {
  const char *name; /* of its file */
  const struct bn_result *result;
};

/* A run and the span of its total.  Texts are borrowed from the part or its facts. */
struct bn_stored_run {
  const char *part;  /* the file that holds it now */
  const char *file;  /* the file of its result before any merge */
  const char *host;  /* "" where it is not known */
  char seed[24];     /* of its random numbers, in digits */
  uint64_t start_ns; /* CLOCK_MONOTONIC of its host */
  uint64_t start_wall_ns, end_wall_ns;
};

struct bn_runs {
  struct bn_stored_run run[BN_RUNS_MAX]; /* after bn_runs_settle() in the order of their starts */
  size_t n;
  uint64_t union_ns; /* the time in which at least one of them ran */
  double overlap;    /* the share of union_ns in which all of them ran */
};

/* Sets *wall_ns to the time of day at which the total of a result ends, which follows from the
   clocks at its start.  Returns 0, or -1 if the result does not have these times, or impossible
   ones. */
int bn_runs_find_end(const struct bn_result *r, uint64_t *wall_ns);

/* Adds the run of a part, or the runs of a part that was merged itself.  Returns 0, or -1 and err:
   times are missing or impossible, a merged part lacks the list of its runs, or there are more than
   BN_RUNS_MAX. */
int bn_runs_add(struct bn_runs *runs, const struct bn_part *part, struct bn_err *err);
/* Puts the runs in order, and computes union_ns and overlap. */
void bn_runs_settle(struct bn_runs *runs);
/* Returns 0, or -1 and err if two parts hold the same run. */
int bn_runs_check_distinct(const struct bn_runs *runs, struct bn_err *err);
/* Adds the section about the runs, and, if there are several, the line for the heading. */
void bn_runs_add_facts(const struct bn_runs *runs, struct bn_facts *f);

#endif
