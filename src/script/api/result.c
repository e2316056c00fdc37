/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a Lua table of a result with the document's writer, so that their names cannot differ. */
#include "script/api/result.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/log.h"
#include "measure/store.h"
#include "script/api/instance.h"
#include "script/vm/lua.h"

/* --- keeping ---------------------------------------------------------------------------------- */

void bn_kept_view(struct bn_kept *k, const char *name, const struct bn_view *v)
{
  struct bn_group *g;

  if (!k->wanted || k->incomplete)
    return;
  g = k->result.n_groups > 0 ? &k->result.group[0] : bn_result_group(&k->result, name);
  if (g != NULL && v->span == BN_VIEW_INTERVAL && g->n_intervals == BN_KEPT_INTERVALS)
    k->cut = true;
  else
    k->incomplete = g == NULL || bn_group_add(g, v) != 0;
}

void bn_kept_done(struct bn_kept *k)
{
  bn_result_done(&k->result);
}

/* --- values that become Lua's -------------------------------------------------------------------
 */

/* Lists and maps are tables in the registry until they get their place in another table. */
struct bn_node {
  enum bn_node_type type;
  int table;  /* registry reference of a list or map */
  int length; /* length of a list, with its nulls */
  double number;
  bool yes;
  char text[];
};

/* The store's functions get no state: they use the interpreter that called internal.result(). */
static lua_State *result_interpreter(void)
{
  return bn_lua_current()->L;
}

static struct bn_node *new_node(enum bn_node_type type, const char *text)
{
  const size_t size = strlen(text) + 1;
  struct bn_node *n = calloc(1, sizeof *n + size);

  if (n == NULL)
    return NULL;
  n->type = type;
  memcpy(n->text, text, size);
  return n;
}

static struct bn_node *new_table(enum bn_node_type type)
{
  lua_State *L = result_interpreter();
  struct bn_node *n = new_node(type, "");

  if (n == NULL)
    return NULL;
  luaL_checkstack(L, 4, "sysbench.result");
  lua_newtable(L);
  n->table = luaL_ref(L, LUA_REGISTRYINDEX);
  return n;
}

static struct bn_node *new_map(void)
{
  return new_table(BN_NODE_MAP);
}

static struct bn_node *new_list(void)
{
  return new_table(BN_NODE_LIST);
}

static struct bn_node *new_text(const char *s)
{
  return new_node(BN_NODE_TEXT, s);
}

static struct bn_node *new_real(double x)
{
  struct bn_node *n = new_node(BN_NODE_REAL, "");

  if (n != NULL)
    n->number = x;
  return n;
}

static struct bn_node *new_integer(int64_t i)
{
  return new_real((double)i);
}

static struct bn_node *new_boolean(bool yes)
{
  struct bn_node *n = new_node(BN_NODE_BOOL, "");

  if (n != NULL)
    n->yes = yes;
  return n;
}

static struct bn_node *new_null(void)
{
  return new_node(BN_NODE_NULL, "");
}

static void free_node(struct bn_node *n)
{
  if (n != NULL && (n->type == BN_NODE_LIST || n->type == BN_NODE_MAP))
    luaL_unref(result_interpreter(), LUA_REGISTRYINDEX, n->table);
  free(n);
}

/* Pushes the value and frees the node. */
static void result_push(lua_State *L, struct bn_node *n)
{
  switch (n->type) {
  case BN_NODE_NULL:
    lua_pushnil(L);
    break;
  case BN_NODE_BOOL:
    lua_pushboolean(L, n->yes);
    break;
  case BN_NODE_INT:
  case BN_NODE_REAL:
    lua_pushnumber(L, n->number);
    break;
  case BN_NODE_TEXT:
    lua_pushstring(L, n->text);
    break;
  case BN_NODE_LIST:
  case BN_NODE_MAP:
    lua_rawgeti(L, LUA_REGISTRYINDEX, n->table);
    break;
  }
  free_node(n);
}

static int result_set(struct bn_node *map, const char *key, struct bn_node *value)
{
  lua_State *L = result_interpreter();

  if (map == NULL || value == NULL) {
    free_node(value);
    return -1;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, map->table);
  result_push(L, value);
  lua_setfield(L, -2, key);
  lua_pop(L, 1);
  return 0;
}

static int result_append(struct bn_node *list, struct bn_node *value)
{
  lua_State *L = result_interpreter();

  if (list == NULL || value == NULL) {
    free_node(value);
    return -1;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, list->table);
  result_push(L, value);
  lua_rawseti(L, -2, ++list->length);
  lua_pop(L, 1);
  return 0;
}

/* Writers only ask whether the key exists. */
static const struct bn_node *result_get(const struct bn_node *map, const char *key)
{
  lua_State *L = result_interpreter();
  bool is_there;

  if (map == NULL)
    return NULL;
  lua_rawgeti(L, LUA_REGISTRYINDEX, map->table);
  lua_getfield(L, -1, key);
  is_there = !lua_isnil(L, -1);
  lua_pop(L, 2);
  return is_there ? map : NULL;
}

/* There is no older document to read. */
static const struct bn_node *result_at(const struct bn_node *list, size_t i)
{
  (void)list;
  (void)i;
  return NULL;
}

static void result_confine(struct bn_node *into, const struct bn_node *from)
{
  (void)into;
  (void)from;
}

static const struct bn_store lua_tables = {.name = "lua",
                                           .free = free_node,
                                           .map = new_map,
                                           .list = new_list,
                                           .text = new_text,
                                           .integer = new_integer,
                                           .real = new_real,
                                           .boolean = new_boolean,
                                           .null = new_null,
                                           .set = result_set,
                                           .append = result_append,
                                           .get = result_get,
                                           .at = result_at,
                                           .confine = result_confine};

/* Removes the end of the run, which is not known before done() has returned. */
static void forget_end(lua_State *L)
{
  lua_pushnil(L);
  lua_setfield(L, -2, "end");
}

int bn_result_make(lua_State *L)
{
  const struct bn_kept *k = &bn_instance_api()->kept;
  struct bn_result result = k->result;
  struct bn_node *document;

  if (k->facts == NULL || k->incomplete || k->result.n_groups == 0 ||
      !k->result.group[0].has_total) {
    lua_pushnil(L);
    return 1;
  }
  if (k->cut)
    bn_log_stderr("sysbench.result: the table has the first %d intervals; its totals cover the "
                  "whole run",
                  BN_KEPT_INTERVALS);
  result.facts = *k->facts;
  document = bn_store_document(&lua_tables, &result, NULL);
  if (document == NULL)
    return luaL_error(L, "sysbench.result: not enough memory");
  result_push(L, document);
  forget_end(L);
  return 1;
}
