/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A script from opening to closing, and the modules, declarations and functions it is given. */
#include "script/script.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <luajit.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "option/conf.h"
#include "option/mix.h"
#include "script/api/cmdline.h"
#include "script/api/hooks.h"
#include "script/api/instance.h"
#include "script/api/metrics.h"
#include "script/api/optexport.h"
#include "script/api/options.h"
#include "script/api/result.h"
#include "script/api/workload.h"
#include "script/old/oldstyle.h"
#include "script/vm/call.h"
#include "script/vm/env.h"
#include "script/vm/mix.h"
#include "script/vm/shared.h"
#include "script/vm/vm.h"

struct bn_script {
  struct bn_script_setup setup;
  struct bn_session *main_session; /* borrowed; session of the main instance */
  struct bn_vm_table table;
  struct bn_vm vm;
  struct bn_api api;
  struct bn_workload workload;
  struct bn_hooks_conf hooks;
};

static const struct bn_vm_module modules[] = {
#include "script/bn_lua_modules.inc"
    {NULL, NULL, 0}};

static const struct bn_vm_part parts[] = {
    {
        "event",
#include "script/bn_ffi_cdef.inc"
    },
    {
        "more",
#include "script/bn_ffi_more_cdef.inc"
    },
    {
        "rand",
#include "script/bn_ffi_rand_cdef.inc"
    },
    {
        "row",
#include "script/bn_ffi_row_cdef.inc"
    },
    {
        "hist",
#include "script/bn_ffi_hist_cdef.inc"
    },
    {
        "metrics",
#include "script/bn_ffi_metrics_cdef.inc"
    },
    {
        "workqueue",
#include "script/bn_ffi_workqueue_cdef.inc"
    },
    {
        "sql",
#include "script/bn_ffi_sql_cdef.inc"
    },
    {
        "sql_more",
#include "script/bn_ffi_sql_more_cdef.inc"
    },
    {
        "shared",
#include "script/bn_ffi_shared_cdef.inc"
    },
    {
        "compat",
#include "script/bn_compat_cdef.inc"
    },
    {"free_results", "int db_free_results(sql_result *rs);"},
    {"free_results_bool", "bool db_free_results(sql_result *rs);"},
    {NULL, NULL},
};

/* db_free_results() returns a boolean if policy->free_results_is_bool. */
static const char *const old_parts[] = {"sql", "sql_more", "compat", "free_results", NULL};
static const char *const old_parts_bool[] = {"sql", "sql_more", "compat", "free_results_bool",
                                             NULL};

/* internal.declares_options(): returns whether the script declares options. */
static int script_declares_options(lua_State *L)
{
  lua_pushboolean(L, bn_options_are_declared(bn_instance_api()->options));
  return 1;
}

static const luaL_Reg functions[] = {{"cmdline", bn_cmdline_make_table},
                                     {"dialect", bn_cmdline_dialect},
                                     {"option", bn_optexport_get},
                                     {NULL, NULL}};

static const luaL_Reg lazy_functions[] = {{"declares_options", script_declares_options},
                                          {"wants_own", bn_shared_wants_own},
                                          {"wait", bn_shared_wait},
                                          {"json_next", bn_hooks_json_next},
                                          {"declare_metric", bn_metrics_declare},
                                          {"declare_kind", bn_metrics_declare_kind},
                                          {"kinds", bn_metrics_list_kinds},
                                          {"workloads", bn_mix_list},
                                          {"make_workload", bn_mix_make_workload},
                                          {"enter", bn_mix_enter},
                                          {"read_options", bn_options_read_own},
                                          {"export_options", bn_optexport_set_own},
                                          {"result", bn_result_make_table},
                                          {"latency", bn_hooks_format_latency},
                                          {"percentile", bn_hooks_push_percentile_rank},
                                          {NULL, NULL}};

/* Limits malloc to two arenas for each processor.  Threads of one processor take turns, so more
   arenas would only spread free memory thinner. */
static void script_limit_arenas(void)
{
  const long n_online = sysconf(_SC_NPROCESSORS_ONLN); /* -1: not known, which counts as 1 */
  const int n_processors = n_online > 0 ? (int)n_online : 1;

  (void)mallopt(M_ARENA_MAX, 2 * n_processors);
}

/* Returns when the names of the 0.5 interface appear: at once in versions that have the interface;
   at their first use natively and for our own workloads of 0.5; else never. */
static enum bn_old_names script_choose_old_names(const struct bn_script *sc)
{
  const struct bn_policy *policy = sc->setup.conf->policy;

  if (policy->old_names_always)
    return BN_OLD_NOW;
  if (policy->old_names_on_demand || sc->vm.place.set == BN_SET_LEGACY)
    return BN_OLD_ON_DEMAND;
  return BN_OLD_NONE;
}

/* Removes the metatable of the globals, by which the old names appear on demand, if the script is
   one of our own modern workloads: they declare options and use none of the names. */
static void script_forget_old_names(struct bn_script *sc)
{
  struct bn_lua *lua = &sc->api.main->lua;

  if (sc->vm.old_names != BN_OLD_ON_DEMAND) /* there is no such metatable */
    return;
  const bool is_own_modern = sc->vm.place.set == BN_SET_MODERN && bn_cmdline_has_options(lua);

  if (!is_own_modern)
    return;
  sc->vm.old_names = BN_OLD_NONE;
  lua_rawgeti(lua->L, LUA_REGISTRYINDEX, lua->env_ref);
  lua_pushnil(lua->L);
  lua_setmetatable(lua->L, -2);
  lua_pop(lua->L, 1);
}

/* Returns, malloc'd, the title of a mix: the names of its workloads, without folders, and their
   weights.  A workload in a wrong form ends the title; bn_mix_find() will refuse it. */
static char *script_make_mix_title(const char *mix)
{
  struct bn_mix_item item;
  struct bn_err ignored = {0};
  struct bn_buf title;

  bn_buf_init(&title, 0);
  while (bn_mix_next(&mix, &item, &ignored) > 0) {
    const char *slash = memrchr(item.name, '/', item.len);
    const char *base = slash != NULL ? slash + 1 : item.name;

    /* bn_mix_next() has moved `mix` past the weight, so this adds "NAME@WEIGHT". */
    (void)bn_buf_printf(&title, "%s%.*s", title.len > 0 ? " " : "", (int)(mix - base), base);
  }
  return bn_buf_take(&title);
}

/* Returns, malloc'd, the name of the script as messages and help show it. */
static char *script_make_title(const struct bn_script_setup *setup)
{
  const char *name = setup->name;

  if (name == NULL || strcmp(name, "-") == 0)
    return bn_alloc_text("stdin");
  if (bn_mix_is_test(setup->conf->policy, name))
    return script_make_mix_title(name);
  return bn_alloc_text(bn_file_name(name));
}

struct bn_script *bn_script_new(const struct bn_script_setup *setup)
{
  struct bn_script *sc = bn_alloc(1, sizeof *sc);

  script_limit_arenas();
  sc->setup = *setup;
  sc->api.options = bn_options_new();
  bn_workqueue_init(&sc->api.workqueue);
  (void)pthread_mutex_init(&sc->api.indexes.lock, NULL);
  sc->table = (struct bn_vm_table){
      .modules = modules,
      .parts = parts,
      .old_parts = setup->conf->policy->free_results_is_bool ? old_parts_bool : old_parts,
      .functions = functions,
      .lazy_functions = lazy_functions};
  bn_vm_init(&sc->vm, &sc->setup, &sc->table);
  sc->vm.api = &sc->api;
  sc->api.vm = &sc->vm;
  sc->api.title = script_make_title(setup);
  /* bn_workload_init() reads the members that were set above. */
  bn_workload_init(&sc->workload, &sc->api);
  bn_hooks_init(&sc->hooks, &sc->api);
  return sc;
}

void bn_script_attach(struct bn_script *sc, struct bn_session *main_session)
{
  sc->main_session = main_session;
  if (sc->api.main != NULL)
    sc->api.main->lua.session = main_session;
}

int bn_script_load(struct bn_script *sc, struct bn_err *err)
{
  if (bn_vm_find(&sc->vm, err) != 0)
    return -1;
  sc->vm.old_names = script_choose_old_names(sc);
  sc->api.main = bn_instance_open(&sc->vm, sc->main_session, false /* is_worker */);
  if (sc->api.main == NULL)
    return -1;
  struct bn_lua *lua = &sc->api.main->lua;

  if (bn_vm_compile(&sc->vm, lua, err) != 0 || bn_optexport_set_early(lua) != 0 ||
      bn_lua_load(lua) != 0)
    return -1;
  bn_declarations_close(&sc->api.declared, sc->workload.metrics);
  script_forget_old_names(sc);
  bn_workload_complete(&sc->workload, &sc->api);
  sc->workload.proves = bn_hooks_complete(&sc->hooks);
  return 0;
}

int bn_script_read_options(struct bn_script *sc, bool *accepts_any, struct bn_err *err)
{
  struct bn_lua *lua = &sc->api.main->lua;

  if (bn_options_read(lua) != 0)
    return -1;
  sc->api.takes_any = !bn_options_are_declared(sc->api.options) && bn_oldstyle_accept_any(&sc->vm);
  /* With BN_OLD_NOW the export sets the globals of all options, so none has to be replaced. */
  sc->api.options_win = sc->api.takes_any && sc->vm.old_names == BN_OLD_ON_DEMAND &&
                        sc->vm.mix == NULL && bn_oldstyle_is_old(&sc->vm);
  *accepts_any = sc->api.takes_any;
  return bn_options_add(lua, err);
}

bool bn_script_has_run_defaults(const struct bn_script *sc)
{
  return bn_options_has_run_defaults(sc->api.options);
}

int bn_script_export_options(struct bn_script *sc)
{
  const struct bn_conf *conf = sc->setup.conf;

  /* The script's own defaults may have changed both numbers until now. */
  if (conf->workers < conf->plan.threads)
    sc->vm.pools = bn_shared_pools_new(conf->workers);
  return bn_optexport_set(&sc->api.main->lua);
}

void bn_script_detach(struct bn_script *sc)
{
  bn_instance_close(sc->api.main);
  sc->api.main = NULL;
}

const struct bn_workload *bn_script_workload(const struct bn_script *sc)
{
  return &sc->workload;
}

void *bn_script_self(struct bn_script *sc)
{
  return &sc->api;
}

const struct bn_metric *bn_script_metrics(const struct bn_script *sc)
{
  return sc->api.declared.table;
}

const struct bn_reporter *bn_script_reporter(struct bn_script *sc, const void **conf)
{
  *conf = &sc->hooks;
  return &sc->hooks.reporter;
}

void bn_script_free(struct bn_script *sc)
{
  if (sc == NULL)
    return;
  bn_script_detach(sc);            /* its finalizers may use what is freed below */
  if (sc->api.own_options != NULL) /* for each script of a mix */
    for (size_t i = 0; i < sc->vm.mix->n; i++)
      bn_options_free(sc->api.own_options[i]);
  free(sc->api.own_options);
  bn_vm_done(&sc->vm);
  bn_options_free(sc->api.options);
  bn_declarations_done(&sc->api.declared);
  bn_script_results_done(&sc->api.kept);
  bn_workqueue_done(&sc->api.workqueue);
  (void)pthread_mutex_destroy(&sc->api.indexes.lock);
  free(sc->api.title);
  free(sc);
}

const char *bn_script_luajit_version(void)
{
  static const char version[] = LUAJIT_VERSION; /* "LuaJIT 2.1.0-beta3" */
  const char *space = strchr(version, ' ');

  return space != NULL ? space + 1 : version;
}
