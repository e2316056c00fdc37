/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reporters of a run on several hosts are told of its end when something is not read. */
#include "cm.h"

#include <string.h>

#include "api/policy.h"
#include "base/clock.h"
#include "hostresult.h"
#include "hosts/run_report.h"

static const uint64_t long_ns = 60 * BN_NSEC_PER_SEC;

/* What a reporter was told. */
struct heard {
  struct bn_end end;
  unsigned totals, ends;
};

struct fake {
  struct heard *heard;
};

static int fake_open(void *self, const void *conf, const char *path, FILE *out, struct bn_err *err)
{
  struct fake *r = self;

  (void)path;
  (void)out;
  (void)err;
  r->heard = (struct heard *)(uintptr_t)conf;
  return 0;
}

static int fake_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  const struct fake *r = self;

  (void)v;
  (void)err;
  r->heard->totals++;
  return 0;
}

static int fake_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  const struct fake *r = self;

  (void)err;
  r->heard->end = *end;
  r->heard->ends++;
  return 0;
}

static const struct bn_reporter fake = {.name = "fake",
                                        .state_size = sizeof(struct fake),
                                        .aside = true,
                                        .open = fake_open,
                                        .total = fake_total,
                                        .finish = fake_finish};

enum { REPORTERS = 2 };

struct scene {
  struct heard heard[REPORTERS];
  struct bn_report_use use[REPORTERS];
  struct bn_assert asserted;
  struct bn_conf conf;
  struct bn_hosts_setup setup;
  struct bn_group_list groups; /* none */
  struct bn_fleet fleet;
  struct bn_run_report report;
};

static const struct bn_policy policy = {.dialect = NULL};

static void begin(struct scene *s, bool is_run)
{
  struct bn_err err;

  memset(s, 0, sizeof *s);
  assert_int_equal(bn_assert_parse(&s->asserted, "events<1", &err), 0);
  s->conf.policy = &policy;
  for (size_t i = 0; i < REPORTERS; i++)
    s->use[i] = (struct bn_report_use){.ops = &fake, .conf = &s->heard[i]};
  s->setup = (struct bn_hosts_setup){.conf = &s->conf,
                                     .reporters = s->use,
                                     .n_reporters = REPORTERS,
                                     .asserts = &s->asserted,
                                     .n_asserts = 1};
  s->fleet.setup = &s->setup;
  s->fleet.groups = &s->groups;
  s->fleet.is_run = is_run;
  assert_true(bn_run_report_open(&s->report, &s->fleet));
  assert_int_equal(bn_printer_open(&s->fleet.printer, &err), 0);
}

static void end(struct scene *s)
{
  bn_run_report_end(&s->report);
  assert_true(bn_printer_wait(&s->fleet.printer, bn_clock_mono() + long_ns));
  bn_printer_close(&s->fleet.printer);
}

static void leave_out(struct scene *s)
{
  s->fleet.printer.dropped = true;
}

/* A file would lack intervals with nothing to show it. */
static void what_is_left_out_is_a_failure(void **state)
{
  struct scene s;

  (void)state;
  begin(&s, true);
  leave_out(&s);
  end(&s);
  for (size_t i = 0; i < REPORTERS; i++)
    assert_true(s.heard[i].ends == 1 && s.heard[i].end.failed && s.heard[i].end.status == 1);
  assert_int_equal(bn_run_report_get_status(&s.report), 1);
  bn_run_report_done(&s.report);
}

/* What a command printed. */
static void it_is_one_of_a_command(void **state)
{
  struct scene s;

  (void)state;
  begin(&s, false);
  end(&s);
  assert_int_equal(bn_run_report_get_status(&s.report), 0);
  bn_run_report_done(&s.report);
  begin(&s, false);
  leave_out(&s);
  end(&s);
  assert_int_equal(bn_run_report_get_status(&s.report), 1);
  bn_run_report_done(&s.report);
}

/* Makes a host that has ended as its result says, and whose agent has ended with the status. */
static void make_peer(struct bn_connection *p, const struct bn_end *ended, int status)
{
  /* The times of the result are not of today. */
  *p = (struct bn_connection){.name = "h",
                              .own_host = "h",
                              .work.threads = 1,
                              .state = BN_CONNECTION_ENDED,
                              .has_result = true,
                              .clock.error_ns = 1000 * SEC,
                              .status = status};
  make_result(&p->result, 100 * SEC, 0);
  p->result.end = *ended;
}

/* A script has left on the second host, and the others were told to stop. */
static void hosts_end_in_different_ways(void **state)
{
  static const struct bn_end late = {.reason = BN_END_TIMEOUT, .status = 2, .timeout = true},
                             failed = {.reason = BN_END_FAILURE, .status = 1, .failed = true},
                             stopped = {.reason = BN_END_SIGNAL, .status = 143, .signo = 15};
  static const struct {
    const struct bn_end *first;
    int agent; /* the status of its agent */
    int script, signo;
    enum bn_end_reason reason;
    int status;
  } rows[] = {
      {&late, 2, 7, 0, BN_END_TIMEOUT, 2},       {&late, 143, 0, 0, BN_END_TIMEOUT, 2},
      {&failed, 143, 0, 0, BN_END_SCRIPT, 1}, /* the order came behind its result */
      {&stopped, 143, 7, 0, BN_END_SCRIPT, 7},   {&stopped, 143, 0, 0, BN_END_SCRIPT, 0},
      {&stopped, 143, 7, 2, BN_END_SIGNAL, 130},
  };
  struct bn_optset *const options = bn_optset_new(&policy);

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bn_end left = {.reason = BN_END_SCRIPT, .status = rows[i].script, .left = true};
    struct bn_connection connection[2];
    struct scene s;

    begin(&s, true);
    make_peer(&connection[0], rows[i].first, rows[i].agent);
    make_peer(&connection[1], &left, rows[i].script);
    s.setup.options = options;
    s.fleet.connection = connection;
    s.fleet.n = 2;
    s.fleet.phase = BN_FLEET_RUN;
    s.fleet.stop = BN_FRAME_STOP_ORDER;
    s.fleet.script_exited = true;
    s.fleet.signo = rows[i].signo;
    s.fleet.start = (struct bn_merged_result_start){.mono_ns = 100 * SEC, .wall_ns = 1000 * SEC};
    end(&s);
    assert_int_equal(s.heard[0].end.reason, rows[i].reason);
    assert_int_equal(s.heard[0].end.status, rows[i].status);
    assert_int_equal(bn_run_report_get_status(&s.report), rows[i].status);
    bn_run_report_done(&s.report);
    for (size_t k = 0; k < 2; k++)
      bn_result_done(&connection[k].result);
  }
  bn_optset_free(options);
}

BN_TESTS(run_report)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_left_out_is_a_failure),
                                     cmocka_unit_test(it_is_one_of_a_command),
                                     cmocka_unit_test(hosts_end_in_different_ways)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
