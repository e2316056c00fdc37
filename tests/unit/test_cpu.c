/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cpu test does exactly the work of the reference: same primes found, same divisions made. */
#include "cm.h"

#include <string.h>

#include "tests/cpu_kernel.h"
#include "tests/tests.h"

static const struct {
  uint64_t limit, primes, divisions;
} golden[] = {
    {2000, 302, 13397},
    {10000, 1228, 117526},
    {15000, 1753, 203745},
    {20000, 2261, 301275},
};

static void counts_the_primes_of_the_reference(void **unused)
{
  (void)unused;
  for (size_t i = 0; i < sizeof golden / sizeof *golden; i++)
    assert_int_equal(bn_cpu_count_primes(golden[i].limit), golden[i].primes);
}

static void leaves_out_the_limit_and_what_is_below_3(void **unused)
{
  (void)unused;
  assert_int_equal(bn_cpu_count_primes(0), 0);
  assert_int_equal(bn_cpu_count_primes(3), 0);
  assert_int_equal(bn_cpu_count_primes(4), 1);
  assert_int_equal(bn_cpu_count_primes(7), 2);
  assert_int_equal(bn_cpu_count_primes(8), 3);
}

/* 2, 3, …, d were tried; of these the last was only compared when it is above the root. */
static void divides_as_often_as_the_reference(void **unused)
{
  (void)unused;
  for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
    uint64_t divisions = 0;

    for (uint64_t n = 3; n < golden[i].limit; n++) {
      const double root = sqrt((double)n);
      const uint64_t d = bn_cpu_first_divisor(n, root);

      divisions += (double)d > root ? d - 2 : d - 1;
    }
    assert_int_equal(divisions, golden[i].divisions);
  }
}

static void is_described_to_the_registry(void **unused)
{
  const struct bn_workload *w = &bn_workload_cpu;

  (void)unused;
  assert_string_equal(w->name, "cpu");
  assert_int_equal(w->kind, BN_KIND_CPU);
  assert_string_equal(w->options[0].name, "cpu-max-prime");
  assert_string_equal(w->options[0].def, "10000");
  assert_int_equal(w->options[0].min, 1);
  assert_null(w->options[1].name);
  assert_int_equal(w->conf_size, sizeof(int64_t));
}

static void goes_on_after_an_event(void **unused)
{
  int64_t conf = 100; /* cpu_conf has this one member */

  (void)unused;
  assert_int_equal(bn_workload_cpu.event(&conf, NULL), BN_CONTINUE);
}

BN_TESTS(cpu)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_the_primes_of_the_reference),
      cmocka_unit_test(leaves_out_the_limit_and_what_is_below_3),
      cmocka_unit_test(divides_as_often_as_the_reference),
      cmocka_unit_test(is_described_to_the_registry),
      cmocka_unit_test(goes_on_after_an_event),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
