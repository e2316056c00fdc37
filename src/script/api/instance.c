/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and closes script instances. */
#include "script/api/instance.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "option/conf.h"
#include "script/api/optexport.h"
#include "script/vm/call.h"
#include "script/vm/vm.h"
#include "sql/sql.h"

struct bn_instance *bn_instance_open(const struct bn_vm *vm, struct bn_session *s, bool is_worker)
{
  struct bn_instance *in = bn_alloc(1, sizeof *in);

  bn_buf_init(&in->text, 0);
  if (vm->mix != NULL)
    bn_rng_seed(&in->choice, s->services->conf->seed, BN_RNG_MIX, s->number);
  if (bn_lua_open(&in->lua, vm, s, is_worker) == 0)
    return in;
  bn_instance_close(in);
  return NULL;
}

struct bn_instance *bn_instance_load(const struct bn_vm *vm, struct bn_session *s)
{
  struct bn_instance *in = bn_instance_open(vm, s, true /* is_worker */);

  if (in == NULL)
    return NULL;
  if (bn_optexport_set_early(&in->lua) == 0 && bn_lua_load(&in->lua) == 0 &&
      bn_optexport_set(&in->lua) == 0)
    return in;
  bn_instance_close(in);
  return NULL;
}

void bn_instance_close(struct bn_instance *in)
{
  if (in == NULL)
    return;
  bn_workqueue_leave(&in->lua.vm->api->workqueue, &in->workqueue);
  bn_lua_close(&in->lua);
  /* The finalizers of connections, which bn_lua_close() runs, use the SQL session, so it ends after
     them.  main.c ends the session of the main instance. */
  if (in->lua.worker && in->lua.vm->setup->sql != NULL)
    bn_sql_session_end(in->lua.vm->setup->sql, in->lua.session);
  bn_buf_done(&in->text);
  free(in);
}
