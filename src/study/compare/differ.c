/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares options and facts of two sides. */
#include "study/compare/differ.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/json_write.h"
#include "study/columns.h"

static int out_of_memory(struct bn_err *err)
{
  return bn_err_set(err, ENOMEM, "out of memory");
}

/* The options say what is printed, or by what a run differs from its repeats. */
static bool is_of_no_account(const struct bn_fact_option *o)
{
  return (o->traits & (BN_OPT_OUTPUT_ONLY | BN_OPT_REPEAT_ONLY)) != 0 || o->secret;
}

static const char *value_of(const struct bn_fact_option *o)
{
  return o->value != NULL ? o->value : "";
}

static bool makes_points(const struct bn_points *p, const char *name)
{
  for (size_t i = 0; i < p->n_options; i++)
    if (strcmp(p->option[i], name) == 0)
      return true;
  return false;
}

/* --- differences ------------------------------------------------------------------------------ */

enum { VALUES_MAX = 4, VALUE_MAX = 200 };

/* The values that one side has, each once. */
struct values {
  char text[VALUES_MAX][VALUE_MAX];
  size_t n;
  bool more;
};

static bool has(const struct values *v, const char *text)
{
  for (size_t i = 0; i < v->n; i++)
    if (strcmp(v->text[i], text) == 0)
      return true;
  return false;
}

static void take(struct values *v, const char *text)
{
  char cut[VALUE_MAX];

  (void)snprintf(cut, sizeof cut, "%s", text);
  if (has(v, cut))
    return;
  if (v->n == VALUES_MAX)
    v->more = true;
  else
    memcpy(v->text[v->n++], cut, sizeof cut);
}

static bool same_values(const struct values *a, const struct values *b)
{
  for (size_t i = 0; i < a->n; i++)
    if (!has(b, a->text[i]))
      return false;
  return a->n == b->n && a->more == b->more;
}

static char *joined(const struct values *v)
{
  struct bn_buf b = {.max = 0};

  for (size_t i = 0; i < v->n; i++)
    (void)bn_buf_printf(&b, "%s%s", i > 0 ? ", " : "", v->text[i][0] != '\0' ? v->text[i] : "none");
  if (v->more)
    (void)bn_buf_str(&b, ", ...");
  if (v->n == 0)
    (void)bn_buf_str(&b, "not known");
  return bn_buf_take(&b);
}

/* Takes what over. */
static int tell(struct bn_differences *out, char *what, const struct values *a,
                const struct values *b, struct bn_err *err)
{
  struct bn_difference *more = realloc(out->row, (out->n + 1) * sizeof *more);

  if (more == NULL || what == NULL) {
    out->row = more != NULL ? more : out->row;
    free(what);
    return out_of_memory(err);
  }
  out->row = more;
  more[out->n] = (struct bn_difference){what, joined(a), joined(b)};
  out->n++;
  return more[out->n - 1].a != NULL && more[out->n - 1].b != NULL ? 0 : out_of_memory(err);
}

static void take_fact(struct values *v, const struct bn_fact *f)
{
  char digits[32];

  if (f == NULL)
    return;
  if (f->type == BN_FACT_WHOLE)
    (void)snprintf(digits, sizeof digits, "%lld", (long long)f->whole);
  else
    (void)snprintf(digits, sizeof digits, "%g", f->real);
  take(v, f->type == BN_FACT_TEXT ? f->text : digits);
}

static struct values facts_of(const struct bn_side *s, const struct bn_fact *like)
{
  struct values v = {.n = 0};

  for (size_t i = 0; i < s->n; i++)
    if (s->run[i].left_out == NULL)
      take_fact(&v, bn_facts_find(&s->run[i].result.facts, like->section, like->key));
  return v;
}

static struct values options_of(const struct bn_side *s, const char *name)
{
  struct values v = {.n = 0};

  for (size_t i = 0; i < s->n; i++) {
    const struct bn_fact_option *o =
        s->run[i].left_out == NULL ? bn_side_option(&s->run[i], name) : NULL;

    if (o != NULL && !o->secret)
      take(&v, value_of(o));
  }
  return v;
}

/* What was seen in the run, and where its result is. */
static bool is_of_outcome(const struct bn_fact *f)
{
  static const char *const sections[] = {
      "merge",   "error_classes",  "error_messages",      "document",
      "process", BN_THREAD_ERRORS, BN_THREAD_ERROR_TIMES, BN_HOSTS_SECTION};

  for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
    if (strcmp(f->section, sections[i]) == 0)
      return true;
  return false;
}

static const struct bn_side_run *first_of(const struct bn_side *s)
{
  for (size_t i = 0; i < s->n; i++)
    if (s->run[i].left_out == NULL)
      return &s->run[i];
  return NULL;
}

/* Facts that only B has come second. */
static int compare_facts(const struct bn_side *a, const struct bn_side *b, bool second,
                         struct bn_differences *out, struct bn_err *err)
{
  const struct bn_side_run *r = first_of(second ? b : a), *other = first_of(a);

  for (size_t i = 0; r != NULL && i < r->result.facts.n_facts; i++) {
    const struct bn_fact *f = &r->result.facts.fact[i];
    struct values of_a, of_b;
    char *what = NULL;

    if (is_of_outcome(f) || (second && other != NULL &&
                             bn_facts_find(&other->result.facts, f->section, f->key) != NULL))
      continue;
    of_a = facts_of(a, f);
    of_b = facts_of(b, f);
    if (same_values(&of_a, &of_b))
      continue;
    if (asprintf(&what, "%s %s", f->section, f->key) < 0)
      what = NULL;
    if (tell(out, what, &of_a, &of_b, err) != 0)
      return -1;
  }
  return 0;
}

/* An option that only one of two programs knows, and that was not set, makes no difference. */
static bool matters(const struct bn_fact_option *o, const struct bn_side_run *other)
{
  return other != NULL && (bn_side_option(other, o->name) != NULL || o->origin != BN_FROM_DEFAULT);
}

static int compare_options(const struct bn_side *a, const struct bn_side *b, bool second,
                           const struct bn_points *points, struct bn_differences *out,
                           struct bn_err *err)
{
  const struct bn_side_run *r = first_of(second ? b : a), *other = first_of(second ? a : b);

  for (size_t i = 0; r != NULL && i < r->result.facts.n_options; i++) {
    const struct bn_fact_option *o = &r->result.facts.option[i];
    struct values of_a, of_b;
    char *what = NULL;

    if (is_of_no_account(o) || makes_points(points, o->name) || !matters(o, other) ||
        (second && bn_side_option(other, o->name) != NULL))
      continue;
    of_a = options_of(a, o->name);
    of_b = options_of(b, o->name);
    if (same_values(&of_a, &of_b))
      continue;
    if (asprintf(&what, "--%s", o->name) < 0)
      what = NULL;
    if (tell(out, what, &of_a, &of_b, err) != 0)
      return -1;
  }
  return 0;
}

int bn_differ(const struct bn_side *a, const struct bn_side *b, const struct bn_points *points,
              struct bn_differences *out, struct bn_err *err)
{
  *out = (struct bn_differences){.n = 0};
  if (compare_options(a, b, false, points, out, err) != 0 ||
      compare_options(a, b, true, points, out, err) != 0 ||
      compare_facts(a, b, false, out, err) != 0 || compare_facts(a, b, true, out, err) != 0)
    return -1;
  return 0;
}

void bn_differences_done(struct bn_differences *d)
{
  for (size_t i = 0; i < d->n; i++) {
    free(d->row[i].what);
    free(d->row[i].a);
    free(d->row[i].b);
  }
  free(d->row);
}

void bn_differences_print(const struct bn_differences *d, bool markdown, struct bn_buf *out)
{
  if (d->n == 0)
    return;
  (void)bn_buf_str(out, markdown ? "\n| differs | A | B |\n|---|---|---|\n" : "\nDiffers:\n");
  for (size_t i = 0; i < d->n; i++) {
    (void)bn_buf_str(out, markdown ? "| " : "  ");
    bn_columns_text(out, d->row[i].what, markdown);
    (void)bn_buf_str(out, markdown ? " | " : ": ");
    bn_columns_text(out, d->row[i].a, markdown);
    (void)bn_buf_str(out, markdown ? " | " : " in A, ");
    bn_columns_text(out, d->row[i].b, markdown);
    (void)bn_buf_str(out, markdown ? " |\n" : " in B\n");
  }
}

struct bn_node *bn_differences_document(const struct bn_differences *d, const struct bn_store *js)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *list = js->list();

  for (size_t i = 0; i < d->n; i++) {
    struct bn_node *map = js->map();

    bn_json_text(&p, map, "name", d->row[i].what);
    bn_json_text(&p, map, "a", d->row[i].a);
    bn_json_text(&p, map, "b", d->row[i].b);
    bn_json_add(&p, list, map);
  }
  return bn_json_finish(&p, list);
}
