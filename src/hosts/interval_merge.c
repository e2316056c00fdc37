/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the intervals of hosts by their rounds. */
#include "hosts/interval_merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/journal.h"
#include "measure/layout.h"
#include "measure/store.h"

/* --- sums of histograms ----------------------------------------------------------------------- */

static void sums_done(struct bn_sums *s)
{
  for (size_t i = 0; s->hist != NULL && i < s->n; i++)
    bn_hist_free(s->hist[i]);
  free(s->hist);
  free(s->count);
  *s = (struct bn_sums){.n = 0};
}

static void sums_prepare(struct bn_sums *s, size_t n)
{
  if (s->hist != NULL)
    return;
  *s = (struct bn_sums){bn_alloc(n, sizeof *s->hist), bn_alloc(n, sizeof *s->count), n};
  for (size_t i = 0; i < n; i++)
    s->hist[i] = bn_hist_new();
}

static void sums_add(struct bn_sums *s, const struct bn_hist_codec *line)
{
  size_t from = 0;

  for (size_t i = 0; i < s->n; i++) {
    s->count[i] += line->count[i];
    bn_hist_put_parts(s->hist[i], line->part + from, line->end[i] - from);
    from = line->end[i];
  }
}

static void sums_merge(struct bn_sums *s, const struct bn_sums *from)
{
  if (from->hist == NULL)
    return;
  sums_prepare(s, from->n);
  for (size_t i = 0; i < s->n; i++) {
    s->count[i] += from->count[i];
    bn_hist_add(s->hist[i], from->hist[i]);
  }
}

/* --- life ------------------------------------------------------------------------------------- */

/* There is room for ten seconds of rounds, so that a host may be held up: memory that is not used
   costs nothing. */
enum { AHEAD_LEAST = 64, AHEAD_MOST = 4096 };
/* The bound of the histograms of all rounds. */
#define HISTS_BYTES (UINT64_C(512) << 20)
/* A later time is no time of a run, and may not fit into 64 bits. */
static const double latest_s = 1e9;

static size_t rounds_ahead(double length_s)
{
  const double n = length_s > 0 ? ceil(10 / length_s) : 0;

  return n > AHEAD_MOST ? AHEAD_MOST : n > AHEAD_LEAST ? (size_t)n : AHEAD_LEAST;
}

void bn_intervals_init(struct bn_intervals *r, size_t hosts, double length_s)
{
  *r = (struct bn_intervals){
      .n = hosts, .length_s = length_s, .next = 1, .second = 1, .next_check = 1};
  r->ahead = rounds_ahead(length_s);
  r->host = bn_alloc(hosts, sizeof *r->host);
  r->round = bn_alloc(r->ahead, sizeof *r->round);
  for (size_t i = 0; i < hosts; i++) {
    r->host[i].record = bn_alloc(r->ahead, sizeof *r->host[i].record);
  }
}

void bn_intervals_start(struct bn_intervals *r, const struct bn_intervals_out *out)
{
  r->out = *out;
}

void bn_intervals_checkpoints(struct bn_intervals *r, const uint64_t *at_ns, size_t n)
{
  r->check_ns = at_ns;
  r->n_checks = n;
  r->check = bn_alloc(n, sizeof *r->check);
  for (size_t i = 0; i < r->n; i++) {
    r->host[i].check = bn_alloc(n, sizeof *r->host[i].check);
  }
}

static bool record_is_there(const struct bn_record *record)
{
  return record->view.delta != NULL;
}

static void record_forget(struct bn_record *record)
{
  if (record_is_there(record))
    bn_record_done(record);
}

static void host_done(const struct bn_intervals *r, struct bn_intervals_host *h)
{
  for (size_t k = 0; h->record != NULL && k < r->ahead; k++)
    record_forget(&h->record[k]);
  for (size_t k = 0; h->check != NULL && k < r->n_checks; k++)
    record_forget(&h->check[k]);
  record_forget(&h->tick);
  if (h->based)
    bn_snap_done(&h->base);
  sums_done(&h->ticked);
  free(h->record);
  free(h->check);
  bn_valid_done(&h->as);
}

void bn_intervals_done(struct bn_intervals *r)
{
  for (size_t i = 0; r->host != NULL && i < r->n; i++)
    host_done(r, &r->host[i]);
  bn_facts_done(&r->errors);
  for (size_t k = 0; r->round != NULL && k < r->ahead; k++)
    sums_done(&r->round[k]);
  for (size_t k = 0; r->check != NULL && k < r->n_checks; k++)
    sums_done(&r->check[k]);
  free(r->check);
  sums_done(&r->ticked);
  free(r->line.part);
  free(r->round);
  free(r->host);
  *r = (struct bn_intervals){.n = 0};
}

struct line {
  const struct bn_node *record;
  const char *texts; /* of histograms, up to the end */
  size_t len;
};

/* The sums of all hosts fit into 64 bits if each has so many values at most, with those that it had
   before. */
static int line_check(const struct bn_intervals *r, size_t n, const uint64_t *had, uint64_t most,
                      struct bn_err *err)
{
  for (size_t i = 0; i < n; i++)
    if (r->line.count[i] > most - (had != NULL ? had[i] : 0))
      return bn_err_set(err, EPROTO, "its histograms are too large");
  return 0;
}

/* A host that is ahead cannot fill the memory with histograms. */
static void intervals_bound_ahead(struct bn_intervals *r, const struct bn_metrics *m)
{
  const size_t most = HISTS_BYTES / (m->n_hists * sizeof(struct bn_hist));

  r->ahead = most < r->ahead ? most : r->ahead;
}

/* Compares a host with the hosts before it. */
static int interval_merge_compare(const struct bn_intervals *r, const struct bn_valid_as *as,
                                  struct bn_err *err)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].begun && bn_valid_compare(as, &r->host[i].as, err) != 0)
      return -1;
  return 0;
}

/* Later hosts are not compared with a host that does not fit. */
int bn_intervals_begin(struct bn_intervals *r, size_t host, const struct bn_node *group,
                       const struct bn_facts *facts, struct bn_err *err)
{
  struct bn_intervals_host *h = &r->host[host];

  if (h->begun)
    return bn_err_set(err, EPROTO, "it said twice what it measures");
  if (bn_valid_begin(&h->as, group, facts, r->n, err) != 0)
    return -1;
  h->begun = interval_merge_compare(r, &h->as, err) == 0;
  if (h->begun)
    intervals_bound_ahead(r, &h->as.metrics);
  else
    bn_valid_done(&h->as);
  return h->begun ? 0 : -1;
}

const struct bn_valid_as *bn_intervals_as(const struct bn_intervals *r, size_t host)
{
  return r->host[host].begun ? &r->host[host].as : NULL;
}

const struct bn_metrics *bn_intervals_metrics(const struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].begun)
      return &r->host[i].as.metrics;
  return NULL;
}

/* 0: none, of a time that is no number of rounds.  An interval never ends before its time, and on a
   host that stood still it ends late, which may be just before the end of the next one. */
static uint64_t round_number(double length_s, const struct bn_view *v)
{
  static const double rounding = 1e-6;
  const double n = length_s > 0 ? floor(v->at_s / length_s + rounding) : 0;

  return n >= 1 && v->at_s < latest_s ? (uint64_t)n : 0;
}

static void record_move(struct bn_record *to, const struct bn_record *from)
{
  record_forget(to);
  *to = *from;
  to->view.delta = &to->delta;
  to->view.percents = to->store.percents;
  to->view.percentile_s = to->store.percentile_s;
  to->view.at_least = to->store.at_least;
}

/* Takes an interval of a host into its round.  Returns 1 if the round has been summed without it,
   or -1 and err for an interval that is out of order or too far ahead. */
static int round_take(struct bn_intervals *r, struct bn_intervals_host *h, struct bn_record *record,
                      struct bn_err *err)
{
  const uint64_t k = round_number(r->length_s, &record->view);
  const size_t place = k % r->ahead;

  if (k <= h->last)
    return bn_err_set(err, EPROTO, "its interval at %.3f s comes after one of the same time",
                      record->view.at_s);
  if (k >= r->next + r->ahead)
    return bn_err_set(err, EPROTO,
                      "its interval at %.3f s is %zu or more intervals ahead of other hosts",
                      record->view.at_s, r->ahead);
  h->last = k;
  if (k < r->next)
    return 1;
  record_move(&h->record[place], record);
  sums_prepare(&r->round[place], h->as.metrics.n_hists);
  sums_add(&r->round[place], &r->line);
  return 0;
}

/* The last one that is not after that time; 0: none.  A host that was held up leaves out the ones
   before it. */
static size_t checkpoint_number(const struct bn_intervals *r, const struct bn_view *v)
{
  static const double rounding_s = 1e-6;
  size_t k = 0;

  while (k < r->n_checks && (double)r->check_ns[k] * 1e-9 <= v->at_s + rounding_s)
    k++;
  return k;
}

static int checkpoint_take(struct bn_intervals *r, struct bn_intervals_host *h,
                           struct bn_record *record, struct bn_err *err)
{
  const size_t k = checkpoint_number(r, &record->view);

  if (k <= h->checks || k < r->next_check || record->view.at_s >= latest_s)
    return bn_err_set(err, EPROTO, "its checkpoint report at %.3f s comes at a wrong time",
                      record->view.at_s);
  sums_prepare(&r->check[k - 1], h->as.metrics.n_hists);
  sums_add(&r->check[k - 1], &r->line);
  h->before_check += record->view.events + record->view.failed_events;
  record_move(&h->check[k - 1], record);
  h->cut = true;
  h->checks = k;
  return 0;
}

/* From now on ticks count from the checkpoint, which was a moment ago. */
static void host_set_base(struct bn_intervals_host *h)
{
  if (!h->based)
    bn_snap_make(&h->base, &h->as.metrics, 0, true);
  h->based = true;
  h->cut = false;
  bn_snap_copy(&h->base, &h->tick.delta);
  sums_done(&h->ticked);
}

/* On a host that was held up a tick is late, and says nothing of the end of a second. */
static void host_note_second(struct bn_intervals_host *h, const struct bn_view *v)
{
  static const double late_s = 0.1;
  const uint64_t second = round_number(1, v);

  if (v->at_s - (double)second < late_s)
    h->past[second % BN_INTERVALS_SECONDS] =
        (struct bn_intervals_second){second, v->events, v->at_s};
}

static void together_at(struct bn_intervals *r, uint64_t second)
{
  struct bn_intervals_together t = {.second = second};

  for (size_t i = 0; i < r->n; i++) {
    const struct bn_intervals_second *s = &r->host[i].past[second % BN_INTERVALS_SECONDS];

    if (s->second != second)
      return;
    t.events_per_s += (double)s->events / s->at_s;
  }
  r->together = t;
}

static void together_find(struct bn_intervals *r)
{
  uint64_t until = UINT64_MAX, from;

  for (size_t i = 0; i < r->n; i++) {
    const struct bn_intervals_host *h = &r->host[i];
    const uint64_t last = h->ticks > 0 ? round_number(1, &h->tick.view) : 0;

    until = last < until ? last : until;
  }
  if (until <= r->judged)
    return;
  from = until - r->judged > BN_INTERVALS_SECONDS ? until - BN_INTERVALS_SECONDS : r->judged;
  while (from < until)
    together_at(r, ++from);
  r->judged = until;
}

static void intervals_note_longest_event(struct bn_intervals *r)
{
  const size_t n = r->line.end[BN_H_LATENCY];
  const uint64_t index = n > 0 ? r->line.part[n - 1].index : 0;
  const uint64_t most_ns = index == BN_HIST_BUCKETS ? UINT64_MAX : bn_hist_highest(index);

  if (n > 0 && most_ns > r->longest_ns)
    r->longest_ns = most_ns;
}

/* The histograms of a tick are of the time since the one before it. */
static int tick_take(struct bn_intervals *r, struct bn_intervals_host *h, struct bn_record *record,
                     struct bn_err *err)
{
  struct bn_sums *const sums[] = {&h->ticked, &r->ticked};

  if (round_number(1, &record->view) == 0)
    return bn_err_set(err, EPROTO, "its figures of a second have no time");
  intervals_note_longest_event(r);
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    sums_prepare(sums[i], h->as.metrics.n_hists);
    sums_add(sums[i], &r->line);
  }
  h->ticks++;
  record_move(&h->tick, record);
  host_note_second(h, &h->tick.view);
  together_find(r);
  if (h->cut)
    host_set_base(h);
  return 0;
}

static int (*const takes[])(struct bn_intervals *, struct bn_intervals_host *, struct bn_record *,
                            struct bn_err *) = {[BN_VIEW_INTERVAL] = round_take,
                                                [BN_VIEW_CHECKPOINT] = checkpoint_take,
                                                [BN_VIEW_TICK] = tick_take};
enum { SPANS = sizeof takes / sizeof *takes };

/* The counts of all checkpoints are added up, and so are those of the ticks of a host. */
static int line_take(struct bn_intervals *r, struct bn_intervals_host *h, const struct line *line,
                     enum bn_view_span span, struct bn_err *err)
{
  const size_t parts = span == BN_VIEW_CHECKPOINT && r->n_checks > 0 ? r->n_checks : 1;
  struct bn_record record;
  int rc;

  if (!h->begun)
    return bn_err_set(err, EPROTO, "it sent figures before it said what it measures");
  if (bn_store_read_brief(line->record, line->texts, line->len, &h->as.metrics, span, &record,
                          &r->line, err) != 0)
    return -1;
  rc = bn_valid_check(&h->as, &record.view, err);
  if (rc == 0)
    rc = line_check(r, h->as.metrics.n_hists, span == BN_VIEW_TICK ? h->ticked.count : NULL,
                    bn_sum_most(r->n) / parts, err);
  if (rc == 0)
    rc = takes[span](r, h, &record, err);
  if (rc != 0)
    bn_record_done(&record);
  return rc < 0 ? -1 : 0;
}

/* No run has more kinds of errors, each with a class and a message. */
enum { ERROR_FACTS_MAX = 4 * (BN_LABELS_MAX + 1) };

/* Takes the facts about errors that come before a checkpoint. */
static int errors_take(struct bn_intervals *r, const struct bn_node *n, struct bn_err *err)
{
  struct bn_facts facts;

  if (bn_store_read_facts(n, &facts, err) != 0)
    return -1;
  if (r->errors.n_facts < ERROR_FACTS_MAX)
    bn_facts_add_errors(&r->errors, &facts);
  bn_facts_done(&facts);
  return 0;
}

int bn_intervals_take(struct bn_intervals *r, size_t host, const char *line, size_t len,
                      struct bn_err *err)
{
  const char *gap = memchr(line, BN_STORE_GAP, len), *texts = gap != NULL ? gap : line + len;
  struct bn_node *map =
      bn_node_parse_within(line, (size_t)(texts - line), BN_VALID_LINE_VALUES, err);
  const struct bn_node *facts = bn_node_get(map, "facts");
  int rc = map == NULL ? -1 : facts != NULL ? errors_take(r, facts, err) : 0;

  for (size_t i = 0; rc == 0 && i < SPANS; i++) {
    const struct line its = {bn_node_get(map, bn_layout_spans[i]), texts,
                             (size_t)(line + len - texts)};

    if (its.record != NULL && takes[i] != NULL)
      rc = line_take(r, &r->host[host], &its, (enum bn_view_span)i, err);
  }
  bn_node_free(map);
  return rc;
}

void bn_intervals_end(struct bn_intervals *r, size_t host)
{
  r->host[host].over = true;
}

const struct bn_view *bn_intervals_last(const struct bn_intervals *r, size_t host)
{
  return r->host[host].ticks > 0 ? &r->host[host].tick.view : NULL;
}

static int interval_merge_cut(const struct bn_intervals_host *h, const struct bn_snap *all,
                              const struct bn_view *v, struct bn_result *out)
{
  struct bn_view total = *v;

  total.delta = all;
  total.latency = all->hist[BN_H_LATENCY];
  bn_journal_cut(out, h->as.name, &total);
  bn_result_escape(out);
  return 1;
}

/* Figures that do not follow from a snapshot. */
static void view_copy_state(struct bn_view *v, const struct bn_view *tick)
{
  v->kind = tick->kind;
  v->at_s = tick->at_s;
  v->paced = tick->paced;
  v->backlog = tick->backlog;
  v->concurrency = tick->concurrency;
  v->oldest_s = tick->oldest_s;
  v->unfinished = tick->unfinished;
  v->span = BN_VIEW_TICK;
}

/* Moves the start of the run to before the time that its figures are of. */
static void facts_move_start(struct bn_facts *f, uint64_t earlier_ns)
{
  f->start_ns -= earlier_ns < f->start_ns ? earlier_ns : 0;
  f->start_wall_ns -= earlier_ns < f->start_wall_ns ? earlier_ns : 0;
}

/* The difference would be no count. */
static bool snap_is_less(const struct bn_snap *now, const struct bn_snap *base)
{
  bool less = false;

  for (size_t i = 0; i < BN_C_FIXED; i++)
    less |= now->counter[i] < base->counter[i];
  return less;
}

/* Without the statistics of sessions, and without extremes, which are since the beginning. */
static int host_cut_since_base(const struct bn_intervals_host *h, struct bn_result *out,
                               struct bn_err *err)
{
  const struct bn_view *tick = &h->tick.view;
  const struct bn_view_rules rules = {.percents = tick->percents, .n_percents = tick->n_percents};
  struct bn_view_store store;
  struct bn_snap since;
  struct bn_view v;
  int rc = -1;

  bn_snap_make(&since, &h->as.metrics, 0, true);
  bn_snap_copy(&since, &h->tick.delta);
  bn_snap_diff(&since, &h->base);
  for (size_t i = 0; h->ticked.hist != NULL && i < h->ticked.n; i++)
    bn_hist_add(since.hist[i], h->ticked.hist[i]);
  since.min_ns = UINT64_MAX;
  since.max_ns = 0;
  bn_view_store_init(&store, &since);
  bn_view_fill(&v, &store, &since, &rules);
  view_copy_state(&v, tick);
  rc = bn_valid_check(&h->as, &v, err) == 0 ? interval_merge_cut(h, &since, &v, out) : -1;
  if (rc > 0 && h->tick.delta.span_ns > since.span_ns)
    facts_move_start(&out->facts, h->tick.delta.span_ns - since.span_ns);
  bn_view_store_done(&store);
  bn_snap_done(&since);
  return rc;
}

int bn_intervals_result(const struct bn_intervals *r, size_t host, struct bn_result *out,
                        struct bn_err *err)
{
  const struct bn_intervals_host *h = &r->host[host];
  struct bn_snap all = h->tick.delta;

  /* A checkpoint without a tick after it: nothing is known of the time after it. */
  if (h->ticks == 0 || h->cut || (h->based && all.at_ns <= h->base.at_ns))
    return 0;
  if (h->based && snap_is_less(&all, &h->base))
    return bn_err_set(err, EPROTO, "its figures have become less");
  if (h->based)
    return host_cut_since_base(h, out, err);
  all.hist = h->ticked.hist;
  return interval_merge_cut(h, &all, &h->tick.view, out);
}

static bool round_is_complete(const struct bn_intervals *r)
{
  uint64_t last = 0;
  bool waits = false;

  for (size_t i = 0; i < r->n; i++) {
    waits |= !r->host[i].over && r->host[i].last < r->next;
    last = r->host[i].last > last ? r->host[i].last : last;
  }
  /* A host that is that late is left out of the round: the others are not to be lost for it. */
  return last >= r->next && (!waits || last - r->next >= r->ahead / 2);
}

static size_t round_parts(struct bn_intervals *r, const struct bn_view **out)
{
  const size_t place = r->next % r->ahead;
  size_t n = 0;

  for (size_t i = 0; i < r->n; i++)
    if (record_is_there(&r->host[i].record[place])) {
      if (out != NULL)
        out[n] = &r->host[i].record[place].view;
      n++;
    }
  return n;
}

/* A round of which no host has anything is passed over: all of them were held up. */
static bool round_is_ready(struct bn_intervals *r)
{
  while (round_is_complete(r)) {
    if (round_parts(r, NULL) > 0)
      return true;
    r->next++;
  }
  return false;
}

/* Every host that is still there has come to it. */
static bool checkpoint_is_complete(const struct bn_intervals *r)
{
  size_t last = 0;

  for (size_t i = 0; i < r->n; i++) {
    if (!r->host[i].over && r->host[i].checks < r->next_check)
      return false;
    last = r->host[i].checks > last ? r->host[i].checks : last;
  }
  return r->next_check <= r->n_checks && last >= r->next_check;
}

/* A host was held up: its next checkpoint is of the time of this one too. */
static bool checkpoint_is_missed(const struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].checks > r->next_check && !record_is_there(&r->host[i].check[r->next_check - 1]))
      return true;
  return false;
}

/* The part belongs to the checkpoint after it, but not its figures of an instant. */
static void interval_merge_carry(struct bn_record *record)
{
  struct bn_view *v = &record->view;

  v->backlog = v->concurrency = v->unfinished = 0;
  v->oldest_s = 0;
  v->running = record->delta.running = 0;
}

static void checkpoint_carry(struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (record_is_there(&r->host[i].check[r->next_check - 1]))
      interval_merge_carry(&r->host[i].check[r->next_check - 1]);
  r->next_check++;
}

static bool checkpoint_is_ready(struct bn_intervals *r)
{
  while (checkpoint_is_complete(r)) {
    if (!checkpoint_is_missed(r))
      return true;
    checkpoint_carry(r);
  }
  return false;
}

static bool tick_is_ready(const struct bn_intervals *r)
{
  uint64_t last = 0;

  for (size_t i = 0; i < r->n; i++) {
    if (!r->host[i].over && r->host[i].ticks < r->second)
      return false;
    last = r->host[i].ticks > last ? r->host[i].ticks : last;
  }
  return last >= r->second;
}

/* The time at_s after the start of the measurement, on the clocks here. */
static struct bn_merge_time intervals_time_at(const struct bn_intervals *r, enum bn_view_span span,
                                              double at_s, uint64_t span_ns)
{
  const uint64_t since_ns = (uint64_t)(at_s * 1e9);

  return (struct bn_merge_time){.span = span,
                                .at_s = at_s,
                                .span_ns = span_ns,
                                .at_ns = r->out.start.at_ns + since_ns,
                                .wall_ns = r->out.start.wall_ns + since_ns};
}

static struct bn_merge_time intervals_time_of(const struct bn_intervals *r,
                                              const struct bn_views *parts, enum bn_view_span span)
{
  uint64_t span_ns = 0;
  double at_s = 0;

  for (size_t i = 0; i < parts->n; i++) {
    const uint64_t its_ns = parts->view[i]->delta->span_ns;

    at_s = fmax(at_s, parts->view[i]->at_s);
    /* Hosts end an interval at slightly different times: with the longest all rates would be low.
     */
    if (span == BN_VIEW_INTERVAL)
      span_ns += its_ns / parts->n;
    else if (its_ns > span_ns)
      span_ns = its_ns;
  }
  return intervals_time_at(r, span, at_s, span_ns);
}

/* watched: what all hosts share, as the first one has seen it in that time; NULL: it has not. */
static int intervals_show_sum(const struct bn_intervals *r, const struct bn_views *parts,
                              const struct bn_view *watched, const struct bn_sums *hists,
                              bool exact, const struct bn_merge_time *at, struct bn_err *err)
{
  struct bn_merged_view joint = {.ages = NULL};
  struct bn_view_rules rules = r->out.rules;
  struct bn_watched shared;
  int rc;

  rules.exact = exact;
  rc = bn_merged_view_span(&joint, parts, hists->hist, &rules, at, err);
  if (rc == 0 && watched != NULL) {
    bn_watched_sum(watched, &joint.view, &shared);
    joint.view.watched = shared.figure;
    joint.view.n_watched = shared.n;
  }
  if (rc == 0)
    r->out.show(r->out.arg, &joint.view);
  bn_merged_view_done(&joint);
  return rc;
}

static const struct bn_view *record_watched(const struct bn_record *record)
{
  return record_is_there(record) ? &record->view : NULL;
}

static int round_show(struct bn_intervals *r, struct bn_views *parts, struct bn_err *err)
{
  const struct bn_intervals_host *first = &r->host[0];
  const size_t place = r->next % r->ahead;
  struct bn_merge_time at;
  int rc;

  parts->n = round_parts(r, parts->view);
  at = intervals_time_of(r, parts, BN_VIEW_INTERVAL);
  rc = intervals_show_sum(r, parts, record_watched(&first->record[place]), &r->round[place], false,
                          &at, err);
  sums_done(&r->round[place]);
  for (size_t i = 0; i < r->n; i++)
    record_forget(&r->host[i].record[place]);
  r->next++;
  return rc;
}

/* The parts up to the next checkpoint that have not been summed.  Returns when it was, on average.
 */
static double checkpoint_parts(const struct bn_intervals *r, struct bn_views *parts)
{
  double sum_s = 0;
  size_t n = 0;

  for (size_t i = 0; i < r->n; i++)
    for (size_t k = 0; k < r->next_check; k++)
      if (record_is_there(&r->host[i].check[k])) {
        parts->view[parts->n++] = &r->host[i].check[k].view;
        sum_s += k + 1 == r->next_check ? r->host[i].check[k].view.at_s : 0;
        n += k + 1 == r->next_check;
      }
  return n > 0 ? sum_s / (double)n : 0;
}

static void checkpoint_forget(struct bn_intervals *r)
{
  for (size_t k = 0; k < r->next_check; k++) {
    for (size_t i = 0; i < r->n; i++)
      record_forget(&r->host[i].check[k]);
    sums_done(&r->check[k]);
  }
}

/* Checkpoints that were passed over are of the same sum. */
static void checkpoint_gather(struct bn_intervals *r)
{
  for (size_t k = 0; k + 1 < r->next_check; k++)
    sums_merge(&r->check[r->next_check - 1], &r->check[k]);
}

static int checkpoint_show(struct bn_intervals *r, struct bn_views *parts, struct bn_err *err)
{
  const struct bn_intervals_host *first = &r->host[0];
  const size_t last = r->next_check - 1;
  const double at_s = checkpoint_parts(r, parts);
  const struct bn_merge_time at = intervals_time_at(r, BN_VIEW_CHECKPOINT, at_s,
                                                    (uint64_t)(fmax(at_s - r->checked_s, 0) * 1e9));
  int rc;

  checkpoint_gather(r);
  rc = intervals_show_sum(r, parts, record_watched(&first->check[last]), &r->check[last],
                          r->checked_s <= 0, &at, err);
  checkpoint_forget(r);
  r->checked_s = at_s;
  r->next_check++;
  return rc;
}

static int tick_show(struct bn_intervals *r, struct bn_views *parts, struct bn_err *err)
{
  struct bn_merge_time at;

  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].ticks > 0)
      parts->view[parts->n++] = &r->host[i].tick.view;
  at = intervals_time_of(r, parts, BN_VIEW_TICK);
  r->second++;
  return intervals_show_sum(r, parts, NULL, &r->ticked, true, &at, err);
}

int bn_intervals_next(struct bn_intervals *r, struct bn_err *err)
{
  int (*const show)(struct bn_intervals *, struct bn_views *, struct bn_err *) =
      round_is_ready(r)        ? round_show
      : checkpoint_is_ready(r) ? checkpoint_show
      : tick_is_ready(r)       ? tick_show
                               : NULL;
  struct bn_views parts = {NULL, 0};
  int rc;

  if (show == NULL)
    return 0;
  parts.view = bn_alloc(r->n * (r->n_checks + 1), sizeof *parts.view);
  rc = show(r, &parts, err);
  free(parts.view);
  return rc == 0 ? 1 : -1;
}
