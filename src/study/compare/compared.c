/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the results of two sides, has them compared, and writes the verdicts. */
#include "study/compare/compared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/units.h"
#include "report/written.h"
#include "study/compare/scores.h"
#include "study/compare/verdicts.h"

enum { TEXT, MARKDOWN, JSON, STATUS_WORSE = 3 };

static const char *const formats[] = {"text", "markdown", "json", NULL};

const struct bn_opt bn_compared_options[] = {
    {.name = "metric",
     .type = BN_STRING,
     .def = "rate",
     .form = "=NAME",
     .offset = offsetof(struct bn_compared_conf, metric),
     .help = "primary metric: rate (transactions/s or events/s), or as in --assert"},
    {.name = "secondary",
     .type = BN_LIST,
     .def = "auto",
     .form = "=NAMES",
     .offset = offsetof(struct bn_compared_conf, secondary),
     .help = "other metrics, or none; auto: avg, percentiles, errors_per_s"},
    {.name = "same",
     .type = BN_STRING,
     .def = "5%",
     .form = "=PERCENT",
     .offset = offsetof(struct bn_compared_conf, same),
     .help = "difference up to which the sides are called the same"},
    {.name = "fail-on",
     .type = BN_LIST,
     .form = "=NAME[:PERCENT]",
     .offset = offsetof(struct bn_compared_conf, fail_on),
     .help = "metrics and losses that make the exit status 3: p99:5%,tps:3%"},
    {.name = "assume-stationary",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_compared_conf, stationary),
     .help = "comparing runs that do not alternate"},
    {.name = "format",
     .type = BN_CHOICE,
     .def = "text",
     .choices = formats,
     .offset = offsetof(struct bn_compared_conf, format),
     .help = "form: text, markdown, json"},
    {.name = "output",
     .type = BN_PATH,
     .letter = 'o',
     .form = "=FILE",
     .offset = offsetof(struct bn_compared_conf, output),
     .help = "file for the comparison, instead of standard output"},
    BN_OPT_END,
};

/* All that one comparison is made of. */
struct work {
  const char *const *name; /* of A and B */
  struct bn_side_figures figures;
  struct bn_comparison_rules rules;
  struct bn_side a, b;
  struct bn_differences differences;
  struct bn_points points;
  struct bn_comparison comparison;
};

/* --- options ---------------------------------------------------------------------------------- */

/* "5%", "5 %" or "5" is 0.05. */
static int read_percent(const char *text, double *share)
{
  char number[32];
  const size_t len = strcspn(text, "%");

  if (len >= sizeof number || (text[len] == '%' && text[len + 1] != '\0'))
    return -1;
  memcpy(number, text, len);
  number[len] = '\0';
  for (size_t end = len; end > 0 && number[end - 1] == ' '; end--)
    number[end - 1] = '\0';
  if (bn_units_double(number, share) != 0 || *share < 0)
    return -1;
  *share /= 100;
  return 0;
}

static int read_same(const char *text, struct bn_comparison_rules *rules, struct bn_err *err)
{
  if (text == NULL || read_percent(text, &rules->same) != 0 || !(rules->same > 0) ||
      rules->same >= 1)
    return bn_err_set(err, BN_ERR_OPTION, "--same=%s: not a percentage between 0 and 100",
                      text != NULL ? text : "");
  return 0;
}

static size_t figure_named(const struct bn_side_figures *f, const char *name)
{
  size_t i = 0;

  while (strcmp(f->name[i].text, name) != 0)
    i++;
  return i;
}

/* "p99:5%" */
static int read_failure(struct work *w, const char *item, struct bn_err *err)
{
  const char *colon = strchr(item, ':');
  const size_t len = colon != NULL ? (size_t)(colon - item) : strlen(item);
  char name[2 * BN_ASSERT_NAME], option[BN_ASSERT_NAME * 4];
  double limit = 0;
  size_t i;

  (void)snprintf(option, sizeof option, "--fail-on=%s", item);
  (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), item);
  if (colon != NULL && read_percent(colon + 1, &limit) != 0)
    return bn_err_set(err, BN_ERR_OPTION, "%s: write a percentage after the colon, such as 5%%",
                      option);
  if (bn_side_add_figure(&w->figures, option, name, false, err) != 0)
    return -1;
  i = figure_named(&w->figures, name);
  if (limit >= 1 && w->figures.name[i].better == BN_BETTER_MORE)
    return bn_err_set(err, BN_ERR_OPTION, "%s: a rate cannot get lower by 100 %% or more", option);
  w->rules.fails[i] = true;
  w->rules.limit[i] = limit;
  return 0;
}

static int add_usual(struct bn_side_figures *f, struct bn_err *err)
{
  f->wants_percentiles = true;
  return bn_side_add_figure(f, "", "avg", true, err) == 0
             ? bn_side_add_figure(f, "", "errors_per_s", true, err)
             : -1;
}

static int read_secondary(struct bn_side_figures *f, const struct bn_list *list, struct bn_err *err)
{
  char option[BN_ASSERT_NAME * 4];

  if (list->n == 1 && strcmp(list->item[0], "none") == 0)
    return 0;
  for (size_t i = 0; i < list->n; i++) {
    const char *name = list->item[i];

    (void)snprintf(option, sizeof option, "--secondary=%s", name);
    if ((strcmp(name, "auto") == 0 ? add_usual(f, err)
                                   : bn_side_add_figure(f, option, name, false, err)) != 0)
      return -1;
  }
  return 0;
}

static int read_options(const struct bn_compared_conf *c, struct work *w, struct bn_err *err)
{
  char option[BN_ASSERT_NAME * 4];

  (void)snprintf(option, sizeof option, "--metric=%s", c->metric != NULL ? c->metric : "");
  if (bn_side_add_figure(&w->figures, option, c->metric != NULL ? c->metric : "", false, err) !=
          0 ||
      read_same(c->same, &w->rules, err) != 0 ||
      read_secondary(&w->figures, &c->secondary, err) != 0)
    return -1;
  for (size_t i = 0; i < c->fail_on.n; i++)
    if (read_failure(w, c->fail_on.item[i], err) != 0)
      return -1;
  if (c->fail_on.n == 0)
    w->rules.fails[0] = true;
  w->rules.alpha = 0.01;
  w->rules.stationary = c->stationary;
  return 0;
}

/* --- the comparison --------------------------------------------------------------------------- */

static bool is_measured(const struct bn_comparison *c, size_t figure)
{
  for (size_t i = 0; i < c->n; i++)
    if (c->point[i].row[figure].measured)
      return true;
  return false;
}

static bool has_point(const struct bn_comparison *c)
{
  for (size_t i = 0; i < c->n; i++)
    if (c->point[i].how != BN_COMPARISON_MISSING)
      return true;
  return false;
}

/* A comparison that nothing can fail would be taken for a good one. */
static int check(const struct work *w, struct bn_err *err)
{
  if (!has_point(&w->comparison))
    return bn_err_set(err, EINVAL,
                      "'%s' and '%s' have no successful runs with the same options to compare",
                      w->name[0], w->name[1]);
  for (size_t i = 0; i < w->figures.n; i++)
    if ((i == 0 || w->rules.fails[i]) && !is_measured(&w->comparison, i))
      return bn_err_set(err, EINVAL, "the runs have not measured '%s' (%s)",
                        w->figures.name[i].text, i == 0 ? "--metric" : "--fail-on");
  return 0;
}

static int compare(const struct bn_store *js, struct work *w, struct bn_err *err)
{
  if (bn_side_read(js, w->name[0], &w->figures, &w->a, err) != 0 ||
      bn_side_read(js, w->name[1], &w->figures, &w->b, err) != 0 ||
      bn_side_points(&w->a, &w->b, &w->points, err) != 0 ||
      bn_differ(&w->a, &w->b, &w->points, &w->differences, err) != 0 ||
      bn_comparison_make(&w->a, &w->b, &w->figures, &w->points, &w->rules, &w->comparison, err) !=
          0)
    return -1;
  return check(w, err);
}

static void forget(struct work *w)
{
  bn_comparison_done(&w->comparison);
  bn_points_done(&w->points);
  bn_differences_done(&w->differences);
  bn_side_done(&w->a);
  bn_side_done(&w->b);
  free(w);
}

/* --- output ----------------------------------------------------------------------------------- */

static int print(const struct bn_store *js, const struct bn_compared_conf *c, const struct work *w,
                 struct bn_err *err)
{
  const struct bn_verdicts v = {.name = {w->name[0], w->name[1]},
                                .side = {&w->a, &w->b},
                                .figures = &w->figures,
                                .differences = &w->differences,
                                .points = &w->points,
                                .comparison = &w->comparison,
                                .rules = &w->rules};
  struct bn_buf text = {.max = 0};
  int rc;

  if (c->format == JSON)
    return bn_written_document(js, bn_verdicts_document(&v, js), c->output, err);
  bn_verdicts_print(&v, c->format == MARKDOWN, &text);
  rc = bn_written_text(&text, c->output, err);
  bn_buf_done(&text);
  return rc;
}

/* Folders of several sweeps have scores, and no verdicts. */
static int refuse_tests(const struct bn_compared_conf *c, const char *const *operand,
                        struct bn_err *err)
{
  const char *option = NULL;

  if (c->fail_on.n > 0)
    option = "fail-on";
  else if (c->stationary)
    option = "assume-stationary";
  else if (strcmp(c->same, "5%") != 0)
    option = "same";
  else if (c->secondary.n != 1 || strcmp(c->secondary.item[0], "auto") != 0)
    option = "secondary";
  if (option == NULL)
    return 0;
  return bn_err_set(err, BN_ERR_OPTION,
                    "--%s: '%s' and '%s' have several sweeps, which get scores, not verdicts; "
                    "name the folder of one sweep on each side",
                    option, operand[0], operand[1]);
}

static int write_scores(const struct bn_store *js, const struct bn_compared_conf *c,
                        const struct work *w, const struct bn_scores *s, struct bn_err *err)
{
  const struct bn_figure_name *figure = &w->figures.name[0];
  struct bn_buf text = {.max = 0};
  int rc;

  if (c->format == JSON)
    return bn_written_document(js, bn_scores_document(s, w->name, figure, js), c->output, err);
  bn_scores_print(s, w->name, figure, c->format == MARKDOWN, &text);
  rc = bn_written_text(&text, c->output, err);
  bn_buf_done(&text);
  return rc;
}

static int show_scores(const struct bn_store *js, const struct bn_compared_conf *c, struct work *w,
                       struct bn_err *err)
{
  struct bn_scores s = {.n = 0};
  int rc = refuse_tests(c, w->name, err);

  w->figures.wants_percentiles = false;
  if (rc == 0)
    rc = bn_scores_make(js, w->name, &w->figures, &s, err);
  if (rc == 0)
    rc = write_scores(js, c, w, &s, err);
  bn_scores_done(&s);
  return rc;
}

static int check_files(const struct bn_compared_conf *c, const char *const *operand,
                       struct bn_err *err)
{
  if (bn_written_check(c->output, err) != 0)
    return -1;
  if (bn_file_is_same(operand[0], operand[1]))
    return bn_err_set(err, EINVAL, "'%s' and '%s' are the same; name two different results",
                      operand[0], operand[1]);
  return 0;
}

static int show(const struct bn_store *js, const struct bn_compared_conf *c, struct work *w,
                struct bn_err *err)
{
  if (bn_scores_apply(w->name[0]) && bn_scores_apply(w->name[1]))
    return show_scores(js, c, w, err);
  if (bn_scores_apply(w->name[0]) || bn_scores_apply(w->name[1]))
    return bn_err_set(
        err, EINVAL,
        "only one of '%s' and '%s' has several sweeps; name two folders of bench sweep "
        "--from, or two of one sweep",
        w->name[0], w->name[1]);
  return compare(js, w, err) == 0 ? print(js, c, w, err) : -1;
}

/* A sentence about a file may quote it. */
static void escape(struct bn_err *err)
{
  char shown[sizeof err->text];

  (void)bn_escape(shown, sizeof shown, err->text, "");
  memcpy(err->text, shown, sizeof shown);
}

int bn_compared_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_compared_conf *c = conf;
  const struct bn_store *js = bn_store_json(err);
  struct work *w = calloc(1, sizeof *w);
  int status = EXIT_FAILURE;

  if (js == NULL || w == NULL) {
    free(w);
    return js == NULL ? EXIT_FAILURE : (bn_err_set(err, ENOMEM, "out of memory"), EXIT_FAILURE);
  }
  w->name = operand;
  w->figures.traits_of = c->traits_of;
  if (check_files(c, operand, err) == 0 && read_options(c, w, err) == 0 && show(js, c, w, err) == 0)
    status = w->comparison.failing ? STATUS_WORSE : EXIT_SUCCESS;
  else
    escape(err);
  forget(w);
  return status;
}
