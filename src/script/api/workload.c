/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A script as a workload: maps the engine's calls to functions of the script. */
#include "script/api/workload.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/event.h"
#include "option/conf.h"
#include "script/api/cmdline.h"
#include "script/api/instance.h"
#include "script/api/options.h"
#include "script/vm/call.h"
#include "sql/sql.h"

/* The data of a session in bn_session.state. */
struct session_state {
  struct bn_instance *in; /* owned; NULL: not open */
  bool ready;             /* thread_init has succeeded, and thread_done must be called */
  bool in_call;           /* in turns: a function of the script waits and has not returned */
};

/* --- commands --------------------------------------------------------------------------------- */

/* Runs a command in an instance.  Returns 0, or -1 if it has raised an error, which has been
   logged, or if a declared command has returned false. */
static int workload_run_command(struct bn_lua *lua, const char *name)
{
  const bool is_declared = bn_cmdline_push_command(lua, name);

  if (!is_declared)
    bn_lua_push_global(lua, name);
  if (bn_lua_call(lua, 0, 1, is_declared ? "sysbench.cmdline.call_command" : name) != 0)
    return -1;
  /* An undeclared prepare() or cleanup() may return any value. */
  const bool has_failed = is_declared && lua_isboolean(lua->L, -1) && !lua_toboolean(lua->L, -1);

  lua_pop(lua->L, 1);
  return has_failed ? -1 : 0;
}

/* Sets what the session is doing, a static text, which the message about a session that is not
   ready in time shows (--thread-init-timeout). */
static void workload_set_activity(struct bn_session *s, const char *activity)
{
  atomic_store_explicit(&s->doing, activity, memory_order_relaxed);
}

/* Opens an instance for the session.  Returns NULL after logging why it failed. */
static struct bn_instance *workload_open_instance(const struct bn_api *api, struct bn_session *s)
{
  workload_set_activity(s, "executing the top level of the script");
  struct bn_instance *in = bn_instance_load(api->vm, s);

  if (in != NULL) {
    /* No bundled workload reads its own declarations in a thread. */
    if (in->lua.place->workload)
      bn_cmdline_forget_options(&in->lua);
    bn_lua_trim(&in->lua);
  }
  return in;
}

/* Implements bn_command.run.  A session other than the main session gets an instance for the
   command. */
static int workload_run_in_session(void *self, struct bn_session *s, const char *name,
                                   struct bn_err *err)
{
  const struct bn_api *api = self;

  (void)err;
  if (s == api->main->lua.session)
    return workload_run_command(&api->main->lua, name);
  struct bn_instance *in = workload_open_instance(api, s);
  const int rc = in != NULL ? workload_run_command(&in->lua, name) : -1;

  bn_instance_close(in);
  return rc;
}

/* Returns whether the name is one of the two commands that need no declaration, and the script has
   a global function of that name. */
static bool workload_has_undeclared_command(const struct bn_api *api, const char *name)
{
  return (strcmp(name, "prepare") == 0 || strcmp(name, "cleanup") == 0) &&
         bn_lua_has_function(&api->main->lua, name);
}

/* Implements bn_workload.find_command.  Returns false if the script has no such command. */
static bool workload_find_command(void *self, const char *name, struct bn_command *out)
{
  const struct bn_api *api = self;
  bool parallel = false;

  if (!bn_cmdline_find_command(&api->main->lua, name, &parallel) &&
      !workload_has_undeclared_command(api, name))
    return false;
  *out = (struct bn_command){.name = name,
                             .parallel = parallel,
                             .quiet = api->vm->place.set == BN_SET_LEGACY,
                             .run = workload_run_in_session};
  return true;
}

/* Implements bn_workload.next_command. */
static const char *workload_next_command(void *self, const char *after)
{
  const struct bn_api *api = self;

  return bn_cmdline_next_command(&api->main->lua, after);
}

/* Implements bn_workload.help: calls the script's help().  Its failure is logged, and err stays
   empty. */
static int workload_help(void *self, struct bn_err *err)
{
  const struct bn_api *api = self;

  (void)err;
  return bn_lua_call_global(&api->main->lua, "help");
}

/* --- run -------------------------------------------------------------------------------------- */

/* Returns whether the script has set a thread_run of its own, in place of the preset one. */
static bool workload_has_own_thread_run(struct bn_lua *lua)
{
  bn_lua_push_global(lua, "thread_run");
  lua_rawgeti(lua->L, LUA_REGISTRYINDEX, lua->thread_run_ref);
  const bool is_preset = lua_rawequal(lua->L, -1, -2);
  const bool is_function = lua_isfunction(lua->L, -2);

  lua_pop(lua->L, 2);
  return is_function && !is_preset;
}

/* Implements bn_workload.open: calls init(), and refuses a script that has no event(), so that no
   events could be made. */
static int workload_open_script(void **self, struct bn_session *s, const void *conf,
                                struct bn_err *err)
{
  const struct bn_api *api = *self;
  struct bn_lua *lua = &api->main->lua;

  (void)s;
  (void)conf;
  (void)err;
  if (bn_lua_call_global(lua, "init") != 0)
    return -1;
  /* The events of a mix are those of its scripts, which module sysbench.mix has checked. */
  if (bn_lua_has_function(lua, "event") || api->vm->mix != NULL)
    return 0;
  if (api->vm->setup->conf->policy->thread_run_will_do && workload_has_own_thread_run(lua))
    return 0;
  bn_log(BN_FATAL, "cannot find the event() function in %s", api->title);
  return -1;
}

/* Pushes a global function of the script and its argument, the number of the thread.  Returns
   false, and pushes nothing, if there is no such function. */
static bool workload_push_function(struct bn_lua *lua, const char *name)
{
  bn_lua_push_global(lua, name);
  if (!lua_isfunction(lua->L, -1)) {
    lua_pop(lua->L, 1);
    return false;
  }
  lua_pushinteger(lua->L, (lua_Integer)lua->session->number);
  return true;
}

/* Calls a global function of the script with the number of the thread.  In a session that shares
   its worker the call may wait: then the next turn goes on with it.  Returns BN_LUA_DONE if there
   is no such function. */
static enum bn_lua_turn workload_call_function(struct session_state *state, const char *name)
{
  struct bn_lua *lua = &state->in->lua;
  enum bn_lua_turn turn;

  if (state->in_call)
    turn = bn_lua_resume_call(lua, 0, name);
  else if (!workload_push_function(lua, name))
    turn = BN_LUA_DONE;
  else if (lua->shared != NULL)
    turn = bn_lua_begin_call(lua, 1, name);
  else
    turn = bn_lua_call(lua, 1, 0, name) == 0 ? BN_LUA_DONE : BN_LUA_FAILED;
  state->in_call = turn == BN_LUA_WAITS;
  return turn;
}

/* Refuses --reconnect-rate if thread_init() has not said which connection may be opened again.
   Returns 0, or -1 and err. */
static int workload_check_renewals(const struct bn_session *s, struct bn_err *err)
{
  const double rate = s->services->conf->raw.reconnect_rate;

  if (rate <= 0 || s->renewal.allowed)
    return 0;
  return bn_err_set(
      err, 0,
      "--reconnect-rate=%.15g: the script does not say which connection may be opened "
      "again between events; call connection:may_reconnect() in thread_init()",
      rate);
}

/* Frees the unused part of the thread's stack: loading needs far more of it than an event.  It is
   not inline, so that the frame is small. */
static __attribute__((noinline)) void workload_trim_stack(void)
{
  enum { IN_USE = 1024 }; /* bytes below this frame's address for its own variables and madvise */
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  pthread_attr_t attr;
  void *lowest;
  size_t size;

  if (pthread_getattr_np(pthread_self(), &attr) != 0)
    return;
  (void)pthread_attr_getstack(&attr, &lowest, &size);
  (void)pthread_attr_destroy(&attr);
  const uintptr_t from = ((uintptr_t)lowest + page - 1) / page * page;
  const uintptr_t to = (here - IN_USE) / page * page;

  if (from < to) /* whole pages only */
    (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Opens the session.  After a failure workload_close_in_turn() closes the instance. */
static enum bn_turn workload_open_in_turn(void *self, struct bn_session *s, struct bn_err *err)
{
  struct session_state *state = s->state;

  if (state->in == NULL)
    state->in = workload_open_instance(self, s);
  if (state->in == NULL)
    return BN_TURN_FAILED;
  workload_set_activity(s, "in thread_init()");
  const enum bn_lua_turn turn = workload_call_function(state, "thread_init");

  if (turn == BN_LUA_WAITS)
    return BN_TURN_WAITS;
  if (turn == BN_LUA_FAILED || workload_check_renewals(s, err) != 0)
    return BN_TURN_FAILED;
  if (state->in->lua.shared == NULL) { /* else a collection would go through all sessions */
    bn_lua_collect(&state->in->lua);
    workload_trim_stack();
  }
  state->ready = true;
  return BN_TURN_DONE;
}

/* Drops the events in flight if thread_run has failed or returned in the middle of an event: that
   of sb_event_start(), and that of the preset thread_run. */
static void workload_drop_unfinished(struct bn_instance *in, struct bn_session *s)
{
  if (in->own_event_begun)
    bn_event_drop(s, &in->own_tick);
  in->own_event_begun = false;
  if (bn_stat_get(&s->stat->begun) != bn_stat_get(&s->stat->ended)) /* an event is in flight */
    bn_event_drop(s, &in->tick);
}

/* Fails the session for the reason for which its last call has failed. */
static void workload_fail_session(const struct bn_lua *lua)
{
  const char *text = lua->failure.text != NULL ? lua->failure.text : "";

  lua->session->services->fail_session(lua->session, lua->failure.kind, text);
}

/* Makes all events of the session, within one call of thread_run.  After a failure, thread_done()
   follows only in a dialect that calls it then. */
static enum bn_turn workload_loop_in_turn(const struct bn_api *api, struct bn_session *s)
{
  struct session_state *state = s->state;

  workload_set_activity(s, "in thread_run()");
  const enum bn_lua_turn turn = workload_call_function(state, "thread_run");

  if (turn == BN_LUA_WAITS)
    return BN_TURN_WAITS;
  workload_drop_unfinished(state->in, s);
  if (turn == BN_LUA_DONE)
    return BN_TURN_DONE;
  workload_fail_session(&state->in->lua);
  state->ready = api->vm->setup->conf->policy->thread_done_follows;
  return BN_TURN_FAILED;
}

/* Calls thread_done(), if it must be called, and closes the instance.  A session that was
   interrupted does not fail, because that may have ended a statement of thread_done(). */
static enum bn_turn workload_close_in_turn(struct bn_session *s)
{
  struct session_state *state = s->state;
  enum bn_lua_turn turn = BN_LUA_DONE;

  if (state->in == NULL)
    return BN_TURN_DONE;
  workload_set_activity(s, "in thread_done()");
  if (state->ready)
    turn = workload_call_function(state, "thread_done");
  if (turn == BN_LUA_WAITS)
    return BN_TURN_WAITS;
  const bool has_failed = turn == BN_LUA_FAILED && !bn_session_interrupted(s);

  if (has_failed)
    workload_fail_session(&state->in->lua);
  bn_instance_close(state->in);
  state->in = NULL;
  return has_failed ? BN_TURN_FAILED : BN_TURN_DONE;
}

/* Implements bn_workload.turn, for sessions that share a worker. */
static enum bn_turn workload_take_turn(void *self, struct bn_session *s, enum bn_phase phase,
                                       struct bn_err *err)
{
  switch (phase) {
  case BN_PHASE_OPEN:
    return workload_open_in_turn(self, s, err);
  case BN_PHASE_LOOP:
    return workload_loop_in_turn(self, s);
  default: /* BN_PHASE_CLOSE */
    return workload_close_in_turn(s);
  }
}

/* The next three functions implement session_open, loop and session_close of bn_workload, for a
   session that has its worker for itself, where no turn waits. */

static int workload_open_session(void *self, struct bn_session *s, struct bn_err *err)
{
  return workload_open_in_turn(self, s, err) == BN_TURN_DONE ? 0 : -1;
}

static enum bn_next workload_loop(void *self, struct bn_session *s)
{
  return workload_loop_in_turn(self, s) == BN_TURN_DONE ? BN_FINISHED : BN_FAILED;
}

static int workload_close_session(void *self, struct bn_session *s, struct bn_err *err)
{
  (void)self;
  (void)err;
  return workload_close_in_turn(s) == BN_TURN_DONE ? 0 : -1;
}

/* The next three functions implement verify, forget and sample of bn_workload, if the SQL layer
   checks commits (--verify-commits). */

/* Checks the commits.  Returns 0, or -1 and err. */
static int workload_verify(void *self, struct bn_session *main, struct bn_err *err)
{
  const struct bn_api *api = self;

  return bn_sqlsys_verify(api->vm->setup->sql, main, err);
}

/* Drops the table of commits, which a run that has not started leaves behind. */
static void workload_forget(void *self, struct bn_session *main)
{
  const struct bn_api *api = self;

  bn_sqlsys_drop_commit_table(api->vm->setup->sql, main);
}

/* Sets the counters of commits. */
static void workload_sample(void *self, uint64_t *counter)
{
  const struct bn_api *api = self;

  bn_sqlsys_sample_commits(api->vm->setup->sql, counter);
}

/* Implements bn_workload.finish: logs the SQL layer's hints, and calls done(). */
static int workload_finish(void *self, struct bn_err *err)
{
  const struct bn_api *api = self;

  (void)err;
  if (api->vm->setup->sql != NULL)
    bn_sqlsys_log_end_hints(api->vm->setup->sql);
  return bn_lua_call_global(&api->main->lua, "done");
}

void bn_workload_init(struct bn_workload *w, const struct bn_api *api)
{
  struct bn_sqlsys *sql = api->vm->setup->sql;

  *w = (struct bn_workload){.name = api->title,
                            .title = api->title,
                            .kind = BN_KIND_PLAIN,
                            .metrics = sql != NULL ? bn_sqlsys_metrics(sql) : NULL,
                            .statements = sql != NULL && bn_sqlsys_names_statements(sql),
                            .sets_pauses = true,
                            .session_size = sizeof(struct session_state),
                            .find_command = workload_find_command,
                            .next_command = workload_next_command,
                            .open = workload_open_script,
                            .session_open = workload_open_session,
                            .loop = workload_loop,
                            .session_close = workload_close_session,
                            .turn = workload_take_turn,
                            .finish = workload_finish};
  if (sql != NULL && bn_sqlsys_verifies_commits(sql)) {
    w->verify = workload_verify;
    w->forget = workload_forget;
    w->sample = workload_sample;
  }
}

void bn_workload_complete(struct bn_workload *w, const struct bn_api *api)
{
  if (bn_lua_has_function(&api->main->lua, "help"))
    w->help = workload_help;
}
