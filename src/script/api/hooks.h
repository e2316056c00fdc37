/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report hooks of a script as one more reporter. */
#ifndef BN_SCRIPT_API_HOOKS_H
#define BN_SCRIPT_API_HOOKS_H

#include <lua.h>

#include "api/report.h"

struct bn_api;

/* The reporter; this struct is also its conf. */
struct bn_hooks_conf {
  struct bn_reporter reporter;
  struct bn_api *api; /* borrowed */
};

void bn_hooks_fill(struct bn_hooks_conf *conf, struct bn_api *api);
/* Sets what depends on the loaded script: which reports its hooks replace or add to, and whether
   its done() can ask for the result.  Returns whether it makes a proof sheet. */
bool bn_hooks_complete(struct bn_hooks_conf *conf);
/* internal.json_next(): returns false for the first object of report_json's array. */
int bn_hooks_json_next(lua_State *L);
/* internal.percentile(): returns the rank of latency_pct as a text. */
int bn_hooks_percentile(lua_State *L);
/* internal.latency(ms): returns the text that reports show, with at least two decimals. */
int bn_hooks_latency(lua_State *L);

#endif
