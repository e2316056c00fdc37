/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads results, has a chart made of them and drawn, and writes the picture. */
#include "study/plot/plot.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "base/units.h"
#include "measure/store.h"
#include "report/saved.h"
#include "study/plot/gnuplot.h"
#include "study/plot/plotcharts.h"
#include "study/plot/plotsweep.h"

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
     .help = "picture: time, latency, sweep, or auto, by what the results have"},
    BN_OPT_END,
};

enum {
  RUNS_MAX = 28, /* that colours and dashes tell apart */
  FILES_MAX = 10000,
  COLUMNS = 79,
  COLUMNS_MIN = 40,
  COLUMNS_MAX = 400,
  SIGNAL_STATUS = 128 /* + the signal */
};

/* --- files ------------------------------------------------------------------------------------ */

/* The results that were named, or those of a folder. */
struct files {
  char **path; /* owned, with the paths */
  size_t n;
  bool folder;
};

static void forget_files(struct files *f)
{
  for (size_t i = 0; i < f->n; i++)
    free(f->path[i]);
  free(f->path);
}

static int add_file(struct files *f, const char *folder, const char *name, struct bn_err *err)
{
  char **more = reallocarray(f->path, f->n + 1, sizeof *more), *path = NULL;

  if (more != NULL)
    f->path = more;
  if (more == NULL || asprintf(&path, "%s%s", folder, name) < 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  f->path[f->n++] = path;
  return f->n <= FILES_MAX ? 0
                           : bn_err_set(err, E2BIG, "there are more than %d results", FILES_MAX);
}

static int is_document(const struct dirent *d)
{
  const char *end = strrchr(d->d_name, '.');

  return end != NULL && end != d->d_name && strcmp(end, ".json") == 0;
}

/* As bench sweep makes it: FOLDER/runs/0001.json, … */
static int add_folder(struct files *f, const char *folder, struct bn_err *err)
{
  char runs[PATH_MAX];
  struct dirent **list = NULL;
  int n = -1, rc = 0;

  if ((size_t)snprintf(runs, sizeof runs, "%s/runs/", folder) < sizeof runs)
    n = scandir(runs, &list, is_document, alphasort);
  if (n < 0)
    return bn_err_set(err, errno, "'%s' is not the folder of a sweep: cannot read '%s': %s", folder,
                      runs, strerror(errno));
  for (int i = 0; i < n; i++) {
    if (rc == 0)
      rc = add_file(f, runs, list[i]->d_name, err);
    free(list[i]);
  }
  free(list);
  f->folder = true;
  return rc == 0 && n == 0 ? bn_err_set(err, ENOENT, "'%s' has no results yet", runs) : rc;
}

static int find_files(struct files *f, const char *const *operand, struct bn_err *err)
{
  struct stat st;

  for (size_t i = 0; operand[i] != NULL; i++) {
    const bool folder = stat(operand[i], &st) == 0 && S_ISDIR(st.st_mode);

    if (folder && (i > 0 || operand[1] != NULL))
      return bn_err_set(err, EINVAL, "'%s' is a folder, which is drawn by itself", operand[i]);
    if (folder ? add_folder(f, operand[i], err) : add_file(f, "", operand[i], err))
      return -1;
  }
  return 0;
}

/* --- one run or a few ------------------------------------------------------------------------- */

static int read_run(const struct bn_store *js, const char *path, struct bn_plotrun *run,
                    struct bn_err *err)
{
  struct bn_stored s;
  int rc;

  if (bn_store_load(js, path, false, &s, err) != 0)
    return -1;
  bn_saved_tell_passed(path, &s.passed);
  rc = bn_plotrun_make(run, path, &s.result, err);
  bn_stored_done(js, &s);
  return rc;
}

/* A picture over time needs more than one interval of each. */
static int choose_kind(const struct bn_plotrun *run, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (run[i].n_intervals < 2)
      return LATENCY;
  return TIME;
}

static int draw_runs(struct bn_chart *chart, int kind, const struct bn_store *js,
                     const struct files *f, struct bn_err *err)
{
  struct bn_plotrun *run = calloc(f->n + 1, sizeof *run);
  int rc = 0;

  if (run == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  if (f->n > RUNS_MAX)
    rc = bn_err_set(err, E2BIG, "%zu results are too many for such a picture; name at most %d",
                    f->n, RUNS_MAX);
  for (size_t i = 0; rc == 0 && i < f->n; i++)
    rc = read_run(js, f->path[i], &run[i], err);
  if (rc == 0 && (kind == AUTO ? choose_kind(run, f->n) : kind) == TIME)
    rc = bn_plotcharts_time(chart, run, f->n, err);
  else if (rc == 0)
    rc = bn_plotcharts_latency(chart, run, f->n, err);
  for (size_t i = 0; i < f->n; i++)
    bn_plotrun_done(&run[i]);
  free(run);
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

static int read_set(struct set *s, const struct bn_store *js, const struct files *f,
                    struct bn_err *err)
{
  s->stored = calloc(f->n + 1, sizeof *s->stored);
  s->result = calloc(f->n + 1, sizeof *s->result);
  s->head = calloc(f->n + 1, sizeof *s->head);
  if (s->stored == NULL || s->result == NULL || s->head == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  for (; s->n_stored < f->n; s->n_stored++) {
    const struct bn_result *r = &s->stored[s->n_stored].result;

    if (bn_store_load(js, f->path[s->n_stored], false, &s->stored[s->n_stored], err) != 0)
      return -1;
    if (is_whole(r)) {
      s->result[s->n++] = r;
      if (bn_plotrun_head(&s->head[s->n - 1], f->path[s->n_stored], r, err) != 0)
        return -1;
    }
  }
  if (s->n == 0)
    return bn_err_set(err, EINVAL, "none of the %zu runs has come to its end", f->n);
  if (s->n < f->n)
    bn_log_stderr("bench plot: %zu of %zu runs have not come to their end and are left out",
                  f->n - s->n, f->n);
  return 0;
}

static int draw_sweep(struct bn_chart *chart, const struct bn_store *js, const struct files *f,
                      struct bn_err *err)
{
  struct set s = {.n = 0};
  int rc = read_set(&s, js, f, err);

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

static int make_chart(struct bn_chart *chart, int kind, const char *const *operand,
                      struct bn_err *err)
{
  const struct bn_store *js = bn_store_json(err);
  struct files f = {.n = 0};
  int rc = js != NULL ? find_files(&f, operand, err) : -1;

  if (rc == 0)
    rc = kind == SWEEP || (kind == AUTO && f.folder) ? draw_sweep(chart, js, &f, err)
                                                     : draw_runs(chart, kind, js, &f, err);
  forget_files(&f);
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
static int choose_form(const char *path, enum bn_plot_form *form, struct bn_err *err)
{
  const char *end = path != NULL ? strrchr(path, '.') : NULL, *fault;

  if (path == NULL)
    *form = BN_PLOT_TEXT;
  else if (end != NULL && strcasecmp(end, ".svg") == 0)
    *form = BN_PLOT_SVG;
  else if (end != NULL && strcasecmp(end, ".png") == 0)
    *form = BN_PLOT_PNG;
  else
    return bn_err_set(err, EINVAL, "--output=%s: the name of the file has to end in .svg or .png",
                      path);
  fault = path != NULL ? bn_file_fault(path) : NULL;
  if (fault != NULL)
    return bn_err_set(err, EINVAL, "--output=%s: %s", path, fault);
  if (path != NULL && bn_file_try(path) != 0)
    return bn_err_set(err, errno, "--output=%s: cannot write the file: %s", path, strerror(errno));
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
    return bn_err_set(err, EIO, "gnuplot has drawn nothing");
  if (path == NULL)
    print(picture->data);
  else if (bn_file_save(path, picture->data, picture->len) != 0)
    return bn_err_set(err, errno, "cannot write '%s': %s", path, strerror(errno));
  return 0;
}

int bn_plot_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_plot_conf *c = conf;
  struct bn_canvas canvas = {.columns = terminal_columns()};
  struct bn_buf picture = {.max = 0};
  struct bn_chart chart = {.n_panels = 0};
  struct bn_children children = {.signo = 0};
  int rc;

  rc = choose_form(c->output, &canvas.form, err);
  if (rc == 0)
    rc = make_chart(&chart, c->kind, operand, err);
  canvas.rows = bn_plotscript_rows(&chart);
  if (rc == 0) {
    bn_children_begin(&children);
    rc = bn_gnuplot(&children, &chart, &canvas, &picture, err);
  }
  if (rc == 0)
    rc = write_picture(c->output, &picture, err);
  bn_chart_done(&chart);
  bn_buf_done(&picture);
  if (rc != 0)
    bn_escape_error(err);
  if (children.signo != 0)
    return SIGNAL_STATUS + children.signo;
  return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
