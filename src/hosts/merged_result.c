/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums the results of hosts. */
#include "hosts/merged_result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/mask.h"
#include "measure/merge.h"
#include "measure/merge_check.h"

/* Clocks are taken to drift apart by a thousandth of the time at most. */
enum { DRIFT_PARTS = 1000 };

/* An agent that hears nothing for longer has ended. */
static const uint64_t shift_max_ns = 8 * BN_NSEC_PER_SEC;

/* --- times ------------------------------------------------------------------------------------ */

static double merged_seconds_between(uint64_t from_ns, uint64_t to_ns)
{
  return (double)(int64_t)(to_ns - from_ns) * 1e-9;
}

/* Converts the times of a part, which has a total, to the clock here.  Times of day follow from the
   monotonic clocks, whose offsets are known. */
static void merged_put_on_clock(struct bn_merged_result_part *p,
                                const struct bn_merged_result_start *start)
{
  struct bn_facts *f = &p->result->facts;
  const uint64_t begun_ns = bn_clock_sync_here(&p->clock, f->start_ns);
  const uint64_t wall_ns = start->wall_ns + (begun_ns - start->mono_ns);
  const uint64_t later_ns = wall_ns - f->start_wall_ns; /* modulo 2^64 */

  p->member.start_lag_s = merged_seconds_between(start->mono_ns, begun_ns);
  for (size_t i = 0; i < p->result->n_groups; i++) {
    struct bn_snap *s = &p->result->group[i].total.delta;

    s->at_ns = bn_clock_sync_here(&p->clock, s->at_ns);
    s->wall_ns += later_ns;
  }
  f->start_ns = begun_ns;
  f->start_wall_ns = wall_ns;
  f->end_wall_ns =
      f->end_wall_ns != 0 ? f->end_wall_ns + later_ns : p->result->group[0].total.delta.wall_ns;
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Returns whether the result has the controller's value of an option, not that of the hosts. */
static bool merged_is_of_controller(unsigned traits)
{
  return (traits & (BN_OPT_PER_HOST | BN_OPT_CONTROLLER_ONLY)) != 0;
}

static bool merged_is_not_of_hosts(const struct bn_optset *options, const struct bn_fact_option *o)
{
  (void)options;
  return merged_is_of_controller(o->traits);
}

/* Options of the command line, and others that this process knows, are added with their values
   outside of the groups. */
static bool merged_is_not_of_groups(const struct bn_optset *options, const struct bn_fact_option *o)
{
  return o->origin == BN_FROM_COMMAND_LINE || bn_optset_find(options, o->name) != NULL;
}

static void merged_drop_options(struct bn_facts *f, const struct bn_optset *options,
                                bool (*drops)(const struct bn_optset *options,
                                              const struct bn_fact_option *o))
{
  size_t n = 0;

  for (size_t i = 0; i < f->n_options; i++) {
    struct bn_fact_option *o = &f->option[i];

    if (drops(options, o)) {
      free(o->group);
      free(o->name);
      free(o->value);
    } else {
      f->option[n++] = *o;
    }
  }
  f->n_options = n;
}

static void merged_add_option(void *arg, const struct bn_opt_fact *o)
{
  if (merged_is_of_controller(o->traits))
    bn_facts_option(arg, o);
}

static uint64_t merged_count_threads(const struct bn_merged_result_part *part, size_t n)
{
  uint64_t sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += part[i].member.threads;
  return sum;
}

/* Each group has its own limit of events and its own rate: their sums are those of the run, which
   has no limit if a group has none. */
static void merged_add_plans(struct bn_plan *plan, const struct bn_merged_result_part *part,
                             size_t n)
{
  bool endless = false;

  plan->events = 0;
  plan->rate = 0;
  for (size_t i = 0; i < n; i++) {
    const struct bn_plan *own = part[i].result != NULL ? &part[i].result->facts.plan : NULL;

    if (own == NULL)
      continue;
    endless |= own->events == 0;
    plan->rate += own->rate;
    if (own->events <= UINT64_MAX - plan->events)
      plan->events += own->events;
  }
  if (endless)
    plan->events = 0;
}

/* Sets the plan that was asked for, with the threads of all hosts. */
static void merged_set_plan(struct bn_facts *f, const struct bn_merged_result_part *part, size_t n,
                            const struct bn_merged_result_of *of)
{
  const struct bn_metrics *metrics = f->plan.metrics;
  const uint64_t threads = merged_count_threads(part, n);

  f->plan = of->conf->plan;
  f->plan.metrics = metrics;
  f->plan.threads = (unsigned)threads;
  f->plan.events = bn_conf_events(of->conf, threads);
  f->plan.seed = of->conf->seed;
  if (of->groups->n > 0)
    merged_add_plans(&f->plan, part, n);
}

/* Returns the name of a run of several groups: "reads: oltp_point_select, report: ./report.lua". */
static char *merged_name_groups(const struct bn_merged_result_part *part, size_t n)
{
  struct bn_buf name = {.max = 0};

  for (size_t i = 0; i < n; i++) {
    const char *own = part[i].result != NULL
                          ? bn_facts_find_text(&part[i].result->facts, "workload", "name")
                          : NULL;

    (void)bn_buf_printf(&name, "%s%s", i > 0 ? ", " : "", part[i].member.host);
    if (own != NULL)
      (void)bn_buf_printf(&name, ": %s", own);
  }
  return name.data;
}

/* The workload is that of all groups, also where all have the same script, and the run starts with
   the first of them. */
static void merged_name_workload(struct bn_facts *f, const struct bn_merged_result_part *part,
                                 size_t n)
{
  char *name = merged_name_groups(part, n);
  const char *started = NULL;

  bn_facts_text(f, "workload", "name", name);
  bn_facts_text(f, "workload", "title", name);
  free(name);
  /* The processes may have started in two seconds. */
  for (size_t i = 0; started == NULL && i < n; i++)
    if (part[i].result != NULL)
      started = bn_facts_find_text(&part[i].result->facts, "process", "started");
  if (started != NULL)
    bn_facts_text(f, "process", "started", started);
}

/* The facts of a run with groups, to which options are added. */
struct outside {
  struct bn_facts *facts;
  const struct bn_merged_result_part *part;
  size_t n;
};

static void merged_add_declared(void *arg, const struct bn_opt_fact *o)
{
  if (o->group != NULL)
    bn_facts_option(((struct outside *)arg)->facts, o);
}

static const struct bn_fact_option *merged_find_option(const struct bn_facts *f, const char *name)
{
  for (size_t i = 0; i < f->n_options; i++)
    if (bn_opt_same_name(f->option[i].name, name))
      return &f->option[i];
  return NULL;
}

/* Adds an option of scripts, which the groups know, with its value outside of them. */
static void merged_add_undeclared(void *arg, const char *name, const char *value, const char *path,
                                  unsigned line)
{
  const struct outside *out = arg;
  char shown[BN_MASK_MAX];

  (void)line;
  if (path != NULL || merged_find_option(out->facts, name) != NULL)
    return;
  for (size_t i = 0; i < out->n; i++) {
    const struct bn_fact_option *o =
        out->part[i].result != NULL ? merged_find_option(&out->part[i].result->facts, name) : NULL;

    if (o == NULL)
      continue;
    bn_facts_option(out->facts, &(struct bn_opt_fact){.name = o->name,
                                                      .group = o->group,
                                                      .origin = BN_FROM_COMMAND_LINE,
                                                      .traits = o->traits,
                                                      .secret = o->secret,
                                                      .text = o->secret || value == NULL
                                                                  ? NULL
                                                                  : bn_mask_text(value, shown)});
    return;
  }
}

/* The options of a run with groups are those outside of the groups, and --group, whose text has
   those of each group.  Files and scripts may set others for all groups alike. */
static void merged_set_group_options(struct bn_facts *f, const struct bn_merged_result_part *part,
                                     size_t n, const struct bn_optset *options)
{
  struct outside out = {f, part, n};

  merged_drop_options(f, options, merged_is_not_of_groups);
  bn_optset_facts(options, merged_add_declared, &out);
  bn_optset_each_pending(options, merged_add_undeclared, &out);
}

static void merged_set_facts(struct bn_facts *f, const struct bn_merged_result_part *part, size_t n,
                             const struct bn_merged_result_of *of)
{
  if (of->groups->n > 0) {
    merged_set_group_options(f, part, n, of->options);
  } else {
    merged_drop_options(f, of->options, merged_is_not_of_hosts);
    bn_optset_facts(of->options, merged_add_option, f);
  }
  merged_set_plan(f, part, n, of);
  if (of->groups->n > 0)
    merged_name_workload(f, part, n);
}

/* Returns the parts that have a result; the caller frees the array. */
static struct bn_part *merged_parts_of(const struct bn_merged_result_part *part, size_t n,
                                       size_t *have)
{
  struct bn_part *out = bn_alloc(n, sizeof *out);

  *have = 0;
  for (size_t i = 0; i < n; i++)
    if (part[i].result != NULL)
      out[(*have)++] = (struct bn_part){part[i].member.host, part[i].result};
  return out;
}

void bn_merged_result_facts(const struct bn_merged_result_part *part, size_t n,
                            const struct bn_merged_result_of *of, struct bn_facts *out)
{
  size_t have;
  struct bn_part *parts = merged_parts_of(part, n, &have);

  if (have > 0)
    bn_merge_common(parts, have, out);
  merged_set_facts(out, part, n, of);
  free(parts);
}

/* --- the result ------------------------------------------------------------------------------- */

/* Returns the processor time that an agent tells of its process. */
static double merged_processor_s(const struct bn_result *r)
{
  const struct bn_fact *fact = bn_facts_find(&r->facts, "process", "processor_s");

  return fact != NULL && fact->type == BN_FACT_REAL ? fact->real : HUGE_VAL;
}

/* Returns the total of a part, or NULL if none is known. */
static const struct bn_view *merged_part_total(const struct bn_merged_result_part *p)
{
  const struct bn_group *g = p->result != NULL ? &p->result->group[0] : NULL;

  return g != NULL && g->has_total ? &g->total.view : NULL;
}

/* Adds the figures of a host, with those that were watched there, without those that all hosts
   share. */
static void merged_add_member(struct bn_result *out, const struct bn_merged_result_part *p)
{
  const struct bn_view *total = merged_part_total(p);
  struct bn_watched own;
  struct bn_view v;

  const char *name =
      p->result != NULL && p->result->n_groups > 0 ? p->result->group[0].name : out->group[0].name;

  if (total == NULL) {
    bn_result_add_member(out, name, &p->member, NULL);
    return;
  }
  bn_watched_pick(total, false, &own);
  v = *total;
  v.watched = own.figure;
  v.n_watched = own.n;
  bn_result_add_member(out, name, &p->member, &v);
}

/* Gives the whole run the figures that all hosts share, which the first host watches. */
static void merged_set_watched(struct bn_result *out, const struct bn_merged_result_part *first)
{
  struct bn_record *all = &out->group[0].total;
  const struct bn_view *its = merged_part_total(first);
  struct bn_watched shared;

  shared.n = 0;
  if (its != NULL)
    bn_watched_sum(its, &all->view, &shared);
  bn_record_watch(all, shared.figure, shared.n);
}

/* The result of a group with the rows of all groups. */
struct united {
  struct bn_result result;
  struct bn_group group; /* its record is owned, its name is borrowed */
};

/* Replaces the results of groups by results that can be summed.  Returns them; the caller frees
   them.  What a lost group had sent has the rows of all groups. */
static struct united *merged_unite(const struct bn_merged_result_part *part, size_t n,
                                   const struct bn_group_layout *groups, char *name,
                                   struct bn_part *parts)
{
  struct united *all = bn_alloc(n, sizeof *all);
  size_t have = 0;

  for (size_t i = 0; i < n; i++) {
    struct united *u = &all[have];
    const struct bn_record *total;

    if (part[i].result == NULL)
      continue;
    total = &part[i].result->group[0].total;
    u->result = *part[i].result;
    u->group = u->result.group[0];
    u->group.name = name;
    u->result.group = &u->group;
    bn_record_copy(&u->group.total, &total->view);
    if (!bn_merge_check_metrics(&total->delta.metrics, &groups->all))
      bn_group_layout_record(groups, i, &u->group.total);
    parts[have++].result = &u->result;
  }
  return all;
}

static int merged_sum_groups(const struct bn_merged_result_part *part, size_t n,
                             const struct bn_group_layout *groups, struct bn_part *parts,
                             size_t have, struct bn_result *out, struct bn_buf *notes,
                             struct bn_err *err)
{
  char *name = merged_name_groups(part, n);
  struct united *all = merged_unite(part, n, groups, name, parts);
  const int rc = bn_merge(parts, have, BN_MERGE_HOSTS, out, notes, err);

  for (size_t i = 0; i < have; i++)
    bn_record_done(&all[i].group.total);
  free(all);
  free(name);
  return rc;
}

static int merged_sum_parts(struct bn_merged_result_part *part, size_t n,
                            const struct bn_group_layout *groups, struct bn_result *out,
                            struct bn_err *err)
{
  struct bn_buf notes = {.max = 0};
  size_t have;
  struct bn_part *parts = merged_parts_of(part, n, &have);
  int rc;

  if (have == 0)
    rc = bn_err_set(err, ENODATA, "no host has sent figures");
  else if (groups->n > 0)
    rc = merged_sum_groups(part, n, groups, parts, have, out, &notes, err);
  else
    rc = bn_merge(parts, have, BN_MERGE_HOSTS, out, &notes, err);
  bn_buf_done(&notes);
  free(parts);
  return rc;
}

void bn_merged_result_together(const struct bn_merged_result_part *part, size_t n,
                               const struct bn_intervals_together *seconds, struct bn_facts *out)
{
  uint64_t begin_ns = 0, end_ns = UINT64_MAX;

  for (size_t i = 0; i < n; i++) {
    const struct bn_snap *s;

    if (part[i].result == NULL)
      return;
    s = &part[i].result->group[0].total.delta;
    if (s->at_ns - s->span_ns > begin_ns)
      begin_ns = s->at_ns - s->span_ns;
    end_ns = s->at_ns < end_ns ? s->at_ns : end_ns;
  }
  bn_facts_real(out, BN_HOSTS_SECTION, BN_HOSTS_TIME,
                end_ns > begin_ns ? merged_seconds_between(begin_ns, end_ns) : 0);
  if (seconds->second == 0)
    return;
  bn_facts_real(out, BN_HOSTS_SECTION, BN_HOSTS_RATE, seconds->events_per_s);
  bn_facts_whole(out, BN_HOSTS_SECTION, BN_HOSTS_SECONDS, (int64_t)seconds->second);
}

/* Returns how far the clocks have moved apart since the start: one of the machines stood still. */
static uint64_t merged_clock_shift(const struct bn_merged_result_part *p)
{
  const uint64_t moved_ns = (uint64_t)p->offset_ns - (uint64_t)p->clock.offset_ns;
  const uint64_t shift_ns = (int64_t)moved_ns < 0 ? -moved_ns : moved_ns;

  return shift_ns < shift_max_ns ? shift_ns : shift_max_ns;
}

/* Returns whether all that was measured was measured during the run, as far as clocks drift.  A
   time that makes no sense would spread the rates of all hosts over it. */
static bool merged_is_of_run(const struct bn_merged_result_part *p,
                             const struct bn_merged_result_start *start)
{
  const struct bn_snap *s = &p->result->group[0].total.delta; /* on the clock here */
  const uint64_t slack_ns = p->clock.error_ns + BN_NSEC_PER_SEC +
                            (start->until_ns - start->mono_ns) / DRIFT_PARTS +
                            merged_clock_shift(p);

  return s->at_ns <= start->until_ns + slack_ns && s->span_ns <= s->at_ns &&
         s->at_ns - s->span_ns + slack_ns >= start->mono_ns;
}

/* Returns why a part does not count, or NULL. */
static const char *merged_take_part(struct bn_merged_result_part *p,
                                    const struct bn_merged_result_start *start)
{
  const struct bn_result *r = p->result;
  uint64_t end_ns;

  if (r->n_groups == 0 || !r->group[0].has_total || r->facts.start_ns == 0)
    return "it has measured nothing";
  merged_put_on_clock(p, start);
  if (bn_run_end(r, &end_ns) != 0 || !merged_is_of_run(p, start))
    return "the times of its result make no sense";
  p->member.processor_s = merged_processor_s(r);
  p->member.time_s = (double)r->group[0].total.delta.span_ns * 1e-9;
  return NULL;
}

/* Drops parts that make no sense, so that the others are reported.  Returns false if there are
   any. */
static bool merged_take_parts(struct bn_merged_result_part *part, size_t n,
                              const struct bn_merged_result_start *start)
{
  bool all = true;

  for (size_t i = 0; i < n; i++) {
    struct bn_member *m = &part[i].member;
    const char *why;

    m->start_lag_s = m->processor_s = m->time_s = HUGE_VAL;
    why = part[i].result != NULL ? merged_take_part(&part[i], start) : NULL;
    if (why == NULL)
      continue;
    all = false;
    part[i].result = NULL;
    m->start_lag_s = HUGE_VAL;
    if (m->lost == NULL)
      m->lost = (char *)(uintptr_t)why;
  }
  return all;
}

int bn_merged_result_make(struct bn_merged_result_part *part, size_t n,
                          const struct bn_merged_result_start *start,
                          const struct bn_merged_result_of *of, struct bn_result *out,
                          struct bn_err *err)
{
  const bool all = merged_take_parts(part, n, start);

  memset(out, 0, sizeof *out);
  if (merged_sum_parts(part, n, of->groups, out, err) != 0)
    return -1;
  out->end.failed |= !all;
  merged_set_facts(&out->facts, part, n, of);
  merged_set_watched(out, part);
  for (size_t i = 0; i < n; i++)
    merged_add_member(out, &part[i]);
  bn_result_find_metrics(out);
  return 0;
}
