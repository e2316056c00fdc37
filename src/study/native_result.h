/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results as values of Lua: native.result(path), and its methods. */
#ifndef BN_STUDY_NATIVE_RESULT_H
#define BN_STUDY_NATIVE_RESULT_H

#include <lua.h>

#include "measure/result.h"

/* The result at an argument of a method; raises an error if it is none, or was closed. */
const struct bn_result *bn_native_check_result(lua_State *L, int argument);
/* Sets members of the table on top by a layout (measure/layout.h). */
struct bn_layout;
void bn_native_set_layout(lua_State *L, const struct bn_layout *layout, const void *from);

#endif
