/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interpreter that a study runs in: Lua's standard libraries, the modules that are embedded in
   the program, and the functions in C that they call.

   Main thread only; nothing of it exists in a run. */
#ifndef BN_STUDY_INTERPRETER_H
#define BN_STUDY_INTERPRETER_H

#include <lua.h>

#include "api/opt.h"
#include "base/err.h"

/* Returns an interpreter.  traits_of returns what this program knows of an option; it may be NULL
   for a study that is declared, but not run. */
lua_State *bn_interpreter_new(bn_opt_traits_of *traits_of);
/* Frees an interpreter, and removes the temporary folder. */
void bn_interpreter_free(lua_State *L);

/* Calls the function below its n_args arguments.  Returns 0 with n_results on the stack, or -1
   without the function and its arguments.  err then says why if the function has called
   native.fail(); any other error has been printed with its traceback, after `name`, and err is
   empty. */
int bn_interpreter_call(lua_State *L, int n_args, int n_results, const char *name,
                        struct bn_err *err);
/* Pushes the function of a file, and lets `require` look into the folder of the file first.
   Returns 0, or -1 and err. */
int bn_interpreter_load_file(lua_State *L, const char *path, struct bn_err *err);

#endif
