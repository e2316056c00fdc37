/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the results, finds the change points of each series, and writes them in the form asked for.
 */
#include "study/history/history.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/log.h"
#include "measure/store.h"
#include "report/written.h"
#include "study/history/historyform.h"

enum { STATUS_REGRESSION = 3 };

enum { TEXT, MARKDOWN, JSON, GITHUB };

static const char *const formats[] = {
    [TEXT] = "text", [MARKDOWN] = "markdown", [JSON] = "json", [GITHUB] = "github", NULL};

const struct bn_opt bn_history_options[] = {
    {.name = "metric",
     .type = BN_LIST,
     .def = "rate",
     .form = "=LIST",
     .offset = offsetof(struct bn_history_conf, metric),
     .help = "metrics: rate, or names that --assert takes"},
    {.name = "ignore",
     .type = BN_LIST,
     .form = "=LIST",
     .offset = offsetof(struct bn_history_conf, ignore),
     .help = "options of the runs that do not separate series"},
    {.name = "fail",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_history_conf, fail),
     .help = "exit status 3 if the last change point is a new regression"},
    {.name = "fail-within",
     .type = BN_INT,
     .def = "20",
     .min = 1,
     .max = INT32_MAX,
     .offset = offsetof(struct bn_history_conf, fail_within),
     .help = "runs since a regression for which --fail fails"},
    {.name = "format",
     .type = BN_CHOICE,
     .def = "text",
     .choices = formats,
     .offset = offsetof(struct bn_history_conf, format),
     .help = "form: text, markdown, json, github"},
    {.name = "output",
     .type = BN_PATH,
     .letter = 'o',
     .form = "=FILE",
     .offset = offsetof(struct bn_history_conf, output),
     .help = "file for the history, instead of standard output"},
    BN_OPT_END,
};

/* --- what is asked for ------------------------------------------------------------------------ */

static int parse_metrics(const struct bn_list *list, struct bn_figure_name *out, struct bn_err *err)
{
  for (size_t i = 0; i < list->n; i++) {
    struct bn_err why = {0};

    if (bn_figure_parse(&out[i], list->item[i], &why) != 0)
      return bn_err_set(err, BN_ERR_OPTION, "--metric=%s: %s", list->item[i], why.text);
  }
  return list->n > 0 ? 0 : bn_err_set(err, BN_ERR_OPTION, "--metric names no metric");
}

/* A job that can never fail has a mistake. */
static int check_judged(const struct bn_figure_name *metric, size_t n, struct bn_err *err)
{
  for (size_t i = 0; i < n; i++)
    if (metric[i].better != BN_BETTER_NEITHER)
      return 0;
  return bn_err_set(
      err, BN_ERR_OPTION,
      "--fail: neither a larger nor a smaller value of '%s' is better; add another --metric",
      metric[0].text);
}

/* That action reads values that all get better in the same way. */
static int check_directions(const struct bn_figure_name *metric, size_t n, struct bn_err *err)
{
  for (size_t i = 0; i < n; i++) {
    if (metric[i].better == BN_BETTER_NEITHER)
      return bn_err_set(
          err, BN_ERR_OPTION,
          "--metric=%s: neither a larger nor a smaller value is better, so --format=github "
          "cannot show it",
          metric[i].text);
    if (metric[i].better != metric[0].better)
      return bn_err_set(
          err, BN_ERR_OPTION,
          "--format=github: more is better for '%s', and less for '%s'; write a file for "
          "each",
          metric[metric[0].better == BN_BETTER_MORE ? 0 : i].text,
          metric[metric[0].better == BN_BETTER_MORE ? i : 0].text);
  }
  return 0;
}

/* A mistyped name would let a CI job pass for ever. */
static int check_found(const struct bn_history *h, struct bn_err *err)
{
  const size_t n = h->set.n_metrics;

  for (size_t i = 0; i < h->set.ignored->n; i++)
    if (!h->set.met[i])
      return bn_err_set(err, BN_ERR_OPTION, "--ignore=%s: no run has this option",
                        h->set.ignored->item[i]);
  for (size_t k = 0; k < n; k++) {
    bool any = false;

    for (size_t i = 0; i < h->set.n; i++)
      any |= h->trend[i * n + k].n > 0;
    if (!any)
      return bn_err_set(err, BN_ERR_OPTION, "--metric=%s: no run has measured it",
                        h->set.metric[k].text);
  }
  return 0;
}

/* --- the history ------------------------------------------------------------------------------ */

static void tell_left(const struct bn_series_set *set)
{
  char shown[1024];

  for (size_t i = 0; i < set->n_left; i++) {
    (void)bn_escape(shown, sizeof shown, set->left[i].why, "");
    bn_log_stderr("bench history: left out: %s", shown);
  }
}

static int find_trends(struct bn_history *h, struct bn_err *err)
{
  h->trend = calloc(h->set.n * h->set.n_metrics, sizeof *h->trend);
  if (h->trend == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  for (size_t i = 0; i < h->set.n; i++)
    for (size_t k = 0; k < h->set.n_metrics; k++)
      if (bn_trend_find(&h->trend[h->n_trends++], &h->set.metric[k], k, &h->set.series[i], err) !=
          0)
        return -1;
  return 0;
}

static int read_history(struct bn_history *h, const char *const *operand, struct bn_err *err)
{
  if (bn_series_read(&h->set, operand, err) != 0)
    return -1;
  tell_left(&h->set);
  if (h->set.n == 0)
    return bn_err_set(err, ENOENT, "'%s'%s: no result of a run that ended normally", operand[0],
                      operand[1] != NULL ? " and others" : "");
  return find_trends(h, err) != 0 ? -1 : check_found(h, err);
}

static int write_text(const struct bn_history *h, const struct bn_history_conf *c,
                      struct bn_err *err)
{
  struct bn_buf text = {.max = 0};
  const int rc = bn_history_print(h, c->format == MARKDOWN, &text) == 0
                     ? bn_written_text(&text, c->output, err)
                     : bn_err_set(err, ENOMEM, "out of memory");

  bn_buf_done(&text);
  return rc;
}

static int write_document(const struct bn_history *h, const struct bn_history_conf *c,
                          struct bn_err *err)
{
  const struct bn_store *js = bn_store_json(err);

  if (js == NULL)
    return -1;
  return bn_written_document(
      js, c->format == JSON ? bn_history_json(h, js) : bn_history_github(h, js), c->output, err);
}

/* Says which, and returns the exit status. */
static int judge(const struct bn_history *h, const struct bn_history_conf *c)
{
  int status = EXIT_SUCCESS;

  for (size_t i = 0; c->fail && i < h->n_trends; i++) {
    const struct bn_series *s = &h->set.series[i / h->set.n_metrics];
    struct bn_buf text = {.max = 0};
    char shown[1024];

    if (!bn_trend_is_regression(&h->trend[i], (size_t)c->fail_within))
      continue;
    bn_history_tell(h, s, &h->trend[i], &text);
    (void)bn_escape(shown, sizeof shown, text.data != NULL ? text.data : "", "");
    bn_log_stderr("bench history: regression: %s", shown);
    bn_buf_done(&text);
    status = STATUS_REGRESSION;
  }
  return status;
}

static void forget(struct bn_history *h)
{
  for (size_t i = 0; i < h->n_trends; i++)
    bn_trend_done(&h->trend[i]);
  free(h->trend);
  bn_series_done(&h->set);
}

static int show_history(const struct bn_history_conf *c, const struct bn_figure_name *metric,
                        const char *const *operand, struct bn_err *err)
{
  struct bn_history h = {.set = {.metric = metric,
                                 .n_metrics = c->metric.n,
                                 .ignored = &c->ignore,
                                 .traits_of = c->traits_of}};
  const bool is_document = c->format == JSON || c->format == GITHUB;
  int status = EXIT_FAILURE;

  if (read_history(&h, operand, err) == 0 &&
      (is_document ? write_document(&h, c, err) : write_text(&h, c, err)) == 0)
    status = judge(&h, c);
  forget(&h);
  return status;
}

int bn_history_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_history_conf *c = conf;
  struct bn_figure_name *metric = calloc(c->metric.n + 1, sizeof *metric);
  int status = EXIT_FAILURE;

  if (metric == NULL)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else if (bn_written_check(c->output, err) == 0 && parse_metrics(&c->metric, metric, err) == 0 &&
           (!c->fail || check_judged(metric, c->metric.n, err) == 0) &&
           (c->format != GITHUB || check_directions(metric, c->metric.n, err) == 0))
    status = show_history(c, metric, operand, err);
  free(metric);
  return status;
}
