/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a row for every interval, as it ends. */
#include "report/reporters.h"

#include <errno.h>

#include "base/buf.h"
#include "report/output.h"
#include "report/rows/line.h"

struct rows {
  struct bn_output output;
  const struct bn_plan *plan; /* the plan of the run */
  bool csv;                   /* else a row is a line of JSON */
  struct bn_row row;
  struct bn_buf line, names; /* names: of the columns of CSV, once they are written */
};

/* Opens a report of JSON lines; rows_open_csv() makes it one of CSV. */
static int rows_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  struct rows *r = self;

  (void)conf;
  (void)err;
  *r = (struct rows){.plan = NULL};
  bn_output_init(&r->output, out, path);
  return 0;
}

static int rows_open_csv(void *self, const void *conf, const char *path, FILE *out,
                         struct bn_err *err)
{
  struct rows *r = self;
  const int rc = rows_open(self, conf, path, out, err);

  r->csv = true;
  return rc;
}

/* Refuses a run without intervals, whose report would have no rows. */
static int rows_check(void *self, const struct bn_plan *plan, struct bn_err *err)
{
  const struct rows *r = self;

  if (plan->interval_ns > 0)
    return 0;
  return bn_err_set(err, EINVAL,
                    "--report=%s writes a row for each interval, but there are no intervals; set "
                    "their length (--report-interval=1)",
                    r->csv ? "csv" : "jsonl");
}

static void rows_begin(void *self, const struct bn_facts *f)
{
  struct rows *r = self;

  r->plan = &f->plan;
}

/* Makes the text of a view, its row.  In CSV, the first text has the line of names before the row.
   v NULL: the text has no row.  Returns 0; or, in CSV, -1 and err if joined results have
   different columns. */
static int rows_make_text(struct rows *r, const struct bn_view *v, struct bn_err *err)
{
  bn_row_set_interval(&r->row, r->plan, v);
  bn_buf_clear(&r->line);
  if (r->csv && bn_line_add_names_once(&r->line, &r->row, &r->names, err) != 0)
    return -1;
  if (v == NULL)
    return 0;
  if (r->csv)
    bn_line_add_values(&r->line, &r->row);
  else
    bn_line_add_json(&r->line, &r->row);
  return 0;
}

/* Writes the names of CSV, so that a reader finds its columns before the first row; JSON lines have
   none.  This first piece, which may be empty, also empties the file, so that a run without
   intervals does not leave the rows of another run. */
static void rows_started(void *self, const struct bn_facts *f)
{
  struct rows *r = self;

  (void)f;
  /* Columns that differ from those of the result before are refused with the first interval. */
  if (rows_make_text(r, NULL /* no row */, NULL) == 0)
    bn_output_write(&r->output, r->line.data, r->line.len);
}

/* Does the work of rows_started() for a run whose start failed, so that the rows of an earlier run
   do not stay. */
static int rows_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  const struct rows *r = self;

  (void)end;
  (void)err;
  if (r->plan != NULL && !r->output.begun)
    rows_started(self, NULL);
  return 0;
}

/* Writes the row of an interval.  Fails if joined results have different columns. */
static int rows_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct rows *r = self;

  if (rows_make_text(r, v, err) != 0)
    return -1;
  bn_output_write(&r->output, r->line.data, r->line.len);
  return 0;
}

static int rows_close(void *self, struct bn_err *err)
{
  struct rows *r = self;

  bn_row_done(&r->row);
  bn_buf_done(&r->line);
  bn_buf_done(&r->names);
  return bn_output_check_written(&r->output, err);
}

const struct bn_reporter bn_reporter_csv = {
    .name = "csv",
    .state_size = sizeof(struct rows),
    .joins = true,
    .for_programs = true,
    .open = rows_open_csv,
    .check = rows_check,
    .begin = rows_begin,
    .started = rows_started,
    .interval = rows_interval,
    .finish = rows_finish,
    .close = rows_close,
};

const struct bn_reporter bn_reporter_jsonl = {
    .name = "jsonl",
    .state_size = sizeof(struct rows),
    .joins = true,
    .for_programs = true,
    .open = rows_open,
    .check = rows_check,
    .begin = rows_begin,
    .started = rows_started,
    .interval = rows_interval,
    .finish = rows_finish,
    .close = rows_close,
};
