/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report hooks of a script as one more reporter. */
#include "script/api/hooks.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/units.h"
#include "measure/event_kinds.h"
#include "measure/facts.h"
#include "measure/layout.h"
#include "measure/view.h"
#include "option/conf.h"
#include "script/api/instance.h"
#include "script/setup.h"
#include "script/vm/call.h"

/* Interval and checkpoint reports run in two instances, because in the reference two threads make
   them: globals of a hook in one do not show in the other. */
struct hooks {
  const struct bn_hooks_conf *conf;
  FILE *out;                                 /* borrowed */
  struct bn_instance *interval, *checkpoint; /* NULL: not open */
  bool failed;                               /* an instance could not be opened */
};

/* Opens the reporter.  Its hooks print to `out`, or to standard error if the script does. */
static int hooks_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  struct hooks *h = self;

  (void)path;
  (void)err;
  h->conf = conf;
  h->out = h->conf->api->vm->setup->prints_apart ? bn_log_stream(true /* is_error */) : out;
  return 0;
}

/* Opens an instance for hooks.  Returns NULL after logging why it failed; hooks_close() then
   fails. */
static struct bn_instance *hooks_open_instance(struct hooks *h)
{
  const struct bn_api *api = h->conf->api;
  struct bn_instance *in = bn_instance_load(api->vm, api->main->lua.session->services->reporting);

  if (in != NULL)
    bn_lua_collect(&in->lua);
  else
    h->failed = true;
  return in;
}

/* Keeps the facts of the run for done(). */
static void hooks_begin(void *self, const struct bn_facts *f)
{
  const struct hooks *h = self;

  h->conf->api->kept.facts = f;
}

/* Opens the instances of the reports that the run makes, if the script has hooks. */
static void hooks_starting(void *self, const struct bn_facts *f)
{
  struct hooks *h = self;
  const bool has_hooks = h->conf->reporter.replaces != 0 || h->conf->reporter.add != NULL;

  if (!has_hooks)
    return;
  if (f->plan.interval_ns > 0)
    h->interval = hooks_open_instance(h);
  if (f->plan.n_checkpoints > 0)
    h->checkpoint = hooks_open_instance(h);
}

/* Sets a field of the table on top to a number.  A statistic without values is NaN and becomes 0,
   because scripts compute with it. */
static void hooks_set_number(lua_State *L, const char *name, double value)
{
  lua_pushnumber(L, isnan(value) ? 0 : value);
  lua_setfield(L, -2, name);
}

/* Returns a percentile of a histogram in seconds, and not the nearest step of sysbench's grid. */
static double hooks_find_percentile_s(const struct bn_hist *h, double rank)
{
  return bn_view_hist_percentile_s(h, rank, false /* nearest */);
}

/* Returns percentile i of the latencies of finished events.  Without events or percentiles, returns
   the value that sysbench shows then. */
static double hooks_get_percentile_s(const struct bn_view *v, size_t i)
{
  static const double smallest_s = 1e-6; /* where sysbench's histogram begins */

  if (v->events == 0 || i >= v->n_percents)
    return smallest_s;
  /* If an event has not ended, the view's own percentiles count its age too. */
  return v->max_at_least ? hooks_find_percentile_s(v->latency, v->percents[i]) : v->percentile_s[i];
}

/* Returns the largest latency of the finished events.  If an event has not ended, the view's own
   maximum counts its age too. */
static double hooks_get_max_s(const struct bn_view *v)
{
  return v->max_at_least ? hooks_find_percentile_s(v->latency, 100) : v->max_s;
}

/* Sets item i of the list on top to a table with the fields rank and latency, or with rank alone if
   the latency is not known. */
static void hooks_set_percentile(lua_State *L, const struct bn_view *v, size_t i, bool is_known,
                                 double latency_s)
{
  lua_createtable(L, 0, 2);
  hooks_set_number(L, "rank", v->percents[i]);
  if (is_known)
    hooks_set_number(L, "latency", latency_s);
  lua_rawseti(L, -2, (int)i + 1);
}

/* Pushes a list of the percentiles, in the order of the view.  Without events, latencies are not
   known; if not is_native, in a dialect, they are then the value that sysbench shows. */
static void hooks_push_percentiles(lua_State *L, const struct bn_view *v, bool is_native)
{
  const bool are_known = v->events > 0 || !is_native;

  lua_createtable(L, (int)v->n_percents, 0);
  for (size_t i = 0; i < v->n_percents; i++)
    hooks_set_percentile(L, v, i, are_known, hooks_get_percentile_s(v, i));
}

/* Pushes a table of the counters that the script has declared, by name. */
static void hooks_push_counts(lua_State *L, const struct bn_view *v)
{
  lua_createtable(L, 0, (int)v->n_counts);
  for (size_t i = 0; i < v->n_counts; i++)
    hooks_set_number(L, v->counts[i].name, (double)v->counts[i].count);
}

/* Pushes a list of the percentiles of a kind of events, in the order of the view.  Without events
   of the kind there are no latencies. */
static void hooks_push_kind_percentiles(lua_State *L, const struct bn_view *v,
                                        const struct bn_timing *t)
{
  const size_t n = t->percentile_s != NULL ? v->n_percents : 0;

  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++)
    hooks_set_percentile(L, v, i, t->count > 0, t->percentile_s[i]);
}

/* Returns the 90th percentile of kind k of events, or NaN if it is not known.  It does not depend
   on --percentile, because rules of benchmarks always ask for this rank. */
static double hooks_get_kind_p90_s(const struct bn_view *v, size_t k)
{
  struct bn_event_kind_rows rows;

  if (!bn_event_kinds_find_rows(&v->delta->metrics, k, &rows))
    return NAN;
  if (v->event_kinds[k].timing->count == 0)
    return NAN;
  return hooks_find_percentile_s(v->delta->hist[rows.hist], 90);
}

/* Pushes a table of the kinds of events, by name. */
static void hooks_push_event_kinds(lua_State *L, const struct bn_view *v)
{
  lua_createtable(L, 0, (int)v->n_event_kinds);
  for (size_t k = 0; k < v->n_event_kinds; k++) {
    const struct bn_event_kind *kind = &v->event_kinds[k];

    lua_createtable(L, 0, 8);
    for (const struct bn_layout *l = bn_layout_event_kind; l->name != NULL; l++) {
      double value = 0;

      (void)bn_layout_get_number(bn_layout_event_kind, kind, l->name, &value);
      hooks_set_number(L, l->name, value);
    }
    hooks_set_number(L, "latency_avg", kind->timing->avg_s);
    hooks_set_number(L, "latency_p90", hooks_get_kind_p90_s(v, k));
    hooks_set_number(L, "latency_max", kind->timing->max_s);
    hooks_push_kind_percentiles(L, v, kind->timing);
    lua_setfield(L, -2, "percentiles");
    lua_setfield(L, -2, kind->name);
  }
}

/* Adds to the table on top fields that the reference does not have.  They are in its __index, so
   that pairs() shows only the reference's fields, and scripts that print all fields go on
   working. */
static void hooks_add_native_fields(lua_State *L, const struct bn_view *v, bool is_native)
{
  lua_createtable(L, 0, 1); /* the metatable */
  lua_createtable(L, 0, 3); /* its __index */
  hooks_push_percentiles(L, v, is_native);
  lua_setfield(L, -2, "percentiles");
  hooks_push_counts(L, v);
  lua_setfield(L, -2, "counts");
  hooks_push_event_kinds(L, v);
  lua_setfield(L, -2, "event_kinds");
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

/* Pushes sysbench.hooks[name] if it is a function, else pushes nothing and returns false. */
static bool hooks_push_function(struct bn_lua *lua, const char *name)
{
  bn_lua_push_field(lua, "hooks");
  bn_lua_replace_by_entry(lua->L, name);
  if (lua_isfunction(lua->L, -1))
    return true;
  lua_pop(lua->L, 1);
  return false;
}

/* Pushes the table of statistics that a hook gets.  For a cumulative report it has the latencies of
   the run; for an interval it has the queue and the concurrency in their place. */
static void hooks_push_statistics(const struct bn_lua *lua, const struct bn_view *v)
{
  const struct bn_conf *conf = lua->vm->setup->conf;
  const bool is_native = bn_policy_is_native(conf->policy);
  const bool is_cumulative = v->span != BN_VIEW_INTERVAL;
  const bool has_ended = is_cumulative && v->running == 0;
  lua_State *L = lua->L;

  lua_createtable(L, 0, 16);
  /* At the end sysbench shows that no thread runs; bench shows the threads of the run. */
  hooks_set_number(L, "threads_running", is_native && has_ended ? conf->plan.threads : v->running);
  hooks_set_number(L, "time_interval", v->span_s);
  hooks_set_number(L, "time_total", v->at_s);
  hooks_set_number(L, "latency_pct", hooks_get_percentile_s(v, 0));
  hooks_set_number(L, "events", (double)v->events);
  hooks_set_number(L, "reads", (double)v->reads);
  hooks_set_number(L, "writes", (double)v->writes);
  hooks_set_number(L, "other", (double)v->other);
  hooks_set_number(L, "errors", (double)v->errors);
  hooks_set_number(L, "reconnects", (double)v->reconnects);
  if (is_cumulative) {
    hooks_set_number(L, "latency_min", v->min_s);
    hooks_set_number(L, "latency_max", hooks_get_max_s(v));
    hooks_set_number(L, "latency_avg", v->avg_s);
    hooks_set_number(L, "latency_sum", v->sum_s);
  } else {
    hooks_set_number(L, "queue_length", (double)v->backlog);
    hooks_set_number(L, "concurrency", (double)v->concurrency);
  }
  hooks_add_native_fields(L, v, is_native);
}

/* Calls a hook with the statistics of the view.  Returns 1 with its results on the stack; 0 if the
   script has no such hook, or `in` is NULL; or -1 if it has failed, which has been logged: the
   reporter's err stays empty, so as not to repeat it. */
static int hooks_call(struct bn_instance *in, const char *hook, int nresults,
                      const struct bn_view *v)
{
  if (in == NULL || !hooks_push_function(&in->lua, hook))
    return 0;
  hooks_push_statistics(&in->lua, v);
  return bn_lua_call(&in->lua, 1, nresults, hook) == 0 ? 1 : -1;
}

/* --- lines that a hook adds ------------------------------------------------------------------- */

/* Appends a text as whole lines: the last one gets a newline if it has none.  Escapes them, because
   a terminal may show them.  Returns 0, or -1 if they exceed the maximum of the buffer. */
static int hooks_append_text(struct bn_buf *out, const char *text)
{
  static const char kept[] = "\n\t"; /* bn_escape() would escape these too */
  const size_t len = bn_escape(NULL, 0, text, kept);

  if (len == 0)
    return 0;
  if (bn_buf_reserve(out, len + 1) != 0)
    return -1;
  (void)bn_escape(out->data + out->len, len + 1, text, kept);
  out->len += len;
  return out->data[out->len - 1] == '\n' ? 0 : bn_buf_char(out, '\n');
}

/* Appends the value on top of the stack, which must be a string.  Returns 0, or -1 and err. */
static int hooks_append_string(lua_State *L, const char *hook, struct bn_buf *out,
                               struct bn_err *err)
{
  if (lua_type(L, -1) != LUA_TSTRING)
    return bn_err_set(
        err, 0, "sysbench.hooks.%s: the result must be a string, a list of strings or nil", hook);
  if (hooks_append_text(out, lua_tostring(L, -1)) != 0)
    return bn_err_set(err, 0, "sysbench.hooks.%s: the lines have more than %d bytes", hook,
                      BN_LINES_MAX);
  return 0;
}

/* Pops the result of a hook and appends its lines: a string, or the strings of a list.  nil adds
   nothing.  Returns 0, or -1 and err. */
static int hooks_append_result(lua_State *L, const char *hook, struct bn_buf *out,
                               struct bn_err *err)
{
  int rc = 0;

  if (lua_istable(L, -1)) {
    for (int i = 1; i <= (int)lua_objlen(L, -1) && rc == 0; i++) {
      lua_rawgeti(L, -1, i);
      rc = hooks_append_string(L, hook, out, err);
      lua_pop(L, 1);
    }
  } else if (!lua_isnil(L, -1)) {
    rc = hooks_append_string(L, hook, out, err);
  }
  lua_pop(L, 1);
  return rc;
}

/* Returns the field of that name in the table on top, or 0 if it is not in 1 .. UINT_MAX - 1. */
static unsigned hooks_get_count(lua_State *L, const char *name)
{
  lua_getfield(L, -1, name);
  const double n = lua_tonumber(L, -1); /* 0 if it is no number */

  lua_pop(L, 1);
  return n > 0 && n < UINT_MAX ? (unsigned)n : 0;
}

/* Appends the lines of the proof sheet that the hook `prove` returns, and tells the run how many
   lines have which verdict.  Returns 0, or -1 and err, which is empty if the reason has been
   logged. */
static int hooks_prove(struct bn_instance *in, const struct bn_view *v, struct bn_buf *out,
                       struct bn_err *err)
{
  const struct bn_services *services = in->lua.session->services;
  lua_State *L = in->lua.L;
  const int rc = hooks_call(in, "prove", 1, v);

  if (rc <= 0)
    return rc;
  if (!lua_istable(L, -1)) {
    lua_pop(L, 1);
    return bn_err_set(err, 0,
                      "sysbench.hooks.prove: the result must be a list of strings with the numbers "
                      "lines, violated, unchecked and undecided");
  }
  const struct bn_proof proof = {.lines = hooks_get_count(L, "lines"),
                                 .violated = hooks_get_count(L, "violated"),
                                 .unchecked = hooks_get_count(L, "unchecked"),
                                 .undecided = hooks_get_count(L, "undecided")};

  services->prove(services->of, &proof);
  return hooks_append_result(L, "prove", out, err);
}

/* Returns the instance whose hooks report a view of this span; NULL: it is not open. */
static struct bn_instance *hooks_get_instance(const struct hooks *h, enum bn_view_span span)
{
  switch (span) {
  case BN_VIEW_INTERVAL:
    return h->interval;
  case BN_VIEW_CHECKPOINT:
    return h->checkpoint;
  default: /* BN_VIEW_TOTAL */
    return h->conf->api->main;
  }
}

/* Implements bn_reporter.add: appends the lines of the hooks for a view of this span.  err is empty
   if the reason of a failure has been logged. */
static int hooks_add(void *self, const struct bn_view *v, struct bn_buf *out, struct bn_err *err)
{
  struct bn_instance *in = hooks_get_instance(self, v->span);
  const char *hook = v->span == BN_VIEW_INTERVAL ? "add_to_intermediate" : "add_to_cumulative";

  const int rc = hooks_call(in, hook, 1, v);

  if (rc < 0 || (rc > 0 && hooks_append_result(in->lua.L, hook, out, err) != 0))
    return -1;
  return v->span == BN_VIEW_TOTAL ? hooks_prove(in, v, out, err) : 0;
}

/* --- the reporter ----------------------------------------------------------------------------- */

/* Reports an interval, a checkpoint or the total: keeps a copy of the view for done(), and calls
   the hook that prints such views in place of the text report, unless the process is a part of a
   run on several hosts.  The same hook prints checkpoints and the total, so the bit of the total
   says whether the script has it.  Returns 0, or -1 if the hook has failed, which has been logged:
   err stays empty. */
static int hooks_report(void *self, const struct bn_view *v, struct bn_err *err)
{
  const struct hooks *h = self;
  struct bn_api *api = h->conf->api;
  const bool is_interval = v->span == BN_VIEW_INTERVAL;
  const char *hook = is_interval ? "report_intermediate" : "report_cumulative";
  const unsigned bit = is_interval ? BN_REPLACES_INTERVAL : BN_REPLACES_TOTAL;
  struct bn_view kept = *v;

  (void)err;
  kept.replaced = (h->conf->reporter.replaces & bit) != 0;
  bn_script_results_add(&api->kept, api->title, &kept);
  if (api->vm->setup->is_part)
    return 0;
  return hooks_call(hooks_get_instance(h, v->span), hook, 0, v) < 0 ? -1 : 0;
}

/* Ends the array that sysbench.report_json has begun to print in an instance, if any.  The instance
   may be NULL. */
static void hooks_end_json(const struct hooks *h, struct bn_instance *in)
{
  if (in == NULL || !in->json_open)
    return;
  (void)fputs("\n]\n", h->out);
  in->json_open = false;
}

/* Ends the arrays of the two instances, after the last interval and checkpoint. */
static void hooks_ended(void *self)
{
  const struct hooks *h = self;

  hooks_end_json(h, h->interval);
  hooks_end_json(h, h->checkpoint);
}

/* Closes the instances.  Returns 0, or -1 and err if one of them could not be opened. */
static int hooks_close(void *self, struct bn_err *err)
{
  struct hooks *h = self;

  /* The array ends after the output of done(), as in sysbench. */
  hooks_end_json(h, h->conf->api->main);
  bn_instance_close(h->interval);
  bn_instance_close(h->checkpoint);
  return h->failed ? bn_err_set(err, 0, "the script failed in the reporting thread") : 0;
}

void bn_hooks_init(struct bn_hooks_conf *conf, struct bn_api *api)
{
  conf->api = api;
  conf->reporter = (struct bn_reporter){.name = "script",
                                        .state_size = sizeof(struct hooks),
                                        .aside = true,
                                        .open = hooks_open,
                                        .begin = hooks_begin,
                                        .starting = hooks_starting,
                                        .interval = hooks_report,
                                        .checkpoint = hooks_report,
                                        .ended = hooks_ended,
                                        .total = hooks_report,
                                        .close = hooks_close};
}

static bool hooks_has(struct bn_lua *lua, const char *name)
{
  if (!hooks_push_function(lua, name))
    return false;
  lua_pop(lua->L, 1);
  return true;
}

/* Logs, in `run` on the first host, that hooks are not called: each host would print its own
   figures, and no host the sum. */
static void hooks_log_ignored(const struct bn_script_setup *setup)
{
  if (setup->is_first && setup->command != NULL && strcmp(setup->command, "run") == 0)
    bn_log_stderr("the hooks of the script that print reports or add to them (sysbench.hooks) are "
                  "not called in a run on several hosts: bench prints its own reports");
}

/* Returns the bits for bn_reporter.replaces of the hooks that the script has. */
static unsigned hooks_find_replaced(struct bn_lua *lua)
{
  unsigned replaces = 0;

  if (hooks_has(lua, "report_intermediate"))
    replaces |= BN_REPLACES_INTERVAL;
  if (hooks_has(lua, "report_cumulative"))
    replaces |= BN_REPLACES_TOTAL;
  return replaces;
}

bool bn_hooks_complete(struct bn_hooks_conf *conf)
{
  struct bn_lua *lua = &conf->api->main->lua;
  const bool is_native = bn_policy_is_native(lua->vm->setup->conf->policy);
  const bool proves = is_native && hooks_has(lua, "prove");
  const bool adds_lines =
      is_native && (hooks_has(lua, "add_to_intermediate") || hooks_has(lua, "add_to_cumulative"));
  const unsigned replaces = hooks_find_replaced(lua);

  if (is_native) {
    conf->reporter.facts = bn_lua_has_function(lua, "done");
    conf->api->kept.wanted = conf->reporter.facts;
  }
  /* A part of a run on several hosts calls no hooks that print reports or add to them: another
     process prints the reports. */
  if (lua->vm->setup->is_part) {
    if (proves || adds_lines || replaces != 0)
      hooks_log_ignored(lua->vm->setup);
    return false;
  }
  conf->reporter.replaces = replaces;
  if (proves || adds_lines)
    conf->reporter.add = hooks_add;
  return proves;
}

int bn_hooks_json_next(lua_State *L)
{
  struct bn_instance *in = bn_instance_current();

  lua_pushboolean(L, in->json_open);
  in->json_open = true;
  return 1;
}

int bn_hooks_push_percentile_rank(lua_State *L)
{
  const struct bn_conf *conf = bn_lua_current()->vm->setup->conf;

  lua_pushnumber(L, conf->plan.n_percents > 0 ? conf->plan.percents[0] : 0);
  (void)lua_tostring(L, -1); /* turns the number into a text in place */
  return 1;
}

int bn_hooks_format_latency(lua_State *L)
{
  const double ms = luaL_checknumber(L, 1);
  const bool is_native = bn_policy_is_native(bn_lua_current()->vm->setup->conf->policy);
  const int decimals = is_native ? bn_units_count_decimals(ms, 2) : 2; /* 2: as in sysbench */
  char text[400]; /* the largest double has 309 digits */

  (void)snprintf(text, sizeof text, "%.*f", decimals, ms);
  lua_pushstring(L, text);
  return 1;
}
