/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pattern fits texts that have other values, and no text that has another digest. */
#include "sql/statements.h"

#include <stdlib.h>
#include <string.h>

#include "cm.h"

static const struct bn_sql_caps mysql = {.backslash_escapes = true},
                                pgsql = {.comments_nest = true};

static size_t digest(const char *sql, const struct bn_sql_caps *caps, char out[1024],
                     struct bn_sql_literals *literals)
{
  return bn_sql_digest(sql, strlen(sql), caps, out, 1024, literals);
}

/* What fits has the same digest, whatever is expected to fit. */
static void check(const char *of, const char *sql, const struct bn_sql_caps *caps, bool fits)
{
  struct bn_sql_literals literals, ignored;
  char one[1024], other[1024];
  const size_t len = digest(of, caps, one, &literals);
  struct bn_sql_pattern *p = bn_sql_pattern_new(of, strlen(of), &literals);

  assert_non_null(p);
  assert_true(bn_sql_pattern_fits(p, of, strlen(of)));
  assert_int_equal(bn_sql_pattern_fits(p, sql, strlen(sql)), fits);
  if (fits) {
    assert_int_equal(digest(sql, caps, other, &ignored), len);
    assert_memory_equal(one, other, len);
  }
  free(p);
}

static void other_values_fit(void **state)
{
  (void)state;
  check("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=98765", &mysql, true);
  check("UPDATE t SET a=-5, b='x' WHERE c = 1.5", "UPDATE t SET a=-70, b='it is' WHERE c = 20",
        &mysql, true);
  check("VALUES (1,'a'),(2,'b')", "VALUES (10,''),(200,'bcd')", &mysql, true);
  check("SELECT E'a', 5", "SELECT E'b', 6", &pgsql, true);
  check("COMMIT", "COMMIT", &mysql, true);
}

static void other_texts_do_not(void **state)
{
  (void)state;
  check("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t2 WHERE id=5", &mysql, false);
  check("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=5 ", &mysql, false);
  check("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=5x", &mysql, false);
  check("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=", &mysql, false);
  check("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=.5", &mysql, false);
  check("SELECT c FROM t1 WHERE id=5", "SELECT c FROM", &mysql, false);
  check("SELECT 1, a", "SELECT 1e5, a", &mysql, false);
  check("SELECT '1' FROM t", "SELECT '1''2' FROM t", &mysql, false);
  check("SELECT '1' FROM t", "SELECT 'a\\' FROM t", &mysql, false);
  check("SELECT '1' FROM t", "SELECT '1", &mysql, false);
  check("SELECT '1'", "SELECT '", &mysql, false);
  check("SELECT 1.5$$a", "SELECT 1.$$a", &pgsql, false); /* there a text of dollars begins */
  check("COMMIT", "COMMI", &mysql, false);
  check("COMMIT", "", &mysql, false);
}

/* They stay parts of the text. */
static void other_literals_have_to_be_the_same(void **state)
{
  (void)state;
  check("SELECT 'it''s', 1", "SELECT 'it''s', 2", &mysql, true);
  check("SELECT 'it''s', 1", "SELECT 'it''t', 1", &mysql, false);
  check("SELECT 1e5, \"a\"", "SELECT 2e5, \"a\"", &mysql, false);
  check("SELECT $$a$$, 1", "SELECT $$a$$, 2", &pgsql, true);
}

static void long_texts_have_no_pattern(void **state)
{
  struct bn_sql_literals literals;
  char sql[2000], out[1024];

  (void)state;
  memset(sql, 'a', sizeof sql);
  sql[BN_SQL_PATTERN_TEXT + 1] = '\0';
  (void)digest(sql, &mysql, out, &literals);
  assert_null(bn_sql_pattern_new(sql, strlen(sql), &literals));
  memcpy(sql, "SELECT 1", 9);
  for (size_t i = 1; i <= BN_SQL_LITERALS; i++) {
    check(sql, sql, &mysql, true);
    memcpy(sql + strlen(sql), ",1", 3);
  }
  (void)digest(sql, &mysql, out, &literals);
  assert_null(bn_sql_pattern_new(sql, strlen(sql), &literals));
}

BN_TESTS(pattern)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_values_fit),
      cmocka_unit_test(other_texts_do_not),
      cmocka_unit_test(other_literals_have_to_be_the_same),
      cmocka_unit_test(long_texts_have_no_pattern),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
