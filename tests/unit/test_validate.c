/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows which results of hosts are taken, and that those which are refused cost little memory. */
#include "cm.h"

#include <math.h>
#include <string.h>

#include "hostresult.h"
#include "hosts/validate.h"
#include "measure/store.h"
#include "measure/sum.h"

enum { HOSTS = 3, EVENTS = 500 };

/* An honest result and what its host said before. */
struct host {
  struct bn_result result;
  struct bn_valid_spec as;
};

static void begin(struct host *h)
{
  struct bn_node *group = bn_node_map();
  struct bn_err err = {0};

  *h = (struct host){.result.n_groups = 0};
  make_result(&h->result, 100 * SEC, EVENTS);
  assert_int_equal(bn_node_set(group, "name", bn_node_utf8("cpu")), 0);
  assert_int_equal(
      bn_node_set(group, "metrics", bn_store_metrics(&h->result.group[0].total.delta.metrics)), 0);
  assert_int_equal(bn_valid_read_spec(&h->as, group, &h->result.facts, HOSTS, &err), 0);
  bn_node_free(group);
}

static void end(struct host *h)
{
  bn_valid_done(&h->as);
  bn_result_done(&h->result);
}

/* Reads the result of the host with `with` in place of the first `what`.  Returns 0, or -1 and err
   if it is refused. */
static int send_changed(struct host *h, const char *what, const char *with, struct bn_err *err)
{
  struct bn_node *document = bn_store_document(&h->result, NULL);
  struct bn_buf text = {.max = 0};
  struct bn_result out;
  size_t len = 0;
  char *honest = bn_node_print(document, 0, &len), *at = strstr(honest, what);
  int rc;

  bn_node_free(document);
  assert_non_null(at);
  assert_int_equal(
      bn_buf_printf(&text, "%.*s%s%s", (int)(at - honest), honest, with, at + strlen(what)), 0);
  free(honest);
  *err = (struct bn_err){0};
  rc = bn_valid_read_result(&h->as, &text, false, &out, err);
  if (rc == 0 && out.n_groups > 0)
    assert_int_equal(out.group[0].total.view.events, EVENTS);
  bn_result_done(&out);
  bn_buf_done(&text);
  return rc;
}

static void an_honest_result_is_taken(void **state)
{
  struct bn_err err;
  struct host h;

  (void)state;
  begin(&h);
  assert_int_equal(send_changed(&h, "\"format\"", "\"later\":[1],\"format\"", &err), 0);
  assert_true(bn_valid_max_bytes(&h.as, false) < 16 << 20);
  end(&h);
}

static void odd_results_are_refused(void **state)
{
  static const struct {
    const char *what, *with, *why;
  } cases[] = {
      {"\"version\":2", "\"version\":9", "it has version 9, this bench reads versions up to 2"},
      {"\"name\":\"cpu\"", "\"name\":\"mutex\"",
       "its result is of another test or of other metrics than it said"},
      {"\"percent\":95.0", "\"percent\":96.0", "its percentiles have other ranks than it said"},
      {"\"percents\":[95.0]", "\"percents\":[96.0]",
       "its percentiles have other ranks than it said"},
      {"\"own\":true", "\"own\":false", "its results are of another dialect than it said"},
      {"\"events\":500,", "\"events\":\"18446744073709551614\",", "its figures are too large"},
      {"[-11169,500]", "[-11169,500,\"18446744073709551000\"]", "its figures are too large"},
      {"\"intervals\":[]", "\"intervals\":[{}]",
       "its result is not that of one host without intervals"},
      {"\"groups\":[", "\"groups\":[{},", "its result is not that of one host without intervals"},
      {"\"host_user_percent\":12.5", "\"host_user_percent\":null",
       "it sent a figure of --watch that is none"},
      {"\"server_Com_commit_per_s\"", "\"server_Com_\\u001b[2J\"",
       "it sent a figure of --watch that is none"},
      {"\"plan\":{", "\"merge\":{\"parts\":1},\"plan\":{", "it sent facts of a merged result"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct bn_err err;
    struct host h;

    begin(&h);
    assert_int_equal(send_changed(&h, cases[i].what, cases[i].with, &err), -1);
    assert_string_equal(err.text, cases[i].why);
    end(&h);
  }
}

/* Of a part of the time a host tells only what all hosts share. */
static void what_is_watched_on_a_host_is_of_its_total(void **state)
{
  const struct bn_watched_figure own = {"device_queue_length", 1}, shared = {"server_Uptime", 2};
  struct bn_err err = {0};
  struct bn_view v;
  struct host h;

  (void)state;
  begin(&h);
  v = h.result.group[0].total.view;
  v.n_watched = 1;
  v.watched = &own;
  assert_int_equal(bn_valid_check_view(&h.as, &v, &err), 0);
  v.span = BN_VIEW_INTERVAL;
  assert_int_equal(bn_valid_check_view(&h.as, &v, &err), -1);
  assert_string_equal(err.text, "it sent a figure of --watch that is none");
  v.watched = &shared;
  assert_int_equal(bn_valid_check_view(&h.as, &v, &err), 0);
  end(&h);
}

/* Each value would take a hundred bytes. */
static void many_values_are_refused_unread(void **state)
{
  struct bn_buf text = {.max = 0};
  struct bn_err err = {0};
  struct bn_result out;
  struct host h;

  (void)state;
  begin(&h);
  assert_int_equal(bn_buf_char(&text, '['), 0);
  while (text.len < bn_valid_max_bytes(&h.as, false))
    assert_int_equal(bn_buf_str(&text, "[],"), 0);
  assert_int_equal(bn_buf_str(&text, "0]"), 0);
  assert_int_equal(bn_valid_read_result(&h.as, &text, false, &out, &err), -1);
  assert_non_null(strstr(err.text, "it has more than "));
  assert_int_equal(out.n_groups, 0);
  bn_buf_done(&text);
  end(&h);
}

/* Whatever others have that is taken too. */
static void counts_that_are_taken_can_be_summed(void **state)
{
  struct bn_err err = {0};
  struct bn_view *v;
  struct host h;

  (void)state;
  begin(&h);
  v = &h.result.group[0].total.view;
  h.result.group[0].total.delta.counter[BN_C_EVENTS] = bn_sum_largest_count(HOSTS);
  assert_int_equal(bn_valid_check_view(&h.as, v, &err), 0);
  h.result.group[0].total.delta.counter[BN_C_EVENTS]++;
  assert_int_equal(bn_valid_check_view(&h.as, v, &err), -1);
  assert_string_equal(err.text, "its figures are too large");
  h.result.group[0].total.delta.counter[BN_C_EVENTS] = BN_ABSENT;
  assert_int_equal(bn_valid_check_view(&h.as, v, &err), -1);
  assert_string_equal(err.text, "its figures lack a count");
  h.result.group[0].total.delta.counter[BN_C_EVENTS] = EVENTS;
  v->grace_s = HUGE_VAL;
  assert_int_equal(bn_valid_check_view(&h.as, v, &err), -1);
  end(&h);
}

BN_TESTS(validate)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_honest_result_is_taken),
                                     cmocka_unit_test(odd_results_are_refused),
                                     cmocka_unit_test(what_is_watched_on_a_host_is_of_its_total),
                                     cmocka_unit_test(many_values_are_refused_unread),
                                     cmocka_unit_test(counts_that_are_taken_can_be_summed)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
