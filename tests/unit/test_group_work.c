/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of a group on several hosts: its options beat those outside of the groups, also by old
   names, and its shares are those of a run of its own. */
#include "cm.h"

#include <stdio.h>
#include <string.h>

#include "dialect/dialect.h"
#include "hosts/group_work.h"
#include "option/words.h"

enum { HOSTS = 3 };

static void drop_note(void *arg, const char *text)
{
  (void)arg;
  (void)text;
}

/* Reads the work of a group with these options, of which those in `outside` stand outside, and
   divides it among three hosts.  Compares "THREADS:EVENTS:RATE " of each host that has threads, and
   the sum of the threads and the seed, or what was refused. */
static void divides_in(const struct bn_policy *policy, const char *outside, const char *own,
                       const char *want)
{
  struct bn_conf conf = {.policy = policy};
  struct bn_err err = {0};
  struct bn_optset *options = bn_conf_new_options(&conf, &err);
  struct bn_work_split_list hosts = {.n = 0};
  struct bn_group_words group = {.name = (char[]){"g"}};
  struct bn_work_split share[HOSTS];
  struct bn_list words = {.n = 0};
  struct bn_group_work work;
  size_t n, len = 0;
  char got[512] = "";

  assert_non_null(options);
  assert_int_equal(bn_work_split_add(&hosts, "a,b,c", &err), 0);
  assert_int_equal(bn_words_split(outside, &words, &err), 0);
  assert_int_equal(bn_words_split(own, &group.options, &err), 0);
  for (size_t i = 0; i < words.n; i++) {
    char name[BN_OPT_NAME_MAX];

    bn_opt_read_name(words.item[i], name);
    assert_int_equal(bn_optset_set(options, name, strchr(words.item[i], '=') + 1, words.item[i]),
                     0);
  }
  bn_optset_resolve_aliases(options, drop_note, NULL);
  if (bn_group_work_read(&group, options, false, &work, &err) != 0 ||
      bn_group_work_divide(&group, &work, &hosts, share, &n, &err) != 0) {
    assert_string_equal(err.text, want);
  } else {
    for (size_t i = 0; i < n; i++)
      len += (size_t)snprintf(got + len, sizeof got - len, "%u:%llu:%g ", share[i].threads,
                              (unsigned long long)share[i].events, share[i].rate);
    (void)snprintf(got + len, sizeof got - len, "of %llu, seed %llu",
                   (unsigned long long)work.sessions, (unsigned long long)work.seed);
    assert_string_equal(got, want);
  }
  bn_words_done(&words);
  bn_words_done(&group.options);
  bn_work_split_done(&hosts);
  bn_optset_free(options);
}

static void divides(const char *outside, const char *own, const char *want)
{
  divides_in(&bn_policy_bench, outside, own, want);
}

/* It reads no fraction of a rate. */
static void a_dialect_gets_whole_rates(void **state)
{
  (void)state;
  divides("", "--rate=6.3", "1:0:2.1 1:0:2.1 1:0:2.1 of 3, seed 0");
  divides_in(&bn_policy_11, "", "--rate=5", "1:0:1 1:0:2 1:0:2 of 3, seed 0");
}

static void a_group_is_shared_as_a_run(void **state)
{
  (void)state;
  divides("", "", "1:0:0 1:0:0 1:0:0 of 3, seed 0");
  divides("", "--threads=2 --events=10 --rate=30", "2:3:10 2:3:10 2:4:10 of 6, seed 0");
  divides("", "--threads-total=4 --rate=20", "2:0:10 1:0:5 1:0:5 of 4, seed 0");
  divides("", "--threads=2 --events-per-session=5", "2:10:0 2:10:0 2:10:0 of 6, seed 0");
}

static void a_group_with_few_threads_is_on_the_first_hosts(void **state)
{
  (void)state;
  divides("", "--threads-total=1 --events=7 --rate=2", "1:7:2 of 1, seed 0");
  divides("", "--threads-total=2 --events=7 --rate=2", "1:3:1 1:4:1 of 2, seed 0");
}

static void its_options_beat_those_outside(void **state)
{
  (void)state;
  divides("--threads=4 --rate=30 --events=6 --rand-seed=5", "",
          "4:2:10 4:2:10 4:2:10 of 12, seed 0");
  divides("--threads=4 --rate=30", "--threads=1 --rate=0", "1:0:0 1:0:0 1:0:0 of 3, seed 0");
  divides("--threads=4 --rand-seed=5", "--num-threads=2 --tx-rate=6 --rand-seed=9",
          "2:0:2 2:0:2 2:0:2 of 6, seed 9");
  divides("--threads=4", "--num-threads=1", "1:0:0 1:0:0 1:0:0 of 3, seed 0");
  divides("--threads=4", "--threads=2 --num-threads=1", "1:0:0 1:0:0 1:0:0 of 3, seed 0");
  divides("--threads=4", "--num-threads=1 --threads=2", "2:0:0 2:0:0 2:0:0 of 6, seed 0");
  divides("--num-threads=4 --max-requests=9", "--events=3", "4:1:0 4:1:0 4:1:0 of 12, seed 0");
  divides("--threads-total=1", "--threads-total=0 --threads=2 --my-own=8",
          "2:0:0 2:0:0 2:0:0 of 6, seed 0");
}

static void what_cannot_be_shared_is_refused(void **state)
{
  (void)state;
  divides("", "--threads=x", "--group=g: --threads=x: not a whole number; allowed: 1 to 1000000");
  divides("", "--events=2", "--group=g: --events=2: there are 3 hosts, and each needs at least 1");
  divides("", "--threads-profile=hold:3/1s",
          "--group=g: --threads-profile=hold:3/1s: cannot be used with --hosts: each host has "
          "threads of its own; give each of several runs a profile");
}

BN_TESTS(group_work)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dialect_gets_whole_rates), cmocka_unit_test(a_group_is_shared_as_a_run),
      cmocka_unit_test(a_group_with_few_threads_is_on_the_first_hosts),
      cmocka_unit_test(its_options_beat_those_outside),
      cmocka_unit_test(what_cannot_be_shared_is_refused)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
