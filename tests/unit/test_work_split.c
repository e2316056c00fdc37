/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of hosts, and what is divided among them adds up exactly. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "hosts/work_split.h"

static void lists(const struct bn_work_split_list *list, const char *want)
{
  char got[256] = "";

  for (size_t i = 0; i < list->n; i++) {
    const size_t len = strlen(got);

    snprintf(got + len, sizeof got - len, "%s%s/%u", i > 0 ? " " : "", list->host[i].name,
             list->host[i].threads);
  }
  assert_string_equal(got, want);
}

static void a_list_has_names_and_threads(void **state)
{
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"a", "a/0"},
      {"a,b:8,c", "a/0 b/8 c/0"},
      {" a , b:8\n", "a/0 b/8"},
      {"me@a.example:1000000", "me@a.example/1000000"},
      {"[::1],[fe80::1%eth0]:4", "::1/0 fe80::1%eth0/4"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct bn_work_split_list list = {.n = 0};
    struct bn_err err = {0};

    if (bn_work_split_add(&list, cases[i].text, &err) != 0)
      fail_msg("%s: %s", cases[i].text, err.text);
    lists(&list, cases[i].want);
    bn_work_split_done(&list);
  }
}

static void a_bad_entry_is_named(void **state)
{
  static const char shell[] =
      "the name of a host must not have blanks, quotes or other characters of a shell";
  static const char threads[] = "the number of threads after ':' must be 1 to 1000000";
  static const struct {
    const char *text, *entry, *fault;
  } cases[] = {
      {"", "", "the name of a host is empty"},
      {"a,,b", "", "the name of a host is empty"},
      {"a,", "", "the name of a host is empty"},
      {":8", ":8", "the name of a host is empty"},
      {"a,-oProxyCommand=x", "-oProxyCommand=x", "the name of a host must not begin with '-'"},
      {"a b", "a b", shell},
      {"a;b", "a;b", shell},
      {"a\033", "a\\x1b", shell},
      {"a:0", "a:0", threads},
      {"a:", "a:", threads},
      {"a:+8", "a:+8", threads},
      {"a:1000001", "a:1000001", threads},
      {"a:8x", "a:8x", threads},
      {"a,b,a:9", "a:9", "the host is listed twice"},
      {"::1", "::1", "an IPv6 address must be in brackets, as in [::1]:8"},
      {"[::1", "[::1", "an address in brackets must end with ']' or ']:threads'"},
      {"[::1]8", "[::1]8", "an address in brackets must end with ']' or ']:threads'"},
      {"[]", "[]", "the name of a host is empty"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct bn_work_split_list list = {.n = 0};
    struct bn_err err = {0};
    char want[256];

    snprintf(want, sizeof want, "--hosts: '%s': %s", cases[i].entry, cases[i].fault);
    assert_int_equal(bn_work_split_add(&list, cases[i].text, &err), -1);
    assert_string_equal(err.text, want);
    bn_work_split_done(&list);
  }
}

static void a_file_has_lines_and_comments(void **state)
{
  struct bn_work_split_list list = {.n = 0};
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(
      bn_work_split_add_file(&list, "# clients\na  b:8 # two\r\n\n[::1]:4,c\nd", "hosts.txt", &err),
      0);
  lists(&list, "a/0 b/8 ::1/4 c/0 d/0");
  assert_int_equal(bn_work_split_add_file(&list, "e\nd", "more.txt", &err), -1);
  assert_string_equal(err.text, "--hosts-file: 'd' in 'more.txt': the host is listed twice");
  assert_int_equal(bn_work_split_add_file(&list, "# none\n", "none.txt", &err), -1);
  assert_string_equal(err.text, "--hosts-file: 'none.txt' names no host");
  bn_work_split_done(&list);
}

static void there_are_256_hosts_at_most(void **state)
{
  struct bn_work_split_list list = {.n = 0};
  struct bn_err err = {0};
  char name[16];

  (void)state;
  for (unsigned i = 0; i < 256; i++) {
    snprintf(name, sizeof name, "h%u", i);
    assert_int_equal(bn_work_split_add(&list, name, &err), 0);
  }
  assert_int_equal(bn_work_split_add(&list, "one", &err), -1);
  assert_string_equal(err.text, "--hosts: 'one': there are more than 256 hosts");
  assert_int_equal(list.n, 256);
  bn_work_split_done(&list);
}

/* Checks the work of each host, which is written as "threads@first+events". */
static void divides(const char *hosts, struct bn_work_split_total whole, const char *want)
{
  struct bn_work_split_list list = {.n = 0};
  struct bn_work_split out[8];
  struct bn_err err = {0};
  uint64_t sessions = 0;
  char got[256] = "";

  assert_int_equal(bn_work_split_add(&list, hosts, &err), 0);
  if (bn_work_split_divide(&list, &whole, out, &sessions, &err) != 0) {
    assert_string_equal(err.text, want);
    bn_work_split_done(&list);
    return;
  }
  for (size_t i = 0; i < list.n; i++) {
    const size_t len = strlen(got);

    snprintf(got + len, sizeof got - len, "%s%u@%llu+%llu", i > 0 ? " " : "", out[i].threads,
             (unsigned long long)out[i].first_session, (unsigned long long)out[i].events);
  }
  assert_string_equal(got, want);
  assert_int_equal(sessions, out[list.n - 1].first_session + out[list.n - 1].threads);
  bn_work_split_done(&list);
}

static void threads_and_events_are_divided(void **state)
{
  (void)state;
  divides("a,b", (struct bn_work_split_total){.threads = 2}, "2@0+0 2@2+0");
  divides("a,b:8,c", (struct bn_work_split_total){.threads = 2, .events = 12},
          "2@0+2 8@2+8 2@10+2");
  divides("a,b,c", (struct bn_work_split_total){.threads = 1, .events = 10}, "1@0+3 1@1+3 1@2+4");
  divides("a,b,c", (struct bn_work_split_total){.threads = 9, .threads_total = 32},
          "11@0+0 11@11+0 10@22+0");
  divides("a,b:8,c", (struct bn_work_split_total){.threads_total = 11}, "2@0+0 8@2+0 1@10+0");
  divides("a:1,b:2", (struct bn_work_split_total){.threads_total = 3}, "1@0+0 2@1+0");
  divides("a,b:8,c", (struct bn_work_split_total){.threads = 2, .events_per_session = 600},
          "2@0+1200 8@2+4800 2@10+1200");
  divides("a:97,b:1,c:1,d:1", (struct bn_work_split_total){.events = 5},
          "97@0+2 1@97+1 1@98+1 1@99+1");
}

static void a_host_without_work_is_refused(void **state)
{
  (void)state;
  divides("a,b,c", (struct bn_work_split_total){.threads = 1, .threads_total = 2},
          "--threads-total=2: there are 3 hosts, and each needs at least 1");
  divides(
      "a:8,b", (struct bn_work_split_total){.threads = 1, .threads_total = 8},
      "--threads-total=8: cannot be divided; threads in the list: 8, hosts without a number: 1");
  divides(
      "a:8,b:1", (struct bn_work_split_total){.threads = 1, .threads_total = 10},
      "--threads-total=10: cannot be divided; threads in the list: 9, hosts without a number: 0");
  divides("a", (struct bn_work_split_total){.threads = 1, .threads_total = 1000001},
          "--threads-total=1000001: a host has at most 1000000 threads");
  divides("a,b,c", (struct bn_work_split_total){.threads = 1, .events = 2},
          "--events=2: there are 3 hosts, and each needs at least 1");
}

static void a_rate_of_a_dialect_stays_whole(void **state)
{
  struct bn_work_split_list list = {.n = 0};
  struct bn_work_split_total whole = {.threads = 1, .rate = 101, .integer_rate = true};
  struct bn_work_split out[3];
  struct bn_err err = {0};
  uint64_t sessions;

  (void)state;
  assert_int_equal(bn_work_split_add(&list, "a,b:2,c", &err), 0);
  assert_int_equal(bn_work_split_divide(&list, &whole, out, &sessions, &err), 0);
  assert_true(out[0].rate == 25 && out[1].rate == 50 && out[2].rate == 26);
  whole.integer_rate = false;
  assert_int_equal(bn_work_split_divide(&list, &whole, out, &sessions, &err), 0);
  assert_true(out[0].rate == 25.25 && out[1].rate == 50.5);
  whole = (struct bn_work_split_total){.threads = 1, .rate = 2, .integer_rate = true};
  assert_int_equal(bn_work_split_divide(&list, &whole, out, &sessions, &err), -1);
  assert_string_equal(err.text, "--rate=2: there are 3 hosts, and each needs at least 1");
  bn_work_split_done(&list);
}

/* 2,000 random runs: the parts add up, and no part is more than one event off. */
static void parts_add_up(void **state)
{
  struct bn_rng rng;

  (void)state;
  bn_rng_seed(&rng, 1, BN_RNG_WORKLOAD, 0);
  for (unsigned round = 0; round < 2000; round++) {
    const size_t n = 1 + bn_rng_next(&rng) % 256;
    struct bn_work_split_host host[256];
    const struct bn_work_split_list list = {host, n};
    struct bn_work_split out[256];
    struct bn_work_split_total whole = {.threads = 1 + (unsigned)(bn_rng_next(&rng) % 100)};
    uint64_t sessions, events = 0, threads = 0;
    double rate = 0;

    whole.events = bn_rng_next(&rng) >> (bn_rng_next(&rng) % 40);
    whole.rate = (double)(bn_rng_next(&rng) % 1000000) / 7;
    for (size_t i = 0; i < n; i++)
      host[i].threads = bn_rng_next(&rng) % 4 == 0 ? (unsigned)(bn_rng_next(&rng) % 1000) : 0;
    assert_int_equal(bn_work_split_divide(&list, &whole, out, &sessions, NULL), 0);
    for (size_t i = 0; i < n; i++) {
      const long double part = (long double)whole.events * out[i].threads / (long double)sessions;

      assert_true(out[i].first_session == threads);
      assert_true(fabsl((long double)out[i].events - part) <= 1 + part * 1e-18L);
      threads += out[i].threads;
      events += out[i].events;
      rate += out[i].rate;
    }
    assert_true(threads == sessions && events == whole.events);
    assert_true(fabs(rate - whole.rate) <= 1e-12 * whole.rate);
  }
}

BN_TESTS(work_split)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_list_has_names_and_threads),
      cmocka_unit_test(a_bad_entry_is_named),
      cmocka_unit_test(a_file_has_lines_and_comments),
      cmocka_unit_test(there_are_256_hosts_at_most),
      cmocka_unit_test(threads_and_events_are_divided),
      cmocka_unit_test(a_host_without_work_is_refused),
      cmocka_unit_test(a_rate_of_a_dialect_stays_whole),
      cmocka_unit_test(parts_add_up),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
