/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A script from opening to closing, as the composition root sees it. */
#include "script/script.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option/conf.h"
#include "script/api/options.h"
#include "script/vm/state.h"

/* Threads of one processor take turns, so more arenas than this only spread free memory thinner. */
static void limit_arenas(void)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);

  (void)mallopt(M_ARENA_MAX, processors > 0 ? (int)processors * 2 : 2);
}

/* In versions that have it the 0.5 interface is simply there.  Without a version asked for, it
   appears when a script wants it: of one that declares its options, which 1.0 let use both, only
   the functions.  Our own workloads of 0.5 have it always. */
static enum bn_old_names old_names(const struct bn_script *sc)
{
  if (sc->setup.conf->version != BN_V11)
    return BN_OLD_NOW;
  return sc->setup.conf->explicit_dialect && sc->set != BN_SET_LEGACY ? BN_OLD_NONE
                                                                      : BN_OLD_ON_DEMAND;
}

/* Our own modern workloads have no use for them. */
static void forget_old_names(struct bn_script *sc)
{
  lua_State *L = sc->main->L;

  bn_lua_push_field(sc->main, "cmdline");
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "options");
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1) && sc->old_names == BN_OLD_ON_DEMAND && sc->set == BN_SET_MODERN) {
      sc->old_names = BN_OLD_NONE;
      lua_rawgeti(L, LUA_REGISTRYINDEX, sc->main->env_ref);
      lua_pushnil(L);
      lua_setmetatable(L, -2);
    }
  }
  lua_settop(L, 0);
}

static int init(struct bn_script *sc)
{
  const char *name = sc->setup.name;
  const char *slash = name != NULL ? strrchr(name, '/') : NULL;

  if (name == NULL || strcmp(name, "-") == 0)
    sc->title = strdup("stdin");
  else
    sc->title = strdup(slash != NULL ? slash + 1 : name);
  sc->path = bn_require_default_path(sc->setup.data_dir);
  sc->cpath = bn_require_default_cpath();
  return sc->title != NULL && sc->path != NULL && sc->cpath != NULL ? bn_stackguard_install(sc)
                                                                    : -1;
}

int bn_script_new(struct bn_script **out, const struct bn_script_setup *setup, struct bn_err *err)
{
  struct bn_script *sc = calloc(1, sizeof *sc);

  *out = NULL;
  if (sc == NULL || pthread_mutex_init(&sc->lock, NULL) != 0) {
    free(sc);
    return bn_err_set(err, 0, "out of memory");
  }
  limit_arenas();
  sc->setup = *setup;
  if (init(sc) != 0) {
    bn_script_free(sc);
    return bn_err_set(err, 0, "out of memory");
  }
  bn_workload_fill(sc);
  bn_hooks_fill(sc);
  *out = sc;
  return 0;
}

void bn_script_attach(struct bn_script *sc, struct bn_session *main_session)
{
  sc->main_session = main_session;
}

int bn_script_load(struct bn_script *sc, struct bn_err *err)
{
  err->code = 0;
  if (bn_find(sc, err) != 0)
    return -1;
  sc->old_names = old_names(sc);
  sc->main = bn_lua_open(sc, sc->main_session, 0, false);
  if (sc->main == NULL || bn_find_compile(sc, sc->main->L, err) != 0 || bn_lua_load(sc->main) != 0)
    return -1;
  forget_old_names(sc);
  bn_workload_complete(sc);
  bn_hooks_complete(sc);
  return 0;
}

void bn_script_detach(struct bn_script *sc)
{
  bn_lua_close(sc->main);
  sc->main = NULL;
}

const struct bn_workload *bn_script_workload(struct bn_script *sc)
{
  return &sc->ops;
}

const char *bn_script_title(const struct bn_script *sc)
{
  return sc->title;
}

const struct bn_reporter *bn_script_reporter(struct bn_script *sc, const void **conf)
{
  *conf = &sc->reporter_conf;
  return &sc->reporter;
}

void bn_script_free(struct bn_script *sc)
{
  if (sc == NULL)
    return;
  bn_script_detach(sc);
  bn_stackguard_remove(sc);
  bn_options_free(sc);
  bn_chunk_free(sc);
  free(sc->file);
  free(sc->dir);
  free(sc->title);
  free(sc->path);
  free(sc->cpath);
  (void)pthread_mutex_destroy(&sc->lock);
  free(sc);
}
