/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds the options in tables of scripts to the options of the program. */
#include "script/api/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/mask.h"
#include "measure/layout.h"
#include "option/conf.h"
#include "option/opt.h"
#include "option/optval.h"
#include "script/api/instance.h"
#include "script/vm/call.h"
#include "script/vm/mix.h"
#include "sql/sql.h"

/* The types of sysbench.cmdline, in their order. */
enum arg_type { ARG_NULL, ARG_BOOL, ARG_INT, ARG_SIZE, ARG_DOUBLE, ARG_STRING, ARG_LIST, ARG_FILE };

/* The part of a declared option that each stack index above the row holds, after
   options_read_row(). */
enum { ROW_DESCRIPTION = 1, ROW_DEFAULT, ROW_TYPE, ROW_VALIDATOR, ROW_DEFAULT_TEXT };

static const char option_form[] = "option '%s' must be a table {DESCRIPTION, DEFAULT, TYPE}";

/* The data that a declared option owns besides its struct bn_opt. */
struct info {
  char *name, *def, *help;
  int validator_ref; /* in the registry of the main instance; LUA_NOREF: no validator */
};

struct bn_options {
  bool changes_run;       /* the script has changed a general option, which the run has read */
  char *group;            /* "err.lua options" */
  struct bn_opt *option;  /* n rows, then BN_OPT_END; NULL: no table sysbench.cmdline.options */
  struct info *info;      /* of each option */
  union bn_optval *value; /* of each option */
  size_t n;
  struct bn_optset *defaults; /* of a script of a mix: the set that owns the values, its defaults */
};

struct bn_options *bn_options_new(void)
{
  return bn_alloc(1, sizeof(struct bn_options));
}

bool bn_options_are_declared(const struct bn_options *o)
{
  return o->option != NULL;
}

bool bn_options_contain(const struct bn_options *o, const struct bn_opt *opt)
{
  return o->n > 0 && opt >= o->option && opt < o->option + o->n;
}

/* Raises an error that refuses a declaration.  In a dialect its text is `reference` after a place
   in the reference's own module, because users search for the text that they have seen.  Natively
   it is `native`, which says what to correct, after the name of the script.  Both may have one %s
   for `arg`. */
static int options_refuse(lua_State *L, const char *reference, const char *native, const char *arg)
{
  const struct bn_api *api = bn_instance_api();

  if (api->vm->setup->conf->policy->plain_errors) {
    lua_pushliteral(L, "[string \"sysbench.cmdline.lua\"]:141: ");
    lua_pushfstring(L, reference, arg);
    lua_concat(L, 2);
    return lua_error(L);
  }
  lua_pushfstring(L, "%s: ", api->title);
  lua_pushfstring(L, native, arg);
  lua_concat(L, 2);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, BN_LUA_REFUSAL);
  return lua_error(L);
}

/* Pushes sysbench.cmdline.options.  Returns false, and pushes nothing, if it is nil.  Raises an
   error if it is another value than a table. */
static bool options_push_table(lua_State *L)
{
  bn_lua_push_field(bn_lua_current(), "cmdline");
  lua_getfield(L, -1, "options");
  lua_remove(L, -2);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    return false;
  }
  if (!lua_istable(L, -1))
    options_refuse(L, "wrong type for sysbench.cmdline.options: %s",
                   "sysbench.cmdline.options must be a table, not a %s", luaL_typename(L, -1));
  return true;
}

/* Pushes the items of the list at `index`, the default of option `name`, as one text, separated by
   commas.  The list ends before the first nil. */
static void options_push_list(lua_State *L, int index, const char *name)
{
  struct bn_buf *text = &bn_instance_current()->text;

  bn_buf_clear(text);
  for (int i = 1;; i++) {
    lua_rawgeti(L, index, i);
    if (lua_isnil(L, -1))
      break;
    if (!lua_isstring(L, -1))
      options_refuse(L, "wrong type for list option %s",
                     "option '%s': the items of the default must be strings or numbers", name);
    (void)bn_buf_printf(text, "%s%s", i > 1 ? "," : "", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_pushstring(L, text->data != NULL ? text->data : "");
}

/* Pushes the default at `index` as the text that a user would type, or nil if there is none.  A
   table becomes a list separated by commas. */
static void options_push_default(lua_State *L, int index, const char *name)
{
  switch (lua_type(L, index)) {
  case LUA_TBOOLEAN:
    lua_pushstring(L, lua_toboolean(L, index) ? "on" : "off");
    return;
  case LUA_TTABLE:
    options_push_list(L, index, name);
    return;
  case LUA_TSTRING:
  case LUA_TNUMBER:
    lua_pushvalue(L, index);
    (void)lua_tostring(L, -1); /* turns a number into a text in place */
    return;
  default:
    lua_pushnil(L);
  }
}

/* Returns the type that a row declares at stack index `type`.  Raises an error for a value that is
   no type. */
static enum arg_type options_read_declared_type(lua_State *L, int type, const char *name)
{
  const lua_Integer n = lua_isnumber(L, type) ? lua_tointeger(L, type) : ARG_NULL;

  if (n <= ARG_NULL || n > ARG_FILE)
    options_refuse(
        L, "cannot determine type for option %s",
        "option '%s': the type must be one of sysbench.cmdline.ARG_BOOL, ARG_INT, ARG_SIZE, "
        "ARG_DOUBLE, ARG_STRING, ARG_LIST and ARG_FILE",
        name);
  return (enum arg_type)n;
}

/* Returns the type of a row: the declared one at stack index `type`, or, if that is nil, the type
   of the default at `def`.  Raises an error if no type can be told, and for a type other than
   ARG_LIST where the default is a table. */
static enum arg_type options_read_type(lua_State *L, int def, int type, const char *name)
{
  const bool is_given = !lua_isnil(L, type);

  if (lua_istable(L, def)) {
    if (is_given && lua_tointeger(L, type) != ARG_LIST)
      options_refuse(
          L, "wrong type for list option %s",
          "option '%s': with a table as default, the type must be sysbench.cmdline.ARG_LIST", name);
    return ARG_LIST;
  }
  if (is_given)
    return options_read_declared_type(L, type, name);
  switch (lua_type(L, def)) {
  case LUA_TBOOLEAN:
    return ARG_BOOL;
  case LUA_TNUMBER:
    return ARG_DOUBLE;
  case LUA_TSTRING:
  case LUA_TNIL:
    return ARG_STRING;
  default:
    options_refuse(
        L, "cannot determine type for option %s",
        "option '%s': the default must be a string, a number, a boolean or a table of them", name);
    return ARG_NULL; /* not reached */
  }
}

/* Returns the bit of the trait of that name, or 0 if there is none that a script may declare. */
static unsigned options_find_trait(const char *name)
{
  return bn_layout_find_trait(name) & BN_OPT_OF_SCRIPTS;
}

/* Raises an error for the field, which is not the name of a trait, and names the traits that a
   script may declare.  The text for dialects is empty, because they do not raise the error. */
static void options_refuse_trait(lua_State *L, const char *name, const char *field)
{
  const char *separator = " ";

  lua_pushfstring(L, "option '%s': there is no trait '%s'; allowed:", name, field);
  for (size_t i = 0; bn_layout_traits[i] != NULL; i++)
    if (options_find_trait(bn_layout_traits[i]) != 0) {
      lua_pushfstring(L, "%s%s", separator, bn_layout_traits[i]);
      lua_concat(L, 2);
      separator = ", ";
    }
  options_refuse(L, "", "%s", lua_tostring(L, -1));
}

/* Returns the traits of an option: its row may have, besides numbered items, fields with the names
   of traits, and a trait whose field is false does not count.  Raises an error for any other field
   but `since`.  In a dialect other fields are ignored, as sysbench ignores all named fields. */
static unsigned options_read_traits(lua_State *L, int row, const char *name)
{
  const bool ignores_unknown = bn_instance_api()->vm->setup->conf->policy->plain_errors;
  unsigned traits = 0;

  for (lua_pushnil(L); lua_next(L, row) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      continue;
    const char *field = lua_tostring(L, -2);
    const unsigned trait = options_find_trait(field);
    const bool is_known = trait != 0 || strcmp(field, "since") == 0;

    if (!is_known && !ignores_unknown)
      options_refuse_trait(L, name, field);
    if (lua_toboolean(L, -1))
      traits |= trait;
  }
  return traits;
}

/* Reads the row at stack index `row`, which is the top.  Pushes its first four items, and the
   default as a text, so that row + ROW_… is the index of each.  Returns the type; raises an error
   for a wrong declaration. */
static enum arg_type options_read_row(lua_State *L, int row, const char *name)
{
  for (int i = ROW_DESCRIPTION; i <= ROW_VALIDATOR; i++)
    lua_rawgeti(L, row, i);
  if (!lua_isstring(L, row + ROW_DESCRIPTION))
    options_refuse(L, "nil description for option %s", option_form, name);
  const enum arg_type type = options_read_type(L, row + ROW_DEFAULT, row + ROW_TYPE, name);

  (void)options_read_traits(L, row, name); /* checks the names of the traits */
  options_push_default(L, row + ROW_DEFAULT, name);
  return type;
}

/* A function that stores row i, whose parts are on top of the stack as options_read_row() leaves
   them. */
typedef void options_row_fn(lua_State *L, struct bn_options *options, size_t i, const char *name,
                            enum arg_type type);

/* Returns the name that follows `last` in byte order in the options table, or NULL after the last
   one; `last` NULL gives the first one.  Raises an error for a row whose key is no string or whose
   value is no table.  Each call reads the whole table, which is small. */
static const char *options_next_name(lua_State *L, int table, const char *last)
{
  const char *next = NULL;

  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      options_refuse(L, "wrong table structure in sysbench.cmdline.options",
                     "an option in sysbench.cmdline.options has no name", NULL);
    const char *name = lua_tostring(L, -2);

    if (!lua_istable(L, -1))
      options_refuse(L, "wrong table structure in sysbench.cmdline.options", option_form, name);
    if (bn_lua_is_between(name, last, next))
      next = name;
  }
  return next;
}

/* Checks every row of the options table on top, in byte order of the names, and stores it, unless
   `store` is NULL.  Returns the number of rows. */
static size_t options_read_rows(lua_State *L, options_row_fn *store, struct bn_options *options)
{
  const int table = lua_gettop(L);
  const char *name = options_next_name(L, table, NULL);
  size_t n = 0;

  for (; name != NULL; name = options_next_name(L, table, name)) {
    lua_getfield(L, table, name);
    const enum arg_type type = options_read_row(L, table + 1, name);

    if (store != NULL)
      store(L, options, n, name, type);
    lua_settop(L, table);
    n++;
  }
  return n;
}

int bn_options_check(lua_State *L)
{
  lua_settop(L, 0);
  if (options_push_table(L))
    (void)options_read_rows(L, NULL, NULL);
  return 0;
}

/* Returns the versions that list an option.  Bundled workloads have options that older versions do
   not list: the field `since` of such a row is the first version with the option, "1.1" or
   "bench". */
static unsigned options_read_versions(lua_State *L, int row)
{
  unsigned versions = BN_IN_ALL;

  lua_getfield(L, row, "since");
  if (lua_isstring(L, -1))
    versions = strcmp(lua_tostring(L, -1), "1.1") == 0 ? BN_IN_11 : 0;
  lua_pop(L, 1);
  return versions;
}

/* Returns the program's type for a type of sysbench.cmdline.  No row has ARG_NULL, so that is not
   in the table. */
static enum bn_opt_type options_convert_type(enum arg_type type)
{
  static const enum bn_opt_type types[] = {
      [ARG_BOOL] = BN_BOOL,     [ARG_INT] = BN_INT,       [ARG_SIZE] = BN_SIZE,
      [ARG_DOUBLE] = BN_DOUBLE, [ARG_STRING] = BN_STRING, [ARG_LIST] = BN_LIST,
      [ARG_FILE] = BN_PATH};

  return types[type];
}

/* Stores a row as option i, the last one so far; has the type options_row_fn.  Copies Lua's texts,
   because the script may change its table. */
static void options_store_row(lua_State *L, struct bn_options *options, size_t i, const char *name,
                              enum arg_type type)
{
  struct info *info = &options->info[i];
  struct bn_opt *o = &options->option[i];
  const int row = lua_gettop(L) - ROW_DEFAULT_TEXT;

  info->name = bn_alloc_text(name);
  info->help = bn_alloc_copy(lua_tostring(L, row + ROW_DESCRIPTION));
  info->def = bn_alloc_copy(lua_tostring(L, row + ROW_DEFAULT_TEXT));
  if (lua_isfunction(L, row + ROW_VALIDATOR)) {
    lua_pushvalue(L, row + ROW_VALIDATOR);
    info->validator_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  o->name = info->name;
  o->help = info->help;
  o->def = info->def;
  o->type = options_convert_type(type);
  o->in = options_read_versions(L, row);
  o->traits = options_read_traits(L, row, name);
  o->offset = i * sizeof(union bn_optval);
  options->n = i + 1;
}

/* Reads sysbench.cmdline.options, if there is such a table.  A first reading checks and counts the
   rows, and a second one stores them. */
static void options_read_table(lua_State *L, struct bn_options *options)
{
  if (!options_push_table(L))
    return;
  const size_t n = options_read_rows(L, NULL, NULL);

  options->option = bn_alloc(n + 1, sizeof *options->option);
  options->info = bn_alloc(n, sizeof *options->info);
  options->value = bn_alloc(n, sizeof *options->value);
  for (size_t i = 0; i < n; i++)
    options->info[i].validator_ref = LUA_NOREF;
  (void)options_read_rows(L, options_store_row, options);
}

/* Reads the options of a script that is not part of a mix. */
static int options_read_main(lua_State *L)
{
  options_read_table(L, bn_instance_api()->options);
  return 0;
}

int bn_options_read(struct bn_lua *lua)
{
  lua_pushcfunction(lua->L, options_read_main);
  return bn_lua_call(lua, 0, 0, "sysbench.cmdline.read_cmdline_options");
}

/* --- scripts of a mix ------------------------------------------------------------------------- */

/* Returns the option of that name, in which '-' and '_' are the same, or NULL. */
static const struct bn_opt *options_find(const struct bn_options *o, const char *name)
{
  return bn_opt_find(o->option, name, strlen(name));
}

/* Raises an error if two scripts of a mix declare an option with different types.  The text for
   dialects is empty, because they have no mixes. */
static void options_refuse_other_types(lua_State *L, const struct bn_options *a,
                                       const struct bn_options *b)
{
  for (size_t i = 0; i < b->n; i++) {
    const struct bn_opt *o = options_find(a, b->option[i].name);

    if (o != NULL && o->type != b->option[i].type)
      options_refuse(L, "", "option '%s': two workloads declare it with different types", o->name);
  }
}

int bn_options_read_own(lua_State *L)
{
  struct bn_api *api = bn_instance_api();
  const struct bn_script_setup *setup = api->vm->setup;
  const lua_Integer number = luaL_checkinteger(L, 1);
  struct bn_err err = {0};

  if (api->own_options == NULL)
    api->own_options = bn_alloc(api->vm->mix->n, sizeof *api->own_options);
  struct bn_options *own = bn_options_new();

  api->own_options[number - 1] = own; /* bn_script_free() frees it, also after an error below */
  lua_settop(L, 0);
  options_read_table(L, own);
  for (lua_Integer i = 0; i < number - 1; i++)
    options_refuse_other_types(L, api->own_options[i], own);
  /* A set without settings of the user gives each option the default of this script. */
  own->defaults = bn_optset_new(setup->conf->policy);
  if (!bn_options_are_declared(own))
    return 0;
  if (bn_optset_add(own->defaults, "own", own->option, own->value, true /* override */, &err) != 0)
    return luaL_error(L, "%s", err.text);
  return 0;
}

static bool options_have_same_default(const struct bn_opt *a, const struct bn_opt *b)
{
  if (a->def == NULL || b->def == NULL)
    return a->def == b->def;
  return strcmp(a->def, b->def) == 0;
}

void bn_options_each_own_default(const struct bn_api *api, unsigned number,
                                 void (*fn)(void *arg, const struct bn_opt *o, const void *value),
                                 void *arg)
{
  const struct bn_optset *all_options = api->vm->setup->options;
  const struct bn_options *own = api->own_options[number - 1];

  for (size_t i = 0; i < own->n; i++) {
    const struct bn_opt *o = &own->option[i];
    /* The options of the mix have the default of the first script that declares them. */
    const struct bn_opt *first = options_find(api->options, o->name);
    const bool is_general = bn_conf_find_option(o->name) != NULL;
    const bool is_given = bn_optset_get_origin(all_options, o->name) != BN_FROM_DEFAULT;
    const bool has_other_default = first != NULL && !options_have_same_default(first, o);

    if (has_other_default && !is_general && !is_given)
      fn(arg, o, &own->value[i]);
  }
}

void bn_options_free(struct bn_options *o)
{
  if (o == NULL)
    return;
  /* The set frees what it put into the values. */
  bn_optset_free(o->defaults);
  for (size_t i = 0; i < o->n; i++) {
    free(o->info[i].name);
    free(o->info[i].def);
    free(o->info[i].help);
  }
  free(o->group);
  free(o->option);
  free(o->info);
  free(o->value);
  free(o);
}

/* --- validators ------------------------------------------------------------------------------- */

/* A walk through settings, whose values validators check. */
struct validation {
  const struct bn_options *options;
  struct bn_lua *lua;
  int rc; /* 0; -1: a validator has refused a value or failed, which has been logged */
};

/* Logs that a validator refuses a value; a value NULL was not given.  In a dialect the wording is
   that for unknown options, as in sysbench. */
static void options_log_refused(const struct bn_opt *o, const char *name, const char *value,
                                bool in_dialect)
{
  const char *equals = value != NULL ? "=" : "";
  char masked[BN_MASK_MAX];
  const char *shown = value != NULL ? bn_mask_text(value, masked) : "";

  if (value != NULL && bn_opt_is_secret(o)) /* a password */
    shown = BN_MASK;
  if (in_dialect)
    bn_log_stderr("invalid option: --%s%s%s", name, equals, shown);
  else
    bn_log_stderr("--%s%s%s: the script refuses this value", name, equals, shown);
}

/* Calls a validator with the name and the value of an option as strings.  Returns 0; or -1 after
   logging that it has failed or refuses the value, by nil or false.  typed_name: as in the setting,
   with '-' or '_'. */
static int options_call_validator(struct bn_lua *lua, int validator_ref, const struct bn_opt *o,
                                  const char *typed_name, const char *value)
{
  lua_State *L = lua->L;

  lua_rawgeti(L, LUA_REGISTRYINDEX, validator_ref);
  lua_pushstring(L, o->name);
  lua_pushstring(L, value != NULL ? value : "");
  if (bn_lua_call(lua, 2, 1, "validate") != 0)
    return -1;
  const bool is_accepted = lua_toboolean(L, -1);

  lua_pop(L, 1);
  if (is_accepted)
    return 0;
  options_log_refused(o, typed_name, value,
                      bn_optset_policy(lua->vm->setup->options)->plain_errors);
  return -1;
}

/* Validates a value that was typed for an option, if that has a validator.  Does nothing after a
   failure. */
static void options_validate(struct validation *v, const struct bn_opt *o, const char *typed_name,
                             const char *value)
{
  const struct bn_options *options = v->options;
  const struct info *info = &options->info[o - options->option]; /* info[i] is of option[i] */

  if (v->rc == 0 && info->validator_ref != LUA_NOREF)
    v->rc = options_call_validator(v->lua, info->validator_ref, o, typed_name, value);
}

/* Validates a pending setting, if it is one of the command line (path NULL) for a declared
   option. */
static void options_validate_pending(void *arg, const char *name, const char *value,
                                     const char *path, unsigned line)
{
  struct validation *v = arg;
  const struct bn_opt *o = options_find(v->options, name);

  (void)line;
  if (path == NULL && o != NULL)
    options_validate(v, o, name, value);
}

/* Validates what was typed for options of the script, before bn_optset_add() gives them their
   values.  A setting is pending, unless the program has an option of its name, which has it then.
   Returns 0, or -1 after logging a refusal. */
static int options_validate_typed(struct bn_lua *lua, const struct bn_options *options,
                                  const struct bn_optset *all)
{
  struct validation v = {.options = options, .lua = lua};

  bn_optset_each_pending(all, options_validate_pending, &v);
  for (size_t i = 0; i < options->n; i++) {
    const struct bn_opt *o = &options->option[i];
    const char *value = bn_optset_get_taken(all, o->name);

    if (value != NULL)
      options_validate(&v, o, o->name, value);
  }
  return v.rc;
}

/* Turns on the switches that have no default and were not given.  sysbench does so, although its
   help shows no default for them. */
static void options_turn_on_bare_switches(const struct bn_options *options,
                                          const struct bn_optset *all)
{
  for (size_t i = 0; i < options->n; i++) {
    const struct bn_opt *o = &options->option[i];
    const bool is_bare_switch = o->type == BN_BOOL && o->def == NULL;

    if (is_bare_switch && !bn_optset_is_given(all, o->name))
      options->value[i].b = true;
  }
}

/* Returns whether a general option has one value in all parts of a run on several hosts or in
   groups.  The profiles are among these options, because they set the time of the run. */
static bool options_is_common_to_parts(const struct bn_optset *all, const char *name)
{
  for (const char *const *profile = bn_conf_profiles; *profile != NULL; profile++)
    if (bn_opt_is_same_name(*profile, name))
      return true;
  return (bn_optset_get_traits(all, name) & BN_OPT_WHOLE_RUN) != 0;
}

/* Does the work of options_settle() outside of the dialects: the program's option gets the script's
   default.  But in a part of a run on several hosts or in groups, a general option that all parts
   have in common keeps its own default, and the script's option gets that. */
static int options_settle_natively(const struct bn_script_setup *setup, const struct bn_opt *o,
                                   bool is_general, struct bn_err *err)
{
  const bool keeps_general_default =
      setup->is_part && is_general && options_is_common_to_parts(setup->options, o->name);

  if (!keeps_general_default)
    return bn_optset_use_script_default(setup->options, o, err);
  bn_optset_use_general_default(setup->options, o);
  return 0;
}

/* Does the work of options_settle() in a dialect.  A general option keeps its default, because
   sysbench has read it before the script.  If only bench has the general option, the user's setting
   is meant for the script and left to it, except in a part.  Other options of the program get the
   script's default if sysbench has them. */
static int options_settle_in_dialect(const struct bn_script_setup *setup, const struct bn_opt *o,
                                     bool is_general, struct bn_err *err)
{
  const struct bn_opt *sql = bn_opt_find(bn_sql_options, o->name, strlen(o->name));
  const bool is_only_ours = sql != NULL && bn_opt_is_native(sql);

  if (is_general) {
    const bool is_left = !setup->is_part && bn_optset_leave_to_script(setup->options, o);

    return is_left ? 1 : 0;
  }
  return is_only_ours ? 0 : bn_optset_use_script_default(setup->options, o, err);
}

/* Settles what an option of the script means for the option of the program that has its name.
   Returns 1 if that option has another value now, 0 if not, or -1 and err. */
static int options_settle(const struct bn_script_setup *setup, const struct bn_opt *o,
                          bool is_general, struct bn_err *err)
{
  if (bn_policy_is_native(bn_optset_policy(setup->options)))
    return options_settle_natively(setup, o, is_general, err);
  return options_settle_in_dialect(setup, o, is_general, err);
}

/* Settles all options of the script, and notes whether one has changed a general option, so that
   the run has to be made again.  A share never makes it again, because the controller decides the
   work.  Returns 0, or -1 and err. */
static int options_set_defaults(struct bn_options *options, const struct bn_script_setup *setup,
                                struct bn_err *err)
{
  for (size_t i = 0; i < options->n; i++) {
    const struct bn_opt *o = &options->option[i];
    const bool is_general = bn_conf_find_option(o->name) != NULL;
    const int rc = options_settle(setup, o, is_general, err);

    if (rc < 0)
      return -1;
    options->changes_run |= rc > 0 && is_general && !setup->is_share;
  }
  return 0;
}

bool bn_options_has_run_defaults(const struct bn_options *o)
{
  return o->changes_run;
}

int bn_options_add(struct bn_lua *lua, struct bn_err *err)
{
  const struct bn_api *api = lua->vm->api;
  struct bn_optset *all = lua->vm->setup->options;
  struct bn_options *options = api->options;

  if (!bn_options_are_declared(options))
    return 0;
  if (options_validate_typed(lua, options, all) != 0)
    return -1;
  options->group = bn_alloc_print("%s options", api->title);
  if (bn_optset_add(all, options->group, options->option, options->value, true /* override */,
                    err) != 0)
    return -1;
  if (bn_optset_policy(all)->bare_switch_is_on)
    options_turn_on_bare_switches(options, all);
  return options_set_defaults(options, lua->vm->setup, err);
}

int bn_options_print(lua_State *L)
{
  const char *group = bn_instance_api()->options->group;
  const char *const groups[] = {group};
  char *text = NULL;
  size_t len = 0;

  if (group == NULL)
    return 0;
  FILE *out = bn_alloc_stream(&text, &len);

  bn_optset_print_help(bn_lua_current()->vm->setup->options, groups, 1, out);
  bn_alloc_stream_close(out);
  lua_getglobal(L, "print");
  lua_pushstring(L, text);
  free(text);
  lua_call(L, 1, 0);
  return 0;
}
