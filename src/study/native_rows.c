/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The total of a result as a row of numbers, for tables of studies in Lua. */
#include <stdlib.h>

#include "measure/row.h"
#include "study/native.h"
#include "study/native_result.h"

/* r:row(): a list of {name =, value =} of the columns of csv-total that have a number. */
static int result_row(lua_State *L)
{
  const struct bn_result *r = &bn_native_check_result(L, 1)->stored.result;
  struct bn_row *row = lua_newuserdata(L, sizeof *row);

  row->n = 0;
  bn_row_total(row, &r->facts.plan, bn_native_total(r));
  lua_newtable(L);
  for (size_t i = 0, n = 0; i < row->n; i++) {
    const struct bn_cell *c = &row->cell[i];

    if (c->type != BN_CELL_WHOLE && c->type != BN_CELL_REAL)
      continue;
    lua_createtable(L, 0, 2);
    bn_native_set_text(L, "name", c->name);
    bn_native_set_number(L, "value", c->type == BN_CELL_WHOLE ? (double)c->whole : c->real);
    lua_rawseti(L, -2, (int)++n);
  }
  return 1;
}

/* r:test_figures(): a list of {key =, text =, value =} of what only this test measures; text: how
   its report prints it, nil: it does not. */
static int result_test_figures(lua_State *L)
{
  const struct bn_view *v = bn_native_total(&bn_native_check_result(L, 1)->stored.result);

  lua_newtable(L);
  for (size_t i = 0; v != NULL && i < v->n_figures; i++) {
    lua_createtable(L, 0, 3);
    bn_native_set_text(L, "key", v->figures[i].key);
    bn_native_set_text(L, "text", v->figures[i].text);
    bn_native_set_number(L, "value", v->figures[i].value);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

const luaL_Reg bn_native_result_rows[] = {
    {"row", result_row}, {"test_figures", result_test_figures}, {NULL, NULL}};
