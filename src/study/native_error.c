/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of functions in C, and failures that end a study with a sentence. */
#include "study/native.h"

#include <errno.h>
#include <string.h>

static const char failure_key[] = "bn.failure";

int bn_native_push_error(lua_State *L, const struct bn_err *err)
{
  lua_pushnil(L);
  lua_pushstring(L, err->text);
  return 2;
}

int bn_native_push_read_error(lua_State *L, const char *path, int error)
{
  lua_pushnil(L);
  lua_pushfstring(L, "cannot read '%s': %s", path,
                  error == EFBIG ? "it is too large" : strerror(error));
  return 2;
}

int bn_native_raise(lua_State *L)
{
  lua_createtable(L, 0, 1);
  lua_insert(L, -2);
  lua_setfield(L, -2, "message");
  bn_native_set_mark(L, failure_key);
  return lua_error(L);
}

/* The metamethod __tostring of a failure, for studies that catch errors. */
static int error_push_text(lua_State *L)
{
  lua_getfield(L, 1, "message");
  return 1;
}

void bn_native_register_failures(lua_State *L)
{
  luaL_newmetatable(L, failure_key);
  lua_pushcfunction(L, error_push_text);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 1);
}

bool bn_native_has_mark(lua_State *L, int index, const char *key)
{
  if (lua_getmetatable(L, index) == 0)
    return false;
  luaL_getmetatable(L, key);
  const bool is_same = lua_rawequal(L, -1, -2) != 0;

  lua_pop(L, 2);
  return is_same;
}

void bn_native_set_mark(lua_State *L, const char *key)
{
  luaL_getmetatable(L, key);
  lua_setmetatable(L, -2);
}

const char *bn_native_get_failure(lua_State *L, int index)
{
  if (!bn_native_has_mark(L, index, failure_key))
    return NULL;
  lua_getfield(L, index, "message");
  const char *text = lua_tostring(L, -1);

  lua_pop(L, 1); /* the text stays valid, because the table has it */
  return text;
}
