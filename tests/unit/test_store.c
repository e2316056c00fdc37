/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that every number of a result comes back from its document as it was: those that JSON or
   double cannot hold, those that are not known, histograms with their overflow, moments. */
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "measure/bounds.h"
#include "measure/hist_sparse.h"
#include "measure/journal.h"
#include "measure/json_hist.h"
#include "measure/skip.h"
#include "measure/store.h"

static const struct bn_metric own[] = {
    {.name = "device_writes", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "fsync_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = NULL}};

/* A view of made-up numbers. */
struct sample {
  struct bn_metrics metrics;
  struct bn_snap delta;
  struct bn_hist *ages;
  struct bn_view_store store;
  struct bn_view view;
};

static void make_sample(struct sample *s, enum bn_view_span span)
{
  static const double percents[] = {95, 99.9};
  struct bn_view_rules rules = {
      .percents = percents, .n_percents = 2, .exact = true, .sessions = true};

  memset(s, 0, sizeof *s);
  rules.ages = s->ages = span == BN_VIEW_TOTAL ? bn_hist_new() : NULL;
  if (s->ages != NULL)
    bn_hist_put(s->ages, 2000, 6);
  bn_metrics_init(&s->metrics, own);
  bn_snap_init_for_metrics(&s->delta, &s->metrics, 2, true);
  s->delta.span_ns = 3000000000;
  s->delta.wall_ns = UINT64_MAX - 1; /* beyond 63 bits */
  s->delta.counter[BN_C_EVENTS] = 5;
  s->delta.counter[BN_C_FIXED] = BN_ABSENT;
  bn_hist_put(s->delta.hist[0], 1000, 3);
  bn_hist_put(s->delta.hist[0], UINT64_C(1) << BN_HIST_TOP_BIT, 2);
  bn_hist_put(s->delta.hist[1], 123456789, UINT64_C(1) << 63);
  s->delta.session[1] = (struct bn_snap_session){
      .events = 5, .busy_ns = UINT64_MAX - 7, .min_ns = 1000, .max_ns = UINT64_C(1) << 43};
  s->delta.session[0].min_ns = UINT64_MAX;
  s->delta.fair_busy_s = (struct bn_moments){2, 1.0L / 3, 1e-19L + 1};
  (void)snprintf(s->delta.label[0][0].name, BN_LABEL_LEN, "1213");
  s->delta.label[0][0].n = 4;
  s->delta.n_labels[0] = 1;
  bn_view_store_init(&s->store, &s->delta);
  bn_view_fill(&s->view, &s->store, &s->delta, &rules);
  s->view.span = span;
  s->view.kind = BN_KIND_FILEIO;
}

static void free_sample(struct sample *s)
{
  bn_view_store_done(&s->store);
  bn_hist_free(s->ages);
  bn_snap_done(&s->delta);
  bn_metrics_done(&s->metrics);
}

static void assert_same_hist(const struct bn_hist *a, const struct bn_hist *b)
{
  struct bn_hist_sparse x, y;

  bn_hist_sparse_pack(&x, a); /* with the overflow */
  bn_hist_sparse_pack(&y, b);
  assert_int_equal(x.n, y.n);
  for (size_t i = 0; i < x.n; i++) {
    assert_int_equal(x.bucket[i].lowest, y.bucket[i].lowest);
    assert_int_equal(x.bucket[i].count, y.bucket[i].count);
  }
  bn_hist_sparse_done(&x);
  bn_hist_sparse_done(&y);
}

static void assert_same_view(const struct bn_view *a, const struct bn_view *b)
{
  for (const struct bn_view_field *f = bn_view_fields; f->name != NULL; f++)
    assert_memory_equal((const char *)a + f->offset, (const char *)b + f->offset, 8);
  assert_int_equal(a->n_percents, b->n_percents);
  for (size_t i = 0; i < a->n_percents; i++) {
    assert_true(a->percents[i] == b->percents[i]);
    assert_true(a->percentile_s[i] == b->percentile_s[i]);
  }
  assert_int_equal(a->n_timings, b->n_timings);
  assert_string_equal(a->timings[0].name, b->timings[0].name);
  assert_true(a->timings[0].sum_s == b->timings[0].sum_s);
  if (a->span == BN_VIEW_INTERVAL) {
    assert_null(a->timings[0].percentile_s);
    return;
  }
  for (size_t i = 0; i < a->n_percents; i++)
    assert_true(a->timings[0].percentile_s[i] == b->timings[0].percentile_s[i]);
}

static void every_number_comes_back(void **state)
{
  struct sample s;
  struct bn_record r;
  struct bn_err err = {0};
  struct bn_node *n, *m;
  struct bn_metrics metrics;

  (void)state;
  make_sample(&s, BN_VIEW_TOTAL);
  assert_true(s.view.percentile_s[1] == HUGE_VAL);
  assert_true(s.view.timings[0].percentile_s[1] == s.view.timings[0].max_s);
  n = bn_store_record(&s.view);
  m = bn_store_metrics(&s.metrics);
  assert_non_null(n);
  assert_int_equal(bn_store_read_metrics(m, &metrics, &err), 0);
  assert_int_equal(metrics.n_counters, s.metrics.n_counters);
  assert_string_equal(metrics.counter[BN_C_FIXED].name, "device_writes");
  assert_string_equal(metrics.hist[1].unit, "ns");
  assert_int_equal(metrics.counter[BN_C_FIXED].merge, BN_MERGE_NONE);
  assert_int_equal(metrics.counter[BN_C_EVENTS].merge, BN_MERGE_SUM);
  assert_int_equal(bn_store_read_record(n, &metrics, BN_VIEW_TOTAL, &r, &err), 0);
  assert_same_view(&r.view, &s.view);
  assert_true(r.delta.wall_ns == UINT64_MAX - 1);
  assert_memory_equal(r.delta.counter, s.delta.counter,
                      s.metrics.n_counters * sizeof *s.delta.counter);
  assert_memory_equal(r.delta.session, s.delta.session, 2 * sizeof *s.delta.session);
  assert_true(r.delta.fair_busy_s.sum == 1.0L / 3);
  assert_true(r.delta.fair_busy_s.sum_sq == 1e-19L + 1);
  assert_string_equal(r.delta.label[0][0].name, "1213");
  assert_int_equal(r.delta.label[0][0].n, 4);
  assert_same_hist(r.delta.hist[0], s.delta.hist[0]);
  assert_same_hist(r.delta.hist[1], s.delta.hist[1]);
  assert_same_hist(r.view.ages, s.ages);
  bn_record_done(&r);
  bn_metrics_done(&metrics);
  bn_node_free(n);
  bn_node_free(m);
  free_sample(&s);
}

/* Reads the histogram of a document; false: it is refused. */
static bool read_histogram(const char *text, size_t len, struct bn_hist *h)
{
  struct bn_err err = {0};
  struct bn_json_in e = {&err, false};
  struct bn_node *document = bn_node_parse(text, len, &err);
  const struct bn_node *group = bn_node_get_at(bn_node_get(document, "groups"), 0);
  const struct bn_node *raw = bn_node_get(bn_node_get(group, "total"), "raw");

  assert_non_null(raw);
  bn_hist_clear(h);
  bn_json_in_hist(&e, bn_node_get(raw, "histograms"), "latency", h);
  bn_node_free(document);
  return bn_json_in_verdict(&e) == 0;
}

/* Reads a list as a histogram; false: it is refused.  A reader of totals alone does the same. */
static bool read_list(const char *list, struct bn_hist *h)
{
  struct bn_hist *shortened = bn_hist_new();
  char text[256];
  const int len =
      snprintf(text, sizeof text,
               "{\"groups\":[{\"total\":{\"raw\":{\"histograms\":{\"latency\":%s}}}}]}", list);
  const bool is_read = read_histogram(text, (size_t)len, h);

  assert_int_equal(read_histogram(text, bn_skip_to_totals(text, (size_t)len), shortened), is_read);
  if (is_read)
    assert_same_hist(shortened, h);
  bn_hist_free(shortened);
  return is_read;
}

static void check_list(const struct bn_hist *h, const char *want)
{
  struct bn_hist *back = bn_hist_new();
  struct bn_node *list = bn_json_hist(h, NULL);
  size_t len = 0;
  char *text = bn_node_print(list, 0, &len);

  assert_string_equal(text, want);
  assert_true(read_list(text, back));
  assert_same_hist(back, h);
  bn_hist_free(back);
  free(text);
  bn_node_free(list);
}

static void a_histogram_is_one_list_of_counts(void **state)
{
  struct bn_hist *h = bn_hist_new();

  (void)state;
  check_list(h, "[]");
  bn_hist_put(h, 0, 7);
  check_list(h, "[7]");
  bn_hist_put(h, 2, 1);
  bn_hist_put(h, 5, 4);
  check_list(h, "[7,0,1,-2,4]");
  bn_hist_put(h, 2049, UINT64_MAX - 1); /* the bucket of 2,048 and 2,049 ns */
  check_list(h, "[7,0,1,-2,4,-2042,\"18446744073709551614\"]");
  bn_hist_put(h, UINT64_MAX, 3);
  check_list(h, "[7,0,1,-2,4,-2042,\"18446744073709551614\",-31743,3]");
  bn_hist_clear(h);
  bn_hist_put(h, (UINT64_C(1) << BN_HIST_TOP_BIT) - 1, 1);
  check_list(h, "[-33791,1]");
  bn_hist_free(h);
}

static void a_list_of_pairs_is_read_as_in_version_1(void **state)
{
  struct bn_hist *h = bn_hist_new(), *want = bn_hist_new();

  (void)state;
  bn_hist_put(want, 5, 2);
  bn_hist_put(want, 2048, 9);
  bn_hist_put(want, UINT64_C(1) << BN_HIST_TOP_BIT, 3);
  assert_true(read_list("[[5,2],[2048,\"9\"],[4398046511104,3]]", h));
  assert_same_hist(h, want);
  bn_hist_free(want);
  bn_hist_free(h);
}

static void a_list_that_is_no_histogram_is_refused(void **state)
{
  static const char *const lists[] = {
      "[-33794]", "[1,-33791,1,0]", "[-9223372036854775808,-9223372036854775808,1]",
      "[1.5]",    "[\"-1\"]",       "[[1,-1]]",
      "[{}]",     "[true]"};
  struct bn_hist *h = bn_hist_new();

  (void)state;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    assert_false(read_list(lists[i], h));
  assert_true(read_list("[1,-33791,1]", h));
  bn_hist_free(h);
}

/* Reads the figures of a workload that a text has; the metrics are those of the sample and "loads",
   which comes last. */
static void read_figures(const char *text, struct bn_record *r)
{
  static const struct bn_metric more[] = {
      {.name = "device_writes", .unit = "1"}, {.name = "loads", .unit = "1"}, {.name = NULL}};
  struct bn_err err = {0};
  struct bn_node *n = bn_node_parse(text, strlen(text), &err);
  struct bn_metrics m;

  bn_metrics_init(&m, more);
  assert_int_equal(bn_store_read_record(n, &m, BN_VIEW_CHECKPOINT, r, &err), 0);
  bn_metrics_done(&m);
  bn_node_free(n);
}

static void assert_merge(const struct bn_view *v, size_t i, enum bn_merge_rule merge,
                         unsigned weight)
{
  assert_true(i < v->n_figures);
  assert_int_equal(v->figures[i].merge, merge);
  if (merge == BN_MERGE_MEAN)
    assert_int_equal(v->figures[i].weight, weight);
}

static void a_document_says_how_figures_are_merged(void **state)
{
  enum { LOADS = BN_C_FIXED + 1 };
  struct bn_record r;
  struct bn_node *n;
  const char *again;

  (void)state;
  read_figures("{\"kind\":\"memory\",\"workload\":["
               "{\"name\":\"a\",\"value\":1,\"merge\":\"rate\"},"
               "{\"name\":\"b\",\"value\":1,\"merge\":\"mean\",\"weight\":\"loads\"},"
               "{\"name\":\"c_per_s\",\"value\":1,\"merge\":\"none\"},"
               "{\"name\":\"d_per_s\",\"value\":1,\"merge\":\"later\"},"
               "{\"name\":\"e\",\"value\":1,\"merge\":\"mean\",\"weight\":\"x\"}]}",
               &r);
  assert_merge(&r.view, 0, BN_MERGE_RATE, 0);
  assert_merge(&r.view, 1, BN_MERGE_MEAN, LOADS);
  assert_merge(&r.view, 2, BN_MERGE_NONE, 0);
  assert_merge(&r.view, 3, BN_MERGE_NONE, 0);
  assert_merge(&r.view, 4, BN_MERGE_MEAN, LOADS + 1);
  n = bn_store_record(&r.view);
  again = bn_node_get_text(bn_node_get(bn_node_get_at(bn_node_get(n, "workload"), 1), "weight"));
  assert_string_equal(again, "loads");
  bn_node_free(n);
  bn_record_done(&r);
}

static void names_say_it_in_version_1(void **state)
{
  struct bn_record r;

  (void)state;
  read_figures("{\"kind\":\"memory\",\"workload\":["
               "{\"name\":\"ns_per_load\",\"value\":1},"
               "{\"name\":\"reads_per_s\",\"value\":1},"
               "{\"name\":\"device_reads_per_s\",\"value\":1},"
               "{\"name\":\"device_utilization\",\"value\":1}]}",
               &r);
  assert_merge(&r.view, 0, BN_MERGE_MEAN, BN_C_FIXED + 1);
  assert_merge(&r.view, 1, BN_MERGE_RATE, 0);
  assert_merge(&r.view, 2, BN_MERGE_NONE, 0);
  assert_merge(&r.view, 3, BN_MERGE_NONE, 0);
  bn_record_done(&r);
}

static void assert_bucket(const struct bn_hist_sparse *s, size_t i, uint64_t lowest, uint64_t count)
{
  assert_true(i < s->n && s->bucket[i].lowest == lowest && s->bucket[i].count == count);
}

static void assert_sparse(const struct bn_snap *s)
{
  assert_non_null(s->sparse);
  assert_null(s->hist[0]);
  assert_int_equal(s->sparse[0].n, 2);
  assert_int_equal(bn_snap_count_buckets(s), 3);
  assert_bucket(&s->sparse[0], 0, 1000, 3);
  assert_bucket(&s->sparse[0], 1, UINT64_C(1) << BN_HIST_TOP_BIT, 2);
  assert_bucket(&s->sparse[1], 0, bn_hist_lowest(bn_hist_index(123456789)), UINT64_C(1) << 63);
}

static void intervals_have_histograms_on_request(void **state)
{
  struct bn_group plain = {.name = NULL}, packed = {.packs = true}, copy = {.name = NULL};
  struct bn_result all = {.n_groups = 0};
  struct sample s;
  struct bn_record r;
  struct bn_err err = {0};
  struct bn_node *n;

  (void)state;
  make_sample(&s, BN_VIEW_INTERVAL);
  bn_group_add_view(&plain, &s.view);
  assert_null(plain.interval[0].delta.sparse);
  n = bn_store_record(&plain.interval[0].view);
  assert_null(bn_node_get(bn_node_get(n, "raw"), "histograms"));
  bn_node_free(n);
  bn_group_add_view(&packed, &s.view);
  assert_sparse(&packed.interval[0].delta);
  n = bn_store_record(&packed.interval[0].view);
  assert_int_equal(bn_store_read_record(n, &s.metrics, BN_VIEW_INTERVAL, &r, &err), 0);
  assert_same_view(&r.view, &s.view);
  assert_sparse(&r.delta);
  /* What was read is kept without being asked for. */
  bn_group_add_view(&copy, &r.view);
  assert_sparse(&copy.interval[0].delta);
  bn_record_done(&r);
  bn_node_free(n);
  all.group = calloc(3, sizeof *all.group);
  assert_non_null(all.group);
  all.group[all.n_groups++] = plain;
  all.group[all.n_groups++] = packed;
  all.group[all.n_groups++] = copy;
  bn_result_done(&all);
  free_sample(&s);
}

static void a_record_takes_no_more_memory_than_it_needs(void **state)
{
  static const enum bn_view_span spans[] = {BN_VIEW_INTERVAL, BN_VIEW_CHECKPOINT};

  (void)state;
  for (size_t i = 0; i < 2; i++) {
    struct bn_group g = {.packs = true};
    struct sample s;
    const struct bn_view *v;

    make_sample(&s, spans[i]);
    bn_group_add_view(&g, &s.view);
    v = i == 0 ? &g.interval[0].view : &g.checkpoint[0].view;
    /* A label takes 136 bytes and there is one; a figure takes 24 and there is none. */
    assert_true(malloc_usable_size(v->delta->label[0]) < 512);
    assert_true(malloc_usable_size((void *)(uintptr_t)v->figures) < 128);
    assert_true(g.bytes < 4096);
    if (i == 0)
      bn_record_done(&g.interval[0]);
    else
      bn_record_done(&g.checkpoint[0]);
    free(g.interval);
    free(g.checkpoint);
    free_sample(&s);
  }
}

static void intervals_end_before_the_bounds(void **state)
{
  const uint64_t most = (uint64_t)BN_BOUND_VALUES / 4 * 3;
  struct bn_group g = {.bytes = BN_BOUND_RECORD_BYTES / 4 * 3 - 1,
                       .n_intervals = BN_BOUND_INTERVALS - 1};

  (void)state;
  assert_true(bn_store_has_room(&g, most - 1));
  assert_false(bn_store_has_room(&g, most));
  /* A week of fileio with 32 percentiles. */
  assert_true(bn_store_has_room(&g, (uint64_t)604800 * 316));
  g.bytes++;
  assert_false(bn_store_has_room(&g, 0));
  g.bytes = 0;
  g.n_intervals++;
  assert_false(bn_store_has_room(&g, 0));
}

static void texts_that_are_not_utf8_are_escaped(void **state)
{
  struct bn_facts facts = {.start_ns = 0}, back;
  struct bn_err err = {0};
  struct bn_node *n;

  (void)state;
  bn_facts_set_text(&facts, "host", "name",
                    "a\xff"
                    "b");
  bn_facts_add_option(&facts, &(struct bn_opt_fact){.name = "db-password",
                                                    .group = "g",
                                                    .text = "x",
                                                    .origin = BN_FROM_FILE,
                                                    .secret = true});
  bn_facts_add_message(&facts, UINT64_C(1700000000000000001), 2, "slow", 3);
  n = bn_store_facts(&facts);
  assert_non_null(n);
  assert_int_equal(bn_store_read_facts(n, &back, &err), 0);
  assert_int_equal(back.n_messages, 1);
  assert_true(back.message[0].wall_ns == UINT64_C(1700000000000000001));
  assert_int_equal(back.message[0].level, 2);
  assert_string_equal(back.message[0].text, "slow");
  assert_true(back.message[0].times == 3);
  assert_string_equal(bn_facts_find(&back, "host", "name")->text, "a\\xffb");
  assert_true(back.option[0].secret);
  assert_null(back.option[0].value);
  assert_int_equal(back.option[0].origin, BN_FROM_FILE);
  bn_node_free(n);
  bn_facts_done(&facts);
  bn_facts_done(&back);
}

static void facts_whose_keys_are_not_utf8_are_kept(void **state)
{
  static const char *const keys[] = {"\xe9", "\xe8", "\xef\xbf\xbd", "\xc3\xa9", "\xe9"};
  static const char *const shown[] = {"\\xe9", "\\xe8", "\xef\xbf\xbd", "\xc3\xa9"};
  struct bn_facts facts = {.start_ns = 0}, back;
  struct bn_err err = {0};
  struct bn_node *n;

  (void)state;
  for (int i = 0; i < 5; i++) {
    bn_facts_set_whole(&facts, "\xe9", keys[i], i);
    bn_facts_set_real(&facts, "when", keys[i], i + 0.5);
  }
  n = bn_store_facts(&facts);
  assert_non_null(n);
  assert_int_equal(bn_store_read_facts(n, &back, &err), 0);
  assert_int_equal(back.n_facts, 8);
  for (int i = 0; i < 4; i++) {
    const int last = i == 0 ? 4 : i; /* the fifth replaces the first */

    assert_int_equal(bn_facts_find(&back, "\\xe9", shown[i])->whole, last);
    assert_true(bn_facts_find(&back, "when", shown[i])->real == last + 0.5);
  }
  bn_node_free(n);
  bn_facts_done(&facts);
  bn_facts_done(&back);
}

static void make_file(char *path)
{
  const int fd = mkstemp(path);

  assert_int_not_equal(fd, -1);
  assert_int_equal(close(fd), 0);
}

static void ticks_of_a_journal_add_up(void **state)
{
  struct bn_facts facts = {.start_ns = 0};
  struct bn_journal j;
  struct bn_stored s;
  struct sample one;
  struct bn_err err = {0};
  char path[] = "/tmp/bench-journal.XXXXXX";

  (void)state;
  make_file(path);
  assert_int_equal(bn_journal_open(&j, path, &err), 0);
  assert_int_equal(bn_journal_write_facts(&j, NULL, &facts, &err), 0);
  make_sample(&one, BN_VIEW_TICK);
  assert_int_equal(bn_journal_write_view(&j, "w", &one.view, &err), 0);
  bn_hist_put(one.delta.hist[0], 2000, 7);
  one.view.events = 12;
  assert_int_equal(bn_journal_write_view(&j, "w", &one.view, &err), 0);
  bn_journal_close(&j, false);
  if (bn_store_load(path, BN_BOUND_FILE_BYTES, false, &s, &err) != 0)
    fail_msg("%s", err.text);
  assert_true(s.result.end.partial);
  assert_int_equal(s.result.n_groups, 1);
  assert_string_equal(s.result.group[0].name, "w");
  assert_int_equal(s.result.group[0].total.view.events, 12);
  assert_same_hist(s.result.group[0].total.delta.hist[0], one.delta.hist[0]);
  assert_same_hist(s.result.group[0].total.delta.hist[1], one.delta.hist[1]);
  bn_stored_done(&s);
  free_sample(&one);
  assert_int_equal(unlink(path), 0);
}

static void a_journal_that_cannot_grow_says_so_once(void **state)
{
  struct bn_facts facts = {.start_ns = 0};
  struct bn_journal j;
  struct bn_err err = {0};
  char path[] = "/tmp/bench-journal.XXXXXX";

  (void)state;
  make_file(path);
  assert_int_equal(bn_journal_open(&j, path, &err), 0);
  const int read_only = open(path, O_RDONLY | O_CLOEXEC); /* a write to it fails with EBADF */

  assert_int_not_equal(dup2(read_only, j.lock.fd), -1);
  assert_int_equal(close(read_only), 0);
  assert_int_equal(bn_journal_write_facts(&j, NULL, &facts, &err), -1);
  assert_non_null(strstr(err.text, "ends early: Bad file descriptor"));
  assert_int_equal(bn_journal_write_facts(&j, NULL, &facts, &err), 0);
  bn_journal_close(&j, true);
  assert_int_equal(access(path, F_OK), -1);
}

BN_TESTS(store)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_comes_back),
      cmocka_unit_test(a_histogram_is_one_list_of_counts),
      cmocka_unit_test(a_list_of_pairs_is_read_as_in_version_1),
      cmocka_unit_test(a_list_that_is_no_histogram_is_refused),
      cmocka_unit_test(a_document_says_how_figures_are_merged),
      cmocka_unit_test(names_say_it_in_version_1),
      cmocka_unit_test(intervals_have_histograms_on_request),
      cmocka_unit_test(a_record_takes_no_more_memory_than_it_needs),
      cmocka_unit_test(intervals_end_before_the_bounds),
      cmocka_unit_test(texts_that_are_not_utf8_are_escaped),
      cmocka_unit_test(facts_whose_keys_are_not_utf8_are_kept),
      cmocka_unit_test(ticks_of_a_journal_add_up),
      cmocka_unit_test(a_journal_that_cannot_grow_says_so_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
