/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of random numbers of studies in Lua.  The FFI calls the functions that draw, because
   LuaJIT compiles these calls with the loops around them: a simulation is as fast as in C. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "study/native.h"

/* Returns the function native.rng(seed [, id [, purpose]]), which returns a stream of random
   numbers.  Each id, 0 by default, and each purpose, "study" by default, has a stream of its own.
   rng:real() returns a number in [0, 1); rng:below(n) returns a whole number from 0 to n - 1, for
   an n from 1 to 2^53; rng:shuffle(list) puts a list in random order and returns it. */
static const char program[] =
    "local ffi = require('ffi')\n"
    "local start, real, below = ...\n"
    "start = ffi.cast('bool (*)(void *, uint64_t, uint64_t, const char *)', start)\n"
    "real = ffi.cast('double (*)(void *)', real)\n"
    "below = ffi.cast('double (*)(void *, double)', below)\n"
    "local stream = ffi.metatype(ffi.typeof('struct { uint64_t s[2]; }'), {__index = {\n"
    "  real = function(rng) return real(rng) end,\n"
    "  below = function(rng, n) return below(rng, n) end,\n"
    "  shuffle = function(rng, list)\n"
    "    for i = #list, 2, -1 do\n"
    "      local k = below(rng, i) + 1\n"
    "      list[i], list[k] = list[k], list[i]\n"
    "    end\n"
    "    return list\n"
    "  end,\n"
    "}})\n"
    "return function(seed, id, purpose)\n"
    "  local rng = stream()\n"
    "  if not start(rng, seed, id or 0, purpose or 'study') then\n"
    "    error('no streams have the purpose ' .. purpose, 2)\n"
    "  end\n"
    "  return rng\n"
    "end\n";

/* Starts a stream.  Returns false if there is no purpose of that name. */
static bool native_rng_start(struct bn_rng *rng, uint64_t seed, uint64_t id, const char *purpose)
{
  static const struct {
    const char *name;
    enum bn_rng_purpose purpose;
  } purposes[] = {{"study", BN_RNG_STUDY},
                  {"command", BN_RNG_COMMAND},
                  {"data", BN_RNG_DATA},
                  {"workload", BN_RNG_WORKLOAD}};

  for (size_t i = 0; i < sizeof purposes / sizeof purposes[0]; i++)
    if (strcmp(purposes[i].name, purpose) == 0) {
      bn_rng_seed(rng, seed, purposes[i].purpose, id);
      return true;
    }
  return false;
}

/* These functions draw for rng:real() and rng:below(n), whose results a double holds exactly. */
static double native_rng_real(struct bn_rng *rng)
{
  return bn_rng_double(rng);
}

static double native_rng_below(struct bn_rng *rng, double n)
{
  return (double)bn_rng_below(rng, (uint64_t)n);
}

/* Passes the functions as numbers: an address has 47 bits, which a number of Lua holds. */
void bn_native_push_rng(lua_State *L)
{
  if (luaL_loadbuffer(L, program, sizeof program - 1, "=rng") != 0)
    lua_error(L);
  lua_pushnumber(L, (double)(uintptr_t)native_rng_start);
  lua_pushnumber(L, (double)(uintptr_t)native_rng_real);
  lua_pushnumber(L, (double)(uintptr_t)native_rng_below);
  lua_call(L, 3, 1);
}
