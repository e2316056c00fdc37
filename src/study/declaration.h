/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations of options in Lua: a table for each becomes a struct bn_opt, and their values become
   values of Lua.

   These run in a protected call; what is wrong with a declaration is raised as a failure. */
#ifndef BN_STUDY_DECLARATION_H
#define BN_STUDY_DECLARATION_H

#include <lua.h>

#include "api/subcommand.h"

/* Reads a list of options at `index`, and pushes a value that keeps all of it; the table may change
   afterwards.  *conf_size: of their values. */
const struct bn_opt *bn_declaration_options(lua_State *L, int index, size_t *conf_size);
/* The same for the declaration of a study; its `run` is the caller's. */
const struct bn_subcommand *bn_declaration_study(lua_State *L, int index);
/* Pushes a table of the values, in which '-' of a name is '_', and another one that says which were
   given. */
void bn_declaration_push_values(lua_State *L, const struct bn_opt *options, const void *conf);

#endif
