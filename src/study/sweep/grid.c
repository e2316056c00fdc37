/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what is varied, and shuffles the combinations of it. */
#include "study/sweep/grid.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/rng.h"
#include "base/units.h"
#include "option/opt.h"

/* --- reading ---------------------------------------------------------------------------------- */

enum { SHOWN = 128 };

__attribute__((format(printf, 3, 4))) static int refuse(const char *item, struct bn_err *err,
                                                        const char *fmt, ...)
{
  char shown[SHOWN], why[256];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  (void)bn_escape(shown, sizeof shown, item, "");
  return bn_err_set(err, EINVAL, "--vary=%s: %s", shown, why);
}

static int out_of_memory(struct bn_err *err)
{
  return bn_err_set(err, ENOMEM, "out of memory");
}

/* The length of NAME in "NAME=VALUE"; 0: the item is a value. */
static size_t name_length(const char *item)
{
  const size_t dashes = strncmp(item, "--", 2) == 0 ? 2 : 0;
  size_t len = dashes;

  while (isalnum((unsigned char)item[len]) || item[len] == '-' || item[len] == '_')
    len++;
  return item[len] == '=' && len > dashes ? len : 0;
}

/* text: "threads=1", which err may quote. */
static int add_axis(struct bn_grid *g, const char *text, size_t len, struct bn_err *err)
{
  const size_t dashes = strncmp(text, "--", 2) == 0 ? 2 : 0;
  struct bn_grid_axis *x = &g->axis[g->n_axes];

  if (g->n_axes == BN_GRID_AXES_MAX)
    return refuse(text, err, "too many options are varied; allowed: up to %d", BN_GRID_AXES_MAX);
  *x = (struct bn_grid_axis){.name = strndup(text + dashes, len - dashes)};
  if (x->name == NULL)
    return out_of_memory(err);
  g->n_axes++;
  for (size_t i = 0; i + 1 < g->n_axes; i++)
    if (bn_opt_same_name(g->axis[i].name, x->name))
      return refuse(text, err, "'%s' is varied twice; give all its values at once", x->name);
  return 0;
}

static int add_value(struct bn_grid_axis *x, const char *value, struct bn_err *err)
{
  char **more;

  for (size_t i = 0; i < x->n; i++)
    if (strcmp(x->value[i], value) == 0)
      return refuse(x->name, err, "the value '%.64s' is there twice", value);
  if (x->n == BN_GRID_VALUES_MAX)
    return refuse(x->name, err, "too many values; allowed: up to %d", BN_GRID_VALUES_MAX);
  more = reallocarray(x->value, x->n + 1, sizeof *more);
  if (more == NULL)
    return out_of_memory(err);
  x->value = more;
  x->value[x->n] = strdup(value);
  if (x->value[x->n] == NULL)
    return out_of_memory(err);
  x->n++;
  return 0;
}

/* A size is written as the user writes sizes: with the largest unit that leaves a whole number. */
static int add_number(struct bn_grid_axis *x, uint64_t number, bool is_size, struct bn_err *err)
{
  static const char *const units[] = {"", "K", "M", "G", "T"};
  size_t power = 0;
  char text[BN_UNITS_DIGITS];

  while (is_size && number > 0 && number % 1024 == 0 && power < 4) {
    number /= 1024;
    power++;
  }
  (void)snprintf(text, sizeof text, "%" PRIu64 "%s", number, units[power]);
  return add_value(x, text, err);
}

struct range {
  uint64_t from, to, step; /* step 0: the values double */
  bool sizes;
};

/* A whole number or a size, of which text[0..len) is the text. */
static bool read_whole(const char *text, size_t len, uint64_t *out, bool *is_size)
{
  char copy[BN_UNITS_DIGITS];

  if (len == 0 || len >= sizeof copy || !isdigit((unsigned char)text[0]))
    return false;
  memcpy(copy, text, len);
  copy[len] = '\0';
  if (bn_units_size(copy, out) != 0)
    return false;
  *is_size = *is_size || !isdigit((unsigned char)copy[len - 1]);
  return true;
}

/* A path such as "../a" is no range. */
static bool is_range(const char *value)
{
  return isdigit((unsigned char)value[0]) && strstr(value, "..") != NULL;
}

static int read_range(struct range *r, const char *name, const char *value, struct bn_err *err)
{
  const char *dots = strstr(value, ".."), *to = dots + 2, *colon = strchr(to, ':');
  const size_t to_len = colon != NULL ? (size_t)(colon - to) : strlen(to);

  *r = (struct range){.step = 0};
  if (!read_whole(value, (size_t)(dots - value), &r->from, &r->sizes) ||
      !read_whole(to, to_len, &r->to, &r->sizes) ||
      (colon != NULL && !read_whole(colon + 1, strlen(colon + 1), &r->step, &r->sizes)))
    return refuse(name, err, "the range '%.64s' must be A..B or A..B:STEP, in whole numbers",
                  value);
  if (r->from >= r->to)
    return refuse(name, err, "the range '%.64s' must end with a larger number than it begins with",
                  value);
  if (colon != NULL && r->step == 0)
    return refuse(name, err, "the step of the range '%.64s' must be 1 or more", value);
  if (colon == NULL && r->from == 0)
    return refuse(name, err, "the range '%.64s' cannot double 0; begin with 1, or add a step",
                  value);
  return 0;
}

static int add_range(struct bn_grid_axis *x, const char *value, struct bn_err *err)
{
  struct range r;
  uint64_t at;

  if (read_range(&r, x->name, value, err) != 0)
    return -1;
  for (at = r.from; at<r.to; at += r.step> 0 ? r.step : at) {
    if (add_number(x, at, r.sizes, err) != 0)
      return -1;
    if ((r.step > 0 ? r.step : at) > UINT64_MAX - at)
      break;
  }
  return add_number(x, r.to, r.sizes, err);
}

static int add_item(struct bn_grid *g, const char *item, struct bn_err *err)
{
  const size_t len = name_length(item);
  const char *value = len > 0 ? item + len + 1 : item;
  struct bn_grid_axis *x;

  if (len > 0 && add_axis(g, item, len, err) != 0)
    return -1;
  if (g->n_axes == 0)
    return refuse(item, err, "the option is missing; write NAME=VALUE,VALUE,...");
  x = &g->axis[g->n_axes - 1];
  if (value[0] == '\0')
    return refuse(item, err, "the values are missing; write NAME=VALUE,VALUE,...");
  return is_range(value) ? add_range(x, value, err) : add_value(x, value, err);
}

int bn_grid_read(struct bn_grid *g, const struct bn_list *items, struct bn_err *err)
{
  size_t points = 1;

  for (size_t i = 0; i < items->n; i++)
    if (add_item(g, items->item[i], err) != 0)
      return -1;
  for (size_t i = 0; i < g->n_axes; i++) {
    points *= g->axis[i].n;
    if (points > BN_GRID_POINTS_MAX)
      return refuse(g->axis[i].name, err, "too many combinations of values; allowed: up to %d",
                    BN_GRID_POINTS_MAX);
  }
  return 0;
}

void bn_grid_done(struct bn_grid *g)
{
  for (size_t i = 0; i < g->n_axes; i++) {
    for (size_t k = 0; k < g->axis[i].n; k++)
      free(g->axis[i].value[k]);
    free(g->axis[i].value);
    free(g->axis[i].name);
  }
  *g = (struct bn_grid){.n_axes = 0};
}

/* --- points ----------------------------------------------------------------------------------- */

size_t bn_grid_points(const struct bn_grid *g)
{
  size_t n = 1;

  for (size_t i = 0; i < g->n_axes; i++)
    n *= g->axis[i].n;
  return n;
}

size_t bn_grid_index(const struct bn_grid *g, size_t point, size_t axis)
{
  for (size_t i = g->n_axes; i > axis + 1; i--)
    point /= g->axis[i - 1].n;
  return point % g->axis[axis].n;
}

const char *bn_grid_value(const struct bn_grid *g, size_t point, size_t axis)
{
  return g->axis[axis].value[bn_grid_index(g, point, axis)];
}

void bn_grid_name(const struct bn_grid *g, size_t point, struct bn_buf *out)
{
  for (size_t i = 0; i < g->n_axes; i++)
    (void)bn_buf_printf(out, "%s%s=%s", i > 0 ? " " : "", g->axis[i].name,
                        bn_grid_value(g, point, i));
}

bool bn_grid_same_data(const struct bn_grid *g, size_t a, size_t b)
{
  for (size_t i = 0; i < g->n_axes; i++)
    if (g->axis[i].of_data && bn_grid_index(g, a, i) != bn_grid_index(g, b, i))
      return false;
  return true;
}

bool bn_grid_number(const char *value, double *number)
{
  return bn_units_number(value, number) == 0;
}

bool bn_grid_beyond(const struct bn_grid *g, size_t a, size_t b)
{
  double of_a, of_b;

  for (size_t i = 1; i < g->n_axes; i++)
    if (bn_grid_index(g, a, i) != bn_grid_index(g, b, i))
      return false;
  return g->n_axes > 0 && bn_grid_number(bn_grid_value(g, a, 0), &of_a) &&
         bn_grid_number(bn_grid_value(g, b, 0), &of_b) && of_b > of_a;
}

/* --- order ------------------------------------------------------------------------------------ */

static void swap(size_t *a, size_t *b)
{
  const size_t kept = *a;

  *a = *b;
  *b = kept;
}

static void shuffle(size_t *at, size_t n, struct bn_rng *rng)
{
  for (size_t i = 0; i < n; i++)
    at[i] = i;
  for (size_t i = n; i > 1; i--)
    swap(&at[i - 1], &at[bn_rng_below(rng, i)]);
}

/* Stable, by the number of the first axis; a value that is none counts as 0. */
static void sort(const struct bn_grid *g, size_t *at, size_t n)
{
  for (size_t i = 1; i < n; i++)
    for (size_t k = i; k > 0; k--) {
      double before = 0, after = 0;

      (void)bn_grid_number(bn_grid_value(g, at[k - 1], 0), &before);
      (void)bn_grid_number(bn_grid_value(g, at[k], 0), &after);
      if (before <= after)
        break;
      swap(&at[k - 1], &at[k]);
    }
}

/* Stable: the data in the order of their first points. */
static void gather_data(const struct bn_grid *g, size_t *at, size_t n)
{
  for (size_t i = 1; i < n; i++)
    for (size_t k = i; k < n; k++)
      if (bn_grid_same_data(g, at[i - 1], at[k])) {
        const size_t found = at[k];

        memmove(&at[i + 1], &at[i], (k - i) * sizeof *at);
        at[i] = found;
        break;
      }
}

size_t *bn_grid_order(const struct bn_grid *g, size_t repeats, uint64_t seed, bool ascending)
{
  const size_t n = bn_grid_points(g);
  size_t *order = calloc(n * repeats, sizeof *order);

  for (size_t r = 0; order != NULL && r < repeats; r++) {
    struct bn_rng rng;

    bn_rng_seed(&rng, seed, BN_RNG_STUDY, r);
    shuffle(order + r * n, n, &rng);
    if (ascending && r == 0)
      sort(g, order, n);
    gather_data(g, order + r * n, n);
  }
  return order;
}
