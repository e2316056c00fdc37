/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the options that differ, then numbers their combinations. */
#include "study/points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* An option of a result; borrowed. */
struct setting {
  const char *name, *value;
  size_t result;
  bool by_default;
};

struct finding {
  const struct bn_result *const *result;
  const size_t *side;
  size_t n;
  struct setting *setting; /* owned; sorted by name, then by result */
  size_t n_settings;
  size_t *by_values; /* owned; numbers of results */
};

static const char test[] = "test";

/* The name of the test takes the place of the option of 0.5. */
bool bn_points_ignore(const struct bn_fact_option *o)
{
  return (o->traits & (BN_OPT_OUTPUT_ONLY | BN_OPT_OBSERVES | BN_OPT_FIGURES_ONLY |
                       BN_OPT_REPEAT_ONLY | BN_OPT_PLACE)) != 0 ||
         o->secret || strcmp(o->name, test) == 0;
}

static int compare_settings(const void *a, const void *b)
{
  const struct setting *s = a, *t = b;
  const int order = strcmp(s->name, t->name);

  return order != 0 ? order : (s->result > t->result) - (s->result < t->result);
}

static void add_setting(struct finding *f, size_t result, const char *name, const char *value,
                        bool by_default)
{
  f->setting[f->n_settings++] = (struct setting){.name = name,
                                                 .value = value != NULL ? value : "",
                                                 .result = result,
                                                 .by_default = by_default};
}

static int gather(struct finding *f)
{
  size_t room = f->n + 1;

  for (size_t i = 0; i < f->n; i++)
    room += f->result[i]->facts.n_options;
  f->setting = calloc(room, sizeof *f->setting);
  f->by_values = calloc(f->n + 1, sizeof *f->by_values);
  if (f->setting == NULL || f->by_values == NULL)
    return -1;
  for (size_t i = 0; i < f->n; i++) {
    const struct bn_facts *facts = &f->result[i]->facts;

    for (size_t k = 0; k < facts->n_options; k++)
      if (!bn_points_ignore(&facts->option[k]))
        add_setting(f, i, facts->option[k].name, facts->option[k].value,
                    facts->option[k].origin == BN_FROM_DEFAULT);
    add_setting(f, i, test, f->result[i]->n_groups > 0 ? f->result[i]->group[0].name : "", false);
  }
  qsort(f->setting, f->n_settings, sizeof *f->setting, compare_settings);
  return 0;
}

static size_t side_of(const struct finding *f, size_t result)
{
  return f->side != NULL ? f->side[result] : 0;
}

/* The values of one name, [n] of them; of each result the last one typed.  A result without the
   option is of a program that did not know it, and did what the default does: "" if none is known.
 */
static void spread(const struct finding *f, const struct setting *s, size_t n, const char **value)
{
  const char *absent = "";

  for (size_t i = 0; i < n; i++)
    if (s[i].by_default)
      absent = s[i].value;
  for (size_t i = 0; i < f->n; i++)
    value[i] = absent;
  for (size_t i = 0; i < n; i++)
    value[s[i].result] = s[i].value;
}

/* Whether two results of one side have different values. */
static bool differs(const struct finding *f, const char *const *value)
{
  for (size_t i = 1; i < f->n; i++)
    for (size_t k = i; k-- > 0;)
      if (side_of(f, k) == side_of(f, i)) {
        if (strcmp(value[k], value[i]) != 0)
          return true;
        break;
      }
  return false;
}

/* Adds the name with the values of all results to columns, [n_options * n]. */
static int add_option(const struct finding *f, struct bn_points *p, const char ***column,
                      const char *name, const char *const *value)
{
  char **names = reallocarray(p->option, p->n_options + 1, sizeof *names);
  const char **columns;

  if (names == NULL)
    return -1;
  p->option = names;
  columns = reallocarray(*column, (p->n_options + 1) * f->n, sizeof *columns);
  if (columns == NULL)
    return -1;
  *column = columns;
  memcpy(columns + p->n_options * f->n, value, f->n * sizeof *value);
  names[p->n_options] = strdup(name);
  return names[p->n_options] != NULL ? (int)(p->n_options++, 0) : -1;
}

static int find_options(const struct finding *f, struct bn_points *p, const char ***column)
{
  const char **value = calloc(f->n + 1, sizeof *value);
  int rc = value != NULL ? 0 : -1;

  for (size_t i = 0, next; rc == 0 && i < f->n_settings; i = next) {
    next = i + 1;
    while (next < f->n_settings && strcmp(f->setting[next].name, f->setting[i].name) == 0)
      next++;
    spread(f, f->setting + i, next - i, value);
    if (differs(f, value))
      rc = add_option(f, p, column, f->setting[i].name, value);
  }
  free(value);
  return rc;
}

/* Numbers and sizes by size, before other texts. */
static int compare_values(const char *a, const char *b)
{
  double x, y;
  const bool is_x = bn_units_number(a, &x) == 0, is_y = bn_units_number(b, &y) == 0;

  if (is_x && is_y && x != y)
    return x < y ? -1 : 1;
  if (is_x != is_y)
    return is_x ? -1 : 1;
  return strcmp(a, b);
}

struct columns {
  const char **value; /* [n_options * n] */
  size_t n_options, n;
};

static int compare_results(const void *a, const void *b, void *arg)
{
  const struct columns *c = arg;
  const size_t i = *(const size_t *)a, k = *(const size_t *)b;

  for (size_t o = 0; o < c->n_options; o++) {
    const int order = compare_values(c->value[o * c->n + i], c->value[o * c->n + k]);

    if (order != 0)
      return order;
  }
  return 0;
}

/* Those of that result. */
static int add_point(struct bn_points *p, const struct columns *c, size_t result)
{
  for (size_t o = 0; o < c->n_options; o++) {
    char *value = strdup(c->value[o * c->n + result]);

    if (value == NULL)
      return -1;
    p->value[p->n_values++] = value;
  }
  p->n++;
  return 0;
}

/* Numbers the points in the order of their values. */
static int number(const struct finding *f, struct bn_points *p, const char **column)
{
  struct columns c = {.value = column, .n_options = p->n_options, .n = f->n};

  p->of = calloc(f->n + 1, sizeof *p->of);
  p->value = calloc(f->n * p->n_options + 1, sizeof *p->value);
  if (p->of == NULL || p->value == NULL)
    return -1;
  for (size_t i = 0; i < f->n; i++)
    f->by_values[i] = i;
  qsort_r(f->by_values, f->n, sizeof *f->by_values, compare_results, &c);
  for (size_t i = 0; i < f->n; i++) {
    const size_t result = f->by_values[i];

    if (i == 0 || compare_results(&f->by_values[i - 1], &f->by_values[i], &c) != 0)
      if (add_point(p, &c, result) != 0)
        return -1;
    p->of[result] = p->n - 1;
  }
  return 0;
}

int bn_points_find(const struct bn_result *const *result, const size_t *side, size_t n,
                   struct bn_points *out, struct bn_err *err)
{
  struct finding f = {.result = result, .side = side, .n = n};
  const char **column = NULL;
  int rc;

  *out = (struct bn_points){.n = 0};
  rc = gather(&f);
  if (rc == 0)
    rc = find_options(&f, out, &column);
  if (rc == 0)
    rc = number(&f, out, column);
  free(column);
  free(f.setting);
  free(f.by_values);
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

void bn_points_done(struct bn_points *p)
{
  for (size_t i = 0; i < p->n_values; i++)
    free(p->value[i]);
  for (size_t i = 0; i < p->n_options; i++)
    free(p->option[i]);
  free(p->option);
  free(p->value);
  free(p->of);
  *p = (struct bn_points){.n = 0};
}
