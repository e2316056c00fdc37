/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows by which variables a launcher is known, and what its children no longer see. */
#include "cm.h"

#include <stdlib.h>

#include "hosts/launcher.h"

static int clear(void **state)
{
  (void)state;
  return clearenv();
}

static void set(const char *name, const char *value)
{
  assert_int_equal(setenv(name, value, 1), 0);
}

static void open_mpi_is_known(void **state)
{
  struct bn_launcher l;

  (void)state;
  set("OMPI_COMM_WORLD_SIZE", "4");
  assert_false(bn_launcher_read(&l));
  set("OMPI_COMM_WORLD_RANK", "3");
  assert_true(bn_launcher_read(&l));
  assert_string_equal(l.carrier, "openmpi");
  assert_int_equal(l.rank, 3);
  assert_int_equal(l.ranks, 4);
}

static void mpich_is_known(void **state)
{
  struct bn_launcher l;

  (void)state;
  set("PMI_SIZE", "2");
  set("PMI_RANK", "0");
  assert_true(bn_launcher_read(&l));
  assert_string_equal(l.carrier, "mpich");
  assert_int_equal(l.rank, 0);
  assert_int_equal(l.ranks, 2);
}

static void other_values_are_no_launcher(void **state)
{
  static const char *const sizes[] = {"1", "0", "-2", "", "two", "99999999999999999999"};
  struct bn_launcher l;

  (void)state;
  set("PMI_RANK", "0");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    set("PMI_SIZE", sizes[i]);
    assert_false(bn_launcher_read(&l));
  }
  set("PMI_SIZE", "2");
  set("PMI_RANK", "2");
  assert_false(bn_launcher_read(&l));
}

static void children_are_started_by_nobody(void **state)
{
  static const char *const gone[] = {
      "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess", "PMI_FD",         "PMIX_RANK", "PMI_RANK",
      "HYDI_CONTROL_FD",      "MPIR_CVAR_X",  "MPI_LOCALRANKID"};
  struct bn_launcher l;

  (void)state;
  set("HOME", "/root");
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
    set(gone[i], "2");
  set("MY_PMI_RANK", "7");
  bn_launcher_forget();
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
    assert_null(getenv(gone[i]));
  assert_string_equal(getenv("HOME"), "/root");
  assert_string_equal(getenv("MY_PMI_RANK"), "7");
  assert_false(bn_launcher_read(&l));
}

BN_TESTS(launcher)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(open_mpi_is_known, clear),
                                     cmocka_unit_test_setup(mpich_is_known, clear),
                                     cmocka_unit_test_setup(other_values_are_no_launcher, clear),
                                     cmocka_unit_test_setup(children_are_started_by_nobody, clear)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
