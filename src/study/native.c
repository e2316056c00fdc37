/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the functions of study.native, and has those about the study itself. */
#include "study/native.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/spawn.h"
#include "dialect/dialect.h"

/* Replaces all arguments on the stack by the text that string.format makes of them. */
static void native_format(lua_State *L)
{
  luaL_checkstring(L, 1);
  lua_getglobal(L, "string");
  lua_getfield(L, -1, "format");
  lua_remove(L, -2);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
}

/* Ends the study with a sentence, which is escaped for terminals, because it may quote the content
   of a file. */
static int native_raise_sentence(lua_State *L, const char *sentence)
{
  struct bn_err err;

  (void)bn_err_set(&err, 0, "%s", sentence);
  bn_escape_error(&err);
  lua_pushstring(L, err.text);
  return bn_native_raise(L);
}

/* native.fail(format, …): ends the study with a sentence. */
static int native_fail(lua_State *L)
{
  native_format(L);
  return native_raise_sentence(L, lua_tostring(L, 1));
}

/* native.check(value, sentence, …): returns its arguments, or ends the study with the sentence if
   the value is nil or false. */
static int native_check(lua_State *L)
{
  if (lua_toboolean(L, 1))
    return lua_gettop(L);
  return native_raise_sentence(L, luaL_checkstring(L, 2));
}

/* native.log(format, …): prints a line on standard error. */
static int native_log(lua_State *L)
{
  native_format(L);
  bn_log_stderr("%s", lua_tostring(L, 1));
  return 0;
}

int bn_native_open(lua_State *L)
{
  static const luaL_Reg own[] = {
      {"check", native_check}, {"fail", native_fail}, {"log", native_log}, {NULL, NULL}};
  static const luaL_Reg *const parts[] = {own,
                                          bn_native_children,
                                          bn_native_figures,
                                          bn_native_files,
                                          bn_native_numbers,
                                          bn_native_options,
                                          bn_native_results,
                                          bn_native_texts};
  struct bn_err err;

  bn_native_open_children(L);
  bn_native_open_files(L);
  bn_native_open_results(L);
  lua_newtable(L);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    luaL_register(L, NULL, parts[i]);
  bn_native_push_rng(L);
  lua_setfield(L, -2, "rng");
  char *program = bn_spawn_self(&err);

  if (program == NULL)
    return luaL_error(L, "%s", err.text);
  lua_pushstring(L, program);
  free(program);
  lua_setfield(L, -2, "program");
  lua_pushstring(L, bn_policy_bench.release);
  lua_setfield(L, -2, "version");
  return 1;
}
