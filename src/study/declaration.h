/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations of options in Lua: a table for each becomes a struct bn_opt, and their values become
   values of Lua.

   These functions run in a protected call.  They raise a failure of the study that says what is
   wrong with a declaration. */
#ifndef BN_STUDY_DECLARATION_H
#define BN_STUDY_DECLARATION_H

#include <lua.h>

#include "api/subcommand.h"

/* Reads the list of options at `index`, which is absolute.  Returns a table of them, or NULL for an
   empty list, and pushes a value that keeps the table alive; the list may change afterwards.  Sets
   *conf_size to the bytes that the values of the options take. */
const struct bn_opt *bn_declaration_read_options(lua_State *L, int index, size_t *conf_size);
/* Reads the declaration of a study at `index`, which is absolute, in the same way.  Checks that its
   `run` is a function, but leaves the member to the caller. */
const struct bn_subcommand *bn_declaration_read_study(lua_State *L, int index);
/* Pushes two tables, whose keys are the names of the options with '_' for '-'.  The first has the
   values of the options, the second says which options were given. */
void bn_declaration_push_values(lua_State *L, const struct bn_opt *options, const void *conf);

#endif
