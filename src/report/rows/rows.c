/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a row for every interval, as it ends. */
#include "report/rows/rows.h"

#include <errno.h>

#include "base/buf.h"
#include "report/output.h"
#include "report/rows/line.h"

struct rows {
  struct bn_output output;
  const struct bn_plan *plan; /* the plan of the run */
  struct bn_row row;
  struct bn_buf line, names; /* names: of the columns, once they are written */
};

static int rows_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  struct rows *r = self;

  (void)conf;
  (void)err;
  *r = (struct rows){.plan = NULL};
  bn_output_init(&r->output, out, path);
  return 0;
}

static int rows_check(const char *name, const struct bn_plan *plan, struct bn_err *err)
{
  if (plan->interval_ns > 0)
    return 0;
  return bn_err_set(err, EINVAL,
                    "--report=%s writes a row for each interval, but there are no intervals; set "
                    "their length (--report-interval=1)",
                    name);
}

static int rows_check_csv(void *self, const struct bn_plan *plan, struct bn_err *err)
{
  (void)self;
  return rows_check("csv", plan, err);
}

static int rows_check_jsonl(void *self, const struct bn_plan *plan, struct bn_err *err)
{
  (void)self;
  return rows_check("jsonl", plan, err);
}

static void rows_begin(void *self, const struct bn_facts *f)
{
  struct rows *r = self;

  r->plan = &f->plan;
}

static void rows_put_line(struct rows *r)
{
  bn_output_begin(&r->output);
  (void)fwrite(r->line.data, 1, r->line.len, r->output.out);
  bn_output_end(&r->output);
}

/* Writes the names at once, so that a reader finds the columns of a run without intervals. */
static void rows_started_csv(void *self, const struct bn_facts *f)
{
  struct rows *r = self;

  (void)f;
  bn_row_interval(&r->row, r->plan, NULL);
  bn_buf_clear(&r->line);
  /* The first interval finds a failure again and reports it. */
  if (bn_line_first(&r->line, &r->row, &r->names, NULL) == 0 && r->line.len > 0)
    rows_put_line(r);
}

/* Empties the file, so that a run without intervals does not leave the rows of another run. */
static void rows_started_jsonl(void *self, const struct bn_facts *f)
{
  struct rows *r = self;

  (void)f;
  bn_output_begin(&r->output);
  bn_output_end(&r->output);
}

/* Starts the file also after a start of the run that failed: the file of an earlier run does not
   stay. */
static int rows_finish_csv(void *self, const struct bn_end *end, struct bn_err *err)
{
  const struct rows *r = self;

  (void)end;
  (void)err;
  if (r->plan != NULL && !r->output.begun)
    rows_started_csv(self, NULL);
  return 0;
}

/* As rows_finish_csv(). */
static int rows_finish_jsonl(void *self, const struct bn_end *end, struct bn_err *err)
{
  const struct rows *r = self;

  (void)end;
  (void)err;
  if (r->plan != NULL && !r->output.begun)
    rows_started_jsonl(self, NULL);
  return 0;
}

static int rows_interval_csv(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct rows *r = self;

  bn_row_interval(&r->row, r->plan, v);
  bn_buf_clear(&r->line);
  if (bn_line_first(&r->line, &r->row, &r->names, err) != 0)
    return -1;
  bn_line_values(&r->line, &r->row);
  rows_put_line(r);
  return 0;
}

static int rows_interval_jsonl(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct rows *r = self;

  (void)err;
  bn_row_interval(&r->row, r->plan, v);
  bn_buf_clear(&r->line);
  bn_line_json(&r->line, &r->row);
  rows_put_line(r);
  return 0;
}

static int rows_close(void *self, struct bn_err *err)
{
  struct rows *r = self;

  bn_buf_done(&r->line);
  bn_buf_done(&r->names);
  return bn_output_verdict(&r->output, err);
}

const struct bn_reporter bn_reporter_csv = {
    .name = "csv",
    .state_size = sizeof(struct rows),
    .joins = true,
    .for_programs = true,
    .open = rows_open,
    .check = rows_check_csv,
    .begin = rows_begin,
    .started = rows_started_csv,
    .interval = rows_interval_csv,
    .finish = rows_finish_csv,
    .close = rows_close,
};

const struct bn_reporter bn_reporter_jsonl = {
    .name = "jsonl",
    .state_size = sizeof(struct rows),
    .joins = true,
    .for_programs = true,
    .open = rows_open,
    .check = rows_check_jsonl,
    .begin = rows_begin,
    .started = rows_started_jsonl,
    .interval = rows_interval_jsonl,
    .finish = rows_finish_jsonl,
    .close = rows_close,
};
