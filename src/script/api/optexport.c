/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exports all options as `sysbench.opt` and, for old scripts, as globals. */
#include "script/api/optexport.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/alloc.h"
#include "base/near.h"
#include "base/units.h"
#include "option/conf.h"
#include "option/opt.h"
#include "script/api/instance.h"
#include "script/api/options.h"
#include "script/vm/call.h"

/* After this many reads of unknown options, a worker's sysbench.opt becomes a plain table. */
enum { UNKNOWN_OPTIONS_MAX = 64 };

/* The key, in the registry of a shared interpreter, of the metatable that each sysbench.opt has. */
static const char key_options[] = "bn.options";

/* An export of options into a table and into globals. */
struct optexport {
  lua_State *L;
  const struct bn_optset *options;
  int table;     /* stack index of the table, sysbench.opt */
  int globals;   /* stack index of the globals; 0: no globals are set */
  bool is_early; /* the script has not been executed yet */
};

/* Pushes a text, or "" for NULL. */
static void optexport_push_text(lua_State *L, const char *text)
{
  lua_pushstring(L, text != NULL ? text : "");
}

/* Pushes the items of a list as a table of texts.  If the option has a single number in the
   reference, pushes that number instead, or 0 for an empty list. */
static void optexport_push_list(lua_State *L, const struct bn_opt *o, const struct bn_list *list)
{
  if (o->scalar) {
    lua_pushnumber(L, list->n > 0 ? strtod(list->item[0], NULL) : 0);
    return;
  }
  lua_createtable(L, (int)list->n, 0);
  for (size_t i = 0; i < list->n; i++) {
    lua_pushstring(L, list->item[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* Pushes the chosen word; "" if it is NULL.  Pushes a boolean if the choice is shown as a switch,
   and the word means on or off. */
static void optexport_push_choice(lua_State *L, const struct bn_opt *o, const char *word)
{
  bool is_on;

  if (o->as_switch && word != NULL && bn_units_parse_bool(word, &is_on) == 0)
    lua_pushboolean(L, is_on);
  else
    optexport_push_text(L, word);
}

/* Pushes the name of a file; "" if it is NULL.  In a dialect pushes nil, because sysbench has no
   value for such an option. */
static void optexport_push_path(lua_State *L, const char *path)
{
  if (!bn_policy_is_native(bn_lua_current()->vm->setup->conf->policy))
    lua_pushnil(L);
  else
    optexport_push_text(L, path);
}

/* Pushes the value of an option as the type of Lua that scripts expect. */
static void optexport_push_value(lua_State *L, const struct bn_opt *o, const void *value)
{
  switch (o->type) {
  case BN_BOOL:
    lua_pushboolean(L, *(const bool *)value);
    break;
  case BN_INT:
    lua_pushnumber(L, (lua_Number) * (const int64_t *)value);
    break;
  case BN_SIZE:
    lua_pushnumber(L, (lua_Number) * (const uint64_t *)value);
    break;
  case BN_DOUBLE:
  case BN_SECONDS:
    lua_pushnumber(L, *(const double *)value);
    break;
  case BN_STRING:
    optexport_push_text(L, *(char *const *)value);
    break;
  case BN_CHOICE:
    optexport_push_choice(L, o, o->choices[*(const int *)value]);
    break;
  case BN_LIST:
    optexport_push_list(L, o, value);
    break;
  case BN_PATH:
    optexport_push_path(L, *(char *const *)value);
  }
}

/* Pushes the value of an option.  The value of `threads` is the number of threads on all hosts, so
   that a script can divide work among them. */
static void optexport_push_option(lua_State *L, const struct bn_opt *o, const void *value)
{
  const struct bn_services *services = bn_lua_current()->session->services;
  const char *name = o->alias_of != NULL ? o->alias_of : o->name;
  const bool has_other_hosts = services->sessions != services->conf->plan.threads;

  if (has_other_hosts && strcmp(name, "threads") == 0)
    lua_pushnumber(L, (lua_Number)services->sessions);
  else
    optexport_push_value(L, o, value);
}

/* Pops the value on top and sets a global to it.  A function or a table stays as it is, and in some
   dialects a global that the script has set itself. */
static void optexport_set_global(const struct optexport *export, const char *name)
{
  lua_State *L = export->L;
  const struct bn_policy *policy = bn_lua_current()->vm->setup->conf->policy;
  /* In one dialect (debug_option_is_global), scripts rely on the option `debug` in place of the
     library of that name. */
  const bool is_debug = policy->debug_option_is_global && strcmp(name, LUA_DBLIBNAME) == 0;

  lua_getfield(L, export->globals, name);
  /* Where options are globals before the script runs, the script may have replaced them. */
  const bool is_of_script = policy->globals_before_script && !export->is_early && !lua_isnil(L, -1);
  const bool is_protected = lua_isfunction(L, -1) || (lua_istable(L, -1) && !is_debug);

  lua_pop(L, 1);
  if (is_of_script || is_protected)
    lua_pop(L, 1);
  else
    lua_setfield(L, export->globals, name);
}

/* Pops the value on top and sets sysbench.opt[name] to it, unless the script has assigned a value
   there.  Also sets the global, if options are globals and this option may be one. */
static void optexport_set_value(const struct optexport *export, const char *name,
                                bool may_be_global)
{
  lua_getfield(export->L, export->table, name);
  const bool is_assigned = !lua_isnil(export->L, -1);

  lua_pop(export->L, 1);
  if (is_assigned) {
    lua_pop(export->L, 1);
    return;
  }
  if (export->globals != 0 && may_be_global) {
    lua_pushvalue(export->L, -1);
    optexport_set_global(export, name);
  }
  lua_setfield(export->L, export->table, name);
}

/* Exports an option that the program or the script has declared. */
static void optexport_add_declared(void *arg, const char *name, const struct bn_opt *o,
                                   const void *value)
{
  const struct optexport *export = arg;
  /* Scripts that read options from globals were written for 0.5 and 1.0, and may have variables
     with the names of newer options (clock, report, compat).  So a newer option is no global,
     unless the user has typed it: these versions do not know it, and read it as a text. */
  const bool is_old = (o->in & (BN_IN_05 | BN_IN_10)) != 0;
  const bool may_be_text = export->globals != 0 && !is_old && !bn_opt_is_reserved(o);
  const char *typed = may_be_text ? bn_optset_get_typed(export->options, name) : NULL;

  if (typed != NULL)
    lua_pushstring(export->L, typed);
  else
    optexport_push_option(export->L, o, value);
  optexport_set_value(export, name, is_old || typed != NULL);
}

struct lookup {
  lua_State *L;
  const char *name; /* with '_' for '-' */
  bool is_found;    /* the value is on top of the stack */
};

/* Pushes the value of the option if it is the option that is searched for. */
static void optexport_look_up(void *arg, const char *name, const struct bn_opt *o,
                              const void *value)
{
  struct lookup *lookup = arg;

  if (lookup->is_found || strcmp(name, lookup->name) != 0)
    return;
  lookup->is_found = true;
  optexport_push_option(lookup->L, o, value);
}

/* If this setting of the command line (path NULL) sets the undeclared option that is searched for,
   pushes its value, in place of the value of an earlier setting. */
static void optexport_look_up_undeclared(void *arg, const char *name, const char *value,
                                         const char *path, unsigned line)
{
  struct lookup *lookup = arg;

  (void)line;
  if (path != NULL || !bn_opt_is_same_name(name, lookup->name))
    return;
  if (lookup->is_found)
    lua_pop(lookup->L, 1);
  lookup->is_found = true;
  lua_pushstring(lookup->L, value != NULL ? value : "");
}

/* Exports, as a text, an undeclared option that has a setting on the command line (path NULL).  The
   last of several settings counts. */
static void optexport_add_undeclared(void *arg, const char *name, const char *value,
                                     const char *path, unsigned line)
{
  const struct optexport *export = arg;

  (void)value; /* a later setting may have another one, which counts */
  (void)line;
  if (path != NULL)
    return;
  char *key = bn_alloc_text(name);
  struct lookup last = {.L = export->L, .name = key};

  bn_near_replace_dashes(key);
  bn_optset_each_pending(export->options, optexport_look_up_undeclared, &last);
  optexport_set_value(export, key, true /* may_be_global */);
  free(key);
}

/* Returns whether options are globals, as in the interface of 0.5: for a script that declares no
   options. */
static bool optexport_wants_globals(void)
{
  return bn_lua_current()->vm->old_names == BN_OLD_NOW &&
         !bn_options_are_declared(bn_instance_api()->options);
}

/* The moment of an export.  Before the top level of the script runs, its declarations are not
   known, so undeclared options are exported too. */
enum moment { BEFORE_SCRIPT, AFTER_SCRIPT };

/* Exports all options to the table at that stack index, and to globals if the script expects
   them. */
static void optexport_fill(lua_State *L, int table, enum moment moment)
{
  const struct bn_lua *lua = bn_lua_current();
  const struct bn_optset *options = lua->vm->setup->options;
  const bool is_early = moment == BEFORE_SCRIPT;
  struct optexport export = {.L = L, .options = options, .table = table, .is_early = is_early};

  luaL_checkstack(L, 8, NULL); /* more than the functions below push */
  if (optexport_wants_globals()) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, lua->env_ref);
    export.globals = lua_gettop(L);
  }
  bn_optset_each(options, optexport_add_declared, &export);
  if (is_early || bn_instance_api()->takes_any)
    bn_optset_each_pending(options, optexport_add_undeclared, &export);
  if (export.globals != 0)
    lua_remove(L, export.globals);
}

/* Implements "bn.complete" of the metatable of a worker's sysbench.opt, which is at index 1:
   removes the metatable and exports all options to the table. */
static int optexport_complete(lua_State *L)
{
  lua_settop(L, 1);
  lua_pushnil(L);
  lua_setmetatable(L, 1);
  optexport_fill(L, 1, AFTER_SCRIPT);
  return 0;
}

/* Sets the "bn.complete" of the metatable on top. */
static void optexport_set_completer(lua_State *L)
{
  lua_pushcfunction(L, optexport_complete);
  lua_setfield(L, -2, "bn.complete");
}

/* Pushes the value of the option of that name.  Returns false, and pushes nothing, if there is no
   such option, or if the name is NULL. */
static bool optexport_push_named(lua_State *L, const char *name)
{
  const struct bn_optset *options = bn_lua_current()->vm->setup->options;
  struct lookup lookup = {.L = L, .name = name};

  if (name == NULL)
    return false;
  bn_optset_each(options, optexport_look_up, &lookup);
  if (!lookup.is_found && bn_instance_api()->takes_any)
    bn_optset_each_pending(options, optexport_look_up_undeclared, &lookup);
  return lookup.is_found;
}

int bn_optexport_get(lua_State *L)
{
  return lua_type(L, 1) == LUA_TSTRING && optexport_push_named(L, lua_tostring(L, 1));
}

/* Implements __index of a worker's sysbench.opt: looks the option up, and keeps its value in the
   table.  A script that often asks for unknown options gets a plain table, which answers faster. */
static int optexport_index_option(lua_State *L)
{
  enum { OPTIONS = 1, NAME, VALUE }; /* indices on the stack */
  struct bn_instance *in = bn_instance_current();

  lua_settop(L, NAME);
  if (optexport_push_named(L, lua_tostring(L, NAME))) {
    lua_pushvalue(L, NAME);
    lua_pushvalue(L, VALUE);
    lua_rawset(L, OPTIONS);
  } else {
    in->unknown_options++;
    if (in->unknown_options == UNKNOWN_OPTIONS_MAX)
      (void)optexport_complete(L);
    lua_pushnil(L);
  }
  return 1;
}

/* Gives the session a list of its own, if the option is a list that the script has declared.  The
   script may change such a list, so sessions must not share it. */
static void optexport_set_own_list(void *arg, const char *name, const struct bn_opt *o,
                                   const void *value)
{
  const struct optexport *export = arg;

  if (o->type != BN_LIST || o->scalar || !bn_options_contain(bn_instance_api()->options, o))
    return;
  optexport_push_option(export->L, o, value);
  lua_setfield(export->L, export->table, name);
}

/* Pushes the metatable that each sysbench.opt of a shared interpreter has: its __index is a table
   with all options, which the first session makes.  That table is complete from the start: if the
   first look-up of an option called a function and later ones found a field, the traces that LuaJIT
   compiles would not fit the other sessions. */
static void optexport_push_shared_metatable(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, key_options);
  if (!lua_isnil(L, -1))
    return;
  lua_pop(L, 1);
  lua_createtable(L, 0, 2);
  optexport_set_completer(L);
  lua_newtable(L);
  optexport_fill(L, lua_gettop(L), AFTER_SCRIPT);
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, key_options);
}

/* Makes the table on top fall back to the table of all options that the sessions of the interpreter
   share.  It has only lists of its own, which the script may change. */
static void optexport_use_shared_table(lua_State *L)
{
  struct optexport export = {.L = L, .table = lua_gettop(L)};

  optexport_push_shared_metatable(L);
  lua_setmetatable(L, export.table);
  bn_optset_each(bn_lua_current()->vm->setup->options, optexport_set_own_list, &export);
}

/* Makes the table on top look up each option when the script first asks for it. */
static void optexport_fill_on_demand(lua_State *L)
{
  lua_createtable(L, 0, 2);
  optexport_set_completer(L);
  lua_pushcfunction(L, optexport_index_option);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

/* Pops the value on top.  If the script has set the global at its top level, and not to a function
   or a table, sets the global to the popped value. */
static void optexport_replace_global(const struct optexport *export, const char *name)
{
  lua_State *L = export->L;

  lua_pushstring(L, name);
  lua_rawget(L, export->globals);
  const bool is_replaceable = !lua_isnil(L, -1) && !lua_isfunction(L, -1) && !lua_istable(L, -1);

  lua_pop(L, 1);
  if (is_replaceable)
    lua_setfield(L, export->globals, name);
  else
    lua_pop(L, 1);
}

/* Replaces the global of an option that old versions have, if the user has set the option.  Options
   of the controller alone are left out: scripts read none of them, and bench itself sets `test`. */
static void optexport_replace_declared(void *arg, const char *name, const struct bn_opt *o,
                                       const void *value)
{
  const struct optexport *export = arg;
  const bool is_old = (o->in & (BN_IN_05 | BN_IN_10)) != 0;
  const bool is_of_controller = (o->traits & BN_OPT_CONTROLLER_ONLY) != 0;

  if (!is_old || is_of_controller || !bn_optset_is_given(export->options, name))
    return;
  optexport_push_option(export->L, o, value);
  optexport_replace_global(export, name);
}

/* Replaces the global of an undeclared option that has a setting on the command line (path NULL).
   The last of several settings comes last, and so counts. */
static void optexport_replace_undeclared(void *arg, const char *name, const char *value,
                                         const char *path, unsigned line)
{
  const struct optexport *export = arg;

  (void)line;
  if (path != NULL)
    return;
  char *key = bn_alloc_text(name);

  bn_near_replace_dashes(key);
  lua_pushstring(export->L, value != NULL ? value : "");
  optexport_replace_global(export, key);
  free(key);
}

/* Lets the options that the user has set replace the globals that an old script has set at its top
   level by a line such as `rows = rows or 100`, as 1.0 does.  Other options become globals when the
   script first reads them (module compat05). */
static void optexport_replace_globals(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();
  struct optexport export = {.L = L, .options = lua->vm->setup->options};

  lua_rawgeti(L, LUA_REGISTRYINDEX, lua->env_ref);
  export.globals = lua_gettop(L);
  bn_optset_each(export.options, optexport_replace_declared, &export);
  bn_optset_each_pending(export.options, optexport_replace_undeclared, &export);
  lua_pop(L, 1);
}

/* Sets sysbench.opt of the current instance to a new table, and leaves the table `sysbench` on the
   stack.  A table of all options, which are some hundred, would take a tenth of the memory of each
   of 10,000 workers.  So workers share a table, or fill their tables on demand. */
static int optexport_set_opt(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();

  lua_rawgeti(L, LUA_REGISTRYINDEX, lua->sysbench_ref);
  lua_newtable(L);
  if (!lua->worker || optexport_wants_globals())
    optexport_fill(L, lua_gettop(L), AFTER_SCRIPT);
  else if (lua->shared != NULL)
    optexport_use_shared_table(L);
  else
    optexport_fill_on_demand(L);
  lua_setfield(L, -2, "opt");
  if (bn_instance_api()->options_win)
    optexport_replace_globals(L);
  return 0;
}

/* Sets an option, in the sysbench.opt of a script of a mix, to the script's own default. */
static void optexport_set_own_default(void *arg, const struct bn_opt *o, const void *value)
{
  const struct optexport *export = arg;
  char *key = bn_alloc_text(o->name);

  bn_near_replace_dashes(key);
  optexport_push_value(export->L, o, value);
  lua_setfield(export->L, export->table, key);
  free(key);
}

int bn_optexport_set_own(lua_State *L)
{
  enum { SYSBENCH = 1, OPT }; /* indices on the stack */
  const unsigned number = (unsigned)luaL_checkinteger(L, 1);
  struct optexport export = {.L = L, .table = OPT};

  lua_settop(L, 0);
  (void)optexport_set_opt(L); /* leaves `sysbench` on the stack */
  lua_getfield(L, SYSBENCH, "opt");
  bn_options_each_own_default(bn_instance_api(), number, optexport_set_own_default, &export);
  return 0;
}

/* Sets the option globals before the top level of the script runs.  The table of options, which the
   export fills too, is dropped: the script has no sysbench.opt yet. */
static int optexport_set_globals_early(lua_State *L)
{
  lua_newtable(L);
  optexport_fill(L, lua_gettop(L), BEFORE_SCRIPT);
  return 0;
}

int bn_optexport_set_early(struct bn_lua *lua)
{
  const struct bn_vm *vm = lua->vm;

  if (!vm->setup->conf->policy->globals_before_script || vm->old_names != BN_OLD_NOW)
    return 0;
  lua_pushcfunction(lua->L, optexport_set_globals_early);
  return bn_lua_call(lua, 0, 0, "sysbench.opt");
}

int bn_optexport_set(struct bn_lua *lua)
{
  lua_pushcfunction(lua->L, optexport_set_opt);
  return bn_lua_call(lua, 0, 0, "sysbench.opt");
}
