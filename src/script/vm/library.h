/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The standard libraries: opened when used, with functions that respect the program around them. */
#ifndef BN_SCRIPT_VM_LIBRARY_H
#define BN_SCRIPT_VM_LIBRARY_H

#include <stdbool.h>

#include <lua.h>

/* Opens all libraries, for the main instance's interpreter. */
void bn_library_open_all(lua_State *L);
/* Opens the libraries that event loops need; for the rest it sets tables that are filled at first
   use. */
void bn_library_open_most(lua_State *L);
/* Replaces print, dofile and loadfile, and functions of the libraries that are open. */
void bn_library_wrap(lua_State *L);
/* Returns whether the error value on top is the one that os.exit() raises to end the run. */
bool bn_library_leaves(lua_State *L);

#endif
