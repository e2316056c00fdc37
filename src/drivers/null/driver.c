/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver without a server: it answers at once, for dry runs and to measure all costs but the
   server's, or after a given time, to simulate a server. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "api/driver.h"
#include "drivers/common/deadline.h"
#include "drivers/common/quote.h"
#include "drivers/null/options.h"

struct null_driver {
  const struct bn_null_conf *conf;
  uint64_t (*now_ns)(void);
};

struct null_conn {
  const struct bn_null_conf *conf;
  /* The rest is for statements that take time. */
  const struct null_driver *slow; /* NULL: they take none */
  const struct bn_sql_waiter *waiter;
  uint64_t stream; /* of random numbers */
  _Atomic bool interrupted;
  _Atomic bool has_lock; /* lock and woken exist; they do not with a waiter */
  pthread_mutex_t lock;
  pthread_cond_t woken;
};

/* The kind of result of a statement, known by its first word. */
enum kind { OTHER, ROWS, CHANGES };

struct null_stmt {
  struct null_conn *conn;
  enum kind kind;
};

/* The first words of statements with a result; all other statements are OTHER. */
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

/* Returns the kind of result that a text has, by its first word. */
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

/* Returns the next 64 bits of a random stream, and advances it, by the generator splitmix64. */
static uint64_t null_draw(uint64_t *stream)
{
  uint64_t z = *stream += UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* The SQLSTATE of a failed connection. */
static const char interrupted_state[] = "08006";

static int null_init(void **self, const void *conf, const struct bn_driver_host *host,
                     struct bn_err *err)
{
  struct null_driver *driver = host->alloc(1, sizeof *driver);

  (void)err;
  *self = driver;
  driver->conf = conf;
  driver->now_ns = host->now_ns;
  return 0;
}

static void null_done(void *self)
{
  free(self);
}

/* Prepares a connection for statements that take time.  With a waiter there is no lock.  has_lock
   is set last: another thread may then call null_interrupt, which uses lock and woken. */
static void null_make_slow(struct null_conn *c, const struct null_driver *driver,
                           const struct bn_sql_target *t)
{
  uint64_t seed = t->ordinal;
  pthread_condattr_t attr;

  c->slow = driver;
  c->waiter = t->waiter;
  /* Consecutive ordinals differ in few bits; the numbers drawn from them are unrelated seeds. */
  c->stream = null_draw(&seed);
  if (t->waiter != NULL)
    return;
  (void)pthread_condattr_init(&attr);
  (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&c->woken, &attr);
  (void)pthread_condattr_destroy(&attr);
  (void)pthread_mutex_init(&c->lock, NULL);
  atomic_store(&c->has_lock, true);
}

/* Opens a connection, which never fails and needs no time. */
static enum bn_sql null_connect(void *self, void *conn, const struct bn_sql_target *t,
                                uint64_t deadline_ns, struct bn_sql_diag *d)
{
  const struct null_driver *driver = self;
  struct null_conn *c = conn;

  (void)deadline_ns;
  (void)d;
  c->conf = driver->conf;
  if (!bn_delay_is_none(&driver->conf->delay))
    null_make_slow(c, driver, t);
  return BN_SQL_DONE;
}

/* Frees the lock, if there is one.  has_lock is cleared first, as it was set last. */
static void null_disconnect(void *conn)
{
  struct null_conn *c = conn;

  if (!atomic_load(&c->has_lock))
    return;
  atomic_store(&c->has_lock, false);
  (void)pthread_mutex_destroy(&c->lock);
  (void)pthread_cond_destroy(&c->woken);
}

/* Ends a sleep.  A connection with a waiter has no lock to sleep with: its waiter is interrupted by
   its own means. */
static void null_interrupt(void *conn)
{
  struct null_conn *c = conn;

  atomic_store(&c->interrupted, true);
  if (!atomic_load(&c->has_lock))
    return;
  (void)pthread_mutex_lock(&c->lock);
  (void)pthread_cond_signal(&c->woken);
  (void)pthread_mutex_unlock(&c->lock);
}

/* Sleeps until until_ns, or until the connection is interrupted. */
static void null_sleep(struct null_conn *c, uint64_t until_ns)
{
  const struct timespec until = {.tv_sec = (time_t)(until_ns / BN_NS_PER_S),
                                 .tv_nsec = (long)(until_ns % BN_NS_PER_S)};
  int rc = 0;

  (void)pthread_mutex_lock(&c->lock);
  while (!atomic_load(&c->interrupted) && rc != ETIMEDOUT)
    rc = pthread_cond_timedwait(&c->woken, &c->lock, &until);
  (void)pthread_mutex_unlock(&c->lock);
}

/* Waits for as long as a statement takes, by --null-latency.  Returns DONE, or LOST and d if the
   connection has been interrupted. */
static enum bn_sql null_spend_time(struct null_conn *c, struct bn_sql_diag *d)
{
  /* A double has 53 bits, so the upper 53 random bits make a number in [0, 1). */
  const double uniform = (double)(null_draw(&c->stream) >> 11) * 0x1p-53;
  const uint64_t until_ns = c->slow->now_ns() + bn_delay_draw(&c->conf->delay, uniform);

  if (c->waiter == NULL) {
    null_sleep(c, until_ns);
  } else if (!atomic_load(&c->interrupted)) {
    (void)c->waiter->wait(c->waiter, -1, 0, NULL, until_ns); /* for the time, but for no socket */
    /* The waiter returns early only if the session was interrupted. */
    if (c->slow->now_ns() < until_ns)
      atomic_store(&c->interrupted, true);
  }
  if (!atomic_load(&c->interrupted))
    return BN_SQL_DONE;
  d->call = "null driver";
  (void)snprintf(d->state, sizeof d->state, "%s", interrupted_state);
  (void)snprintf(d->text, sizeof d->text, "the connection was interrupted");
  return BN_SQL_LOST;
}

static enum bn_sql_class null_classify(const struct bn_sql_diag *d)
{
  return strcmp(d->state, interrupted_state) == 0 ? BN_CLASS_CONNECTION : BN_CLASS_OTHER;
}

static struct bn_sql_caps null_caps(void)
{
  return (struct bn_sql_caps){.syntax = BN_SYNTAX_STANDARD};
}

static size_t null_quote(void *conn, char *out, const char *in, size_t len)
{
  (void)conn;
  return bn_quote_double(out, in, len);
}

/* Answers a statement at once: with the rows that --null-rows asks for, or with one row that was
   changed, or with nothing. */
static enum bn_sql null_answer(const struct null_conn *c, enum kind kind, struct bn_sql_result *r)
{
  *r = (struct bn_sql_result){.affected = kind == CHANGES};
  if (kind != ROWS)
    return BN_SQL_DONE;
  r->nrows = (uint64_t)c->conf->rows;
  r->nfields = 1;
  return BN_SQL_ROWS;
}

/* Answers a statement after its time.  The function is not inline, so that a statement that takes
   no time saves no registers for it. */
__attribute__((noinline, cold)) static enum bn_sql null_answer_late(struct null_conn *c,
                                                                    enum kind kind,
                                                                    struct bn_sql_result *r,
                                                                    struct bn_sql_diag *d)
{
  const enum bn_sql rc = null_spend_time(c, d);

  return rc == BN_SQL_DONE ? null_answer(c, kind, r) : rc;
}

static enum bn_sql null_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                              struct bn_sql_diag *d)
{
  const enum kind kind = null_kind_of(sql, len);
  struct null_conn *c = conn;

  if (c->slow != NULL)
    return null_answer_late(c, kind, r, d);
  return null_answer(c, kind, r);
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

  if (st->conn->slow != NULL)
    return null_answer_late(st->conn, st->kind, r, d);
  return null_answer(st->conn, st->kind, r);
}

/* Says that there is no further result; no statement has one. */
static enum bn_sql null_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  (void)stmt;
  (void)d;
  return null_answer(conn, OTHER, r);
}

/* Sets *row to "1", the row that every result repeats.  Returns false once r->nrows, the number of
   rows that remain, is 0. */
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
    .done = null_done,
    .connect = null_connect,
    .disconnect = null_disconnect,
    .caps = null_caps,
    .classify = null_classify,
    .interrupt = null_interrupt,
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
    .waits = true,
};
