/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a limit leaves what a run needs, by numbers, and the sentences. */
#include "base/limit_check.h"
#include "cm.h"

static const struct {
  struct bn_limit_check demand;
  enum bn_judgement expected;
  const char *said;
} rows[] = {
    {{.needed = 1000, .allowed = -1, .others = 5, .certain = true}, BN_ENOUGH, NULL}, /* no limit */
    {{.needed = 100, .allowed = 100, .others = 0, .certain = true}, BN_ENOUGH, NULL},
    {{.needed = 100, .allowed = 100, .others = -2, .certain = true}, BN_ENOUGH, NULL}, /* unknown */
    {{.needed = 90, .allowed = 100, .others = 10, .certain = true}, BN_ENOUGH, NULL},
    {{.needed = 100, .allowed = 100, .others = 1, .certain = true},
     BN_TIGHT,
     "warning: the run needs up to 100 beds; the inn allows 100, and other clients use 1: ask "
     "twice "
     "for 101 or 101, or walk"},
    {{.needed = 90, .allowed = 100, .others = 11},
     BN_TIGHT,
     "warning: the run needs up to 90 beds; the inn allows 100, and other clients use 11: ask "
     "twice "
     "for 101 or 101, or walk"},
    {{.needed = 101, .allowed = 100, .reserved = 9},
     BN_TOO_FEW,
     "warning: the run needs up to 101 beds, but the inn allows 100: ask twice for 110 or 110, or "
     "walk"},
    {{.needed = 101, .allowed = 100, .others = 50, .certain = true},
     BN_REFUSED,
     "the run needs up to 101 beds, but the inn allows 100: ask twice for 151 or 151, or walk"},
    {{.needed = 1, .allowed = 100, .others = INT64_MAX / 2},
     BN_TIGHT,
     "warning: the run needs up to 1 beds; the inn allows 100, and other clients use "
     "4611686018427387903: ask twice for 4611686018427387904 or 4611686018427387904, or walk"},
    {{.needed = 1, .allowed = 0, .certain = true},
     BN_REFUSED,
     "the run needs up to 1 beds, but the inn allows 0: ask twice for 1 or 1, or walk"},
};

static void judges_and_says(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bn_limit_check d = rows[i].demand;
    struct bn_buf b;

    bn_buf_init(&b, 0);
    d.what = "beds";
    d.by = "the inn";
    d.remedy = "ask twice for %n or %n";
    d.instead = "walk";
    assert_int_equal(bn_limit_check_append(&b, &d), rows[i].expected);
    if (rows[i].said == NULL)
      assert_int_equal(b.len, 0);
    else
      assert_string_equal(b.data, rows[i].said);
    bn_buf_done(&b);
  }
}

static void no_remedy_is_known(void **state)
{
  const struct bn_limit_check d = {.what = "beds", .by = "the inn", .instead = "walk", .needed = 1};
  struct bn_buf b;

  (void)state;
  bn_buf_init(&b, 0);
  assert_int_equal(bn_limit_check_append(&b, &d), BN_TOO_FEW);
  assert_string_equal(b.data, "warning: the run needs up to 1 beds, but the inn allows 0: walk");
  bn_buf_done(&b);
}

BN_TESTS(limit_check)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(judges_and_says),
      cmocka_unit_test(no_remedy_is_known),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
