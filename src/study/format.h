/* SPDX-License-Identifier: GPL-2.0-or-later */
/* string.format of studies. */
#ifndef BN_STUDY_FORMAT_H
#define BN_STUDY_FORMAT_H

#include <lua.h>

/* Replaces string.format by one that rounds as C does, so that a table of a study has the numbers
   of a report: LuaJIT rounds 0.125 to "0.13", C to "0.12". */
void bn_format_open(lua_State *L);

#endif
