/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes HdrHistogram's text log 1.3: a line for each interval, and one for the rest of the run. */
#include "report/reporters.h"

#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/plugin.h"
#include "base/units.h"
#include "measure/facts.h"
#include "measure/view.h"
#include "report/hdr/encode.h"
#include "report/output.h"

/* The sums of one metric over all views so far. */
struct sum {
  struct bn_hist *in_lines; /* of interval lines */
  struct bn_hist *total;    /* of checkpoints and the total */
};

struct hdr {
  struct bn_output output;
  FILE *out;                       /* same as output.out */
  const struct bn_facts *facts;    /* of the run: its plan and its times */
  char version[64], workload[256]; /* copies, because other facts may change while views come */
  const struct bn_codec *zlib;
  struct sum *sum; /* [n_sums], by the index of the histogram */
  size_t n_sums;
  double lines_end_s;  /* end of the last interval line, since the start of the measurement */
  double known_from_s; /* time of the last checkpoint without histograms: `total` begins there */
  size_t n_lines;      /* interval lines */
  size_t n_without;    /* intervals without histograms */
  bool has_heading;    /* it is printed */
};

/* --- heading ---------------------------------------------------------------------------------- */

/* Returns the moment from which the times of lines count: the start of the measurement, or of the
   run if it ended in its warm-up. */
static uint64_t hdr_base_ns(const struct bn_facts *f, enum bn_view_span span)
{
  const uint64_t measured_ns = f->start_wall_ns + f->plan.warmup_ns;
  const bool has_end = span == BN_VIEW_TOTAL && f->end_wall_ns != 0;
  const bool ended_in_warmup = has_end && f->end_wall_ns < measured_ns;

  return ended_in_warmup ? f->start_wall_ns : measured_ns;
}

/* Prints a number with the three decimals of the format, in any locale, and the text after it. */
static void hdr_print_number(const struct hdr *h, double value, const char *after)
{
  char digits[64];

  (void)snprintf(digits, sizeof digits, "%.3f", value);
  bn_units_restore_point(digits);
  (void)fprintf(h->out, "%s%s", digits, after);
}

/* Prints the start and the base of all times, which are the same moment.  The start also has a
   date, as in the logs that HdrHistogram writes. */
static void hdr_print_time(const struct hdr *h, uint64_t wall_ns)
{
  const time_t whole_s = (time_t)(wall_ns / BN_NSEC_PER_SEC);
  const double wall_s = (double)wall_ns / (double)BN_NSEC_PER_SEC;
  char date[64] = "";
  struct tm tm;

  if (gmtime_r(&whole_s, &tm) != NULL)
    (void)strftime(date, sizeof date, "%a %b %d %H:%M:%S UTC %Y", &tm);
  (void)fputs("#[StartTime: ", h->out);
  hdr_print_number(h, wall_s, " (seconds since epoch), ");
  (void)fprintf(h->out, "%s]\n#[BaseTime: ", date);
  hdr_print_number(h, wall_s, " (seconds since epoch)]\n");
}

/* Copies a fact as text on one line, as much of it as fits; "" if it is not known. */
static void hdr_copy_fact(char *out, size_t size, const struct bn_facts *f, const char *section,
                          const char *key)
{
  const char *text = bn_facts_find_text(f, section, key);

  (void)bn_escape(out, size, text != NULL ? text : "", "");
}

/* Prints the lines before the first histogram, once. */
static void hdr_print_heading(struct hdr *h, enum bn_view_span span)
{
  if (h->has_heading)
    return;
  h->has_heading = true;
  (void)fputs("#[Histogram log format version 1.3]\n", h->out);
  if (h->version[0] != '\0')
    (void)fprintf(h->out, "#[Program: bench %s]\n", h->version);
  if (h->workload[0] != '\0')
    (void)fprintf(h->out, "#[Workload: %s]\n", h->workload);
  /* A run that failed at its start has no times. */
  if (h->facts->start_wall_ns != 0)
    hdr_print_time(h, hdr_base_ns(h->facts, span));
  (void)fprintf(
      h->out,
      "# Values are nanoseconds; Interval_Max is in milliseconds (value / 1e6).\n"
      "# Lines without Tag= are of the latency of events; the others of what Tag= names.\n"
      "# Values of 2^%d ns and more count as %llu ns.\n"
      "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
      "\"Interval_Compressed_Histogram\"\n",
      BN_HIST_TOP_BIT, (unsigned long long)BN_HDR_HIGHEST);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Prints the tag of a line.  Commas, blanks and line ends, which names of a document may have,
   would end it: each becomes '_', as does every byte that is not ASCII. */
static void hdr_print_tag(const struct hdr *h, const char *name)
{
  (void)fputs("Tag=", h->out);
  for (; *name != '\0'; name++) {
    const bool is_plain = *name > ' ' && *name < 0x7f && *name != ',';

    (void)fputc(is_plain ? *name : '_', h->out);
  }
  (void)fputc(',', h->out);
}

/* Prints a line: the tag, the times, the maximum and the histogram.  tag NULL: none, as for the
   latency of events. */
static void hdr_print_line(const struct hdr *h, const char *tag, double from_s, double to_s,
                           const struct bn_hist_sparse *s)
{
  static const double ns_per_ms = 1e6;
  struct bn_buf text = {.max = 0};

  bn_hdr_encode(&text, s, h->zlib);
  if (tag != NULL)
    hdr_print_tag(h, tag);
  hdr_print_number(h, from_s, ",");
  hdr_print_number(h, to_s > from_s ? to_s - from_s : 0, ",");
  hdr_print_number(h, (double)bn_hdr_find_max(s) / ns_per_ms, ",");
  (void)fprintf(h->out, "%s\n", text.data);
  bn_buf_done(&text);
}

/* Prints the line of metric i of the view: its values from from_s to the end of the view, which are
   in the histogram.  An empty histogram has a line only if it is the latency of events. */
static void hdr_print_metric(const struct hdr *h, const struct bn_view *v, size_t i, double from_s,
                             const struct bn_hist_sparse *s)
{
  const bool is_latency = i == BN_H_LATENCY;

  if (is_latency || s->n > 0)
    hdr_print_line(h, is_latency ? NULL : v->delta->metrics.hist[i].name, from_s, v->at_s, s);
}

/* --- sums ------------------------------------------------------------------------------------- */

static void hdr_free_sums(struct hdr *h)
{
  for (size_t i = 0; i < h->n_sums; i++) {
    bn_hist_free(h->sum[i].in_lines);
    bn_hist_free(h->sum[i].total);
  }
  free(h->sum);
  h->sum = NULL;
  h->n_sums = 0;
}

/* Makes empty sums for the histograms of a view, unless an earlier view has made as many. */
static void hdr_make_sums(struct hdr *h, const struct bn_view *v)
{
  const size_t n = v->delta->metrics.n_hists;

  if (h->n_sums == n)
    return;
  hdr_free_sums(h);
  h->sum = bn_alloc(n, sizeof *h->sum);
  for (h->n_sums = 0; h->n_sums < n; h->n_sums++)
    h->sum[h->n_sums] = (struct sum){.in_lines = bn_hist_new(), .total = bn_hist_new()};
}

/* Returns whether the view has histograms that are not packed. */
static bool hdr_has_hists(const struct bn_view *v)
{
  return v->latency != NULL;
}

/* Adds the histograms of a checkpoint or the total to the sums of the whole run.  The histograms of
   phases are taken from the total alone, where they are of the whole run. */
static void hdr_add_total(struct hdr *h, const struct bn_view *v)
{
  for (size_t i = 0; i < h->n_sums; i++)
    if (v->span == BN_VIEW_TOTAL || v->delta->metrics.hist[i].kind != BN_PHASE_HISTOGRAM)
      bn_hist_add(h->sum[i].total, v->delta->hist[i]);
}

/* --- views ------------------------------------------------------------------------------------ */

/* Prints the line of a metric in an interval, and adds its values to the sum of such lines. */
static void hdr_print_interval_metric(struct hdr *h, const struct bn_view *v, size_t i,
                                      const struct bn_hist_sparse *s)
{
  for (size_t k = 0; k < s->n; k++)
    bn_hist_put(h->sum[i].in_lines, s->bucket[k].lowest, s->bucket[k].count);
  hdr_print_metric(h, v, i, v->at_s - v->span_s, s);
}

/* Prints the lines of an interval.  In a stored result its histograms are packed already. */
static void hdr_print_interval(struct hdr *h, const struct bn_view *v)
{
  hdr_make_sums(h, v);
  hdr_print_heading(h, v->span);
  for (size_t i = 0; i < h->n_sums; i++) {
    struct bn_hist_sparse packed;

    if (v->delta->sparse != NULL) {
      hdr_print_interval_metric(h, v, i, &v->delta->sparse[i]);
      continue;
    }
    bn_hist_sparse_pack(&packed, v->delta->hist[i]);
    hdr_print_interval_metric(h, v, i, &packed);
    bn_hist_sparse_done(&packed);
  }
  h->lines_end_s = v->at_s;
  h->n_lines++;
}

/* Prints the line of the values of metric i that no interval line has: the histogram of the whole
   run less the sum of the interval lines.  Its time begins where the last interval line ends, or,
   without interval lines, where the known histograms begin.  After interval lines, an empty
   remainder has no line. */
static void hdr_print_remainder(const struct hdr *h, const struct bn_view *v, size_t i)
{
  const bool has_lines = h->n_lines > 0;
  struct bn_hist_sparse remainder = {.n = 0}, in_lines = {.n = 0};

  bn_hist_sparse_pack(&remainder, h->sum[i].total);
  bn_hist_sparse_pack(&in_lines, h->sum[i].in_lines);
  bn_hist_sparse_sub(&remainder, &in_lines);
  if (remainder.n > 0 || !has_lines)
    hdr_print_metric(h, v, i, has_lines ? h->lines_end_s : h->known_from_s, &remainder);
  bn_hist_sparse_done(&remainder);
  bn_hist_sparse_done(&in_lines);
}

/* Prints as comments which histograms a stored result does not have. */
static void hdr_print_absent(const struct hdr *h)
{
  if (h->n_without > 0)
    (void)fprintf(h->out,
                  "# %zu interval(s) are without a line of their own: the document does not have "
                  "their histograms (--report-bins=all).\n",
                  h->n_without);
  if (h->known_from_s > 0 && h->n_lines > 0)
    (void)fputs("# What came after the last interval is not known: the document does not have the "
                "histograms of checkpoints.\n",
                h->out);
  else if (h->known_from_s > 0)
    (void)fputs("# What came before the last checkpoint is not known: the document does not have "
                "the histograms of checkpoints.\n",
                h->out);
}

/* Resets the sums and the counts of a group of sessions: a stored result may have a further group,
   whose lines follow under the same heading. */
static void hdr_reset_group(struct hdr *h)
{
  hdr_free_sums(h);
  h->lines_end_s = 0;
  h->known_from_s = 0;
  h->n_lines = 0;
  h->n_without = 0;
}

/* Prints the values that no interval line has.  The values of the whole run are the sum of the
   checkpoints and this total, which begins at the last checkpoint. */
static void hdr_print_total(struct hdr *h, const struct bn_view *v)
{
  bool is_subtractable;

  /* The total of a journal begins at the start also after checkpoints. */
  if (h->known_from_s > 0 && v->at_s - v->span_s < 1e-6)
    h->known_from_s = 0;
  /* Interval lines cannot be subtracted from a sum that lacks a checkpoint. */
  is_subtractable = h->known_from_s <= 0 || h->n_lines == 0;
  hdr_print_heading(h, v->span);
  hdr_print_absent(h);
  if (!hdr_has_hists(v)) {
    (void)fputs("# The total is not known: the document does not have its histograms.\n", h->out);
  } else if (is_subtractable) {
    hdr_make_sums(h, v);
    hdr_add_total(h, v);
    for (size_t i = 0; i < h->n_sums; i++)
      hdr_print_remainder(h, v, i);
  }
  hdr_reset_group(h);
}

/* --- reporter --------------------------------------------------------------------------------- */

/* Opens the log, for which the zlib module has to be there. */
static int hdr_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  static const struct bn_plugin_kind kind = BN_CODEC_KIND;
  struct hdr *h = self;
  struct bn_err why = {0};

  (void)conf;
  *h = (struct hdr){.out = out, .zlib = bn_plugin_open(&kind, "zlib", &why)};
  bn_output_init(&h->output, out, path);
  if (h->zlib == NULL)
    return bn_err_set(err, why.code,
                      "the report hdr needs the zlib module, which is built if zlib is installed "
                      "(Debian: zlib1g-dev): %s",
                      why.text);
  return 0;
}

static void hdr_begin(void *self, const struct bn_facts *f)
{
  struct hdr *h = self;

  h->facts = f;
  hdr_copy_fact(h->version, sizeof h->version, f, "program", "version");
  hdr_copy_fact(h->workload, sizeof h->workload, f, "workload", "name");
}

/* Prints an interval at once, or counts it if it has no histograms. */
static int hdr_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct hdr *h = self;

  (void)err;
  if (v->delta->sparse == NULL && !hdr_has_hists(v)) {
    h->n_without++;
    return 0;
  }
  bn_output_begin(&h->output);
  hdr_print_interval(h, v);
  bn_output_end(&h->output); /* flushes, so that a killed run leaves its intervals */
  return 0;
}

/* Adds a checkpoint to the histograms of the whole run.  A checkpoint of a document may have no
   histograms; the known histograms then begin at its time. */
static int hdr_checkpoint(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct hdr *h = self;

  (void)err;
  if (!hdr_has_hists(v)) {
    h->known_from_s = v->at_s;
    return 0;
  }
  hdr_make_sums(h, v);
  hdr_add_total(h, v);
  return 0;
}

/* Prints the lines of the values that came in no interval line, and ends the log. */
static int hdr_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct hdr *h = self;

  (void)err;
  bn_output_begin(&h->output);
  hdr_print_total(h, v);
  bn_output_end(&h->output);
  return 0;
}

/* Prints the heading for a run that measured nothing, so that the file has a log without lines
   instead of the log of an earlier run.  Without facts the run has not begun. */
static int hdr_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  struct hdr *h = self;

  (void)end;
  (void)err;
  if (h->facts == NULL || h->has_heading)
    return 0;
  bn_output_begin(&h->output);
  hdr_print_heading(h, BN_VIEW_TOTAL);
  hdr_print_absent(h);
  bn_output_end(&h->output);
  return 0;
}

static int hdr_close(void *self, struct bn_err *err)
{
  struct hdr *h = self;

  hdr_free_sums(h);
  return bn_output_check_written(&h->output, err);
}

const struct bn_reporter bn_reporter_hdr = {
    .name = "hdr",
    .state_size = sizeof(struct hdr),
    .for_programs = true,
    .facts = true,
    .open = hdr_open,
    .begin = hdr_begin,
    .interval = hdr_interval,
    .checkpoint = hdr_checkpoint,
    .total = hdr_total,
    .finish = hdr_finish,
    .close = hdr_close,
};
