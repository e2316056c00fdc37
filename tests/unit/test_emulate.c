/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in place of question marks: only those that are parameters, and escaped. */
#include <math.h>
#include <string.h>

#include "cm.h"
#include "sql/emulate.h"

static size_t quote(void *conn, char *out, const char *in, size_t len)
{
  size_t n = 0;

  (void)conn;
  for (size_t i = 0; i < len; i++) {
    if (in[i] == '\'')
      out[n++] = '\'';
    out[n++] = in[i];
  }
  return n;
}

static size_t count_marks(const char *sql, const struct bn_sql_caps *caps)
{
  struct bn_sql_marks marks;
  size_t n;

  bn_sql_marks_find(&marks, sql, strlen(sql), caps);
  n = marks.n;
  for (size_t i = 0; i < n; i++)
    assert_int_equal(sql[marks.at[i]], '?');
  bn_sql_marks_done(&marks);
  return n;
}

static size_t count(const char *sql, bool mysql)
{
  const struct bn_sql_caps caps = {.syntax = mysql ? BN_SYNTAX_MYSQL : BN_SYNTAX_STANDARD};

  return count_marks(sql, &caps);
}

static size_t count_nested(const char *sql)
{
  static const struct bn_sql_caps caps = {.syntax = BN_SYNTAX_POSTGRESQL};

  return count_marks(sql, &caps);
}

static void counts_only_parameters(void **state)
{
  (void)state;
  assert_int_equal(count("", true), 0);
  assert_int_equal(count("?", true), 1);
  assert_int_equal(count("SELECT ?, '?', \"?\", `?`, ?", true), 2);
  assert_int_equal(count("SELECT 'it''s ?', ?", false), 1);
  assert_int_equal(count("SELECT ? -- why?\n, ?", true), 2);
  assert_int_equal(count("SELECT ? /* ? */ , ? /* ?", true), 2);
  assert_int_equal(count("a-?/?", false), 2);
  assert_int_equal(count("'never closed ?", false), 0);
}

static void knows_how_servers_read_literals(void **state)
{
  (void)state;
  assert_int_equal(count("'\\' ? ', ?", true), 1);
  assert_int_equal(count("'\\', ?", false), 1);
  assert_int_equal(count("E'\\' ?', ?", false), 1);
  assert_int_equal(count("nameE'\\', ?", false), 1);
  assert_int_equal(count("# ?\n ?", true), 1);
  assert_int_equal(count("a # ?", false), 1);
  assert_int_equal(count("/*! ? */ ?", true), 2);
  assert_int_equal(count("/*! ? */ ?", false), 1);
  assert_int_equal(count("$$ ? $$ ?", false), 1);
  assert_int_equal(count("$a$ ? $$ ? $a$ ?", false), 1);
  assert_int_equal(count("$1 ? a$b$ ?", false), 2);
  assert_int_equal(count("$$ ? $$ ?", true), 2);
  assert_int_equal(count("a `? b", false), 0);
  assert_int_equal(count_nested("a `? b"), 1);
}

static void knows_where_comments_begin_and_end(void **state)
{
  (void)state;
  assert_int_equal(count_nested("/* a /* b */ ? */ ?"), 1);
  assert_int_equal(count_nested("/*/* ? */*/ ? /**/ ? /*/ ?"), 2);
  assert_int_equal(count("/* a /* b */ ? */ ?", false), 2);
  assert_int_equal(count("/* a /* b */ ? */ ?", true), 2);
  assert_int_equal(count("SELECT 5--?", true), 1);
  assert_int_equal(count("SELECT 5--?", false), 0);
  assert_int_equal(count("SELECT 5-- ?", true), 0);
  assert_int_equal(count("SELECT 5--\t?\n?", true), 1);
  assert_int_equal(count("SELECT 5--\177?", true), 0);
  assert_int_equal(count("SELECT 5--\303\251?", true), 1);
  assert_int_equal(count("SELECT 5---?", true), 1);
  assert_int_equal(count("SELECT 5--- ?", true), 0);
  assert_int_equal(count("SELECT ?--", true), 1);
  assert_int_equal(count("SELECT ?--\n?", true), 2);
}

static const char *filled(const char *sql, const struct bn_sql_bind *b, struct bn_buf *out)
{
  static const struct bn_sql_caps caps = {.syntax = BN_SYNTAX_STANDARD};
  struct bn_sql_marks marks;
  const struct bn_sql_emulation e = {sql, strlen(sql), &marks, quote, NULL};

  bn_sql_marks_find(&marks, sql, strlen(sql), &caps);
  bn_sql_emulate(&e, b, out);
  bn_sql_marks_done(&marks);
  assert_int_equal(strlen(out->data), out->len);
  return out->data;
}

/* MySQL takes two dashes for a comment only before a blank. */
static void writes_no_comment(void **state)
{
  static const struct bn_sql_caps caps = {.syntax = BN_SYNTAX_MYSQL};
  struct bn_sql_marks marks;
  const struct bn_sql_emulation e = {"5--?", 4, &marks, quote, NULL};
  const bool no = false;
  const int64_t value = -7;
  const struct bn_sql_bind b = {BN_SQL_INT64, &no, &value, NULL};
  struct bn_buf out;

  (void)state;
  bn_buf_init(&out, 0);
  bn_sql_marks_find(&marks, e.sql, e.len, &caps);
  bn_sql_emulate(&e, &b, &out);
  bn_sql_marks_done(&marks);
  assert_string_equal(out.data, "5---7");
  bn_buf_done(&out);
}

static void writes_every_type(void **state)
{
  const bool no = false, yes = true;
  const int64_t least = INT64_MIN, three = 3;
  const double eighth = 0.125, whole = 2, third = 1.0 / 3, huge = 1e300, nan = NAN, inf = -INFINITY;
  const size_t len = 7, none = 0;
  const struct bn_sql_bind ints[] = {{BN_SQL_INT64, &no, &least, NULL},
                                     {BN_SQL_INT64, &no, &three, NULL},
                                     {BN_SQL_INT64, &yes, NULL, NULL}};
  const struct bn_sql_bind reals[] = {
      {BN_SQL_DOUBLE, &no, &eighth, NULL}, {BN_SQL_DOUBLE, &no, &whole, NULL},
      {BN_SQL_DOUBLE, &no, &third, NULL},  {BN_SQL_DOUBLE, &no, &huge, NULL},
      {BN_SQL_DOUBLE, &no, &nan, NULL},    {BN_SQL_DOUBLE, &no, &inf, NULL}};
  const struct bn_sql_bind texts[] = {{BN_SQL_TEXT, &no, "it's ?!and more", &len},
                                      {BN_SQL_TEXT, &no, NULL, &none},
                                      {BN_SQL_NULL, NULL, NULL, NULL}};
  struct bn_buf out;

  (void)state;
  bn_buf_init(&out, 0);
  assert_string_equal(filled("(?,?,?)", ints, &out), "(-9223372036854775808,3,NULL)");
  assert_string_equal(filled("5-?", ints, &out), "5- -9223372036854775808");
  assert_string_equal(filled("?,?,?,?,?,?", reals, &out),
                      "0.125,2.0,0.33333333333333331,1e+300,NULL,-9e999");
  assert_string_equal(filled("?,'?',?,?", texts, &out), "'it''s ?!','?','',NULL");
  bn_buf_done(&out);
}

BN_TESTS(emulate)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_only_parameters),
      cmocka_unit_test(knows_how_servers_read_literals),
      cmocka_unit_test(knows_where_comments_begin_and_end),
      cmocka_unit_test(writes_no_comment),
      cmocka_unit_test(writes_every_type),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
