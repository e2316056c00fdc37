/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the table of a search, its answer and the knee. */
#include "study/search/searched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/json_write.h"
#include "measure/row.h"
#include "measure/store.h"
#include "report/rows/line.h"

static const char *const purposes[] = {"capacity", "step", "longer", "confirm"};

struct bn_searched *bn_searched_new(const struct bn_goal *goal, bool threads)
{
  struct bn_searched *s = calloc(1, sizeof *s);

  if (s == NULL)
    return NULL;
  s->goal = goal;
  s->what = threads ? "threads" : "rate";
  s->title = threads ? "number of threads" : "rate";
  s->unit = threads ? " threads" : "/s";
  return s;
}

void bn_searched_free(struct bn_searched *s)
{
  if (s == NULL)
    return;
  bn_buf_done(&s->csv);
  free(s);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void measure(struct bn_searched_row *row, const struct bn_result *r)
{
  const struct bn_group *g = r->n_groups > 0 ? &r->group[0] : NULL;
  const struct bn_view *v = g != NULL && g->has_total ? &g->total.view : NULL;
  struct bn_view_rules rules = {.nearest = !r->facts.plan.own};
  double attempts;
  bool at_least;

  row->rate = row->avg_s = row->p50_s = row->p95_s = row->p99_s = row->errors = NAN;
  if (v == NULL)
    return;
  rules.ages = v->ages;
  attempts = (double)v->events + (double)v->errors;
  row->rate = v->events_per_s;
  row->errors = attempts > 0 ? (double)v->errors / attempts : NAN;
  if (v->events == 0 || v->latency == NULL)
    return;
  row->avg_s = v->avg_s;
  row->p50_s = bn_view_percentile_s(v, &rules, 50, &at_least);
  row->p95_s = bn_view_percentile_s(v, &rules, 95, &at_least);
  row->p99_s = bn_view_percentile_s(v, &rules, 99, &at_least);
}

static void put(struct bn_row *row, const char *name, struct bn_cell cell)
{
  struct bn_cell *c = &row->cell[row->n++];

  *c = cell;
  (void)snprintf(c->name, sizeof c->name, "%s", name);
}

static const char *verdict(const struct bn_searched_row *row)
{
  if (row->closed)
    return "-";
  if (row->decided)
    return row->holds ? "kept" : "broken";
  return row->holds ? "kept?" : "broken?";
}

static int add_csv(struct bn_searched *s, const struct bn_searched_row *r,
                   const struct bn_result *result)
{
  const struct bn_group *g = result->n_groups > 0 ? &result->group[0] : NULL;
  struct bn_row *row = calloc(1, sizeof *row), *total = calloc(1, sizeof *total);

  if (row != NULL && total != NULL) {
    put(row, "probe", (struct bn_cell){.type = BN_CELL_WHOLE, .whole = s->n + 1});
    put(row, "purpose", (struct bn_cell){.type = BN_CELL_TEXT, .text = purposes[r->probe.purpose]});
    put(row, s->what, (struct bn_cell){.type = BN_CELL_REAL, .real = r->probe.value});
    put(row, "time_s", (struct bn_cell){.type = BN_CELL_REAL, .real = r->probe.time_s});
    put(row, "status", (struct bn_cell){.type = BN_CELL_WHOLE, .whole = (uint64_t)r->status});
    put(row, "goal",
        (struct bn_cell){.type = r->closed ? BN_CELL_UNKNOWN : BN_CELL_TEXT, .text = verdict(r)});
    bn_row_total(total, &result->facts.plan, g != NULL && g->has_total ? &g->total.view : NULL);
    bn_row_append(row, total);
    if (s->n == 0)
      (void)bn_line_names(&s->csv, row);
    (void)bn_line_values(&s->csv, row);
  } else {
    s->csv.failed = true;
  }
  free(row);
  free(total);
  return s->csv.failed ? -1 : 0;
}

int bn_searched_add(struct bn_searched *s, const struct bn_searched_row *row,
                    const struct bn_result *r, const struct bn_goal_found *found)
{
  struct bn_searched_row *to = &s->row[s->n];

  *to = *row;
  measure(to, r);
  for (size_t i = 0; i < s->goal->n; i++)
    to->figure[i] = found->finding[i].measured ? found->finding[i].value : NAN;
  if (add_csv(s, to, r) != 0)
    return -1;
  s->n++;
  return 0;
}

/* --- numbers ---------------------------------------------------------------------------------- */

enum { DIGITS = 32 };

/* Four digits, without an exponent where that is short; "-": not known. */
static const char *number(double value, char out[DIGITS])
{
  int decimals = 3;

  if (!isfinite(value)) {
    (void)snprintf(out, DIGITS, "-");
    return out;
  }
  for (double v = fabs(value); v >= 10 && decimals > 0; v /= 10)
    decimals--;
  for (double v = fabs(value); v > 0 && v < 1 && decimals < 6; v *= 10)
    decimals++;
  if (value == floor(value))
    decimals = 0;
  (void)snprintf(out, DIGITS, "%.*f", decimals, value);
  bn_units_point(out);
  return out;
}

/* Times of probes are what somebody typed, or multiples of it. */
static const char *seconds(double value, char out[DIGITS])
{
  (void)snprintf(out, DIGITS, "%.4g", value);
  bn_units_point(out);
  return out;
}

/* "p99 12.3 ms, errors 0 %" */
static void add_figures(struct bn_buf *out, const struct bn_searched *s,
                        const struct bn_searched_row *r)
{
  char digits[DIGITS];

  for (size_t i = 0; i < s->goal->n; i++) {
    const struct bn_assert *a = &s->goal->condition[i];
    const int name = (int)strcspn(a->text, "<>");
    const bool plain = strcmp(a->unit, "1") == 0;

    (void)bn_buf_printf(out, "%s%.*s %s%s%s", i > 0 ? ", " : "", name, a->text,
                        number(r->figure[i], digits), plain ? "" : " ", plain ? "" : a->unit);
  }
}

void bn_searched_line(const struct bn_searched *s, struct bn_buf *out)
{
  static const char *const words[] = {"", "", ", longer", ", to confirm"};
  const struct bn_searched_row *r = &s->row[s->n - 1];
  char value[DIGITS], time[DIGITS];

  (void)bn_buf_printf(out, "probe %zu: ", s->n);
  if (r->closed)
    (void)bn_buf_str(out, "without --rate");
  else
    (void)bn_buf_printf(out, "%s %s", number(r->probe.value, value),
                        strcmp(s->what, "rate") == 0 ? "events/s" : "threads");
  (void)bn_buf_printf(out, ", %s s%s: ", seconds(r->probe.time_s, time), words[r->probe.purpose]);
  if (r->closed)
    (void)bn_buf_printf(out, "%s events/s, ", number(r->rate, value));
  add_figures(out, s, r);
  if (!r->closed)
    (void)bn_buf_printf(out, ": %s%s", verdict(r), r->overload ? ", overloaded" : "");
}

/* --- the table -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
  const struct bn_searched_row *const *x = a, *const *y = b;

  if ((*x)->probe.value != (*y)->probe.value)
    return (*x)->probe.value < (*y)->probe.value ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

static void print_row(const struct bn_searched *s, const struct bn_searched_row *r,
                      struct bn_buf *out)
{
  char text[8][DIGITS];

  (void)bn_buf_printf(
      out, "%5zu  %-8s  %10s  %7s  %10s  %9s  %9s  %9s  %8s  %s\n", (size_t)(r - s->row) + 1,
      purposes[r->probe.purpose], r->closed ? "-" : number(r->probe.value, text[0]),
      number(r->probe.time_s, text[1]), number(r->rate, text[2]), number(r->avg_s * 1e3, text[3]),
      number(r->p95_s * 1e3, text[4]), number(r->p99_s * 1e3, text[5]),
      number(r->errors * 100, text[6]), verdict(r));
}

static void print_table(const struct bn_searched *s, struct bn_buf *out)
{
  const struct bn_searched_row *sorted[BN_HUNT_PROBES_MAX];
  bool unsure = false;

  (void)bn_buf_printf(out, "%5s  %-8s  %10s  %7s  %10s  %9s  %9s  %9s  %8s  %s\n", "probe",
                      "purpose", strcmp(s->what, "rate") == 0 ? "rate, 1/s" : s->what, "time, s",
                      "events/s", "avg, ms", "p95, ms", "p99, ms", "errors,%", "goal");
  for (size_t i = 0; i < s->n; i++) {
    sorted[i] = &s->row[i];
    unsure = unsure || (!s->row[i].closed && !s->row[i].decided);
  }
  qsort(sorted, s->n, sizeof sorted[0], by_value);
  for (size_t i = 0; i < s->n; i++)
    print_row(s, sorted[i], out);
  if (unsure)
    (void)bn_buf_str(out, "?: the probe was too short to decide with 95 % confidence\n");
}

/* --- what follows ----------------------------------------------------------------------------- */

/* The probe with the most throughput for its mean latency; NULL: there is none. */
static const struct bn_searched_row *find_knee(const struct bn_searched *s)
{
  const struct bn_searched_row *knee = NULL;

  for (size_t i = 0; i < s->n; i++) {
    const struct bn_searched_row *r = &s->row[i];

    if (!r->closed && r->avg_s > 0 &&
        (knee == NULL || r->rate / r->avg_s > knee->rate / knee->avg_s))
      knee = r;
  }
  return knee;
}

static void print_knee(const struct bn_searched *s, struct bn_buf *out)
{
  const struct bn_searched_row *knee = find_knee(s);
  char value[DIGITS], avg[DIGITS];

  if (knee != NULL)
    (void)bn_buf_printf(out,
                        "knee (the probe with the most throughput / mean latency, Kleinrock's "
                        "power): %s%s, avg %s ms\n",
                        number(knee->probe.value, value), s->unit, number(knee->avg_s * 1e3, avg));
}

static void print_answer(const struct bn_searched *s, const struct bn_hunt *h, struct bn_buf *out)
{
  struct bn_buf figures = {.max = 0};
  const struct bn_searched_row *last = &s->row[s->n - 1];
  char value[DIGITS], above[DIGITS], share[DIGITS], time[DIGITS];

  add_figures(&figures, s, last);
  (void)bn_buf_printf(out, "highest %s that keeps the goal: %s%s (%s by a run of %s s: %s)\n",
                      s->title, number(h->answer, value), s->unit,
                      last->decided ? "confirmed" : "kept, but not decided,",
                      seconds(last->probe.time_s, time), figures.data != NULL ? figures.data : "");
  if (h->failed > h->answer)
    (void)bn_buf_printf(out, "lowest %s above it that breaks the goal: %s%s (%s %% more)\n",
                        s->title, number(h->failed, above), s->unit,
                        number((h->failed / h->answer - 1) * 100, share));
  else
    (void)bn_buf_printf(out, "--max allows no higher %s\n", s->title);
  bn_buf_done(&figures);
}

void bn_searched_print(const struct bn_searched *s, const struct bn_hunt *h, struct bn_buf *out)
{
  char capacity[DIGITS];

  print_table(s, out);
  (void)bn_buf_char(out, '\n');
  if (h->capacity > 0)
    (void)bn_buf_printf(out, "capacity without --rate: %s/s\n", number(h->capacity, capacity));
  print_knee(s, out);
  if (h->state == BN_HUNT_FOUND)
    print_answer(s, h, out);
}

/* --- the document ----------------------------------------------------------------------------- */

static struct bn_node *make_conditions(struct bn_json_out *p, const struct bn_searched *s,
                                       const struct bn_searched_row *r)
{
  struct bn_node *list = p->js->list();

  for (size_t i = 0; i < s->goal->n; i++) {
    const struct bn_assert *a = &s->goal->condition[i];
    struct bn_node *map = p->js->map();

    bn_json_text(p, map, "text", a->text);
    bn_json_f64(p, map, "value", r->figure[i]);
    bn_json_text(p, map, "unit", a->unit);
    bn_json_add(p, list, map);
  }
  return list;
}

static struct bn_node *make_probe(struct bn_json_out *p, const struct bn_searched *s,
                                  const struct bn_searched_row *r)
{
  struct bn_node *map = p->js->map();

  bn_json_text(p, map, "purpose", purposes[r->probe.purpose]);
  bn_json_f64(p, map, "value", r->closed ? NAN : r->probe.value);
  bn_json_f64(p, map, "time_s", r->probe.time_s);
  bn_json_put(p, map, "status", p->js->integer(r->status));
  bn_json_text(p, map, "goal", r->closed ? NULL : verdict(r));
  bn_json_put(p, map, "overload", p->js->boolean(r->overload));
  bn_json_f64(p, map, "events_per_s", r->rate);
  bn_json_f64(p, map, "avg_s", r->avg_s);
  bn_json_f64(p, map, "p50_s", r->p50_s);
  bn_json_f64(p, map, "p95_s", r->p95_s);
  bn_json_f64(p, map, "p99_s", r->p99_s);
  bn_json_f64(p, map, "errors", r->errors);
  bn_json_put(p, map, "conditions", make_conditions(p, s, r));
  return map;
}

struct bn_node *bn_searched_document(const struct bn_store *js, const struct bn_searched *s,
                                     const struct bn_hunt *h)
{
  const bool found = h->state == BN_HUNT_FOUND;
  const struct bn_searched_row *knee = find_knee(s);
  struct bn_json_out p = {.js = js};
  struct bn_node *map = js->map(), *probes = js->list();

  for (size_t i = 0; i < s->n; i++)
    bn_json_add(&p, probes, make_probe(&p, s, &s->row[i]));
  bn_json_text(&p, map, "format", "bench search");
  bn_json_u64(&p, map, "version", 1);
  bn_json_text(&p, map, "goal", s->goal->typed);
  bn_json_text(&p, map, "over", s->what);
  bn_json_f64(&p, map, "answer", found ? h->answer : NAN);
  bn_json_put(&p, map, "decided", found ? js->boolean(s->row[s->n - 1].decided) : js->null());
  bn_json_f64(&p, map, "broken_at", h->failed > 0 ? h->failed : NAN);
  bn_json_f64(&p, map, "capacity_per_s", h->capacity > 0 ? h->capacity : NAN);
  bn_json_f64(&p, map, "knee", knee != NULL ? knee->probe.value : NAN);
  bn_json_put(&p, map, "probes", probes);
  return bn_json_finish(&p, map);
}
