/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints what the controller of a run on many hosts needs for an interval and for a second: to read
   a line of a host, and to add up those of all.  Processor time in user mode, medians of several
   rounds, and the length of a line.  The hosts are synthetic: each has 200,000 events, whose
   latencies spread over two orders of magnitude.

   usage: hosts_sum [HOSTS [ROUNDS]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/rng.h"
#include "hosts/interval_merge.h"
#include "measure/store.h"

enum { HOSTS = 256, HOSTS_MOST = 4096, ROUNDS = 21, ROUNDS_MOST = 60, EVENTS = 200000, KINDS = 8 };

static const double ranks[] = {95};
static const struct bn_view_rules rules = {.percents = ranks, .n_percents = 1};
static const struct bn_facts said = {.plan = {.percents = {95}, .n_percents = 1}};

struct line {
  char *text;
  size_t len;
};

/* What hosts measure, and what the controller needs for it. */
struct times {
  struct bn_hist *kind[KINDS];
  double *read_ms, *sum_ms; /* [rounds] */
  size_t n;
};

_Noreturn static void give_up(const char *why)
{
  (void)fprintf(stderr, "hosts_sum: %s\n", why);
  exit(1);
}

static double user_ms(void)
{
  struct rusage u;

  (void)getrusage(RUSAGE_SELF, &u);
  return (double)u.ru_utime.tv_sec * 1e3 + (double)u.ru_utime.tv_usec * 1e-3;
}

/* Around 3 ms, one in a thousand above 25 ms. */
static struct bn_hist *make_hist(uint64_t seed)
{
  struct bn_hist *h = bn_hist_new();
  struct bn_rng rng;

  if (h == NULL)
    give_up("out of memory");
  bn_rng_seed(&rng, seed, BN_RNG_WORKLOAD, 0);
  for (int i = 0; i < EVENTS; i++) {
    const double u = bn_rng_double(&rng), w = bn_rng_double(&rng);
    const double normal = sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * w);

    bn_hist_put(h, (uint64_t)(3e6 * exp(0.7 * normal)), 1);
  }
  return h;
}

static void take(struct bn_intervals *r, size_t host, const struct line *l)
{
  struct bn_err err = {0};

  if (bn_intervals_take_line(r, host, l->text, l->len, &err) != 0)
    give_up(err.text);
}

static void begin_host(struct bn_intervals *r, size_t host, const struct bn_metrics *m)
{
  struct bn_node *group = bn_node_map();
  struct bn_err err = {0};

  if (bn_node_set(group, "name", bn_node_utf8("cpu")) != 0 ||
      bn_node_set(group, "metrics", bn_store_metrics(m)) != 0)
    give_up("out of memory");
  if (bn_intervals_begin_host(r, host, group, &said, &err) != 0)
    give_up(err.text);
  bn_node_free(group);
}

/* What a host sends for the k-th second. */
static struct line make_line(const struct bn_metrics *m, bool tick, unsigned k,
                             const struct bn_hist *h)
{
  struct bn_snap s;
  struct bn_view_store store;
  struct bn_view v;
  struct line l;

  bn_snap_init_for_metrics(&s, m, 0, true);
  bn_view_store_init(&store, &s);
  bn_hist_add(s.hist[BN_H_LATENCY], h);
  s.span_ns = 1000000000;
  s.counter[BN_C_EVENTS] = EVENTS;
  bn_view_fill(&v, &store, &s, &rules);
  v.at_s = k;
  v.span = tick ? BN_VIEW_TICK : BN_VIEW_INTERVAL;
  if (!tick)
    bn_snap_pack(&s, &s);
  l.text = bn_store_print_brief(&v, &l.len);
  if (l.text == NULL)
    give_up("out of memory");
  bn_view_store_done(&store);
  bn_snap_done(&s);
  return l;
}

static void look(void *arg, const struct bn_view *v)
{
  *(uint64_t *)arg += v->events;
}

/* One round of all hosts. */
static void measure(struct bn_intervals *r, const struct bn_metrics *m, bool tick, struct times *t)
{
  const unsigned k = (unsigned)t->n + 1;
  struct line *line = calloc(r->n, sizeof *line);
  struct bn_err err = {0};
  uint64_t events = 0;
  double begin_ms;

  r->out.arg = &events;
  for (size_t i = 0; line != NULL && i < r->n; i++)
    line[i] = make_line(m, tick, k, t->kind[i % KINDS]);
  begin_ms = user_ms();
  for (size_t i = 0; line != NULL && i < r->n; i++)
    take(r, i, &line[i]);
  t->read_ms[t->n] = user_ms() - begin_ms;
  begin_ms = user_ms();
  while (bn_intervals_show_next(r, &err) == 1)
    continue;
  t->sum_ms[t->n++] = user_ms() - begin_ms;
  if (events != (uint64_t)r->n * EVENTS)
    give_up(err.text[0] != '\0' ? err.text : "the sum is wrong");
  if (k == 1)
    printf("%s: %zu hosts, the first one's line has %zu bytes\n", tick ? "second" : "interval",
           r->n, line[0].len);
  for (size_t i = 0; i < r->n; i++)
    free(line[i].text);
  free(line);
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
  qsort(v, n, sizeof *v, ascending);
  return v[n / 2];
}

static void measure_all(size_t hosts, size_t rounds, bool tick)
{
  struct times t = {.read_ms = calloc(rounds, sizeof(double)),
                    .sum_ms = calloc(rounds, sizeof(double))};
  struct bn_metrics m;
  struct bn_intervals r;

  if (t.read_ms == NULL || t.sum_ms == NULL)
    give_up("out of memory");
  bn_intervals_init(&r, hosts, 1);
  r.out = (struct bn_intervals_output){.rules = rules, .start = {.at_ns = 1}, .show = look};
  bn_metrics_init(&m, NULL);
  for (uint64_t i = 0; i < KINDS; i++)
    t.kind[i] = make_hist(i);
  for (size_t i = 0; i < hosts; i++)
    begin_host(&r, i, &m);
  while (t.n < rounds)
    measure(&r, &m, tick, &t);
  printf("  to read the lines %8.2f ms, of one host %.3f ms\n", median(t.read_ms, rounds),
         median(t.read_ms, rounds) / (double)hosts);
  printf("  to add them up    %8.2f ms\n", median(t.sum_ms, rounds));
  bn_intervals_done(&r);
  bn_metrics_done(&m);
  for (size_t i = 0; i < KINDS; i++)
    bn_hist_free(t.kind[i]);
  free(t.read_ms);
  free(t.sum_ms);
}

int main(int argc, char **argv)
{
  const long hosts = argc > 1 ? strtol(argv[1], NULL, 10) : HOSTS;
  const long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : ROUNDS;

  if (hosts < 1 || hosts > HOSTS_MOST || rounds < 1 || rounds > ROUNDS_MOST)
    give_up("usage: hosts_sum [HOSTS [ROUNDS]]");
  measure_all((size_t)hosts, (size_t)rounds, false);
  measure_all((size_t)hosts, (size_t)rounds, true);
  return 0;
}
