/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children and signals of studies in Lua. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "study/child.h"
#include "study/ending.h"
#include "study/native.h"
#include "study/native_result.h"

static const char family_key[] = "bn.family";

/* No wait and no limit is longer: 31 years. */
#define LONGEST_S 1e9

/* The children of a study. */
struct family {
  struct bn_children children;
  bool begun; /* native.child_begin() was called: signals are noted */
};

/* Returns the family of the interpreter. */
static struct family *children_family(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, family_key);
  struct family *f = lua_touserdata(L, -1);

  lua_pop(L, 1);
  return f;
}

void bn_native_open_children(lua_State *L)
{
  struct family *f = lua_newuserdata(L, sizeof *f);

  *f = (struct family){.begun = false};
  lua_setfield(L, LUA_REGISTRYINDEX, family_key);
}

/* Gives the signals back to the handler of study/ending.h after a wait for children, so that a
   study which computes without an end can be ended; notes there the signal that has come in the
   wait. */
static void children_leave(struct family *f)
{
  if (f->begun)
    bn_ending_note_signal(f->children.signo);
  (void)sigprocmask(SIG_SETMASK, &f->children.before, NULL);
}

/* Takes over the signals for a wait for children, with the one that has been noted before. */
static void children_enter(struct family *f)
{
  if (f->begun) {
    (void)sigprocmask(SIG_BLOCK, &f->children.waited, NULL);
    f->children.signo = bn_ending_signal();
  } else {
    bn_children_begin_plain(&f->children);
  }
}

/* native.child_begin(): from now on, signals no longer end the process, but are passed on to
   children and noted. */
static int native_child_begin(lua_State *L)
{
  struct family *f = children_family(L);

  if (f->begun)
    return 0;
  bn_children_begin(&f->children);
  f->begun = true;
  bn_ending_begin();
  children_leave(f);
  return 0;
}

/* native.signalled(): returns the number of the signal that was noted; nil: none was. */
static int native_signalled(lua_State *L)
{
  const int signo = children_family(L)->begun ? bn_ending_signal() : 0;

  if (signo != 0)
    lua_pushinteger(L, signo);
  else
    lua_pushnil(L);
  return 1;
}

/* Returns seconds in nanoseconds, at most LONGEST_S; 0 for what is not above 0. */
static uint64_t children_span_ns(double seconds)
{
  if (!(seconds > 0))
    return 0;
  return (uint64_t)llround(fmin(seconds, LONGEST_S) * 1e9);
}

/* native.clock(): returns the seconds of a clock that nobody sets. */
static int native_clock(lua_State *L)
{
  lua_pushnumber(L, (double)bn_clock_mono() * 1e-9);
  return 1;
}

/* native.pause(seconds): waits, or, after native.child_begin(), until a signal has come. */
static int native_pause(lua_State *L)
{
  const uint64_t ns = children_span_ns(luaL_checknumber(L, 1));
  struct family *f = children_family(L);

  if (!f->begun) {
    bn_clock_sleep_until(bn_clock_mono() + ns);
    return 0;
  }
  children_enter(f);
  bn_children_pause(&f->children, ns);
  children_leave(f);
  return 0;
}

/* Returns the member of that name of the table at 1, which must be a text, or NULL if there is
   none.  The table keeps the text. */
static const char *children_get_text(lua_State *L, const char *name, size_t *len)
{
  lua_getfield(L, 1, name);
  if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING)
    (void)luaL_error(L, "child: '%s' must be a text", name);
  const char *text = lua_tolstring(L, -1, len);

  lua_pop(L, 1);
  return text;
}

/* Pushes memory with the words of the list "argv" in the table at 1, which keeps the words, and
   NULL behind them.  Returns the words. */
static char **children_push_words(lua_State *L)
{
  size_t n;
  const char **word;

  lua_getfield(L, 1, "argv");
  luaL_argcheck(L, lua_istable(L, -1) && lua_objlen(L, -1) > 0, 1,
                "'argv' must be a list of texts");
  n = lua_objlen(L, -1);
  word = lua_newuserdata(L, (n + 1) * sizeof *word);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, -2, (int)i + 1);
    if (lua_type(L, -1) != LUA_TSTRING)
      (void)luaL_error(L, "child: 'argv' must be a list of texts");
    word[i] = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  word[n] = NULL;
  return (char **)(uintptr_t)word;
}

/* Pushes a table that says how a child has ended. */
static void children_push_end(lua_State *L, const struct bn_child_end *end)
{
  lua_createtable(L, 0, 4);
  if (end->status >= 0)
    bn_native_set_number(L, "status", end->status);
  if (end->signo != 0)
    bn_native_set_number(L, "signal", end->signo);
  bn_native_set_switch(L, "timed_out", end->timed_out);
}

/* The largest output of a child, in bytes, that is captured. */
enum { OUTPUT_MAX = 1 << 30 };

/* native.child{argv = {…}, out = PATH, errors = PATH, limit_s = N, capture = true, input = TEXT}:
   runs a child.  Returns {status =, signal =, timed_out =, output =}, or nil, a sentence and a
   code. */
static int native_child(lua_State *L)
{
  struct bn_buf output = {.max = OUTPUT_MAX};
  struct bn_child child = {.argv = NULL};
  struct family *f = children_family(L);
  struct bn_child_end end;
  struct bn_err err = {0};
  int rc;

  luaL_checktype(L, 1, LUA_TTABLE);
  child.argv = children_push_words(L);
  child.out = children_get_text(L, "out", NULL);
  child.errors = children_get_text(L, "errors", NULL);
  child.input = children_get_text(L, "input", &child.input_len);
  lua_getfield(L, 1, "limit_s");
  child.limit_ns = children_span_ns(luaL_optnumber(L, -1, 0));
  lua_getfield(L, 1, "capture");
  child.output = lua_toboolean(L, -1) ? &output : NULL;
  /* The output of the study comes before that of the child. */
  (void)fflush(stdout);
  children_enter(f);
  rc = bn_child_run(&f->children, &child, &end, &err);
  children_leave(f);
  if (rc != 0) {
    bn_buf_done(&output);
    return bn_native_push_error(L, &err);
  }
  children_push_end(L, &end);
  if (child.output != NULL) {
    lua_pushlstring(L, output.data != NULL ? output.data : "", output.len);
    lua_setfield(L, -2, "output");
  }
  bn_buf_done(&output);
  return 1;
}

/* native.signal_text(signo): returns the text of a signal, such as "Killed". */
static int native_signal_text(lua_State *L)
{
  lua_pushstring(L, strsignal((int)luaL_checkinteger(L, 1)));
  return 1;
}

const luaL_Reg bn_native_children[] = {{"child", native_child},
                                       {"child_begin", native_child_begin},
                                       {"clock", native_clock},
                                       {"pause", native_pause},
                                       {"signal_text", native_signal_text},
                                       {"signalled", native_signalled},
                                       {NULL, NULL}};
