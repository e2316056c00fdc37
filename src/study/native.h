/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Module study.native: what studies in Lua need of C.  Times are in seconds; a function that fails
   returns nil and a sentence, unless it raises a failure of the study.  Lua raises an error if it
   is out of memory, which ends the study: what C has allocated by then is not freed, unless a
   userdata owns it. */
#ifndef BN_STUDY_NATIVE_H
#define BN_STUDY_NATIVE_H

#include <stdbool.h>

#include <lua.h>

#include <lauxlib.h>

#include "api/opt.h"
#include "base/err.h"
#include "measure/store.h"

/* Loaders for package.preload: they return this module, and the module study.document. */
int bn_native_open(lua_State *L);
int bn_native_open_document(lua_State *L);

/* Replaces string.format by one that rounds as C does, so that a table of a study has the numbers
   of a report: LuaJIT rounds 0.125 to "0.13", C to "0.12". */
void bn_native_open_format(lua_State *L);

/* The functions of each part of this module. */
extern const luaL_Reg bn_native_children[], bn_native_figures[], bn_native_files[],
    bn_native_numbers[], bn_native_options[], bn_native_results[], bn_native_texts[];
/* Methods of results about figures, about the total and the intervals as rows, and for pictures. */
extern const luaL_Reg bn_native_result_figures[], bn_native_result_rows[],
    bn_native_result_series[];
/* Put into the registry what the functions need: metatables of their values, a state. */
void bn_native_open_children(lua_State *L);
void bn_native_open_files(lua_State *L);
void bn_native_open_results(lua_State *L);

/* Sets the function that returns the traits of an option of this program.  It may be NULL for a
   study that is declared, but not run. */
void bn_native_set_traits(lua_State *L, bn_opt_traits_of *traits_of);
/* Returns the function that bn_native_set_traits has kept. */
bn_opt_traits_of *bn_native_get_traits(lua_State *L);

/* Raises a failure of the study with the sentence on top.  It does not return. */
int bn_native_raise(lua_State *L);
/* Returns the sentence of the failure at `index`, which is absolute, or NULL if the value is no
   failure. */
const char *bn_native_get_failure(lua_State *L, int index);
/* Returns whether the value at `index` has the metatable that the registry has under the key. */
bool bn_native_has_mark(lua_State *L, int index, const char *key);
/* Gives the value on top that metatable. */
void bn_native_set_mark(lua_State *L, const char *key);
/* Makes the metatable of failures, before the first one. */
void bn_native_register_failures(lua_State *L);
/* Pushes the function native.rng. */
void bn_native_push_rng(lua_State *L);

/* The name of the metatable of results. */
#define BN_NATIVE_RESULT "bn.result"

/* A result of native.result(). */
struct bn_native_result {
  struct bn_stored stored;
  bool open; /* `stored` is in use: the result was read, and not closed */
};

/* Returns the result at an argument of a method.  Raises an error if the argument is none, or was
   closed. */
struct bn_native_result *bn_native_check_result(lua_State *L, int argument);

/* These set a member of the table on top; a text that is NULL sets nothing. */
void bn_native_set_text(lua_State *L, const char *name, const char *text);
void bn_native_set_switch(lua_State *L, const char *name, bool is_on);
void bn_native_set_number(lua_State *L, const char *name, double x);

/* Pushes nil and the sentence of an error, and returns their number, 2. */
int bn_native_push_error(lua_State *L, const struct bn_err *err);
/* Pushes the same for `error`, the errno value of bn_file_read() (base/file.h). */
int bn_native_push_read_error(lua_State *L, const char *path, int error);
/* Pushes a list of texts. */
void bn_native_push_list(lua_State *L, const struct bn_list *list);
/* Pushes a table {NAME = true, …} of bits of enum bn_opt_trait, which the caller must not change,
   because others get the same table. */
void bn_native_push_traits(lua_State *L, unsigned traits);

#endif
