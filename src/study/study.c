/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens, declares and runs studies in Lua. */
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/alloc.h"
#include "study/declaration.h"
#include "study/interpreter.h"
#include "study/native.h"

struct bn_study {
  lua_State *L;
  char *name; /* owned */
  struct bn_subcommand sub;
};

/* Names in the registry: the function `run`, and the value that keeps the declaration alive. */
static const char run_key[] = "bn.study.run", kept_key[] = "bn.study.kept";

/* Reads the declaration, which must be a table at 1, into the struct bn_study at upvalue 1.  The
   name is the one by which the study was opened, not that of the declaration. */
static int study_declare(lua_State *L)
{
  struct bn_study *s = lua_touserdata(L, lua_upvalueindex(1));
  const char *name = s->name;

  if (!lua_istable(L, 1)) {
    lua_pushliteral(L, "it returns no table, and there is no global table 'study'; see "
                       "bench-studies(7)");
    return bn_native_raise(L);
  }
  lua_settop(L, 1);
  s->sub = *bn_declaration_read_study(L, 1); /* pushes the value that is kept */
  s->sub.name = name;
  lua_setfield(L, LUA_REGISTRYINDEX, kept_key);
  lua_getfield(L, 1, "run");
  lua_setfield(L, LUA_REGISTRYINDEX, run_key);
  return 0;
}

/* Pops the declaration and reads it, in a protected call.  Returns 0, or -1 and err. */
static int study_read(struct bn_study *s, struct bn_err *err)
{
  lua_pushlightuserdata(s->L, s);
  lua_pushcclosure(s->L, study_declare, 1);
  lua_insert(s->L, -2);
  return bn_interpreter_call(s->L, 1, 0, s->name, err);
}

/* Returns a study with an interpreter, whose name is prefix and name. */
static struct bn_study *study_new(const char *prefix, const char *name, bn_opt_traits_of *traits_of)
{
  struct bn_study *s = bn_alloc(1, sizeof *s);

  s->name = bn_alloc_print("%s%s", prefix, name);
  s->L = bn_interpreter_new(traits_of);
  return s;
}

struct bn_study *bn_study_open(const char *name, bn_opt_traits_of *traits_of, struct bn_err *err)
{
  struct bn_study *s = study_new("", name, traits_of);

  lua_getglobal(s->L, "require");
  lua_pushfstring(s->L, "study.%s", name);
  if (bn_interpreter_call(s->L, 1, 1, name, err) == 0 && study_read(s, err) == 0)
    return s;
  bn_study_free(s);
  return NULL;
}

/* Pops the function of a file, calls it, and reads the declaration that it returns or sets as the
   global `study`.  Returns 0, or -1 and err, which begins with the path; err stays as it is if a
   fault of the study has been printed. */
static int study_read_file(struct bn_study *s, const char *path, struct bn_err *err)
{
  enum { SENTENCE_MAX = 400 }; /* bytes, so that the path fits into err too */
  struct bn_err failure = {0};
  int rc = bn_interpreter_call(s->L, 0, 1, s->name, &failure);

  if (rc == 0) {
    if (!lua_istable(s->L, -1))
      lua_getglobal(s->L, "study");
    rc = study_read(s, &failure);
  }
  if (rc != 0 && failure.text[0] != '\0')
    (void)bn_err_set(err, failure.code, "%s: %.*s", path, SENTENCE_MAX, failure.text);
  return rc;
}

struct bn_study *bn_study_open_file(const char *path, bn_opt_traits_of *traits_of,
                                    struct bn_err *err)
{
  struct bn_study *s = study_new("study ", path, traits_of);

  if (bn_interpreter_load_file(s->L, path, err) == 0 && study_read_file(s, path, err) == 0)
    return s;
  bn_study_free(s);
  return NULL;
}

const struct bn_subcommand *bn_study_declaration(const struct bn_study *s)
{
  return &s->sub;
}

/* Calls run(values, operands, given) of the study, and returns its exit status or nil.  The
   arguments are the addresses of the struct bn_study, the values and the operands. */
static int study_call(lua_State *L)
{
  const struct bn_study *s = lua_touserdata(L, 1);
  const void *conf = lua_touserdata(L, 2);
  const char *const *operand = lua_touserdata(L, 3);

  lua_getfield(L, LUA_REGISTRYINDEX, run_key);
  bn_declaration_push_values(L, s->sub.options, conf);
  lua_newtable(L);
  for (int i = 0; operand[i] != NULL; i++) {
    lua_pushstring(L, operand[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_insert(L, -2); /* before the table of the options that were given */
  lua_call(L, 3, 1);
  if (!lua_isnil(L, -1) && !lua_isnumber(L, -1))
    return luaL_error(L, "run() must return an exit status or nothing");
  return 1;
}

int bn_study_run(struct bn_study *s, const void *conf, const char *const *operand,
                 struct bn_err *err)
{
  lua_pushcfunction(s->L, study_call);
  lua_pushlightuserdata(s->L, s);
  lua_pushlightuserdata(s->L, (void *)(uintptr_t)conf);
  lua_pushlightuserdata(s->L, (void *)(uintptr_t)operand);
  if (bn_interpreter_call(s->L, 3, 1, s->name, err) != 0)
    return EXIT_FAILURE;
  const int status = (int)lua_tointeger(s->L, -1); /* 0 for nil */

  lua_pop(s->L, 1);
  return status;
}

void bn_study_free(struct bn_study *s)
{
  if (s == NULL)
    return;
  bn_interpreter_free(s->L);
  free(s->name);
  free(s);
}
