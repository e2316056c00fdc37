/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that a script declares, and the table `sysbench.opt`. */
#ifndef BN_SCRIPT_API_OPTIONS_H
#define BN_SCRIPT_API_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "api/opt.h"

struct bn_lua;
struct bn_script;

/* The value of an option of any type but BN_CHOICE, which scripts cannot declare. */
union bn_option_value {
  bool flag;
  int64_t integer;
  uint64_t size;
  double number;
  char *text;
  struct bn_list list;
};

/* Lua functions: raise what is wrong with sysbench.cmdline.options; print the option list; make a
   table of options complete that is filled on demand; return one option's value. */
int bn_options_check(lua_State *L);
int bn_options_print(lua_State *L);
int bn_options_fill(lua_State *L);
int bn_options_get(lua_State *L);
/* Fills sysbench.opt of an instance, and the option globals where the script expects them.  0, or
   -1 after logging why. */
int bn_options_export(struct bn_lua *lua);
/* The declarations serve the main instance only: sysbench.cmdline.options of a worker becomes nil.
 */
void bn_options_forget(struct bn_lua *lua);
void bn_options_free(struct bn_script *sc);

#endif
