/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children and signals of studies in Lua. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "study/child.h"
#include "study/ending.h"
#include "study/native.h"

static const char children_key[] = "bn.children";

/* The longest wait, and the longest limit of a child: 31 years. */
#define LONGEST_S 1e9

/* Returns the struct that bn_native_open_children has put into the registry. */
static struct bn_children *children_get(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, children_key);
  struct bn_children *c = lua_touserdata(L, -1);

  lua_pop(L, 1);
  return c;
}

/* Ends a wait for children: passes the signal that has come in it to study/ending.h, and unblocks
   signals, so that the handler there can end a study that computes for ever. */
static void children_end_wait(struct bn_children *c)
{
  bn_ending_note_signal(c->signo);
  (void)sigprocmask(SIG_SETMASK, &c->before, NULL);
}

/* Begins a wait for children: blocks the signals that the wait is to receive.  Before
   native.child_begin(), that is SIGCHLD alone; other signals end the process. */
static void children_begin_wait(struct bn_children *c)
{
  (void)sigprocmask(SIG_BLOCK, &c->waited, &c->before);
  c->signo = bn_ending_signal(); /* one that has come before ends a pause at once */
}

void bn_native_open_children(lua_State *L)
{
  struct bn_children *c = lua_newuserdata(L, sizeof *c);

  bn_children_begin_plain(c);
  children_end_wait(c); /* no wait has begun */
  lua_setfield(L, LUA_REGISTRYINDEX, children_key);
}

/* native.child_begin(): from now on, signals no longer end the process, but are passed on to
   children and noted. */
static int native_child_begin(lua_State *L)
{
  struct bn_children *c = children_get(L);

  bn_children_begin(c);
  bn_ending_begin();
  children_end_wait(c); /* bn_children_begin has blocked the signals */
  return 0;
}

/* native.signalled(): returns the number of the signal that was noted; nil: none was, or
   native.child_begin() was not called. */
static int native_signalled(lua_State *L)
{
  const int signo = bn_ending_signal();

  if (signo != 0)
    lua_pushinteger(L, signo);
  else
    lua_pushnil(L);
  return 1;
}

/* Returns seconds in nanoseconds, at most LONGEST_S; 0 for a negative number and NaN. */
static uint64_t children_span_ns(double seconds)
{
  if (!(seconds > 0))
    return 0;
  return (uint64_t)llround(fmin(seconds, LONGEST_S) * 1e9);
}

/* native.clock(): returns the seconds of a clock that is never set, from an arbitrary start on. */
static int native_clock(lua_State *L)
{
  lua_pushnumber(L, (double)bn_clock_mono() * 1e-9);
  return 1;
}

/* native.pause(seconds): waits.  After native.child_begin(), a signal ends the wait. */
static int native_pause(lua_State *L)
{
  const uint64_t ns = children_span_ns(luaL_checknumber(L, 1));
  struct bn_children *c = children_get(L);

  children_begin_wait(c);
  bn_children_pause(c, ns);
  children_end_wait(c);
  return 0;
}

/* Returns the member of that name of the table at 1, which must be a text, or NULL if there is
   none.  *len becomes its length, unless len is NULL.  The table keeps the text. */
static const char *children_get_text(lua_State *L, const char *name, size_t *len)
{
  lua_getfield(L, 1, name);
  if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING)
    (void)luaL_error(L, "child: '%s' must be a text", name);
  const char *text = lua_tolstring(L, -1, len);

  lua_pop(L, 1);
  return text;
}

/* Pushes the list "argv" of the table at 1 and, above it, an array of its words, which ends with
   NULL.  Returns the array.  The list keeps the words, so both must stay on the stack while the
   array is used. */
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

/* Pushes a table that says how a child has ended: its "status" or the "signal", "timed_out" and,
   unless output is NULL, its "output". */
static void children_push_end(lua_State *L, const struct bn_child_end *end,
                              const struct bn_buf *output)
{
  lua_createtable(L, 0, 4);
  if (end->status >= 0)
    bn_native_set_number(L, "status", end->status);
  if (end->signo != 0)
    bn_native_set_number(L, "signal", end->signo);
  bn_native_set_switch(L, "timed_out", end->timed_out);
  if (output != NULL) {
    lua_pushlstring(L, output->data != NULL ? output->data : "", output->len);
    lua_setfield(L, -2, "output");
  }
}

/* The most bytes of a child's output that are captured. */
enum { OUTPUT_MAX = 1 << 30 };

/* Reads the table at 1 into child, whose output goes to `output` if the table asks for that.  The
   values that it pushes keep the words of the child. */
static void children_read_child(lua_State *L, struct bn_child *child, struct bn_buf *output)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  child->argv = children_push_words(L);
  child->out = children_get_text(L, "out", NULL);
  child->errors = children_get_text(L, "errors", NULL);
  child->input = children_get_text(L, "input", &child->input_len);
  lua_getfield(L, 1, "limit_s");
  child->limit_ns = children_span_ns(luaL_optnumber(L, -1, 0));
  lua_getfield(L, 1, "capture");
  child->output = lua_toboolean(L, -1) ? output : NULL;
}

/* native.child{argv = {…}, out = PATH, errors = PATH, limit_s = N, capture = true, input = TEXT}:
   runs a child.  Returns {status =, signal =, timed_out =, output =}, or nil and a sentence. */
static int native_child(lua_State *L)
{
  struct bn_buf output = {.max = OUTPUT_MAX};
  struct bn_child child = {.argv = NULL};
  struct bn_children *c = children_get(L);
  struct bn_child_end end;
  struct bn_err err = {0};

  children_read_child(L, &child, &output);
  /* The output of the study comes before that of the child. */
  (void)fflush(stdout);
  children_begin_wait(c);
  const int rc = bn_child_run(c, &child, &end, &err);

  children_end_wait(c);
  if (rc != 0) {
    bn_buf_done(&output);
    return bn_native_push_error(L, &err);
  }
  children_push_end(L, &end, child.output);
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
