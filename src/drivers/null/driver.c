/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver that answers at once: for dry runs, and to measure all costs but the server's. */
#include <string.h>
#include <strings.h>

#include "api/driver.h"
#include "drivers/null/options.h"

struct null_conn {
  const struct bn_null_conf *conf;
};

/* The kind of result of a statement, known by its first word. */
enum kind { OTHER, ROWS, CHANGES };

struct null_stmt {
  struct null_conn *conn;
  enum kind kind;
};

static const struct {
  const char *word;
  enum kind kind;
} words[] = {
    {"select", ROWS},    {"show", ROWS},      {"explain", ROWS},    {"with", ROWS},
    {"values", ROWS},    {"describe", ROWS},  {"call", ROWS},       {"insert", CHANGES},
    {"update", CHANGES}, {"delete", CHANGES}, {"replace", CHANGES},
};

static bool null_is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static enum kind null_kind_of(const char *sql, size_t len)
{
  const char *const end = sql + len;
  size_t n = 0;

  while (sql < end && !null_is_letter(*sql))
    sql++;
  while (sql + n < end && null_is_letter(sql[n]))
    n++;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i].word) == n && strncasecmp(sql, words[i].word, n) == 0)
      return words[i].kind;
  }
  return OTHER;
}

static int null_init(void **self, const void *conf, const struct bn_driver_host *host,
                     struct bn_err *err)
{
  (void)host;
  (void)err;
  /* The driver only reads it. */
  memcpy(self, &conf, sizeof conf);
  return 0;
}

static enum bn_sql null_connect(void *self, void *conn, const struct bn_sql_target *t,
                                uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct null_conn *c = conn;

  (void)t;
  (void)deadline_ns;
  (void)d;
  c->conf = self;
  return BN_SQL_DONE;
}

static void null_disconnect(void *conn)
{
  (void)conn;
}

static struct bn_sql_caps null_caps(void)
{
  return (struct bn_sql_caps){.multi_rows_insert = true, .prepared_statements = true};
}

static size_t null_quote(void *conn, char *out, const char *in, size_t len)
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

static enum bn_sql null_answer(const struct null_conn *c, enum kind kind, struct bn_sql_result *r)
{
  *r = (struct bn_sql_result){.affected = kind == CHANGES};
  if (kind != ROWS)
    return BN_SQL_DONE;
  r->nrows = (uint64_t)c->conf->rows;
  r->nfields = 1;
  return BN_SQL_ROWS;
}

static enum bn_sql null_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                              struct bn_sql_diag *d)
{
  (void)d;
  return null_answer(conn, null_kind_of(sql, len), r);
}

static enum bn_sql null_prepare(void *conn, void *stmt, const char *sql, size_t len,
                                struct bn_sql_diag *d)
{
  struct null_stmt *st = stmt;

  (void)d;
  st->conn = conn;
  st->kind = null_kind_of(sql, len);
  return BN_SQL_DONE;
}

static enum bn_sql null_bind(void *stmt, const struct bn_sql_bind *b, size_t n,
                             struct bn_sql_diag *d)
{
  (void)stmt;
  (void)b;
  (void)n;
  (void)d;
  return BN_SQL_DONE;
}

static enum bn_sql null_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  const struct null_stmt *st = stmt;

  (void)d;
  return null_answer(st->conn, st->kind, r);
}

static enum bn_sql null_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  (void)stmt;
  (void)d;
  return null_answer(conn, OTHER, r);
}

/* The result itself counts the remaining rows down. */
static bool null_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  (void)conn;
  if (r->nrows == 0)
    return false;
  r->nrows--;
  row[0] = (struct bn_sql_value){.ptr = "1", .len = 1};
  return true;
}

static void null_free_result(void *conn, struct bn_sql_result *r)
{
  (void)conn;
  (void)r;
}

static void null_close(void *stmt)
{
  (void)stmt;
}

static const char *const isolation[BN_ISOLATIONS] = {
    [BN_ISOLATION_READ_UNCOMMITTED] = "",
    [BN_ISOLATION_READ_COMMITTED] = "",
    [BN_ISOLATION_REPEATABLE_READ] = "",
    [BN_ISOLATION_SERIALIZABLE] = "",
};

__attribute__((visibility("default"))) const struct bn_driver bench_driver = {
    .abi = BN_DRIVER_ABI,
    .size = sizeof(struct bn_driver),
    .name = "null",
    .title = "null driver",
    .options = bn_null_options,
    .conf_size = sizeof(struct bn_null_conf),
    .conn_size = sizeof(struct null_conn),
    .stmt_size = sizeof(struct null_stmt),
    .init = null_init,
    .connect = null_connect,
    .disconnect = null_disconnect,
    .caps = null_caps,
    .quote = null_quote,
    .query = null_query,
    .prepare = null_prepare,
    .bind = null_bind,
    .execute = null_execute,
    .next = null_next,
    .fetch = null_fetch,
    .free_result = null_free_result,
    .close = null_close,
    .isolation = isolation,
};
