/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysbench.result: what a run has measured, as a table for done(). */
#ifndef BN_SCRIPT_API_RESULT_H
#define BN_SCRIPT_API_RESULT_H

#include <stdbool.h>

#include <lua.h>

#include "measure/result.h"

/* Of a long run with short intervals the first ones, 3 kB each. */
enum { BN_KEPT_INTERVALS = 1 << 16 };

/* Written by the reporting thread, then by the main thread, which reads it after that. */
struct bn_kept {
  bool wanted;                  /* the script has a done() that may read it */
  const struct bn_facts *facts; /* borrowed from the run */
  struct bn_result result;      /* but for the facts */
  bool incomplete;              /* there was no memory for something */
  bool cut;                     /* there were more intervals */
};

/* Keeps a copy of an interval, a checkpoint or the total.  name: of the workload. */
void bn_kept_view(struct bn_kept *k, const char *name, const struct bn_view *v);
void bn_kept_done(struct bn_kept *k);
/* internal.result(): a new table with the members of the result document; nil before the total is
   there, or if there was no memory to keep it. */
int bn_result_make(lua_State *L);

#endif
