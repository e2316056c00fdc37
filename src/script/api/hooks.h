/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report hooks of a script as one more reporter. */
#ifndef BN_SCRIPT_API_HOOKS_H
#define BN_SCRIPT_API_HOOKS_H

#include <lua.h>

#include "api/report.h"

struct bn_api;

/* The reporter, whose conf is this struct. */
struct bn_hooks_conf {
  struct bn_reporter reporter;
  struct bn_api *api; /* borrowed */
};

/* Makes the reporter, before the script is loaded; api is borrowed. */
void bn_hooks_init(struct bn_hooks_conf *conf, struct bn_api *api);
/* Sets what depends on the loaded script: which reports its hooks replace or add to, and whether
   its done() can ask for the result.  Returns whether its hook `prove` makes a proof sheet.  On
   several hosts no hook is called, which is logged if the script has one. */
bool bn_hooks_complete(struct bn_hooks_conf *conf);
/* internal.json_next(): returns whether the array of report_json has an object already, so that a
   comma precedes the next one.  From then on it has one. */
int bn_hooks_json_next(lua_State *L);
/* internal.percentile(): returns the rank of latency_pct as a text. */
int bn_hooks_push_percentile_rank(lua_State *L);
/* internal.latency(ms): returns the latency as reports show it, with at least two decimals. */
int bn_hooks_format_latency(lua_State *L);

#endif
