/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Module study.native: what studies in Lua need of C.  Times are in seconds; a function that fails
   returns nil and a sentence, unless it raises a failure of the study. */
#ifndef BN_STUDY_NATIVE_H
#define BN_STUDY_NATIVE_H

#include <lua.h>

#include <lauxlib.h>

#include "api/opt.h"
#include "base/err.h"

/* A loader for package.preload. */
int bn_native_open(lua_State *L);

/* The functions of each of its parts. */
extern const luaL_Reg bn_native_children[], bn_native_figures[], bn_native_files[],
    bn_native_numbers[], bn_native_options[], bn_native_results[], bn_native_texts[];
/* These make what the functions need: metatables of their values, a state. */
void bn_native_open_children(lua_State *L);
void bn_native_open_files(lua_State *L);
void bn_native_open_results(lua_State *L);

/* Sets and returns what this program knows of options; NULL: nothing. */
void bn_native_set_traits(lua_State *L, bn_opt_traits_of *traits_of);
bn_opt_traits_of *bn_native_get_traits(lua_State *L);

/* Raises the failure of the study whose sentence is on top. */
int bn_native_raise(lua_State *L);
/* The sentence of such a failure at `index`, which is absolute; NULL: the value is none. */
const char *bn_native_failure(lua_State *L, int index);
void bn_native_register_failures(lua_State *L);
/* Pushes native.rng. */
void bn_native_push_rng(lua_State *L);

/* Pushes nil, the sentence and the code of an error, and returns their number. */
int bn_native_error(lua_State *L, const struct bn_err *err);
/* The same for an error of bn_file_read() (base/file.h). */
int bn_native_read_error(lua_State *L, const char *path, int error);
/* Pushes a list of texts. */
void bn_native_push_list(lua_State *L, const struct bn_list *list);
/* Pushes a table {NAME = true, …} of enum bn_opt_trait.  Nobody may change it. */
void bn_native_push_traits(lua_State *L, unsigned traits);

#endif
