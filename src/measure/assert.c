/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads assertions, and shows what was found. */
#include "measure/assert.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/units.h"
#include "measure/event_kinds.h"
#include "measure/layout.h"
#include "measure/phases.h"

/* --- names ------------------------------------------------------------------------------------ */

/* Short names for figures.  The value of the figure times `scale` is in `unit`. */
static const struct {
  const char *name, *field;
  enum bn_assert_what what;
  const char *unit; /* NULL: the field's */
  double scale;
} shorts[] = {
    {"min", "min_s", BN_ASSERT_MIN, NULL, 1},
    {"avg", "avg_s", BN_ASSERT_AVG, NULL, 1},
    {"median", "median_s", BN_ASSERT_MEDIAN, NULL, 1},
    {"max", "max_s", BN_ASSERT_MAX, NULL, 1},
    {"tps", "transactions_per_s", BN_ASSERT_FIELD, NULL, 1},
    {"qps", "queries_per_s", BN_ASSERT_FIELD, NULL, 1},
    {"eps", "events_per_s", BN_ASSERT_FIELD, NULL, 1},
    {"mib_per_s", "bytes_moved_per_s", BN_ASSERT_FIELD, "MiB/s", 0x1p-20},
};

enum { N_SHORTS = sizeof shorts / sizeof shorts[0] };
enum { LIST_MAX = 256 }; /* bytes of a list of names in a message */

/* The figures that parts of a run have and the whole run does not: first that of kinds of events
   and groups, then those of phases. */
enum { SHARE_FIGURE, FIRST_PHASE_FIGURE };
static const struct bn_view_field part_figures[] = {
    {.name = "share", .unit = "1", .type = BN_VIEW_F64, .traits = BN_FIGURE_SHARE},
    {.name = "recovery_s", .unit = "s", .type = BN_VIEW_F64, .better = BN_BETTER_LESS},
    {.name = "queued", .unit = "1", .type = BN_VIEW_U64, .better = BN_BETTER_LESS},
    {.name = "started_per_s", .unit = "1/s", .type = BN_VIEW_F64, .better = BN_BETTER_MORE},
};

enum { N_PART_FIGURES = sizeof part_figures / sizeof part_figures[0] };

/* Returns whether only phases have the figure; NULL: a percentile. */
static bool assert_is_of_phases(const struct bn_view_field *f)
{
  for (size_t i = FIRST_PHASE_FIGURE; i < N_PART_FIGURES; i++)
    if (f == &part_figures[i])
      return true;
  return false;
}

/* Returns the figure of that name, of parts of a run or of all of it, or NULL. */
static const struct bn_view_field *assert_find_field(const char *name)
{
  for (size_t i = 0; i < N_PART_FIGURES; i++)
    if (strcmp(name, part_figures[i].name) == 0)
      return &part_figures[i];
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (strcmp(name, f->name) == 0)
      return f;
  return NULL;
}

/* Names that only parts of a run have are followed by the kind of part. */
void bn_assert_list_names(struct bn_buf *out)
{
  (void)bn_buf_str(out, "pN (a percentile)");
  for (size_t i = 0; i < N_SHORTS; i++)
    (void)bn_buf_printf(out, ", %s", shorts[i].name);
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    (void)bn_buf_printf(out, ", %s", f->name);
  for (size_t i = 0; i < N_PART_FIGURES; i++)
    (void)bn_buf_printf(out, ", %s (of a %s)", part_figures[i].name,
                        assert_is_of_phases(&part_figures[i]) ? "phase" : "part");
}

/* Refuses a name that no metric has, with the name that is nearest to it.  Returns -1. */
static int assert_refuse_name(const char *name, struct bn_err *err)
{
  struct bn_near near = {.typed = name};

  for (size_t i = 0; i < N_SHORTS; i++)
    bn_near_offer(&near, shorts[i].name);
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    bn_near_offer(&near, f->name);
  if (near.best != NULL)
    return bn_err_set(err, ENOENT, "no metric is called '%s'; did you mean %s?", name, near.best);
  return bn_err_set(err, ENOENT, "no metric is called '%s'", name);
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* Copies text[0..len) without the blanks around it.  Returns false if it does not fit. */
static bool assert_trim(char *out, size_t size, const char *text, size_t len)
{
  while (len > 0 && *text == ' ') {
    text++;
    len--;
  }
  while (len > 0 && text[len - 1] == ' ')
    len--;
  if (len >= size)
    return false;
  memcpy(out, text, len);
  out[len] = '\0';
  return true;
}

/* Returns whether the text after a 'p' looks like a number, so that the name is a percentile. */
static bool assert_is_rank(const char *text)
{
  return text[strspn(text, "0123456789.")] == '\0';
}

/* Reads the rank of a percentile, the N of "pN".  Returns 0, or -1 and err. */
static int assert_read_rank(struct bn_assert *a, const char *text, struct bn_err *err)
{
  a->what = BN_ASSERT_RANK;
  a->unit = "s";
  if (bn_units_parse_double(text, &a->rank) != 0 || a->rank <= 0 || a->rank > 100)
    return bn_err_set(err, 0, "p%s is not a percentile; a rank is more than 0 and at most 100",
                      text);
  return 0;
}

/* Returns what an assertion by the full name of a figure is about.  If the figure has a short name
   too, both mean the same: "max_s" is "max". */
static enum bn_assert_what assert_find_what(const struct bn_view_field *f)
{
  for (size_t i = 0; i < N_SHORTS; i++)
    if (strcmp(f->name, shorts[i].field) == 0)
      return shorts[i].what;
  return BN_ASSERT_FIELD;
}

/* Sets which figure an assertion is about, and its unit.  Returns 0, or -1 and err. */
static int assert_read_name(struct bn_assert *a, const char *name, struct bn_err *err)
{
  const char *field_name = name; /* the full name, if `name` is a short one */

  a->scale = 1;
  if (name[0] == 'p' && name[1] != '\0' && assert_is_rank(name + 1))
    return assert_read_rank(a, name + 1, err);
  for (size_t i = 0; i < N_SHORTS; i++)
    if (strcmp(shorts[i].name, name) == 0) {
      field_name = shorts[i].field;
      a->unit = shorts[i].unit;
      a->scale = shorts[i].scale;
    }
  a->field = assert_find_field(field_name);
  if (a->field == NULL)
    return assert_refuse_name(name, err);
  if (a->unit == NULL)
    a->unit = a->field->unit;
  a->what = assert_find_what(a->field);
  return 0;
}

bool bn_assert_is_latency(const struct bn_assert *a)
{
  return a->what >= BN_ASSERT_RANK; /* the enum has the latencies last */
}

bool bn_assert_is_percentile(const struct bn_assert *a)
{
  return a->what == BN_ASSERT_RANK || a->what == BN_ASSERT_MEDIAN;
}

bool bn_assert_is_share(const struct bn_assert *a)
{
  return a->field == &part_figures[SHARE_FIGURE];
}

/* Checks that the whole run has the figure of an assertion without a part.  name: the figure as
   typed.  Returns 0, or -1 and err. */
static int assert_check_whole_run(const struct bn_assert *a, const char *name, struct bn_err *err)
{
  if (assert_is_of_phases(a->field))
    return bn_err_set(err, 0, "%s is of a phase; write %s@" BN_PHASE_PART "NUMBER", name, name);
  if (bn_assert_is_share(a))
    return bn_err_set(err, 0, "%s is of a part of the run; write %s@" BN_EVENT_PART "NAME", name,
                      name);
  return 0;
}

/* Returns whether a part has a figure of that name that is no latency.  All phases have the same
   figures, and so have all kinds of events and groups. */
static bool assert_part_has(const char *part, const char *figure)
{
  return bn_phases_is_part(part) ? bn_phases_have_figure(figure)
                                 : bn_layout_has_number(bn_layout_event_kind, figure);
}

/* Refuses a figure that the part does not have, with the names of those that it has.  Returns
   -1. */
static int assert_refuse_figure(const char *part, const char *name, struct bn_err *err)
{
  const char *kind = bn_event_kinds_parse_part(part);
  const char *noun = "phases"; /* for all parts like this one */
  struct bn_buf names = {.max = LIST_MAX};

  if (kind != NULL)
    noun = bn_event_kinds_is_group(kind) ? "groups" : "kinds of events";
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    if (assert_part_has(part, f->name))
      (void)bn_buf_printf(&names, ", %s", f->name);
  for (size_t i = 0; i < N_PART_FIGURES; i++)
    if (assert_part_has(part, part_figures[i].name))
      (void)bn_buf_printf(&names, ", %s", part_figures[i].name);
  (void)bn_err_set(err, 0, "%s is not counted for %s; pN, min, avg, median, max%s are", name, noun,
                   names.data != NULL ? names.data : "");
  bn_buf_done(&names);
  return -1;
}

/* Checks that the part has the figure.  All parts have latencies.  Phases, kinds of events and
   groups also have other figures, which set a->what to BN_ASSERT_KIND.  name: the figure as typed.
   Returns 0, or -1 and err. */
static int assert_check_part(struct bn_assert *a, const char *name, struct bn_err *err)
{
  const char *kind = bn_event_kinds_parse_part(a->part);

  if (a->part[0] == '\0')
    return assert_check_whole_run(a, name, err);

  const bool has_latencies_only = kind == NULL && !bn_phases_is_part(a->part);

  if (kind != NULL && kind[0] == '\0')
    return bn_err_set(err, 0, "the name of a kind of events after @" BN_EVENT_PART " is missing");
  if (kind != NULL && strcmp(kind, BN_GROUP_PART) == 0)
    return bn_err_set(err, 0, "the name of a group after @" BN_GROUP_PART " is missing");
  if (bn_assert_is_latency(a))
    return 0;
  if (has_latencies_only)
    return bn_err_set(err, 0, "%s is not a latency; only pN, min, avg, median and max take @",
                      name);
  if (!assert_part_has(a->part, a->field->name))
    return assert_refuse_figure(a->part, name, err);
  a->what = BN_ASSERT_KIND;
  return 0;
}

/* Reads "NAME[@PART]" from text[0..len).  Returns 0, or -1 and err. */
static int assert_read_metric(struct bn_assert *a, const char *text, size_t len, struct bn_err *err)
{
  const char *at_sign = memchr(text, '@', len);
  const size_t name_len = at_sign != NULL ? (size_t)(at_sign - text) : len;
  char name[BN_ASSERT_NAME];

  if (!assert_trim(name, sizeof name, text, name_len))
    return bn_err_set(err, ENOENT, "the name of the metric is too long");
  if (name[0] == '\0')
    return bn_err_set(err, ENOENT, "the metric before the comparison is missing");
  if (assert_read_name(a, name, err) != 0)
    return -1;
  if (at_sign != NULL && !assert_trim(a->part, sizeof a->part, at_sign + 1, len - name_len - 1))
    return bn_err_set(err, 0, "the name of the part after @ is too long");
  if (at_sign != NULL && a->part[0] == '\0')
    return bn_err_set(
        err, 0, "the name of a part after @ is missing, such as read or " BN_EVENT_PART "NAME");
  return assert_check_part(a, name, err);
}

/* Sets the unit of a limit that is a time, which must have one.  Returns 0, or -1 and err. */
static int assert_read_time_unit(struct bn_assert *a, const char *unit, struct bn_err *err)
{
  static const struct {
    const char *name;
    double per_s;
  } units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}};

  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(units[i].name, unit) == 0) {
      a->unit = units[i].name;
      a->scale = units[i].per_s;
      return 0;
    }
  if (unit[0] == '\0')
    return bn_err_set(err, 0, "the time has no unit; add ns, us, ms or s");
  return bn_err_set(err, 0, "'%s' is not a unit of time; use ns, us, ms or s", unit);
}

/* Sets the unit of the limit.  With "%", an assertion about the number of errors becomes one about
   their share.  unit: as typed after the limit, or "".  Returns 0, or -1 and err. */
static int assert_read_unit(struct bn_assert *a, const char *unit, struct bn_err *err)
{
  if (strcmp(a->unit, "s") == 0)
    return assert_read_time_unit(a, unit, err);

  const bool takes_percent = (a->field->traits & BN_FIGURE_SHARE) != 0;

  if (unit[0] == '\0')
    return 0;
  if (!takes_percent || strcmp(unit, "%") != 0)
    return bn_err_set(err, 0, "'%s' does not fit the metric; use a number without a unit%s", unit,
                      takes_percent ? ", or %" : "");
  a->unit = "%";
  a->scale = 100;
  if (a->field->type == BN_VIEW_U64) /* errors are the only count that takes percent */
    a->what = BN_ASSERT_ERRORS;
  return 0;
}

/* Reads "LIMIT [UNIT]".  Returns 0, or -1 and err. */
static int assert_read_limit(struct bn_assert *a, const char *text, struct bn_err *err)
{
  char limit[BN_ASSERT_NAME], number[BN_ASSERT_NAME];
  const char *unit;

  if (!assert_trim(limit, sizeof limit, text, strlen(text)))
    return bn_err_set(err, 0, "the limit is too long");
  unit = limit + strspn(limit, "0123456789.eE+-");
  (void)snprintf(number, sizeof number, "%.*s", (int)(unit - limit), limit);
  if (bn_units_parse_double(number, &a->limit) != 0 || a->limit < 0)
    return bn_err_set(err, 0, "the limit '%s' is not a number of 0 or more", limit);
  return assert_read_unit(a, unit + strspn(unit, " "), err);
}

int bn_assert_parse(struct bn_assert *out, const char *text, struct bn_err *err)
{
  const char *op = strpbrk(text, "<>");

  *out = (struct bn_assert){.text = text};
  if (op == NULL)
    return bn_err_set(
        err, 0,
        "there is no comparison; write 'METRIC<LIMIT' in quotes, with <, <=, > or >=, "
        "such as 'p99<50ms' or 'errors<=0'");

  const bool or_equal = op[1] == '=';

  if (*op == '<')
    out->op = or_equal ? BN_ASSERT_LE : BN_ASSERT_LT;
  else
    out->op = or_equal ? BN_ASSERT_GE : BN_ASSERT_GT;
  if (assert_read_metric(out, text, (size_t)(op - text), err) != 0)
    return -1;
  return assert_read_limit(out, op + (or_equal ? 2 : 1), err);
}

int bn_assert_parse_option(struct bn_assert *out, const char *text, struct bn_err *err)
{
  if (strcmp(text, "proof") != 0)
    return bn_assert_parse(out, text, err);
  *out = (struct bn_assert){
      .text = text, .what = BN_ASSERT_PROOF, .op = BN_ASSERT_LE, .unit = "1", .scale = 1};
  return 0;
}

int bn_assert_parse_metric(struct bn_assert *out, const char *text, struct bn_err *err)
{
  *out = (struct bn_assert){.text = text};
  return assert_read_metric(out, text, strlen(text), err);
}

/* --- what a run measures ---------------------------------------------------------------------- */

/* Returns whether the part of an assertion names this histogram: "phase:2", "event:payment",
   "group:reads", or "read" for "read" and "read_latency".  A part with a prefix names no other
   histogram, although a document may give other histograms such names. */
static bool assert_names_hist(const char *part, const struct bn_metric *hist)
{
  const char *const kind = bn_event_kinds_parse_part(part); /* NULL: no kind of events */
  const size_t len = strlen(part);

  switch (hist->kind) {
  case BN_PHASE_HISTOGRAM:
    return bn_phases_is_metric_of(hist->name, part);
  case BN_EVENT_HISTOGRAM:
    return kind != NULL && strcmp(bn_event_kinds_name(hist->name), kind) == 0;
  default:
    if (kind != NULL || bn_phases_is_part(part))
      return false;
    return strncmp(hist->name, part, len) == 0 &&
           (hist->name[len] == '\0' || strcmp(hist->name + len, "_latency") == 0);
  }
}

size_t bn_assert_find_hist(const struct bn_assert *a, const struct bn_metrics *m)
{
  if (a->part[0] == '\0')
    return BN_H_LATENCY;
  for (size_t i = 0; i < m->n_hists; i++)
    if (assert_names_hist(a->part, &m->hist[i]))
      return i;
  return m->n_hists;
}

/* Returns what follows a list of names in a message: ", ..." if not all names fitted. */
static const char *assert_end_of_list(const struct bn_buf *names)
{
  return names->failed ? ", ..." : "";
}

/* Adds the names of the groups of the run, or of its other kinds of events. */
static void assert_add_kinds(struct bn_buf *names, const struct bn_metrics *m, bool wants_groups)
{
  struct bn_event_kind_rows rows;

  for (size_t k = 0; bn_event_kinds_find_rows(m, k, &rows); k++) {
    const char *kind = bn_event_kinds_name(m->hist[rows.hist].name);

    if (bn_event_kinds_is_group(kind) == wants_groups)
      (void)bn_buf_printf(names, "%s%s", names->len > 0 ? ", " : "",
                          bn_event_kinds_bare_name(kind));
  }
}

/* Refuses a kind of events "event:NAME" or a group "group:NAME", which the run does not have.
   Returns -1. */
static int assert_refuse_kind(const char *part, const struct bn_metrics *m, struct bn_err *err)
{
  const char *name = bn_event_kinds_parse_part(part), *shown = bn_event_kinds_bare_name(name);
  const bool is_group = bn_event_kinds_is_group(name);
  struct bn_buf known = {.max = LIST_MAX};

  assert_add_kinds(&known, m, is_group);
  if (known.data != NULL)
    (void)bn_err_set(err, 0, "the run has no %s called '%s'; it has: %s%s",
                     is_group ? "group" : "kind of events", shown, known.data,
                     assert_end_of_list(&known));
  else if (is_group)
    (void)bn_err_set(err, 0, "the run has no groups, so it has none called '%s' (--group)", shown);
  else
    (void)bn_err_set(err, 0,
                     "the run does not tell kinds of events apart, so it has none called '%s'; a "
                     "script names them in sysbench.kinds",
                     shown);
  bn_buf_done(&known);
  return -1;
}

/* Returns whether the run consists of groups (--group). */
static bool assert_has_groups(const struct bn_metrics *m)
{
  struct bn_event_kind_rows rows;

  for (size_t k = 0; bn_event_kinds_find_rows(m, k, &rows); k++)
    if (bn_event_kinds_is_group(m->hist[rows.hist].name))
      return true;
  return false;
}

/* Refuses a phase "phase:NUMBER", which the run does not have.  Returns -1. */
static int assert_refuse_phase(const char *part, const struct bn_metrics *m, struct bn_err *err)
{
  const size_t n = bn_phases_count(m);

  if (n == 0 && assert_has_groups(m))
    return bn_err_set(err, 0,
                      "phases are told apart in the total of each group alone, and the run has "
                      "groups (--group); a latency of a group is @" BN_GROUP_PART "NAME");
  if (n == 0)
    return bn_err_set(err, 0,
                      "the run has no phases; --rate-profile and --threads-profile make them");
  return bn_err_set(err, 0, "the run has no %s: its profile has %zu phase(s)", part, n);
}

/* Refuses a name that is that of no latency of the run.  Returns -1. */
static int assert_refuse_timing(const char *name, const struct bn_assert_scope *scope,
                                struct bn_err *err)
{
  const struct bn_metrics *m = scope->metrics;
  const bool has_sql = (scope->kinds & 1U << BN_KIND_SQL) != 0;
  struct bn_buf known = {.max = LIST_MAX};

  for (size_t i = 0; i < m->n_hists; i++)
    (void)bn_buf_printf(&known, "%s%.*s", i > 0 ? ", " : "",
                        (int)bn_phases_part_len(m->hist[i].name), m->hist[i].name);
  (void)bn_err_set(err, 0, "the run has no latency called '%s'; it has: %s%s%s", name,
                   known.data != NULL ? known.data : "", assert_end_of_list(&known),
                   has_sql ? ", and with --statements those of statements by their names" : "");
  bn_buf_done(&known);
  return -1;
}

/* Returns 0 if the run makes the proof sheet that --assert=proof needs, or -1 and err. */
static int assert_check_proof(const struct bn_assert_scope *scope, struct bn_err *err)
{
  if (scope->proves)
    return 0;
  return bn_err_set(err, 0,
                    "there is no proof sheet; a script makes one with sysbench.hooks.prove, as "
                    "order_entry does, but not in a dialect or on several hosts");
}

/* Returns 0 if a run of this scope measures the figure of the whole run, or -1 and err. */
static int assert_check_field(const struct bn_view_field *f, const struct bn_assert_scope *scope,
                              struct bn_err *err)
{
  const struct bn_view_scope s = {.kinds = scope->kinds,
                                  .paced = scope->paced,
                                  .wakes = scope->paced || bn_statset_has_lag(scope->metrics),
                                  .commits = bn_view_counts_commits(scope->metrics),
                                  .parts = scope->native,
                                  .native = scope->native,
                                  .total = true};

  switch (bn_view_find_lack(f, &s)) {
  case BN_LACK_NONE:
    return 0;
  case BN_LACK_RATE:
    return bn_err_set(err, 0, "%s is only measured with --rate", f->name);
  case BN_LACK_WAKES:
    return bn_err_set(
        err, 0, "%s is only measured with --rate, --think-time or a script that pauses", f->name);
  case BN_LACK_COMMITS:
    return bn_err_set(err, 0, "%s is only measured with --verify-commits", f->name);
  case BN_LACK_DIALECT:
    return bn_err_set(err, 0, "%s is not measured in a dialect", f->name);
  case BN_LACK_TOTAL:
  case BN_LACK_KIND:
    break;
  }
  return bn_err_set(err, 0, "this test does not measure %s", f->name);
}

int bn_assert_check(const struct bn_assert *a, const struct bn_assert_scope *scope,
                    struct bn_err *err)
{
  if (a->what == BN_ASSERT_PROOF)
    return assert_check_proof(scope, err);
  if (a->part[0] == '\0')
    return a->field != NULL ? assert_check_field(a->field, scope, err) : 0;
  if (bn_assert_find_hist(a, scope->metrics) < scope->metrics->n_hists)
    return 0;
  if (bn_event_kinds_parse_part(a->part) != NULL)
    return assert_refuse_kind(a->part, scope->metrics, err);
  if (bn_phases_is_part(a->part))
    return assert_refuse_phase(a->part, scope->metrics, err);
  if (scope->statements) /* their names become known during the run */
    return 0;
  return assert_refuse_timing(a->part, scope, err);
}

/* --- showing ---------------------------------------------------------------------------------- */

/* Returns how many decimals a value in that unit is printed with.  A whole count has none.  Other
   values have as many as show three digits, but at least two, or none in ns. */
static int assert_count_decimals(double value, const char *unit)
{
  const bool is_count = strcmp(unit, "1") == 0 || strcmp(unit, "bytes") == 0;
  const int min_decimals = strcmp(unit, "ns") == 0 ? 0 : 2;

  if (is_count && value == floor(value))
    return 0;
  return bn_units_count_decimals(value, min_decimals);
}

const char *bn_assert_format(const struct bn_verdict *v, char *out, size_t size)
{
  const double value = v->found.value;
  const char *unit = v->unit, *blank = " ";

  if (!v->found.measured) {
    (void)snprintf(out, size, "not measured");
    return out;
  }
  if (strcmp(unit, "1") == 0) {
    unit = blank = "";
  } else if (strcmp(unit, "1/s") == 0) {
    unit = "/s";
    blank = "";
  }
  (void)snprintf(out, size, "%s%.*f%s%s", v->found.at_least ? "at least " : "",
                 assert_count_decimals(value, v->unit), value, blank, unit);
  return out;
}
