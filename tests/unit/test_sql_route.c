/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: which texts may go to a read server, what its list means, who is next. */
#include <string.h>

#include "cm.h"
#include "sql/readhosts.h"
#include "sql/route.h"

static const struct bn_sql_caps mysql = {.syntax = BN_SYNTAX_MYSQL};
static const struct bn_sql_caps pgsql = {.syntax = BN_SYNTAX_POSTGRESQL};

struct row {
  const char *sql;
  enum bn_sql_route route;
};

/* In both dialects. */
static const struct row rows[] = {
    {"SELECT c FROM sbtest1 WHERE id = ?", BN_ROUTE_READ},
    {"select 1", BN_ROUTE_READ},
    {"  \n\tSELECT 1 ; ", BN_ROUTE_READ},
    {"SELECT 1;;", BN_ROUTE_READ},
    {"/* first */ -- second\nSELECT 1", BN_ROUTE_READ},
    {"(SELECT 1) UNION (SELECT 2)", BN_ROUTE_READ},
    {"WITH a AS (SELECT 1) SELECT * FROM a", BN_ROUTE_READ},
    {"VALUES (1), (2)", BN_ROUTE_READ},
    {"TABLE t", BN_ROUTE_READ},
    {"SELECT 'a; DELETE FROM t FOR UPDATE'", BN_ROUTE_READ},
    {"SELECT \"update\" FROM t", BN_ROUTE_READ},
    {"SELECT 'it''s', \"into\" FROM t -- FOR UPDATE", BN_ROUTE_READ},
    {"SELECT 1 /* INTO x */", BN_ROUTE_READ},
    {"SELECT updated, inserted_at, next, value, share, for_update FROM t", BN_ROUTE_READ},
    {"SELECT COUNT(*), nextval FROM t", BN_ROUTE_READ},
    {"SELECT my_nextval(1), last_insert_id_of(2)", BN_ROUTE_READ},
    {"SELECT lo FROM a JOIN dblinks ON lo = id", BN_ROUTE_READ},
    {"", BN_ROUTE_WRITE},
    {" /* nothing */ ", BN_ROUTE_WRITE},
    {"SELECTED", BN_ROUTE_WRITE},
    {"INSERT INTO t VALUES (1)", BN_ROUTE_WRITE},
    {"UPDATE t SET a = 1", BN_ROUTE_WRITE},
    {"DELETE FROM t", BN_ROUTE_WRITE},
    {"REPLACE INTO t VALUES (1)", BN_ROUTE_WRITE},
    {"SHOW TABLES", BN_ROUTE_WRITE},
    {"EXPLAIN SELECT 1", BN_ROUTE_WRITE},
    {"CALL p()", BN_ROUTE_WRITE},
    {"DO 1", BN_ROUTE_WRITE},
    {"SET a = 1", BN_ROUTE_WRITE},
    {"COMMIT", BN_ROUTE_WRITE},
    {"ROLLBACK", BN_ROUTE_WRITE},
    {"SELECT 1; SELECT 2", BN_ROUTE_WRITE},
    {"SELECT 1; DELETE FROM t", BN_ROUTE_WRITE},
    {"SELECT a FROM t FOR UPDATE", BN_ROUTE_WRITE},
    {"SELECT a FROM t for\n update of t", BN_ROUTE_WRITE},
    {"SELECT a FROM t FOR /* x */ UPDATE", BN_ROUTE_WRITE},
    {"SELECT a FROM t FOR NO KEY UPDATE", BN_ROUTE_WRITE},
    {"SELECT a FROM t FOR SHARE", BN_ROUTE_WRITE},
    {"SELECT a FROM t FOR KEY SHARE", BN_ROUTE_WRITE},
    {"SELECT a FROM t LOCK IN SHARE MODE", BN_ROUTE_WRITE},
    {"SELECT a INTO b FROM t", BN_ROUTE_WRITE},
    {"WITH a AS (DELETE FROM t RETURNING id) SELECT * FROM a", BN_ROUTE_WRITE},
    {"WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", BN_ROUTE_WRITE},
    {"WITH a AS (SELECT 1) UPDATE t SET b = 1", BN_ROUTE_WRITE},
    {"WITH a AS (SELECT 1) MERGE INTO t USING a ON true WHEN MATCHED THEN DO NOTHING",
     BN_ROUTE_WRITE},
    {"SELECT nextval('s')", BN_ROUTE_WRITE},
    {"SELECT NEXTVAL ('s')", BN_ROUTE_WRITE},
    {"SELECT NEXT VALUE FOR s", BN_ROUTE_WRITE},
    {"SELECT GET_LOCK('a', 1)", BN_ROUTE_WRITE},
    {"SELECT LAST_INSERT_ID()", BN_ROUTE_WRITE},
    {"SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1", BN_ROUTE_WRITE},
    {"SELECT FOUND_ROWS()", BN_ROUTE_WRITE},
    {"SELECT pg_try_advisory_lock(1)", BN_ROUTE_WRITE},
    {"SELECT lo_creat(-1)", BN_ROUTE_WRITE},
    {"SELECT set_config('a.b', 'c', false)", BN_ROUTE_WRITE},
    {"SELECT current_setting('a.b')", BN_ROUTE_WRITE},
    {"SELECT current_setting FROM t", BN_ROUTE_READ},
    {"SELECT * FROM dblink('delete')", BN_ROUTE_WRITE},
    {"BEGIN", BN_ROUTE_WRITE},
    {"BEGIN; SELECT 1", BN_ROUTE_WRITE},
    {"START TRANSACTION", BN_ROUTE_WRITE},
    {"START TRANSACTION READ WRITE", BN_ROUTE_WRITE},
    {"START SLAVE", BN_ROUTE_WRITE},
    {"BEGIN READ ONLY; DELETE FROM t", BN_ROUTE_WRITE},
    {"START TRANSACTION READ ONLY", BN_ROUTE_BEGIN_READ},
    {"start transaction with consistent snapshot, read only;", BN_ROUTE_BEGIN_READ},
    {"BEGIN READ ONLY", BN_ROUTE_BEGIN_READ},
    {"BEGIN READ ONLY, READ WRITE", BN_ROUTE_WRITE},
    {"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", BN_ROUTE_BEGIN_READ},
    {"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", BN_ROUTE_WRITE},
};

static void check(const struct row *row, const struct bn_sql_caps *caps)
{
  const enum bn_sql_route got = bn_sql_route_of(row->sql, strlen(row->sql), caps);

  if (got != row->route)
    fail_msg("%s: %d, not %d", row->sql, got, row->route);
}

static void each_text_has_its_route(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check(&rows[i], &mysql);
    check(&rows[i], &pgsql);
  }
}

static void each_server_has_literals_of_its_own(void **state)
{
  static const struct row of_mysql[] = {
      {"SELECT @@hostname, @@read_only, @@autocommit", BN_ROUTE_READ},
      {"SELECT @@global.last_insert_id, @@GLOBAL.server_id", BN_ROUTE_READ},
      {"SELECT @@last_insert_ids", BN_ROUTE_READ},
      {"SELECT @@last_insert_id", BN_ROUTE_WRITE},
      {"SELECT @@IDENTITY", BN_ROUTE_WRITE},
      {"SELECT 1, @@insert_id", BN_ROUTE_WRITE},
      {"SELECT @@warning_count", BN_ROUTE_WRITE},
      {"SELECT @@error_count", BN_ROUTE_WRITE},
      {"SELECT @@last_gtid", BN_ROUTE_WRITE},
      {"SELECT @@in_transaction", BN_ROUTE_WRITE},
      {"SELECT @@hostname, @@session.autocommit", BN_ROUTE_WRITE},
      {"SELECT @@SESSION.hostname", BN_ROUTE_WRITE},
      {"SELECT @@local.sql_mode", BN_ROUTE_WRITE},
      {"SELECT @@`last_insert_id`, 1", BN_ROUTE_WRITE},
      {"SELECT @@`last_insert_id`", BN_ROUTE_WRITE},
      {"SELECT @a", BN_ROUTE_WRITE},
      {"SELECT @a := 1", BN_ROUTE_WRITE},
      {"SELECT @'a'", BN_ROUTE_WRITE},
      {"SELECT 'a\\' FOR UPDATE'", BN_ROUTE_READ},
      {"SELECT 1 # FOR UPDATE", BN_ROUTE_READ},
      {"# first\nSELECT 1", BN_ROUTE_READ},
      {"SELECT a FROM t /*!50000 FOR UPDATE */", BN_ROUTE_WRITE},
      {"SELECT a FROM t /*M! FOR UPDATE */", BN_ROUTE_WRITE},
      {"SELECT a FROM t /*M!100100 FOR UPDATE */", BN_ROUTE_WRITE},
      {"SELECT `update` FROM t", BN_ROUTE_READ},
      {"SELECT `a\\` FROM t FOR UPDATE", BN_ROUTE_WRITE},
      {"SELECT 1--1 INTO @a", BN_ROUTE_WRITE},
  };
  static const struct row of_pgsql[] = {
      {"SELECT @ -1", BN_ROUTE_READ},
      {"SELECT $1, $$ FOR UPDATE $$, $a$ INTO $a$", BN_ROUTE_READ},
      {"SELECT E'a\\' FOR UPDATE'", BN_ROUTE_READ},
      {"SELECT 'a\\' FOR UPDATE", BN_ROUTE_WRITE},
      {"SELECT 1 /* /* */ INTO x */", BN_ROUTE_READ},
      {"SELECT 1 # 2 FOR UPDATE", BN_ROUTE_WRITE},
      {"SELECT a FROM t --FOR UPDATE", BN_ROUTE_READ},
  };

  (void)state;
  for (size_t i = 0; i < sizeof of_mysql / sizeof *of_mysql; i++)
    check(&of_mysql[i], &mysql);
  for (size_t i = 0; i < sizeof of_pgsql / sizeof *of_pgsql; i++)
    check(&of_pgsql[i], &pgsql);
}

static void tells_what_turns_a_transaction_to_writing(void **state)
{
  static const struct {
    const char *sql;
    bool turns;
  } texts[] = {{"SET TRANSACTION READ WRITE", true},
               {"set local transaction isolation level serializable, read write;", true},
               {"SET TRANSACTION READ ONLY", false},
               {"SET transaction_read_only = off", true},
               {"SET transaction_read_only TO on", false},
               {"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", false},
               {"SELECT 1; SET TRANSACTION READ WRITE", false}};

  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (bn_sql_turns_writing(texts[i].sql, strlen(texts[i].sql), &pgsql) != texts[i].turns)
      fail_msg("%s", texts[i].sql);
    assert_false(bn_sql_turns_writing(texts[i].sql, strlen(texts[i].sql), &mysql));
  }
}

static void assert_leaves(const char *sql, const struct bn_sql_caps *caps, bool leaves)
{
  if (bn_sql_leaves_reading(sql, strlen(sql), caps) != leaves)
    fail_msg("%s: %s", sql, leaves ? "stays" : "leaves");
}

/* Within a transaction on a read server; in both dialects, or in MySQL's only. */
static void what_ends_a_read_transaction_and_goes_on_leaves(void **state)
{
  static const char *const leaving[] = {
      "BEGIN",
      "START TRANSACTION READ ONLY",
      "COMMIT; BEGIN",
      "commit;\n-- next\nUPDATE t SET a = 1",
      "ROLLBACK AND NO CHAIN; SELECT 1",
      "SELECT 1; COMMIT; SELECT 2",
      "SELECT ';'; BEGIN",
      "XA START 'a'",
      "SET autocommit=0",
  };
  static const char *const staying[] = {
      "",
      "SELECT 1",
      "SELECT 1; SELECT 2",
      "SELECT 'COMMIT; BEGIN'",
      "COMMIT",
      "COMMIT;; -- end",
      "SELECT 1; COMMIT;",
      "ROLLBACK TO a; SELECT 1",
      "UPDATE t SET a = 1",
      "SET SESSION TRANSACTION READ WRITE",
      "CREATE TEMPORARY TABLE t (a INT)",
      "SELECT autocommit FROM settings",
      "WITH created AS (SELECT 1) SELECT * FROM created",
      "ANALYZE FORMAT=JSON SELECT 1",
  };
  static const char *const leaving_mysql[] = {
      "LOCK TABLES t WRITE",
      "CREATE TABLE t (a INT)",
      "/*!50100 ALTER TABLE t ADD b INT */",
      "# first\ndrop table t",
      "SELECT 1; TRUNCATE t",
      "ANALYZE TABLE t",
      "SET @@autocommit = 0",
      "SET @@session.autocommit=OFF",
      "SET SESSION autocommit := 0",
      "SET sql_mode = '', autocommit = 0",
  };

  (void)state;
  for (size_t i = 0; i < sizeof leaving / sizeof *leaving; i++) {
    assert_leaves(leaving[i], &mysql, true);
    assert_leaves(leaving[i], &pgsql, true);
  }
  for (size_t i = 0; i < sizeof staying / sizeof *staying; i++) {
    assert_leaves(staying[i], &mysql, false);
    assert_leaves(staying[i], &pgsql, false);
  }
  for (size_t i = 0; i < sizeof leaving_mysql / sizeof *leaving_mysql; i++) {
    assert_leaves(leaving_mysql[i], &mysql, true);
    assert_leaves(leaving_mysql[i], &pgsql, false);
  }
}

/* --- the list -----------------------------------------------------------------------------------
 */

static const struct bn_opt with_socket[] = {
    {.name = "d-host"}, {.name = "d-port"}, {.name = "d-socket"}, {.name = NULL}};
static const struct bn_opt without_socket[] = {
    {.name = "d-host"}, {.name = "d-port"}, {.name = NULL}};
static const struct bn_opt of_files[] = {{.name = "d-db"}, {.name = NULL}};

static enum bn_sql_transaction no_transaction(void *conn)
{
  (void)conn;
  return BN_TRANSACTION_OWN;
}

/* "host=a port=1", or the error. */
static const char *parse(const struct bn_opt *options, const char *given)
{
  char copy[40], *item = copy;
  const struct bn_driver ops = {.name = "d", .options = options, .transaction = no_transaction};
  const struct bn_list list = {.item = &item, .n = 1};
  struct bn_sql_read_hosts hosts = {.n = 0};
  static char text[sizeof((struct bn_err *)NULL)->text];
  struct bn_err err = {0};

  (void)snprintf(copy, sizeof copy, "%s", given);
  text[0] = '\0';
  if (bn_sql_read_hosts_parse(&hosts, &list, &ops, &err) != 0)
    (void)snprintf(text, sizeof text, "%s", err.text);
  else
    for (size_t i = 0; i < hosts.item[0].n; i++)
      (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s", i > 0 ? " " : "",
                     hosts.item[0].name[i], hosts.item[0].value[i]);
  bn_sql_read_hosts_free(&hosts);
  return text;
}

static void items_are_hosts_with_ports_or_paths(void **state)
{
  (void)state;
  assert_string_equal(parse(with_socket, "db2"), "host=db2");
  assert_string_equal(parse(with_socket, "db2:3307"), "host=db2 port=3307");
  assert_string_equal(parse(with_socket, "[::1]:3307"), "host=::1 port=3307");
  assert_string_equal(parse(with_socket, "[::1]"), "host=::1");
  assert_string_equal(parse(with_socket, "/run/a:1.sock"), "socket=/run/a:1.sock");
  assert_string_equal(parse(with_socket, "/run/a:1"), "socket=/run/a:1");
  assert_string_equal(parse(without_socket, "/run"), "host=/run");
  assert_string_equal(parse(without_socket, "/run:5433"), "host=/run port=5433");
  assert_string_equal(parse(without_socket, "/run:x"), "host=/run:x");
}

static void what_is_no_server_is_refused(void **state)
{
  static const char *const items[] = {
      "",     ":3306",  "a:",     "a:x",   "a:0",  "a:70000", "a:1:2", "::1",   "[::1",
      "[]:1", "[::1]x", "[::1]:", "[a]:0", "a: 1", "a:+1",    "a b",   "run/a", "a/b:1"};

  (void)state;
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    char text[200];

    (void)snprintf(text, sizeof text,
                   "--db-read-hosts=%s: not a server; allowed: host, host:port, [address], "
                   "[address]:port or an "
                   "absolute path",
                   items[i]);
    assert_string_equal(parse(with_socket, items[i]), text);
  }
  assert_string_equal(parse(of_files, "a"),
                      "--db-read-hosts cannot be used with the database driver "
                      "'d', which has no servers");
}

/* Both lists in turn, and every pair of servers within places * n. */
static void every_pair_of_servers_comes_once(void **state)
{
  (void)state;
  for (size_t places = 1; places <= 6; places++) {
    for (size_t n = 1; n <= 6; n++) {
      const struct bn_sql_read_hosts hosts = {.n = n};
      bool seen[6][6] = {{false}};

      for (unsigned i = 0; i < places * n; i++) {
        const size_t k = bn_sql_read_hosts_choose(&hosts, i, places);

        assert_false(seen[i % places][k]);
        seen[i % places][k] = true;
        if (i < n)
          assert_int_equal(k, i % n);
      }
    }
  }
}

/* The next connection has another read server than one whose server is lost. */
static void a_single_writer_has_all_readers_in_turn(void **state)
{
  (void)state;
  for (size_t n = 1; n <= 6; n++) {
    const struct bn_sql_read_hosts hosts = {.n = n};

    for (unsigned i = 0; i < 3 * n; i++)
      assert_int_equal(bn_sql_read_hosts_choose(&hosts, i, 1), i % n);
  }
}

BN_TESTS(sql_route)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_text_has_its_route),
      cmocka_unit_test(each_server_has_literals_of_its_own),
      cmocka_unit_test(tells_what_turns_a_transaction_to_writing),
      cmocka_unit_test(what_ends_a_read_transaction_and_goes_on_leaves),
      cmocka_unit_test(items_are_hosts_with_ports_or_paths),
      cmocka_unit_test(what_is_no_server_is_refused),
      cmocka_unit_test(every_pair_of_servers_comes_once),
      cmocka_unit_test(a_single_writer_has_all_readers_in_turn),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
