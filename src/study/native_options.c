/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of runs, and files of settings, for studies in Lua. */
#include <string.h>

#include "dialect/dialect.h"
#include "measure/layout.h"
#include "option/conf.h"
#include "option/opt.h"
#include "option/optval.h"
#include "option/words.h"
#include "study/declaration.h"
#include "study/int64.h"
#include "study/native.h"

/* Names in the registry: the tables of traits by their bits, the metatable of sets, and a userdata
   with the pointer to the function that knows the traits of options. */
static const char tables_key[] = "bn.option_traits", set_key[] = "bn.optset",
                  traits_of_key[] = "bn.traits_of";

/* The pointer has a userdata of its own, because C does not convert a pointer to a function to the
   void * of a light userdata. */
void bn_native_set_traits(lua_State *L, bn_opt_traits_of *traits_of)
{
  bn_opt_traits_of **kept = lua_newuserdata(L, sizeof *kept);

  *kept = traits_of;
  lua_setfield(L, LUA_REGISTRYINDEX, traits_of_key);
}

/* Each interpreter has the userdata: study.c calls bn_native_set_traits(). */
bn_opt_traits_of *bn_native_get_traits(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, traits_of_key);
  bn_opt_traits_of *const *kept = lua_touserdata(L, -1);

  lua_pop(L, 1); /* the registry keeps the userdata */
  return *kept;
}

/* All options with the same traits share one table, because a result has a hundred options. */
void bn_native_push_traits(lua_State *L, unsigned traits)
{
  luaL_findtable(L, LUA_REGISTRYINDEX, tables_key, 8);
  lua_rawgeti(L, -1, (int)traits);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    for (unsigned bit = 0; bn_layout_traits[bit] != NULL; bit++)
      if ((traits & 1U << bit) != 0) {
        lua_pushboolean(L, 1);
        lua_setfield(L, -2, bn_layout_traits[bit]);
      }
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, (int)traits);
  }
  lua_remove(L, -2);
}

/* native.option(name [, dialect]): returns a table about a general option, with its default in the
   dialect, and whether the dialect ignores its old name with 0; nil: there is none of that name. */
static int native_option(lua_State *L)
{
  const struct bn_opt *o = bn_conf_find_option(luaL_checkstring(L, 1));
  const struct bn_policy *named = bn_policy_find(luaL_optstring(L, 2, ""));
  const struct bn_policy *dialect = named != NULL ? named : &bn_policy_bench;

  if (o == NULL) {
    lua_pushnil(L);
    return 1;
  }
  lua_createtable(L, 0, 6);
  bn_native_set_text(L, "name", o->name);
  bn_native_set_text(L, "alias_of", o->alias_of);
  bn_native_set_text(L, "default", bn_opt_get_default(o, dialect));
  bn_native_set_switch(L, "ignores_zero", dialect->old_name_with_0_ignored);
  bn_native_set_switch(L, "secret", bn_opt_is_secret(o));
  bn_native_push_traits(L, o->traits);
  lua_setfield(L, -2, "traits");
  return 1;
}

/* native.traits(name): returns a table of the traits that the program declares for an option of a
   run. */
static int native_traits(lua_State *L)
{
  bn_native_push_traits(L, bn_native_get_traits(L)(luaL_checkstring(L, 1)));
  return 1;
}

/* Arguments of bn_optset_find_unknown and bn_optset_add. */
enum { REFUSE_UNKNOWN = false, REFUSE_SAME_NAME = false };

/* The set of general options, and the configuration that has their values. */
struct general {
  struct bn_conf conf;
  struct bn_optset *set;
};

/* Sets a general option, and checks it as a run does.  Any other option is not checked.  Returns 0,
   or -1 and err; the caller frees *g in either case. */
static int options_check(struct general *g, const char *name, const char *value, struct bn_err *err)
{
  struct bn_optset_fault fault;

  g->conf.policy = &bn_policy_bench;
  g->set = bn_conf_new_options(&g->conf, err);
  if (g->set == NULL)
    return -1;
  if (bn_optset_find(g->set, name) == NULL)
    return 0;
  (void)bn_optset_set(g->set, name, value, NULL);
  g->conf.raw.events = 1; /* else --time=0 logs a warning of an endless run */
  if (bn_optset_find_unknown(g->set, REFUSE_UNKNOWN, &fault) ||
      bn_conf_finish(&g->conf, g->set, &fault) != 0)
    return bn_err_set(err, 0, "%s", fault.text);
  return 0;
}

/* native.check_option(name, value): returns true, also for an option that is not general, or nil
   and a sentence if the value is wrong. */
static int native_check_option(lua_State *L)
{
  struct general g = {.set = NULL};
  struct bn_err err;
  const int rc = options_check(&g, luaL_checkstring(L, 1), luaL_checkstring(L, 2), &err);

  bn_optset_free(g.set);
  bn_conf_done(&g.conf);
  if (rc != 0)
    return bn_native_push_error(L, &err);
  lua_pushboolean(L, 1);
  return 1;
}

/* --- options that a study reads from words --- */

/* The metamethod __gc of a set.  Lua frees the set, so that it is freed also after an error. */
static int options_free_set(lua_State *L)
{
  struct bn_optset **set = lua_touserdata(L, 1);

  bn_optset_free(*set);
  *set = NULL;
  return 0;
}

/* Pushes a new set, without options, and returns it. */
static struct bn_optset *options_push_new_set(lua_State *L)
{
  struct bn_optset **set = lua_newuserdata(L, sizeof *set);

  *set = NULL;
  if (luaL_newmetatable(L, set_key)) {
    lua_pushcfunction(L, options_free_set);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  *set = bn_optset_new(&bn_policy_bench);
  return *set;
}

/* Has the set on top of the stack keep the values at `options` and `conf`, because Lua may free all
   that is no longer used at once, and freeing the set needs its options and their values. */
static void options_keep(lua_State *L, int options, int conf)
{
  lua_createtable(L, 2, 0);
  lua_pushvalue(L, options);
  lua_rawseti(L, -2, 1);
  lua_pushvalue(L, conf);
  lua_rawseti(L, -2, 2);
  lua_setfenv(L, -2);
}

/* Sets an option by a word, such as "--time=10".  Returns false if the word names no option of the
   set. */
static bool options_set_word(struct bn_optset *set, const char *word)
{
  char name[BN_OPT_NAME_MAX];

  if (strncmp(word, "--", 2) != 0)
    return false;
  bn_opt_read_name(word, name);
  if (bn_optset_find(set, name) == NULL)
    return false;
  bn_optset_set_arg(set, word);
  return true;
}

/* Sets the options that the words of the list at `words` name, and pushes a list of the other
   words. */
static void options_set_words(lua_State *L, struct bn_optset *set, int words)
{
  int n_others = 0;

  lua_newtable(L);
  for (int i = 1; i <= (int)lua_objlen(L, words); i++) {
    lua_rawgeti(L, words, i);
    if (options_set_word(set, luaL_checkstring(L, -1)))
      lua_pop(L, 1);
    else
      lua_rawseti(L, -2, ++n_others);
  }
}

/* native.parse(options, words): reads options, which are declared as those of a study, from words.
   Returns a table of their values, a table that says which were given, and a list of the words that
   are no options; or nil and a sentence. */
static int native_parse(lua_State *L)
{
  struct bn_optset_fault fault;
  const struct bn_opt *options;
  struct bn_optset *set;
  struct bn_err err;
  size_t size;
  void *conf;

  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  options = bn_declaration_read_options(L, 1, &size); /* pushes what keeps them, at 3 */
  conf = lua_newuserdata(L, size);                    /* at 4; 0 bytes without options */
  memset(conf, 0, size);
  set = options_push_new_set(L);
  options_keep(L, 3, 4);
  if (bn_optset_add(set, "options", options, conf, REFUSE_SAME_NAME, &err) != 0)
    return luaL_error(L, "%s", err.text);
  options_set_words(L, set, 2);
  const int others = lua_gettop(L);

  if (bn_optset_find_unknown(set, REFUSE_UNKNOWN, &fault) || bn_optset_find_fault(set, &fault)) {
    lua_pushnil(L);
    lua_pushstring(L, fault.text);
    return 2;
  }
  bn_declaration_push_values(L, options, conf);
  lua_pushvalue(L, others);
  return 3;
}

/* --- files of settings --- */

/* Adds {name=, words=, line=} for a setting to the list on top.  The words, which may be passwords,
   are in memory of C only while they are pushed, because an error of Lua would not wipe them. */
static void options_add_setting(void *arg, const char *name, const char *value, const char *path,
                                unsigned line)
{
  lua_State *L = arg;
  struct bn_list words = {.n = 0};

  (void)path;
  lua_createtable(L, 0, 3);
  bn_native_set_text(L, "name", name);
  bn_native_set_number(L, "line", line);
  /* The reader of the file has refused a value whose quotes are not closed. */
  bn_optval_split_items(value != NULL ? value : "", &words);
  bn_native_push_list(L, &words);
  bn_words_done(&words);
  lua_setfield(L, -2, "words");
  lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

/* native.settings(path): returns a list of {name=, words={…}, line=} for the settings of a file in
   the form of configuration files; or nil and a sentence. */
static int native_settings(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  struct bn_optset *set = options_push_new_set(L);
  struct bn_err err;

  if (bn_optset_read_file(set, path, &err) != 0)
    return bn_native_push_error(L, &err);
  lua_newtable(L);
  bn_optset_each_pending(set, options_add_setting, L);
  return 1;
}

/* native.read_traits(bits): returns the table of the traits that --help-traits prints as
   a number. */
static int native_read_traits(lua_State *L)
{
  bn_native_push_traits(L, (unsigned)bn_int64_check(L, 1));
  return 1;
}

const luaL_Reg bn_native_options[] = {{"check_option", native_check_option},
                                      {"option", native_option},
                                      {"parse", native_parse},
                                      {"read_traits", native_read_traits},
                                      {"settings", native_settings},
                                      {"traits", native_traits},
                                      {NULL, NULL}};
