/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the reals of string.format with printf of C, and leaves the rest to LuaJIT. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/native.h"

/* The text of DBL_MAX with two digits of precision: 309 digits before its point, and 99 after it.
 */
enum { DIGITS_MAX = 512 };

/* The parts of a conversion, each up to the next: "%-9.3f" has "-", "9", ".3" and 'f'. */
struct conversion {
  const char *flags, *width, *precision, *end; /* end: past the letter */
  char letter;
};

/* Returns the parts of the conversion at the '%'; at the end of the format, the letter is '\0'. */
static struct conversion format_read_conversion(const char *text)
{
  struct conversion c = {.flags = text + 1};

  c.width = c.flags + strspn(c.flags, "-+ #0");
  c.precision = c.width + strspn(c.width, "0123456789");
  c.end = c.precision;
  if (*c.end == '.')
    c.end += 1 + strspn(c.end + 1, "0123456789");
  c.letter = *c.end;
  if (c.letter != '\0')
    c.end++;
  return c;
}

/* Returns whether C prints the conversion: that of a real with no other flags than '-' and '+', and
   with at most two digits of precision.  Conversions with other flags, which no text of a study
   has, are left to LuaJIT, and so are longer precisions, which LuaJIT refuses. */
static bool format_is_real(const struct conversion *c)
{
  enum { LETTER = 1, PRECISION_LEN_MAX = 3 }; /* ".99" */

  if (c->end - LETTER - c->precision > PRECISION_LEN_MAX)
    return false;
  return c->letter != '\0' && strchr("efg", c->letter) != NULL &&
         c->flags + strspn(c->flags, "-+") == c->width;
}

static bool format_has_flag(const struct conversion *c, char flag)
{
  return memchr(c->flags, flag, (size_t)(c->width - c->flags)) != NULL;
}

/* Prints a number as the conversion says, but without its width. */
static void format_print_real(char text[DIGITS_MAX], const struct conversion *c, double x)
{
  const bool has_plus = format_has_flag(c, '+');
  /* printf takes -1 for no precision. */
  const int precision = *c->precision == '.' ? (int)strtol(c->precision + 1, NULL, 10) : -1;

  if (c->letter == 'e')
    (void)snprintf(text, DIGITS_MAX, has_plus ? "%+.*e" : "%.*e", precision, x);
  else if (c->letter == 'f')
    (void)snprintf(text, DIGITS_MAX, has_plus ? "%+.*f" : "%.*f", precision, x);
  else
    (void)snprintf(text, DIGITS_MAX, has_plus ? "%+.*g" : "%.*g", precision, x);
}

/* Replaces a number, the argument at that index, by its text, and adds "%s" with the flag '-' and
   the width of the number's conversion to the format. */
static void format_replace_real(lua_State *L, const struct conversion *c, int argument,
                                luaL_Buffer *out)
{
  char text[DIGITS_MAX];

  format_print_real(text, c, lua_tonumber(L, argument));
  lua_pushstring(L, text);
  lua_replace(L, argument);
  luaL_addchar(out, '%');
  if (format_has_flag(c, '-'))
    luaL_addchar(out, '-');
  luaL_addlstring(out, c->width, (size_t)(c->precision - c->width));
  luaL_addchar(out, 's');
}

/* string.format of studies: turns reals into texts, and passes the changed format and arguments to
   upvalue 1, the function of LuaJIT, which does the rest and refuses wrong arguments. */
static int format_call(lua_State *L)
{
  enum { FORMAT = 2 };                       /* index on the stack */
  const char *rest = luaL_checkstring(L, 1); /* of the format */
  int argument = FORMAT, last;
  luaL_Buffer out;

  /* The function is at 1, the format at 2, and its arguments are from 3 to `last`. */
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  last = lua_gettop(L);
  luaL_buffinit(L, &out);
  for (const char *percent; (percent = strchr(rest, '%')) != NULL;) {
    const struct conversion c = format_read_conversion(percent);

    if (c.letter != '%') /* "%%" takes no argument */
      argument++;
    luaL_addlstring(&out, rest, (size_t)(percent - rest));
    if (format_is_real(&c) && argument <= last && lua_isnumber(L, argument))
      format_replace_real(L, &c, argument, &out);
    else
      luaL_addlstring(&out, percent, (size_t)(c.end - percent));
    rest = c.end;
  }
  luaL_addstring(&out, rest);
  luaL_pushresult(&out);
  lua_replace(L, FORMAT);
  lua_call(L, last - 1, 1);
  return 1;
}

void bn_native_open_format(lua_State *L)
{
  lua_getglobal(L, "string");
  lua_getfield(L, -1, "format");
  lua_pushcclosure(L, format_call, 1);
  lua_setfield(L, -2, "format");
  lua_pop(L, 1);
}
