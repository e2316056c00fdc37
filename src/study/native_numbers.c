/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of studies in Lua: functions of libm, random numbers, units. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/units.h"
#include "study/int64.h"
#include "study/native.h"

/* --- libm --- */

/* native.lgamma(x), erfc(x), log1p(x) and expm1(x) return what libm's functions of that name do. */

static int native_lgamma(lua_State *L)
{
  lua_pushnumber(L, lgamma(luaL_checknumber(L, 1)));
  return 1;
}

static int native_erfc(lua_State *L)
{
  lua_pushnumber(L, erfc(luaL_checknumber(L, 1)));
  return 1;
}

static int native_log1p(lua_State *L)
{
  lua_pushnumber(L, log1p(luaL_checknumber(L, 1)));
  return 1;
}

static int native_expm1(lua_State *L)
{
  lua_pushnumber(L, expm1(luaL_checknumber(L, 1)));
  return 1;
}

/* --- random numbers --- */

/* Returns the function native.rng(seed [, id [, purpose]]), which returns a stream of random
   numbers.  Each id, 0 by default, and each purpose, "study" by default, has a stream of its own.
   rng:real() returns a number in [0, 1); rng:below(n) returns a whole number from 0 to n - 1, for
   an n from 1 to 2^53; rng:shuffle(list) puts a list in random order and returns it.

   The FFI calls the functions that draw, because LuaJIT compiles these calls with the loops around
   them: a simulation is as fast as in C. */
static const char rng_program[] =
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
  if (luaL_loadbuffer(L, rng_program, sizeof rng_program - 1, "=rng") != 0)
    lua_error(L);
  lua_pushnumber(L, (double)(uintptr_t)native_rng_start);
  lua_pushnumber(L, (double)(uintptr_t)native_rng_real);
  lua_pushnumber(L, (double)(uintptr_t)native_rng_below);
  lua_call(L, 3, 1);
}

/* native.entropy(): returns a random seed, of as many bits as a number of Lua holds exactly. */
static int native_entropy(lua_State *L)
{
  enum { DRAWN_BITS = 64, HELD_BITS = 53 };

  lua_pushnumber(L, (double)(bn_rng_entropy() >> (DRAWN_BITS - HELD_BITS)));
  return 1;
}

/* --- units --- */

/* Pushes the number that `parse`, a function of base/units.h, reads from argument 1, or nil if the
   text is wrong.  Returns 1, the number of values. */
static int numbers_push_parsed(lua_State *L, int (*parse)(const char *text, double *out))
{
  double x;

  if (parse(luaL_checkstring(L, 1), &x) == 0)
    lua_pushnumber(L, x);
  else
    lua_pushnil(L);
  return 1;
}

/* native.number(text): returns the number of "1.5", "1e3" or "10K"; nil: the text is no number. */
static int native_number(lua_State *L)
{
  return numbers_push_parsed(L, bn_units_parse_number);
}

/* native.real(text): returns the number of "1.5" or "1e3"; nil: the text is no finite number. */
static int native_real(lua_State *L)
{
  return numbers_push_parsed(L, bn_units_parse_double);
}

/* native.bytes(text): returns the size of "16384" or "16K"; nil: the text is no size. */
static int native_bytes(lua_State *L)
{
  uint64_t n;

  if (bn_units_parse_size(luaL_checkstring(L, 1), &n) == 0)
    bn_int64_push_unsigned(L, n);
  else
    lua_pushnil(L);
  return 1;
}

/* native.seconds(text): returns the seconds of "1.5", "10ms" or "2h"; nil: the text is no time. */
static int native_seconds(lua_State *L)
{
  return numbers_push_parsed(L, bn_units_parse_duration);
}

/* native.shortest(x): returns the shortest text that is read back as the same number. */
static int native_shortest(lua_State *L)
{
  char digits[BN_UNITS_DIGITS];

  lua_pushstring(L, bn_units_format_shortest(digits, luaL_checknumber(L, 1)));
  return 1;
}

/* --- the terminal --- */

/* native.width(): returns the columns of the terminal on standard output; nil: it is none. */
static int native_width(lua_State *L)
{
  struct winsize size;

  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    lua_pushinteger(L, size.ws_col);
  else
    lua_pushnil(L);
  return 1;
}

const luaL_Reg bn_native_numbers[] = {
    {"bytes", native_bytes},       {"entropy", native_entropy}, {"erfc", native_erfc},
    {"expm1", native_expm1},       {"lgamma", native_lgamma},   {"log1p", native_log1p},
    {"number", native_number},     {"real", native_real},       {"seconds", native_seconds},
    {"shortest", native_shortest}, {"width", native_width},     {NULL, NULL}};
