/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the runs of a sweep. */
#include "study/sweep/course.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "study/sweep/data.h"

/* How long the runs of this process took. */
struct pace {
  double *took_s; /* ascending */
  size_t n;
};

int bn_course_resume(struct bn_course *c, struct bn_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < c->tally->n_runs && rc == 0; i++) {
    struct bn_stored stored;

    if (bn_folder_result(c->folder, c->js, i, &stored))
      rc = bn_tally_take(c->tally, i, &stored.result, c->stop);
    bn_stored_done(c->js, &stored);
  }
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

/* --- progress --------------------------------------------------------------------------------- */

static void remember(struct pace *p, double took_s)
{
  size_t i = p->n;

  for (; i > 0 && p->took_s[i - 1] > took_s; i--)
    p->took_s[i] = p->took_s[i - 1];
  p->took_s[i] = took_s;
  p->n++;
}

/* "4 min 10 s" */
static void add_time(struct bn_buf *out, double s)
{
  const long all = lround(s);

  if (all >= 3600)
    (void)bn_buf_printf(out, "%ld h %ld min", all / 3600, all % 3600 / 60);
  else if (all >= 60)
    (void)bn_buf_printf(out, "%ld min %ld s", all / 60, all % 60);
  else
    (void)bn_buf_printf(out, "%ld s", all);
}

static void add_left(const struct bn_course *c, const struct pace *p, struct bn_buf *out)
{
  const size_t left = bn_tally_count(c->tally, BN_TALLY_PENDING);

  if (left == 0 || p->n == 0)
    return;
  (void)bn_buf_str(out, "; ");
  add_time(out, (double)left * (p->took_s[p->n / 2] + c->cooldown_s));
  (void)bn_buf_str(out, " left");
}

/* "[ 7/30] threads=16 repeat 2: " */
static void add_run(const struct bn_course *c, size_t run, struct bn_buf *out)
{
  const struct bn_tally *t = c->tally;
  const size_t points = bn_grid_points(t->grid);
  const int width = snprintf(NULL, 0, "%zu", t->n_runs);

  (void)bn_buf_printf(out, "[%*zu/%zu] ", width, run + 1, t->n_runs);
  bn_grid_name(t->grid, t->order[run], out);
  (void)bn_buf_printf(out, " repeat %zu: ", run / points + 1);
}

static void tell_done(const struct bn_course *c, const struct pace *p, size_t run)
{
  const struct bn_tally *t = c->tally;
  const bool events = t->rate != NULL && strcmp(t->rate, "events_per_s") == 0;
  const double p95_s = bn_tally_value(t, run, BN_TALLY_P95);
  struct bn_buf line = {.max = 0};

  add_run(c, run, &line);
  (void)bn_buf_printf(&line, "%.1f %s", bn_tally_value(t, run, BN_TALLY_RATE),
                      events ? "events/s" : "tps");
  if (isfinite(p95_s))
    (void)bn_buf_printf(&line, ", p95 %.*f ms", bn_units_decimals(p95_s * 1e3, 2), p95_s * 1e3);
  add_left(c, p, &line);
  bn_log_foreign(line.data != NULL ? line.data : "");
  bn_buf_done(&line);
}

static void tell_failed(const struct bn_course *c, const struct pace *p, size_t run,
                        const char *why)
{
  struct bn_buf line = {.max = 0};

  add_run(c, run, &line);
  (void)bn_buf_printf(&line, "failed: %s", why);
  add_left(c, p, &line);
  bn_log_foreign(line.data != NULL ? line.data : "");
  bn_buf_done(&line);
}

/* --- a run ------------------------------------------------------------------------------------ */

static char **arguments(const struct bn_course *c, size_t run)
{
  char document[PATH_MAX + 16], path[PATH_MAX], warmup[48];
  const char *const more[] = {"--report=text", document, c->warmup_s >= 0 ? warmup : NULL, NULL};

  (void)snprintf(document, sizeof document, "--report=json:%s",
                 bn_folder_run(c->folder, run, "json", path));
  (void)snprintf(warmup, sizeof warmup, "--warmup-time=%.9g", c->warmup_s);
  return bn_invocation_argv(c->command, "run", c->tally->grid, c->tally->order[run], more);
}

/* "exit status 1: no such table (DIR/runs/0007.err)" */
static void say_why(const struct bn_child_end *end, const char *errors, char *why, size_t size)
{
  char how[64], said[256];

  if (end->signo != 0)
    (void)snprintf(how, sizeof how, "ended by signal %d", end->signo);
  else if (end->status != 0)
    (void)snprintf(how, sizeof how, "exit status %d", end->status);
  else
    (void)snprintf(how, sizeof how, "it left no result");
  bn_folder_quote(errors, said, sizeof said);
  (void)snprintf(why, size, "%.63s%s%.255s (%.160s)", how, said[0] != '\0' ? ": " : "", said,
                 errors);
}

/* A result of an attempt before this one is not this one's. */
static void forget_result(const struct bn_course *c, size_t run)
{
  char path[PATH_MAX];

  (void)unlink(bn_folder_run(c->folder, run, "json", path));
}

/* Whether a run that has failed has measured something: then its command line is right. */
static bool has_measured(const struct bn_course *c, size_t run)
{
  char path[PATH_MAX];
  struct bn_stored stored;
  const bool loaded =
      bn_store_load(c->js, bn_folder_run(c->folder, run, "json", path), false, &stored, NULL) == 0;
  const bool measured = loaded && stored.result.n_groups > 0 && stored.result.group[0].has_total;

  bn_stored_done(c->js, &stored);
  return measured;
}

enum { REFUSED = 2 };

/* 0: it is in the tally; 1: it has failed, why; REFUSED: it has exited before it measured anything;
   -1: err, or a signal. */
static int make_run(struct bn_course *c, size_t run, char *why, size_t size, struct bn_err *err)
{
  char out[PATH_MAX], errors[PATH_MAX];
  char **argv = arguments(c, run);
  struct bn_child child = {.argv = argv,
                           .out = bn_folder_run(c->folder, run, "txt", out),
                           .errors = bn_folder_run(c->folder, run, "err", errors)};
  struct bn_child_end end;
  struct bn_stored stored;
  int rc;

  if (argv == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  forget_result(c, run);
  rc = bn_child_run(c->children, &child, &end, err);
  bn_invocation_free(argv);
  if (rc != 0 || c->children->signo != 0)
    return -1;
  if (!bn_folder_result(c->folder, c->js, run, &stored)) {
    say_why(&end, errors, why, size);
    rc = end.signo == 0 && !has_measured(c, run) ? REFUSED : 1;
  } else if (bn_tally_take(c->tally, run, &stored.result, c->stop) != 0) {
    rc = bn_err_set(err, ENOMEM, "out of memory");
  }
  bn_stored_done(c->js, &stored);
  bn_folder_drop_empty(errors);
  return rc;
}

/* If the first run is refused, nothing can be expected of the others. */
static int take_failure(struct bn_course *c, struct pace *p, size_t run, bool refused,
                        const char *why, struct bn_err *err)
{
  struct bn_buf name = {.max = 0};

  bn_tally_mark(c->tally, run, BN_TALLY_FAILED);
  if (!refused || bn_tally_count(c->tally, BN_TALLY_DONE) > 0 ||
      bn_tally_count(c->tally, BN_TALLY_FAILED) > 1) {
    tell_failed(c, p, run, why);
    return 0;
  }
  bn_grid_name(c->tally->grid, c->tally->order[run], &name);
  (void)bn_err_set(err, 0, "the first run, %.100s, failed before it measured anything: %.380s",
                   name.data != NULL ? name.data : "", why);
  bn_buf_done(&name);
  return -1;
}

/* Data that it needs, and the run. */
static int make(struct bn_course *c, struct pace *p, size_t run, struct bn_err *err)
{
  const struct bn_data data = {c->js, c->folder, c->command, c->tally->grid, c->children};
  const uint64_t start_ns = bn_clock_mono();
  char why[sizeof err->text];
  int rc = c->prepare ? bn_data_have(&data, c->tally->order[run], err) : 0;

  if (rc > 0)
    (void)snprintf(why, sizeof why, "%s", err->text);
  else if (rc == 0)
    rc = make_run(c, run, why, sizeof why, err);
  if (rc < 0)
    return -1;
  *err = (struct bn_err){.code = 0};
  if (rc > 0)
    return take_failure(c, p, run, rc == REFUSED, why, err);
  remember(p, (double)(bn_clock_mono() - start_ns) / 1e9);
  tell_done(c, p, run);
  return 0;
}

static int make_all(struct bn_course *c, struct pace *p, struct bn_err *err)
{
  bool first = true;

  for (size_t i = 0; i < c->tally->n_runs; i++) {
    if (c->tally->run[i].state == BN_TALLY_PENDING) {
      if (!first)
        bn_children_pause(c->children, (uint64_t)(c->cooldown_s * 1e9));
      if (c->children->signo != 0 || make(c, p, i, err) != 0)
        return -1;
      first = false;
    }
    if (c->stop != NULL)
      bn_tally_leave_out(c->tally, i);
  }
  return 0;
}

int bn_course_go(struct bn_course *c, struct bn_err *err)
{
  const struct bn_data data = {c->js, c->folder, c->command, c->tally->grid, c->children};
  struct pace pace = {.took_s = calloc(c->tally->n_runs, sizeof(double))};
  int rc = -1;

  if (pace.took_s == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = make_all(c, &pace, err);
  if (rc == 0 && c->cleanup)
    rc = bn_data_drop(&data, err);
  free(pace.took_s);
  return rc;
}
