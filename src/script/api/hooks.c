/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report hooks of a script as one more reporter. */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "engine/run.h"
#include "option/conf.h"
#include "script/api/options.h"
#include "script/vm/state.h"

/* Interval and checkpoint reports run in two instances, as in the reference, where two threads make
   them: what a hook of one keeps in globals does not show in the other. */
struct hooks {
  struct bn_script *script;
  FILE *out;
  struct bn_lua *interval, *checkpoint;
  bool failed;
};

static int hooks_open(void *self, const void *conf, FILE *out, struct bn_err *err)
{
  const struct bn_hooks_conf *c = conf;
  struct hooks *h = self;

  (void)err;
  h->script = c->script;
  h->out = out;
  return 0;
}

static struct bn_lua *open_instance(struct hooks *h)
{
  struct bn_session *s = h->script->main->session->services->reporting;
  struct bn_lua *lua = bn_lua_open(h->script, s, s->id, true);

  if (lua != NULL && bn_lua_load(lua) == 0 && bn_options_export(lua) == 0) {
    bn_lua_collect(lua);
    return lua;
  }
  bn_lua_close(lua);
  h->failed = true;
  return NULL;
}

static void hooks_starting(void *self, const struct bn_run *run)
{
  const struct bn_conf *conf = bn_run_conf(run);
  struct hooks *h = self;

  if (h->script->reporter.replaces == 0)
    return;
  if (conf->interval_ns > 0)
    h->interval = open_instance(h);
  if (conf->n_checkpoints > 0)
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

/* cumulative: with the latencies instead of the queue. */
static int report(struct bn_lua *lua, const char *hook, const struct bn_view *v, bool cumulative)
{
  if (lua == NULL || !bn_lua_push_hook(lua, hook))
    return 0;
  lua_State *L = lua->L;

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
  return bn_lua_call(lua, 1, 0, hook);
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
  return report(h->script->main, "report_cumulative", v, true);
}

static int hooks_close(void *self, struct bn_err *err)
{
  struct hooks *h = self;

  bn_lua_close(h->interval);
  bn_lua_close(h->checkpoint);
  return h->failed ? bn_err_set(err, 0, "the script failed in the reporting thread") : 0;
}

void bn_hooks_fill(struct bn_script *sc)
{
  sc->reporter_conf.script = sc;
  sc->reporter = (struct bn_reporter){.name = "script",
                                      .state_size = sizeof(struct hooks),
                                      .open = hooks_open,
                                      .starting = hooks_starting,
                                      .interval = hooks_interval,
                                      .checkpoint = hooks_checkpoint,
                                      .ended = hooks_ended,
                                      .total = hooks_total,
                                      .close = hooks_close};
}

void bn_hooks_complete(struct bn_script *sc)
{
  if (bn_lua_push_hook(sc->main, "report_intermediate")) {
    lua_pop(sc->main->L, 1);
    sc->reporter.replaces |= BN_REPLACES_INTERVAL;
  }
  if (bn_lua_push_hook(sc->main, "report_cumulative")) {
    lua_pop(sc->main->L, 1);
    sc->reporter.replaces |= BN_REPLACES_TOTAL;
  }
}
