/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets a sweep up, has it run, and writes its table. */
#include "study/sweep/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/spawn.h"
#include "dialect/dialect.h"
#include "option/conf.h"
#include "option/opt.h"
#include "study/plot/plot.h"
#include "study/sweep/course.h"
#include "study/sweep/data.h"
#include "study/sweep/recipe.h"
#include "study/sweep/settings.h"
#include "study/sweep/table.h"

enum { RUNS_MAX = 100000, SIGNALLED = 128 };

const struct bn_opt bn_sweep_options[] = {
    {.name = "vary",
     .type = BN_LIST,
     .repeat = true,
     .form = "=NAME=LIST",
     .offset = offsetof(struct bn_sweep_conf, vary),
     .given = offsetof(struct bn_sweep_conf, vary_given),
     .help = "option and its values: threads=1,2,4..64; A..B doubles"},
    {.name = "out",
     .type = BN_PATH,
     .letter = 'o',
     .form = "=DIR",
     .offset = offsetof(struct bn_sweep_conf, out),
     .help = "folder for the results and the table"},
    {.name = "repeat",
     .type = BN_INT,
     .def = "3",
     .min = 1,
     .max = 1000,
     .offset = offsetof(struct bn_sweep_conf, repeat),
     .given = offsetof(struct bn_sweep_conf, repeat_given),
     .help = "runs of each combination of values"},
    {.name = "seed",
     .type = BN_INT,
     .min = 0,
     .max = INT64_MAX,
     .offset = offsetof(struct bn_sweep_conf, seed),
     .given = offsetof(struct bn_sweep_conf, seed_given),
     .help = "seed of the order of the runs; default: a new seed"},
    {.name = "warmup",
     .type = BN_SECONDS,
     .form = "=S",
     .min = 0,
     .max = INT32_MAX,
     .offset = offsetof(struct bn_sweep_conf, warmup_s),
     .given = offsetof(struct bn_sweep_conf, warmup_given),
     .help = "--warmup-time of each run"},
    {.name = "cooldown",
     .type = BN_SECONDS,
     .form = "=S",
     .min = 0,
     .max = INT32_MAX,
     .def = "0",
     .offset = offsetof(struct bn_sweep_conf, cooldown_s),
     .given = offsetof(struct bn_sweep_conf, cooldown_given),
     .help = "pause between runs"},
    {.name = "prepare",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_sweep_conf, prepare),
     .given = offsetof(struct bn_sweep_conf, prepare_given),
     .help = "running 'prepare' whenever a run needs other data"},
    {.name = "cleanup",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_sweep_conf, cleanup),
     .given = offsetof(struct bn_sweep_conf, cleanup_given),
     .help = "running 'cleanup' at the end for data of --prepare"},
    {.name = "stop-when",
     .type = BN_STRING,
     .form = "=CONDITION",
     .offset = offsetof(struct bn_sweep_conf, stop_when),
     .given = offsetof(struct bn_sweep_conf, stop_when_given),
     .help = "condition after which larger values are left out: p99>100ms"},
    {.name = "plot",
     .type = BN_PATH,
     .form = "=FILE",
     .offset = offsetof(struct bn_sweep_conf, plot),
     .help = "file for a picture of the table, .svg or .png"},
    {.name = "from",
     .type = BN_STRING,
     .file = true,
     .form = "=FILE",
     .offset = offsetof(struct bn_sweep_conf, from),
     .help = "file with several sweeps, or the name of a bundled one"},
    {.name = "resume",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_sweep_conf, resume),
     .help = "making the runs that are missing in the folder"},
    BN_OPT_END,
};

/* Everything that a sweep has. */
struct sweep {
  const struct bn_sweep_conf *conf;
  const struct bn_store *js;
  char *program;
  struct bn_grid grid;
  struct bn_invocation command;
  struct bn_assert stop;
  struct bn_folder folder;
  struct bn_tally tally;
  size_t *order;
  size_t n_runs;
  uint64_t seed;
  struct bn_children children;
};

/* --- setting up ------------------------------------------------------------------------------- */

static int read_stop(struct sweep *s, struct bn_err *err)
{
  const char *text = s->conf->stop_when;
  struct bn_err why = {0};

  if (text == NULL || bn_assert_parse(&s->stop, text, &why) == 0)
    return 0;
  return bn_err_set(err, EINVAL, "--stop-when=%.64s: %.300s", text, why.text);
}

/* What is larger than another value has to be known. */
static int check_numbers(const struct bn_grid_axis *first, struct bn_err *err)
{
  double number;

  for (size_t k = 0; k < first->n; k++)
    if (!bn_grid_number(first->value[k], &number))
      return bn_err_set(err, EINVAL,
                        "--stop-when needs numbers as the values of the first --vary; '%.64s' "
                        "of '%.64s' is not a number",
                        first->value[k], first->name);
  return 0;
}

static int check_axes(const struct bn_grid *g, struct bn_err *err)
{
  if (g->n_axes == 0)
    return bn_err_set(err, EINVAL,
                      "--vary is missing; name an option of the run and its values, such as "
                      "--vary=threads=1,2,4..64");
  for (size_t i = 0; i < g->n_axes; i++) {
    const struct bn_opt *o = bn_conf_option(g->axis[i].name);

    if (o != NULL && (o->traits & BN_OPT_FIXED) != 0)
      return bn_err_set(err, EINVAL, "--vary=%s: this option cannot be varied", o->name);
  }
  return 0;
}

static int read_options(struct sweep *s, struct bn_err *err)
{
  const struct bn_sweep_conf *c = s->conf;

  if ((c->out != NULL && bn_folder_check(c->out, err) != 0) ||
      (c->plot != NULL && bn_plot_check("plot", c->plot, err) != 0) ||
      bn_grid_read(&s->grid, &c->vary, err) != 0 || read_stop(s, err) != 0 ||
      check_axes(&s->grid, err) != 0)
    return -1;
  if (c->stop_when != NULL && check_numbers(&s->grid.axis[0], err) != 0)
    return -1;
  if (c->cleanup && !c->prepare)
    return bn_err_set(err, EINVAL, "--cleanup needs --prepare: it removes only data of --prepare");
  if (c->out == NULL)
    return bn_err_set(err, EINVAL, "--out is missing; name a folder for the results");
  s->n_runs = bn_grid_points(&s->grid) * (size_t)c->repeat;
  if (s->n_runs > RUNS_MAX)
    return bn_err_set(err, EINVAL, "%zu runs are too many; allowed: up to %d", s->n_runs, RUNS_MAX);
  return 0;
}

static int check_axis(struct bn_optset *general, const struct bn_grid_axis *x, struct bn_err *err)
{
  struct bn_optset_fault fault;

  for (size_t i = 0; i < x->n && bn_optset_find(general, x->name) != NULL; i++) {
    if (bn_optset_set(general, x->name, x->value[i], NULL, err) == BN_OPTSET_NO_MEMORY)
      return -1;
    if (bn_optset_unknown(general, false, &fault) || bn_optset_fault(general, &fault))
      return bn_err_set(err, EINVAL, "--vary: %s", fault.text);
  }
  return 0;
}

/* A run would say the same, after all runs before it.  What tests, drivers and scripts declare is
   known to the run alone, as is what is wrong with a list, and a dialect reads values in its own
   way. */
static int check_values(const struct sweep *s, struct bn_err *err)
{
  struct bn_conf conf = {.policy = &bn_policy_bench};
  struct bn_optset *general;
  int rc = 0;

  if (bn_words_choose_dialect(s->command.word))
    return 0;
  general = bn_conf_options(&conf, err);
  if (general == NULL)
    return -1;
  for (size_t i = 0; rc == 0 && i < s->grid.n_axes; i++)
    rc = check_axis(general, &s->grid.axis[i], err);
  bn_optset_free(general);
  return rc;
}

static int set_up(struct sweep *s, const char *const *operand, struct bn_err *err)
{
  s->js = bn_store_json(err);
  s->program = bn_spawn_self(err);
  if (s->js == NULL || s->program == NULL || read_options(s, err) != 0)
    return -1;
  if (bn_invocation_read(&s->command, s->program, operand, err) != 0)
    return -1;
  return check_values(s, err);
}

/* The order follows from the seed, which a folder that is resumed has. */
static int open_study(struct sweep *s, struct bn_err *err)
{
  const struct bn_settings settings = {s->conf, &s->grid, &s->command};
  const struct bn_data data = {s->js, &s->folder, &s->command, &s->grid, &s->children};
  int known;

  s->seed = s->conf->seed_given ? (uint64_t)s->conf->seed : bn_rng_entropy() >> 1;
  if (bn_folder_open(&s->folder, s->conf->out, err) != 0)
    return -1;
  bn_children_begin(&s->children);
  if (s->conf->prepare && bn_data_mark(&data, &s->grid, err) != 0)
    return -1;
  known = bn_settings_check(&settings, &s->folder, s->js, &s->seed, err);
  if (known < 0)
    return -1;
  s->order = bn_grid_order(&s->grid, (size_t)s->conf->repeat, s->seed, s->conf->stop_when != NULL);
  if (s->order == NULL || bn_tally_init(&s->tally, &s->grid, s->order, s->n_runs) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  if (known > 0)
    return 0;
  return bn_settings_write(&settings, &s->folder, s->js, s->seed, s->order, s->n_runs, err);
}

/* --- the table -------------------------------------------------------------------------------- */

static int save_csv(const struct sweep *s, const struct bn_table *t, struct bn_err *err)
{
  struct bn_buf text = {.max = 0};
  char path[PATH_MAX];
  int rc = bn_table_csv(t, &text);

  (void)bn_folder_file(&s->folder, "table.csv", path);
  if (rc != 0)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else if (bn_file_save(path, text.data, text.len) != 0)
    rc = bn_err_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
  bn_buf_done(&text);
  return rc;
}

static int print_text(const struct bn_table *t, struct bn_err *err)
{
  struct bn_buf text = {.max = 0};
  int rc = bn_table_text(t, &text);

  if (rc != 0)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else
    (void)fwrite(text.data, 1, text.len, stdout);
  bn_buf_done(&text);
  return rc;
}

static int write_tables(const struct sweep *s, struct bn_err *err)
{
  struct bn_fits fits = {.n = 0};
  const struct bn_table t = {&s->tally, &fits, &s->command, (size_t)s->conf->repeat, s->seed};
  int rc = -1;

  if (bn_fits_find(&fits, &s->tally) != 0)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else if (bn_folder_write(&s->folder, s->js, "table.json", bn_table_document(&t, s->js), err) ==
               0 &&
           save_csv(s, &t, err) == 0)
    rc = print_text(&t, err);
  bn_fits_done(&fits);
  return rc;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void tell_rest(const struct sweep *s)
{
  const size_t failed = bn_tally_count(&s->tally, BN_TALLY_FAILED);
  const size_t pending = bn_tally_count(&s->tally, BN_TALLY_PENDING);

  if (failed > 0)
    bn_log_stderr("%zu of %zu runs failed; --resume tries them again", failed, s->n_runs);
  if (pending > 0)
    bn_log_stderr("%zu of %zu runs are missing; --resume makes them", pending, s->n_runs);
}

/* The table and its picture. */
static int show(struct sweep *s, struct bn_err *err)
{
  if (write_tables(s, err) != 0)
    return -1;
  if (s->conf->plot == NULL || s->children.signo != 0)
    return 0;
  (void)fflush(stdout);
  return bn_plot_folder(&s->children, s->folder.path, s->conf->plot, err);
}

static int run_study(struct sweep *s, struct bn_err *err)
{
  const struct bn_sweep_conf *c = s->conf;
  struct bn_course course = {.js = s->js,
                             .folder = &s->folder,
                             .command = &s->command,
                             .stop = c->stop_when != NULL ? &s->stop : NULL,
                             .tally = &s->tally,
                             .children = &s->children,
                             .warmup_s = c->warmup_given ? c->warmup_s : -1,
                             .cooldown_s = c->cooldown_s,
                             .prepare = c->prepare,
                             .cleanup = c->cleanup};
  struct bn_err lost = {0};
  int rc;

  if (bn_course_resume(&course, err) != 0)
    return EXIT_FAILURE;
  rc = bn_course_go(&course, err);
  if (bn_tally_count(&s->tally, BN_TALLY_DONE) == 0 && rc != 0 && s->children.signo == 0) {
    bn_settings_remove(&s->folder);
    return EXIT_FAILURE;
  }
  if (show(s, rc == 0 ? err : &lost) != 0)
    rc = -1;
  tell_rest(s);
  if (s->children.signo != 0)
    return SIGNALLED + s->children.signo;
  return rc == 0 && bn_tally_count(&s->tally, BN_TALLY_FAILED) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void tear_down(struct sweep *s)
{
  bn_tally_done(&s->tally);
  bn_folder_close(&s->folder);
  bn_grid_done(&s->grid);
  free(s->order);
  free(s->program);
}

/* dry: only finds what is wrong with it. */
static int run_one(const struct bn_sweep_conf *conf, const char *const *operand, bool dry,
                   struct bn_err *err)
{
  struct sweep s = {.conf = conf, .folder = {.open = -1}};
  int status = EXIT_FAILURE;

  if (set_up(&s, operand, err) == 0)
    status = dry ? EXIT_SUCCESS : open_study(&s, err) == 0 ? run_study(&s, err) : EXIT_FAILURE;
  tear_down(&s);
  return status;
}

/* --- several sweeps --------------------------------------------------------------------------- */

/* What is on the command line replaces what the line of the file has.  The strings stay those of
   either. */
static struct bn_sweep_conf join(const struct bn_sweep_conf *line, const struct bn_sweep_conf *top,
                                 char *out)
{
  struct bn_sweep_conf c = *line;

  c.out = out;
  c.resume = top->resume;
  c.from = NULL;
  if (top->vary_given)
    c.vary = top->vary;
  if (top->stop_when_given)
    c.stop_when = top->stop_when;
  if (top->cooldown_given)
    c.cooldown_s = top->cooldown_s;
  if (top->warmup_given)
    c.warmup_s = top->warmup_s;
  if (top->repeat_given)
    c.repeat = top->repeat;
  if (top->seed_given)
    c.seed = top->seed;
  if (top->prepare_given)
    c.prepare = top->prepare;
  if (top->cleanup_given)
    c.cleanup = top->cleanup;
  c.warmup_given |= top->warmup_given;
  c.seed_given |= top->seed_given;
  return c;
}

/* The line i of a file with what is on the command line. */
struct job {
  const struct bn_sweep_conf *top;
  const struct bn_recipe *recipe;
  const char *const *operand;
};

/* dry: only finds what is wrong with it. */
static int run_line(const struct job *j, size_t i, bool dry, struct bn_err *err)
{
  struct bn_sweep_conf line = {.out = NULL}, c;
  struct bn_recipe_words words;
  char out[PATH_MAX];
  int status = EXIT_FAILURE;

  (void)snprintf(out, sizeof out, "%.*s/%s", (int)sizeof out - 128, j->top->out,
                 j->recipe->line[i].name);
  if (bn_recipe_parse(j->recipe, i, bn_sweep_options, &line, j->operand, &words, err) == 0) {
    c = join(&line, j->top, out);
    status = run_one(&c, words.operand, dry, err);
  }
  bn_recipe_forget(&words);
  return status;
}

/* What is wrong with one is found before the first runs. */
static int check_all(const struct job *j, struct bn_err *err)
{
  struct bn_err why = {0};

  for (size_t i = 0; i < j->recipe->n; i++)
    if (run_line(j, i, true, &why) != EXIT_SUCCESS)
      return bn_err_set(err, why.code, "%s: %.400s", j->recipe->line[i].name, why.text);
  return 0;
}

/* One that fails costs one; a signal ends all. */
static int run_all(const struct job *j, struct bn_err *err)
{
  const struct bn_recipe *r = j->recipe;
  int worst = EXIT_SUCCESS;

  for (size_t i = 0; i < r->n && worst < SIGNALLED; i++) {
    int status;

    printf("%s%s:\n", i > 0 ? "\n" : "", r->line[i].name);
    bn_log_stderr("%s (%zu of %zu)", r->line[i].name, i + 1, r->n);
    status = run_line(j, i, false, err);
    if (err->text[0] != '\0')
      bn_log_stderr("bench sweep: %s: %s", r->line[i].name, err->text);
    *err = (struct bn_err){.code = 0};
    worst = status > worst ? status : worst;
  }
  return worst;
}

static int run_file(const struct bn_sweep_conf *top, const char *const *operand, struct bn_err *err)
{
  struct bn_recipe *r = calloc(1, sizeof *r);
  const struct job job = {top, r, operand};
  int status = EXIT_FAILURE;

  if (r == NULL)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else if (top->out == NULL)
    (void)bn_err_set(err, EINVAL, "--out is missing; name a folder for the results");
  else if (top->plot != NULL)
    (void)bn_err_set(err, EINVAL,
                     "--plot=%s: a picture shows one sweep; draw each with bench plot %s/NAME",
                     top->plot, top->out);
  else if (bn_recipe_read(r, top->from, err) == 0 && bn_folder_check(top->out, err) == 0 &&
           check_all(&job, err) == 0 && bn_folder_make(top->out, err) == 0)
    status = run_all(&job, err);
  if (r != NULL)
    bn_recipe_done(r);
  free(r);
  return status;
}

int bn_sweep_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_sweep_conf *c = conf;

  return c->from != NULL ? run_file(c, operand, err) : run_one(c, operand, false, err);
}
