/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the intervals that hosts send: lines with changed bytes are refused by a sentence, or are
   figures that can be summed. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/interval_merge.h"
#include "measure/store.h"
#include "patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct bn_metric own[] = {{.name = "loads", .unit = "1"}, {.name = NULL}};
static const double ranks[] = {50, 99};
static const struct bn_view_rules rules = {.percents = ranks, .n_percents = 2};
static const struct bn_facts said = {.plan = {.percents = {50, 99}, .n_percents = 2}};

static const struct bn_watched_figure watched[] = {{"server_Com_commit_per_s", 75},
                                                   {"server_Com_commit_per_transaction", 1.5}};

enum { HOSTS = 2, TIMES = 4, KINDS = 2 };

static void must(bool holds)
{
  if (!holds)
    abort();
}

static void look(void *arg, const struct bn_view *v)
{
  (void)arg;
  for (size_t i = 0; i < v->n_percents; i++)
    must(!(v->percentile_s[i] < 0)); /* or not known */
  for (size_t i = 0; i < v->n_watched; i++)
    must(isfinite(v->watched[i].value));
}

/* Both hosts measure the same. */
static void begin(struct bn_intervals *r)
{
  struct bn_node *group = bn_node_map();
  struct bn_err err = {.code = 0};
  struct bn_metrics m;

  bn_intervals_init(r, HOSTS, 1);
  bn_metrics_init(&m, own);
  must(bn_node_set(group, "metrics", bn_store_metrics(&m)) == 0);
  for (size_t i = 0; i < HOSTS; i++)
    must(bn_intervals_begin_host(r, i, group, &said, &err) == 0);
  r->out = (struct bn_intervals_output){.rules = rules, .start = {.at_ns = 1}, .show = look};
  bn_metrics_done(&m);
  bn_node_free(group);
}

static char *view_line(enum bn_view_span span, double at_s)
{
  struct bn_metrics m;
  struct bn_snap s;
  struct bn_view_store store;
  struct bn_view v;
  size_t len;
  char *line;

  bn_metrics_init(&m, own);
  bn_snap_init_for_metrics(&s, &m, 0, true);
  bn_view_store_init(&store, &s);
  s.span_ns = 1000000000;
  s.counter[BN_C_EVENTS] = 100;
  bn_hist_put(s.hist[BN_H_LATENCY], 1000000, 90);
  bn_hist_put(s.hist[BN_H_LATENCY], 7000000, 10);
  s.running = 3;
  bn_view_fill(&v, &store, &s, &rules);
  v.at_s = at_s;
  v.span = span;
  if (span != BN_VIEW_TICK)
    bn_snap_pack(&s, &s);
  if (span == BN_VIEW_INTERVAL) {
    v.watched = watched;
    v.n_watched = sizeof watched / sizeof *watched;
  }
  line = bn_store_print_brief(&v, &len);
  must(line != NULL);
  bn_view_store_done(&store);
  bn_snap_done(&s);
  bn_metrics_done(&m);
  return line;
}

static void take(struct bn_intervals *r, size_t host, const char *line, size_t len)
{
  struct bn_err err = {.code = 0};
  int shown;

  must(bn_intervals_take_line(r, host, line, len, &err) == 0 || err.text[0] != '\0');
  do {
    err.text[0] = '\0';
    shown = bn_intervals_show_next(r, &err);
    must(shown >= 0 || err.text[0] != '\0');
  } while (shown != 0);
}

/* A line, with some of its bytes replaced.  Returns how much of the input was used. */
static size_t take_changed(struct bn_intervals *r, const char *line, const uint8_t *data,
                           size_t size)
{
  const size_t len = strlen(line);
  char *copy = malloc(len);
  size_t used = 1;

  must(copy != NULL);
  memcpy(copy, line, len);
  used += patch(copy, len, data[0] >> 4, data + used, size - used);
  take(r, data[0] % HOSTS, copy, len);
  free(copy);
  return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char *line[KINDS][TIMES];
  struct bn_intervals r;

  for (unsigned i = 0; i < TIMES && line[0][i] == NULL; i++) {
    line[0][i] = view_line(BN_VIEW_INTERVAL, i + 1);
    line[1][i] = view_line(BN_VIEW_TICK, i + 1);
  }
  begin(&r);
  for (size_t at = 0; at < size;) {
    const unsigned kind = data[at] >> 1 & 1, time = data[at] >> 2 & 3;

    at += take_changed(&r, line[kind][time], data + at, size - at);
  }
  bn_intervals_done(&r);
  return 0;
}
