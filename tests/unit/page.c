/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text report written to memory, and a view to fill. */
#include "page.h"

#include <string.h>

#include "base/log.h"
#include "cm.h"
#include "report/reporters.h"

struct bn_page *bn_page_new(enum bn_version version, enum bn_kind kind)
{
  struct bn_page *p = calloc(1, sizeof *p);

  assert_non_null(p);
  p->plan = &p->facts.plan;
  p->plan->version = version;
  p->plan->threads = 1;
  p->percents[0] = 95;
  p->view = (struct bn_view){.delta = &p->delta,
                             .kind = kind,
                             .counter = p->counter,
                             .percents = p->percents,
                             .percentile_s = p->percentiles,
                             .n_percents = 1,
                             .at_s = 1,
                             .span_s = 1,
                             .running = 1};
  p->out = open_memstream(&p->text, &p->len);
  assert_non_null(p->out);
  p->state = malloc(bn_reporter_text.state_size);
  assert_int_equal(bn_reporter_text.open(p->state, NULL, NULL, p->out, NULL), 0);
  return p;
}

void bn_page_free(struct bn_page *p)
{
  struct bn_err err = {0};

  assert_int_equal(bn_reporter_text.close(p->state, &err), 0);
  assert_string_equal(err.text, "");
  (void)fclose(p->out);
  free(p->text);
  free(p->state);
  free(p);
}

void bn_page_expect(struct bn_page *p, const char *text)
{
  const size_t flushed = p->len;

  (void)fflush(p->out);
  assert_int_equal(p->len, flushed);
  assert_string_equal(p->text != NULL ? p->text + p->seen : "", text);
  p->seen = p->len;
}

void bn_page_begin(struct bn_page *p)
{
  p->plan->verbosity = bn_log_get_verbosity();
  bn_reporter_text.begin(p->state, &p->facts);
}

void bn_page_skip_header(struct bn_page *p)
{
  bn_page_begin(p);
  p->seen = p->len;
}

/* Computes the figures that follow from the counters. */
static void page_count(struct bn_page *p)
{
  const struct bn_view_rules rules = {.commits = p->plan->version == BN_V05};

  bn_view_set_counts_and_rates(&p->view, &rules);
}

void bn_page_interval(struct bn_page *p)
{
  page_count(p);
  assert_int_equal(bn_reporter_text.interval(p->state, &p->view, NULL), 0);
}

void bn_page_checkpoint(struct bn_page *p)
{
  page_count(p);
  assert_int_equal(bn_reporter_text.checkpoint(p->state, &p->view, NULL), 0);
}

void bn_page_total(struct bn_page *p)
{
  page_count(p);
  assert_int_equal(bn_reporter_text.total(p->state, &p->view, NULL), 0);
}

void bn_page_set_latency(struct bn_page *p, double min, double avg, double max, double sum,
                         double rank)
{
  p->view.min_s = min / 1e3;
  p->view.avg_s = avg / 1e3;
  p->view.max_s = max / 1e3;
  p->view.sum_s = sum / 1e3;
  p->percentiles[0] = rank / 1e3;
}

void bn_page_set_fairness(struct bn_page *p, double events, double events_dev, double time,
                          double time_dev)
{
  p->view.fair_events_avg = events;
  p->view.fair_events_dev = events_dev;
  p->view.fair_time_avg = time;
  p->view.fair_time_dev = time_dev;
}

void bn_page_set_queries(struct bn_page *p, uint64_t reads, uint64_t writes, uint64_t other,
                         uint64_t errors)
{
  p->counter[BN_C_READ] = reads;
  p->counter[BN_C_WRITE] = writes;
  p->counter[BN_C_OTHER] = other;
  p->counter[BN_C_ERROR] = errors;
}
