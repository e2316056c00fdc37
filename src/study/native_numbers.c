/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of studies in Lua: functions of libm, a seed, units. */
#include <math.h>
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

/* --- seeds --- */

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

const luaL_Reg bn_native_numbers[] = {{"bytes", native_bytes},
                                      {"entropy", native_entropy},
                                      {"erfc", native_erfc},
                                      {"expm1", native_expm1},
                                      {"lgamma", native_lgamma},
                                      {"log1p", native_log1p},
                                      {"number", native_number},
                                      {"real", native_real},
                                      {"seconds", native_seconds},
                                      {"shortest", native_shortest},
                                      {"width", native_width},
                                      {NULL, NULL}};
