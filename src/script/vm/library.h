/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The standard libraries: opened when used, with functions that know of the program around them. */
#ifndef BN_SCRIPT_VM_LIBRARY_H
#define BN_SCRIPT_VM_LIBRARY_H

#include <stdbool.h>

#include <lua.h>

/* Opens all: the main instance's interpreter. */
void bn_library_open_all(lua_State *L);
/* Opens those that event loops need and puts tables in the place of the others that are filled when
   they are first used. */
void bn_library_open_most(lua_State *L);
/* Replaces print, dofile and loadfile, and functions of the libraries that are open. */
void bn_library_wrap(lua_State *L);
/* The error value on top is what os.exit() raised to end the run. */
bool bn_library_leaves(lua_State *L);

#endif
