/* SPDX-License-Identifier: GPL-2.0-or-later */
/* string.format of studies. */
#ifndef BN_STUDY_FORMAT_H
#define BN_STUDY_FORMAT_H

#include <lua.h>

/* Replaces string.format: LuaJIT rounds 0.125 to "0.13", C to "0.12", and a table of a study is the
   same text as one of a report. */
void bn_format_open(lua_State *L);

#endif
