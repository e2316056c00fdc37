/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: which server gets each statement, and what becomes of both connections. */
#include <string.h>

#include "cm.h"
#include "sql/conn.h"
#include "sqlfake.h"

/* A driver of two servers, W and R, that knows transactions.  It notes "W SELECT 1;" for a query,
   with p, x and c behind the server's letter for prepared statements. */

enum { PLACES = 2 };

struct conn {
  char server;
  bool open, in_transaction, manual;
};

struct stmt {
  struct conn *conn;
  char text[80];
};

static struct {
  char log[2000];
  char refuses; /* to connect: this server, so many times */
  unsigned refusals;
  const char *loses; /* the connection that executes this is lost */
  char full;         /* this server prepares nothing */
  unsigned open;     /* connections */
  unsigned interrupted;
  unsigned places; /* write servers; 0: PLACES */
  bool writer_elsewhere, reader_elsewhere;
} servers;

__attribute__((format(printf, 1, 2))) static void note(const char *fmt, ...)
{
  const size_t len = strlen(servers.log);
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(servers.log + len, sizeof servers.log - len, fmt, ap);
  va_end(ap);
}

static struct bn_sql_caps caps(void)
{
  return (struct bn_sql_caps){.syntax = BN_SYNTAX_MYSQL};
}

static enum bn_sql refuse(struct bn_sql_diag *d, enum bn_sql rc)
{
  d->code = 2013;
  (void)snprintf(d->text, sizeof d->text, "gone");
  return rc;
}

static enum bn_sql connect_to(void *self, void *conn, const struct bn_sql_target *t,
                              uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct conn *c = conn;

  (void)self;
  (void)deadline_ns;
  c->server = t->n_overrides > 0 ? 'R' : 'W';
  *(c->server == 'R' ? &servers.reader_elsewhere : &servers.writer_elsewhere) = t->elsewhere;
  if (c->server == 'R')
    note("R at %s:%s;", t->override_value[0], t->override_value[1]);
  else
    note("W at %u;", t->ordinal % PLACES);
  if (servers.refuses == c->server && servers.refusals > 0) {
    servers.refusals--;
    return refuse(d, BN_SQL_ERROR);
  }
  c->open = true;
  servers.open++;
  return BN_SQL_DONE;
}

static void disconnect(void *conn)
{
  struct conn *c = conn;

  servers.open -= c->open;
  c->open = false;
}

static void interrupt(void *conn)
{
  assert_true(((struct conn *)conn)->open);
  servers.interrupted++;
}

static size_t quote(void *conn, char *out, const char *in, size_t len)
{
  (void)conn;
  memcpy(out, in, len);
  return len;
}

static bool begins(const char *sql, const char *word)
{
  return strncmp(sql, word, strlen(word)) == 0;
}

static enum bn_sql carry_out(struct conn *c, const char *sql, struct bn_sql_result *r,
                             struct bn_sql_diag *d)
{
  assert_true(c->open);
  *r = (struct bn_sql_result){.nfields = 1, .nrows = 1};
  if (servers.loses != NULL && begins(sql, servers.loses)) {
    servers.loses = NULL;
    return refuse(d, BN_SQL_LOST);
  }
  if (begins(sql, "BEGIN") || begins(sql, "START"))
    c->in_transaction = true;
  if (begins(sql, "COMMIT") || begins(sql, "ROLLBACK"))
    c->in_transaction = strstr(sql, "BEGIN") != NULL;
  if (begins(sql, "SET autocommit") || begins(sql, "SET @@autocommit"))
    c->manual = strstr(sql, "0") != NULL;
  return begins(sql, "SELECT") ? BN_SQL_ROWS : BN_SQL_DONE;
}

static enum bn_sql query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                         struct bn_sql_diag *d)
{
  struct conn *c = conn;

  (void)len;
  note("%c %s;", c->server, sql);
  return carry_out(c, sql, r, d);
}

static enum bn_sql prepare(void *conn, void *stmt, const char *sql, size_t len,
                           struct bn_sql_diag *d)
{
  struct stmt *st = stmt;

  (void)len;
  st->conn = conn;
  note("%cp %s;", st->conn->server, sql);
  (void)snprintf(st->text, sizeof st->text, "%s", sql);
  return st->conn->server == servers.full ? refuse(d, BN_SQL_EMULATE) : BN_SQL_DONE;
}

static enum bn_sql bind(void *stmt, const struct bn_sql_bind *b, size_t n, struct bn_sql_diag *d)
{
  const struct stmt *st = stmt;

  (void)b;
  (void)d;
  note("%cb %zu;", st->conn->server, n);
  return BN_SQL_DONE;
}

static enum bn_sql execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  struct stmt *st = stmt;

  note("%cx %s;", st->conn->server, st->text);
  return carry_out(st->conn, st->text, r, d);
}

static enum bn_sql next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  (void)conn;
  (void)stmt;
  (void)r;
  (void)d;
  return BN_SQL_DONE;
}

static bool fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  const struct conn *c = conn;

  if (r->nrows-- == 0)
    return false;
  row[0] = (struct bn_sql_value){.ptr = &c->server, .len = 1};
  return true;
}

static void free_result(void *conn, struct bn_sql_result *r)
{
  assert_true(((struct conn *)conn)->open);
  (void)r;
}

static void close_stmt(void *stmt)
{
  note("%cc;", ((struct stmt *)stmt)->conn->server);
}

static size_t place(void *self, const struct bn_sql_target *t, char *name, size_t size)
{
  (void)self;
  if (t->n_overrides > 0)
    (void)snprintf(name, size, "%s:%s", t->override_value[0], t->override_value[1]);
  else
    (void)snprintf(name, size, "writer %u", t->ordinal % PLACES);
  if (t->n_overrides > 0)
    return 1;
  return servers.places > 0 ? servers.places : PLACES;
}

static enum bn_sql_transaction transaction(void *conn)
{
  const struct conn *c = conn;

  if (c->manual)
    return BN_TRANSACTION_MANUAL;
  return c->in_transaction ? BN_TRANSACTION_OPEN : BN_TRANSACTION_OWN;
}

static const char *const isolation[BN_ISOLATIONS] = {[BN_ISOLATION_SERIALIZABLE] = "SET level"};

static const struct bn_sql_named silence[] = {{2013, "HY000"}, {0, NULL}};

static const struct bn_opt options[] = {
    {.name = "fake-host", .type = BN_STRING},
    {.name = "fake-port", .type = BN_STRING},
    {.name = "fake-ignore-errors", .type = BN_LIST, .offset = 8},
    BN_OPT_END};

static const struct bn_driver driver = {.abi = BN_DRIVER_ABI,
                                        .size = sizeof(struct bn_driver),
                                        .name = "fake",
                                        .options = options,
                                        .conf_size = 24,
                                        .conn_size = sizeof(struct conn),
                                        .stmt_size = sizeof(struct stmt),
                                        .connect = connect_to,
                                        .disconnect = disconnect,
                                        .caps = caps,
                                        .ignore = {.option = "fake-ignore-errors"},
                                        .interrupt = interrupt,
                                        .quote = quote,
                                        .query = query,
                                        .prepare = prepare,
                                        .bind = bind,
                                        .execute = execute,
                                        .next = next,
                                        .fetch = fetch,
                                        .free_result = free_result,
                                        .close = close_stmt,
                                        .isolation = isolation,
                                        .place = place,
                                        .transaction = transaction,
                                        .silence = silence};

/* --- what scripts do ----------------------------------------------------------------------------
 */

static char host_a[] = "a:1", host_b[] = "b:2", host_c[] = "c:3";
static char *hosts[] = {host_a, host_b, host_c};

static struct bn_sql_conn *begin(struct fixture *f, struct bn_sql_conf conf)
{
  static char lost[] = "2013";
  struct bn_sql_conn *c;

  memset(f, 0, sizeof *f);
  memset(&servers, 0, sizeof servers);
  f->ops = &driver;
  f->ignored = lost;
  f->sql_conf = conf;
  f->sql_conf.read_hosts = (struct bn_list){.item = hosts, .n = 3};
  fixture_open_with(f, BN_V11);
  assert_non_null(f->drv);
  c = bn_sql_connect(f->drv, f->s, NULL, NULL, 0);
  assert_non_null(c);
  return c;
}

static void end(struct fixture *f)
{
  fixture_close(f);
  assert_int_equal(servers.open, 0);
}

static void assert_log(const char *log)
{
  assert_string_equal(servers.log, log);
  servers.log[0] = '\0';
}

static void say(struct bn_sql_conn *c, const char *sql, const char *log)
{
  (void)bn_sql_query(c, sql, strlen(sql));
  assert_log(log);
}

static void execute_and_drop(struct bn_sql_stmt *st)
{
  struct bn_sql_rs *rs = bn_sql_execute(st);

  if (rs != NULL)
    (void)bn_sql_free_result(rs);
}

static uint64_t reads(const struct fixture *f)
{
  return counted(f, BN_SQL_C_COMMITS);
}

static void reads_outside_of_transactions_go_to_the_read_server(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  assert_string_equal(bn_sqlsys_metrics(f.sys)[BN_SQL_C_COMMITS - BN_C_FIXED].name,
                      "read_host_reads");
  assert_log("W at 0;R at a:1;");
  say(c, "SELECT 1", "R SELECT 1;");
  say(c, "UPDATE t", "W UPDATE t;");
  say(c, "SELECT 1 FOR UPDATE", "W SELECT 1 FOR UPDATE;");
  say(c, "BEGIN", "W BEGIN;");
  say(c, "SELECT 2", "W SELECT 2;");
  say(c, "COMMIT", "W COMMIT;");
  say(c, "SELECT 3", "R SELECT 3;");
  assert_int_equal(reads(&f), 2);
  assert_int_equal(counted(&f, BN_C_READ), 4);
  end(&f);
}

static void a_transaction_that_reads_is_on_the_read_server(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  assert_log("W at 0;R at a:1;");
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "UPDATE t", "R UPDATE t;");
  say(c, "ROLLBACK", "R ROLLBACK;");
  say(c, "UPDATE t", "W UPDATE t;");
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "BEGIN", "R COMMIT;W BEGIN;");
  /* Now another one is open. */
  say(c, "START TRANSACTION READ ONLY", "W START TRANSACTION READ ONLY;");
  say(c, "SELECT 1", "W SELECT 1;");
  say(c, "ROLLBACK", "W ROLLBACK;");
  say(c, "ROLLBACK", "W ROLLBACK;");
  /* Other spellings, and what ends it unasked. */
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "# more\nBEGIN", "R COMMIT;W # more\nBEGIN;");
  say(c, "COMMIT", "W COMMIT;");
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "/*!40000 BEGIN */", "R COMMIT;W /*!40000 BEGIN */;");
  say(c, "COMMIT", "W COMMIT;");
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "LOCK TABLES t WRITE", "R COMMIT;W LOCK TABLES t WRITE;");
  say(c, "UNLOCK TABLES", "W UNLOCK TABLES;");
  end(&f);
}

static void a_session_without_autocommit_ends_its_reading(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  assert_log("W at 0;R at a:1;");
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "SET @@autocommit=0", "R COMMIT;W SET @@autocommit=0;");
  say(c, "UPDATE t", "W UPDATE t;");
  say(c, "SELECT 1", "W SELECT 1;");
  say(c, "COMMIT", "W COMMIT;");
  end(&f);
}

/* The read server would carry it out, or have a transaction open that can write. */
static void what_follows_a_read_transaction_is_on_the_write_server(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});
  struct bn_sql_stmt *st;

  (void)state;
  assert_log("W at 0;R at a:1;");
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "COMMIT; BEGIN", "R COMMIT;W COMMIT; BEGIN;");
  say(c, "UPDATE t", "W UPDATE t;");
  say(c, "ROLLBACK", "W ROLLBACK;");
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  say(c, "SELECT 1; SELECT 2", "R SELECT 1; SELECT 2;");
  say(c, "DROP TABLE t", "R COMMIT;W DROP TABLE t;");
  say(c, "UPDATE t", "W UPDATE t;");
  st = bn_sql_prepare(c, "TRUNCATE t", strlen("TRUNCATE t"));
  say(c, "START TRANSACTION READ ONLY", "Wp TRUNCATE t;R START TRANSACTION READ ONLY;");
  execute_and_drop(st);
  assert_log("R COMMIT;Wx TRUNCATE t;");
  bn_sql_stmt_free(st);
  end(&f);
}

static void what_the_write_server_holds_is_read_there(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  assert_log("W at 0;R at a:1;");
  say(c, "LOCK TABLES t WRITE", "W LOCK TABLES t WRITE;");
  say(c, "SELECT 1", "W SELECT 1;");
  say(c, "UNLOCK TABLES", "W UNLOCK TABLES;");
  say(c, "SELECT 2", "R SELECT 2;");
  say(c, "XA START 'a'", "W XA START 'a';");
  say(c, "SELECT 3", "W SELECT 3;");
  say(c, "XA COMMIT 'a'", "W XA COMMIT 'a';");
  say(c, "SELECT 4", "R SELECT 4;");
  say(c, "SET autocommit=0", "W SET autocommit=0;");
  say(c, "SELECT 5", "W SELECT 5;");
  say(c, "COMMIT", "W COMMIT;");
  say(c, "SELECT 6", "W SELECT 6;");
  say(c, "SET autocommit=1", "W SET autocommit=1;");
  say(c, "SELECT 7", "R SELECT 7;");
  end(&f);
}

static void what_is_no_part_of_the_load_is_asked_on_the_write_server(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  assert_log("W at 0;R at a:1;");
  (void)bn_sql_query_uncounted(c, "SELECT 1", strlen("SELECT 1"));
  assert_log("W SELECT 1;");
  say(c, "SELECT 1", "R SELECT 1;");
  end(&f);
}

static void rows_come_from_the_server_that_was_asked(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});
  struct bn_sql_rs *rs;

  (void)state;
  for (const char *sql = "SELECT 1"; sql != NULL;
       sql = sql[8] == '\0' ? "SELECT 1 FOR UPDATE" : NULL) {
    rs = bn_sql_query(c, sql, strlen(sql));
    assert_non_null(rs);
    assert_true(bn_sql_fetch(rs));
    assert_int_equal(*rs->values[0].ptr, sql[8] == '\0' ? 'R' : 'W');
    assert_int_equal(bn_sql_free_result(rs), 0);
  }
  end(&f);
}

static int64_t value = 7;
static const struct bn_sql_bind one = {.type = BN_SQL_INT64, .data = &value};

static struct bn_sql_stmt *make(struct bn_sql_conn *c, const char *sql)
{
  struct bn_sql_stmt *st = bn_sql_prepare(c, sql, strlen(sql));

  assert_non_null(st);
  assert_int_equal(bn_sql_bind(st, &one, 1), 0);
  return st;
}

static void statements_are_prepared_where_they_are_executed(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});
  struct bn_sql_stmt *st;

  (void)state;
  assert_log("W at 0;R at a:1;");
  st = make(c, "SELECT ?");
  assert_log("Rp SELECT ?;Rb 1;");
  execute_and_drop(st);
  assert_log("Rx SELECT ?;");
  say(c, "BEGIN", "W BEGIN;");
  execute_and_drop(st);
  assert_log("Wp SELECT ?;Wb 1;Wx SELECT ?;");
  execute_and_drop(st);
  assert_log("Wx SELECT ?;");
  assert_int_equal(bn_sql_bind(st, &one, 1), 0);
  assert_log("Wb 1;Rb 1;");
  say(c, "COMMIT", "W COMMIT;");
  execute_and_drop(st);
  assert_log("Rx SELECT ?;");
  bn_sql_stmt_free(st);
  assert_log("Wc;Rc;");
  st = make(c, "UPDATE ?");
  execute_and_drop(st);
  assert_log("Wp UPDATE ?;Wb 1;Wx UPDATE ?;");
  bn_sql_stmt_free(st);
  assert_log("Wc;");
  end(&f);
}

static void a_server_that_prepares_no_more_gets_text(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});
  struct bn_sql_stmt *st = make(c, "SELECT ?");

  (void)state;
  servers.full = 'W';
  say(c, "BEGIN", "W at 0;R at a:1;Rp SELECT ?;Rb 1;W BEGIN;");
  execute_and_drop(st);
  assert_log("Wp SELECT ?;W SELECT 7;");
  execute_and_drop(st);
  assert_log("W SELECT 7;");
  say(c, "COMMIT", "W COMMIT;");
  execute_and_drop(st);
  assert_log("Rx SELECT ?;");
  bn_sql_stmt_free(st);
  assert_log("Rc;");
  end(&f);
}

static void assert_label(const struct fixture *f, unsigned index, size_t i, const char *name)
{
  struct bn_label label[3];

  assert_int_equal(bn_labels_read(f->stats.labels[index], label, 3), 2);
  assert_string_equal(label[i].name, name);
  assert_int_equal(label[i].n, 1);
}

static void a_loss_on_either_side_makes_both_anew(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  assert_log("W at 0;R at a:1;");
  servers.loses = "SELECT";
  say(c, "SELECT 1", "R SELECT 1;W at 1;R at b:2;");
  assert_int_equal(c->view.error, BN_VERDICT_IGNORABLE);
  say(c, "SELECT 2", "R SELECT 2;");
  servers.loses = "UPDATE";
  servers.refuses = 'R';
  servers.refusals = 1;
  say(c, "UPDATE t", "W UPDATE t;W at 0;R at c:3;W at 1;R at a:1;");
  assert_int_equal(servers.open, 2);
  assert_label(&f, BN_SQL_L_LOSSES, 0, "a:1");
  assert_label(&f, BN_SQL_L_LOSSES, 1, "writer 1");
  assert_label(&f, BN_SQL_L_RECONNECTS, 0, "b:2");
  assert_label(&f, BN_SQL_L_RECONNECTS, 1, "writer 1");
  /* A transaction there went with the connection. */
  say(c, "START TRANSACTION READ ONLY", "R START TRANSACTION READ ONLY;");
  servers.loses = "SELECT";
  say(c, "SELECT 3", "R SELECT 3;W at 0;R at b:2;");
  say(c, "UPDATE t", "W UPDATE t;");
  end(&f);
}

static void both_servers_have_the_isolation_level(void **state)
{
  struct fixture f;

  (void)state;
  (void)begin(&f, (struct bn_sql_conf){.isolation = BN_ISOLATION_SERIALIZABLE});
  assert_log("W at 0;R at a:1;W SET level;R SET level;");
  end(&f);
}

/* A silent server is given up for another one of its kind. */
static void each_of_a_pair_has_others_to_go_to_or_not(void **state)
{
  static const struct {
    unsigned places, readers;
    bool writer, reader;
  } rows[] = {{2, 3, true, true}, {1, 3, false, true}, {2, 1, true, false}, {1, 1, false, false}};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    static char lost[] = "2013";
    struct fixture f = {.ops = &driver, .ignored = lost};

    memset(&servers, 0, sizeof servers);
    servers.places = rows[i].places;
    f.sql_conf.read_hosts = (struct bn_list){.item = hosts, .n = rows[i].readers};
    fixture_open_with(&f, BN_V11);
    assert_non_null(bn_sql_connect(f.drv, f.s, NULL, NULL, 0));
    assert_int_equal(servers.writer_elsewhere, rows[i].writer);
    assert_int_equal(servers.reader_elsewhere, rows[i].reader);
    end(&f);
  }
}

static void connections_with_a_host_of_their_own_are_single(void **state)
{
  static const char *const name[] = {"host", "port"}, *const at[] = {"x", "9"};
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  assert_log("W at 0;R at a:1;");
  c = bn_sql_connect(f.drv, f.s, name, at, 2);
  assert_non_null(c);
  assert_log("R at x:9;");
  say(c, "UPDATE t", "R UPDATE t;");
  assert_int_equal(bn_sql_disconnect(c), 0);
  bn_sql_conn_free(c);
  /* The next one has its memory. */
  c = bn_sql_connect(f.drv, f.s, NULL, NULL, 0);
  assert_log("W at 0;R at c:3;");
  say(c, "SELECT 1", "R SELECT 1;");
  end(&f);
}

static void commands_use_one_server(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c;

  (void)state;
  memset(&f, 0, sizeof f);
  memset(&servers, 0, sizeof servers);
  f.ops = &driver;
  f.sql_conf.read_hosts = (struct bn_list){.item = hosts, .n = 3};
  fixture_open_with(&f, BN_V11);
  f.services.is_command = true;
  c = bn_sql_connect(f.drv, f.s, NULL, NULL, 0);
  assert_log("W at 0;");
  say(c, "SELECT 1", "W SELECT 1;");
  end(&f);
}

static void interrupts_reach_both(void **state)
{
  struct fixture f;
  struct bn_sql_conn *c = begin(&f, (struct bn_sql_conf){.debug = false});

  (void)state;
  c->link.ops->interrupt(c->link.handle);
  assert_int_equal(servers.interrupted, 2);
  end(&f);
}

BN_TESTS(sql_split)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_outside_of_transactions_go_to_the_read_server),
      cmocka_unit_test(a_transaction_that_reads_is_on_the_read_server),
      cmocka_unit_test(a_session_without_autocommit_ends_its_reading),
      cmocka_unit_test(what_follows_a_read_transaction_is_on_the_write_server),
      cmocka_unit_test(what_the_write_server_holds_is_read_there),
      cmocka_unit_test(what_is_no_part_of_the_load_is_asked_on_the_write_server),
      cmocka_unit_test(rows_come_from_the_server_that_was_asked),
      cmocka_unit_test(statements_are_prepared_where_they_are_executed),
      cmocka_unit_test(a_server_that_prepares_no_more_gets_text),
      cmocka_unit_test(a_loss_on_either_side_makes_both_anew),
      cmocka_unit_test(both_servers_have_the_isolation_level),
      cmocka_unit_test(each_of_a_pair_has_others_to_go_to_or_not),
      cmocka_unit_test(connections_with_a_host_of_their_own_are_single),
      cmocka_unit_test(commands_use_one_server),
      cmocka_unit_test(interrupts_reach_both),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
