/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report hooks of a script as one more reporter. */
#include "script/api/hooks.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "measure/facts.h"
#include "measure/view.h"
#include "option/conf.h"
#include "script/api/instance.h"
#include "script/vm/call.h"

/* Interval and checkpoint reports run in two instances, as in the reference, where two threads make
   them: what a hook of one keeps in globals does not show in the other. */
struct hooks {
  const struct bn_hooks_conf *conf;
  FILE *out;
  struct bn_instance *interval, *checkpoint;
  bool failed;
};

static int hooks_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  struct hooks *h = self;

  (void)path;
  (void)err;
  h->conf = conf;
  h->out = out;
  return 0;
}

static struct bn_instance *open_instance(struct hooks *h)
{
  const struct bn_api *api = h->conf->api;
  struct bn_instance *in = bn_instance_load(api->vm, api->main->lua.session->services->reporting);

  if (in != NULL)
    bn_lua_collect(&in->lua);
  else
    h->failed = true;
  return in;
}

static void hooks_starting(void *self, const struct bn_facts *f)
{
  struct hooks *h = self;

  if (h->conf->reporter.replaces == 0)
    return;
  if (f->plan.interval_ns > 0)
    h->interval = open_instance(h);
  if (f->plan.n_checkpoints > 0)
    h->checkpoint = open_instance(h);
}

static void set(lua_State *L, const char *name, double value)
{
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}

static void push_counters(lua_State *L, const struct bn_view *v)
{
  static const struct {
    const char *name;
    enum bn_counter counter;
  } counters[] = {{"reads", BN_C_READ},
                  {"writes", BN_C_WRITE},
                  {"other", BN_C_OTHER},
                  {"errors", BN_C_ERROR},
                  {"reconnects", BN_C_RECONNECT}};

  for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
    set(L, counters[i].name, (double)v->counter[counters[i].counter]);
}

/* Without events the percentile is the smallest value the reference knows. */
static double percentile(const struct bn_view *v)
{
  return v->events == 0 || v->n_percents == 0 ? 1e-06 : v->percentile_s[0];
}

/* Pushes sysbench.hooks[name]; true: it is a function, else nothing is pushed. */
static bool push_hook(struct bn_lua *lua, const char *name)
{
  lua_State *L = lua->L;

  bn_lua_push_field(lua, "hooks");
  if (lua_istable(L, -1)) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  if (lua_isfunction(L, -1))
    return true;
  lua_pop(L, 1);
  return false;
}

/* cumulative: with the latencies instead of the queue. */
static int report(struct bn_instance *in, const char *hook, const struct bn_view *v,
                  bool cumulative)
{
  if (in == NULL || !push_hook(&in->lua, hook))
    return 0;
  lua_State *L = in->lua.L;

  lua_createtable(L, 0, 16);
  set(L, "threads_running", v->running);
  set(L, "time_interval", v->span_s);
  set(L, "time_total", v->at_s);
  set(L, "latency_pct", percentile(v));
  set(L, "events", (double)v->events);
  push_counters(L, v);
  if (cumulative) {
    set(L, "latency_min", v->min_s);
    set(L, "latency_max", v->max_s);
    set(L, "latency_avg", v->avg_s);
    set(L, "latency_sum", v->sum_s);
  } else {
    set(L, "queue_length", (double)v->backlog);
    set(L, "concurrency", (double)v->concurrency);
  }
  return bn_lua_call(&in->lua, 1, 0, hook);
}

static int hooks_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct hooks *h = self;

  (void)err;
  return report(h->interval, "report_intermediate", v, false);
}

static int hooks_checkpoint(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct hooks *h = self;

  (void)err;
  return report(h->checkpoint, "report_cumulative", v, true);
}

static void hooks_ended(void *self)
{
  struct hooks *h = self;

  if (h->interval == NULL || !h->interval->json_open)
    return;
  (void)fputs("\n]\n", h->out);
  h->interval->json_open = false;
}

static int hooks_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct hooks *h = self;

  (void)err;
  return report(h->conf->api->main, "report_cumulative", v, true);
}

static int hooks_close(void *self, struct bn_err *err)
{
  struct hooks *h = self;

  bn_instance_close(h->interval);
  bn_instance_close(h->checkpoint);
  return h->failed ? bn_err_set(err, 0, "the script failed in the reporting thread") : 0;
}

void bn_hooks_fill(struct bn_hooks_conf *conf, const struct bn_api *api)
{
  conf->api = api;
  conf->reporter = (struct bn_reporter){.name = "script",
                                        .state_size = sizeof(struct hooks),
                                        .open = hooks_open,
                                        .starting = hooks_starting,
                                        .interval = hooks_interval,
                                        .checkpoint = hooks_checkpoint,
                                        .ended = hooks_ended,
                                        .total = hooks_total,
                                        .close = hooks_close};
}

static bool has_hook(struct bn_lua *lua, const char *name)
{
  const bool has = push_hook(lua, name);

  lua_pop(lua->L, has);
  return has;
}

void bn_hooks_complete(struct bn_hooks_conf *conf)
{
  struct bn_lua *lua = &conf->api->main->lua;

  if (has_hook(lua, "report_intermediate"))
    conf->reporter.replaces |= BN_REPLACES_INTERVAL;
  if (has_hook(lua, "report_cumulative"))
    conf->reporter.replaces |= BN_REPLACES_TOTAL;
}

int bn_hooks_json_next(lua_State *L)
{
  struct bn_instance *in = bn_instance_current();

  lua_pushboolean(L, in->json_open);
  in->json_open = true;
  return 1;
}

int bn_hooks_percentile(lua_State *L)
{
  const struct bn_conf *conf = bn_lua_current()->vm->setup->conf;

  lua_pushnumber(L, conf->n_percents > 0 ? conf->percents[0] : 0);
  (void)lua_tostring(L, -1);
  return 1;
}
