/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums the results of hosts. */
#include "hosts/merged_result.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/mask.h"
#include "hosts/agent.h"
#include "measure/merge.h"
#include "measure/merge_check.h"

/* The times of a result may be wrong by the drift of clocks, at most a thousandth of the time. */
enum { DRIFT_DIVISOR = 1000 };

/* --- times ------------------------------------------------------------------------------------ */

/* Returns the seconds between two times, which are negative if to_ns is the earlier one. */
static double merged_get_seconds(uint64_t from_ns, uint64_t to_ns)
{
  return (double)(int64_t)(to_ns - from_ns) * 1e-9;
}

/* Converts the times of a part, which has a total, to the clocks here, and sets how late the host
   has started.  The times of day follow from the monotonic times, because only the offset of the
   monotonic clock there is known. */
static void merged_convert_times(struct bn_merged_result_part *p,
                                 const struct bn_merged_result_start *start)
{
  struct bn_facts *f = &p->result->facts;
  const uint64_t start_ns = bn_clock_sync_to_here(&p->clock, f->start_ns);
  const uint64_t start_wall_ns = start->wall_ns + (start_ns - start->mono_ns);
  /* If the clock there is ahead, this wraps, and so do the sums with it. */
  const uint64_t wall_shift_ns = start_wall_ns - f->start_wall_ns;

  p->member.start_lag_s = merged_get_seconds(start->mono_ns, start_ns);
  for (size_t i = 0; i < p->result->n_groups; i++) {
    struct bn_snap *s = &p->result->group[i].total.delta;

    s->at_ns = bn_clock_sync_to_here(&p->clock, s->at_ns);
    s->wall_ns += wall_shift_ns;
  }
  f->start_ns = start_ns;
  f->start_wall_ns = start_wall_ns;
  if (f->end_wall_ns != 0)
    f->end_wall_ns += wall_shift_ns;
  else
    f->end_wall_ns = p->result->group[0].total.delta.wall_ns;
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Returns whether an option in the facts of the parts is to be replaced by that of this process.
   With groups, the facts have the values outside of the groups: the options of command lines and
   those that this process declares are replaced.  Hosts have their own values of some options, and
   get some that the user has not set, or not in that form, which then have another origin there. */
static bool merged_is_replaced(const struct bn_fact_option *o,
                               const struct bn_merged_result_request *request)
{
  const struct bn_optset *options = request->options;
  const bool is_known = bn_optset_find(options, o->name) != NULL;

  if (request->groups->n > 0)
    return o->origin == BN_FROM_COMMAND_LINE || is_known;
  return (o->traits & (BN_OPT_PER_HOST | BN_OPT_CONTROLLER_ONLY)) != 0 ||
         (is_known && bn_optset_get_origin(options, o->name) != o->origin);
}

static void merged_drop_replaced(struct bn_facts *f, const struct bn_merged_result_request *request)
{
  size_t n_kept = 0;

  for (size_t i = 0; i < f->n_options; i++) {
    struct bn_fact_option *o = &f->option[i];

    if (merged_is_replaced(o, request)) {
      free(o->group);
      free(o->name);
      free(o->value);
    } else {
      f->option[n_kept++] = *o;
    }
  }
  f->n_options = n_kept;
}

static const struct bn_fact_option *merged_find_option(const struct bn_facts *f, const char *name)
{
  for (size_t i = 0; i < f->n_options; i++)
    if (bn_opt_is_same_name(f->option[i].name, name))
      return &f->option[i];
  return NULL;
}

/* Returns the name of the group of a part.  For a group that is a process here, it is in
   member.host. */
static const char *merged_get_group(const struct bn_merged_result_part *p)
{
  return p->member.group != NULL ? p->member.group : p->member.host;
}

/* Returns whether the rate in the plan of a part is that of a profile.  Such a rate is that of the
   whole group, although each host of the group makes only its share of the events due. */
static bool merged_has_rate_profile(const struct bn_merged_result_part *p)
{
  const struct bn_fact_option *o = merged_find_option(&p->result->facts, "rate-profile");

  return o != NULL && o->value != NULL && o->value[0] != '\0' && strcmp(o->value, "none") != 0;
}

/* Sets the limit of events and the rate of a run with groups to the sums over its parts.  If a
   part has no limit, or the sum does not fit into 64 bits, the run has no limit.  The rate of a
   profile counts once for all parts of a group. */
static void merged_add_plans(struct bn_plan *plan, const struct bn_merged_result_part *part,
                             size_t n)
{
  const char *last_group = ""; /* of the part before */
  bool is_endless = false;

  plan->events = 0;
  plan->rate = 0;
  for (size_t i = 0; i < n; i++) {
    const struct bn_plan *part_plan;
    bool is_new_group;

    if (part[i].result == NULL)
      continue;
    part_plan = &part[i].result->facts.plan;
    is_new_group = strcmp(last_group, merged_get_group(&part[i])) != 0;
    last_group = merged_get_group(&part[i]);
    is_endless |= part_plan->events == 0 || part_plan->events > UINT64_MAX - plan->events;
    plan->events += part_plan->events;
    if (is_new_group || !merged_has_rate_profile(&part[i]))
      plan->rate += part_plan->rate;
  }
  if (is_endless)
    plan->events = 0;
}

/* Sets the plan to that of the controller, with the threads of all parts, even of those that are
   lost. */
static void merged_set_plan(struct bn_facts *f, const struct bn_merged_result_part *part, size_t n,
                            const struct bn_conf *conf)
{
  const struct bn_metrics *metrics = f->plan.metrics;
  uint64_t threads = 0;

  for (size_t i = 0; i < n; i++)
    threads += part[i].member.threads;
  f->plan = conf->plan;
  f->plan.metrics = metrics;
  f->plan.threads = (unsigned)threads;
  f->plan.events = bn_conf_get_event_limit(conf, threads);
  f->plan.seed = conf->seed;
}

/* Returns how many of the n > 0 parts, from the first one on, are of the same group: its parts on
   hosts, which stand together.  Without hosts, each group is one part. */
static size_t merged_count_parts(const struct bn_merged_result_part *part, size_t n)
{
  size_t in_group = 1;

  while (in_group < n && strcmp(merged_get_group(&part[in_group]), merged_get_group(&part[0])) == 0)
    in_group++;
  return in_group;
}

/* Returns a text from the facts of the first of the n parts that has it, or NULL if none has it. */
static const char *merged_find_text(const struct bn_merged_result_part *part, size_t n,
                                    const char *section, const char *key)
{
  const char *text = NULL;

  for (size_t i = 0; text == NULL && i < n; i++)
    if (part[i].result != NULL)
      text = bn_facts_find_text(&part[i].result->facts, section, key);
  return text;
}

/* Returns the name of a run of several groups: "reads: oltp_point_select, report: ./report.lua". */
static char *merged_name_groups(const struct bn_merged_result_part *part, size_t n)
{
  struct bn_buf name = {.max = 0};
  size_t in_group;

  for (size_t i = 0; i < n; i += in_group) {
    in_group = merged_count_parts(&part[i], n - i);
    const char *workload = merged_find_text(&part[i], in_group, "workload", "name");

    (void)bn_buf_printf(&name, "%s%s", i > 0 ? ", " : "", merged_get_group(&part[i]));
    if (workload != NULL)
      (void)bn_buf_printf(&name, ": %s", workload);
  }
  return name.data;
}

/* Adds a declared option of this process to the facts `arg`, unless they have it. */
static void merged_add_declared_option(void *arg, const struct bn_opt_fact *o)
{
  struct bn_facts *f = arg;

  if (o->group != NULL && merged_find_option(f, o->name) == NULL)
    bn_facts_add_option(f, o);
}

/* The facts to which merged_add_script_option() adds options, and the groups that declare them. */
struct script_options {
  struct bn_facts *facts;
  const struct bn_merged_result_part *part;
  size_t n;
};

/* Returns the option of that name from the first group that has declared it, or NULL. */
static const struct bn_fact_option *merged_find_declared(const struct script_options *out,
                                                         const char *name)
{
  const struct bn_fact_option *o = NULL;

  for (size_t i = 0; o == NULL && i < out->n; i++)
    if (out->part[i].result != NULL)
      o = merged_find_option(&out->part[i].result->facts, name);
  return o;
}

/* Adds an option of scripts with its value on the command line, outside of the groups, if a group
   has declared it.  An option of a configuration file (`path`) is left out, because the groups have
   read the file themselves. */
static void merged_add_script_option(void *arg, const char *name, const char *value,
                                     const char *path, unsigned line)
{
  const struct script_options *out = arg;
  const struct bn_fact_option *o = merged_find_declared(out, name);
  struct bn_opt_fact fact;
  char shown[BN_MASK_MAX];

  (void)line;
  if (path != NULL || o == NULL || merged_find_option(out->facts, name) != NULL)
    return;
  fact = (struct bn_opt_fact){.name = o->name,
                              .group = o->group,
                              .origin = BN_FROM_COMMAND_LINE,
                              .traits = o->traits,
                              .secret = o->secret};
  if (!o->secret && value != NULL)
    fact.text = bn_mask_text(value, shown);
  bn_facts_add_option(out->facts, &fact);
}

/* Sets the facts of a run with groups that the facts of its parts do not have: the options of
   scripts that stand outside of the groups, the sums of the plans, and a workload that is named
   after all groups, also if they have the same script. */
static void merged_set_facts_of_groups(struct bn_facts *f, const struct bn_merged_result_part *part,
                                       size_t n, const struct bn_optset *options)
{
  struct script_options out = {.facts = f, .part = part, .n = n};
  char *name = merged_name_groups(part, n);

  bn_optset_each_pending(options, merged_add_script_option, &out);
  merged_add_plans(&f->plan, part, n);
  bn_facts_set_text(f, "workload", "name", name);
  bn_facts_set_text(f, "workload", "title", name);
  free(name);
}

/* Sets the facts that do not follow from the common facts of all parts: the options, the plan, the
   start and the workload. */
static void merged_set_facts(struct bn_facts *f, const struct bn_merged_result_part *part, size_t n,
                             const struct bn_merged_result_request *request)
{
  /* Parts may have started in different seconds, and facts that differ between them are dropped. */
  const char *started = merged_find_text(part, n, "process", "started");

  merged_drop_replaced(f, request);
  bn_optset_each_fact(request->options, merged_add_declared_option, f);
  merged_set_plan(f, part, n, request->conf);
  if (started != NULL)
    bn_facts_set_text(f, "process", "started", started);
  if (request->groups->n > 0)
    merged_set_facts_of_groups(f, part, n, request->options);
  else /* a host knows a script that was sent to it by another path */
    bn_facts_set_text(f, "workload", "name", request->test);
}

/* Returns the parts that have a result, and stores their number in *n_out.  The caller frees the
   array. */
static struct bn_part *merged_list_parts(const struct bn_merged_result_part *part, size_t n,
                                         size_t *n_out)
{
  struct bn_part *out = bn_alloc(n, sizeof *out);

  *n_out = 0;
  for (size_t i = 0; i < n; i++)
    if (part[i].result != NULL)
      out[(*n_out)++] = (struct bn_part){.name = part[i].member.host, .result = part[i].result};
  return out;
}

void bn_merged_result_make_facts(const struct bn_merged_result_part *part, size_t n,
                                 const struct bn_merged_result_request *request,
                                 struct bn_facts *out)
{
  size_t n_parts;
  struct bn_part *parts = merged_list_parts(part, n, &n_parts);

  if (n_parts > 0)
    bn_merge_add_common(parts, n_parts, out);
  merged_set_facts(out, part, n, request);
  free(parts);
}

/* --- the result ------------------------------------------------------------------------------- */

/* Adds a host to the result, with its figures if it has a result.  Of the watched figures, the host
   keeps its own: merged_set_watched() gives those that all hosts share to the whole run. */
static void merged_add_member(struct bn_result *out, const struct bn_merged_result_part *p)
{
  struct bn_watched host_figures;
  struct bn_view v;

  if (p->result == NULL) {
    bn_result_add_member(out, out->group[0].name, &p->member, NULL /* no figures */);
    return;
  }
  v = p->result->group[0].total.view;
  bn_watched_pick(&v, false /* shared */, &host_figures);
  v.watched = host_figures.figure;
  v.n_watched = host_figures.n;
  bn_result_add_member(out, p->result->group[0].name, &p->member, &v);
}

/* Gives the whole run the watched figures that all hosts share.  Only the first part watches
   them. */
static void merged_set_watched(struct bn_result *out, const struct bn_merged_result_part *first)
{
  struct bn_record *total = &out->group[0].total;
  struct bn_watched shared;

  shared.n = 0;
  if (first->result != NULL)
    bn_watched_sum(&first->result->group[0].total.view, &total->view, &shared);
  bn_record_set_watched(total, shared.figure, shared.n);
}

/* A copy of the result of a group, whose total has the rows of all groups. */
struct united {
  struct bn_result result;
  struct bn_group group; /* its record is owned, its name is borrowed */
};

/* Replaces the results in `parts`, which is from merged_list_parts(), by as many copies that can be
   summed, because each has the rows of all groups and the given name.  part[0] has the number
   `first` in the layout.  The caller frees the copies and their totals. */
static struct united *merged_unite(const struct bn_merged_result_part *part, size_t n, size_t first,
                                   const struct bn_group_layout *groups, char *name,
                                   struct bn_part *parts)
{
  struct united *copies = bn_alloc(n, sizeof *copies);
  size_t n_copies = 0;

  for (size_t i = 0; i < n; i++) {
    struct united *u = &copies[n_copies];
    const struct bn_record *total;

    if (part[i].result == NULL)
      continue;
    total = &part[i].result->group[0].total;
    u->result = *part[i].result;
    u->group = u->result.group[0];
    u->group.name = name;
    u->result.group = &u->group;
    bn_record_copy(&u->group.total, &total->view);
    /* The result of a lost group was made from ticks, which were converted when they came. */
    if (!bn_merge_have_same_metrics(&total->delta.metrics, &groups->all))
      bn_group_layout_convert_record(groups, first + i, &u->group.total);
    parts[n_copies++].result = &u->result;
  }
  return copies;
}

/* Sums the results of the n parts, of which some may have none, into *out.  With `groups`, the sum
   has the rows of all groups, and part[0] is number `first` of that layout.  Without (NULL), the
   results are summed as they are.  Returns 0, or -1 and err if no part has a result (ENODATA), or
   if the results cannot be summed. */
static int merged_sum_parts(const struct bn_merged_result_part *part, size_t n, size_t first,
                            const struct bn_group_layout *groups, struct bn_result *out,
                            struct bn_err *err)
{
  struct bn_buf notes = {.max = 0}; /* which only `bench merge` prints */
  struct united *copies = NULL;
  char *name = NULL;
  size_t n_parts;
  struct bn_part *parts = merged_list_parts(part, n, &n_parts);
  int rc;

  if (groups != NULL) {
    name = merged_name_groups(part, n);
    copies = merged_unite(part, n, first, groups, name, parts);
  }
  if (n_parts > 0)
    rc = bn_merge(parts, n_parts, BN_MERGE_HOSTS, out, &notes, err);
  else
    rc = bn_err_set(err, ENODATA, "no figures were sent");
  for (size_t i = 0; copies != NULL && i < n_parts; i++)
    bn_record_done(&copies[i].group.total);
  free(copies);
  free(name);
  bn_buf_done(&notes);
  free(parts);
  return rc;
}

/* --- a group on several hosts ----------------------------------------------------------------- */

/* Returns whether the results of the n parts of a group have the same rows.  The result of a lost
   host was made from ticks, and has the rows of all groups. */
static bool merged_have_same_rows(const struct bn_merged_result_part *part, size_t n)
{
  const struct bn_metrics *first = NULL;

  for (size_t i = 0; i < n; i++) {
    const struct bn_result *r = part[i].result;

    if (r == NULL)
      continue;
    if (first == NULL)
      first = &r->group[0].total.delta.metrics;
    if (!bn_merge_have_same_metrics(&r->group[0].total.delta.metrics, first))
      return false;
  }
  return true;
}

/* Returns the greater of two times.  A time that is not known, HUGE_VAL, does not count. */
static double merged_get_greater(double a, double b)
{
  if (!isfinite(a) || !isfinite(b))
    return isfinite(a) ? a : b;
  return fmax(a, b);
}

/* Returns the member that the n parts of a group make together, without its time.  The group is
   lost if a part is, for the reason of the first part that is lost. */
static struct bn_member merged_add_up_members(const struct bn_merged_result_part *part, size_t n)
{
  struct bn_member sum = part[0].member;

  sum.host = part[0].member.group;
  sum.group = NULL;
  sum.time_s = HUGE_VAL;
  for (size_t i = 1; i < n; i++) {
    const struct bn_member *m = &part[i].member;

    sum.threads += m->threads;
    sum.lost = sum.lost != NULL ? sum.lost : m->lost;
    sum.processor_s += m->processor_s; /* HUGE_VAL, not known, if that of a part is */
    sum.clock_error_s = merged_get_greater(sum.clock_error_s, m->clock_error_s);
    sum.start_lag_s = merged_get_greater(sum.start_lag_s, m->start_lag_s);
  }
  return sum;
}

/* Adds to the result the sum of a group over its hosts, which are the n parts from number `first`
   on.  If they cannot be summed, the group counts as lost. */
static void merged_add_group(struct bn_result *out, const struct bn_merged_result_part *part,
                             size_t n, size_t first, const struct bn_group_layout *groups)
{
  const struct bn_group_layout *rows = merged_have_same_rows(part, n) ? NULL : groups;
  const char *name = merged_find_text(part, n, "workload", "name");
  struct bn_member m = merged_add_up_members(part, n);
  const struct bn_view *total = NULL;
  struct bn_result sum = {.n_groups = 0};
  struct bn_err why = {0};

  if (merged_sum_parts(part, n, first, rows, &sum, &why) == 0) {
    assert(sum.n_groups > 0); /* each of its parts has a group */
    total = &sum.group[0].total.view;
    m.time_s = (double)sum.group[0].total.delta.span_ns * 1e-9;
  } else if (m.lost == NULL || why.code != ENODATA) {
    /* With ENODATA, all parts are lost, and the reason of the first one says more. */
    m.lost = why.text;
  }
  bn_result_add_member(out, name != NULL ? name : out->group[0].name, &m, total);
  bn_result_done(&sum);
}

/* Adds to the result the sum of each group over its hosts.  Adds nothing in a run without hosts or
   without groups, whose parts are the groups or the hosts themselves. */
static void merged_add_groups(struct bn_result *out, const struct bn_merged_result_part *part,
                              size_t n, const struct bn_group_layout *groups)
{
  size_t in_group;

  for (size_t i = 0; i < n && part[i].member.group != NULL; i += in_group) {
    in_group = merged_count_parts(&part[i], n - i);
    merged_add_group(out, &part[i], in_group, i, groups);
  }
}

/* Stores for how many seconds all parts ran together, from the last beginning to the first end.
   Returns false, and stores nothing, if a part has no result. */
static bool merged_find_time_together(const struct bn_merged_result_part *part, size_t n,
                                      double *out_s)
{
  uint64_t begin_ns = 0, end_ns = UINT64_MAX;

  for (size_t i = 0; i < n; i++) {
    const struct bn_snap *s;

    if (part[i].result == NULL)
      return false;
    s = &part[i].result->group[0].total.delta;
    begin_ns = bn_clock_max(begin_ns, s->at_ns - s->span_ns);
    end_ns = bn_clock_min(end_ns, s->at_ns);
  }
  *out_s = end_ns > begin_ns ? merged_get_seconds(begin_ns, end_ns) : 0;
  return true;
}

void bn_merged_result_add_together(const struct bn_merged_result_part *part, size_t n,
                                   const struct bn_intervals_together *seconds,
                                   struct bn_facts *out)
{
  double together_s;

  if (!merged_find_time_together(part, n, &together_s))
    return;
  bn_facts_set_real(out, BN_HOSTS_SECTION, BN_HOSTS_TIME, together_s);
  if (seconds->second == 0)
    return;
  bn_facts_set_real(out, BN_HOSTS_SECTION, BN_HOSTS_RATE, seconds->events_per_s);
  bn_facts_set_whole(out, BN_HOSTS_SECTION, BN_HOSTS_SECONDS, (int64_t)seconds->second);
}

/* Returns whether the measurement of a part lies within the run, as exactly as clocks can tell.  If
   it does not, its time makes no sense, and the rates of all hosts would be of that time. */
static bool merged_is_within_run(const struct bn_merged_result_part *p,
                                 const struct bn_merged_result_start *start)
{
  const struct bn_snap *s = &p->result->group[0].total.delta; /* on the clock here */
  const uint64_t drift_ns = (start->until_ns - start->mono_ns) / DRIFT_DIVISOR;
  /* A machine may have stood still, but if it was for longer than this, the agent has ended. */
  const uint64_t still_ns = BN_AGENT_SILENCE_NS;
  const uint64_t slack_ns = p->clock.error_ns + drift_ns + still_ns + BN_NSEC_PER_SEC;

  if (s->span_ns > s->at_ns) /* it began before the clock here did */
    return false;
  return s->at_ns <= start->until_ns + slack_ns &&
         s->at_ns - s->span_ns + slack_ns >= start->mono_ns;
}

/* Converts the times of a part with a result to the clock here, and sets the times of its member.
   Returns why the part does not count, or NULL. */
static const char *merged_check_part(struct bn_merged_result_part *p,
                                     const struct bn_merged_result_start *start)
{
  const struct bn_result *r = p->result;
  const struct bn_fact *processor = bn_facts_find(&r->facts, "process", "processor_s");
  uint64_t end_ns; /* not used here, but bn_merge() fails without it */

  if (bn_result_total(r) == NULL || r->facts.start_ns == 0)
    return "it has measured nothing";
  merged_convert_times(p, start);
  if (bn_runs_find_end(r, &end_ns) != 0 || !merged_is_within_run(p, start))
    return "the times of its result make no sense";
  if (processor != NULL && processor->type == BN_FACT_REAL)
    p->member.processor_s = processor->real;
  p->member.time_s = (double)r->group[0].total.delta.span_ns * 1e-9;
  return NULL;
}

/* Drops the result of a part, which does not count for that reason. */
static void merged_drop_part(struct bn_merged_result_part *p, const char *why)
{
  struct bn_member *m = &p->member;

  p->result = NULL;
  m->start_lag_s = m->processor_s = m->time_s = HUGE_VAL;
  if (m->lost == NULL)
    m->lost = (char *)(uintptr_t)why; /* the member of a part borrows it */
}

/* Checks all parts, and drops the results of those that do not count, so that the other parts are
   reported.  Events of the warm-up count only if no part has come to its end.  Returns false if
   there are parts that do not count. */
static bool merged_check_parts(struct bn_merged_result_part *part, size_t n,
                               const struct bn_merged_result_start *start)
{
  bool all_count = true, has_measured = false;

  for (size_t i = 0; i < n; i++) {
    struct bn_member *m = &part[i].member;
    const char *why;

    m->clock_error_s = (double)part[i].clock.error_ns * 1e-9;
    m->start_lag_s = m->processor_s = m->time_s = HUGE_VAL;
    if (part[i].result == NULL)
      continue;
    why = merged_check_part(&part[i], start);
    if (why != NULL)
      merged_drop_part(&part[i], why);
    else
      has_measured |= !bn_result_ended_in_warmup(part[i].result);
    all_count &= why == NULL;
  }
  for (size_t i = 0; has_measured && i < n; i++) {
    if (part[i].result == NULL || !bn_result_ended_in_warmup(part[i].result))
      continue;
    merged_drop_part(&part[i], "it has measured nothing: it ended in the warm-up");
    all_count = false;
  }
  return all_count;
}

int bn_merged_result_make(struct bn_merged_result_part *part, size_t n,
                          const struct bn_merged_result_start *start,
                          const struct bn_merged_result_request *request, struct bn_result *out,
                          struct bn_err *err)
{
  const bool all_count = merged_check_parts(part, n, start);
  const struct bn_group_layout *rows = request->groups->n > 0 ? request->groups : NULL;

  memset(out, 0, sizeof *out);
  if (merged_sum_parts(part, n, 0 /* first */, rows, out, err) != 0)
    return -1;
  out->end.failed |= !all_count; /* a part that does not count is lost */
  merged_set_facts(&out->facts, part, n, request);
  merged_set_watched(out, part);
  merged_add_groups(out, part, n, request->groups);
  for (size_t i = 0; i < n; i++)
    merged_add_member(out, &part[i]);
  bn_result_find_metrics(out);
  return 0;
}
