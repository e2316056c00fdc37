/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long all hosts ran together, by the times of their results. */
#include "cm.h"

#include <math.h>
#include <string.h>

#include "api/policy.h"
#include "hostresult.h"
#include "hosts/merged_result.h"

enum { HOSTS = 3 };

struct hosts {
  struct bn_group group[HOSTS];
  struct bn_result result[HOSTS];
  struct bn_merged_result_part part[HOSTS];
};

/* Makes the results of hosts that have run from and to these seconds. */
static void make(struct hosts *h, const uint64_t from[HOSTS], const uint64_t to[HOSTS])
{
  *h = (struct hosts){.part[0].result = NULL};
  for (size_t i = 0; i < HOSTS; i++) {
    h->group[i].total.delta.at_ns = to[i] * SEC;
    h->group[i].total.delta.span_ns = (to[i] - from[i]) * SEC;
    h->result[i] = (struct bn_result){.group = &h->group[i], .n_groups = 1};
    h->part[i].result = &h->result[i];
  }
}

static double real_of(const struct bn_facts *f, const char *key)
{
  const struct bn_fact *fact = bn_facts_find(f, BN_HOSTS_SECTION, key);

  assert_non_null(fact);
  assert_int_equal(fact->type, BN_FACT_REAL);
  return fact->real;
}

static void the_last_start_and_the_first_end_count(void **state)
{
  const struct bn_intervals_together seconds = {.second = 6, .events_per_s = 1234.5};
  struct bn_facts facts = {.n_facts = 0};
  struct hosts h;

  (void)state;
  make(&h, (uint64_t[]){100, 103, 100}, (uint64_t[]){120, 123, 110});
  bn_merged_result_add_together(h.part, HOSTS, &seconds, &facts);
  assert_true(fabs(real_of(&facts, BN_HOSTS_TIME) - 7) < 1e-9);
  assert_true(real_of(&facts, BN_HOSTS_RATE) == 1234.5);
  assert_int_equal(bn_facts_find(&facts, BN_HOSTS_SECTION, BN_HOSTS_SECONDS)->whole, 6);
  bn_facts_done(&facts);
}

static void hosts_may_never_have_run_together(void **state)
{
  const struct bn_intervals_together none = {.second = 0};
  struct bn_facts facts = {.n_facts = 0};
  struct hosts h;

  (void)state;
  make(&h, (uint64_t[]){100, 100, 115}, (uint64_t[]){120, 110, 120});
  bn_merged_result_add_together(h.part, HOSTS, &none, &facts);
  assert_true(real_of(&facts, BN_HOSTS_TIME) == 0);
  assert_null(bn_facts_find(&facts, BN_HOSTS_SECTION, BN_HOSTS_RATE));
  bn_facts_done(&facts);
}

static void of_a_host_that_told_nothing_nothing_is_known(void **state)
{
  const struct bn_intervals_together none = {.second = 0};
  struct bn_facts facts = {.n_facts = 0};
  struct hosts h;

  (void)state;
  make(&h, (uint64_t[]){100, 100, 100}, (uint64_t[]){120, 120, 120});
  h.part[1].result = NULL;
  bn_merged_result_add_together(h.part, HOSTS, &none, &facts);
  assert_int_equal(facts.n_facts, 0);
  bn_facts_done(&facts);
}

/* A host that measured nothing, or whose times make no sense, is lost, and the others count. */
static void a_senseless_result_does_not_cost_the_report(void **state)
{
  static const struct bn_policy policy = {.dialect = NULL};
  static const struct bn_conf conf = {.policy = &policy};
  struct bn_optset *const options = bn_optset_new(&policy);
  static const struct bn_group_layout hosts = {.n = 0};
  const struct bn_merged_result_request of = {.conf = &conf, .options = options, .groups = &hosts};
  const struct bn_merged_result_start start = {
      .mono_ns = 100 * SEC, .wall_ns = 2000 * SEC, .until_ns = 110 * SEC};
  struct bn_result result[HOSTS] = {{.n_groups = 0}}, out;
  struct bn_merged_result_part part[HOSTS];
  char names[HOSTS][2] = {"a", "b", "c"};
  struct bn_err err = {0};

  (void)state;
  make_result(&result[0], 100 * SEC, 500);
  make_result(&result[2], 200 * SEC, 500);
  for (size_t i = 0; i < HOSTS; i++)
    part[i] = (struct bn_merged_result_part){.member = {.host = names[i], .threads = 1},
                                             .result = &result[i]};
  assert_int_equal(bn_merged_result_make(part, HOSTS, &start, &of, &out, &err), 0);
  assert_int_equal(out.n_groups, 1 + HOSTS);
  assert_int_equal(out.group[0].total.view.events, 500);
  assert_true(out.end.failed);
  assert_null(out.group[1].member->lost);
  assert_true(out.group[1].member->time_s == 10);
  assert_string_equal(out.group[2].member->lost, "it has measured nothing");
  assert_string_equal(out.group[3].member->lost, "the times of its result make no sense");
  assert_true(isinf(out.group[3].member->start_lag_s) && !out.group[3].has_total);
  bn_result_done(&out);
  bn_optset_free(options);
  for (size_t i = 0; i < HOSTS; i++)
    bn_result_done(&result[i]);
}

/* Makes the result of two hosts that were to measure after a warm-up of 5 s, and have ended at
   these times. */
static void make_after_warmup(struct bn_result *out, uint64_t a_end_ns, uint64_t b_end_ns)
{
  static const struct bn_policy policy = {.dialect = NULL};
  static const struct bn_conf conf = {.policy = &policy};
  struct bn_optset *const options = bn_optset_new(&policy);
  static const struct bn_group_layout hosts = {.n = 0};
  const struct bn_merged_result_request of = {
      .conf = &conf, .options = options, .groups = &hosts, .test = "./lua/x.lua"};
  const struct bn_merged_result_start start = {
      .mono_ns = 100 * SEC, .wall_ns = 2000 * SEC, .until_ns = 110 * SEC};
  const uint64_t end_ns[2] = {a_end_ns, b_end_ns};
  struct bn_result result[2] = {{.n_groups = 0}};
  struct bn_merged_result_part part[2];
  char names[2][2] = {"a", "b"};
  struct bn_err err = {0};

  for (size_t i = 0; i < 2; i++) {
    struct bn_snap *s;

    make_result(&result[i], 100 * SEC, 500);
    result[i].facts.plan.warmup_ns = 5 * SEC;
    s = &result[i].group[0].total.delta;
    s->at_ns = end_ns[i];
    s->span_ns = end_ns[i] > 105 * SEC ? end_ns[i] - 105 * SEC : end_ns[i] - 100 * SEC;
    part[i] = (struct bn_merged_result_part){.member = {.host = names[i], .threads = 1},
                                             .result = &result[i]};
  }
  assert_int_equal(bn_merged_result_make(part, 2, &start, &of, out, &err), 0);
  bn_optset_free(options);
  for (size_t i = 0; i < 2; i++)
    bn_result_done(&result[i]);
}

/* Events of the warm-up count only if no host has come to its end. */
static void a_warm_up_is_not_added_to_a_measurement(void **state)
{
  struct bn_result out;

  (void)state;
  make_after_warmup(&out, 110 * SEC, 103 * SEC);
  assert_int_equal(out.group[0].total.view.events, 500);
  assert_true(fabs(out.group[0].total.view.span_s - 5) < 1e-9);
  assert_true(out.end.failed);
  assert_null(out.group[1].member->lost);
  assert_string_equal(out.group[2].member->lost,
                      "it has measured nothing: it ended in the warm-up");
  assert_string_equal(bn_facts_find_text(&out.facts, "workload", "name"), "./lua/x.lua");
  bn_result_done(&out);

  make_after_warmup(&out, 104 * SEC, 103 * SEC);
  assert_int_equal(out.group[0].total.view.events, 1000);
  assert_null(out.group[2].member->lost);
  bn_result_done(&out);
}

static double watched(const struct bn_group *g, const char *name)
{
  const struct bn_view *v = &g->total.view;

  for (size_t i = 0; i < v->n_watched; i++)
    if (strcmp(v->watched[i].name, name) == 0)
      return v->watched[i].value;
  return NAN;
}

/* Checks the watched figures of two hosts, of which the second has made three times as many
   transactions and the first may be lost.  The server's figures are those of the first one. */
static void check_watched(bool has_first)
{
  static const struct bn_policy policy = {.dialect = NULL};
  static const struct bn_conf conf = {.policy = &policy};
  struct bn_optset *const options = bn_optset_new(&policy);
  static const struct bn_group_layout hosts = {.n = 0};
  const struct bn_merged_result_request of = {.conf = &conf, .options = options, .groups = &hosts};
  const struct bn_merged_result_start start = {
      .mono_ns = 100 * SEC, .wall_ns = 2000 * SEC, .until_ns = 110 * SEC};
  struct bn_result first = {.n_groups = 0}, second = {.n_groups = 0}, out;
  char names[2][2] = {"a", "b"};
  struct bn_merged_result_part part[2] = {
      {.member = {.host = names[0], .threads = 1}, .result = has_first ? &first : NULL},
      {.member = {.host = names[1], .threads = 1}, .result = &second}};
  struct bn_err err = {0};

  make_result(&first, 100 * SEC, 500);
  make_result(&second, 100 * SEC, 1500);
  assert_int_equal(bn_merged_result_make(part, 2, &start, &of, &out, &err), 0);
  assert_int_equal(out.group[0].total.view.n_watched, has_first ? 2 : 0);
  if (has_first) {
    assert_true(watched(&out.group[0], "server_Com_commit_per_s") == 75);
    assert_true(watched(&out.group[0], "server_Com_commit_per_transaction") == 1.5 / 4);
    assert_int_equal(out.group[1].total.view.n_watched, 1);
    assert_true(watched(&out.group[1], "host_user_percent") == 12.5);
  }
  assert_int_equal(out.group[2].total.view.n_watched, 1);
  assert_true(watched(&out.group[2], "host_user_percent") == 12.5);
  bn_result_done(&out);
  bn_result_done(&first);
  bn_result_done(&second);
  bn_optset_free(options);
}

static void what_was_watched_is_of_each_host_or_of_all(void **state)
{
  (void)state;
  check_watched(true);
  check_watched(false);
}

/* Returns whether the result of a host counts that has ended later than anything here, because the
   machine here stood still for that time. */
static bool counts_after(uint64_t still_ns)
{
  static const struct bn_policy policy = {.dialect = NULL};
  static const struct bn_conf conf = {.policy = &policy};
  struct bn_optset *const options = bn_optset_new(&policy);
  static const struct bn_group_layout hosts = {.n = 0};
  const struct bn_merged_result_request of = {.conf = &conf, .options = options, .groups = &hosts};
  const struct bn_merged_result_start start = {
      .mono_ns = 100 * SEC, .wall_ns = 2000 * SEC, .until_ns = 110 * SEC - still_ns};
  struct bn_result result = {.n_groups = 0}, out;
  struct bn_merged_result_part part = {.member = {.host = (char[]){"a"}, .threads = 1},
                                       .result = &result};
  struct bn_err err = {0};
  bool counts;

  make_result(&result, 100 * SEC, 500);
  counts = bn_merged_result_make(&part, 1, &start, &of, &out, &err) == 0;
  if (counts)
    bn_result_done(&out);
  bn_optset_free(options);
  bn_result_done(&result);
  return counts;
}

static void a_controller_that_stood_still_does_not_cost_the_report(void **state)
{
  (void)state;
  assert_true(counts_after(0));
  assert_true(counts_after(5 * SEC));
  assert_false(counts_after(10 * SEC - 1));
}

enum { PARTS = 4 };

/* Checks a result of two groups on two hosts, of which the group y has lost its part on host b. */
static void check_groups(const struct bn_result *out)
{
  static const struct {
    const char *host, *group, *lost;
    uint64_t events;
    unsigned threads;
  } rows[] = {{"x", NULL, NULL, 300, 3}, {"y", NULL, "gone", 400, 7}, {"a", "x", NULL, 100, 1},
              {"b", "x", NULL, 200, 2},  {"a", "y", NULL, 400, 3},    {"b", "y", "gone", 0, 4}};

  assert_int_equal(out->n_groups, 1 + sizeof rows / sizeof *rows);
  assert_int_equal(out->group[0].total.view.events, 700);
  assert_int_equal(out->group[0].total.view.n_event_kinds, 2);
  assert_int_equal(out->group[0].total.view.event_kinds[0].events, 300);
  assert_int_equal(out->group[0].total.view.event_kinds[1].events, 400);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct bn_group *g = &out->group[1 + i];

    assert_string_equal(g->member->host, rows[i].host);
    assert_int_equal(g->member->threads, rows[i].threads);
    assert_true((g->member->group == NULL) == (rows[i].group == NULL));
    if (rows[i].group != NULL)
      assert_string_equal(g->member->group, rows[i].group);
    assert_true((g->member->lost == NULL) == (rows[i].lost == NULL));
    assert_int_equal(g->has_total, rows[i].events > 0);
    if (g->has_total)
      assert_int_equal(g->total.view.events, rows[i].events);
  }
  assert_true(out->group[1].member->time_s == 10);
  assert_true(out->group[1].member->clock_error_s == 0.002);
  assert_string_equal(bn_facts_find_text(&out->facts, "workload", "name"), "x, y");
}

static void groups_on_hosts_add_up(void **state)
{
  static const struct bn_policy policy = {.dialect = NULL};
  static const struct bn_conf conf = {.policy = &policy};
  static const uint64_t events[PARTS] = {100, 200, 400, 0};
  struct bn_optset *const options = bn_optset_new(&policy);
  const struct bn_merged_result_start start = {
      .mono_ns = 100 * SEC, .wall_ns = 2000 * SEC, .until_ns = 110 * SEC};
  struct bn_result result[PARTS] = {{.n_groups = 0}}, out;
  struct bn_merged_result_part part[PARTS];
  struct bn_group_part own[PARTS];
  struct bn_group_layout layout;
  char hosts[2][2] = {"a", "b"}, groups[2][2] = {"x", "y"}, gone[] = "gone";
  struct bn_err err = {0};

  (void)state;
  for (size_t i = 0; i < PARTS; i++) {
    make_result(&result[i], 100 * SEC, events[i]);
    own[i] = (struct bn_group_part){groups[i / 2], &result[i].group[0].total.delta.metrics};
    part[i] = (struct bn_merged_result_part){
        .member = {.host = hosts[i % 2], .group = groups[i / 2], .threads = 1 + (unsigned)i},
        .result = &result[i],
        .clock = {.error_ns = 1000000 * (1 + i)}};
  }
  part[3].result = NULL;
  part[3].member.lost = gone;
  assert_int_equal(bn_group_layout_make(&layout, own, PARTS, &err), 0);
  const struct bn_merged_result_request of = {.conf = &conf, .options = options, .groups = &layout};

  assert_int_equal(bn_merged_result_make(part, PARTS, &start, &of, &out, &err), 0);
  check_groups(&out);
  bn_result_done(&out);
  bn_group_layout_done(&layout);
  bn_optset_free(options);
  for (size_t i = 0; i < PARTS; i++)
    bn_result_done(&result[i]);
}

/* Sets figures of the whole run in the result of a host: two missing commits, five events in a
   phase, nine that were due, an outage, and three that have not ended. */
static void add_whole(struct bn_result *r)
{
  struct bn_record *total = &r->group[0].total;

  total->delta.counter[BN_C_FIXED] = 2;
  bn_hist_put(total->delta.hist[BN_H_FIXED], 2000000, 5);
  total->view.setup_s = 0.25;
  total->view.due = 9;
  total->view.outages = 1;
  total->view.longest_outage_s = 1.5;
  total->view.unfinished = 3;
}

static void check_whole(const struct bn_group *g, uint64_t hosts)
{
  const struct bn_view *v = &g->total.view;

  assert_true(v->missing_commits == 2 * hosts && v->due == 9 * hosts);
  assert_true(v->outages == hosts && v->longest_outage_s == 1.5 && v->unfinished == 3 * hosts);
}

/* The first host has ended 20 s before the second one, which alone has passed a checkpoint. */
static void what_a_checkpoint_has_is_not_in_the_total(void **state)
{
  static const struct bn_metric rows[] = {
      {.name = "missing_commits", .unit = "1"},
      {.name = "phase:1 hold:1/9s", .unit = "ns", .kind = BN_PHASE_HISTOGRAM},
      {.name = NULL}};
  static const struct bn_policy policy = {.dialect = NULL};
  static const struct bn_conf conf = {.policy = &policy};
  struct bn_optset *const options = bn_optset_new(&policy);
  static const struct bn_group_layout hosts = {.n = 0};
  const struct bn_merged_result_request of = {.conf = &conf, .options = options, .groups = &hosts};
  const struct bn_merged_result_start start = {
      .mono_ns = 80 * SEC, .wall_ns = 1000 * SEC, .until_ns = 110 * SEC};
  struct bn_result result[2] = {{.n_groups = 0}}, out;
  struct bn_merged_result_part part[2];
  char names[2][2] = {"a", "b"};
  struct bn_intervals r;
  struct bn_err err = {0};

  (void)state;
  own_metrics = rows;
  for (size_t i = 0; i < 2; i++) {
    make_result(&result[i], 80 * SEC, 500);
    add_whole(&result[i]);
    part[i] = (struct bn_merged_result_part){.member = {.host = names[i], .threads = 1},
                                             .result = &result[i]};
  }
  own_metrics = NULL;
  result[0].group[0].total.delta.at_ns = 90 * SEC;
  bn_intervals_init(&r, 2, 0);
  bn_intervals_keep_result(&r, 0, &result[0]);
  r.host[0].is_counted = true;
  bn_intervals_drop_counted(&r);
  assert_int_equal(bn_merged_result_make(part, 2, &start, &of, &out, &err), 0);
  assert_int_equal(out.group[0].total.view.events, 500);
  assert_true(fabs(out.group[0].total.view.span_s - 10) < 1e-9);
  assert_true(fabs(out.group[0].total.view.events_per_s - 50) < 1e-9);
  assert_int_equal(bn_hist_count(out.group[0].total.delta.hist[BN_H_FIXED]), 10);
  assert_true(out.group[1].total.view.events == 0 && out.group[1].total.view.events_per_s == 0);
  assert_true(out.group[1].member->time_s == 0 && out.group[2].member->time_s == 10);
  check_whole(&out.group[0], 2);
  check_whole(&out.group[1], 1);
  bn_result_done(&out);
  bn_optset_free(options);
  bn_intervals_done(&r);
  for (size_t i = 0; i < 2; i++)
    bn_result_done(&result[i]);
}

BN_TESTS(merged_result)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_start_and_the_first_end_count),
      cmocka_unit_test(hosts_may_never_have_run_together),
      cmocka_unit_test(of_a_host_that_told_nothing_nothing_is_known),
      cmocka_unit_test(a_senseless_result_does_not_cost_the_report),
      cmocka_unit_test(a_warm_up_is_not_added_to_a_measurement),
      cmocka_unit_test(what_was_watched_is_of_each_host_or_of_all),
      cmocka_unit_test(a_controller_that_stood_still_does_not_cost_the_report),
      cmocka_unit_test(groups_on_hosts_add_up),
      cmocka_unit_test(what_a_checkpoint_has_is_not_in_the_total)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
