/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads declarations, whose texts stay in Lua, and gives values back. */
#include "study/declaration.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <lauxlib.h>

#include "base/near.h"
#include "dialect/dialect.h"
#include "measure/layout.h"
#include "option/optval.h"
#include "study/int64.h"
#include "study/native.h"

/* The memory for the value of an option; all options of a table have an array of them. */
struct slot {
  union bn_optval value; /* first, so that the offset of an option is that of its slot */
  bool given;
};
_Static_assert(offsetof(struct slot, value) == 0, "bn_declaration_push_values relies on it");

static const char *const type_names[] = {[BN_BOOL] = "bool",       [BN_INT] = "int",
                                         [BN_SIZE] = "size",       [BN_DOUBLE] = "double",
                                         [BN_STRING] = "string",   [BN_CHOICE] = "choice",
                                         [BN_LIST] = "list",       [BN_PATH] = "path",
                                         [BN_SECONDS] = "seconds", NULL};

/* A table that is read. */
struct reading {
  lua_State *L;
  int table;        /* absolute index of the table */
  int kept;         /* absolute index of the list that keeps its texts alive */
  const char *what; /* what the table declares, for sentences: "study", "option 'rounds'" */
};

/* Raises a failure with a sentence about what is read. */
__attribute__((noreturn, format(printf, 2, 3))) static void
declaration_refuse(const struct reading *r, const char *fmt, ...)
{
  va_list ap;

  lua_pushfstring(r->L, "%s: ", r->what);
  va_start(ap, fmt);
  lua_pushvfstring(r->L, fmt, ap);
  va_end(ap);
  lua_concat(r->L, 2);
  (void)bn_native_raise(r->L);
  __builtin_unreachable();
}

/* Pops the value on top and keeps it, so that its text stays valid. */
static void declaration_keep_value(const struct reading *r)
{
  lua_rawseti(r->L, r->kept, (int)lua_objlen(r->L, r->kept) + 1);
}

/* Returns zeroed memory that lives as long as the kept values. */
static void *declaration_keep_block(const struct reading *r, size_t size)
{
  void *block = lua_newuserdata(r->L, size);

  memset(block, 0, size);
  declaration_keep_value(r);
  return block;
}

/* Refuses a member that is not among `names`, because its name may be mistyped. */
static void declaration_check_names(const struct reading *r, const char *const *names)
{
  lua_pushnil(r->L);
  while (lua_next(r->L, r->table) != 0) {
    lua_pop(r->L, 1);
    if (lua_type(r->L, -1) != LUA_TSTRING)
      declaration_refuse(r, "a member has no name");
    if (bn_near_find(names, lua_tostring(r->L, -1)) < 0)
      declaration_refuse(r, "unknown member '%s'", lua_tostring(r->L, -1));
  }
}

/* Returns the member of that name, which must be a text, or NULL if there is none. */
static const char *declaration_read_text(const struct reading *r, const char *name)
{
  lua_getfield(r->L, r->table, name);
  if (lua_isnil(r->L, -1)) {
    lua_pop(r->L, 1);
    return NULL;
  }
  if (lua_type(r->L, -1) != LUA_TSTRING)
    declaration_refuse(r, "'%s' must be a text", name);
  const char *text = lua_tostring(r->L, -1);

  declaration_keep_value(r);
  return text;
}

/* Returns the member of that name, which must be there and a text. */
static const char *declaration_require_text(const struct reading *r, const char *name)
{
  const char *text = declaration_read_text(r, name);

  if (text == NULL)
    declaration_refuse(r, "'%s' is missing", name);
  return text;
}

/* Returns the member of that name, which must be a boolean, or false if there is none. */
static bool declaration_read_switch(const struct reading *r, const char *name)
{
  lua_getfield(r->L, r->table, name);
  if (!lua_isnil(r->L, -1) && !lua_isboolean(r->L, -1))
    declaration_refuse(r, "'%s' must be true or false", name);
  const bool is_on = lua_toboolean(r->L, -1) != 0;

  lua_pop(r->L, 1);
  return is_on;
}

/* Sets *out to the member of that name, which must be a whole number.  Returns false, and
   leaves *out, if there is none. */
static bool declaration_read_integer(const struct reading *r, const char *name, int64_t *out)
{
  lua_getfield(r->L, r->table, name);
  const bool is_there = !lua_isnil(r->L, -1);

  if (is_there && !bn_int64_read(r->L, -1, out))
    declaration_refuse(r, "'%s' must be a whole number", name);
  lua_pop(r->L, 1);
  return is_there;
}

/* Returns the texts of the list of that name, which NULL ends, or NULL if the list is empty or
   there is none. */
static const char *const *declaration_read_text_list(const struct reading *r, const char *name)
{
  const char **text = NULL;

  lua_getfield(r->L, r->table, name);
  if (!lua_isnil(r->L, -1) && !lua_istable(r->L, -1))
    declaration_refuse(r, "'%s' must be a list of texts", name);
  const size_t n = lua_istable(r->L, -1) ? lua_objlen(r->L, -1) : 0;

  if (n > 0) /* with the NULL that ends the list */
    text = declaration_keep_block(r, (n + 1) * sizeof *text);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(r->L, -1, (int)i + 1);
    if (lua_type(r->L, -1) != LUA_TSTRING)
      declaration_refuse(r, "'%s' must be a list of texts", name);
    text[i] = lua_tostring(r->L, -1);
    declaration_keep_value(r);
  }
  lua_pop(r->L, 1);
  return text;
}

/* --- an option --- */

/* Pushes the names of the types with ", " between them.  Returns the text. */
static const char *declaration_push_type_names(lua_State *L)
{
  lua_pushstring(L, type_names[0]);
  for (size_t i = 1; type_names[i] != NULL; i++) {
    lua_pushfstring(L, "%s, %s", lua_tostring(L, -1), type_names[i]);
    lua_remove(L, -2);
  }
  return lua_tostring(L, -1);
}

/* Returns the type that the member "type" names. */
static enum bn_opt_type declaration_read_type(const struct reading *r)
{
  const char *name = declaration_require_text(r, "type");
  const int i = bn_near_find(type_names, name);

  if (i < 0)
    declaration_refuse(r, "unknown type '%s'; types: %s", name, declaration_push_type_names(r->L));
  return (enum bn_opt_type)i;
}

/* Returns the bits of the traits in the list "traits". */
static unsigned declaration_read_traits(const struct reading *r)
{
  const char *const *name = declaration_read_text_list(r, "traits");
  unsigned traits = 0;

  for (; name != NULL && *name != NULL; name++) {
    const unsigned trait = bn_layout_find_trait(*name);

    if (trait == 0)
      declaration_refuse(r, "unknown trait '%s'", *name);
    traits |= trait;
  }
  return traits;
}

/* Returns the default as a user types it, or NULL if there is none.  A number or a boolean of Lua
   is turned into such a text. */
static const char *declaration_read_default(const struct reading *r)
{
  lua_getfield(r->L, r->table, "def");
  switch (lua_type(r->L, -1)) {
  case LUA_TNIL:
    lua_pop(r->L, 1);
    return NULL;
  case LUA_TBOOLEAN:
    lua_pushstring(r->L, lua_toboolean(r->L, -1) ? "on" : "off");
    lua_replace(r->L, -2);
    break;
  case LUA_TNUMBER:
  case LUA_TSTRING:
    break;
  default:
    declaration_refuse(r, "'def' must be the default as a user types it");
  }
  const char *text = lua_tostring(r->L, -1); /* turns a number into a text in place */

  declaration_keep_value(r);
  return text;
}

/* Reads the least and the largest value.  If the table has neither, both stay 0: there are no
   bounds. */
static void declaration_read_bounds(const struct reading *r, struct bn_opt *o)
{
  const bool has_min = declaration_read_integer(r, "min", &o->min),
             has_max = declaration_read_integer(r, "max", &o->max);

  if (has_min && !has_max)
    o->max = INT64_MAX;
  if (has_max && !has_min)
    o->min = INT64_MIN;
  if (o->min > o->max)
    declaration_refuse(r, "'min' must not be more than 'max'");
}

/* Refuses a default that is no value of the option. */
static void declaration_check_default(const struct reading *r, const struct bn_opt *o)
{
  union bn_optval value = {.u = 0};
  const enum bn_optset_error rc = bn_optval_set_default(o, &bn_policy_bench, &value);

  bn_optval_clear(o, &value);
  if (rc != BN_OPTSET_OK)
    declaration_refuse(r, "the default '%s' does not fit", o->def);
}

/* Reads the letter of an option, whose type has been read. */
static void declaration_read_letter(const struct reading *r, struct bn_opt *o)
{
  const char *letter = declaration_read_text(r, "letter");

  if (letter == NULL)
    return;
  if (strlen(letter) != 1 || o->type == BN_BOOL)
    declaration_refuse(r, "'letter' must be one letter, of an option with a value");
  o->letter = letter[0];
}

/* Reads an option, whose name has been read.  Its value is in the slot of this number. */
static void declaration_read_option(const struct reading *r, struct bn_opt *o, size_t number)
{
  static const char *const names[] = {"name",  "type",    "letter",     "form",    "help",
                                      "def",   "min",     "max",        "choices", "words",
                                      "file",  "repeats", "verbatim",   "hidden",  "secret",
                                      "blank", "traits",  "range_text", NULL};

  declaration_check_names(r, names);
  o->type = declaration_read_type(r);
  o->help = declaration_require_text(r, "help");
  o->form = declaration_read_text(r, "form");
  o->range_text = declaration_read_text(r, "range_text");
  declaration_read_letter(r, o);
  o->choices = declaration_read_text_list(r, "choices");
  if ((o->type == BN_CHOICE) != (o->choices != NULL))
    declaration_refuse(r, "'choices' belong to the type 'choice'");
  o->words = declaration_read_text_list(r, "words");
  o->traits = declaration_read_traits(r);
  o->hidden = declaration_read_switch(r, "hidden");
  o->secret = declaration_read_switch(r, "secret");
  o->blank = declaration_read_switch(r, "blank");
  o->repeat = declaration_read_switch(r, "repeats");
  o->verbatim = declaration_read_switch(r, "verbatim");
  o->file = declaration_read_switch(r, "file");
  o->def = declaration_read_default(r);
  declaration_read_bounds(r, o);
  o->offset = number * sizeof(struct slot) + offsetof(struct slot, value);
  o->given = number * sizeof(struct slot) + offsetof(struct slot, given);
  declaration_check_default(r, o);
}

/* Returns the name of an option, which with '_' in the place of '-' can be a name in Lua too. */
static const char *declaration_read_name(const struct reading *r)
{
  const char *name = declaration_require_text(r, "name");

  if (name[0] < 'a' || name[0] > 'z' ||
      name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] != '\0')
    declaration_refuse(r, "the name '%s' must have small letters, digits and '-'", name);
  return name;
}

/* Reads the list of options at r->table.  Returns their table, or NULL if there are none, and sets
   the size of the memory for their values. */
static const struct bn_opt *declaration_read_option_list(const struct reading *r, size_t *conf_size)
{
  lua_State *L = r->L;
  const size_t n = lua_objlen(L, r->table);
  /* The last row stays zero, which ends the table. */
  struct bn_opt *option = declaration_keep_block(r, (n + 1) * sizeof *option);

  for (size_t i = 0; i < n; i++) {
    struct reading row = {.L = L, .table = lua_gettop(L) + 1, .kept = r->kept};

    lua_rawgeti(L, r->table, (int)i + 1);
    lua_pushfstring(L, "option %d", (int)i + 1); /* until the name is known */
    row.what = lua_tostring(L, -1);
    if (!lua_istable(L, row.table))
      declaration_refuse(&row, "a table was expected");
    option[i].name = declaration_read_name(&row);
    lua_pushfstring(L, "option '%s'", option[i].name);
    row.what = lua_tostring(L, -1);
    declaration_read_option(&row, &option[i], i);
    lua_settop(L, row.table - 1);
  }
  *conf_size = n * sizeof(struct slot);
  return n > 0 ? option : NULL;
}

const struct bn_opt *bn_declaration_read_options(lua_State *L, int index, size_t *conf_size)
{
  lua_newtable(L);
  const struct reading r = {.L = L, .table = index, .kept = lua_gettop(L), .what = "options"};

  return declaration_read_option_list(&r, conf_size);
}

/* --- a study --- */

/* Returns the member of that name, a number of 0 or more, or default_size if there is none. */
static size_t declaration_read_size(const struct reading *r, const char *name, size_t default_size)
{
  int64_t n;

  if (!declaration_read_integer(r, name, &n))
    return default_size;
  if (n < 0)
    declaration_refuse(r, "'%s' must be 0 or more", name);
  return (size_t)n;
}

/* Reads the member "options" of a study, a list of tables, if there is one. */
static void declaration_read_study_options(const struct reading *study, struct bn_subcommand *sub)
{
  lua_State *L = study->L;

  lua_getfield(L, study->table, "options");
  const struct reading options = {
      .L = L, .table = lua_gettop(L), .kept = study->kept, .what = "options"};

  if (lua_istable(L, options.table))
    sub->options = declaration_read_option_list(&options, &sub->conf_size);
  else if (!lua_isnil(L, options.table))
    declaration_refuse(study, "'options' must be a list of tables");
  lua_pop(L, 1);
}

const struct bn_subcommand *bn_declaration_read_study(lua_State *L, int index)
{
  static const char *const names[] = {"name",         "title",        "operands",
                                      "min_operands", "max_operands", "takes_run",
                                      "options",      "run",          NULL};
  struct bn_subcommand *sub;

  lua_newtable(L);
  const struct reading r = {.L = L, .table = index, .kept = lua_gettop(L), .what = "study"};

  declaration_check_names(&r, names);
  sub = declaration_keep_block(&r, sizeof *sub);
  *sub = (struct bn_subcommand){.name = declaration_read_text(&r, "name"),
                                .title = declaration_require_text(&r, "title"),
                                .operands = declaration_read_text(&r, "operands"),
                                .min_operands = declaration_read_size(&r, "min_operands", 0),
                                .max_operands = declaration_read_size(&r, "max_operands", SIZE_MAX),
                                .takes_run = declaration_read_switch(&r, "takes_run")};
  if (sub->operands == NULL)
    sub->operands = "";
  if (sub->min_operands > sub->max_operands)
    declaration_refuse(&r, "'min_operands' must not be more than 'max_operands'");
  declaration_read_study_options(&r, sub);
  lua_getfield(L, index, "run");
  if (!lua_isfunction(L, -1))
    declaration_refuse(&r, "'run' must be a function");
  lua_settop(L, r.kept); /* the list of kept values is on top */
  return sub;
}

/* --- values --- */

/* Pushes the value of an option. */
static void declaration_push_value(lua_State *L, const struct bn_opt *o, const union bn_optval *v)
{
  switch (o->type) {
  case BN_BOOL:
    lua_pushboolean(L, v->b);
    break;
  case BN_INT:
    bn_int64_push(L, v->i);
    break;
  case BN_SIZE:
    bn_int64_push_unsigned(L, v->u);
    break;
  case BN_DOUBLE:
  case BN_SECONDS:
    lua_pushnumber(L, v->d);
    break;
  case BN_STRING:
  case BN_PATH:
    lua_pushstring(L, v->s); /* nil for NULL */
    break;
  case BN_CHOICE:
    lua_pushstring(L, o->choices[v->choice]);
    break;
  case BN_LIST:
    bn_native_push_list(L, &v->list);
    break;
  }
}

void bn_declaration_push_values(lua_State *L, const struct bn_opt *options, const void *conf)
{
  lua_newtable(L);
  lua_newtable(L);
  const int given = lua_gettop(L), values = given - 1;

  for (const struct bn_opt *o = options; o != NULL && o->name != NULL; o++) {
    const struct slot *s = (const void *)((const char *)conf + o->offset);
    const bool has_value = o->type == BN_BOOL || s->given || o->def != NULL; /* else nil */

    (void)luaL_gsub(L, o->name, "-", "_"); /* the key in both tables */
    lua_pushvalue(L, -1);
    lua_pushboolean(L, s->given);
    lua_rawset(L, given);
    if (has_value)
      declaration_push_value(L, o, &s->value);
    else
      lua_pushnil(L);
    lua_rawset(L, values);
  }
}
