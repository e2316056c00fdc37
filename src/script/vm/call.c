/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into a script. */
#include "script/vm/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "api/session.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/log.h"
#include "option/conf.h"
#include "script/vm/chunk.h"
#include "script/vm/env.h"
#include "script/vm/library.h"
#include "script/vm/lua.h"

/* The most bytes of the description of an error value, which ends before an entry that does not
   fit, and of a text in it, which is cut. */
enum { DESCRIPTION_MAX = 4096, TEXT_MAX = 256 };

/* The message handler of calls: logs a traceback, and leaves the error value as it is.  An error
   of event() was traced where event() was called (lua->traced): from here only its caller is
   visible. */
static int call_traceback(lua_State *L)
{
  struct bn_lua *lua = bn_lua_current();
  const bool is_error = !bn_library_is_exit(L);

  if (bn_log_has_asides() && is_error && !lua->traced) {
    luaL_traceback(L, L, NULL, 1);
    bn_log_foreign(lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua->traced = false;
  return 1;
}

/* Appends a text between quotes, with its newlines escaped, because they would begin lines of their
   own. */
static void call_add_text(struct bn_buf *b, const char *quote, const char *text)
{
  char shown[TEXT_MAX];

  (void)bn_escape(shown, sizeof shown, text, "");
  (void)bn_buf_printf(b, "%s%s%s", quote, shown, quote);
}

/* Appends a key or value in a form that fits on one line; runs no code of the script. */
static void call_add_value(struct bn_buf *b, lua_State *L, int index)
{
  switch (lua_type(L, index)) {
  case LUA_TSTRING:
    call_add_text(b, "\"", lua_tostring(L, index));
    break;
  case LUA_TNUMBER:
    (void)bn_buf_printf(b, "%.14g", lua_tonumber(L, index));
    break;
  case LUA_TBOOLEAN:
    (void)bn_buf_str(b, lua_toboolean(L, index) ? "true" : "false");
    break;
  default:
    (void)bn_buf_printf(b, "<%s>", luaL_typename(L, index));
  }
}

/* Appends the entries of the table on top, as "{key = value, …}". */
static void call_add_table(struct bn_buf *b, lua_State *L)
{
  const char *separator = "";

  (void)bn_buf_char(b, '{');
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    (void)bn_buf_str(b, separator);
    separator = ", ";
    if (lua_type(L, -2) == LUA_TSTRING)
      call_add_text(b, "", lua_tostring(L, -2));
    else
      call_add_value(b, L, -2);
    (void)bn_buf_str(b, " = ");
    call_add_value(b, L, -1);
  }
  (void)bn_buf_char(b, '}');
}

/* Logs, as an aside, a description of the error value on top, which the message shows only as "(not
   a string)". */
static void call_describe_error(lua_State *L)
{
  struct bn_buf b;

  if (!bn_log_has_asides())
    return;
  if (lua_isnil(L, -1)) {
    bn_log_hint("the error value is nil");
    return;
  }
  bn_buf_init(&b, DESCRIPTION_MAX);
  (void)bn_buf_printf(&b, "the error value is a %s: ", luaL_typename(L, -1));
  if (lua_istable(L, -1))
    call_add_table(&b, L);
  else
    call_add_value(&b, L, -1);
  if (b.data != NULL)
    bn_log_foreign(b.data);
  bn_buf_done(&b);
}

/* Returns the end of the text that is the message of a failed connect, or NULL for another error.
   The place in the script, which stands before the message, is left out as in 0.5. */
static const char *call_find_connect_error(const char *text)
{
  static const char *const messages[] = {"DB initialization failed",
                                         "Failed to connect to the database"};

  for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
    const size_t text_len = strlen(text), len = strlen(messages[i]);

    if (text_len >= len && strcmp(text + text_len - len, messages[i]) == 0)
      return text + text_len - len;
  }
  return NULL;
}

/* Logs an error of a function in the words of 0.5, which calls event() where bench calls
   thread_run().  An error of the script's top level (function NULL), or of a connect in a function
   of a thread, is a panic: 0.5 raises it outside of protected calls. */
static void call_log_as_05(const char *text, const char *function)
{
  static const char thread_prefix[] = "thread_"; /* of thread_init, thread_run and thread_done */
  const char *connect_error = call_find_connect_error(text);
  const bool is_of_thread =
      function != NULL && strncmp(function, thread_prefix, sizeof thread_prefix - 1) == 0;

  if (function == NULL || (is_of_thread && connect_error != NULL)) {
    bn_log_stderr("PANIC: unprotected error in call to Lua API (%s)",
                  connect_error != NULL ? connect_error : text);
  } else {
    const char *name_in_05 = strcmp(function, "thread_run") == 0 ? "event" : function;

    bn_log(BN_FATAL, "failed to execute function `%s': %s", name_in_05, text);
  }
}

/* Sets the kind of a failure to a text.  Kinds are keys in documents, so they are UTF-8 and are cut
   between characters. */
static void call_set_kind(struct bn_lua_failure *f, const char *text)
{
  static const char kept[] = "\n\t"; /* bn_escape() would escape these too */

  (void)bn_escape(f->kind, sizeof f->kind, text, kept);
}

/* The fields of an error of the SQL module, as offsets from the stack index of the error's table,
   above which they are pushed. */
enum { SQL_CODE = 1, SQL_STATE, SQL_MESSAGE, SQL_STATEMENT, SQL_PLACE };

/* Pushes the text for the SQL error at stack index error_index, whose fields are above it, in the
   words for any failed statement.  Outside of the dialects the text also has the statement and the
   place in the script, which the server's message lacks. */
static void call_push_sql_text(lua_State *L, int error_index)
{
  const bool is_plain = bn_lua_current()->vm->setup->conf->policy->plain_errors;

  lua_pushfstring(
      L, "SQL error, errno = %d, state = '%s': %s", (int)lua_tointeger(L, error_index + SQL_CODE),
      lua_tostring(L, error_index + SQL_STATE), lua_tostring(L, error_index + SQL_MESSAGE));
  if (!is_plain && lua_isstring(L, error_index + SQL_STATEMENT)) {
    lua_pushfstring(L, " for query '%s'", lua_tostring(L, error_index + SQL_STATEMENT));
    lua_concat(L, 2);
  }
  if (!is_plain && lua_isstring(L, error_index + SQL_PLACE)) {
    lua_pushfstring(L, " at %s", lua_tostring(L, error_index + SQL_PLACE));
    lua_concat(L, 2);
  }
}

/* If the error value on top is a table that the SQL module has raised to restart an event, pushes a
   text for it, sets the kind of the failure (the server's error number, or the SQLSTATE if that is
   0) and returns true; else only returns false. */
static bool call_push_sql_error(lua_State *L, struct bn_lua_failure *f)
{
  static const char *const fields[] = {"sql_errno", "sql_state", "sql_errmsg", "statement",
                                       "place"};
  const int error_index = lua_gettop(L);

  if (!lua_istable(L, error_index))
    return false;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    lua_pushstring(L, fields[i]);
    lua_rawget(L, error_index);
  }
  if (!lua_isnumber(L, error_index + SQL_CODE) || !lua_isstring(L, error_index + SQL_STATE) ||
      !lua_isstring(L, error_index + SQL_MESSAGE)) {
    lua_settop(L, error_index);
    return false;
  }
  const int code = (int)lua_tointeger(L, error_index + SQL_CODE);

  if (code != 0)
    (void)snprintf(f->kind, sizeof f->kind, "%d", code);
  else
    call_set_kind(f, lua_tostring(L, error_index + SQL_STATE));
  call_push_sql_text(L, error_index);
  lua_replace(L, error_index + 1); /* the text takes the place of the first field */
  lua_settop(L, error_index + 1);
  return true;
}

/* Returns whether the text on top was raised to refuse the user's input, so that it is logged
   without the name of a function. */
static bool call_is_refusal(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, BN_LUA_REFUSAL);
  const bool is_refusal = lua_isstring(L, -1) && lua_rawequal(L, -1, -2);

  lua_pop(L, 1);
  return is_refusal;
}

/* Returns whether a message about the failed function would add nothing to what was logged (see
   bn_lua.reported): the function is of a bundled workload, which its user did not write, or an
   interruption has ended it. */
static bool call_was_explained(const struct bn_lua *lua)
{
  const bool is_bundled = lua->vm->place.set == BN_SET_MODERN;

  if (!lua->reported || !lua->vm->setup->conf->policy->fatal_on_stderr)
    return false;
  return is_bundled || bn_session_interrupted(lua->session);
}

/* Returns the length of the beginning of a message that all threads have in common if they have
   failed for the same reason.  With an SQLSTATE, that beginning ends before the server's words,
   which may name a value, a row, a lock or a limit. */
static size_t call_common_length(const char *text, const char *sql_state)
{
  char introduction[32]; /* the part of the message before the server's words */

  if (sql_state[0] == '\0')
    return strlen(text);
  (void)snprintf(introduction, sizeof introduction, ", state = '%s': ", sql_state);
  const char *found = strstr(text, introduction);

  return found != NULL ? (size_t)(found - text) + strlen(introduction) : strlen(text);
}

/* Logs the failure of a function.  If several threads fail with the same common beginning, the
   first failure is logged and the others are counted. */
static void call_log_failure(const char *function, const char *text, const char *sql_state)
{
  char *line = bn_alloc_print("`%s' function failed: %s", function, text);
  char *kind =
      bn_alloc_print("`%s' %.*s", function, (int)call_common_length(text, sql_state), text);

  bn_log_fatal_as(kind, (const char *const[]){line}, 1);
  free(line);
  free(kind);
}

/* Logs the text of an error of a function in the words of the dialect; function NULL: of the top
   level.  0.5 has no sysbench.cmdline.call_command() and names the command that this calls. */
static void call_log_text(const struct bn_lua *lua, const char *function, const char *text)
{
  const struct bn_script_setup *setup = lua->vm->setup;
  const bool is_of_command =
      function != NULL && strcmp(function, "sysbench.cmdline.call_command") == 0;

  if (setup->conf->policy->panics)
    call_log_as_05(text, is_of_command ? setup->command : function);
  else if (function != NULL)
    call_log_failure(function, text, lua->sql_state);
  else
    bn_log(BN_FATAL, "%s", text);
}

/* Returns the length of the place in the script at the start of a message, such as "x.lua:12" of
   "x.lua:12: no row"; the length of the message if it has no place.  The first ": " follows the
   place, so digits after it belong to the message.  But the name of a text that load() has compiled
   may have a ": " of its own: [string "x: y"]:12. */
static size_t call_place_length(const char *text)
{
  static const char string_begin[] = "[string \"";
  const bool is_string = strncmp(text, string_begin, sizeof string_begin - 1) == 0;
  const char *string_end = is_string ? strstr(text, "\"]:") : NULL;
  const char *colon = strchr(string_end != NULL ? string_end : text, ':');

  for (; colon != NULL && colon[1] != ' '; colon = strchr(colon + 1, ':')) {
    const size_t n_digits = strspn(colon + 1, "0123456789");
    const char *end = colon + 1 + n_digits;

    if (n_digits > 0 && *end == ':')
      return (size_t)(end - text);
  }
  return strlen(text);
}

/* Sets the kind to the place in the script that the message names, or else to the message. */
static void call_set_kind_to_place(struct bn_lua_failure *f, const char *text)
{
  char *place = bn_alloc_part(text, call_place_length(text));

  call_set_kind(f, place);
  free(place);
}

/* Pushes the text of the error object on top, which its __tostring makes.  Returns false, and
   pushes nothing, if the object has none, or in a dialect. */
static bool call_push_object_text(lua_State *L)
{
  if (bn_lua_current()->vm->setup->conf->policy->plain_errors ||
      !luaL_getmetafield(L, -1, "__tostring"))
    return false;
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 1, 0) == 0 && lua_isstring(L, -1))
    return true;
  lua_pop(L, 1);
  return false;
}

/* Keeps the error value on top as the last failure, and logs it, unless its reason has been
   logged. */
static void call_log_error(lua_State *L, const char *function)
{
  struct bn_lua *lua = bn_lua_current();
  const bool is_of_sql = call_push_sql_error(L, &lua->failure);
  const bool is_pushed = is_of_sql || call_push_object_text(L);
  char *text = bn_escape_copy(lua_isstring(L, -1) ? lua_tostring(L, -1) : "(not a string)");

  free(lua->failure.text);
  lua->failure.text = bn_alloc_text(text);
  if (!is_of_sql)
    call_set_kind_to_place(&lua->failure, text);
  if (call_is_refusal(L))
    bn_log_refusal(text);
  else if (!call_was_explained(lua))
    call_log_text(lua, function, text);
  if (!lua_isstring(L, -1))
    call_describe_error(L);
  lua_pop(L, is_pushed ? 1 : 0);
  free(text);
}

/* Pops the error value of a protected call.  If os.exit() has raised it, which is no failure,
   pushes nresults times nil and returns 0.  Else logs the error and returns -1. */
static int call_handle_error(lua_State *L, int nresults, const char *function)
{
  if (bn_library_is_exit(L)) {
    lua_pop(L, 1);
    lua_settop(L, lua_gettop(L) + nresults);
    return 0;
  }
  call_log_error(L, function);
  lua_pop(L, 1);
  return -1;
}

/* Ends a protected call that has returned rc: 0 with its nresults on top of the stack, else with an
   error value there.  Returns 0 with nresults on top, or -1 after logging the error.  Clears the
   notes about the error (traced, reported), which do not hold for the next call. */
static int call_finish(struct bn_lua *lua, int rc, int nresults, const char *function)
{
  const int result = rc == 0 ? 0 : call_handle_error(lua->L, nresults, function);

  lua->traced = false;
  lua->reported = false;
  return result;
}

int bn_lua_call(struct bn_lua *lua, int nargs, int nresults, const char *function)
{
  const bool is_traced = bn_log_get_verbosity() >= BN_DEBUG;
  struct bn_lua *previous = bn_lua_enter(lua);
  int handler = 0, rc;

  if (is_traced) {
    handler = lua_gettop(lua->L) - nargs; /* the index of the function, which moves up */
    lua_pushcfunction(lua->L, call_traceback);
    lua_insert(lua->L, handler);
  }
  rc = lua_pcall(lua->L, nargs, nresults, handler);
  if (is_traced)
    lua_remove(lua->L, handler);
  rc = call_finish(lua, rc, nresults, function);
  bn_lua_enter(previous);
  return rc;
}

/* Inserts pcall below the function and its nargs arguments, which become pcall's arguments.  If
   tracebacks are logged, inserts xpcall there and its handler above the function.  Returns the
   number of arguments. */
static int call_insert_pcall(lua_State *L, int nargs)
{
  const bool is_traced = bn_log_get_verbosity() >= BN_DEBUG;
  const int function_index = lua_gettop(L) - nargs;

  lua_getfield(L, LUA_REGISTRYINDEX, is_traced ? "bn.xpcall" : "bn.pcall");
  lua_insert(L, function_index);
  if (!is_traced)
    return nargs + 1;
  lua_pushcfunction(L, call_traceback);
  lua_insert(L, function_index + 2); /* the function is above xpcall now */
  return nargs + 2;
}

enum bn_lua_turn bn_lua_begin_call(struct bn_lua *lua, int nargs, const char *function)
{
  return bn_lua_resume_call(lua, call_insert_pcall(lua->L, nargs), function);
}

/* Ends a call in turns, in which lua_resume has returned rc.  If that is 0, pcall has returned true
   or, in case of an error, false and the error value.  Else lua_resume itself has failed, because
   memory has run out, and its error value is on top. */
static enum bn_lua_turn call_end_turns(struct bn_lua *lua, int rc, const char *function)
{
  lua_State *L = lua->L;

  if (rc == 0) {
    rc = lua_toboolean(L, 1) ? 0 : LUA_ERRRUN;
    lua_settop(L, rc == 0 ? 0 : 2); /* without results, or with the error value on top */
  }
  const int result = call_finish(lua, rc, 0, function);

  lua_settop(L, 0);
  return result == 0 ? BN_LUA_DONE : BN_LUA_FAILED;
}

enum bn_lua_turn bn_lua_resume_call(struct bn_lua *lua, int nargs, const char *function)
{
  struct bn_lua *previous = bn_lua_enter(lua);
  const int rc = lua_resume(lua->L, nargs);
  const enum bn_lua_turn turn = rc == LUA_YIELD ? BN_LUA_WAITS : call_end_turns(lua, rc, function);

  bn_lua_enter(previous);
  return turn;
}

int bn_lua_call_global(struct bn_lua *lua, const char *name)
{
  bn_lua_push_global(lua, name);
  if (lua_isfunction(lua->L, -1))
    return bn_lua_call(lua, 0, 0, name);
  lua_pop(lua->L, 1);
  return 0;
}

/* Pushes the function that executes the top level of the script.  Returns 0, or -1 after pushing a
   message instead. */
static int call_push_top_level(struct bn_lua *lua)
{
  struct bn_lua *previous = bn_lua_enter(lua);
  int rc = 0;

  if (lua->vm->mix != NULL)
    lua_pushcfunction(lua->L, bn_env_run_mix);
  else
    rc = bn_chunk_push(lua->L, lua->vm->chunk);
  bn_lua_enter(previous);
  return rc;
}

int bn_lua_load(struct bn_lua *lua)
{
  if (call_push_top_level(lua) != 0) {
    bn_log(BN_FATAL, "%s", lua_tostring(lua->L, -1));
    lua_pop(lua->L, 1);
    return -1;
  }
  const int rc = bn_lua_call(lua, 0, 0, NULL);

  if (!lua->worker) /* a worker collects after thread_init */
    bn_lua_collect(lua);
  return rc;
}
