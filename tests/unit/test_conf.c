/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what the general options become: defaults by dialect, limits, checks, percentiles,
   seeds. */
#include "cm.h"

#include <string.h>

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
  assert_int_equal(bn_conf_add_options(&conf, set, &err), 0);
}

static void close_conf(void)
{
  bn_optset_free(set);
  bn_conf_done(&conf);
  set = NULL;
}

/* Options as "name=value" up to NULL; the result of bn_conf_finish. */
static int finish(const struct bn_policy *policy, const char *const *settings)
{
  open_conf(policy);
  for (; *settings != NULL; settings++) {
    char name[64];
    const size_t len = strcspn(*settings, "=");

    (void)snprintf(name, sizeof name, "%.*s", (int)len, *settings);
    (void)bn_optset_set(set, name, (*settings)[len] == '=' ? *settings + len + 1 : NULL, *settings);
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
  static const struct bn_policy *const forms[] = {&bn_policy_05, &bn_policy_10, &bn_policy_11,
                                                  &bn_policy_bench};
  const struct bn_opt *o;

  (void)state;
  open_conf(&bn_policy_bench);
  for (size_t n = 0; (o = bn_optset_get_at(set, n, NULL)) != NULL; n++)
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
      union bn_optval value;

      if (bn_optval_set_default(o, forms[i], &value) != 0)
        fail_msg("default of --%s", o->name);
      bn_optval_clear(o, &value);
      assert_non_null(o->help);
      assert_true(o->help[0] != '\0' && strchr(o->help, '\n') == NULL);
    }
  assert_non_null(bn_optset_get_at(set, 30, NULL));
  close_conf();
}

static void test_defaults(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "rand-seed=1"), 0);
  assert_int_equal(conf.plan.threads, 1);
  assert_int_equal(conf.plan.events, 0);
  assert_true(conf.plan.time_ns == 10 * BN_NSEC_PER_SEC);
  assert_true(conf.init_timeout_ns == 30 * BN_NSEC_PER_SEC);
  assert_int_equal(conf.plan.interval_ns, 0);
  assert_int_equal(conf.plan.n_checkpoints, 0);
  assert_false(conf.plan.forced);
  assert_true(conf.grace_auto);
  assert_int_equal(conf.plan.n_percents, 1);
  assert_true(conf.plan.percents[0] > 94.9 && conf.plan.percents[0] < 95.1);
  assert_int_equal(conf.dist.type, BN_DIST_UNIFORM);
  assert_int_equal(conf.raw.thread_stack_size, 65536);
  assert_int_equal(conf.raw.rate_max_backlog, 131072);
  assert_int_equal(conf.raw.verbosity, 3);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_10, "rand-seed=1"), 0);
  assert_int_equal(conf.dist.type, BN_DIST_SPECIAL);
  assert_true(conf.plan.time_ns == 10 * BN_NSEC_PER_SEC);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_05, "rand-type=uniform"), 0);
  assert_int_equal(conf.plan.events, 10000);
  assert_int_equal(conf.plan.time_ns, 0);
  close_conf();
}

static void test_limits(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "threads=8", "events=5000000000", "time=0.25",
                          "warmup-time=1.5", "report-interval=0.5", "rate=100.5",
                          "rate-max-backlog=0", "debug"),
                   0);
  assert_int_equal(conf.plan.threads, 8);
  assert_true(conf.plan.events == 5000000000);
  assert_true(conf.plan.time_ns == 250 * BN_NSEC_PER_MSEC);
  assert_true(conf.plan.warmup_ns == 1500 * BN_NSEC_PER_MSEC);
  assert_true(conf.plan.interval_ns == 500 * BN_NSEC_PER_MSEC);
  assert_int_equal(conf.plan.interval_decimals, 1);
  assert_int_equal(conf.raw.rate_max_backlog, 0);
  assert_int_equal(conf.raw.verbosity, BN_DEBUG);
  close_conf();
}

static void test_think_time(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "threads=8"), 0);
  assert_true(bn_delay_is_none(&conf.think));
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "think-time=exp:2s"), 0);
  assert_true(conf.think.low_ns == 2e9 && conf.think.high_ns == 20e9);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "think-time=exp:2s..60s"), 0);
  assert_true(conf.think.low_ns == 2e9 && conf.think.high_ns == 60e9);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "think-time=uniform:1ms..1s"), 0);
  assert_true(conf.think.low_ns == 1e6 && conf.think.high_ns == 1e9);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "think-time=1s", "think-time=0", "rate=5"), 0);
  assert_true(bn_delay_is_none(&conf.think));
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "think-time=1s", "rate=5"), BN_OPTSET_RANGE);
  assert_string_equal(fault.text,
                      "--think-time=1s: cannot be used with --rate: events that are due at a rate "
                      "do not wait for threads that pause");
  close_conf();
}

/* A profile gives the time, unless --time does, which cuts it or lets its last rate go on; the rate
   of the plan is the mean in that time.  The warm-up has the first rate. */
static void test_rate_profile(void **state)
{
  static const char profile[] = "rate-profile=hold:10/10s; ramp:10..30/10s";

  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, profile), 0);
  assert_int_equal(conf.plan.time_ns, 20 * BN_NSEC_PER_SEC);
  assert_true(conf.plan.rate == 15 && conf.raw.rate == 0);
  assert_int_equal(bn_conf_finish(&conf, set, &fault), 0);
  assert_true(conf.plan.rate == 15);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, profile, "time=10"), 0);
  assert_true(conf.plan.rate == 10 && conf.plan.time_ns == 10 * BN_NSEC_PER_SEC);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, profile, "time=40", "warmup-time=5", "rate=0"), 0);
  assert_true(conf.plan.rate == (100 + 200 + 600) / 40.0);
  assert_true(bn_rate_curve_mass(conf.profile.piece, conf.profile.n_pieces, 5) == 50);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, profile, "time=0", "events=5"), 0);
  assert_true(conf.plan.rate == 15 && conf.plan.time_ns == 0);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "rate-profile=hold:1/5s", "rate=5"), BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--rate-profile=hold:1/5s: cannot be used with --rate, which it "
                                  "replaces");
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "rate-profile=hold:1/5s", "think-time=5"),
                   BN_OPTSET_RANGE);
  assert_string_equal(
      fault.text, "--think-time=5: cannot be used with --rate-profile: events that are due at a "
                  "rate do not wait for threads that pause");
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "rate-profile=ramp:9..0/5s", "time=0", "events=5"),
                   BN_OPTSET_RANGE);
  assert_string_equal(fault.text,
                      "--rate-profile=ramp:9..0/5s: ends with the rate 0, so that a run "
                      "without a time limit never ends; leave out --time=0");
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "rate-profile=hold:0/5s; hold:1/1s", "time=4"),
                   BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--rate-profile=hold:0/5s; hold:1/1s: makes no event due in the "
                                  "time of the run");
  close_conf();
}

/* The wave is cut at 32 + 16 sin 60 degrees = 45.86 threads, of which 46 are active together. */
static void test_threads_profile(void **state)
{
  static const char profile[] = "threads-profile=sine:32+-16/1h for 10m";

  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, profile), 0);
  assert_int_equal(conf.plan.threads, 46);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, profile, "threads=46"), 0);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, profile, "threads=45"), BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--threads-profile=sine:32+-16/1h for 10m: has up to 46 active "
                                  "threads, more than --threads=45");
  close_conf();
}

/* Each thread has its events, and 10000 of all threads are the default of 0.5. */
static void test_events_of_each_session(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "threads=8", "events-per-session=600"), 0);
  assert_int_equal(conf.plan.events, 4800);
  assert_int_equal(conf.raw.events, 0);
  assert_true(conf.plan.time_ns == 10 * BN_NSEC_PER_SEC);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_05, "threads=2", "events-per-session=7"), 0);
  assert_int_equal(conf.plan.events, 14);
  assert_int_equal(conf.raw.events, 0);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "events=0", "events-per-session=7"), 0);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "events=9", "events-per-session=7"), BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--events-per-session=7: cannot be used with --events");
  close_conf();
  assert_int_equal(FINISH(&bn_policy_11, "events=9", "events-per-session=7"), BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--events-per-session cannot be used with --events");
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
    assert_int_equal(conf.plan.interval_decimals, cases[i].digits);
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
    assert_true(conf.plan.forced);
    assert_true(conf.plan.forced_ns == cases[i].seconds * BN_NSEC_PER_SEC);
    close_conf();
  }
  assert_int_equal(FINISH(&bn_policy_11, "time=0", "events=1", "forced-shutdown=nonsense"), 0);
  assert_false(conf.plan.forced);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "time=0", "events=1", "forced-shutdown=nonsense"),
                   BN_OPTSET_RANGE);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "time=0", "events=1", "forced-shutdown=OFF"), 0);
  assert_false(conf.plan.forced);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "time=100000", "forced-shutdown=2147483%"), 0);
  assert_true(conf.plan.forced_ns == UINT64_C(2147483000) * BN_NSEC_PER_SEC);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "time=100000", "forced-shutdown=999999999%"),
                   BN_OPTSET_RANGE);
  assert_string_equal(
      fault.text, "--forced-shutdown=999999999%: out of range; allowed: up to 2147483647 seconds");
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "time=40", "warmup-time=20", "forced-shutdown=10%"), 0);
  assert_true(conf.plan.forced_ns == 6 * BN_NSEC_PER_SEC);
  close_conf();
}

static void test_checkpoints(void **state)
{
  char list[2048] = "report-checkpoints=1";

  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "report-checkpoints=30,5,,0,5"), 0);
  assert_int_equal(conf.plan.n_checkpoints, 4);
  assert_true(conf.plan.checkpoint_ns[0] == 0);
  assert_true(conf.plan.checkpoint_ns[1] == 5 * BN_NSEC_PER_SEC);
  assert_true(conf.plan.checkpoint_ns[3] == 30 * BN_NSEC_PER_SEC);
  close_conf();
  for (int i = 2; i <= 257; i++)
    (void)snprintf(list + strlen(list), sizeof list - strlen(list), ",%d", i);
  refused(&bn_policy_bench, list, BN_OPTSET_RANGE,
          "--report-checkpoints=257: one too many; allowed: up to 256");
}

static void test_percentiles(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "percentile=99,50,99.9,50,95"), 0);
  assert_int_equal(conf.plan.n_percents, 4);
  assert_true(conf.plan.percents[0] > 98.9 && conf.plan.percents[0] < 99.1);
  assert_true(conf.plan.percents[1] < 50.1 && conf.plan.percents[2] > 94.9 &&
              conf.plan.percents[3] > 99.8);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "percentile=0"), 0);
  assert_int_equal(conf.plan.n_percents, 0);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "percentile="), 0);
  assert_int_equal(conf.plan.n_percents, 0);
  close_conf();
}

/* "--NAME=VALUE: what is wrong". */
static void test_own_refusals(void **state)
{
  static const struct {
    const char *setting, *what;
    int kind;
  } rows[] = {
      {"threads=0", "out of range; allowed: 1 to 1000000", BN_OPTSET_RANGE},
      {"threads=abc", "not a whole number; allowed: 1 to 1000000", BN_OPTSET_BAD},
      {"events=-5", "out of range; allowed: 0 or more", BN_OPTSET_RANGE},
      {"time=-1", "out of range; allowed: 0 or more seconds, also with ms, s, m or h",
       BN_OPTSET_RANGE},
      {"rate=-1", "out of range; allowed: 0 or more", BN_OPTSET_RANGE},
      {"report-interval=-1", "out of range; allowed: 0 or more seconds, also with ms, s, m or h",
       BN_OPTSET_RANGE},
      {"report-interval=0.0001", "out of range; allowed: 0, or 0.001 or more seconds",
       BN_OPTSET_RANGE},
      {"forced-shutdown=5x", "not a time; allowed: whole seconds, N%, off", BN_OPTSET_RANGE},
      {"time-grace=soon",
       "not a time; allowed: 0 or more seconds, also with ms, s, m or h, or auto", BN_OPTSET_RANGE},
      {"thread-stack-size=64Q", "not a size; allowed: 1 or more bytes, also with K, M, G or T",
       BN_OPTSET_RANGE},
      {"thread-stack-size=0", "out of range; allowed: 1 or more bytes, also with K, M, G or T",
       BN_OPTSET_RANGE},
      {"rand-type=foo", "unknown; allowed: uniform, gaussian, special, pareto, zipfian",
       BN_OPTSET_RANGE},
      {"rand-seed=x", "not a whole number; allowed: a whole number", BN_OPTSET_BAD},
      {"rand-zipfian-exp=-0.5", "out of range; allowed: 0 to 1000", BN_OPTSET_RANGE},
      {"rand-pareto-h=1", "out of range; allowed: more than 0, less than 1", BN_OPTSET_RANGE},
      {"verbosity=9", "out of range; allowed: 0 to 5", BN_OPTSET_RANGE},
      {"percentile=101", "out of range; allowed: more than 0, at most 100, or 0 alone for none",
       BN_OPTSET_RANGE},
      {"percentile=abc", "not a number; allowed: more than 0, at most 100, or 0 alone for none",
       BN_OPTSET_BAD},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[200];

    (void)snprintf(text, sizeof text, "--%s: %s", rows[i].setting, rows[i].what);
    refused(&bn_policy_bench, rows[i].setting, rows[i].kind, text);
  }
  refused(&bn_policy_bench, "threads", BN_OPTSET_BAD, "--threads: no value; allowed: 1 to 1000000");
  refused(&bn_policy_bench, "time", BN_OPTSET_BAD,
          "--time: no value; allowed: 0 or more seconds, also with ms, s, m or h");
  refused(&bn_policy_bench, "percentile=50,0", BN_OPTSET_RANGE,
          "--percentile=0: out of range; allowed: more than 0, at most 100, or 0 alone for none");
  refused(&bn_policy_bench, "report-checkpoints=1,x", BN_OPTSET_RANGE,
          "--report-checkpoints=x: not a whole number of seconds; allowed: 0 or more");
  assert_int_equal(FINISH(&bn_policy_bench, "histogram", "percentile=0"), BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--percentile=0: cannot be used with --histogram");
  close_conf();
}

/* In the words of the version. */
static void test_refusals_of_dialects(void **state)
{
  (void)state;
  refused(&bn_policy_11, "threads=0", BN_OPTSET_RANGE, "Invalid value for --threads: 0.\n\n");
  refused(&bn_policy_10, "threads=-1", BN_OPTSET_RANGE, "Invalid value for --threads: -1.\n\n");
  refused(&bn_policy_11, "threads=abc", BN_OPTSET_BAD,
          "Invalid value for the 'threads' option: 'abc'");
  refused(&bn_policy_11, "events=-5", BN_OPTSET_RANGE, "Invalid value for --events: -5.\n\n");
  refused(&bn_policy_11, "forced-shutdown=-1", BN_OPTSET_RANGE,
          "Invalid value for --forced-shutdown: '-1'");
  refused(&bn_policy_11, "time-grace=soon", BN_OPTSET_RANGE,
          "Invalid value for --time-grace: 'soon'");
  refused(&bn_policy_11, "thread-stack-size=64Q", BN_OPTSET_RANGE,
          "Invalid value for thread-stack-size: 64Q.\n\n");
  refused(&bn_policy_11, "rand-type=foo", BN_OPTSET_RANGE,
          "Invalid random numbers distribution: foo.");
  refused(&bn_policy_11, "report-checkpoints=1,x", BN_OPTSET_RANGE,
          "Invalid value for --report-checkpoints: 'x'");
  refused(&bn_policy_11, "verbosity=9", BN_OPTSET_RANGE, "Invalid value for verbosity: 9");
  refused(&bn_policy_11, "percentile=101", BN_OPTSET_RANGE, "Invalid value for --percentile: 101");
  refused(&bn_policy_11, "percentile=abc", BN_OPTSET_BAD,
          "Invalid value for the 'percentile' option: 'abc'");
  refused(&bn_policy_05, "percentile=0", BN_OPTSET_RANGE, "Invalid value for percentile option: 0");
}

/* The order of the reference, whatever the order of the arguments. */
static void test_first_fault(void **state)
{
  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "verbosity=9", "rand-type=foo", "threads=0"),
                   BN_OPTSET_RANGE);
  assert_string_equal(fault.text, "--threads=0: out of range; allowed: 1 to 1000000");
  close_conf();
}

static void test_seeds(void **state)
{
  uint64_t first;

  (void)state;
  assert_int_equal(FINISH(&bn_policy_bench, "rand-seed=42"), 0);
  assert_true(conf.plan.seed_given && conf.seed == 42);
  close_conf();
  assert_int_equal(FINISH(&bn_policy_bench, "rand-seed=0"), 0);
  assert_false(conf.plan.seed_given);
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
  assert_true(conf.plan.time_ns == 5 * BN_NSEC_PER_SEC);
  assert_int_equal(conf.plan.n_percents, 1);
  close_conf();
}

BN_TESTS(conf)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_default_parses),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_think_time),
      cmocka_unit_test(test_rate_profile),
      cmocka_unit_test(test_threads_profile),
      cmocka_unit_test(test_events_of_each_session),
      cmocka_unit_test(test_interval_decimals),
      cmocka_unit_test(test_forced_shutdown),
      cmocka_unit_test(test_checkpoints),
      cmocka_unit_test(test_percentiles),
      cmocka_unit_test(test_numbers_of_dialects),
      cmocka_unit_test(test_own_refusals),
      cmocka_unit_test(test_refusals_of_dialects),
      cmocka_unit_test(test_first_fault),
      cmocka_unit_test(test_seeds),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
