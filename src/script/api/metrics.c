/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the metrics of a script, which are counted in the session's statistics. */
#include "script/api/metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "base/alloc.h"
#include "base/near.h"
#include "engine/event.h"
#include "script/api/ffi_metrics.h"
#include "script/api/instance.h"
#include "script/vm/mix.h"
#include "sql/sql.h"

/* The names of kinds of metrics, from BN_SCRIPT_COUNTER on. */
static const char *const metric_kinds[] = {"counter", "histogram", NULL};

/* --- declaring -------------------------------------------------------------------------------- */

/* Returns whether the text can be a column or a label anywhere: it has 1 to max_len letters, digits
   and underscores, and does not begin with a digit. */
static bool metrics_is_name(const char *name, size_t max_len)
{
  size_t len = 0;

  for (; name[len] != '\0'; len++)
    if (!(isascii(name[len]) && (isalnum((unsigned char)name[len]) || name[len] == '_')))
      return false;
  return len > 0 && len <= max_len && !isdigit((unsigned char)name[0]);
}

/* Returns whether a line of a report can show the unit: it has printable characters, and not too
   many. */
static bool metrics_is_unit(const char *unit)
{
  const size_t len = strlen(unit);

  for (size_t i = 0; i < len; i++)
    if (!(isascii(unit[i]) && isprint((unsigned char)unit[i])))
      return false;
  return len > 0 && len <= BN_DECLARED_NAME;
}

/* Returns whether the text is a unit of time that module sysbench.metrics converts to ns. */
static bool metrics_is_time_unit(const char *unit)
{
  static const char *const units[] = {"s", "ms", "us", "ns", NULL};

  return bn_near_find(units, unit) >= 0;
}

/* Returns how many metrics of a kind were declared before `end`. */
static unsigned metrics_count(const struct bn_declarations *d, const struct bn_declared *end,
                              enum bn_metric_kind kind)
{
  unsigned n = 0;

  for (const struct bn_declared *row = d->row; row < end; row++)
    if (row->kind == kind)
      n++;
  return n;
}

/* Returns true after pushing a sentence that says why the metric cannot be declared; returns false,
   and pushes nothing, if it can. */
static bool metrics_push_refusal(lua_State *L, const struct bn_declarations *d,
                                 enum bn_metric_kind kind, const char *name, const char *unit)
{
  if (d->closed)
    lua_pushfstring(L,
                    "'%s' is not declared at the top level of the script; all threads need to know "
                    "it before the run starts",
                    name);
  else if (!metrics_is_name(name, BN_DECLARED_NAME))
    lua_pushfstring(L,
                    "'%s' cannot be the name of a metric; a name has up to %d letters, digits and "
                    "underscores, and does not begin with a digit",
                    name, BN_DECLARED_NAME);
  else if (bn_statset_reserves(name) || bn_sql_has_metric(name))
    lua_pushfstring(L, "bench has a metric '%s' itself; choose another name", name);
  else if (kind == BN_SCRIPT_HISTOGRAM && !metrics_is_time_unit(unit))
    lua_pushfstring(L, "'%s' cannot be the unit of a histogram; allowed: s, ms, us, ns", unit);
  else if (!metrics_is_unit(unit))
    lua_pushfstring(L, "the unit of '%s' must have 1 to %d printable characters", name,
                    BN_DECLARED_NAME);
  else if (d->n == BN_DECLARED_MAX)
    lua_pushfstring(L, "'%s' is one metric too many; allowed: up to %d", name, BN_DECLARED_MAX);
  else if (kind == BN_SCRIPT_HISTOGRAM &&
           metrics_count(d, &d->row[d->n], kind) == BN_DECLARED_TIMES_MAX)
    lua_pushfstring(L, "'%s' is one histogram too many; allowed: up to %d", name,
                    BN_DECLARED_TIMES_MAX);
  else
    return false;
  return true;
}

static const struct bn_declared *metrics_find(const struct bn_declarations *d, const char *name)
{
  for (unsigned i = 0; i < d->n; i++)
    if (strcmp(d->row[i].name, name) == 0)
      return &d->row[i];
  return NULL;
}

/* Adds a metric that metrics_push_refusal() has not refused, so that its texts fit, and returns
   it. */
static const struct bn_declared *metrics_add(struct bn_declarations *d, enum bn_metric_kind kind,
                                             const char *name, const char *unit)
{
  struct bn_declared *row = &d->row[d->n++];

  (void)snprintf(row->name, sizeof row->name, "%s", name);
  (void)snprintf(row->unit, sizeof row->unit, "%s", unit);
  row->kind = kind;
  return row;
}

int bn_metrics_declare(lua_State *L)
{
  struct bn_declarations *d = &bn_instance_api()->declared;
  const enum bn_metric_kind kind =
      (enum bn_metric_kind)(BN_SCRIPT_COUNTER + luaL_checkoption(L, 1, NULL, metric_kinds));
  const char *name = luaL_checkstring(L, 2), *unit = luaL_checkstring(L, 3);
  const struct bn_declared *row = metrics_find(d, name);

  lua_pushnil(L); /* the first result, if a refusal follows it */
  if (row != NULL && (row->kind != kind || strcmp(row->unit, unit) != 0)) {
    lua_pushfstring(L, "'%s' is declared already, as a %s with the unit '%s'", name,
                    metric_kinds[row->kind - BN_SCRIPT_COUNTER], row->unit);
    return 2;
  }
  if (row == NULL) {
    if (metrics_push_refusal(L, d, kind, name, unit))
      return 2;
    row = metrics_add(d, kind, name, unit);
  }
  lua_pushinteger(L, (lua_Integer)metrics_count(d, row, kind));
  return 1;
}

/* --- kinds of events -------------------------------------------------------------------------- */

/* Returns true after pushing a sentence that says why the kind cannot be declared; returns false,
   and pushes nothing, if it can. */
static bool metrics_push_kind_refusal(lua_State *L, const struct bn_declarations *d,
                                      const char *name)
{
  if (d->closed)
    lua_pushfstring(L,
                    "'%s' is not declared at the top level of the script; the report needs to know "
                    "it before the run starts",
                    name);
  else if (!metrics_is_name(name, BN_EVENT_KIND_NAME))
    lua_pushfstring(L,
                    "'%s' cannot be the name of a kind of events; a name has up to %d letters, "
                    "digits and underscores, and does not begin with a digit",
                    name, BN_EVENT_KIND_NAME);
  else if (d->n_kinds == BN_EVENT_KINDS_MAX)
    lua_pushfstring(L, "'%s' is one kind of events too many; allowed: up to %d", name,
                    BN_EVENT_KINDS_MAX);
  else
    return false;
  return true;
}

/* Adds a kind of events, whose metrics have the names "METRIC@event:KIND". */
static void metrics_add_kind(struct bn_declarations *d, const char *name)
{
  static const char *const metric_names[] = BN_EVENT_METRICS;
  struct bn_declared_kind *k = &d->kind[d->n_kinds++];

  (void)snprintf(k->name, sizeof k->name, "%s", name);
  for (size_t i = 0; i < sizeof metric_names / sizeof *metric_names; i++)
    (void)snprintf(k->metric[i], sizeof k->metric[i], "%s" BN_EVENT_PART "%.*s", metric_names[i],
                   BN_EVENT_KIND_NAME, name);
}

int bn_metrics_declare_kind(lua_State *L)
{
  struct bn_declarations *d = &bn_instance_api()->declared;
  const char *name = luaL_checkstring(L, 1);
  unsigned i = 0;

  while (i < d->n_kinds && strcmp(d->kind[i].name, name) != 0)
    i++;
  lua_pushnil(L); /* the first result, if a refusal follows it */
  if (i == d->n_kinds) {
    if (metrics_push_kind_refusal(L, d, name))
      return 2;
    metrics_add_kind(d, name);
  }
  lua_pushinteger(L, (lua_Integer)i + 1);
  return 1;
}

int bn_metrics_list_kinds(lua_State *L)
{
  const struct bn_declarations *d = &bn_instance_api()->declared;

  lua_createtable(L, (int)d->n_kinds, 0);
  for (unsigned i = 0; i < d->n_kinds; i++) {
    lua_pushstring(L, d->kind[i].name);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Returns the row of a declared metric.  A histogram counts ns, to which module sysbench.metrics
   converts times of the declared unit. */
static struct bn_metric metrics_make_row(const struct bn_declared *declared)
{
  const bool is_histogram = declared->kind == BN_SCRIPT_HISTOGRAM;

  return (struct bn_metric){
      .name = declared->name, .unit = is_histogram ? "ns" : declared->unit, .kind = declared->kind};
}

/* Sets the rows of a kind of events: its histogram, then its counters in the order of enum
   bn_metric_kind. */
static void metrics_set_kind_rows(struct bn_metric *row, const struct bn_declared_kind *k)
{
  for (unsigned i = 0; i < BN_DECLARED_KIND_METRICS; i++) {
    const enum bn_metric_kind kind = (enum bn_metric_kind)(BN_EVENT_HISTOGRAM + i);

    row[i] = (struct bn_metric){.name = k->metric[i],
                                .unit = kind == BN_EVENT_HISTOGRAM ? "ns" : "1",
                                .kind = kind,
                                .of_events = true};
  }
}

/* Sets the indices of the first declared counter and histogram, and returns the number of the
   workload's metrics, which may be NULL.  A run numbers its counters in this order: those of every
   run, those of the workload, the declared ones.  It numbers its histograms in the same way. */
static size_t metrics_set_first_indices(struct bn_declarations *d, const struct bn_metric *workload)
{
  size_t n = 0;

  d->first_counter = BN_C_FIXED;
  d->first_hist = BN_H_FIXED;
  for (; workload != NULL && workload[n].name != NULL; n++) {
    if (workload[n].kind == BN_COUNTER)
      d->first_counter++;
    if (workload[n].kind == BN_HISTOGRAM)
      d->first_hist++;
  }
  return n;
}

void bn_declarations_close(struct bn_declarations *d, const struct bn_metric *workload)
{
  d->closed = true;
  if (d->n == 0 && d->n_kinds == 0)
    return;
  const size_t n_workload = metrics_set_first_indices(d, workload);
  const size_t n_rows = n_workload + d->n + d->n_kinds * BN_DECLARED_KIND_METRICS;
  struct bn_metric *row = bn_alloc(n_rows + 1, sizeof *row); /* the last row ends the table */

  d->table = row;
  for (size_t i = 0; i < n_workload; i++)
    *row++ = workload[i];
  for (unsigned i = 0; i < d->n; i++)
    *row++ = metrics_make_row(&d->row[i]);
  for (unsigned i = 0; i < d->n_kinds; i++, row += BN_DECLARED_KIND_METRICS)
    metrics_set_kind_rows(row, &d->kind[i]);
}

void bn_declarations_done(struct bn_declarations *d)
{
  free(d->table);
  d->table = NULL;
}

/* --- counting --------------------------------------------------------------------------------- */

/* The atomic counter is cast to a plain number, because compiled Lua code adds to it.  Other
   threads read its 64 bits at once, so they see no half-written number. */
uint64_t *bn_ffi_metric_counter(unsigned index)
{
  const struct bn_lua *lua = bn_lua_current();
  struct bn_declarations *d = &bn_instance_api()->declared;

  if (!lua->worker)
    return &d->main_count;
  return (uint64_t *)(uintptr_t)&lua->session->stat->counter[d->first_counter + index];
}

void bn_ffi_metric_record(unsigned index, double ns)
{
  const struct bn_lua *lua = bn_lua_current();
  /* A longer time, infinity and NaN count as 2^62 ns, which is beyond the range of histograms. */
  const uint64_t rounded_ns = ns < 0x1p62 ? (uint64_t)(ns + 0.5) : UINT64_C(1) << 62;

  if (lua->worker)
    bn_stat_record(lua->session->stat, bn_instance_api()->declared.first_hist + index, rounded_ns);
}

bool bn_ffi_event_next_of_kind(unsigned kind)
{
  struct bn_instance *in = bn_instance_current();

  bn_event_end_of_kind(in->lua.session, &in->tick, kind);
  return bn_event_begin(in->lua.session, &in->tick);
}

void bn_ffi_event_set_kind(unsigned kind)
{
  const struct bn_lua *lua = bn_lua_current();

  if (lua->worker)
    bn_event_set_kind(lua->session, kind);
}

unsigned bn_ffi_choose_workload(void)
{
  struct bn_instance *in = bn_instance_current();

  return bn_mix_choose(in->lua.vm->mix, &in->choice);
}
