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

/* Hosts may be ahead of the slowest one, which may be held up, by ten seconds of rounds, within
   these bounds.  Memory for rounds that are not used costs nothing. */
enum { AHEAD_S = 10, AHEAD_MIN = 64, AHEAD_MAX = 4096 };
/* The most memory for the histograms of all rounds. */
#define HISTS_MAX_BYTES (UINT64_C(512) << 20)
/* A time of a host that is not before this one is refused: in nanoseconds it might not fit into 64
   bits. */
static const double max_time_s = 1e9;

void bn_intervals_init(struct bn_intervals *r, size_t hosts, double length_s)
{
  const double rounds_ahead = length_s > 0 ? ceil(AHEAD_S / length_s) : 0;

  *r = (struct bn_intervals){
      .n = hosts, .length_s = length_s, .next_round = 1, .next_tick = 1, .next_check = 1};
  r->ahead = (size_t)fmin(fmax(rounds_ahead, AHEAD_MIN), AHEAD_MAX);
  r->host = bn_alloc(hosts, sizeof *r->host);
  r->round = bn_alloc(r->ahead, sizeof *r->round);
  for (size_t i = 0; i < hosts; i++)
    r->host[i].record = bn_alloc(r->ahead, sizeof *r->host[i].record);
}

void bn_intervals_set_checkpoints(struct bn_intervals *r, const uint64_t *at_ns, size_t n)
{
  r->check_ns = at_ns;
  r->n_checks = n;
  r->check = bn_alloc(n, sizeof *r->check);
  for (size_t i = 0; i < r->n; i++)
    r->host[i].check = bn_alloc(n, sizeof *r->host[i].check);
}

/* Returns whether a host has sent the record.  A record that was not sent is all zero. */
static bool record_is_filled(const struct bn_record *record)
{
  return record->view.delta != NULL;
}

/* Frees the record if there is one, and makes it all zero. */
static void record_forget(struct bn_record *record)
{
  if (record_is_filled(record))
    bn_record_done(record);
}

static void intervals_free_host(const struct bn_intervals *r, struct bn_intervals_host *h)
{
  for (size_t k = 0; k < r->ahead; k++)
    record_forget(&h->record[k]);
  for (size_t k = 0; k < r->n_checks; k++)
    record_forget(&h->check[k]);
  record_forget(&h->tick);
  if (h->has_base)
    bn_snap_done(&h->base);
  bn_hist_sums_done(&h->ticked);
  free(h->record);
  free(h->check);
  bn_valid_done(&h->spec);
}

void bn_intervals_done(struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    intervals_free_host(r, &r->host[i]);
  for (size_t k = 0; k < r->ahead; k++)
    bn_hist_sums_done(&r->round[k]);
  for (size_t k = 0; k < r->n_checks; k++)
    bn_hist_sums_done(&r->check[k]);
  free(r->host);
  free(r->round);
  free(r->check);
  bn_hist_sums_done(&r->ticked);
  free(r->line.part); /* all that a struct bn_hist_codec owns */
  bn_facts_done(&r->errors);
  bn_group_layout_done(&r->layout);
  *r = (struct bn_intervals){.n = 0};
}

/* --- lines ------------------------------------------------------------------------------------ */

struct line {
  const struct bn_node *record;
  const char *texts; /* the histograms, which follow the record */
  size_t len;        /* of the texts */
};

/* Lowers the number of rounds for which hosts may be ahead, so that the histograms of all rounds
   keep within HISTS_MAX_BYTES.  Some rounds always fit, because there are at most
   BN_BOUND_HISTOGRAMS.  Comes before the first line, because records are placed by that number. */
static void intervals_limit_ahead(struct bn_intervals *r, const struct bn_metrics *m)
{
  const size_t max_rounds = HISTS_MAX_BYTES / (m->n_hists * sizeof(struct bn_hist));

  r->ahead = max_rounds < r->ahead ? max_rounds : r->ahead;
}

/* Returns whether two hosts are of one group, as all are in a run without groups. */
static bool intervals_is_same_group(const struct bn_intervals_host *a,
                                    const struct bn_intervals_host *b)
{
  return a->group_name == NULL || strcmp(a->group_name, b->group_name) == 0;
}

/* Refuses a host that does not measure what the hosts before it measure.  Groups may measure
   different things, but not the hosts of one group.  Returns 0, or -1 and err. */
static int intervals_compare_host(const struct bn_intervals *r, const struct bn_intervals_host *h,
                                  struct bn_err *err)
{
  for (size_t i = 0; i < r->n; i++) {
    const struct bn_intervals_host *other = &r->host[i];

    if (other->spec.name == NULL) /* it is not ready yet */
      continue;
    if (bn_valid_compare(&h->spec, &other->spec, intervals_is_same_group(h, other), err) != 0)
      return -1;
  }
  return 0;
}

int bn_intervals_begin_host(struct bn_intervals *r, size_t host, const struct bn_node *group,
                            const struct bn_facts *facts, struct bn_err *err)
{
  struct bn_intervals_host *h = &r->host[host];

  if (h->spec.name != NULL)
    return bn_err_set(err, EPROTO, "it said twice what it measures");
  if (bn_valid_read_spec(&h->spec, group, facts, r->n, err) != 0)
    return -1;
  if (intervals_compare_host(r, h, err) != 0) {
    bn_valid_done(&h->spec);
    return -1;
  }
  intervals_limit_ahead(r, &h->spec.metrics);
  return 0;
}

const struct bn_valid_spec *bn_intervals_get_spec(const struct bn_intervals *r, size_t host)
{
  return r->host[host].spec.name != NULL ? &r->host[host].spec : NULL;
}

int bn_intervals_unite_groups(struct bn_intervals *r, struct bn_err *err)
{
  struct bn_group_part *part = bn_alloc(r->n, sizeof *part);
  int rc;

  for (size_t i = 0; i < r->n; i++)
    part[i] =
        (struct bn_group_part){.name = r->host[i].group_name, .metrics = &r->host[i].spec.metrics};
  rc = bn_group_layout_make(&r->layout, part, r->n, err);
  free(part);
  if (rc == 0)
    intervals_limit_ahead(r, &r->layout.all);
  return rc;
}

const struct bn_metrics *bn_intervals_get_metrics(const struct bn_intervals *r)
{
  if (r->layout.n > 0)
    return &r->layout.all;
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].spec.name != NULL)
      return &r->host[i].spec.metrics;
  return NULL;
}

/* Returns the number of the last round that was over at the time of a view, or 0 if none was, or if
   the time makes no sense.  The time is rounded down to a round, because an interval of a host that
   was held up may end as late as just before the end of the next round. */
static uint64_t round_find_number(double length_s, const struct bn_view *v)
{
  static const double rounding = 1e-6; /* in rounds */
  const double n = length_s > 0 ? floor(v->at_s / length_s + rounding) : 0;

  return n >= 1 && v->at_s < max_time_s ? (uint64_t)n : 0;
}

/* Moves a record in place of another one.  The pointers of its view, which point into the record
   itself, are set anew.  `from` is not to be used any more. */
static void record_move(struct bn_record *to, const struct bn_record *from)
{
  record_forget(to);
  *to = *from;
  to->view.delta = &to->delta;
  to->view.percents = to->store.percents;
  to->view.percentile_s = to->store.percentile_s;
  to->view.at_least = to->store.at_least;
}

/* Returns whether the interval is the last one of a host that has ended within a round.  It has the
   number of the last whole round, because the round after that was not over. */
static bool intervals_is_last_part(const struct bn_intervals *r, const struct bn_intervals_host *h,
                                   const struct bn_view *v)
{
  return r->length_s > 0 && v->at_s < max_time_s &&
         round_find_number(r->length_s, v) == h->last_round;
}

/* Makes the last interval of a host, that of the round `number`, as long as the round: the host
   does nothing in the rest of the round, and the rates of the sum are those of the whole round. */
static void intervals_stretch_last_part(const struct bn_intervals *r, struct bn_record *record,
                                        uint64_t number)
{
  bn_intervals_drop_state(record);
  record->delta.span_ns = (uint64_t)(r->length_s * 1e9);
  record->view.at_s = (double)number * r->length_s;
}

/* Each of the functions intervals_add_round(), _checkpoint() and _tick() adds a record of a host,
   and the histograms of the line that was read last, to the sums.  Returns 0 if the record was
   moved to *r or *h; or, with the record still the caller's, 1 if it is not needed, or -1 and err
   if it makes no sense. */

/* Adds an interval to its round, unless the round has been summed without it.  The last part of a
   host belongs to the round after its last whole one.  Refuses an interval that is out of order or
   too far ahead of other hosts. */
static int intervals_add_round(struct bn_intervals *r, struct bn_intervals_host *h,
                               struct bn_record *record, struct bn_err *err)
{
  const bool is_last = intervals_is_last_part(r, h, &record->view);
  const uint64_t number = round_find_number(r->length_s, &record->view) + (is_last ? 1 : 0);
  const size_t slot = number % r->ahead;

  if (h->has_last_part || number <= h->last_round)
    return bn_err_set(err, EPROTO, "its interval at %.3f s comes at a wrong time",
                      record->view.at_s);
  if (number >= r->next_round + r->ahead)
    return bn_err_set(err, EPROTO,
                      "its interval at %.3f s is %zu or more intervals ahead of other hosts",
                      record->view.at_s, r->ahead);
  h->has_last_part = is_last;
  if (is_last)
    intervals_stretch_last_part(r, record, number);
  else
    h->last_round = number;
  if (number < r->next_round)
    return 1;
  bn_hist_sums_add(&r->round[slot], &r->line, record->delta.metrics.n_hists);
  record_move(&h->record[slot], record);
  return 0;
}

/* Returns the number of the last checkpoint that is not after the time of the view, or 0.  A host
   that was held up sends nothing for the checkpoints that it has missed. */
static size_t checkpoint_find_number(const struct bn_intervals *r, const struct bn_view *v)
{
  static const double rounding_s = 1e-6;
  size_t k = 0;

  while (k < r->n_checks && (double)r->check_ns[k] * 1e-9 <= v->at_s + rounding_s)
    k++;
  return k;
}

/* Adds a checkpoint.  Refuses a checkpoint that is out of order or has been summed. */
static int intervals_add_checkpoint(struct bn_intervals *r, struct bn_intervals_host *h,
                                    struct bn_record *record, struct bn_err *err)
{
  const size_t number = checkpoint_find_number(r, &record->view);

  if (number <= h->last_check || number < r->next_check || record->view.at_s >= max_time_s)
    return bn_err_set(err, EPROTO, "its checkpoint report at %.3f s comes at a wrong time",
                      record->view.at_s);
  bn_hist_sums_add(&r->check[number - 1], &r->line, record->delta.metrics.n_hists);
  record_move(&h->check[number - 1], record);
  bn_view_counts_add(&h->before, bn_view_count(&h->check[number - 1].view));
  h->needs_base = true;
  h->last_check = number;
  return 0;
}

/* Makes the last tick, the first one after a checkpoint, the base from which later ticks count, and
   drops the histograms of the ticks up to it. */
static void intervals_set_base(struct bn_intervals_host *h)
{
  if (!h->has_base)
    bn_snap_init_for_metrics(&h->base, &h->tick.delta.metrics, 0, true /* histograms */);
  h->has_base = true;
  h->needs_base = false;
  bn_snap_copy(&h->base, &h->tick.delta);
  bn_hist_sums_done(&h->ticked);
}

/* Stores how many events a host has had up to a second.  A tick that is late, because the host was
   held up, has the count of a later time, and is not stored. */
static void intervals_store_second(struct bn_intervals_host *h, const struct bn_view *v)
{
  const uint64_t second = round_find_number(1 /* length_s */, v);

  if (v->at_s - (double)second < BN_INTERVALS_LATE_S)
    h->past[second % BN_INTERVALS_SECONDS] =
        (struct bn_intervals_second){.second = second, .events = v->events, .at_s = v->at_s};
}

/* Sets r->together to a second, with the sum of the rates of all hosts up to it, if each of them
   has sent a tick of that second. */
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

/* Updates r->together after a tick, from the seconds after r->judged_seconds that all hosts have
   reached, and whose counts are still kept. */
static void intervals_update_together(struct bn_intervals *r)
{
  uint64_t reached = UINT64_MAX, judged = r->judged_seconds;

  for (size_t i = 0; i < r->n; i++) {
    const struct bn_intervals_host *h = &r->host[i];
    const uint64_t last = h->ticks > 0 ? round_find_number(1 /* length_s */, &h->tick.view) : 0;

    reached = last < reached ? last : reached;
  }
  if (reached <= judged)
    return;
  if (reached - judged > BN_INTERVALS_SECONDS)
    judged = reached - BN_INTERVALS_SECONDS;
  while (judged < reached)
    intervals_sum_second(r, ++judged);
  r->judged_seconds = judged;
}

/* Raises r->longest_ns to the upper bound of the longest event in the line that was read last.  In
   the last part of the latencies, index BN_HIST_BUCKETS is the overflow. */
static void intervals_update_longest_event(struct bn_intervals *r)
{
  _Static_assert(BN_H_LATENCY == 0, "the parts of the latencies begin at 0");
  const size_t end = r->line.end[BN_H_LATENCY];
  uint64_t index, upper_ns;

  if (end == 0)
    return;
  index = r->line.part[end - 1].index;
  upper_ns = index == BN_HIST_BUCKETS ? UINT64_MAX : bn_hist_highest(index);
  if (upper_ns > r->longest_ns)
    r->longest_ns = upper_ns;
}

/* Adds a tick: its counters count from the start, and its histograms from the tick before it.
   Refuses a tick without a time. */
static int intervals_add_tick(struct bn_intervals *r, struct bn_intervals_host *h,
                              struct bn_record *record, struct bn_err *err)
{
  if (round_find_number(1 /* length_s */, &record->view) == 0)
    return bn_err_set(err, EPROTO, "its figures of a second have no time");
  intervals_update_longest_event(r);
  bn_hist_sums_add(&h->ticked, &r->line, record->delta.metrics.n_hists);
  bn_hist_sums_add(&r->ticked, &r->line, record->delta.metrics.n_hists);
  h->ticks++;
  record_move(&h->tick, record);
  intervals_store_second(h, &h->tick.view);
  intervals_update_together(r);
  if (h->needs_base)
    intervals_set_base(h);
  return 0;
}

/* By the span of a view, the function that adds it; NULL: hosts do not send such views. */
static int (*const adders[])(struct bn_intervals *, struct bn_intervals_host *, struct bn_record *,
                             struct bn_err *) = {[BN_VIEW_INTERVAL] = intervals_add_round,
                                                 [BN_VIEW_CHECKPOINT] = intervals_add_checkpoint,
                                                 [BN_VIEW_TICK] = intervals_add_tick};
enum { SPANS = sizeof adders / sizeof *adders };

/* Refuses the line that was read last if one of its n_hists histograms has so many values that the
   sums of all hosts might not fit into 64 bits.  All checkpoints may be added up, so each of them
   may have only its part of the largest count.  All ticks of a host are added up, so a tick is
   checked with the ticks before it.  Returns 0, or -1 and err. */
static int intervals_check_counts(const struct bn_intervals *r, const struct bn_intervals_host *h,
                                  size_t n_hists, enum bn_view_span span, struct bn_err *err)
{
  const uint64_t *ticked = span == BN_VIEW_TICK ? h->ticked.count : NULL;
  uint64_t max_count = bn_sum_largest_count(r->n);

  if (span == BN_VIEW_CHECKPOINT && r->n_checks > 0)
    max_count /= r->n_checks;
  for (size_t i = 0; i < n_hists; i++)
    if (r->line.count[i] > max_count - (ticked != NULL ? ticked[i] : 0))
      return bn_err_set(err, EPROTO, "its histograms are too large");
  return 0;
}

/* Reads, checks and adds the view of a line of a host, which has the given span.  Returns 0, or -1
   and err. */
static int intervals_add_view(struct bn_intervals *r, size_t host, const struct line *line,
                              enum bn_view_span span, struct bn_err *err)
{
  struct bn_intervals_host *h = &r->host[host];
  struct bn_record record;
  int rc;

  if (h->spec.name == NULL)
    return bn_err_set(err, EPROTO, "it sent figures before it said what it measures");
  if (bn_store_read_brief(line->record, line->texts, line->len, &h->spec.metrics, span, &record,
                          &r->line, err) != 0)
    return -1;
  rc = bn_valid_check_view(&h->spec, &record.view, err);
  if (rc == 0 && r->layout.n > 0) {
    bn_group_layout_convert_record(&r->layout, host, &record);
    bn_group_layout_convert_line(&r->layout, host, &r->line);
  }
  if (rc == 0)
    rc = intervals_check_counts(r, h, record.delta.metrics.n_hists, span, err);
  if (rc == 0)
    rc = adders[span](r, h, &record, err);
  if (rc != 0) /* the record has not been moved */
    bn_record_done(&record);
  return rc < 0 ? -1 : 0;
}

/* No facts about errors are added beyond this number, which no run reaches. */
enum { ERROR_FACTS_MAX = 4 * (BN_LABELS_MAX + 1) };

/* Adds the facts about errors that a host sends before a checkpoint.  Returns 0, or -1 and err. */
static int intervals_add_errors(struct bn_intervals *r, size_t host, const struct bn_node *n,
                                struct bn_err *err)
{
  struct bn_facts facts;

  if (bn_store_read_facts(n, &facts, err) != 0)
    return -1;
  bn_facts_name_group(&facts, r->host[host].group_name);
  if (r->errors.n_facts < ERROR_FACTS_MAX)
    bn_facts_add_errors(&r->errors, &facts);
  bn_facts_done(&facts);
  return 0;
}

int bn_intervals_take_line(struct bn_intervals *r, size_t host, const char *line, size_t len,
                           struct bn_err *err)
{
  /* The histograms, if there are any, follow the JSON after a gap. */
  const char *gap = memchr(line, BN_STORE_GAP, len), *texts = gap != NULL ? gap : line + len;
  struct bn_node *map =
      bn_node_parse_within(line, (size_t)(texts - line), BN_VALID_LINE_VALUES, err);
  const struct bn_node *facts = bn_node_get(map, "facts");
  int rc = map != NULL ? 0 : -1;

  if (facts != NULL)
    rc = intervals_add_errors(r, host, facts, err);
  for (size_t i = 0; rc == 0 && i < SPANS; i++) {
    const struct line parsed = {.record = bn_node_get(map, bn_layout_spans[i]),
                                .texts = texts,
                                .len = (size_t)(line + len - texts)};

    if (parsed.record != NULL && adders[i] != NULL)
      rc = intervals_add_view(r, host, &parsed, (enum bn_view_span)i, err);
  }
  bn_node_free(map);
  return rc;
}

void bn_intervals_end_host(struct bn_intervals *r, size_t host)
{
  r->host[host].has_ended = true;
}

const struct bn_view *bn_intervals_get_last_tick(const struct bn_intervals *r, size_t host)
{
  return r->host[host].ticks > 0 ? &r->host[host].tick.view : NULL;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Returns whether the next round is over: a host has sent it, and each other host has sent it or
   has ended.  Slow hosts are not waited for once another one is r->ahead / 2 rounds ahead, because
   it would be refused at r->ahead rounds. */
static bool round_is_complete(const struct bn_intervals *r)
{
  uint64_t latest = 0;
  bool have_all_passed = true;

  for (size_t i = 0; i < r->n; i++) {
    have_all_passed &= r->host[i].has_ended || r->host[i].last_round >= r->next_round;
    latest = r->host[i].last_round > latest ? r->host[i].last_round : latest;
  }
  if (latest < r->next_round)
    return false;
  return have_all_passed || latest - r->next_round >= r->ahead / 2;
}

/* Returns whether a host has sent the next round. */
static bool round_has_part(const struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (record_is_filled(&r->host[i].record[r->next_round % r->ahead]))
      return true;
  return false;
}

/* Skips rounds that are over and that no host has sent, because all hosts were held up.  Returns
   whether the next round can be summed. */
static bool round_skip_unsent(struct bn_intervals *r)
{
  while (round_is_complete(r)) {
    if (round_has_part(r))
      return true;
    r->next_round++;
  }
  return false;
}

/* Returns whether the next checkpoint is over: a host has sent it, or one after it, and so has each
   other host that has not ended. */
static bool checkpoint_is_complete(const struct bn_intervals *r)
{
  size_t latest = 0;

  for (size_t i = 0; i < r->n; i++) {
    if (!r->host[i].has_ended && r->host[i].last_check < r->next_check)
      return false;
    latest = r->host[i].last_check > latest ? r->host[i].last_check : latest;
  }
  return latest >= r->next_check;
}

static struct bn_record *checkpoint_get_record(const struct bn_intervals *r, size_t i)
{
  return &r->host[i].check[r->next_check - 1];
}

/* Returns whether a host was held up at the next checkpoint: its part of that time is in the
   checkpoint after it. */
static bool checkpoint_is_missed(const struct bn_intervals *r)
{
  for (size_t i = 0; i < r->n; i++)
    if (r->host[i].last_check > r->next_check && !record_is_filled(checkpoint_get_record(r, i)))
      return true;
  return false;
}

/* Skips checkpoints that a host has missed: the one after them is summed with the parts of all.
   Returns whether the next one can be summed. */
static bool checkpoint_seek_complete(struct bn_intervals *r)
{
  while (checkpoint_is_complete(r)) {
    if (!checkpoint_is_missed(r))
      return true;
    for (size_t i = 0; i < r->n; i++)
      if (record_is_filled(checkpoint_get_record(r, i)))
        bn_intervals_drop_state(checkpoint_get_record(r, i));
    r->next_check++;
  }
  return false;
}

/* Returns whether the next tick is over: a host has sent that many ticks, and so has each other
   host that has not ended. */
static bool tick_is_complete(const struct bn_intervals *r)
{
  uint64_t latest = 0;

  for (size_t i = 0; i < r->n; i++) {
    if (!r->host[i].has_ended && r->host[i].ticks < r->next_tick)
      return false;
    latest = r->host[i].ticks > latest ? r->host[i].ticks : latest;
  }
  return latest >= r->next_tick;
}

/* Returns the time of a view that ends at_s after the start of the measurement and is of the last
   span_ns before that, on the clocks here. */
static struct bn_merge_time intervals_make_time(const struct bn_intervals *r,
                                                enum bn_view_span span, double at_s,
                                                uint64_t span_ns)
{
  const uint64_t since_ns = (uint64_t)(at_s * 1e9);

  return (struct bn_merge_time){.span = span,
                                .at_s = at_s,
                                .span_ns = span_ns,
                                .at_ns = r->out.start.at_ns + since_ns,
                                .wall_ns = r->out.start.wall_ns + since_ns};
}

/* Returns the time of the sum of some views: it ends when the last of them does. */
static struct bn_merge_time intervals_make_time_of_parts(const struct bn_intervals *r,
                                                         const struct bn_views *parts,
                                                         enum bn_view_span span)
{
  uint64_t span_ns = 0;
  double at_s = 0;

  for (size_t i = 0; i < parts->n; i++) {
    const uint64_t part_ns = parts->view[i]->delta->span_ns;

    at_s = fmax(at_s, parts->view[i]->at_s);
    /* Hosts end an interval at slightly different times, so it is as long as their average: all
       rates would be low if it were as long as the longest part. */
    if (span == BN_VIEW_INTERVAL)
      span_ns += part_ns / parts->n;
    else if (part_ns > span_ns)
      span_ns = part_ns;
  }
  return intervals_make_time(r, span, at_s, span_ns);
}

/* Shows the sum of the parts, with the sums of their histograms.  `watched` is the view of the
   first host in that time, which has the figures that all hosts share, or NULL.  `exact` is that of
   struct bn_view_rules.  Returns 0, or -1 and err. */
static int intervals_show_sum(const struct bn_intervals *r, const struct bn_views *parts,
                              const struct bn_view *watched, const struct bn_hist_sums *hists,
                              bool exact, const struct bn_merge_time *time, struct bn_err *err)
{
  struct bn_merged_view sum = {.ages = NULL};
  struct bn_view_rules rules = r->out.rules;
  struct bn_watched shared;
  int rc;

  rules.exact = exact;
  rc = bn_merged_view_make(&sum, parts, hists->hist, &rules, time, err);
  if (rc == 0 && watched != NULL) {
    bn_watched_sum(watched, &sum.view, &shared);
    sum.view.watched = shared.figure;
    sum.view.n_watched = shared.n;
  }
  if (rc == 0)
    r->out.show(r->out.arg, &sum.view);
  bn_merged_view_done(&sum);
  return rc;
}

/* Returns the view of the record, or NULL if there is no record. */
static const struct bn_view *record_get_view(const struct bn_record *record)
{
  return record_is_filled(record) ? &record->view : NULL;
}

/* Adds the view of a record to the parts of a sum, if there is a record. */
static void record_add_view(const struct bn_record *record, struct bn_views *parts)
{
  if (record_is_filled(record))
    parts->view[parts->n++] = &record->view;
}

/* round_show(), checkpoint_show() and tick_show() sum and show the next round, checkpoint or tick,
   whose views they add to `parts`, which is empty, and go on to the one after it, also after a
   failure.  They return 0, or -1 and err if it cannot be summed. */

static int round_show(struct bn_intervals *r, struct bn_views *parts, struct bn_err *err)
{
  const struct bn_intervals_host *first = &r->host[0];
  const size_t slot = r->next_round % r->ahead;
  struct bn_merge_time time;
  int rc;

  for (size_t i = 0; i < r->n; i++)
    record_add_view(&r->host[i].record[slot], parts);
  time = intervals_make_time_of_parts(r, parts, BN_VIEW_INTERVAL);
  rc = intervals_show_sum(r, parts, record_get_view(&first->record[slot]), &r->round[slot],
                          false /* exact */, &time, err);
  bn_hist_sums_done(&r->round[slot]);
  for (size_t i = 0; i < r->n; i++)
    record_forget(&r->host[i].record[slot]);
  r->next_round++;
  return rc;
}

/* Returns the average of the times at which hosts have reached the next checkpoint. */
static double checkpoint_average_time(const struct bn_intervals *r)
{
  double sum_s = 0;
  size_t n = 0;

  for (size_t i = 0; i < r->n; i++)
    if (record_is_filled(checkpoint_get_record(r, i))) {
      sum_s += checkpoint_get_record(r, i)->view.at_s;
      n++;
    }
  return n > 0 ? sum_s / (double)n : 0;
}

/* Frees the records and the sums up to the next checkpoint, which has been shown. */
static void checkpoint_forget(struct bn_intervals *r)
{
  for (size_t k = 0; k < r->next_check; k++) {
    for (size_t i = 0; i < r->n; i++)
      record_forget(&r->host[i].check[k]);
    bn_hist_sums_done(&r->check[k]);
  }
}

static int checkpoint_show(struct bn_intervals *r, struct bn_views *parts, struct bn_err *err)
{
  struct bn_hist_sums *hists = &r->check[r->next_check - 1];
  const double at_s = checkpoint_average_time(r);
  const struct bn_merge_time time = intervals_make_time(
      r, BN_VIEW_CHECKPOINT, at_s, (uint64_t)(fmax(at_s - r->checked_s, 0) * 1e9));
  int rc;

  /* The parts of checkpoints that were skipped are parts of this one.  checkpoint_forget() has
     freed those of checkpoints that were shown. */
  for (size_t i = 0; i < r->n; i++)
    for (size_t k = 0; k < r->next_check; k++)
      record_add_view(&r->host[i].check[k], parts);
  for (size_t k = 0; k + 1 < r->next_check; k++)
    bn_hist_sums_merge(hists, &r->check[k]);
  bn_intervals_add_results(r, at_s, parts);
  rc = intervals_show_sum(r, parts, record_get_view(checkpoint_get_record(r, 0)), hists,
                          r->checked_s <= 0 /* exact */, &time, err);
  checkpoint_forget(r);
  r->checked_s = at_s;
  r->next_check++;
  return rc;
}

static int tick_show(struct bn_intervals *r, struct bn_views *parts, struct bn_err *err)
{
  struct bn_merge_time time;

  for (size_t i = 0; i < r->n; i++)
    record_add_view(&r->host[i].tick, parts);
  time = intervals_make_time_of_parts(r, parts, BN_VIEW_TICK);
  r->next_tick++;
  return intervals_show_sum(r, parts, NULL /* watched */, &r->ticked, true /* exact */, &time, err);
}

int bn_intervals_show_next(struct bn_intervals *r, struct bn_err *err)
{
  int (*show)(struct bn_intervals *, struct bn_views *, struct bn_err *);
  struct bn_views parts = {NULL, 0};
  int rc;

  /* What is complete at the same time is shown in this order. */
  if (round_skip_unsent(r))
    show = round_show;
  else if (checkpoint_seek_complete(r))
    show = checkpoint_show;
  else if (tick_is_complete(r))
    show = tick_show;
  else
    return 0;
  /* Each host has at most one part, or in a checkpoint one for each checkpoint up to it. */
  parts.view = bn_alloc(r->n * (r->n_checks + 1), sizeof *parts.view);
  rc = show(r, &parts, err);
  free(parts.view);
  return rc == 0 ? 1 : -1;
}
