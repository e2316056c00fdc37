/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is watched, on recorded texts of /proc: the counts, and the figures of two readings. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/metric.h"
#include "measure/view.h"
#include "measure/watch.h"
#include "watch/proc.h"

static const char stat_text[] = "cpu  1000 200 300 4000 50 6 7 8 90 10\n"
                                "cpu0 500 100 150 2000 25 3 3 4 45 5\n"
                                "intr 123456 0 9 0\n"
                                "ctxt 7890\n"
                                "btime 1700000000\n"
                                "processes 4321\n"
                                "procs_running 3\n"
                                "procs_blocked 1\n"
                                "softirq 99 1 2\n";

static void forget(uint64_t value[BN_HOST_COUNTS])
{
  for (size_t i = 0; i < BN_HOST_COUNTS; i++)
    value[i] = BN_ABSENT;
}

static void counts_of_processors(void **state)
{
  uint64_t v[BN_HOST_COUNTS];

  (void)state;
  forget(v);
  bn_proc_parse_stat(stat_text, v);
  assert_int_equal(v[BN_HOST_USER], 1000);
  assert_int_equal(v[BN_HOST_NICE], 200);
  assert_int_equal(v[BN_HOST_SYSTEM], 300);
  assert_int_equal(v[BN_HOST_IDLE], 4000);
  assert_int_equal(v[BN_HOST_IOWAIT], 50);
  assert_int_equal(v[BN_HOST_IRQ], 6);
  assert_int_equal(v[BN_HOST_SOFTIRQ], 7);
  assert_int_equal(v[BN_HOST_STEAL], 8);
  assert_int_equal(v[BN_HOST_INTERRUPTS], 123456);
  assert_int_equal(v[BN_HOST_SWITCHES], 7890);
  assert_int_equal(v[BN_HOST_FORKS], 4321);
  assert_int_equal(v[BN_HOST_RUNNING], 3);
  assert_int_equal(v[BN_HOST_BLOCKED], 1);
  assert_true(v[BN_HOST_AVAILABLE] == BN_ABSENT);
}

static void counts_of_memory(void **state)
{
  uint64_t v[BN_HOST_COUNTS];

  (void)state;
  forget(v);
  bn_proc_parse_meminfo(
      "MemTotal:       1000 kB\nMemAvailable:    600 kB\nCached:          200 kB\n"
      "SwapCached:        5 kB\nSwapTotal:       100 kB\nSwapFree:         40 kB\n"
      "Dirty:             8 kB\nWriteback:         2 kB\nWritebackTmp:      7 kB\n",
      v);
  assert_int_equal(v[BN_HOST_AVAILABLE], 600 * 1024);
  assert_int_equal(v[BN_HOST_CACHED], 200 * 1024);
  assert_int_equal(v[BN_HOST_DIRTY], 8 * 1024);
  assert_int_equal(v[BN_HOST_WRITEBACK], 2 * 1024);
  assert_int_equal(v[BN_HOST_SWAP_USED], 60 * 1024);
}

static void counts_of_the_network(void **state)
{
  uint64_t v[BN_HOST_COUNTS];

  (void)state;
  forget(v);
  bn_proc_parse_net(
      "Inter-|   Receive                 |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes packets\n"
      "    lo:     500 5 0 0 0 0 0 0      500 5 0 0 0 0 0 0\n"
      "  eth0:1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0\n"
      " wlan0: 1 1 0 0 0 0 0 0 2 2 0 0 0 0 0 0\n",
      v);
  assert_int_equal(v[BN_HOST_RECEIVED], 1001);
  assert_int_equal(v[BN_HOST_RECEIVED_PACKETS], 11);
  assert_int_equal(v[BN_HOST_SENT], 2002);
  assert_int_equal(v[BN_HOST_SENT_PACKETS], 22);
  assert_int_equal(v[BN_HOST_LOOPBACK], 500);
}

/* Nothing is known of what is cut short or no number, and nothing is read behind the end. */
static void odd_texts(void **state)
{
  static const char *const texts[] = {"",
                                      "\n\n",
                                      "cpu ",
                                      "cpu  1 2 3",
                                      "cpu  -1 2 3 4 5 6 7 8",
                                      "cpu  a b c d e f g h",
                                      "ctxt",
                                      "ctxt x",
                                      "MemAvailable:",
                                      "MemAvailable: much",
                                      "SwapTotal: 1 kB\nSwapFree: 2 kB\n",
                                      "eth0: 1 2 3",
                                      "eth0:",
                                      ":",
                                      "a\n: 1"};
  uint64_t v[BN_HOST_COUNTS];

  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char *exact = strdup(texts[i]); /* what is behind it is not ours, as the sanitizers see */

    assert_non_null(exact);
    forget(v);
    bn_proc_parse_stat(exact, v);
    bn_proc_parse_meminfo(exact, v);
    bn_proc_parse_net(exact, v);
    for (size_t k = 0; k < BN_HOST_COUNTS; k++)
      assert_true(v[k] == BN_ABSENT);
    free(exact);
  }
}

static double figure(const struct bn_watched *w, const char *name)
{
  for (size_t i = 0; i < w->n; i++)
    if (strcmp(w->figure[i].name, name) == 0)
      return w->figure[i].value;
  fail_msg("no figure '%s'", name);
  return 0;
}

static bool has(const struct bn_watched *w, const char *name)
{
  for (size_t i = 0; i < w->n; i++)
    if (strcmp(w->figure[i].name, name) == 0)
      return true;
  return false;
}

static void same(double is, double should)
{
  if (is - should > 1e-9 || should - is > 1e-9)
    fail_msg("%.12g instead of %.12g", is, should);
}

static const uint64_t second = 1000000000;

static void figures_of_the_host(void **state)
{
  struct bn_reading from = {.at_ns = second}, to = {.at_ns = 3 * second};
  struct bn_watched w = {.n = 0};

  (void)state;
  forget(from.value);
  bn_proc_parse_stat(stat_text, from.value);
  to = (struct bn_reading){.at_ns = 3 * second};
  memcpy(to.value, from.value, sizeof to.value);
  to.value[BN_HOST_USER] += 100;
  to.value[BN_HOST_SYSTEM] += 60;
  to.value[BN_HOST_IDLE] += 40;
  to.value[BN_HOST_IOWAIT] -= 5; /* the kernel may take it back */
  to.value[BN_HOST_SWITCHES] += 500;
  to.value[BN_HOST_RUNNING] = 7;
  bn_watched_add_host(&from, &to, &w);
  same(figure(&w, "host_user_percent"), 50);
  same(figure(&w, "host_system_percent"), 30);
  same(figure(&w, "host_idle_percent"), 20);
  same(figure(&w, "host_iowait_percent"), 0);
  same(figure(&w, "host_context_switches_per_s"), 250);
  same(figure(&w, "host_processes_running"), 7);
  assert_false(has(&w, "host_memory_available_bytes"));
  assert_false(has(&w, "host_network_sent_bytes_per_s"));
}

/* Numbers that iostat -x would print of the same rows. */
static void figures_of_a_device(void **state)
{
  struct bn_reading from = {.at_ns = second}, to = {.at_ns = 3 * second};
  struct bn_watched w = {.n = 0};

  (void)state;
  assert_true(bn_diskrow_parse(
      "8 0 sda 100 10 8000 50 200 20 16000 4294967290 0 300 400 1 0 8 2 5 5", 8, 0, from.value));
  assert_true(bn_diskrow_parse("8 0 sda 140 16 9600 70 300 50 24000 194 3 1300 3400 1 0 8 2 15 25",
                               8, 0, to.value));
  bn_diskrow_widen(to.value, from.value);
  bn_watched_add_device(&from, &to, &w);
  same(figure(&w, "device_reads_per_s"), 20);
  same(figure(&w, "device_read_bytes_per_s"), 1600 * 512 / 2.0);
  same(figure(&w, "device_reads_merged_per_s"), 3);
  same(figure(&w, "device_read_await_ms"), 0.5);
  same(figure(&w, "device_read_size_bytes"), 1600 * 512 / 40.0);
  same(figure(&w, "device_writes_per_s"), 50);
  same(figure(&w, "device_written_bytes_per_s"), 8000 * 512 / 2.0);
  same(figure(&w, "device_writes_merged_per_s"), 15);
  same(figure(&w, "device_write_await_ms"), 2); /* 200 ms, around the end of 32 bits */
  same(figure(&w, "device_discards_per_s"), 0);
  assert_false(has(&w, "device_discard_await_ms") || has(&w, "device_discard_size_bytes"));
  same(figure(&w, "device_flushes_per_s"), 5);
  same(figure(&w, "device_flush_await_ms"), 2);
  same(figure(&w, "device_queue_length"), 1.5);
  same(figure(&w, "device_utilization_percent"), 50);
}

/* Each row has 3,000,000 s of requests in flight more than the one before, which 32 bits can hold;
   the whole run has twice as many, which they cannot. */
static void times_of_a_long_run_are_whole(void **state)
{
  struct bn_reading from = {.at_ns = second}, middle, to = {.at_ns = 6001 * second};
  struct bn_watched w = {.n = 0};

  (void)state;
  assert_true(bn_diskrow_parse("8 0 sda 1 0 8 7 1 0 8 0 0 0 5", 8, 0, from.value));
  assert_true(bn_diskrow_parse("8 0 sda 1 0 8 7 1 0 8 0 0 0 3000000005", 8, 0, middle.value));
  assert_true(bn_diskrow_parse("8 0 sda 1 0 8 7 1 0 8 0 0 0 1705032709", 8, 0, to.value));
  bn_diskrow_widen(middle.value, from.value);
  bn_diskrow_widen(to.value, middle.value);
  bn_watched_add_device(&from, &to, &w);
  same(figure(&w, "device_queue_length"), 1000);
}

static void old_rows_have_fewer_figures(void **state)
{
  struct bn_reading from = {.at_ns = second}, to = {.at_ns = 2 * second};
  struct bn_watched w = {.n = 0};

  (void)state;
  assert_true(bn_diskrow_parse("8 0 sda 1 0 8 0 1 0 8 0 0 0 0", 8, 0, from.value));
  assert_true(bn_diskrow_parse("8 0 sda 2 0 16 0 1 0 8 0 0 0 0", 8, 0, to.value));
  bn_watched_add_device(&from, &to, &w);
  same(figure(&w, "device_reads_per_s"), 1);
  assert_false(has(&w, "device_discards_per_s"));
  assert_false(has(&w, "device_flushes_per_s"));
}

static char per_s[] = "server_a_per_s", per_transaction[] = "server_a_per_transaction",
            state_name[] = "server_b";

static void figures_of_a_server(void **state)
{
  static const struct bn_watched_name names[BN_READING_MAX] = {
      {.rate = per_s, .part = per_transaction},
      {.state = state_name},
      {.rate = per_s},
      {.rate = per_s}};
  const struct bn_view v = {.transactions = 41, .in_grace = 1};
  struct bn_reading from = {.at_ns = second}, to = {.at_ns = 3 * second};
  struct bn_watched w = {.n = 0};

  (void)state;
  for (size_t i = 0; i < BN_READING_MAX; i++)
    from.value[i] = to.value[i] = BN_ABSENT;
  from.value[0] = 10;
  to.value[0] = 90;
  from.value[1] = 8;
  to.value[1] = 3;
  from.value[2] = to.value[2] = 7; /* has not changed */
  to.value[3] = 5;                 /* was not there */
  bn_watched_add_server(names, &from, &to, &v, &w);
  assert_int_equal(w.n, 3);
  same(figure(&w, "server_a_per_s"), 40);
  same(figure(&w, "server_a_per_transaction"), 2);
  same(figure(&w, "server_b"), 3);
}

/* All hosts together have made four times as many transactions. */
static void what_hosts_share_is_of_all(void **state)
{
  const struct bn_watched_figure figures[] = {{"host_user_percent", 90},
                                              {"server_a_per_s", 40},
                                              {"server_a_per_transaction", 8},
                                              {"server_b", 3},
                                              {"device_queue_length", 2}};
  const struct bn_view one = {.transactions = 11,
                              .in_grace = 1,
                              .watched = figures,
                              .n_watched = 5},
                       all = {.transactions = 42, .in_grace = 2}, none = {.transactions = 0};
  struct bn_watched w;

  (void)state;
  bn_watched_pick(&one, false, &w);
  assert_int_equal(w.n, 2);
  same(figure(&w, "host_user_percent"), 90);
  same(figure(&w, "device_queue_length"), 2);
  bn_watched_sum(&one, &all, &w);
  assert_int_equal(w.n, 3);
  same(figure(&w, "server_a_per_s"), 40);
  same(figure(&w, "server_a_per_transaction"), 2);
  same(figure(&w, "server_b"), 3);
  bn_watched_sum(&one, &none, &w);
  same(figure(&w, "server_a_per_transaction"), 0);
}

static void figures_have_known_names_and_are_numbers(void **state)
{
  static const struct {
    struct bn_watched_figure figure;
    bool valid;
  } cases[] = {{{"host_user_percent", 0}, true},         {{"device_queue_length", 1e9}, true},
               {{"server_wal_x-y.z_per_s", -1}, true},   {{"hosts_user_percent", 1}, false},
               {{"host_user\x1b[2J", 1}, false},         {{"", 1}, false},
               {{"host_user_percent", HUGE_VAL}, false}, {{"host_user_percent", NAN}, false}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(bn_watched_is_valid(&cases[i].figure), cases[i].valid);
}

static void copies_have_names_of_their_own(void **state)
{
  char name[] = "host_user_percent";
  const struct bn_watched_figure two[] = {{name, 1.5}, {"b", 2}};
  struct bn_watched_figure *copy = bn_watched_copy(two, 2);

  (void)state;
  name[0] = 'x';
  assert_non_null(copy);
  assert_string_equal(copy[0].name, "host_user_percent");
  assert_string_equal(copy[1].name, "b");
  same(copy[1].value, 2);
  free(copy);
}

BN_TESTS(watch)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_of_processors),
      cmocka_unit_test(counts_of_memory),
      cmocka_unit_test(counts_of_the_network),
      cmocka_unit_test(odd_texts),
      cmocka_unit_test(figures_of_the_host),
      cmocka_unit_test(figures_of_a_device),
      cmocka_unit_test(times_of_a_long_run_are_whole),
      cmocka_unit_test(old_rows_have_fewer_figures),
      cmocka_unit_test(figures_of_a_server),
      cmocka_unit_test(what_hosts_share_is_of_all),
      cmocka_unit_test(figures_have_known_names_and_are_numbers),
      cmocka_unit_test(copies_have_names_of_their_own),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
