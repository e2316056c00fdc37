/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates, configures and closes interpreters. */
#include "script/vm/vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "api/session.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "option/conf.h"
#include "script/vm/chunk.h"
#include "script/vm/env.h"
#include "script/vm/library.h"
#include "script/vm/mix.h"
#include "script/vm/module_path.h"
#include "script/vm/shared.h"

/* Pauses of the collector in percent while scripts load.  Garbage of loading is collected early,
   because it would stay as gaps in the heap. */
enum { PAUSE_LOADING = 105, PAUSE_LOADING_SHARED = 110 };

/* lua_cpcall calls the functions from here to vm_run_luajit_command() that have a lua_State alone,
   with a struct bn_lua at stack index 1. */

/* Opens the standard libraries and sets the collector's pause for loading.  No collection runs in
   between, because it would find no garbage. */
static int vm_open_libraries(lua_State *L)
{
  const struct bn_lua *lua = lua_touserdata(L, 1);

  lua_gc(L, LUA_GCSTOP, 0);
  if (lua->worker)
    bn_library_open_most(L);
  else
    luaL_openlibs(L);
  lua_gc(L, LUA_GCSETPAUSE, lua->shared != NULL ? PAUSE_LOADING_SHARED : PAUSE_LOADING);
  lua_gc(L, LUA_GCRESTART, 0);
  return 0;
}

/* Makes the objects that the instances of an interpreter share, on an empty stack. */
static int vm_make_shared(lua_State *L)
{
  lua_pop(L, 1);
  bn_env_make_shared(L);
  return 0;
}

/* Makes the instance, on an empty stack. */
static int vm_make_instance(lua_State *L)
{
  struct bn_lua *lua = lua_touserdata(L, 1);

  lua_pop(L, 1);
  bn_env_make(lua);
  return 0;
}

/* Pushes each argument of a list "ARG,ARG,…" as a text.  Returns how many there are; an empty
   argument at the end does not count. */
static int vm_push_arguments(lua_State *L, const char *list)
{
  int n = 0;

  while (*list != '\0') {
    const size_t len = strcspn(list, ",");

    luaL_checkstack(L, 1, "too many arguments");
    lua_pushlstring(L, list, len);
    n++;
    list += len;
    if (*list == ',')
      list++;
  }
  return n;
}

/* Pushes, on an empty stack, the function that a command of LuaJIT means: the function of `jit`
   with the name of the command, such as on, off or flush, or else `start` of the module "jit.NAME".
   The values that lead to it stay below. */
static void vm_push_luajit_function(lua_State *L, const char *command, size_t len)
{
  lua_getglobal(L, "jit");
  lua_pushlstring(L, command, len);
  lua_gettable(L, -2);
  if (lua_isfunction(L, -1))
    return;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "jit.");
  lua_pushlstring(L, command, len);
  lua_concat(L, 2);
  if (lua_pcall(L, 1, 1, 0) != 0 || !lua_istable(L, -1)) {
    /* LuaJIT's own message */
    lua_pushliteral(L, "unknown luaJIT command or jit.* modules not installed");
    (void)lua_error(L);
  }
  lua_getfield(L, -1, "start");
}

/* Carries out --luajit-cmd=CMD[=ARG,…]: calls the function of CMD with the arguments as texts. */
static int vm_run_luajit_command(lua_State *L)
{
  const struct bn_lua *lua = lua_touserdata(L, 1);
  const char *command = lua->vm->setup->conf->raw.luajit_cmd;
  const size_t len = strcspn(command, "=");
  const char *arguments = command[len] == '=' ? command + len + 1 : "";

  lua_settop(L, 0);
  vm_push_luajit_function(L, command, len);
  lua_call(L, vm_push_arguments(L, arguments), 0);
  return 0;
}

/* Opens the libraries of an interpreter and makes the objects that its instances share.  Returns 0,
   or another result of lua_cpcall after pushing the message. */
static int vm_build_shared(struct bn_lua *lua, lua_State *L)
{
  const struct bn_conf *conf = lua->vm->setup->conf;
  int rc = lua_cpcall(L, vm_open_libraries, lua);

  /* --luajit-cmd needs the interpreter's own `require`, which finds LuaJIT's modules; the instance
     will replace it. */
  const bool has_command = conf->raw.luajit_cmd != NULL && conf->raw.luajit_cmd[0] != '\0';

  if (rc == 0 && has_command)
    rc = lua_cpcall(L, vm_run_luajit_command, lua);
  return rc == 0 ? lua_cpcall(L, vm_make_shared, lua) : rc;
}

/* Returns 0 if rc, the result of lua_cpcall, is 0; else logs the message on top and returns -1. */
static int vm_log_failure(lua_State *L, int rc)
{
  if (rc == 0)
    return 0;
  bn_log(BN_FATAL, "%s", lua_tostring(L, -1));
  return -1;
}

/* Completes an interpreter that is not shared, with its only instance.  Returns 0, or -1 after
   logging why. */
static int vm_build(struct bn_lua *lua)
{
  if (vm_log_failure(lua->L, vm_build_shared(lua, lua->L)) != 0)
    return -1;
  return vm_log_failure(lua->L, lua_cpcall(lua->L, vm_make_instance, lua));
}

/* Makes the instance as a coroutine of a shared interpreter, which the first session completes for
   all of them.  Returns 0, or -1 after logging why. */
static int vm_build_coroutine(struct bn_lua *lua, struct bn_shared *sh)
{
  if (!sh->made && vm_log_failure(sh->L, vm_build_shared(lua, sh->L)) != 0)
    return -1;
  sh->made = true;
  lua->L = lua_newthread(sh->L);
  /* The reference keeps the coroutine from the collector until vm_leave_shared(). */
  lua->thread_ref = luaL_ref(sh->L, LUA_REGISTRYINDEX);
  return vm_log_failure(lua->L, lua_cpcall(lua->L, vm_make_instance, lua));
}

/* Gives the instance a shared interpreter if its session shares its worker, or a new one.  Only
   sessions of `run` share theirs, and bn_vm.pools exists before they open. */
static void vm_open_interpreter(struct bn_lua *lua)
{
  struct bn_shared_pools *all = lua->vm->pools;

  if (lua->session->task != NULL) {
    lua->shared = bn_shared_take(lua->vm, &all->pool[lua->session->id % all->n]);
  } else {
    lua->heap = bn_alloc(1, sizeof *lua->heap);
    lua->L = bn_lua_new_state(lua->heap);
  }
}

int bn_lua_open(struct bn_lua *lua, const struct bn_vm *vm, struct bn_session *s, bool is_worker)
{
  lua->vm = vm;
  lua->place = &vm->place;
  lua->session = s;
  lua->worker = is_worker;
  lua->env_ref = lua->sysbench_ref = lua->thread_run_ref = lua->thread_ref = LUA_NOREF;
  vm_open_interpreter(lua);
  struct bn_lua *previous = bn_lua_enter(lua);
  const int rc = lua->shared != NULL ? vm_build_coroutine(lua, lua->shared) : vm_build(lua);

  bn_lua_enter(previous);
  return rc;
}

/* Drops the references of the shared interpreter to the instance, which thereby becomes garbage,
   and gives the interpreter back. */
static void vm_leave_shared(const struct bn_lua *lua)
{
  const int refs[] = {lua->env_ref, lua->sysbench_ref, lua->thread_run_ref, lua->thread_ref};

  for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++)
    luaL_unref(lua->shared->L, LUA_REGISTRYINDEX, refs[i]);
  bn_shared_drop(lua->shared);
}

void bn_lua_close(struct bn_lua *lua)
{
  struct bn_lua *previous = bn_lua_enter(lua); /* finalizers of connections use the session */

  if (lua->shared != NULL) {
    vm_leave_shared(lua);
  } else {
    lua_close(lua->L);
    bn_heap_done(lua->heap); /* lua_close() has freed blocks of it */
    free(lua->heap);
  }
  bn_lua_enter(previous);
  free(lua->failure.text);
}

void bn_vm_init(struct bn_vm *vm, const struct bn_script_setup *setup,
                const struct bn_vm_table *table)
{
  vm->setup = setup;
  vm->table = table;
  vm->path = bn_module_path_default(setup->data_dir);
  vm->cpath = bn_module_path_default_c();
  vm->chunks = bn_chunks_new(setup);
}

int bn_vm_find(struct bn_vm *vm, struct bn_err *err)
{
  if (bn_mix_find(vm, err) != 0)
    return -1;
  return vm->mix != NULL ? 0 : bn_script_file_find(&vm->place, vm->setup, vm->path, err);
}

/* Compiles the file of a script.  Returns NULL and err after a failure; err quotes the file,
   and the name as typed if it differs. */
static const struct bn_chunk *vm_compile_file(struct bn_vm *vm, lua_State *L,
                                              const struct bn_script_place *place,
                                              struct bn_err *err)
{
  const char *name = place->name, *file = place->file;
  struct bn_buf msg;

  bn_buf_init(&msg, 0);
  const struct bn_chunk *c = bn_chunks_load_file(vm->chunks, L, file, &msg);

  if (c == NULL && strcmp(file, name) == 0)
    (void)bn_err_set(err, EINVAL, "%s", msg.data);
  else if (c == NULL)
    (void)bn_err_set(err, EINVAL, "error loading module '%s' from file '%s':\n\t%s", name, file,
                     msg.data);
  bn_buf_done(&msg);
  return c;
}

/* Compiles the scripts of the mix.  Returns 0, or -1 and err. */
static int vm_compile_mix(struct bn_vm *vm, lua_State *L, struct bn_err *err)
{
  for (size_t i = 0; i < vm->mix->n; i++) {
    struct bn_mix_part *part = &vm->mix->part[i];

    part->chunk = vm_compile_file(vm, L, &part->place, err);
    if (part->chunk == NULL)
      return -1;
  }
  return 0;
}

int bn_vm_compile(struct bn_vm *vm, struct bn_lua *lua, struct bn_err *err)
{
  if (vm->mix != NULL)
    return vm_compile_mix(vm, lua->L, err);
  if (vm->place.file != NULL) {
    vm->chunk = vm_compile_file(vm, lua->L, &vm->place, err);
  } else {
    if (isatty(STDIN_FILENO))
      bn_log(BN_NOTICE, "Reading the script from the standard input:\n");
    vm->chunk = bn_chunks_load_stdin(vm->chunks, lua->L, err);
  }
  return vm->chunk != NULL ? 0 : -1;
}

void bn_vm_done(struct bn_vm *vm)
{
  free(vm->pools);
  bn_chunks_free(vm->chunks);
  bn_script_file_done(&vm->place);
  bn_mix_free(vm->mix);
  free(vm->path);
  free(vm->cpath);
}
