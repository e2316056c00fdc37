/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a Lua table of a result by way of the result document, so that the names of the two cannot
   differ. */
#include "script/api/result.h"

#include <lauxlib.h>

#include "base/log.h"
#include "measure/store.h"
#include "script/api/instance.h"
#include "script/vm/lua.h"

/* --- keeping ---------------------------------------------------------------------------------- */

void bn_script_results_add(struct bn_script_results *kept, const char *name,
                           const struct bn_view *v)
{
  struct bn_result *result = &kept->result;

  if (!kept->wanted)
    return;
  struct bn_group *group =
      result->n_groups > 0 ? &result->group[0] : bn_result_add_group(result, name);

  if (v->span == BN_VIEW_INTERVAL && group->n_intervals == BN_KEPT_INTERVALS)
    kept->cut = true;
  else
    bn_group_add_view(group, v);
}

void bn_script_results_done(struct bn_script_results *kept)
{
  bn_result_done(&kept->result);
}

/* --- values that become Lua's ----------------------------------------------------------------- */

static void result_push(lua_State *L, const struct bn_node *n);

/* Sets a field of the table on top of the stack of `arg`, for bn_node_each. */
static int result_set(void *arg, const char *key, const struct bn_node *value)
{
  lua_State *L = arg;

  result_push(L, value);
  lua_setfield(L, -2, key);
  return 0;
}

/* Pushes a value of a document as a value of Lua.  A null is nil; in a list it keeps its index. */
static void result_push(lua_State *L, const struct bn_node *n)
{
  enum { LEVEL_SLOTS = 4 }; /* more than a level of the document takes of Lua's stack */

  luaL_checkstack(L, LEVEL_SLOTS, "sysbench.result");
  switch (bn_node_type_of(n)) {
  case BN_NODE_NULL:
    lua_pushnil(L);
    break;
  case BN_NODE_BOOL:
    lua_pushboolean(L, bn_node_get_boolean(n));
    break;
  case BN_NODE_INT:
  case BN_NODE_REAL:
    lua_pushnumber(L, bn_node_get_real(n));
    break;
  case BN_NODE_TEXT:
    lua_pushstring(L, bn_node_get_text(n));
    break;
  case BN_NODE_LIST:
    lua_newtable(L);
    for (size_t i = 0; i < bn_node_count(n); i++) {
      result_push(L, bn_node_get_at(n, i));
      lua_rawseti(L, -2, (int)i + 1);
    }
    break;
  case BN_NODE_MAP:
    lua_newtable(L);
    (void)bn_node_each(n, result_set, L);
    break;
  }
}

/* Returns whether the total has been kept, which comes last. */
static bool result_has_total(const struct bn_script_results *kept)
{
  return kept->facts != NULL && kept->result.n_groups > 0 && kept->result.group[0].has_total;
}

int bn_result_make_table(lua_State *L)
{
  const struct bn_script_results *kept = &bn_instance_api()->kept;
  struct bn_result result;

  /* A worker does not look: it may run while the result is still being added to. */
  if (bn_lua_current()->worker || !result_has_total(kept)) {
    lua_pushnil(L);
    return 1;
  }
  if (kept->cut)
    bn_log_stderr("sysbench.result: the table has the first %d intervals; its totals cover the "
                  "whole run",
                  BN_KEPT_INTERVALS);
  result = kept->result; /* a shallow copy, which gets the facts */
  result.facts = *kept->facts;
  struct bn_node *document = bn_store_document(&result, NULL);

  result_push(L, document);
  bn_node_free(document);
  /* The end of the run is not known before done() has returned. */
  lua_pushnil(L);
  lua_setfield(L, -2, "end");
  return 1;
}
