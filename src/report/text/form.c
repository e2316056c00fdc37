/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills the figures of a report from a view and prints templates with them. */
#include "report/text/form.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "base/units.h"

static const double mib = 1024 * 1024, mb = 1e6, ms_per_s = 1e3;

enum figure_type { U64, F64, TEXT };

struct figure {
  const char *name;
  enum figure_type type;
  size_t offset;
};

#define FIGURE(type, name)                                                                         \
  {                                                                                                \
#name, type, offsetof(struct bn_form, name)                                                    \
  }

static const struct figure figures[] = {
    FIGURE(U64, threads),
    FIGURE(U64, events),
    FIGURE(U64, reads),
    FIGURE(U64, writes),
    FIGURE(U64, other),
    FIGURE(U64, queries),
    FIGURE(U64, requests),
    FIGURE(U64, transactions),
    FIGURE(U64, errors),
    FIGURE(U64, reconnects),
    FIGURE(U64, retried_events),
    FIGURE(U64, retries),
    FIGURE(U64, failed_events),
    FIGURE(U64, failed_threads),
    FIGURE(U64, backlog),
    FIGURE(U64, concurrency),
    FIGURE(U64, unfinished),
    FIGURE(U64, in_flight),
    FIGURE(U64, outages),
    FIGURE(F64, longest_outage),
    FIGURE(U64, in_grace),
    FIGURE(U64, due),
    FIGURE(U64, started),
    FIGURE(U64, dropped),
    FIGURE(U64, finished),
    FIGURE(U64, warmup_backlog),
    FIGURE(F64, setup),
    FIGURE(F64, grace),
    FIGURE(F64, teardown),
    FIGURE(F64, oldest),
    FIGURE(F64, served),
    FIGURE(F64, events_s),
    FIGURE(F64, reads_s),
    FIGURE(F64, writes_s),
    FIGURE(F64, other_s),
    FIGURE(F64, queries_s),
    FIGURE(F64, requests_s),
    FIGURE(F64, transactions_s),
    FIGURE(F64, errors_s),
    FIGURE(F64, reconnects_s),
    FIGURE(F64, mib),
    FIGURE(F64, mib_s),
    FIGURE(F64, read_mib_s),
    FIGURE(F64, written_mib_s),
    FIGURE(F64, read_mb_s),
    FIGURE(F64, written_mb_s),
    FIGURE(F64, time),
    FIGURE(F64, span),
    FIGURE(F64, min),
    FIGURE(F64, avg),
    FIGURE(F64, max),
    FIGURE(F64, sum),
    FIGURE(F64, busy),
    FIGURE(F64, fair_events),
    FIGURE(F64, fair_events_dev),
    FIGURE(F64, fair_time),
    FIGURE(F64, fair_time_dev),
    FIGURE(TEXT, read_size),
    FIGURE(TEXT, written_size),
    FIGURE(TEXT, moved_size),
    FIGURE(TEXT, moved_size_s),
    FIGURE(TEXT, rank),
    FIGURE(TEXT, approx),
    FIGURE(F64, percentile),
    FIGURE(TEXT, timing),
    FIGURE(U64, session),
    FIGURE(U64, session_events),
    FIGURE(F64, session_min),
    FIGURE(F64, session_avg),
    FIGURE(F64, session_max),
    FIGURE(F64, session_busy),
};

static void fill_counts(struct bn_form *f, const struct bn_view *v)
{
  f->threads = v->running;
  f->events = v->events;
  f->reads = v->reads;
  f->writes = v->writes;
  f->other = v->other;
  f->requests = v->requests;
  f->queries = v->queries;
  f->transactions = v->transactions;
  f->errors = v->errors;
  f->reconnects = v->reconnects;
  f->retried_events = v->retried_events;
  f->retries = v->retries;
  f->failed_events = v->failed_events;
  f->failed_threads = v->failed_threads;
  f->backlog = v->backlog;
  f->concurrency = v->concurrency;
  f->unfinished = v->unfinished;

  f->events_s = v->events_per_s;
  f->reads_s = v->reads_per_s;
  f->writes_s = v->writes_per_s;
  f->other_s = v->other_per_s;
  f->queries_s = v->queries_per_s;
  f->requests_s = v->requests_per_s;
  f->transactions_s = v->transactions_per_s;
  f->errors_s = v->errors_per_s;
  f->reconnects_s = v->reconnects_per_s;
}

/* Dialects and older documents do not count queued events as unfinished. */
static uint64_t in_flight(const struct bn_view *v, bool native)
{
  const uint64_t queued = native && v->due > 0 ? v->backlog : 0;

  return v->unfinished > queued ? v->unfinished - queued : 0;
}

static void fill_span(struct bn_form *f, const struct bn_view *v)
{
  f->outages = v->outages;
  f->longest_outage = v->longest_outage_s;
  f->in_grace = v->in_grace;
  f->due = v->due;
  f->started = v->started;
  f->dropped = v->dropped;
  f->finished = v->finished;
  f->warmup_backlog = v->warmup_backlog;
  f->setup = v->setup_s;
  f->grace = v->grace_s;
  f->teardown = v->teardown_s;
  f->oldest = v->oldest_s;
  f->served = v->served * 100;
}

/* A saved result may have any number here, and C converts only numbers that fit. */
static uint64_t u64_clamp(double x)
{
  if (!(x > 0))
    return 0;
  return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

static void fill_bytes(struct bn_form *f, const struct bn_view *v)
{
  f->mib = (double)v->bytes_moved / mib;
  /* Blocks of --memory-oper=none count in the rate, though nothing was transferred. */
  f->mib_s = v->bytes_touched_per_s / mib;
  f->read_mib_s = v->bytes_read_per_s / mib;
  f->written_mib_s = v->bytes_written_per_s / mib;
  f->read_mb_s = v->bytes_read_per_s / mb;
  f->written_mb_s = v->bytes_written_per_s / mb;
  (void)bn_units_format_size(f->read_size, sizeof f->read_size, v->bytes_read, false);
  (void)bn_units_format_size(f->written_size, sizeof f->written_size, v->bytes_written, false);
  (void)bn_units_format_size(f->moved_size, sizeof f->moved_size, v->bytes_moved, false);
  (void)bn_units_format_size(f->moved_size_s, sizeof f->moved_size_s,
                             u64_clamp(v->bytes_moved_per_s), false);
}

void bn_form_fill(struct bn_form *f, const struct bn_view *v, bool native)
{
  memset(f, 0, sizeof *f);
  f->native = native;
  f->nothing = native && v->events == 0;
  f->interval = v->span == BN_VIEW_INTERVAL;
  f->max_at_least = native && v->max_at_least;
  fill_counts(f, v);
  f->in_flight = in_flight(v, native);
  fill_span(f, v);
  fill_bytes(f, v);
  f->time = v->at_s;
  f->span = v->span_s;
  f->min = v->min_s * ms_per_s;
  f->avg = v->avg_s * ms_per_s;
  f->max = v->max_s * ms_per_s;
  f->sum = v->sum_s * ms_per_s;
  f->busy = v->sum_s;
  f->fair_events = v->fair_events_avg;
  f->fair_events_dev = v->fair_events_dev;
  f->fair_time = v->fair_time_avg;
  f->fair_time_dev = v->fair_time_dev;
  bn_form_rank(f, v, 0);
}

static void set_rank(struct bn_form *f, double rank, double s)
{
  (void)snprintf(f->rank, sizeof f->rank, "%.15g", rank);
  (void)snprintf(f->approx, sizeof f->approx, "approx. %3.15g percentile:", rank);
  f->percentile = s * ms_per_s;
  f->at_least = false;
}

void bn_form_rank(struct bn_form *f, const struct bn_view *v, size_t i)
{
  if (i < v->n_percents)
    set_rank(f, v->percents[i], v->percentile_s[i]);
  else
    set_rank(f, 0, f->native ? NAN : 0);
  f->at_least = f->native && i < v->n_percents && v->at_least != NULL && v->at_least[i];
}

void bn_form_timing(struct bn_form *f, const struct bn_timing *t, const char *name)
{
  (void)snprintf(f->timing, sizeof f->timing, "%s", name);
  f->min = t->min_s * ms_per_s;
  f->avg = t->avg_s * ms_per_s;
  f->max = t->max_s * ms_per_s;
  f->max_at_least = f->nothing = false;
}

void bn_form_timing_rank(struct bn_form *f, const struct bn_view *v, const struct bn_timing *t,
                         size_t i)
{
  set_rank(f, v->percents[i], t->percentile_s[i]);
}

void bn_form_session(struct bn_form *f, const struct bn_view *v, size_t i)
{
  const struct bn_session_view *s = &v->sessions[i];

  f->session = i;
  f->session_events = s->events;
  f->session_min = s->min_s;
  f->session_avg = s->avg_s;
  f->session_max = s->max_s;
  f->session_busy = s->busy_s;
}

static const struct figure *find_figure(const char *name, size_t len)
{
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    if (strlen(figures[i].name) == len && memcmp(figures[i].name, name, len) == 0)
      return &figures[i];
  return NULL;
}

/* The format of a field.  Negative widths align to the left, as in printf. */
struct layout {
  int width, decimals;
  bool latency;
};

/* Shows that no event has ended; in an interval also the oldest event, which may be stuck. */
static void print_nothing(const struct bn_form *f, const struct layout *l, FILE *out)
{
  if (f->interval && f->oldest > 0)
    (void)fprintf(out, "- (oldest %.0f)", f->oldest * ms_per_s);
  else
    (void)fprintf(out, "%*s", f->interval ? 0 : l->width, "-");
}

static void print_f64(const struct bn_form *f, const struct layout *l, double x, bool at_least,
                      FILE *out)
{
  static const char sign[] = "\u2265";
  const int sign_bytes = at_least ? (int)sizeof sign - 1 : 0;
  const int decimals = l->latency && f->native ? bn_units_decimals(x, l->decimals) : l->decimals;
  char text[BN_FORM_TEXT];

  if (isinf(x))
    (void)snprintf(text, sizeof text, ">%.*f", l->decimals,
                   (double)(UINT64_C(1) << BN_HIST_TOP_BIT) / 1e6);
  else if (at_least)
    (void)snprintf(text, sizeof text, "%s%.*f", sign, decimals, x);
  if (isnan(x))
    (void)fprintf(out, "%*s", f->interval ? 0 : l->width, "-");
  else if (isinf(x))
    (void)fprintf(out, "%*s", l->width, text);
  else if (at_least)
    (void)fprintf(out, "%*s", l->width + sign_bytes - 1, text); /* the sign is one column wide */
  else
    (void)fprintf(out, "%*.*f", l->width, decimals, x);
}

/* True: the figure is a lower bound. */
static bool is_at_least(const struct bn_form *f, const struct figure *g)
{
  return (g->offset == offsetof(struct bn_form, max) && f->max_at_least) ||
         (g->offset == offsetof(struct bn_form, percentile) && f->at_least);
}

static void print_figure(const struct bn_form *f, const struct figure *g, const struct layout *l,
                         FILE *out)
{
  const char *at = (const char *)f + g->offset;

  if (g->type == U64) {
    uint64_t n;

    memcpy(&n, at, sizeof n);
    (void)fprintf(out, "%*llu", l->width, (unsigned long long)n);
  } else if (g->type == TEXT) {
    (void)fprintf(out, "%*s", l->width, at);
  } else {
    double x;

    memcpy(&x, at, sizeof x);
    if (f->nothing && l->latency && !is_at_least(f, g))
      print_nothing(f, l, out);
    else
      print_f64(f, l, x, is_at_least(f, g), out);
  }
}

/* Prints the figure whose "{" is at text; returns what follows its "}". */
static const char *print_field(const struct bn_form *f, const char *text, FILE *out)
{
  const char *name = text + 1;
  const size_t len = strcspn(name, ":}");
  const struct figure *g = find_figure(name, len);
  char *end = (char *)(uintptr_t)(name + len);
  struct layout l = {.width = 0};

  if (*end == ':')
    l.width = (int)strtol(end + 1, &end, 10);
  if (*end == '.')
    l.decimals = (int)strtol(end + 1, &end, 10);
  l.latency = *end == '~';
  end += l.latency;
  assert(g != NULL && *end == '}'); /* templates are constants of this program */
  print_figure(f, g, &l, out);
  return end + 1;
}

void bn_form_print(const struct bn_form *f, const char *text, FILE *out)
{
  while (*text != '\0') {
    const size_t plain = strcspn(text, "{");

    (void)fwrite(text, 1, plain, out);
    text += plain;
    if (*text == '{')
      text = print_field(f, text, out);
  }
}
