/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results as values of Lua: native.result(path), and its methods. */
#ifndef BN_STUDY_NATIVE_RESULT_H
#define BN_STUDY_NATIVE_RESULT_H

#include <stdbool.h>

#include <lua.h>

#include <lauxlib.h>

#include "measure/store.h"

/* The name of the metatable of results. */
#define BN_NATIVE_RESULT "bn.result"

struct bn_native_result {
  struct bn_stored stored;
  bool open; /* `stored` is in use: the result was read, and not closed */
};

/* Returns the result at an argument of a method.  Raises an error if the argument is none, or was
   closed. */
struct bn_native_result *bn_native_check_result(lua_State *L, int argument);

/* Methods of results about figures, about the total and the intervals as rows, and for pictures. */
extern const luaL_Reg bn_native_result_figures[], bn_native_result_rows[],
    bn_native_result_series[];

/* These set a member of the table on top; a text that is NULL sets nothing. */
void bn_native_set_text(lua_State *L, const char *name, const char *text);
void bn_native_set_switch(lua_State *L, const char *name, bool is_on);
void bn_native_set_number(lua_State *L, const char *name, double x);

#endif
