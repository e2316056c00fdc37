/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Module study.document: documents as values of Lua, by the module that reads and prints JSON.

   A map is a table whose keys keep their order; a list is a table from 1 on, and an empty list is
   not an empty map; null is a value of its own; whole numbers beyond 2^53 are 64-bit integers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <lauxlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "measure/json_write.h"
#include "measure/store.h"
#include "study/int64.h"
#include "study/native.h"

enum {
  DOCUMENT_MAX = 1 << 26, /* bytes of a document that is read */
  DEPTH_MAX = 200,        /* levels of a document that is printed: a table may contain itself */
  LEVEL_SLOTS = 16,       /* more than a level takes of Lua's stack */
  INDENT_MAX = 31         /* that of jansson */
};

/* Names in the registry: metatables that mark lists, maps and reals; a table with the order of each
   map, which dies with the map; the metatable of trees; the function table.sort, which a study may
   replace.  An order has the list of the map's keys, and `true` under each of these keys. */
static const char list_key[] = "bn.list", map_key[] = "bn.map", real_key[] = "bn.real",
                  order_key[] = "bn.order", tree_key[] = "bn.tree", sort_key[] = "bn.sort";

static const char null; /* its address is the value of document.null */

static void document_push_null(lua_State *L)
{
  lua_pushlightuserdata(L, (void *)(uintptr_t)&null);
}

/* Returns whether the table at `index` is a list: it is marked as one, or it has items and is not
   marked as a map. */
static bool document_is_list_table(lua_State *L, int index)
{
  return bn_native_has_mark(L, index, list_key) ||
         (!bn_native_has_mark(L, index, map_key) && lua_objlen(L, index) > 0);
}

/* Pushes the order of the map at `index`, which is absolute, or nil: a table that was made in Lua
   has no order. */
static void document_push_order(lua_State *L, int index)
{
  lua_getfield(L, LUA_REGISTRYINDEX, order_key);
  lua_pushvalue(L, index);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

/* Pushes an empty map with an order, and with room for `size` members. */
static void document_push_map(lua_State *L, int size)
{
  lua_createtable(L, 0, size);
  bn_native_set_mark(L, map_key);
  lua_getfield(L, LUA_REGISTRYINDEX, order_key);
  lua_pushvalue(L, -2);
  lua_createtable(L, size, size);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Returns whether the table at `table` has a value for the key at `key`.  Both are absolute. */
static bool document_has_key(lua_State *L, int table, int key)
{
  lua_pushvalue(L, key);
  lua_rawget(L, table);
  const bool is_there = !lua_isnil(L, -1);

  lua_pop(L, 1);
  return is_there;
}

/* Pops a key and, above it, its value, and sets that member of the map at `map`, which is absolute.
   A new key comes last in the map's order.  A key keeps its place while its member is nil. */
static void document_set_member(lua_State *L, int map)
{
  const int key = lua_gettop(L) - 1, order = key + 2; /* the value is between them */

  document_push_order(L, map);
  if (lua_istable(L, order) && !document_has_key(L, map, key) && !document_has_key(L, order, key)) {
    lua_pushvalue(L, key);
    lua_rawseti(L, order, (int)lua_objlen(L, order) + 1);
    lua_pushvalue(L, key);
    lua_pushboolean(L, 1);
    lua_rawset(L, order);
  }
  lua_settop(L, key + 1);
  lua_rawset(L, map);
}

/* --- reading --- */

/* The argument of document_set_node. */
struct reading {
  lua_State *L;
  int map; /* absolute index of the map that is filled */
};

static void document_push_node(lua_State *L, const struct bn_node *n);

/* Sets a member of the map that is filled, for bn_node_each.  Returns 0, so that it goes on. */
static int document_set_node(void *arg, const char *key, const struct bn_node *value)
{
  const struct reading *r = arg;

  lua_pushstring(r->L, key);
  document_push_node(r->L, value);
  document_set_member(r->L, r->map);
  return 0;
}

/* Pushes the list of a node. */
static void document_push_items(lua_State *L, const struct bn_node *list)
{
  const size_t n = bn_node_count(list);

  lua_createtable(L, (int)n, 0);
  bn_native_set_mark(L, list_key);
  for (size_t i = 0; i < n; i++) {
    document_push_node(L, bn_node_get_at(list, i));
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* Pushes the map of a node. */
static void document_push_members(lua_State *L, const struct bn_node *map)
{
  struct reading r = {.L = L, .map = lua_gettop(L) + 1};

  document_push_map(L, (int)bn_node_count(map));
  (void)bn_node_each(map, document_set_node, &r);
}

/* Pushes the value of a node. */
static void document_push_node(lua_State *L, const struct bn_node *n)
{
  luaL_checkstack(L, LEVEL_SLOTS, "the document is too deep");
  switch (bn_node_type_of(n)) {
  case BN_NODE_NULL:
    document_push_null(L);
    break;
  case BN_NODE_BOOL:
    lua_pushboolean(L, bn_node_get_boolean(n));
    break;
  case BN_NODE_INT:
    bn_int64_push(L, bn_node_get_integer(n));
    break;
  case BN_NODE_REAL:
    lua_pushnumber(L, bn_node_get_real(n));
    break;
  case BN_NODE_TEXT:
    lua_pushstring(L, bn_node_get_text(n));
    break;
  case BN_NODE_LIST:
    document_push_items(L, n);
    break;
  case BN_NODE_MAP:
    document_push_members(L, n);
    break;
  }
}

/* A document between its text and values of Lua, which may be large.  It is a userdata, so that Lua
   frees it also if an error, such as a lack of memory, ends the function that made it. */
struct tree {
  struct bn_node *root;
  struct bn_buf text;
};

/* The metamethod __gc of a tree. */
static int document_free_tree(lua_State *L)
{
  struct tree *t = lua_touserdata(L, 1);

  bn_node_free(t->root);
  bn_buf_done(&t->text);
  t->root = NULL;
  return 0;
}

/* Pushes an empty tree and returns it. */
static struct tree *document_push_tree(lua_State *L)
{
  struct tree *t = lua_newuserdata(L, sizeof *t);

  *t = (struct tree){.root = NULL};
  bn_native_set_mark(L, tree_key);
  return t;
}

/* Pushes the value of a text, or nil and a sentence that says why the text is no document.  Returns
   the number of values that it has pushed. */
static int document_push_parsed(lua_State *L, struct tree *t, const char *text, size_t len)
{
  struct bn_err err = {0};

  t->root = bn_node_parse(text, len, &err);
  if (t->root == NULL) {
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
  }
  document_push_node(L, t->root);
  bn_node_free(t->root);
  t->root = NULL;
  return 1;
}

/* document.parse(text): returns the value, or nil and a sentence. */
static int document_parse(lua_State *L)
{
  size_t len;
  const char *text = luaL_checklstring(L, 1, &len);

  return document_push_parsed(L, document_push_tree(L), text, len);
}

/* document.read(path): returns the value of a file, or nil and a sentence if the file cannot be
   read, or is no document. */
static int document_read(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  struct tree *t = document_push_tree(L);

  t->text.max = DOCUMENT_MAX;
  if (bn_file_read(path, &t->text) != 0)
    return bn_native_push_read_error(L, path, errno);
  const int n = document_push_parsed(L, t, t->text.data, t->text.len);
  const bool is_refused = n > 1; /* nil and a sentence, which gets the path */

  if (is_refused) {
    lua_pushfstring(L, "cannot read '%s': %s", path, lua_tostring(L, -1));
    lua_replace(L, -2);
  }
  return n;
}

/* --- printing --- */

/* A document that is made of values of Lua.  The functions below have these arguments in common:
   `index` is the absolute index of the value, and `depth` the number of levels that it may still
   have. */
struct writing {
  lua_State *L;
  const char *refusal; /* why a value cannot be printed; NULL: all can */
};

static struct bn_node *document_make_node(struct writing *w, int index, int depth);

/* Keeps the first reason why the document cannot be printed.  Returns NULL in place of a node. */
static struct bn_node *document_refuse_value(struct writing *w, const char *refusal)
{
  if (w->refusal == NULL)
    w->refusal = refusal;
  return NULL;
}

/* Returns a node of a list; the depth is that of its items. */
static struct bn_node *document_make_list(struct writing *w, int index, int depth)
{
  struct bn_node *list = bn_node_list();

  for (int i = 1; i <= (int)lua_objlen(w->L, index); i++) {
    lua_rawgeti(w->L, index, i);
    struct bn_node *value = document_make_node(w, lua_gettop(w->L), depth);

    if (value != NULL || w->refusal == NULL)
      bn_json_add(list, value);
    lua_pop(w->L, 1);
  }
  return list;
}

/* Pushes a sorted list of the keys of the map at `index` that are not in its order at `order`,
   which may be nil.  Keys that are not texts are left out. */
static void document_push_other_keys(lua_State *L, int index, int order)
{
  const int others = lua_gettop(L) + 1, key = others + 1; /* indices on the stack */
  const bool has_order = lua_istable(L, order);
  int n = 0;

  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    lua_pop(L, 1); /* the value; the key stays for lua_next() */
    if (lua_type(L, key) == LUA_TSTRING && !(has_order && document_has_key(L, order, key))) {
      lua_pushvalue(L, key);
      lua_rawseti(L, others, ++n);
    }
  }
  lua_getfield(L, LUA_REGISTRYINDEX, sort_key);
  lua_pushvalue(L, others);
  lua_call(L, 1, 0);
}

/* Adds to a node the members of the map at `index` whose keys are in the list at `keys`.  The map
   may lack a key of its order, because a member was set to nil. */
static void document_add_members(struct writing *w, struct bn_node *map, int index, int keys,
                                 int depth)
{
  lua_State *L = w->L;

  for (int i = 1; i <= (int)lua_objlen(L, keys); i++) {
    lua_rawgeti(L, keys, i);
    lua_pushvalue(L, -1);
    lua_rawget(L, index);
    if (!lua_isnil(L, -1)) {
      struct bn_node *value = document_make_node(w, lua_gettop(L), depth);

      if (value != NULL || w->refusal == NULL)
        bn_json_put(map, lua_tostring(L, -2), value);
    }
    lua_pop(L, 2); /* the key and its value */
  }
}

/* Returns a node of a map: first the members that have an order, then the others by name.  The
   depth is that of its values. */
static struct bn_node *document_make_map(struct writing *w, int index, int depth)
{
  lua_State *L = w->L;
  struct bn_node *map = bn_node_map();
  const int top = lua_gettop(L), order = top + 1, others = top + 2;

  document_push_order(L, index);
  if (lua_istable(L, order))
    document_add_members(w, map, index, order, depth);
  document_push_other_keys(L, index, order);
  document_add_members(w, map, index, others, depth);
  lua_settop(L, top);
  return map;
}

/* Returns a node of a table, which is a real, a list or a map.  Returns NULL if it cannot be
   printed, and keeps the reason. */
static struct bn_node *document_make_table(struct writing *w, int index, int depth)
{
  if (depth == 0)
    return document_refuse_value(w, "a document is too deep");
  if (!lua_checkstack(w->L, LEVEL_SLOTS))
    return document_refuse_value(w, "out of memory");
  if (bn_native_has_mark(w->L, index, real_key)) {
    lua_rawgeti(w->L, index, 1);
    struct bn_node *n = bn_node_f64(lua_tonumber(w->L, -1));

    lua_pop(w->L, 1);
    return n;
  }
  if (document_is_list_table(w->L, index))
    return document_make_list(w, index, depth - 1);
  return document_make_map(w, index, depth - 1);
}

/* Returns a node of a value.  Returns NULL if it cannot be printed, and keeps the reason. */
static struct bn_node *document_make_node(struct writing *w, int index, int depth)
{
  int64_t integer;

  /* A whole number, which may be a 64-bit integer of the FFI. */
  if (bn_int64_read(w->L, index, &integer))
    return bn_node_integer(integer);
  switch (lua_type(w->L, index)) {
  case LUA_TNIL:
    return bn_node_null();
  case LUA_TBOOLEAN:
    return bn_node_boolean(lua_toboolean(w->L, index) != 0);
  case LUA_TNUMBER:
    return bn_node_f64(lua_tonumber(w->L, index));
  case LUA_TSTRING:
    return bn_node_text(lua_tostring(w->L, index));
  case LUA_TTABLE:
    return document_make_table(w, index, depth);
  case LUA_TLIGHTUSERDATA:
    if (lua_touserdata(w->L, index) == (const void *)&null)
      return bn_node_null();
    break;
  default:
    break;
  }
  return document_refuse_value(
      w, "a document has maps, lists, texts, numbers, booleans and null; this is "
         "another value");
}

/* document.print(value [, indent]): returns the text of a document, which ends with a newline if
   there is an indent. */
static int document_print(lua_State *L)
{
  const lua_Integer indent = luaL_optinteger(L, 2, 0);
  size_t len = 0;

  luaL_checkany(L, 1);
  luaL_argcheck(L, indent >= 0 && indent <= INDENT_MAX, 2, "an indent has 0 to 31 blanks");
  struct tree *t = document_push_tree(L);
  struct writing w = {.L = L};

  t->root = document_make_node(&w, 1, DEPTH_MAX);
  if (w.refusal != NULL)
    return luaL_error(L, "%s", w.refusal);
  char *text = bn_node_print(t->root, (unsigned)indent, &len);

  lua_pushlstring(L, text, len);
  free(text);
  if (indent > 0) {
    lua_pushliteral(L, "\n");
    lua_concat(L, 2);
  }
  return 1;
}

/* --- making --- */

/* document.map{{"key", value}, …}: returns a map whose keys keep this order. */
static int document_map(lua_State *L)
{
  enum { PAIRS = 1, MAP, PAIR }; /* indices on the stack */
  const int n = lua_istable(L, PAIRS) ? (int)lua_objlen(L, PAIRS) : 0;

  lua_settop(L, PAIRS);
  document_push_map(L, n);
  for (int i = 1; i <= n; i++) {
    lua_rawgeti(L, PAIRS, i);
    if (!lua_istable(L, PAIR))
      return luaL_error(L, "a pair {key, value} was expected");
    lua_rawgeti(L, PAIR, 1);
    lua_rawgeti(L, PAIR, 2);
    if (lua_type(L, -2) != LUA_TSTRING)
      return luaL_error(L, "the key of a map must be a text");
    document_set_member(L, MAP);
    lua_settop(L, MAP);
  }
  return 1;
}

/* document.set(map, key, value): sets a member of a map, and returns the map.  A new key comes
   last. */
static int document_set(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TSTRING);
  lua_settop(L, 3);
  document_set_member(L, 1);
  return 1;
}

/* document.list([table]): marks a table as a list, even if it has no items, and returns it; without
   an argument, returns a new list. */
static int document_list(lua_State *L)
{
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    lua_newtable(L);
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  bn_native_set_mark(L, list_key);
  return 1;
}

/* document.real(x): returns a value that is printed as a real, "1.0", also if x is whole; null for
   nil, false and a number that is not finite. */
static int document_real(lua_State *L)
{
  const bool is_given = lua_toboolean(L, 1) != 0; /* not nil or false */
  const double x = is_given ? luaL_checknumber(L, 1) : NAN;

  if (!isfinite(x)) {
    document_push_null(L);
    return 1;
  }
  lua_createtable(L, 1, 0);
  lua_pushnumber(L, x);
  lua_rawseti(L, -2, 1);
  bn_native_set_mark(L, real_key);
  return 1;
}

/* The upvalues of document_next_pair: the map, a list of its keys, and the number of the key that
   was returned last. */
enum { PAIRS_MAP = 1, PAIRS_KEYS, PAIRS_LAST, PAIRS_UPVALUES = PAIRS_LAST };

/* The iterator of document.pairs(): returns the next key and its value, or nil after the last.
   Keys whose members have become nil are skipped. */
static int document_next_pair(lua_State *L)
{
  const int map = lua_upvalueindex(PAIRS_MAP), keys = lua_upvalueindex(PAIRS_KEYS);
  const int last = lua_upvalueindex(PAIRS_LAST);
  int i = (int)lua_tointeger(L, last);

  for (;;) {
    lua_settop(L, 0);
    lua_rawgeti(L, keys, ++i);
    if (lua_isnil(L, 1))
      return 1;
    lua_pushvalue(L, 1);
    lua_rawget(L, map);
    if (lua_isnil(L, 2))
      continue;
    lua_pushinteger(L, i);
    lua_replace(L, last);
    return 2;
  }
}

/* Appends the items of the list at `from` to the list at `to`. */
static void document_append_items(lua_State *L, int from, int to)
{
  const int n_before = (int)lua_objlen(L, to), n = (int)lua_objlen(L, from);

  for (int i = 1; i <= n; i++) {
    lua_rawgeti(L, from, i);
    lua_rawseti(L, to, n_before + i);
  }
}

/* document.pairs(map): returns an iterator over the members in the order in which they are
   printed. */
static int document_pairs(lua_State *L)
{
  enum { MAP = 1, ORDER, OTHERS, KEYS }; /* indices on the stack */

  luaL_checktype(L, MAP, LUA_TTABLE);
  lua_settop(L, MAP);
  document_push_order(L, MAP);
  document_push_other_keys(L, MAP, ORDER);
  lua_newtable(L);
  if (lua_istable(L, ORDER))
    document_append_items(L, ORDER, KEYS);
  document_append_items(L, OTHERS, KEYS);
  lua_pushvalue(L, MAP);
  lua_pushvalue(L, KEYS);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, document_next_pair, PAIRS_UPVALUES);
  return 1;
}

/* --- the module --- */

/* The metamethod __tostring of a real. */
static int document_push_real_text(lua_State *L)
{
  lua_rawgeti(L, 1, 1);
  (void)lua_tostring(L, -1); /* turns the number into a text in place */
  return 1;
}

int bn_native_open_document(lua_State *L)
{
  static const luaL_Reg functions[] = {
      {"parse", document_parse}, {"read", document_read},   {"print", document_print},
      {"map", document_map},     {"set", document_set},     {"list", document_list},
      {"real", document_real},   {"pairs", document_pairs}, {NULL, NULL}};

  lua_getglobal(L, "table");
  lua_getfield(L, -1, "sort");
  lua_setfield(L, LUA_REGISTRYINDEX, sort_key);
  /* The keys of the table of orders, the maps, are weak, so that an order dies with its map. */
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, order_key);
  /* The metatables stay on the stack, below the module. */
  luaL_newmetatable(L, list_key);
  luaL_newmetatable(L, map_key);
  luaL_newmetatable(L, real_key);
  lua_pushcfunction(L, document_push_real_text);
  lua_setfield(L, -2, "__tostring"); /* of a real */
  luaL_newmetatable(L, tree_key);
  lua_pushcfunction(L, document_free_tree);
  lua_setfield(L, -2, "__gc"); /* of a tree */
  lua_newtable(L);             /* the module */
  luaL_register(L, NULL, functions);
  document_push_null(L);
  lua_setfield(L, -2, "null");
  return 1;
}
