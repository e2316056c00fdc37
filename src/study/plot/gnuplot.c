/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs gnuplot on files in a private folder, which it leaves. */
#include "study/plot/gnuplot.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"

#define LIMIT_NS (120 * BN_NSEC_PER_SEC)

enum { PICTURE_MAX = 1 << 30, ERRORS_MAX = 1 << 16 };

struct work {
  char folder[PATH_MAX], script[PATH_MAX + 16], picture[PATH_MAX + 16], errors[PATH_MAX + 16];
};

static int make_folder(struct work *w, struct bn_err *err)
{
  const char *base = getenv("TMPDIR");

  if (base == NULL || base[0] == '\0')
    base = "/tmp";
  if ((size_t)snprintf(w->folder, sizeof w->folder, "%s/bench-plot.XXXXXX", base) >=
      sizeof w->folder)
    return bn_err_set(err, ENAMETOOLONG, "TMPDIR: the name of the folder is too long");
  if (mkdtemp(w->folder) == NULL)
    return bn_err_set(err, errno, "cannot make a folder in '%s': %s; set TMPDIR to another folder",
                      base, strerror(errno));
  (void)snprintf(w->script, sizeof w->script, "%s/script", w->folder);
  (void)snprintf(w->picture, sizeof w->picture, "%s/picture", w->folder);
  (void)snprintf(w->errors, sizeof w->errors, "%s/errors", w->folder);
  return 0;
}

static void remove_folder(const struct work *w)
{
  (void)unlink(w->script);
  (void)unlink(w->picture);
  (void)unlink(w->errors);
  (void)rmdir(w->folder);
}

static int read_file(const char *path, struct bn_buf *out, struct bn_err *err)
{
  FILE *f = fopen(path, "re");
  char part[8192];
  size_t n;
  int failed;

  if (f == NULL)
    return bn_err_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
  while ((n = fread(part, 1, sizeof part, f)) > 0)
    (void)bn_buf_add(out, part, n);
  failed = ferror(f) ? errno : 0;
  (void)fclose(f);
  if (failed != 0)
    return bn_err_set(err, failed, "cannot read '%s': %s", path, strerror(failed));
  return out->failed ? bn_err_set(err, ENOMEM, "out of memory for the picture") : 0;
}

/* The line that says what is wrong: gnuplot first repeats the command, with a mark below it. */
static const char *first_line(char *text)
{
  const char *best = NULL;
  char *line;

  while ((line = strsep(&text, "\n")) != NULL) {
    if (strstr(line, ": warning: ") != NULL)
      continue;
    if (strstr(line, " line ") != NULL && strstr(line, ": ") != NULL)
      return line;
    if (best == NULL && line[strspn(line, " \t^")] != '\0')
      best = line;
  }
  return best != NULL ? best : "it does not say why";
}

static int complain(const struct work *w, const struct bn_child_end *end, struct bn_err *err)
{
  struct bn_buf errors = {.max = ERRORS_MAX};
  char shown[256];

  (void)read_file(w->errors, &errors, NULL);
  (void)bn_escape(shown, sizeof shown,
                  errors.data != NULL ? first_line(errors.data) : "it does not say why", "");
  bn_buf_done(&errors);
  if (end->timed_out)
    return bn_err_set(err, ETIMEDOUT, "gnuplot did not draw the picture within %d s",
                      (int)(LIMIT_NS / BN_NSEC_PER_SEC));
  if (end->signo != 0)
    return bn_err_set(err, EIO, "gnuplot was ended by signal %d (%s): %s", end->signo,
                      strsignal(end->signo), shown);
  return bn_err_set(err, EIO, "gnuplot cannot draw the picture: %s", shown);
}

static int is_missing(struct bn_err *err)
{
  return bn_err_set(err, ENOENT,
                    "the program gnuplot, which draws the picture, is not in PATH; install it "
                    "(Debian, Ubuntu: apt-get install gnuplot-nox; Fedora: dnf install gnuplot)");
}

static int run(struct bn_children *c, const struct work *w, struct bn_err *err)
{
  char name[] = "gnuplot", defaults[] = "-d", script[sizeof w->script];
  char *const argv[] = {name, defaults, script, NULL};
  const struct bn_child child = {
      .argv = argv, .out = w->picture, .errors = w->errors, .limit_ns = LIMIT_NS};
  struct bn_child_end end;

  memcpy(script, w->script, sizeof script);
  if (bn_child_run(c, &child, &end, err) != 0)
    return err->code == ENOENT ? is_missing(err) : -1;
  if (c->signo != 0)
    return bn_err_set(err, EINTR, "interrupted by signal %d", c->signo);
  return end.status == 0 ? 0 : complain(w, &end, err);
}

int bn_gnuplot(struct bn_children *c, const struct bn_chart *chart, const struct bn_canvas *canvas,
               struct bn_buf *picture, struct bn_err *err)
{
  struct bn_buf script = {.max = PICTURE_MAX};
  struct work w;
  int rc = -1;

  if (make_folder(&w, err) != 0)
    return -1;
  picture->max = PICTURE_MAX;
  if (bn_plotscript(&script, chart, canvas) != 0)
    (void)bn_err_set(err, ENOMEM, "out of memory for the data of the picture");
  else if (bn_file_save(w.script, script.data, script.len) != 0)
    (void)bn_err_set(err, errno, "cannot write '%s': %s", w.script, strerror(errno));
  else if (run(c, &w, err) == 0)
    rc = read_file(w.picture, picture, err);
  bn_buf_done(&script);
  remove_folder(&w);
  return rc;
}

int bn_gnuplot_check(struct bn_err *err)
{
  const char *path = getenv("PATH");
  char file[PATH_MAX];

  while (path != NULL) {
    const size_t len = strcspn(path, ":");

    (void)snprintf(file, sizeof file, "%.*s/gnuplot", (int)(len < PATH_MAX / 2 ? len : 0), path);
    if (access(file, X_OK) == 0)
      return 0;
    path = path[len] == ':' ? path + len + 1 : NULL;
  }
  return is_missing(err);
}
