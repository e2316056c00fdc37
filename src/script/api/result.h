/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysbench.result: what a run has measured, as a table for done(). */
#ifndef BN_SCRIPT_API_RESULT_H
#define BN_SCRIPT_API_RESULT_H

#include <stdbool.h>

#include <lua.h>

#include "measure/result.h"

/* The limit of kept intervals, which have 3 kB each; later ones are dropped. */
enum { BN_KEPT_INTERVALS = 1 << 16 };

/* Results that are kept for done().  The reporting thread writes them during the run, and the main
   thread afterwards, which also reads them. */
struct bn_script_results {
  bool wanted;                  /* the script has a done(), which may read it */
  const struct bn_facts *facts; /* borrowed from the run */
  struct bn_result result;      /* everything but the facts */
  bool cut;                     /* intervals above the limit were dropped */
};

/* Keeps a copy of an interval, a checkpoint or the total of the workload of that name, if results
   are wanted.  Drops an interval above the limit, and sets kept->cut. */
void bn_script_results_add(struct bn_script_results *kept, const char *name,
                           const struct bn_view *v);
void bn_script_results_done(struct bn_script_results *kept);
/* internal.result(): returns a new table with the members of the result document; nil before the
   total exists, and in a worker. */
int bn_result_make_table(lua_State *L);

#endif
