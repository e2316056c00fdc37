/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements that differ in their values only have the same digest, and others have not.  A pattern
   fits texts that have other values, and no text that has another digest. */
#include "sql/digest.h"

#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "sql/statements.h"

static const struct bn_sql_caps mysql = {.syntax = BN_SYNTAX_MYSQL},
                                pgsql = {.syntax = BN_SYNTAX_POSTGRESQL};

static void check(const char *sql, const struct bn_sql_caps *caps, const char *wanted)
{
  struct bn_sql_literals literals;
  char out[1024];
  const size_t n = bn_sql_digest(sql, strlen(sql), caps, out, sizeof out - 1, &literals);

  out[n] = '\0';
  assert_string_equal(out, wanted);
}

static void values_are_left_out(void **state)
{
  (void)state;
  check("SELECT c FROM sbtest1 WHERE id=5031", &mysql, "SELECT c FROM sbtest1 WHERE id=?");
  check("SELECT c FROM sbtest1 WHERE id=?", &mysql, "SELECT c FROM sbtest1 WHERE id=?");
  check("SELECT c FROM sbtest1 WHERE id=$12", &pgsql, "SELECT c FROM sbtest1 WHERE id=?");
  check("UPDATE t SET c='it''s', d = \"a\\\"b\" WHERE k = -1.5e-7", &mysql,
        "UPDATE t SET c=?, d=? WHERE k=?");
  check("SELECT a-1, a - 1, .5, 0xFF, 1e3 FROM t", &mysql, "SELECT a-?, a-?, ?, ?, ? FROM t");
  check("SELECT $$a 'b$$, $tag$c$tag$, E'\\'', 'd\\'", &pgsql, "SELECT ?, ?, E ?, ?");
  check("SELECT c FROM t WHERE d IS NULL", &mysql, "SELECT c FROM t WHERE d IS NULL");
}

static void names_stay(void **state)
{
  (void)state;
  check("SELECT * FROM part$1, a$b$", &pgsql, "SELECT * FROM part$1, a$b$");
  check("SELECT * FROM part$1, a$b$", &mysql, "SELECT * FROM part$1, a$b$");
  check("select C from `my 1` where \"x\"=\"y\"", &mysql, "select C from `my 1` where ?=?");
  check("SELECT \"Id 1\" FROM db.t2", &pgsql, "SELECT \"Id 1\" FROM db.t2");
  check("SELECT tabelle_ä1 FROM t", &pgsql, "SELECT tabelle_ä1 FROM t");
}

static void lists_are_shortened(void **state)
{
  (void)state;
  check("SELECT k FROM t WHERE k IN (1, 2,3)", &mysql, "SELECT k FROM t WHERE k IN(...)");
  check("SELECT k FROM t WHERE k IN (?)", &mysql, "SELECT k FROM t WHERE k IN(...)");
  check("INSERT INTO t (a, b) VALUES (1, 'x'), (2,NULL), (-3, default);", &mysql,
        "INSERT INTO t(a, b) VALUES(...)");
  check("SELECT count(*), now(), f(a, 1) FROM t", &mysql, "SELECT count(*), now(), f(a, ?) FROM t");
  check("SELECT ((1, 2), (3, 4)), (5)", &mysql, "SELECT((...)), (...)");
  check("SELECT * FROM t WHERE (a) AND (b)", &mysql, "SELECT * FROM t WHERE(a) AND(b)");
}

static void comments_and_blanks_have_one_form(void **state)
{
  (void)state;
  check("  SELECT\t1 -- one\n  +2 # two\n  /* three */ , a*b ; ", &mysql, "SELECT ?+?, a * b");
  check("SELECT 1 --2\n", &mysql, "SELECT ?-?");
  check("SELECT 1 --2\n", &pgsql, "SELECT ?");
  check("SELECT /* a /* b */ c */ d", &pgsql, "SELECT d");
  check("", &mysql, "");
  check("'", &mysql, "?");
}

static void long_texts_are_cut_between_characters(void **state)
{
  static const char text[] = "SELECT a\xc3\xa4\xc3\xb6";
  struct bn_sql_literals literals;
  char out[16];

  (void)state;
  for (size_t size = 0; size <= 12; size++) {
    static const size_t wanted[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 10, 10, 12};

    memset(out, 'x', sizeof out);
    assert_int_equal(bn_sql_digest(text, sizeof text - 1, &mysql, out, size, &literals),
                     wanted[size]);
    assert_int_equal(literals.n, size < 12 ? BN_SQL_LITERALS + 1 : 0);
    assert_memory_equal(out, text, wanted[size]);
    assert_int_equal(out[size], 'x');
  }
}

static void literals_are_found(void **state)
{
  static const char text[] = "SELECT a1, 'it''s' /* 5 */ FROM t2 WHERE k=-17 AND d=? AND e=$1";
  static const size_t at[][2] = {{11, 7}, {43, 3}};
  struct bn_sql_literals found;
  char many[200] = "SELECT 1", out[1024];

  (void)state;
  (void)bn_sql_digest(text, sizeof text - 1, &mysql, out, sizeof out, &found);
  assert_int_equal(found.n, 3); /* $1 is a dollar and a number there */
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(found.literal[i].at, at[i][0]);
    assert_int_equal(found.literal[i].len, at[i][1]);
  }
  (void)bn_sql_digest(text, sizeof text - 1, &pgsql, out, sizeof out, &found);
  assert_int_equal(found.n, 2); /* it is a parameter there */
  for (size_t i = 8; i < 100; i += 2)
    memcpy(many + i, ",1", 3);
  (void)bn_sql_digest(many, strlen(many), &mysql, out, sizeof out, &found);
  assert_int_equal(found.n, 47);
}

static size_t digest(const char *sql, const struct bn_sql_caps *caps, char out[1024],
                     struct bn_sql_literals *literals)
{
  return bn_sql_digest(sql, strlen(sql), caps, out, 1024, literals);
}

/* What fits has the same digest, whatever is expected to fit. */
static void check_pattern(const char *of, const char *sql, const struct bn_sql_caps *caps,
                          bool fits)
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
  check_pattern("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=98765", &mysql, true);
  check_pattern("UPDATE t SET a=-5, b='x' WHERE c = 1.5",
                "UPDATE t SET a=-70, b='it is' WHERE c = 20", &mysql, true);
  check_pattern("VALUES (1,'a'),(2,'b')", "VALUES (10,''),(200,'bcd')", &mysql, true);
  check_pattern("SELECT E'a', 5", "SELECT E'b', 6", &pgsql, true);
  check_pattern("COMMIT", "COMMIT", &mysql, true);
}

static void other_texts_do_not(void **state)
{
  (void)state;
  check_pattern("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t2 WHERE id=5", &mysql, false);
  check_pattern("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=5 ", &mysql, false);
  check_pattern("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=5x", &mysql, false);
  check_pattern("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=", &mysql, false);
  check_pattern("SELECT c FROM t1 WHERE id=5", "SELECT c FROM t1 WHERE id=.5", &mysql, false);
  check_pattern("SELECT c FROM t1 WHERE id=5", "SELECT c FROM", &mysql, false);
  check_pattern("SELECT 1, a", "SELECT 1e5, a", &mysql, false);
  check_pattern("SELECT '1' FROM t", "SELECT '1''2' FROM t", &mysql, false);
  check_pattern("SELECT '1' FROM t", "SELECT 'a\\' FROM t", &mysql, false);
  check_pattern("SELECT '1' FROM t", "SELECT '1", &mysql, false);
  check_pattern("SELECT '1'", "SELECT '", &mysql, false);
  check_pattern("SELECT 1.5$$a", "SELECT 1.$$a", &pgsql,
                false); /* there a text of dollars begins */
  check_pattern("COMMIT", "COMMI", &mysql, false);
  check_pattern("COMMIT", "", &mysql, false);
}

/* They stay parts of the text. */
static void other_literals_have_to_be_the_same(void **state)
{
  (void)state;
  check_pattern("SELECT 'it''s', 1", "SELECT 'it''s', 2", &mysql, true);
  check_pattern("SELECT 'it''s', 1", "SELECT 'it''t', 1", &mysql, false);
  check_pattern("SELECT 1e5, \"a\"", "SELECT 2e5, \"a\"", &mysql, false);
  check_pattern("SELECT $$a$$, 1", "SELECT $$a$$, 2", &pgsql, true);
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
    check_pattern(sql, sql, &mysql, true);
    memcpy(sql + strlen(sql), ",1", 3);
  }
  (void)digest(sql, &mysql, out, &literals);
  assert_null(bn_sql_pattern_new(sql, strlen(sql), &literals));
}

BN_TESTS(digest)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_left_out),
      cmocka_unit_test(names_stay),
      cmocka_unit_test(lists_are_shortened),
      cmocka_unit_test(comments_and_blanks_have_one_form),
      cmocka_unit_test(literals_are_found),
      cmocka_unit_test(long_texts_are_cut_between_characters),
      cmocka_unit_test(other_values_fit),
      cmocka_unit_test(other_texts_do_not),
      cmocka_unit_test(other_literals_have_to_be_the_same),
      cmocka_unit_test(long_texts_have_no_pattern),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
