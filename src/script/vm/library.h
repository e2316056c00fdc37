/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The standard libraries: opened when used, with functions that respect the program around them. */
#ifndef BN_SCRIPT_VM_LIBRARY_H
#define BN_SCRIPT_VM_LIBRARY_H

#include <stdbool.h>

#include <lua.h>

/* Opens the libraries that event loops need, for a worker's interpreter, and sets tables for the
   others, which are filled when they are first used. */
void bn_library_open_most(lua_State *L);
/* Replaces print, dofile, loadfile, os.execute, os.exit and io.popen by functions that respect the
   program around them; those of a library that is not open yet are replaced when it is opened. */
void bn_library_wrap(lua_State *L);
/* Returns whether the error value on top is the one that os.exit() raises during a run, to leave
   the script. */
bool bn_library_is_exit(lua_State *L);

#endif
