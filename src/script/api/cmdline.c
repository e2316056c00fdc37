/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sysbench.cmdline`: arguments, option types, and the commands a script defines. */
#include "script/api/cmdline.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/near.h"
#include "option/conf.h"
#include "option/opt.h"
#include "script/api/instance.h"
#include "script/api/options.h"
#include "script/vm/call.h"
#include "sql/sql.h"
#include "sql/table_check.h"

/* The items of the list that a script declares as a command. */
enum { COMMAND_FUNCTION = 1, COMMAND_IS_PARALLEL = 2 };

/* Pops the value on top unless it is a table.  Returns whether it is a table. */
static bool cmdline_pop_unless_table(lua_State *L)
{
  if (lua_istable(L, -1))
    return true;
  lua_pop(L, 1);
  return false;
}

/* Pushes sysbench.cmdline.commands if it is a table, else pushes nothing and returns false. */
static bool cmdline_push_commands(struct bn_lua *lua)
{
  bn_lua_push_field(lua, "cmdline");
  bn_lua_replace_by_entry(lua->L, "commands");
  return cmdline_pop_unless_table(lua->L);
}

/* Pushes the declaration of a command, the entry of that name, if it is a table; else pushes
   nothing and returns false. */
static bool cmdline_push_declaration(struct bn_lua *lua, const char *name)
{
  if (!cmdline_push_commands(lua))
    return false;
  bn_lua_replace_by_entry(lua->L, name);
  return cmdline_pop_unless_table(lua->L);
}

const char *bn_cmdline_next_command(struct bn_lua *lua, const char *after)
{
  lua_State *L = lua->L;
  const char *next = NULL;

  if (!cmdline_push_commands(lua))
    return NULL;
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;

    if (name != NULL && lua_istable(L, -1) && bn_lua_is_between(name, after, next))
      next = name;
  }
  lua_pop(L, 1);
  return next;
}

bool bn_cmdline_find_command(struct bn_lua *lua, const char *name, bool *is_parallel)
{
  lua_State *L = lua->L;

  if (!cmdline_push_declaration(lua, name))
    return false;
  lua_rawgeti(L, -1, COMMAND_FUNCTION);
  const bool has_function = !lua_isnil(L, -1);

  lua_rawgeti(L, -2, COMMAND_IS_PARALLEL);
  *is_parallel = lua_toboolean(L, -1);
  lua_pop(L, 3); /* the declaration and its two items */
  return has_function;
}

bool bn_cmdline_push_command(struct bn_lua *lua, const char *name)
{
  if (!cmdline_push_declaration(lua, name))
    return false;
  lua_rawgeti(lua->L, -1, COMMAND_FUNCTION);
  lua_remove(lua->L, -2);
  return true;
}

bool bn_cmdline_has_options(struct bn_lua *lua)
{
  bn_lua_push_field(lua, "cmdline");
  bn_lua_replace_by_entry(lua->L, "options");
  const bool has_options = !lua_isnil(lua->L, -1);

  lua_pop(lua->L, 1);
  return has_options;
}

void bn_cmdline_forget_options(struct bn_lua *lua)
{
  lua_State *L = lua->L;

  bn_lua_push_field(lua, "cmdline");
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "options");
    lua_pushnil(L);
    lua_rawset(L, -3);
  }
  lua_pop(L, 1);
}

/* command_defined(name): returns whether the script declares the command. */
static int cmdline_command_defined(lua_State *L)
{
  bool is_parallel;

  lua_pushboolean(L,
                  bn_cmdline_find_command(bn_lua_current(), luaL_checkstring(L, 1), &is_parallel));
  return 1;
}

/* command_parallel(name): returns whether all threads run the command; false for a name that is not
   declared. */
static int cmdline_command_parallel(lua_State *L)
{
  bool is_parallel = false;

  (void)bn_cmdline_find_command(bn_lua_current(), luaL_checkstring(L, 1), &is_parallel);
  lua_pushboolean(L, is_parallel);
  return 1;
}

/* call_command(name): calls the function of a declared command.  Returns false if the function
   returns false, which means that the command has failed, and true for any other result. */
static int cmdline_call_command(lua_State *L)
{
  if (!bn_cmdline_push_command(bn_lua_current(), luaL_checkstring(L, 1)))
    return luaL_error(L, "no such command: %s", lua_tostring(L, 1));
  lua_call(L, 0, 1);
  const bool is_false = lua_isboolean(L, -1) && !lua_toboolean(L, -1); /* nil is no failure */

  lua_pushboolean(L, !is_false);
  return 1;
}

/* barrier(): waits until all threads of a parallel command have called it.  Returns false if one of
   them has failed. */
static int cmdline_barrier(lua_State *L)
{
  struct bn_session *s = bn_instance_session();

  lua_pushboolean(L, s->services->barrier(s));
  return 1;
}

/* share(text): keeps a text for all threads of the command, with as many bytes as api->shared has;
   share() returns it.  The threads pass a barrier between writing and reading, without which a
   reader may see half of the text. */
static int cmdline_share(lua_State *L)
{
  struct bn_api *api = bn_instance_api();

  if (lua_isnoneornil(L, 1)) {
    lua_pushstring(L, api->shared);
    return 1;
  }
  size_t len;
  const char *text = luaL_checklstring(L, 1, &len);

  if (len >= sizeof api->shared)
    return luaL_error(L, "sysbench.cmdline.share: the text has more than %d bytes",
                      (int)sizeof api->shared - 1);
  memcpy(api->shared, text, len + 1);
  return 0;
}

/* part(): returns the number of threads of this process, if the run or command has threads in other
   processes too (--hosts, --group); else nothing. */
static int cmdline_get_part_threads(lua_State *L)
{
  const struct bn_script_setup *setup = bn_lua_current()->vm->setup;

  if (!setup->is_part)
    return 0;
  lua_pushinteger(L, (lua_Integer)setup->conf->plan.threads);
  return 1;
}

/* judge(verdict): sets the exit status after a check of data, whose finding the script has printed.
   The verdict is "violated" if the data is not as it should be, which gives status 3, or
   "unchecked" if the script could not find out, which gives 1. */
static int cmdline_judge(lua_State *L)
{
  enum { VIOLATED, UNCHECKED };
  static const char *const verdicts[] = {
      [VIOLATED] = "violated", [UNCHECKED] = "unchecked", [UNCHECKED + 1] = NULL};
  const struct bn_services *services = bn_instance_session()->services;

  services->judge(services->of, luaL_checkoption(L, 1, NULL, verdicts) == VIOLATED);
  return 0;
}

/* progress(text): shows on the terminal how far the command is; progress(nil) clears the line. */
static int cmdline_progress(lua_State *L)
{
  bn_log_progress(luaL_optstring(L, 1, NULL));
  return 0;
}

/* quiet(): returns whether a bundled script is to print no messages about its progress
   (--quiet). */
static int cmdline_quiet(lua_State *L)
{
  lua_pushboolean(L, bn_lua_current()->vm->setup->conf->raw.quiet);
  return 1;
}

/* Sets the start of the load of tables to now_ns, unless a thread has set it before: it is 0 until
   then.  Returns the start. */
static uint64_t cmdline_mark_load_start(struct bn_api *api, uint64_t now_ns)
{
  uint64_t unset = 0;

  (void)atomic_compare_exchange_strong(&api->load_start_ns, &unset, now_ns);
  return atomic_load(&api->load_start_ns);
}

/* Returns in how many seconds the load will end, if it goes on at the rate so far: `loaded` rows,
   more than 0, in elapsed_s.  Returns 0 if more than all_rows are loaded. */
static double cmdline_estimate_remaining_s(double loaded, double all_rows, double elapsed_s)
{
  const double remaining_s = elapsed_s * (all_rows - loaded) / loaded;

  return remaining_s > 0 ? ceil(remaining_s) : 0;
}

/* loaded(table, rows, all_rows): adds the rows that the thread has inserted into the table to those
   of all threads.  Shows how much of all_rows, the rows of all tables, is inserted, and in how many
   seconds the load will end.  A thread that begins a table calls it with 0 rows, so that the time
   of the first rows counts. */
static int cmdline_loaded(lua_State *L)
{
  struct bn_api *api = bn_instance_api();
  const char *table = luaL_checkstring(L, 1);
  const lua_Number rows = luaL_checknumber(L, 2), all_rows = luaL_checknumber(L, 3);
  const bool is_count = rows >= 0 && rows < 0x1p63; /* false for NaN, too */
  const uint64_t now_ns = bn_clock_mono(), start_ns = cmdline_mark_load_start(api, now_ns);

  luaL_argcheck(L, is_count, 2, "not a number of rows");

  const double loaded = (double)atomic_fetch_add(&api->loaded, (uint64_t)rows) + rows;
  const double elapsed_s = (double)(now_ns - start_ns) * 1e-9;
  const double percent = all_rows > 0 ? floor(loaded / all_rows * 100) : 0;
  char text[160];

  if (rows > 0) {
    (void)snprintf(text, sizeof text, "'%s': %.0f %% of %.0f rows, %.0f s left", table, percent,
                   all_rows, cmdline_estimate_remaining_s(loaded, all_rows, elapsed_s));
    bn_log_progress(text);
  }
  return 0;
}

/* Shows how many indexes exist, and for how long at least one of the threads has been creating an
   index; clears the line if no thread is.  The caller holds the lock. */
static void cmdline_show_indexes(const struct bn_index_progress *p, double all_indexes)
{
  char text[80];

  if (p->creating == 0) {
    bn_log_progress(NULL);
    return;
  }
  (void)snprintf(text, sizeof text, "creating indexes: %u of %.0f done", p->created, all_indexes);
  bn_log_progress_since(text, p->start_ns);
}

/* indexing(all_indexes): counts an index that the thread begins to create; indexing(all_indexes,
   true): counts one that it has created.  Both show how many of all indexes exist. */
static int cmdline_indexing(lua_State *L)
{
  struct bn_index_progress *p = &bn_instance_api()->indexes;
  const lua_Number all_indexes = luaL_checknumber(L, 1);
  const bool created = lua_toboolean(L, 2);

  (void)pthread_mutex_lock(&p->lock);
  if (!created) {
    if (p->creating == 0)
      p->start_ns = bn_clock_mono();
    p->creating++;
  } else {
    p->created++;
    if (p->creating > 0) /* a script may call this for the end of an index alone */
      p->creating--;
  }
  cmdline_show_indexes(p, all_indexes);
  (void)pthread_mutex_unlock(&p->lock);
  return 0;
}

/* expect(): tells the SQL layer that every thread opens a connection.  expect(at_start, in_all):
   tells it that each thread has also prepared at_start of its in_all statements.  Returns "now" if
   the thread is to prepare the rest before its first event, "later" if it is to prepare each when
   it is first used, and nil if the server does not allow the statements of all threads, which has
   been logged. */
static int cmdline_expect(lua_State *L)
{
  static const char *const answers[] = {[BN_SQL_REST_LATER] = "later", [BN_SQL_REST_NOW] = "now"};
  struct bn_lua *lua = bn_lua_current();
  struct bn_sqlsys *sys = lua->vm->setup->sql;

  if (lua_isnone(L, 1)) {
    bn_sql_note_all_connect(sys);
    return 0;
  }
  const lua_Number at_start = luaL_checknumber(L, 1), in_all = luaL_checknumber(L, 2);
  const bool are_counts = at_start >= 0 && in_all >= at_start && in_all < 0x1p63; /* no NaN */

  luaL_argcheck(L, are_counts, 1, "not a number of statements");

  const enum bn_sql_rest answer =
      bn_sql_expect_statements(sys, lua->session, (uint64_t)at_start, (uint64_t)in_all);
  const bool is_refused = answer == BN_SQL_REST_REFUSED;

  /* The refusal was logged, and the place in a bundled script would add nothing to it. */
  lua->reported = is_refused;
  if (is_refused)
    return 0;
  lua_pushstring(L, answers[answer]);
  return 1;
}

/* hold(): holds back the statements that are prepared and bound from now on, until prepare_held()
   prepares them, many at a time where the driver can do that. */
static int cmdline_hold(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();

  (void)L;
  bn_sql_hold_prepares(lua->session);
  return 0;
}

/* prepare_held(): prepares the statements that hold() holds back.  Returns false if a statement
   could not be prepared, which has been logged unless the session is interrupted.  If sessions
   share a worker, a function of module sysbench.shared takes the place of this one, and lets other
   sessions go on while the server is waited for. */
static int cmdline_prepare_held(lua_State *L)
{
  struct bn_lua *lua = bn_lua_current();
  const bool has_failed = bn_sql_prepare_held(lua->session) != 0;

  bn_instance_set_reported(lua, has_failed);
  lua_pushboolean(L, !has_failed);
  return 1;
}

/* refuse(text): raises an error whose text says what is wrong with what a user typed.  Outside the
   dialects the text is printed alone, without the name of the function that raised it. */
static int cmdline_refuse(lua_State *L)
{
  const struct bn_policy *policy = bn_lua_current()->vm->setup->conf->policy;

  (void)luaL_checkstring(L, 1);
  lua_settop(L, 1);
  if (!policy->plain_errors) {
    lua_pushvalue(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, BN_LUA_REFUSAL);
  }
  return lua_error(L);
}

/* Adds a number about the workload to the facts that the heading of the report shows. */
static void cmdline_record_number(const char *key, double number)
{
  const struct bn_session *s = bn_instance_session();
  char text[32];

  (void)snprintf(text, sizeof text, "%.15g", number);
  s->services->fact(s->services->of, "workload", key, text);
}

/* use_tables(n_tables, rows): records the tables that the run of a bundled workload uses, for the
   heading of its report; `rows` is the number in each, or 0 if the options do not say it. */
static int cmdline_use_tables(lua_State *L)
{
  const double n_tables = luaL_checknumber(L, 1), rows = luaL_checknumber(L, 2);

  if (!bn_lua_current()->place->workload)
    return 0;
  cmdline_record_number("tables", n_tables);
  if (rows > 0)
    cmdline_record_number("rows", rows);
  return 0;
}

/* Raises an error with the sentence of err, as refuse() does. */
static int cmdline_refuse_err(lua_State *L, const struct bn_err *err)
{
  lua_settop(L, 0);
  lua_pushstring(L, err->text);
  return cmdline_refuse(L);
}

/* check_tables(prefix, n_tables, rows, option): raises an error if one of the tables is missing,
   and warns if a table has too few rows.  Checks nothing for a user's script, because only bundled
   workloads are known to use the tables that their options name. */
static int cmdline_check_tables(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();
  const struct bn_vm *vm = lua->vm;
  const double n_tables = luaL_checknumber(L, 2);
  struct bn_sql_table_check check = {
      .prefix = luaL_checkstring(L, 1),
      .rows = luaL_checknumber(L, 3),
      .option = luaL_checkstring(L, 4),
      .by_default = bn_optset_get_origin(vm->setup->options, "table-size") == BN_FROM_DEFAULT};
  const bool is_count = n_tables >= 1 && n_tables <= UINT_MAX; /* false for NaN, too */
  struct bn_err err = {0};

  if (!lua->place->workload || !is_count)
    return 0;
  check.n = (unsigned)n_tables;
  if (bn_sql_table_check(vm->setup->sql, bn_instance_session(), &check, &err) == 0)
    return 0;
  return cmdline_refuse_err(L, &err);
}

/* check_room(bytes): raises an error if the server surely has no room for the rows that are about
   to be inserted, which have that many bytes together.  The session needs a connection. */
static int cmdline_check_room(lua_State *L)
{
  const struct bn_lua *lua = bn_lua_current();
  const double bytes = luaL_checknumber(L, 1);
  const bool is_size = bytes >= 0 && bytes < 0x1p63; /* false for NaN, too */
  struct bn_err err = {0};

  if (!is_size || bn_sql_check_room(lua->session, (uint64_t)bytes, &err) == 0)
    return 0;
  return cmdline_refuse_err(L, &err);
}

int bn_cmdline_dialect(lua_State *L)
{
  const char *dialect = bn_lua_current()->vm->setup->conf->policy->dialect;

  if (dialect == NULL)
    return 0;
  lua_pushstring(L, dialect);
  return 1;
}

/* Adds to the table on top what the user has typed: argv, and, if there are any, command and
   script_path. */
static void cmdline_add_arguments(lua_State *L, const struct bn_lua *lua)
{
  const struct bn_script_setup *setup = lua->vm->setup;

  lua_createtable(L, setup->argc, 1); /* items 1 to argc - 1, and item 0, which is the program */
  for (int i = 0; i < setup->argc; i++) {
    lua_pushstring(L, setup->argv[i]);
    lua_rawseti(L, -2, i);
  }
  lua_setfield(L, -2, "argv");
  if (setup->command != NULL) {
    lua_pushstring(L, setup->command);
    lua_setfield(L, -2, "command");
  }
  if (lua->place->name != NULL) {
    lua_pushstring(L, lua->place->name);
    lua_setfield(L, -2, "script_path");
  }
}

/* The constants for types of options; each has its index as value. */
static const char *const argument_types[] = {"ARG_NULL",   "ARG_BOOL",   "ARG_INT",  "ARG_SIZE",
                                             "ARG_DOUBLE", "ARG_STRING", "ARG_LIST", "ARG_FILE",
                                             "ARG_MAX",    NULL};

static const luaL_Reg reference_functions[] = {
    {"command_defined", cmdline_command_defined}, {"command_parallel", cmdline_command_parallel},
    {"call_command", cmdline_call_command},       {"read_cmdline_options", bn_options_check},
    {"print_test_options", bn_options_print},     {NULL, NULL}};

/* The functions that the reference does not have.  Scripts reach them only by name, so that pairs()
   shows the entries that it shows in the reference. */
static const luaL_Reg own_functions[] = {{"barrier", cmdline_barrier},
                                         {"expect", cmdline_expect},
                                         {"hold", cmdline_hold},
                                         {"indexing", cmdline_indexing},
                                         {"judge", cmdline_judge},
                                         {"loaded", cmdline_loaded},
                                         {"part", cmdline_get_part_threads},
                                         {"prepare_held", cmdline_prepare_held},
                                         {"progress", cmdline_progress},
                                         {"dialect", bn_cmdline_dialect},
                                         {"quiet", cmdline_quiet},
                                         {"refuse", cmdline_refuse},
                                         {"share", cmdline_share},
                                         {"use_tables", cmdline_use_tables},
                                         {"check_room", cmdline_check_room},
                                         {"check_tables", cmdline_check_tables},
                                         {NULL, NULL}};

/* Adds to the table on top the constants and functions that the reference has. */
static void cmdline_add_reference_entries(lua_State *L)
{
  for (int i = 0; argument_types[i] != NULL; i++) {
    lua_pushinteger(L, i);
    lua_setfield(L, -2, argument_types[i]);
  }
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, "PARALLEL_COMMAND");
  luaL_register(L, NULL, reference_functions);
}

/* Pushes an entry of sysbench.cmdline for a worker: a function, the number of a type, or true.
   Returns false, and pushes nothing, if there is none of that name. */
static bool cmdline_push_entry(lua_State *L, const char *name)
{
  const int type = bn_near_find(argument_types, name);
  lua_CFunction f = bn_lua_find_function(reference_functions, name);

  if (f == NULL)
    f = bn_lua_find_function(own_functions, name);
  if (f != NULL)
    lua_pushcfunction(L, f);
  else if (type >= 0)
    lua_pushinteger(L, type);
  else if (strcmp(name, "PARALLEL_COMMAND") == 0 || strcmp(name, "in_worker") == 0)
    lua_pushboolean(L, 1);
  else
    return false;
  return true;
}

/* Implements __index of a worker's table, which lacks most entries because they would take memory
   in every worker.  Returns the entry, or nothing if there is none of that name. */
static int cmdline_index_worker(lua_State *L)
{
  lua_settop(L, 2);
  return lua_type(L, 2) == LUA_TSTRING && cmdline_push_entry(L, lua_tostring(L, 2));
}

/* Implements "bn.complete" of a worker's table, which is at index 1: adds the entries that the
   reference has, before pairs() walks through the table. */
static int cmdline_complete_worker(lua_State *L)
{
  lua_settop(L, 1);
  cmdline_add_reference_entries(L);
  return 0;
}

int bn_cmdline_make_table(lua_State *L)
{
  enum { ROOM_IN_WORKER = 4, ROOM_IN_MAIN = 20 }; /* for entries, before the table has to grow */
  const struct bn_lua *lua = bn_lua_current();

  lua_createtable(L, 0, lua->worker ? ROOM_IN_WORKER : ROOM_IN_MAIN);
  cmdline_add_arguments(L, lua);
  if (!lua->worker)
    cmdline_add_reference_entries(L);
  lua_createtable(L, 0, 2); /* the metatable */
  if (lua->worker) {
    lua_pushcfunction(L, cmdline_complete_worker);
    lua_setfield(L, -2, "bn.complete");
    lua_pushcfunction(L, cmdline_index_worker);
  } else {
    lua_createtable(L, 0, 8);
    luaL_register(L, NULL, own_functions);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "in_worker");
  }
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  return 1;
}
