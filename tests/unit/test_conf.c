/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what the general options become: defaults by dialect, limits, checks, percentiles, seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "dialect/dialect.h"
#include "option/conf.h"
#include "option/opt.h"
#include "option/optval.h"

static struct bn_conf conf;
static struct bn_optset *set;
static struct bn_optset_fault fault;

static void open_conf(const struct bn_policy *policy)
{
  struct bn_err err = {0};

  memset(&conf, 0, sizeof conf);
  memset(&fault, 0, sizeof fault);
  conf.policy = policy;
  set = bn_optset_new(policy);
  assert_non_null(set);
  assert_int_equal(bn_conf_add(&conf, set, &err), 0);
}

static void close_conf(void)
{
  bn_optset_free(set);
  set = NULL;
}

/* Options as "name=value" up to NULL; the result of bn_conf_finish. */
static int finish(const struct bn_policy *policy, const char *const *settings)
{
  struct bn_err err = {0};

  open_conf(policy);
  for (; *settings != NULL; settings++) {
    char name[64];
    const size_t len = strcspn(*settings, "=");

    (void)snprintf(name, sizeof name, "%.*s", (int)len, *settings);
    (void)bn_optset_set(set, name, (*settings)[len] == '=' ? *settings + len + 1 : NULL, *settings,
                        &err);
  }
  return bn_conf_finish(&conf, set, &fault);
}

#define FINISH(policy, ...) finish((policy), (const char *const[]){__VA_ARGS__, NULL})

static void refused(const struct bn_policy *policy, const char *setting, int kind, const char *text)
{
  assert_int_equal(FINISH(policy, setting), kind);
  assert_string_equal(fault.text, text);
  close_conf();
}

static void test_every_default_parses(void **state)
{
  static const struct bn_opt *const tables[] = {bn_conf_general_options, bn_conf_file_options,
                                                bn_conf_rand_options, bn_conf_log_options,
                                                bn_conf_latency_options};
  static const struct bn_policy *const forms[] = {&bn_policy_05, &bn_policy_10, &bn_policy_11,
                                                  &bn_policy_bench};

  (void)state;
  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
    for (const struct bn_opt *o = tables[t]; o->name != NULL; o++)
      for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        union bn_optval value;

        if (bn_optval_default(o, forms[i], &value) != 0)
          fail_msg("default of --%s", o->name);
        bn_optval_clear(o, &value);
        assert_non_null(o->help);
        assert_true(o->help[0] != '\0' && strchr(o->help, '\n') == NULL);
      }
}

static void test_defaults(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "rand-seed=1"), 0);
  assert_int_equal(conf.threads, 1);
  assert_int_equal(conf.events, 0);
  assert_true(conf.time_ns == 10 * BN_NSEC_PER_SEC);
  assert_true(conf.init_timeout_ns == 30 * BN_NSEC_PER_SEC);
  assert_int_equal(conf.interval_ns, 0);
  assert_int_equal(conf.n_checkpoints, 0);
  assert_false(conf.forced);
  assert_true(conf.grace_auto);
  assert_int_equal(conf.n_percents, 1);
  assert_true(conf.percents[0] > 94.9 && conf.percents[0] < 95.1);
  assert_int_equal(conf.dist.type, BN_DIST_UNIFORM);
  assert_int_equal(conf.raw.thread_stack_size, 65536);
  assert_int_equal(conf.raw.rate_max_backlog, 131072);
  assert_int_equal(conf.raw.verbosity, 3);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_10, "rand-seed=1"), 0);
  assert_int_equal(conf.dist.type, BN_DIST_SPECIAL);
  assert_true(conf.time_ns == 10 * BN_NSEC_PER_SEC);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_05, "rand-type=uniform"), 0);
  assert_int_equal(conf.events, 10000);
  assert_int_equal(conf.time_ns, 0);
  close_conf();
}

static void test_limits(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "threads=8", "events=5000000000", "time=0.25",
                          "warmup-time=1.5", "report-interval=0.5", "rate=100.5",
                          "rate-max-backlog=0", "debug"),
                   0);
  assert_int_equal(conf.threads, 8);
  assert_true(conf.events == 5000000000);
  assert_true(conf.time_ns == 250 * BN_NSEC_PER_MSEC);
  assert_true(conf.warmup_ns == 1500 * BN_NSEC_PER_MSEC);
  assert_true(conf.interval_ns == 500 * BN_NSEC_PER_MSEC);
  assert_int_equal(conf.interval_decimals, 1);
  assert_true(conf.rate_unlimited_backlog);
  assert_int_equal(conf.raw.verbosity, BN_DEBUG);
  close_conf();
}

static void test_interval_decimals(void **state)
{
  static const struct {
    const char *setting;
    int digits;
  } cases[] = {{"report-interval=2", 0},
               {"report-interval=0.25", 2},
               {"report-interval=1.1", 1},
               {"report-interval=125ms", 3}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(FINISH(&bn_policy_bench, cases[i].setting), 0);
    assert_int_equal(conf.interval_decimals, cases[i].digits);
    close_conf();
  }
}

static void test_forced_shutdown(void **state)
{
  static const struct {
    const char *setting;
    unsigned seconds;
  } cases[] = {{"forced-shutdown=", 2},
               {"forced-shutdown=10%", 4},
               {"forced-shutdown=7", 7},
               {"forced-shutdown=0", 0},
               {"forced-shutdown=4%", 1}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(FINISH(&bn_policy_bench, "time=40", cases[i].setting), 0);
    assert_true(conf.forced);
    assert_true(conf.forced_ns == cases[i].seconds * BN_NSEC_PER_SEC);
    close_conf();
  }
  assert_int_equal(FINISH(&bn_policy_bench, "time=0", "events=1", "forced-shutdown=nonsense"), 0);
  assert_false(conf.forced);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "time=40", "warmup-time=20", "forced-shutdown=10%"), 0);
  assert_true(conf.forced_ns == 6 * BN_NSEC_PER_SEC);
  close_conf();
}

static void test_checkpoints(void **state)
{
  char list[2048] = "report-checkpoints=1";

  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "report-checkpoints=30,5,,0,5"), 0);
  assert_int_equal(conf.n_checkpoints, 4);
  assert_true(conf.checkpoint_ns[0] == 0);
  assert_true(conf.checkpoint_ns[1] == 5 * BN_NSEC_PER_SEC);
  assert_true(conf.checkpoint_ns[3] == 30 * BN_NSEC_PER_SEC);
  close_conf();
  for (int i = 2; i <= 257; i++)
    (void)snprintf(list + strlen(list), sizeof list - strlen(list), ",%d", i);
  refused(&bn_policy_bench, list, BN_OPTSET_RANGE,
          "Too many checkpoints in --report-checkpoints (up to 256 can be defined)");
}

static void test_percentiles(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "percentile=99,50,99.9,50,95"), 0);
  assert_int_equal(conf.n_percents, 4);
  assert_true(conf.percents[0] > 98.9 && conf.percents[0] < 99.1);
  assert_true(conf.percents[1] < 50.1 && conf.percents[2] > 94.9 && conf.percents[3] > 99.8);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "percentile=0"), 0);
  assert_int_equal(conf.n_percents, 0);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "percentile="), 0);
  assert_int_equal(conf.n_percents, 0);
  close_conf();
}

static void test_refusals(void **state)
{
  (void)state;
  refused(&bn_policy_bench, "threads=0", BN_OPTSET_RANGE, "Invalid value for --threads: 0.\n\n");
  refused(&bn_policy_bench, "threads=-1", BN_OPTSET_RANGE, "Invalid value for --threads: -1.\n\n");
  refused(&bn_policy_bench, "threads=abc", BN_OPTSET_BAD,
          "Invalid value for the 'threads' option: 'abc'");
  refused(&bn_policy_bench, "events=-5", BN_OPTSET_RANGE, "Invalid value for --events: -5.\n\n");
  refused(&bn_policy_bench, "time=-1", BN_OPTSET_RANGE, "Invalid value for --time: -1.\n\n");
  refused(&bn_policy_bench, "rate=-1", BN_OPTSET_RANGE, "Invalid value for --rate: -1.\n\n");
  refused(&bn_policy_bench, "warmup-time=-1", BN_OPTSET_RANGE,
          "Invalid value for --warmup-time: -1.\n\n");
  refused(&bn_policy_bench, "report-interval=-1", BN_OPTSET_RANGE,
          "Invalid value for --report-interval: -1.\n\n");
  refused(&bn_policy_bench, "report-interval=0.0001", BN_OPTSET_RANGE,
          "Invalid value for --report-interval: 0.0001 (at least 0.001 s)");
  refused(&bn_policy_bench, "forced-shutdown=5x", BN_OPTSET_RANGE,
          "Invalid value for --forced-shutdown: '5x'");
  refused(&bn_policy_bench, "forced-shutdown=-1", BN_OPTSET_RANGE,
          "Invalid value for --forced-shutdown: '-1'");
  refused(&bn_policy_bench, "time-grace=soon", BN_OPTSET_RANGE,
          "Invalid value for --time-grace: 'soon'");
  refused(&bn_policy_bench, "thread-stack-size=64Q", BN_OPTSET_RANGE,
          "Invalid value for thread-stack-size: 64Q.\n\n");
  refused(&bn_policy_bench, "rand-type=foo", BN_OPTSET_RANGE,
          "Invalid random numbers distribution: foo.");
  refused(&bn_policy_bench, "rand-zipfian-exp=-0.5", BN_OPTSET_RANGE,
          "--rand-zipfian-exp must be >= 0");
  refused(&bn_policy_bench, "rand-pareto-h=1", BN_OPTSET_RANGE,
          "Invalid value for --rand-pareto-h: 1 (it lies between 0 and 1)");
  refused(&bn_policy_bench, "report-checkpoints=1,x", BN_OPTSET_RANGE,
          "Invalid value for --report-checkpoints: 'x'");
  refused(&bn_policy_bench, "verbosity=9", BN_OPTSET_RANGE, "Invalid value for verbosity: 9");
  refused(&bn_policy_bench, "percentile=101", BN_OPTSET_RANGE,
          "Invalid value for --percentile: 101");
  refused(&bn_policy_bench, "percentile=50,0", BN_OPTSET_RANGE,
          "Invalid value for --percentile: 0");
  refused(&bn_policy_bench, "percentile=abc", BN_OPTSET_BAD,
          "Invalid value for the 'percentile' option: 'abc'");
  refused(&bn_policy_05, "percentile=0", BN_OPTSET_RANGE, "Invalid value for percentile option: 0");
  assert_int_equal(FINISH(&bn_policy_bench, "histogram", "percentile=0"), BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--histogram cannot be used with --percentile=0");
  close_conf();
}

/* The order of the reference, whatever the order of the arguments. */
static void test_first_fault(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "verbosity=9", "rand-type=foo", "threads=0"),
                   BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "Invalid value for --threads: 0.\n\n");
  close_conf();
}

static void test_seeds(void **state)
{
  uint64_t first;

  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "rand-seed=42"), 0);
  assert_true(conf.seed_given && conf.seed == 42);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "rand-seed=0"), 0);
  assert_false(conf.seed_given);
  first = conf.seed;
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "rand-seed=0"), 0);
  assert_true(conf.seed != first);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_05, "rand-seed=0"), 0);
  assert_true(conf.seed == 0);
  close_conf();
}

/* A dialect asked for by name takes the numbers its sysbench took. */
static void test_numbers_of_dialects(void **state)
{
  static const char *const bad[] = {"time=5s", "time=1e0", "report-interval=0.5", "percentile=99.9",
                                    "percentile=50,95"};

  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(FINISH(&bn_policy_10, bad[i]), BN_OPTSET_BAD);
    close_conf();
  }
  assert_int_equal(FINISH(&bn_policy_10, "time=5", "percentile=50"), 0);
  assert_true(conf.time_ns == 5 * BN_NSEC_PER_SEC);
  assert_int_equal(conf.n_percents, 1);
  close_conf();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_default_parses),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_interval_decimals),
      cmocka_unit_test(test_forced_shutdown),
      cmocka_unit_test(test_checkpoints),
      cmocka_unit_test(test_percentiles),
      cmocka_unit_test(test_numbers_of_dialects),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_first_fault),
      cmocka_unit_test(test_seeds),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
