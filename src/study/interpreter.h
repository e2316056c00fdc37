/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interpreter that a study runs in: Lua's standard libraries, the modules that are embedded in
   the program, and the functions in C that they call.

   Main thread only; nothing of it exists in a run. */
#ifndef BN_STUDY_INTERPRETER_H
#define BN_STUDY_INTERPRETER_H

#include <lua.h>

#include "api/opt.h"
#include "base/err.h"

/* traits_of: what this program knows of options; NULL: nothing.  NULL: err says why there is no
   interpreter. */
lua_State *bn_interpreter_new(bn_opt_traits_of *traits_of, struct bn_err *err);
/* Also removes the temporary folder.  NULL is allowed. */
void bn_interpreter_free(lua_State *L);

/* Calls the function below its `given` arguments, and leaves `wanted` values.  -1: it has failed,
   and nothing is left on the stack.  err says why if the function said so itself (native.fail); a
   fault of the program has been printed with its traceback, after `name`, and err is empty. */
int bn_interpreter_call(lua_State *L, int given, int wanted, const char *name, struct bn_err *err);
/* Leaves the function of a file, to be called, and finds modules in its folder.  -1 and err. */
int bn_interpreter_load_file(lua_State *L, const char *path, struct bn_err *err);

#endif
