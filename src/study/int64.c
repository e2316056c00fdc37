/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes and reads 64-bit integers of the FFI, which has no functions for C. */
#include "study/int64.h"

#include <math.h>

#include <lauxlib.h>

/* A double holds each whole number whose magnitude is below 2^53. */
#define EXACT_BELOW 0x1p53

static const char join_key[] = "bn.int64.join", split_key[] = "bn.int64.split";

/* Returns a function that joins two halves of 32 bits to an integer, and one that splits an
   integer. */
static const char program[] =
    "local ffi, bit = require('ffi'), require('bit')\n"
    "local int64, uint64 = ffi.typeof('int64_t'), ffi.typeof('uint64_t')\n"
    "return function(high, low, unsigned)\n"
    "  local n = uint64(high) * 4294967296ULL + uint64(low)\n"
    "  return unsigned and n or ffi.cast(int64, n)\n"
    "end, function(n)\n"
    "  if ffi.istype(int64, n) or ffi.istype(uint64, n) then\n"
    "    n = ffi.cast(uint64, n)\n"
    "    return tonumber(bit.rshift(n, 32)), tonumber(bit.band(n, 0xffffffffULL))\n"
    "  end\n"
    "end\n";

void bn_int64_open(lua_State *L)
{
  if (luaL_loadbuffer(L, program, sizeof program - 1, "=int64") != 0)
    lua_error(L);
  lua_call(L, 0, 2);
  lua_setfield(L, LUA_REGISTRYINDEX, split_key);
  lua_setfield(L, LUA_REGISTRYINDEX, join_key);
}

enum cdata_type { CDATA_INT64, CDATA_UINT64 };

/* Pushes an integer of the FFI with these bits. */
static void int64_push_cdata(lua_State *L, uint64_t bits, enum cdata_type type)
{
  lua_getfield(L, LUA_REGISTRYINDEX, join_key);
  lua_pushnumber(L, (double)(bits >> 32));
  lua_pushnumber(L, (double)(bits & UINT32_MAX));
  lua_pushboolean(L, type == CDATA_UINT64);
  lua_call(L, 3, 1);
}

void bn_int64_push(lua_State *L, int64_t n)
{
  if (fabs((double)n) < EXACT_BELOW)
    lua_pushnumber(L, (double)n);
  else
    int64_push_cdata(L, (uint64_t)n, CDATA_INT64);
}

void bn_int64_push_unsigned(lua_State *L, uint64_t n)
{
  if ((double)n < EXACT_BELOW)
    lua_pushnumber(L, (double)n);
  else /* a signed integer, unless it cannot hold n */
    int64_push_cdata(L, n, n > INT64_MAX ? CDATA_UINT64 : CDATA_INT64);
}

/* Reads an integer of the FFI.  Returns false if the value is something else. */
static bool int64_read_cdata(lua_State *L, int index, int64_t *out)
{
  lua_pushvalue(L, index);
  lua_getfield(L, LUA_REGISTRYINDEX, split_key);
  lua_insert(L, -2);
  lua_call(L, 1, 2);
  const bool is_integer = lua_isnumber(L, -1) != 0; /* else both halves are nil */

  if (is_integer)
    *out = (int64_t)((uint64_t)lua_tonumber(L, -2) << 32 | (uint64_t)lua_tonumber(L, -1));
  lua_pop(L, 2);
  return is_integer;
}

bool bn_int64_read(lua_State *L, int index, int64_t *out)
{
  if (lua_type(L, index) == LUA_TNUMBER) {
    const double x = lua_tonumber(L, index);

    /* -2^63 is the least integer; 2^63 is the first double that is too large. */
    if (!(x >= -0x1p63 && x < 0x1p63) || floor(x) < x)
      return false;
    *out = (int64_t)x;
    return true;
  }
  /* Values of the FFI have a type of their own, which has no name in C, above those of Lua 5.1. */
  return lua_type(L, index) > LUA_TTHREAD && int64_read_cdata(L, index, out);
}

int64_t bn_int64_check(lua_State *L, int argument)
{
  int64_t n = 0;

  if (!bn_int64_read(L, argument, &n))
    (void)luaL_argerror(L, argument, "a whole number was expected");
  return n;
}
