/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scripts of a run of several workloads, which live in one instance. */
#include "script/vm/mix.h"

#include <stdlib.h>

#include <lauxlib.h>

#include "base/alloc.h"
#include "option/conf.h"
#include "option/mix.h"
#include "script/vm/chunk.h"
#include "script/vm/env.h"
#include "script/vm/lua.h"

/* Adds a workload, whose file is not known yet, and returns it.  The pointer is valid until another
   workload is added. */
static struct bn_mix_part *mix_add_part(struct bn_mix *mix, const struct bn_mix_item *item)
{
  mix->part = bn_alloc_resize(mix->part, mix->n + 1, sizeof *mix->part);
  mix->part[mix->n] =
      (struct bn_mix_part){.name = bn_alloc_part(item->name, item->len), .weight = item->weight};
  mix->total_weight += item->weight;
  return &mix->part[mix->n++];
}

/* Sets the origin of the mix, on which messages and the old names depend: MODERN if all its scripts
   are, else USER. */
static void mix_set_origin(struct bn_script_place *place, const struct bn_mix *mix)
{
  place->set = BN_SET_MODERN;
  for (size_t i = 0; i < mix->n; i++)
    if (mix->part[i].place.set != BN_SET_MODERN)
      place->set = BN_SET_USER;
}

int bn_mix_find(struct bn_vm *vm, struct bn_err *err)
{
  struct bn_script_setup setup = *vm->setup; /* with the name of one workload after another */
  const char *remaining = setup.name;
  struct bn_mix_item item;
  int rc;

  if (!bn_mix_is_test(setup.conf->policy, remaining))
    return 0;
  vm->mix = bn_alloc(1, sizeof *vm->mix); /* bn_vm_done() frees it, also after a failure */
  while ((rc = bn_mix_next(&remaining, &item, err)) > 0) {
    struct bn_mix_part *part = mix_add_part(vm->mix, &item);

    setup.name = part->name;
    if (bn_script_file_find(&part->place, &setup, vm->path, err) != 0)
      return -1;
  }
  mix_set_origin(&vm->place, vm->mix);
  return rc; /* 0 after the last workload, or -1 */
}

void bn_mix_free(struct bn_mix *mix)
{
  if (mix == NULL)
    return;
  for (size_t i = 0; i < mix->n; i++) {
    bn_script_file_done(&mix->part[i].place);
    free(mix->part[i].name);
  }
  free(mix->part);
  free(mix);
}

unsigned bn_mix_choose(const struct bn_mix *mix, struct bn_rng *rng)
{
  double point = bn_rng_double(rng) * mix->total_weight;
  unsigned i = 0;

  /* The last workload also gets what rounding leaves beyond all weights. */
  while (i + 1 < mix->n && point >= mix->part[i].weight)
    point -= mix->part[i++].weight;
  return i + 1;
}

int bn_mix_list(lua_State *L)
{
  const struct bn_mix *mix = bn_lua_current()->vm->mix;

  lua_createtable(L, (int)mix->n, 0);
  for (size_t i = 0; i < mix->n; i++) {
    lua_createtable(L, 0, 8); /* module sysbench.mix adds fields */
    lua_pushstring(L, mix->part[i].name);
    lua_setfield(L, -2, "name");
    lua_pushboolean(L, mix->part[i].place.workload);
    lua_setfield(L, -2, "bundled");
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

int bn_mix_make_workload(lua_State *L)
{
  enum { ENVIRONMENT = 1, SYSBENCH, THREAD_RUN, SCRIPT, N_RESULTS = SCRIPT }; /* on the stack */
  struct bn_lua *lua = bn_lua_current();
  /* Module sysbench.mix takes the number from internal.workloads(), so the workload exists. */
  const struct bn_mix_part *part = &lua->vm->mix->part[luaL_checkinteger(L, 1) - 1];
  const struct bn_script_place *previous = lua->place;

  lua_settop(L, 0);
  /* The instance is made at the workload's place.  An error ends the whole instance, so that the
     previous place need not be restored then. */
  lua->place = &part->place;
  /* Our own modern workloads do not use the old names. */
  bn_env_push_instance(lua, part->place.set == BN_SET_MODERN ? BN_OLD_NONE : BN_OLD_ON_DEMAND);
  lua->place = previous;
  if (bn_chunk_push(L, part->chunk) != 0)
    return lua_error(L);
  lua_pushvalue(L, ENVIRONMENT);
  (void)lua_setfenv(L, SCRIPT);
  return N_RESULTS;
}

int bn_mix_enter(lua_State *L)
{
  enum { NUMBER = 1, ENVIRONMENT, SYSBENCH }; /* indices on the stack */
  struct bn_lua *lua = bn_lua_current();
  const lua_Integer number = luaL_checkinteger(L, NUMBER);

  lua->place = number > 0 ? &lua->vm->mix->part[number - 1].place : &lua->vm->place;
  lua_settop(L, SYSBENCH);
  lua_rawseti(L, LUA_REGISTRYINDEX, lua->sysbench_ref); /* pops sysbench */
  lua_pushvalue(L, ENVIRONMENT);
  lua_rawseti(L, LUA_REGISTRYINDEX, lua->env_ref);
  /* load and similar functions take the environment of new code from here, as in bn_env_make. */
  lua_replace(L, LUA_GLOBALSINDEX);
  return 0;
}
