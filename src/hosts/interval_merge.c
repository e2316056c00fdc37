/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the intervals of hosts by their rounds. */
#include "hosts/interval_merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/layout.h"
#include "measure/store.h"

/* --- life ------------------------------------------------------------------------------------- */

/* There is room for ten seconds of rounds, so that a host may be held up: memory that is not used
   costs nothing. */
enum { AHEAD_LEAST = 64, AHEAD_MOST = 4096 };
/* The bound of the histograms of all rounds. */
#define HISTS_BYTES (UINT64_C(512) << 20)
/* A later time is no time of a run, and may not fit into 64 bits. */
static const double latest_s = 1e9;

static size_t intervals_rounds_ahead(double length_s)
{
  const double n = length_s > 0 ? ceil(10 / length_s) : 0;

  return n > AHEAD_MOST ? AHEAD_MOST : n > AHEAD_LEAST ? (size_t)n : AHEAD_LEAST;
}

void bn_intervals_init(struct bn_intervals *r, size_t hosts, double length_s)
{
  *r = (struct bn_intervals){
      .n = hosts, .length_s = length_s, .next = 1, .second = 1, .next_check = 1};
  r->ahead = intervals_rounds_ahead(length_s);
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

static void intervals_host_done(const struct bn_intervals *r, struct bn_intervals_host *h)
{
  for (size_t k = 0; h->record != NULL && k < r->ahead; k++)
    record_forget(&h->record[k]);
  for (size_t k = 0; h->check != NULL && k < r->n_checks; k++)
    record_forget(&h->check[k]);
  record_forget(&h->tick);
  if (h->based)
    bn_snap_done(&h->base);
  bn_sums_done(&h->ticked);
  free(h->record);
  free(h->check);
  bn_valid_done(&h->as);
}

void bn_intervals_done(struct bn_intervals *r)
{
  for (size_t i = 0; r->host != NULL && i < r->n; i++)
    intervals_host_done(r, &r->host[i]);
  bn_facts_done(&r->errors);
  bn_group_layout_done(&r->layout);
  for (size_t k = 0; r->round != NULL && k < r->ahead; k++)
    bn_sums_done(&r->round[k]);
  for (size_t k = 0; r->check != NULL && k < r->n_checks; k++)
    bn_sums_done(&r->check[k]);
  free(r->check);
  bn_sums_done(&r->ticked);
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

/* Checks that a host has at most `most` values in each histogram, with those that it had before:
   then the sums of all hosts fit into 64 bits. */
static int intervals_check_counts(const struct bn_intervals *r, size_t n, const uint64_t *had,
                                  uint64_t most, struct bn_err *err)
{
  for (size_t i = 0; i < n; i++)
    if (r->line.count[i] > most - (had != NULL ? had[i] : 0))
      return bn_err_set(err, EPROTO, "its histograms are too large");
  return 0;
}

/* Limits the rounds for which hosts may be ahead, so that a host cannot fill the memory with
   histograms. */
static void intervals_bound_ahead(struct bn_intervals *r, const struct bn_metrics *m)
{
  const size_t most = HISTS_BYTES / (m->n_hists * sizeof(struct bn_hist));

  r->ahead = most < r->ahead ? most : r->ahead;
}

/* Returns the rows of the sums. */
static const struct bn_metrics *intervals_rows(const struct bn_intervals *r,
                                               const struct bn_intervals_host *h)
{
  return r->layout.n > 0 ? &r->layout.all : &h->as.metrics;
}

/* Compares what a host measures with what the hosts before it measure.  Groups differ in that. */
static int intervals_compare_host(const struct bn_intervals *r, const struct bn_valid_as *as,
                                  struct bn_err *err)
{
  int (*const compare)(const struct bn_valid_as *, const struct bn_valid_as *, struct bn_err *) =
      r->groups ? bn_valid_compare_plans : bn_valid_compare;

  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].begun && compare(as, &r->host[i].as, err) != 0)
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
  if (intervals_compare_host(r, &h->as, err) != 0) {
    bn_valid_done(&h->as);
    return -1;
  }
  h->begun = true;
  intervals_bound_ahead(r, &h->as.metrics);
  return 0;
}

const struct bn_valid_as *bn_intervals_as(const struct bn_intervals *r, size_t host)
{
  return r->host[host].begun ? &r->host[host].as : NULL;
}

int bn_intervals_unite(struct bn_intervals *r, const char *const *names, struct bn_err *err)
{
  struct bn_group_part *part = bn_alloc(r->n, sizeof *part);
  int rc;

  for (size_t i = 0; i < r->n; i++)
    part[i] = (struct bn_group_part){names[i], &r->host[i].as.metrics, r->host[i].as.paced};
  rc = bn_group_layout_make(&r->layout, part, r->n, err);
  free(part);
  if (rc == 0)
    intervals_bound_ahead(r, &r->layout.all);
  return rc;
}

const struct bn_metrics *bn_intervals_metrics(const struct bn_intervals *r)
{
  if (r->layout.n > 0)
    return &r->layout.all;
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].begun)
      return &r->host[i].as.metrics;
  return NULL;
}

/* Returns the last round that was over at the time of a view; 0: none was, or the time makes no
   sense.  An interval never ends before its time, and on a host that stood still it ends late,
   which may be just before the end of the next one. */
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

/* Leaves out the figures of an instant of a record that is summed with those of a later time. */
static void intervals_carry_record(struct bn_record *record)
{
  struct bn_view *v = &record->view;

  v->backlog = v->concurrency = v->unfinished = 0;
  v->oldest_s = 0;
  v->running = record->delta.running = 0;
}

/* Returns whether the interval is the last one of a host that has ended within a round. */
static bool intervals_is_rest(const struct bn_intervals *r, const struct bn_intervals_host *h,
                              const struct bn_view *v)
{
  return r->length_s > 0 && v->at_s < latest_s && round_number(r->length_s, v) == h->last;
}

/* Gives the last interval of a host the time of its round, which the rates of the sum are of: the
   host does nothing in the rest of it. */
static void intervals_take_rest(const struct bn_intervals *r, struct bn_record *record, uint64_t k)
{
  intervals_carry_record(record);
  record->delta.span_ns = (uint64_t)(r->length_s * 1e9);
  record->view.at_s = (double)k * r->length_s;
}

/* Takes an interval of a host into its round.  Returns 1 if the round has been summed without it,
   or -1 and err for an interval that is out of order or too far ahead. */
static int intervals_take_round(struct bn_intervals *r, struct bn_intervals_host *h,
                                struct bn_record *record, struct bn_err *err)
{
  const bool rest = intervals_is_rest(r, h, &record->view);
  const uint64_t k = round_number(r->length_s, &record->view) + rest;
  const size_t place = k % r->ahead;

  if (h->rested || k <= h->last)
    return bn_err_set(err, EPROTO, "its interval at %.3f s comes at a wrong time",
                      record->view.at_s);
  if (k >= r->next + r->ahead)
    return bn_err_set(err, EPROTO,
                      "its interval at %.3f s is %zu or more intervals ahead of other hosts",
                      record->view.at_s, r->ahead);
  h->rested = rest;
  if (rest)
    intervals_take_rest(r, record, k);
  else
    h->last = k;
  if (k < r->next)
    return 1;
  record_move(&h->record[place], record);
  bn_sums_prepare(&r->round[place], intervals_rows(r, h)->n_hists);
  bn_sums_add(&r->round[place], &r->line);
  return 0;
}

/* Returns the number of the last checkpoint that is not after the time of the view, or 0.  A host
   that was held up leaves out the checkpoints before it. */
static size_t checkpoint_number(const struct bn_intervals *r, const struct bn_view *v)
{
  static const double rounding_s = 1e-6;
  size_t k = 0;

  while (k < r->n_checks && (double)r->check_ns[k] * 1e-9 <= v->at_s + rounding_s)
    k++;
  return k;
}

static int intervals_take_checkpoint(struct bn_intervals *r, struct bn_intervals_host *h,
                                     struct bn_record *record, struct bn_err *err)
{
  const size_t k = checkpoint_number(r, &record->view);

  if (k <= h->checks || k < r->next_check || record->view.at_s >= latest_s)
    return bn_err_set(err, EPROTO, "its checkpoint report at %.3f s comes at a wrong time",
                      record->view.at_s);
  bn_sums_prepare(&r->check[k - 1], intervals_rows(r, h)->n_hists);
  bn_sums_add(&r->check[k - 1], &r->line);
  h->before_check += record->view.events + record->view.failed_events;
  record_move(&h->check[k - 1], record);
  h->cut = true;
  h->checks = k;
  return 0;
}

/* Makes ticks count from now on, the moment after a checkpoint. */
static void intervals_set_base(struct bn_intervals_host *h)
{
  if (!h->based)
    bn_snap_make(&h->base, &h->tick.delta.metrics, 0, true);
  h->based = true;
  h->cut = false;
  bn_snap_copy(&h->base, &h->tick.delta);
  bn_sums_done(&h->ticked);
}

/* Notes the events at the end of a second.  A late tick of a host that was held up says nothing
   about that. */
static void intervals_note_second(struct bn_intervals_host *h, const struct bn_view *v)
{
  static const double late_s = 0.1;
  const uint64_t second = round_number(1, v);

  if (v->at_s - (double)second < late_s)
    h->past[second % BN_INTERVALS_SECONDS] =
        (struct bn_intervals_second){second, v->events, v->at_s};
}

/* Adds up the rates of all hosts up to a second, if all have sent a tick of it. */
static void intervals_sum_second(struct bn_intervals *r, uint64_t second)
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

/* Finds the last second of which all hosts have sent a tick. */
static void intervals_find_together(struct bn_intervals *r)
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
    intervals_sum_second(r, ++from);
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

/* Takes a tick, whose histograms are of the time since the tick before it. */
static int intervals_take_tick(struct bn_intervals *r, struct bn_intervals_host *h,
                               struct bn_record *record, struct bn_err *err)
{
  struct bn_sums *const sums[] = {&h->ticked, &r->ticked};

  if (round_number(1, &record->view) == 0)
    return bn_err_set(err, EPROTO, "its figures of a second have no time");
  intervals_note_longest_event(r);
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    bn_sums_prepare(sums[i], intervals_rows(r, h)->n_hists);
    bn_sums_add(sums[i], &r->line);
  }
  h->ticks++;
  record_move(&h->tick, record);
  intervals_note_second(h, &h->tick.view);
  intervals_find_together(r);
  if (h->cut)
    intervals_set_base(h);
  return 0;
}

static int (*const takes[])(struct bn_intervals *, struct bn_intervals_host *, struct bn_record *,
                            struct bn_err *) = {[BN_VIEW_INTERVAL] = intervals_take_round,
                                                [BN_VIEW_CHECKPOINT] = intervals_take_checkpoint,
                                                [BN_VIEW_TICK] = intervals_take_tick};
enum { SPANS = sizeof takes / sizeof *takes };

/* Takes a view.  The counts of all checkpoints are added up, and so are those of the ticks of a
   host: the bound of a view is lower by that. */
static int intervals_take_line(struct bn_intervals *r, struct bn_intervals_host *h,
                               const struct line *line, enum bn_view_span span, struct bn_err *err)
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
  if (rc == 0 && r->layout.n > 0) {
    bn_group_layout_record(&r->layout, (size_t)(h - r->host), &record);
    bn_group_layout_line(&r->layout, (size_t)(h - r->host), &r->line);
  }
  if (rc == 0)
    rc = intervals_check_counts(r, intervals_rows(r, h)->n_hists,
                                span == BN_VIEW_TICK ? h->ticked.count : NULL,
                                bn_sum_most(r->n) / parts, err);
  if (rc == 0)
    rc = takes[span](r, h, &record, err);
  if (rc != 0)
    bn_record_done(&record);
  return rc < 0 ? -1 : 0;
}

/* A run has no more facts about its kinds of errors. */
enum { ERROR_FACTS_MAX = 4 * (BN_LABELS_MAX + 1) };

/* Takes the facts about errors that come before a checkpoint. */
static int intervals_take_errors(struct bn_intervals *r, const struct bn_node *n,
                                 struct bn_err *err)
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
  int rc = map != NULL ? 0 : -1;

  if (facts != NULL)
    rc = intervals_take_errors(r, facts, err);
  for (size_t i = 0; rc == 0 && i < SPANS; i++) {
    const struct line its = {bn_node_get(map, bn_layout_spans[i]), texts,
                             (size_t)(line + len - texts)};

    if (its.record != NULL && takes[i] != NULL)
      rc = intervals_take_line(r, &r->host[host], &its, (enum bn_view_span)i, err);
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

/* Returns whether all hosts have sent the next round, or a host is so late that the round goes on
   without it: the memory for rounds that the others have sent ahead is half used. */
static bool round_is_complete(const struct bn_intervals *r)
{
  uint64_t last = 0;
  bool waits = false;

  for (size_t i = 0; i < r->n; i++) {
    waits |= !r->host[i].over && r->host[i].last < r->next;
    last = r->host[i].last > last ? r->host[i].last : last;
  }
  return last >= r->next && (!waits || last - r->next >= r->ahead / 2);
}

/* Counts the parts of the next round, and stores them in `out` unless it is NULL. */
static size_t round_gather(struct bn_intervals *r, const struct bn_view **out)
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

/* Passes over rounds in which all hosts were held up.  Returns whether the next one can be summed.
 */
static bool round_seek_ready(struct bn_intervals *r)
{
  while (round_is_complete(r)) {
    if (round_gather(r, NULL) > 0)
      return true;
    r->next++;
  }
  return false;
}

/* Returns whether every host that is still there has sent the next checkpoint. */
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

/* Returns whether a host was held up at the next checkpoint: its part of that time is in the
   checkpoint after it. */
static bool checkpoint_is_missed(const struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].checks > r->next_check && !record_is_there(&r->host[i].check[r->next_check - 1]))
      return true;
  return false;
}

/* Leaves the parts of a checkpoint to the checkpoint after it. */
static void checkpoint_pass_over(struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (record_is_there(&r->host[i].check[r->next_check - 1]))
      intervals_carry_record(&r->host[i].check[r->next_check - 1]);
  r->next_check++;
}

/* Passes over checkpoints that a host has missed.  Returns whether the next one can be summed. */
static bool checkpoint_seek_ready(struct bn_intervals *r)
{
  while (checkpoint_is_complete(r)) {
    if (!checkpoint_is_missed(r))
      return true;
    checkpoint_pass_over(r);
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

/* Returns the time at_s after the start of the measurement, on the clocks here. */
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
    /* Hosts end an interval at slightly different times: with the longest all rates would be
       low. */
    if (span == BN_VIEW_INTERVAL)
      span_ns += its_ns / parts->n;
    else if (its_ns > span_ns)
      span_ns = its_ns;
  }
  return intervals_time_at(r, span, at_s, span_ns);
}

/* Shows the sum of the parts.  `watched` is the view of the first host in that time, which has the
   figures that all hosts share, or NULL. */
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

  parts->n = round_gather(r, parts->view);
  at = intervals_time_of(r, parts, BN_VIEW_INTERVAL);
  rc = intervals_show_sum(r, parts, record_watched(&first->record[place]), &r->round[place], false,
                          &at, err);
  bn_sums_done(&r->round[place]);
  for (size_t i = 0; i < r->n; i++)
    record_forget(&r->host[i].record[place]);
  r->next++;
  return rc;
}

/* Finds the parts up to the next checkpoint that have not been summed.  Returns the average of the
   times at which the hosts have reached it. */
static double checkpoint_find_parts(const struct bn_intervals *r, struct bn_views *parts)
{
  double sum_s = 0;
  size_t n = 0;

  for (size_t i = 0; i < r->n; i++)
    for (size_t k = 0; k < r->next_check; k++) {
      if (!record_is_there(&r->host[i].check[k]))
        continue;
      parts->view[parts->n++] = &r->host[i].check[k].view;
      if (k + 1 == r->next_check) {
        sum_s += r->host[i].check[k].view.at_s;
        n++;
      }
    }
  return n > 0 ? sum_s / (double)n : 0;
}

static void checkpoint_forget(struct bn_intervals *r)
{
  for (size_t k = 0; k < r->next_check; k++) {
    for (size_t i = 0; i < r->n; i++)
      record_forget(&r->host[i].check[k]);
    bn_sums_done(&r->check[k]);
  }
}

/* Adds the histograms of checkpoints that were passed over. */
static void checkpoint_merge_passed(struct bn_intervals *r)
{
  for (size_t k = 0; k + 1 < r->next_check; k++)
    bn_sums_merge(&r->check[r->next_check - 1], &r->check[k]);
}

static int checkpoint_show(struct bn_intervals *r, struct bn_views *parts, struct bn_err *err)
{
  const struct bn_intervals_host *first = &r->host[0];
  const size_t last = r->next_check - 1;
  const double at_s = checkpoint_find_parts(r, parts);
  const struct bn_merge_time at = intervals_time_at(r, BN_VIEW_CHECKPOINT, at_s,
                                                    (uint64_t)(fmax(at_s - r->checked_s, 0) * 1e9));
  int rc;

  checkpoint_merge_passed(r);
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
  int (*show)(struct bn_intervals *, struct bn_views *, struct bn_err *);
  struct bn_views parts = {NULL, 0};
  int rc;

  if (round_seek_ready(r))
    show = round_show;
  else if (checkpoint_seek_ready(r))
    show = checkpoint_show;
  else if (tick_is_ready(r))
    show = tick_show;
  else
    return 0;
  parts.view = bn_alloc(r->n * (r->n_checks + 1), sizeof *parts.view);
  rc = show(r, &parts, err);
  free(parts.view);
  return rc == 0 ? 1 : -1;
}
