/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads results, has a chart made of them and drawn, and writes the picture. */
#include "study/plot/plot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "base/units.h"
#include "report/saved.h"
#include "study/plot/gnuplot.h"
#include "study/plot/plotcharts.h"
#include "study/plot/plotsweep.h"
#include "study/results.h"

enum { AUTO, TIME, LATENCY, SWEEP };

static const char *const kinds[] = {"auto", "time", "latency", "sweep", NULL};

const struct bn_opt bn_plot_options[] = {
    {.name = "output",
     .type = BN_PATH,
     .letter = 'o',
     .form = "=FILE",
     .offset = offsetof(struct bn_plot_conf, output),
     .help = "file for the picture, .svg or .png, instead of the terminal"},
    {.name = "kind",
     .type = BN_CHOICE,
     .def = "auto",
     .choices = kinds,
     .offset = offsetof(struct bn_plot_conf, kind),
     .help = "picture: time, latency, sweep, or auto (depends on the results)"},
    BN_OPT_END,
};

enum {
  RUNS_MAX = 28, /* that colours and dashes tell apart */
  COLUMNS = 79,
  COLUMNS_MIN = 40,
  COLUMNS_MAX = 400,
  SIGNAL_STATUS = 128 /* + the signal */
};

/* --- files ------------------------------------------------------------------------------------ */

/* The results that were named, or those of a folder. */
struct files {
  const char *const *path; /* [n], borrowed */
  size_t n;
  bool folder;
  bn_opt_traits_of *traits_of;
};

/* 1: loaded; 0: it is something else that a folder has; -1: err. */
static int load(const struct bn_store *js, const struct files *f, size_t i, struct bn_stored *out,
                struct bn_err *err)
{
  struct bn_err why = {0};
  const int rc = bn_results_load(js, f->path[i], false, out, &why);

  if (rc > 0)
    bn_facts_declare(&out->result.facts, f->traits_of);
  if (rc > 0 || (rc == 0 && f->folder))
    return rc;
  return *err = why, -1;
}

/* found: those of a folder, for the caller to release. */
static int find_files(struct files *f, struct bn_results *found, bn_opt_traits_of *traits_of,
                      const char *const *operand, struct bn_err *err)
{
  *f = (struct files){.path = operand, .traits_of = traits_of};
  for (; operand[f->n] != NULL; f->n++)
    if (bn_results_is_folder(operand[f->n]) && (f->n > 0 || operand[1] != NULL))
      return bn_err_set(err, EINVAL, "'%s' is a folder; name it alone, or name its files",
                        operand[f->n]);
  if (!bn_results_is_folder(operand[0]))
    return 0;
  if (bn_results_find(found, operand[0], err) != 0)
    return -1;
  *f = (struct files){(const char *const *)found->path, found->n, true, traits_of};
  return 0;
}

static int no_results(const char *folder, struct bn_err *err)
{
  return bn_err_set(err, ENOENT,
                    "'%s' has no results; name a folder that has files of --report=json:FILE, or "
                    "whose folder runs has them",
                    folder);
}

/* --- one run or a few ------------------------------------------------------------------------- */

/* The runs of one picture. */
struct runs {
  struct bn_plotrun run[RUNS_MAX];
  size_t n;
};

static int add_run(struct runs *r, const char *path, const struct bn_stored *s, struct bn_err *err)
{
  if (r->n == RUNS_MAX)
    return bn_err_set(err, E2BIG, "such a picture has at most %d results; name fewer files",
                      RUNS_MAX);
  bn_saved_tell_passed(path, &s->passed);
  return bn_plotrun_make(&r->run[r->n++], path, &s->result, err);
}

/* A picture over time needs more than one interval of each. */
static int choose_kind(const struct runs *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->run[i].n_intervals < 2)
      return LATENCY;
  return TIME;
}

static int read_runs(struct runs *r, const struct bn_store *js, const struct files *f,
                     struct bn_err *err)
{
  int rc = 0;

  for (size_t i = 0; rc >= 0 && i < f->n; i++) {
    struct bn_stored s;

    rc = load(js, f, i, &s, err);
    if (rc <= 0)
      continue;
    rc = add_run(r, f->path[i], &s, err);
    bn_stored_done(js, &s);
  }
  return rc < 0 ? -1 : 0;
}

static int draw_runs(struct bn_chart *chart, int kind, const struct bn_store *js,
                     const struct files *f, const char *operand, struct bn_err *err)
{
  struct runs *r = calloc(1, sizeof *r);
  int rc;

  if (r == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = read_runs(r, js, f, err);
  if (rc == 0 && r->n == 0)
    rc = no_results(operand, err);
  else if (rc == 0 && (kind == AUTO ? choose_kind(r) : kind) == TIME)
    rc = bn_plotcharts_time(chart, r->run, r->n, err);
  else if (rc == 0)
    rc = bn_plotcharts_latency(chart, r->run, r->n, err);
  for (size_t i = 0; i < r->n; i++)
    bn_plotrun_done(&r->run[i]);
  free(r);
  return rc;
}

/* --- a sweep ---------------------------------------------------------------------------------- */

struct set {
  struct bn_stored *stored; /* owned, [n_stored] */
  size_t n_stored;
  const struct bn_result **result; /* owned: of those that ended well */
  struct bn_plotrun *head;         /* owned; theirs */
  size_t n;
};

/* Whether the run came to its end; then its figures are those of the whole time. */
static bool is_whole(const struct bn_result *r)
{
  const struct bn_end *e = &r->end;

  return r->n_groups > 0 && r->group[0].has_total && !e->partial && !e->failed && !e->timeout &&
         e->signo == 0;
}

static int add_result(struct set *s, const char *path, const struct bn_result *r,
                      struct bn_err *err)
{
  if (!is_whole(r))
    return 0;
  s->result[s->n++] = r;
  return bn_plotrun_head(&s->head[s->n - 1], path, r, err);
}

static int read_set(struct set *s, const struct bn_store *js, const struct files *f,
                    struct bn_err *err)
{
  int rc = 0;

  s->stored = calloc(f->n + 1, sizeof *s->stored);
  s->result = calloc(f->n + 1, sizeof *s->result);
  s->head = calloc(f->n + 1, sizeof *s->head);
  if (s->stored == NULL || s->result == NULL || s->head == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  for (size_t i = 0; rc >= 0 && i < f->n; i++) {
    struct bn_stored *stored = &s->stored[s->n_stored];

    rc = load(js, f, i, stored, err);
    if (rc <= 0)
      continue;
    s->n_stored++;
    rc = add_result(s, f->path[i], &stored->result, err);
  }
  return rc < 0 ? -1 : 0;
}

static int check_set(const struct set *s, const char *operand, struct bn_err *err)
{
  if (s->n_stored == 0)
    return no_results(operand, err);
  if (s->n == 0)
    return bn_err_set(err, EINVAL, "none of the %zu runs ended normally; run them again",
                      s->n_stored);
  if (s->n < s->n_stored)
    bn_log_stderr("bench plot: %zu of %zu runs did not end normally and are left out",
                  s->n_stored - s->n, s->n_stored);
  return 0;
}

static int draw_sweep(struct bn_chart *chart, const struct bn_store *js, const struct files *f,
                      const char *operand, struct bn_err *err)
{
  struct set s = {.n = 0};
  int rc = read_set(&s, js, f, err);

  if (rc == 0)
    rc = check_set(&s, operand, err);
  if (rc == 0) {
    bn_plotrun_headings(chart, s.head, s.n);
    rc = bn_plotsweep(chart, s.result, s.n, err);
  }
  for (size_t i = 0; i < s.n_stored; i++)
    bn_stored_done(js, &s.stored[i]);
  for (size_t i = 0; i < s.n; i++)
    bn_plotrun_done(&s.head[i]);
  free(s.stored);
  free(s.result);
  free(s.head);
  return rc;
}

static int make_chart(struct bn_chart *chart, const struct bn_plot_conf *c,
                      const char *const *operand, struct bn_err *err)
{
  const struct bn_store *js = bn_store_json(err);
  struct bn_results found = {.n = 0};
  struct files f;
  int rc = js != NULL ? find_files(&f, &found, c->traits_of, operand, err) : -1;

  if (rc == 0 && (c->kind == SWEEP || (c->kind == AUTO && f.folder)))
    rc = draw_sweep(chart, js, &f, operand[0], err);
  else if (rc == 0)
    rc = draw_runs(chart, c->kind, js, &f, operand[0], err);
  bn_results_done(&found);
  return rc;
}

/* --- where it goes ---------------------------------------------------------------------------- */

static unsigned terminal_columns(void)
{
  const char *text = getenv("COLUMNS");
  int64_t columns = COLUMNS, typed;
  struct winsize size;

  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    columns = size.ws_col;
  else if (text != NULL && bn_units_int(text, &typed) == 0)
    columns = typed;
  if (columns < COLUMNS_MIN)
    return COLUMNS_MIN;
  return columns > COLUMNS_MAX ? COLUMNS_MAX : (unsigned)columns;
}

/* By the end of the name. */
static int choose_form(const char *option, const char *path, enum bn_plot_form *form,
                       struct bn_err *err)
{
  const char *end = path != NULL ? strrchr(path, '.') : NULL, *fault;

  if (path == NULL)
    *form = BN_PLOT_TEXT;
  else if (end != NULL && strcasecmp(end, ".svg") == 0)
    *form = BN_PLOT_SVG;
  else if (end != NULL && strcasecmp(end, ".png") == 0)
    *form = BN_PLOT_PNG;
  else
    return bn_err_set(err, EINVAL, "--%s=%s: the name of the file must end in .svg or .png", option,
                      path);
  fault = path != NULL ? bn_file_fault(path) : NULL;
  if (fault != NULL)
    return bn_err_set(err, EINVAL, "--%s=%s: %s", option, path, fault);
  if (path != NULL && bn_file_try(path) != 0)
    return bn_err_set(err, errno, "--%s=%s: cannot write the file: %s", option, path,
                      strerror(errno));
  return 0;
}

/* Without the blanks at the ends of lines, and without what gnuplot begins a page with. */
static void print(const char *text)
{
  size_t len;

  text += strspn(text, "\f \n");
  for (; *text != '\0'; text += len + (text[len] != '\0')) {
    size_t shown;

    len = strcspn(text, "\n");
    for (shown = len; shown > 0 && text[shown - 1] == ' ';)
      shown--;
    printf("%.*s\n", (int)shown, text);
  }
}

static int write_picture(const char *path, const struct bn_buf *picture, struct bn_err *err)
{
  if (picture->len == 0)
    return bn_err_set(err, EIO, "gnuplot wrote no picture");
  if (path == NULL)
    print(picture->data);
  else if (bn_file_save(path, picture->data, picture->len) != 0)
    return bn_err_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
  return 0;
}

static int draw(struct bn_children *children, struct bn_canvas *canvas,
                const struct bn_plot_conf *c, const char *const *operand, struct bn_err *err)
{
  struct bn_buf picture = {.max = 0};
  struct bn_chart chart = {.n_panels = 0};
  int rc = make_chart(&chart, c, operand, err);

  canvas->rows = bn_plotscript_rows(&chart);
  if (rc == 0)
    rc = bn_gnuplot(children, &chart, canvas, &picture, err);
  if (rc == 0)
    rc = write_picture(c->output, &picture, err);
  bn_chart_done(&chart);
  bn_buf_done(&picture);
  if (rc != 0)
    bn_escape_error(err);
  return rc;
}

int bn_plot_check(const char *option, const char *path, struct bn_err *err)
{
  enum bn_plot_form form;

  return choose_form(option, path, &form, err) == 0 ? bn_gnuplot_check(err) : -1;
}

int bn_plot_folder(struct bn_children *children, const char *folder, char *path, struct bn_err *err)
{
  const struct bn_plot_conf conf = {.output = path, .kind = SWEEP};
  const char *const operand[] = {folder, NULL};
  struct bn_canvas canvas = {.columns = 0};

  if (choose_form("plot", path, &canvas.form, err) != 0)
    return -1;
  return draw(children, &canvas, &conf, operand, err);
}

int bn_plot_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_plot_conf *c = conf;
  struct bn_canvas canvas = {.columns = terminal_columns()};
  struct bn_children children = {.signo = 0};
  int rc = choose_form("output", c->output, &canvas.form, err);

  if (rc == 0) {
    bn_children_begin(&children);
    rc = draw(&children, &canvas, c, operand, err);
  }
  if (children.signo != 0)
    return SIGNAL_STATUS + children.signo;
  return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
