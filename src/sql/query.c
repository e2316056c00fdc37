/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of every statement: is the connection ready, run it, count it, keep its result. */
#include <stddef.h>
#include <strings.h>

#include "base/log.h"
#include "sql/internal.h"

static bool begins_with(const char *sql, size_t len, const char *word, size_t word_len)
{
  return len >= word_len && strncasecmp(sql, word, word_len) == 0;
}

enum bn_sql_kind bn_sql_kind_of(const struct bn_sqlsys *sys, const char *sql, size_t len)
{
  if (__builtin_expect(!sys->by_first_word, 1))
    return BN_SQL_BY_RESULT;
  while (len > 0 && (*sql == ' ' || *sql == '\t' || *sql == '\n' || *sql == '\r')) {
    sql++;
    len--;
  }
  if (begins_with(sql, len, "select", 6))
    return BN_SQL_READ;
  if (begins_with(sql, len, "insert", 6) || begins_with(sql, len, "update", 6) ||
      begins_with(sql, len, "delete", 6))
    return BN_SQL_WRITE;
  if (begins_with(sql, len, "commit", 6) || begins_with(sql, len, "unlock tables", 13))
    return BN_SQL_COMMIT;
  return BN_SQL_OTHER;
}

bool bn_sql_begin(struct bn_sql_conn *c)
{
  if (__builtin_expect(c->state != BN_CONN_OPEN, 0)) {
    bn_log(BN_ALERT, "attempt to use an already closed connection");
    bn_sql_refuse(c);
    return false;
  }
  /* A signal ended the command between two of its statements: no further one is begun. */
  if (__builtin_expect(bn_session_interrupted(c->session), 0)) {
    bn_sql_refuse(c);
    bn_sql_end_quietly(c);
    return false;
  }
  if (c->live || c->more)
    bn_sql_result_pass(c);
  c->source = NULL;
  if (__builtin_expect(c->pending, 0))
    bn_sql_keep_failure(c);
  c->view.error = BN_VERDICT_NONE;
  c->view.sql_errno = 0;
  return true;
}

static unsigned counter_of(enum bn_sql_kind kind, enum bn_sql rc, uint64_t affected)
{
  if (kind == BN_SQL_READ || (kind == BN_SQL_BY_RESULT && rc == BN_SQL_ROWS))
    return BN_C_READ;
  if (kind == BN_SQL_WRITE || (kind == BN_SQL_BY_RESULT && affected > 0))
    return BN_C_WRITE;
  return BN_C_OTHER;
}

struct bn_sql_rs *bn_sql_finish(struct bn_sql_conn *c, enum bn_sql rc, uint64_t since,
                                enum bn_sql_kind kind, const char *sql, size_t len)
{
  struct bn_stat *stat = c->session->stat;
  const uint64_t took = bn_clock_now(&c->session->clock) - since;

  if (__builtin_expect(took > bn_stat_get(&stat->longest_statement_ns), 0))
    atomic_store_explicit(&stat->longest_statement_ns, took, memory_order_relaxed);
  if (__builtin_expect(c->owner->timed, 0))
    bn_stat_record(stat, BN_SQL_H_EXECUTE, took);
  if (__builtin_expect(rc > BN_SQL_ROWS, 0)) {
    bn_sql_failed(c, rc, BN_STEP_QUERY, sql, len);
    return NULL;
  }
  if (__builtin_expect(kind != BN_SQL_UNCOUNTED, 1))
    bn_stat_count(stat, counter_of(kind, rc, c->result.affected), 1);
  if (__builtin_expect(kind == BN_SQL_COMMIT, 0) && c->owner->count_commits)
    bn_stat_count(stat, BN_SQL_C_COMMITS, 1);
  c->more = c->result.more;
  if (rc == BN_SQL_DONE) {
    c->rs.nrows = c->rs.nfields = 0;
    return NULL;
  }
  c->live = true;
  c->rs.nrows = c->result.nrows < UINT32_MAX ? (uint32_t)c->result.nrows : UINT32_MAX;
  c->rs.nfields = c->result.nfields;
  return &c->rs;
}

struct bn_sql_rs *bn_sql_query(struct bn_sql_conn *c, const char *sql, size_t len)
{
  uint64_t since;
  enum bn_sql rc;

  if (!bn_sql_begin(c))
    return NULL;
  bn_sql_trace(c, sql, len);
  since = bn_clock_now(&c->session->clock);
  rc = __builtin_expect(c->more, 0) ? bn_sql_result_blocks(c, BN_STEP_QUERY, false)
                                    : c->ops->query(c->handle, sql, len, &c->result, &c->diag);
  return bn_sql_finish(c, rc, since, bn_sql_kind_of(c->sys, sql, len), sql, len);
}
