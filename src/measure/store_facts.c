/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the facts of a document; reads the facts, the assertions and the end. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/near.h"
#include "measure/bounds.h"
#include "measure/json_read.h"
#include "measure/json_write.h"
#include "measure/layout.h"
#include "measure/store.h"

/* --- writing ---------------------------------------------------------------------------------- */

/* These return a part of the facts as a value. */

static struct bn_node *store_plan_of(const struct bn_plan *plan)
{
  struct bn_node *map = bn_node_map(), *checkpoints = bn_node_list(), *percents = bn_node_list();

  bn_json_put(map, "dialect", bn_node_text(bn_layout_dialects[plan->version]));
  /* "own" says that the run is in bench's own form.  A run in a dialect leaves it out. */
  if (plan->native)
    bn_json_put(map, "own", bn_node_boolean(true));
  bn_json_layout(map, bn_layout_plan, plan, false /* brief */);
  for (size_t i = 0; i < plan->n_checkpoints; i++)
    bn_json_add(checkpoints, bn_node_u64(plan->checkpoint_ns[i]));
  bn_json_put(map, "checkpoint_ns", checkpoints);
  for (size_t i = 0; i < plan->n_percents; i++)
    bn_json_add(percents, bn_node_f64(plan->percents[i]));
  bn_json_put(map, "percents", percents);
  return map;
}

static struct bn_node *store_rows_of(const struct bn_facts *f)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < f->n_rows; i++) {
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "level", bn_node_integer(f->row[i].level));
    bn_json_put(map, "text", bn_node_text(f->row[i].text));
    bn_json_add(list, map);
  }
  return list;
}

/* Leaves out the value of a secret, and the traits of an option if they are not known, because it
   was read from a document without them. */
static struct bn_node *store_options_of(const struct bn_facts *f)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < f->n_options; i++) {
    const struct bn_fact_option *o = &f->option[i];
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "name", bn_node_text(o->name));
    bn_json_put(map, "group", bn_node_text(o->group));
    bn_json_put(map, "value", bn_node_text(o->secret ? NULL : o->value));
    bn_json_put(map, "origin", bn_node_text(bn_layout_origins[o->origin]));
    if (o->secret)
      bn_json_put(map, "secret", bn_node_boolean(true));
    if ((o->traits & BN_OPT_UNTOLD) == 0)
      bn_json_names(map, "traits", bn_layout_traits, o->traits);
    bn_json_add(list, map);
  }
  return list;
}

static struct bn_node *store_messages_of(const struct bn_facts *f)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < f->n_messages; i++) {
    const struct bn_fact_message *m = &f->message[i];
    struct bn_node *map = bn_node_map();

    bn_json_put(map, "wall_ns", bn_node_u64(m->wall_ns));
    bn_json_put(map, "level", bn_node_text(bn_layout_levels[m->level]));
    bn_json_put(map, "text", bn_node_text(m->text));
    bn_json_put(map, "times", bn_node_u64(m->times));
    bn_json_add(list, map);
  }
  return list;
}

static struct bn_node *store_value_of(const struct bn_fact *fact)
{
  switch (fact->type) {
  case BN_FACT_TEXT:
    return bn_node_text(fact->text);
  case BN_FACT_WHOLE:
    return bn_node_integer(fact->whole);
  case BN_FACT_REAL:
    return bn_node_f64(fact->real);
  }
  return NULL;
}

/* Puts a map for each section, in the order in which the sections appear first.  Whether a section
   is new is asked of the facts, not of `map`: bn_json_put() may change names that are not ASCII. */
static void store_put_sections(struct bn_node *map, const struct bn_facts *f)
{
  for (size_t i = 0; i < f->n_facts; i++) {
    const char *name = f->fact[i].section;
    struct bn_node *section;

    if (!bn_facts_begins_section(f, i))
      continue;
    section = bn_node_map();
    for (size_t k = i; k < f->n_facts; k++)
      if (strcmp(f->fact[k].section, name) == 0)
        bn_json_put(section, f->fact[k].key, store_value_of(&f->fact[k]));
    bn_json_put(map, name, section);
  }
}

struct bn_node *bn_store_facts(const struct bn_facts *f)
{
  struct bn_node *map = bn_node_map(), *times = bn_node_map();

  bn_json_put(map, "plan", store_plan_of(&f->plan));
  bn_json_layout(times, bn_layout_times, f, false /* brief */);
  bn_json_put(map, "times", times);
  bn_json_put(map, "rows", store_rows_of(f));
  bn_json_put(map, "options", store_options_of(f));
  if (f->n_messages > 0)
    bn_json_put(map, "messages", store_messages_of(f));
  store_put_sections(map, f);
  return map;
}

/* --- reading ---------------------------------------------------------------------------------- */

enum { DECIMALS_MAX = 9 }; /* of the time of an interval: ns */

/* These read a part of the facts.  They refuse malformed values by bn_json_in_refuse(). */

/* Reads the plan.  A document without a plan is refused. */
static void store_read_plan(struct bn_json_in *in, const struct bn_node *map, struct bn_plan *plan)
{
  const struct bn_node *checkpoints = bn_json_in_list(in, map, "checkpoint_ns");
  const struct bn_node *percents = bn_json_in_list(in, map, "percents");

  if (map == NULL) {
    bn_json_in_refuse(in, "it has no 'plan'");
    return;
  }
  plan->version = (enum bn_version)bn_json_in_name(in, map, "dialect", bn_layout_dialects);
  plan->native = bn_json_in_bool(in, map, "own");
  bn_json_in_layout(in, map, bn_layout_plan, plan);
  if (plan->interval_decimals < 0 || plan->interval_decimals > DECIMALS_MAX)
    bn_json_in_refuse(in, "'interval_decimals' is not between 0 and %d", DECIMALS_MAX);
  plan->n_checkpoints = bn_json_in_length(in, checkpoints, "checkpoint_ns", BN_CHECKPOINTS_MAX);
  for (size_t i = 0; i < plan->n_checkpoints; i++)
    plan->checkpoint_ns[i] =
        bn_json_in_read_count(in, bn_node_get_at(checkpoints, i), "checkpoint_ns");
  plan->n_percents = bn_json_in_length(in, percents, "percents", BN_PERCENTS_MAX);
  for (size_t i = 0; i < plan->n_percents; i++)
    plan->percents[i] = bn_json_in_read_number(in, bn_node_get_at(percents, i), "percents");
}

/* Reads the rows of the heading.  A row without a text is empty. */
static void store_read_rows(struct bn_json_in *in, const struct bn_node *list, struct bn_facts *f)
{
  const size_t n = bn_json_in_length(in, list, "rows", BN_BOUND_ROWS);

  for (size_t i = 0; i < n; i++) {
    const struct bn_node *row = bn_node_get_at(list, i);
    const char *text = bn_json_in_text(in, row, "text");
    const int level = (int)bn_json_in_signed(in, row, "level", 0, INT_MAX);

    bn_facts_add_row(f, level, "%s", text != NULL ? text : "");
  }
}

/* Returns the traits of an option that this version knows, or BN_OPT_UNTOLD if the document does
   not have traits. */
static unsigned store_read_traits(struct bn_json_in *in, const struct bn_node *option)
{
  const struct bn_node *list = bn_json_in_list(in, option, "traits");
  unsigned traits = list != NULL ? 0 : BN_OPT_UNTOLD;

  for (size_t i = 0; i < bn_node_count(list); i++)
    traits |= bn_layout_find_trait(bn_node_get_text(bn_node_get_at(list, i)));
  return traits;
}

/* Reads the options, each of which has a name. */
static void store_read_options(struct bn_json_in *in, const struct bn_node *list,
                               struct bn_facts *f)
{
  const size_t n = bn_json_in_length(in, list, "options", BN_BOUND_OPTIONS);

  for (size_t i = 0; i < n; i++) {
    const struct bn_node *o = bn_node_get_at(list, i);
    const struct bn_opt_fact option = {
        .name = bn_json_in_text(in, o, "name"),
        .group = bn_json_in_text(in, o, "group"),
        .origin = (enum bn_origin)bn_json_in_name(in, o, "origin", bn_layout_origins),
        .traits = store_read_traits(in, o),
        .secret = bn_json_in_bool(in, o, "secret"),
        .text = bn_json_in_text(in, o, "value")};

    if (option.name == NULL) {
      bn_json_in_refuse(in, "an option has no 'name'");
      return;
    }
    bn_facts_add_option(f, &option);
  }
}

/* Reads the messages that were logged.  A message without a text is empty. */
static void store_read_messages(struct bn_json_in *in, const struct bn_node *list,
                                struct bn_facts *f)
{
  const size_t n = bn_json_in_length(in, list, "messages", BN_BOUND_MESSAGES);

  for (size_t i = 0; i < n; i++) {
    const struct bn_node *m = bn_node_get_at(list, i);
    const char *text = bn_json_in_text(in, m, "text");

    bn_facts_add_message(f, bn_json_in_get_count(in, m, "wall_ns"),
                         (int)bn_json_in_name(in, m, "level", bn_layout_levels),
                         text != NULL ? text : "", bn_json_in_get_count(in, m, "times"));
  }
}

/* A section of facts while it is read. */
struct section {
  struct bn_json_in *in;
  struct bn_facts *facts;
  const char *name;
};

/* Reads a fact of a section.  A value of another type is from a later version, and left out.
   Returns -1 if there are too many facts, which ends the reading. */
static int store_read_fact(void *arg, const char *key, const struct bn_node *value)
{
  const struct section *s = arg;

  if (s->facts->n_facts == BN_BOUND_FACTS) {
    bn_json_in_refuse(s->in, "'facts' has more than %d facts", BN_BOUND_FACTS);
    return -1;
  }
  switch (bn_node_type_of(value)) {
  case BN_NODE_TEXT:
    bn_facts_set_text(s->facts, s->name, key, bn_node_get_text(value));
    break;
  case BN_NODE_INT:
    bn_facts_set_whole(s->facts, s->name, key, bn_node_get_integer(value));
    break;
  case BN_NODE_REAL:
    bn_facts_set_real(s->facts, s->name, key, bn_node_get_real(value));
    break;
  default:
    break;
  }
  return 0;
}

/* Reads a member of the facts if it is a section.  Returns as store_read_fact(). */
static int store_read_section(void *arg, const char *key, const struct bn_node *value)
{
  static const char *const no_sections[] = {"plan", "times", "rows", "options", "messages", NULL};
  struct section *s = arg;

  if (bn_near_find(no_sections, key) >= 0)
    return 0;
  s->name = key;
  return bn_node_each(value, store_read_fact, s);
}

int bn_store_read_facts(const struct bn_node *n, struct bn_facts *out, struct bn_err *err)
{
  struct bn_json_in in = {.err = err};
  struct section section = {.in = &in, .facts = out};

  memset(out, 0, sizeof *out);
  store_read_plan(&in, bn_json_in_map(&in, n, "plan"), &out->plan);
  bn_json_in_layout(&in, bn_json_in_map(&in, n, "times"), bn_layout_times, out);
  store_read_rows(&in, bn_json_in_list(&in, n, "rows"), out);
  store_read_options(&in, bn_json_in_list(&in, n, "options"), out);
  store_read_messages(&in, bn_json_in_list(&in, n, "messages"), out);
  (void)bn_node_each(n, store_read_section, &section); /* `in` has the fault, if any */
  if (in.failed)
    bn_facts_done(out);
  return bn_json_in_verdict(&in);
}

int bn_store_read_assertions(const struct bn_node *n, struct bn_facts *out, struct bn_err *err)
{
  struct bn_json_in in = {.err = err};
  const size_t rows = bn_json_in_length(&in, n, "assertions", BN_BOUND_ASSERTIONS);

  for (size_t i = 0; i < rows && !in.failed; i++) {
    const struct bn_node *row = bn_node_get_at(n, i);
    const char *text = bn_json_in_text(&in, row, "text"), *unit = bn_json_in_text(&in, row, "unit");
    struct bn_finding f = {.value = bn_json_in_get_number(&in, row, "value"),
                           .at_least = bn_json_in_bool(&in, row, "at_least"),
                           .holds = bn_json_in_bool(&in, row, "holds"),
                           .ended_run = bn_json_in_bool(&in, row, "ended_run")};

    f.measured = isfinite(f.value); /* null is read as HUGE_VAL */
    f.value = f.measured ? f.value : 0;
    if (text == NULL || unit == NULL)
      bn_json_in_refuse(&in, "an assertion has no 'text' or no 'unit'");
    else
      bn_facts_add_verdict(out, text, unit, &f);
  }
  return bn_json_in_verdict(&in);
}

int bn_store_read_end(const struct bn_node *n, struct bn_end *out, struct bn_err *err)
{
  struct bn_json_in in = {.err = err};
  const int reason = bn_near_find(bn_layout_reasons, bn_json_in_text(&in, n, "reason"));

  bn_json_in_layout(&in, n, bn_layout_end, out);
  out->reason = reason >= 0 ? (enum bn_end_reason)reason : BN_END_UNKNOWN;
  return bn_json_in_verdict(&in);
}
