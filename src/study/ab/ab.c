/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs both sides in rounds and looks at the difference from time to time.

   A round is a run of A, one of B and one of A again, in an order by chance, so that neither side
   gains from a drift.  A/A, the ratio of the two runs of A, is the noise of the machine; a
   difference there that the boundary calls real means that nothing here can be trusted. */
#include "study/ab/ab.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/units.h"
#include "report/written.h"
#include "study/ab/abtell.h"

enum { STATUS_WORSE = 3, STATUS_SIGNAL = 128 };

enum { TEXT, JSON };

static const char *const formats[] = {"text", "json", NULL};

const struct bn_opt bn_ab_options[] = {
    {.name = "a",
     .type = BN_STRING,
     .form = "=OPTIONS",
     .offset = offsetof(struct bn_ab_conf, options[BN_AB_A]),
     .help = "options of the runs of side A"},
    {.name = "b",
     .type = BN_STRING,
     .form = "=OPTIONS",
     .offset = offsetof(struct bn_ab_conf, options[BN_AB_B]),
     .help = "options of the runs of side B"},
    {.name = "a-program",
     .type = BN_PATH,
     .form = "=FILE",
     .offset = offsetof(struct bn_ab_conf, program[BN_AB_A]),
     .help = "another version of this program for side A"},
    {.name = "b-program",
     .type = BN_PATH,
     .form = "=FILE",
     .offset = offsetof(struct bn_ab_conf, program[BN_AB_B]),
     .help = "another version of this program for side B"},
    {.name = "a-set",
     .type = BN_STRING,
     .form = "=SQL",
     .offset = offsetof(struct bn_ab_conf, statement[BN_AB_A]),
     .help = "statement executed before each run of side A"},
    {.name = "b-set",
     .type = BN_STRING,
     .form = "=SQL",
     .offset = offsetof(struct bn_ab_conf, statement[BN_AB_B]),
     .help = "statement executed before each run of side B"},
    {.name = "metric",
     .type = BN_STRING,
     .def = "rate",
     .form = "=NAME",
     .offset = offsetof(struct bn_ab_conf, metric),
     .help = "figure that is judged, such as rate, p99, p95@read"},
    {.name = "same",
     .type = BN_STRING,
     .def = "5%",
     .form = "=PERCENT",
     .offset = offsetof(struct bn_ab_conf, same),
     .help = "difference up to which the sides are called the same"},
    {.name = "seed",
     .type = BN_INT,
     .form = "=N",
     .offset = offsetof(struct bn_ab_conf, seed),
     .given = offsetof(struct bn_ab_conf, has_seed),
     .min = 0,
     .max = INT64_MAX,
     .help = "seed of the order of the runs, instead of a new one"},
    {.name = "cooldown",
     .type = BN_SECONDS,
     .def = "0",
     .offset = offsetof(struct bn_ab_conf, cooldown_s),
     .min = 0,
     .max = 86400,
     .help = "time to wait between two runs"},
    {.name = "out",
     .type = BN_PATH,
     .form = "=FOLDER",
     .offset = offsetof(struct bn_ab_conf, out),
     .help = "new folder for the results of all runs"},
    {.name = "format",
     .type = BN_CHOICE,
     .def = "text",
     .choices = formats,
     .offset = offsetof(struct bn_ab_conf, format),
     .help = "form of the report: text, json"},
    {.name = "output",
     .type = BN_PATH,
     .letter = 'o',
     .form = "=FILE",
     .offset = offsetof(struct bn_ab_conf, output),
     .help = "file for the report, instead of standard output"},
    BN_OPT_END,
};

enum { PATH_SIZE = PATH_MAX + 32 };

struct study {
  const struct bn_ab_conf *conf;
  const struct bn_store *js;
  struct bn_children children;
  struct bn_arm side[2];
  struct bn_figure_name metric;
  struct bn_arm_scratch scratch;
  struct bn_rng rng;
  uint64_t pause_ns; /* before the next run */
  struct bn_ab ab;
};

/* --- options --- */

static int read_same(const char *text, double *same, struct bn_err *err)
{
  const size_t len = strlen(text), digits = len > 0 && text[len - 1] == '%' ? len - 1 : len;
  char number[BN_UNITS_DIGITS];

  (void)snprintf(number, sizeof number, "%.*s", (int)digits, text);
  if (digits >= sizeof number || bn_units_double(number, same) != 0 || !(*same > 0 && *same < 100))
    return bn_err_set(err, EINVAL, "--same=%s: not a percentage between 0 and 100", text);
  *same /= 100;
  return 0;
}

static int read_metric(struct study *s, struct bn_err *err)
{
  struct bn_err why;

  if (bn_figure_parse(&s->metric, s->conf->metric, &why) != 0)
    return bn_err_set(err, EINVAL, "--metric=%s: %s", s->conf->metric, why.text);
  if (s->metric.better == BN_BETTER_NEITHER)
    return bn_err_set(
        err, EINVAL,
        "--metric=%s: neither a larger nor a smaller value is better; name a rate or a latency",
        s->conf->metric);
  return 0;
}

static int init_sides(struct study *s, const char *const *operand, struct bn_err *err)
{
  static const char *const names[] = {"a", "b"};

  for (unsigned i = 0; i < 2; i++) {
    const struct bn_arm_wish wish = {names[i], s->conf->program[i], s->conf->options[i],
                                     s->conf->statement[i]};

    if (bn_arm_init(&s->side[i], &wish, operand, err) != 0)
      return -1;
  }
  return 0;
}

/* --- folders --- */

static int make_folder(const char *path, const char *option, struct bn_err *err)
{
  if (mkdir(path, 0777) != 0)
    return bn_err_set(err, errno, "--out=%s: cannot make the folder '%s': %s%s", option, path,
                      strerror(errno), errno == EEXIST ? "; name a new folder" : "");
  return 0;
}

/* A ',' in --report=json:FILE begins another report. */
static int make_folders(const char *out, struct bn_err *err)
{
  char path[PATH_SIZE];

  if (strchr(out, ',') != NULL)
    return bn_err_set(err, EINVAL, "--out=%s: the name must not contain a comma", out);
  if (strlen(out) >= PATH_MAX)
    return bn_err_set(err, ENAMETOOLONG, "--out: the name is too long");
  if (make_folder(out, out, err) != 0)
    return -1;
  for (unsigned i = 0; i < BN_AB_ARMS; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", out, bn_ab_names[i]);
    if (make_folder(path, out, err) != 0)
      return -1;
  }
  return 0;
}

/* A folder without results would only be in the way of the next attempt. */
static void remove_folders(const char *out)
{
  char path[PATH_SIZE];

  for (unsigned i = 0; i < BN_AB_ARMS; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", out, bn_ab_names[i]);
    (void)rmdir(path);
  }
  (void)rmdir(out);
}

static void document_path(const struct study *s, unsigned arm, char path[PATH_SIZE])
{
  if (s->conf->out != NULL)
    (void)snprintf(path, PATH_SIZE, "%s/%s/%04zu.json", s->conf->out, bn_ab_names[arm],
                   s->ab.n_rounds + 1);
  else
    (void)snprintf(path, PATH_SIZE, "%s/result.json", s->scratch.folder);
}

/* A document, and the journal of a run that was killed. */
static void remove_document(const struct study *s, unsigned arm)
{
  char path[PATH_SIZE], journal[PATH_SIZE + 16];

  document_path(s, arm, path);
  (void)snprintf(journal, sizeof journal, "%s.partial", path);
  (void)unlink(path);
  (void)unlink(journal);
}

/* After each round, so that a study that is killed can be read up to there. */
static int save_study(const struct study *s, struct bn_err *err)
{
  char path[PATH_SIZE];

  if (s->conf->out == NULL)
    return 0;
  (void)snprintf(path, sizeof path, "%s/study.json", s->conf->out);
  return bn_written_document(s->js, bn_ab_document(s->js, &s->ab), path, err);
}

/* --- runs --- */

static int read_value(const struct study *s, const char *path, double *value, struct bn_err *err)
{
  struct bn_stored stored;
  bool found;

  if (access(path, F_OK) != 0)
    return bn_err_set(err, 0, "the run wrote no result; end its command line with 'run'");
  if (bn_store_load(s->js, path, false, &stored, err) != 0)
    return -1;
  found = bn_figure_find(&s->metric, &stored.result, value);
  bn_stored_done(s->js, &stored);
  if (!found)
    return bn_err_set(err, 0, "the run did not measure %s", s->metric.text);
  if (!(*value > 0) || !isfinite(*value))
    return bn_err_set(err, 0, "%s is %g; a ratio needs a value above 0", s->metric.text, *value);
  return 0;
}

static int measure(struct study *s, unsigned arm, double *value, struct bn_err *err)
{
  const struct bn_arm *side = &s->side[arm == BN_AB_B];
  char path[PATH_SIZE];
  int rc;

  document_path(s, arm, path);
  rc = bn_arm_run(side, &s->children, &s->scratch, path, err);
  if (rc == 0 && s->children.signo == 0)
    rc = read_value(s, path, value, err);
  if (s->conf->out == NULL)
    remove_document(s, arm);
  return rc;
}

static void shuffle(struct bn_rng *rng, unsigned order[BN_AB_ARMS])
{
  for (unsigned i = 0; i < BN_AB_ARMS; i++)
    order[i] = i;
  for (unsigned i = BN_AB_ARMS - 1; i > 0; i--) {
    const uint64_t k = bn_rng_below(rng, i + 1);
    const unsigned other = order[k];

    order[k] = order[i];
    order[i] = other;
  }
}

/* What a round that did not get to its end has left would have no pair. */
static void forget_round(const struct study *s)
{
  for (unsigned i = 0; i < BN_AB_ARMS; i++)
    remove_document(s, i);
}

static int measure_round(struct study *s, struct bn_ab_round *r, struct bn_err *err)
{
  for (unsigned i = 0; i < BN_AB_ARMS; i++) {
    const unsigned arm = r->order[i];
    struct bn_err why = {0};
    int rc;

    bn_children_pause(&s->children, s->pause_ns);
    s->pause_ns = (uint64_t)(s->conf->cooldown_s * (double)BN_NSEC_PER_SEC);
    rc = s->children.signo == 0 ? measure(s, arm, &r->value[arm], &why) : -1;
    if (rc != 0 || s->children.signo != 0) {
      forget_round(s);
      return bn_err_set(err, why.code, "round %zu, side %c: %s", s->ab.n_rounds + 1,
                        arm == BN_AB_B ? 'B' : 'A', why.text);
    }
  }
  return 0;
}

static int run_round(struct study *s, struct bn_err *err)
{
  struct bn_ab_round *r = &s->ab.round[s->ab.n_rounds];
  char line[256];
  int rc;

  shuffle(&s->rng, r->order);
  rc = measure_round(s, r, err);
  if (rc != 0 && s->children.signo == 0) {
    bn_log_stderr("bench ab: %s; the round is repeated", err->text);
    *err = (struct bn_err){0};
    r->repeated = true;
    rc = measure_round(s, r, err);
  }
  if (rc != 0)
    return -1;
  s->ab.n_rounds++;
  bn_ab_tell_round(&s->ab, line, sizeof line);
  bn_log_stderr("bench ab: %s", line);
  return 0;
}

/* --- the study --- */

/* Whether the study has come to its end. */
static bool look(struct bn_ab *ab)
{
  double value[BN_AB_ARMS][BN_LOOKS_PAIRS];
  struct bn_look_values values = {value[BN_AB_A], value[BN_AB_B], value[BN_AB_AGAIN],
                                  ab->metric->better, ab->same};
  struct bn_look *l = &ab->look[ab->n_looks];

  if (ab->n_rounds < bn_looks_pairs[ab->n_looks])
    return false;
  for (size_t i = 0; i < ab->n_rounds; i++)
    for (unsigned k = 0; k < BN_AB_ARMS; k++)
      value[k][i] = ab->round[i].value[k];
  *l = bn_look_at(&values, ab->n_rounds, ab->level[ab->n_looks]);
  ab->n_looks++;
  return ab->n_looks == BN_LOOKS || !l->steady || l->verdict != BN_COMPARE_UNKNOWN;
}

static int run_rounds(struct study *s, struct bn_err *err)
{
  while (!s->ab.ended) {
    if (run_round(s, err) != 0)
      return -1;
    s->ab.ended = look(&s->ab);
    if (save_study(s, err) != 0)
      return -1;
  }
  return 0;
}

static int report(const struct study *s, struct bn_err *err)
{
  struct bn_buf text = {.max = 0};
  int rc;

  if (s->conf->format == JSON)
    return bn_written_document(s->js, bn_ab_document(s->js, &s->ab), s->conf->output, err);
  bn_ab_print(&s->ab, &text);
  rc = bn_written_text(&text, s->conf->output, err);
  bn_buf_done(&text);
  return rc;
}

/* The exit status. */
static int study(struct study *s, struct bn_err *err)
{
  const struct bn_look *last;
  int rc;

  if (bn_arm_equals(&s->side[BN_AB_A], &s->side[BN_AB_B]))
    bn_log_stderr("bench ab: both sides are the same, which shows the noise of the machine; "
                  "--a, --b and the other options of the sides make them differ");
  bn_children_begin(&s->children);
  rc = run_rounds(s, err);
  s->ab.signo = s->children.signo;
  if (rc != 0 && s->ab.signo == 0)
    return EXIT_FAILURE;
  if (!s->ab.ended) {
    *err = (struct bn_err){0};
    if (s->ab.n_rounds > 0 && (save_study(s, err) != 0 || report(s, err) != 0))
      return EXIT_FAILURE;
    (void)bn_err_set(err, 0, "interrupted by signal %d after %zu rounds", s->ab.signo,
                     s->ab.n_rounds);
    return STATUS_SIGNAL + s->ab.signo;
  }
  if (report(s, err) != 0)
    return EXIT_FAILURE;
  last = &s->ab.look[s->ab.n_looks - 1];
  return last->steady && last->verdict == BN_COMPARE_WORSE ? STATUS_WORSE : EXIT_SUCCESS;
}

static int prepare(struct study *s, const char *const *operand, struct bn_err *err)
{
  const struct bn_ab_conf *c = s->conf;

  s->js = bn_store_json(err);
  if (s->js == NULL || read_same(c->same, &s->ab.same, err) != 0 || read_metric(s, err) != 0 ||
      bn_written_check(c->output, err) != 0 || init_sides(s, operand, err) != 0)
    return -1;
  s->ab.metric = &s->metric;
  s->ab.side = s->side;
  s->ab.seed = c->has_seed ? (uint64_t)c->seed : bn_rng_entropy() >> 33;
  bn_rng_seed(&s->rng, s->ab.seed, BN_RNG_STUDY, 0);
  bn_looks_levels(s->ab.level);
  return 0;
}

int bn_ab_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  struct study s = {.conf = conf};
  int status = EXIT_FAILURE;

  if (prepare(&s, operand, err) == 0 && bn_arm_scratch_make(&s.scratch, err) == 0 &&
      (s.conf->out == NULL || make_folders(s.conf->out, err) == 0)) {
    status = study(&s, err);
    if (s.conf->out != NULL && s.ab.n_rounds == 0)
      remove_folders(s.conf->out);
  }
  bn_arm_scratch_remove(&s.scratch);
  bn_arm_done(&s.side[BN_AB_A]);
  bn_arm_done(&s.side[BN_AB_B]);
  return status;
}
