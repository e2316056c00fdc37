/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table `sysbench.opt`. */
#ifndef BN_SCRIPT_API_OPTEXPORT_H
#define BN_SCRIPT_API_OPTEXPORT_H

#include <lua.h>

struct bn_lua;

/* Sets the option globals before the top level runs, in dialects that do so.  Returns 0, or -1
   after logging why. */
int bn_optexport_early(struct bn_lua *lua);
/* Fills sysbench.opt of an instance, and the option globals if the script expects them.  Returns 0,
   or -1 after logging why. */
int bn_optexport(struct bn_lua *lua);
/* internal.export_options(number): fills that of the script of a mix whose code runs. */
int bn_optexport_own(lua_State *L);
/* internal.option(name): returns its value. */
int bn_optexport_get(lua_State *L);

#endif
