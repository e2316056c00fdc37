/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A script as a workload: which of its functions the engine's calls become. */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/log.h"
#include "engine/event.h"
#include "engine/run.h"
#include "option/conf.h"
#include "script/api/options.h"
#include "script/vm/state.h"
#include "sql/sql.h"

/* --- commands ------------------------------------------------------------------------------------
 */

/* false: the command failed, in words only if it raised an error. */
static int run_command(struct bn_lua *lua, const char *name)
{
  const char *what = "sysbench.cmdline.call_command";

  if (!bn_cmdline_push(lua, name)) {
    bn_lua_push_global(lua, name);
    what = name;
  }
  if (bn_lua_call(lua, 0, 1, what) != 0)
    return -1;
  /* prepare() and cleanup() may return anything. */
  const bool refused = what != name && lua_isboolean(lua->L, -1) && !lua_toboolean(lua->L, -1);

  lua_pop(lua->L, 1);
  return refused ? -1 : 0;
}

static void doing(struct bn_session *s, const char *what)
{
  atomic_store_explicit(&s->doing, what, memory_order_relaxed);
}

/* An instance with the top level executed and sysbench.opt set; NULL: the reason has been logged.
 */
static struct bn_lua *open_instance(struct bn_script *sc, struct bn_session *s, unsigned tid)
{
  struct bn_lua *lua = bn_lua_open(sc, s, tid, true);

  if (lua == NULL)
    return NULL;
  doing(s, "executing the top level of the script");
  if (bn_lua_load(lua) == 0 && bn_options_export(lua) == 0) {
    bn_options_forget(lua);
    bn_lua_trim(lua);
    return lua;
  }
  bn_lua_close(lua);
  return NULL;
}

static int command(void *self, struct bn_session *s, const char *name, struct bn_err *err)
{
  struct bn_script *sc = self;

  (void)err;
  if (s == sc->main->session)
    return run_command(sc->main, name);
  struct bn_lua *lua = open_instance(sc, s, s->id);
  const int rc = lua != NULL ? run_command(lua, name) : -1;

  bn_lua_close(lua);
  return rc;
}

static bool find_command(void *self, const char *name, struct bn_command *out)
{
  struct bn_script *sc = self;
  bool parallel = false;

  if (!bn_cmdline_find(sc->main, name, &parallel)) {
    if ((strcmp(name, "prepare") != 0 && strcmp(name, "cleanup") != 0) ||
        !bn_lua_has_function(sc->main, name))
      return false;
  }
  *out = (struct bn_command){
      .name = name, .parallel = parallel, .quiet = sc->set == BN_SET_LEGACY, .run = command};
  return true;
}

static int help(void *self, struct bn_err *err)
{
  struct bn_script *sc = self;

  (void)err;
  return bn_lua_call_global(sc->main, "help");
}

/* --- run -----------------------------------------------------------------------------------------
 */

static bool has_own_thread_run(struct bn_lua *lua)
{
  bn_lua_push_global(lua, "thread_run");
  lua_rawgeti(lua->L, LUA_REGISTRYINDEX, lua->thread_run_ref);
  const bool own = !lua_rawequal(lua->L, -1, -2) && lua_isfunction(lua->L, -2);

  lua_pop(lua->L, 2);
  return own;
}

static int open_script(void **self, struct bn_session *s, const void *conf, struct bn_err *err)
{
  struct bn_script *sc = *self;

  (void)s;
  (void)conf;
  (void)err;
  if (bn_lua_call_global(sc->main, "init") != 0)
    return -1;
  if (bn_lua_has_function(sc->main, "event") ||
      (!sc->setup.conf->explicit_dialect && has_own_thread_run(sc->main)))
    return 0;
  bn_log(BN_FATAL, "cannot find the event() function in %s", sc->title);
  return -1;
}

static int open_session(void *self, struct bn_session *s, struct bn_err *err)
{
  struct bn_script_session *own = s->state;
  struct bn_lua *lua = own->lua = open_instance(self, s, s->id);

  (void)err;
  if (lua == NULL)
    return -1;
  bn_lua_push_global(lua, "thread_init");
  if (lua_isfunction(lua->L, -1)) {
    doing(s, "in thread_init()");
    lua_pushinteger(lua->L, (lua_Integer)s->id);
    if (bn_lua_call(lua, 1, 0, "thread_init") != 0)
      return -1;
  } else {
    lua_pop(lua->L, 1);
  }
  bn_lua_collect(lua);
  bn_stackguard_release();
  own->ready = true;
  return 0;
}

static enum bn_next loop(void *self, struct bn_session *s)
{
  const struct bn_script *sc = self;
  struct bn_script_session *own = s->state;
  struct bn_lua *lua = own->lua;

  doing(s, "in thread_run()");
  bn_lua_push_global(lua, "thread_run");
  lua_pushinteger(lua->L, (lua_Integer)s->id);
  const int rc = bn_lua_call(lua, 1, 0, "thread_run");

  /* An error, or a thread_run that returned in the middle of an event. */
  if (bn_stat_get(&s->stat->begun) != bn_stat_get(&s->stat->ended))
    bn_event_drop(s, &lua->tick);
  if (rc == 0)
    return BN_FINISHED;
  /* In 0.5 thread_done follows all the same. */
  own->ready = sc->setup.conf->version == BN_V05;
  return BN_FAILED;
}

static int close_session(void *self, struct bn_session *s, struct bn_err *err)
{
  struct bn_script_session *own = s->state;
  struct bn_lua *lua = own->lua;
  int rc = 0;

  (void)self;
  (void)err;
  if (lua == NULL)
    return 0;
  if (own->ready) {
    doing(s, "in thread_done()");
    bn_lua_push_global(lua, "thread_done");
    if (lua_isfunction(lua->L, -1)) {
      lua_pushinteger(lua->L, (lua_Integer)s->id);
      rc = bn_lua_call(lua, 1, 0, "thread_done");
    }
  }
  bn_lua_close(lua);
  own->lua = NULL;
  return rc;
}

static int finish(void *self, struct bn_err *err)
{
  struct bn_script *sc = self;

  (void)err;
  return bn_lua_call_global(sc->main, "done");
}

void bn_workload_fill(struct bn_script *sc)
{
  sc->ops = (struct bn_workload){.name = sc->title,
                                 .title = sc->title,
                                 .kind = BN_KIND_PLAIN,
                                 .metrics = sc->setup.sql != NULL ? bn_sqlsys_metrics(sc->setup.sql)
                                                                  : NULL,
                                 .session_size = sizeof(struct bn_script_session),
                                 .find_command = find_command,
                                 .open = open_script,
                                 .session_open = open_session,
                                 .loop = loop,
                                 .session_close = close_session,
                                 .finish = finish};
}

void bn_workload_complete(struct bn_script *sc)
{
  if (bn_lua_has_function(sc->main, "help"))
    sc->ops.help = help;
}
