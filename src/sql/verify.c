/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --verify-commits, before and after the events: makes the table, compares it, drops it. */
#include "sql/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "sql/errors.h"

/* The servers of a list may have a commit a while after it was acknowledged, so a missing commit is
   waited for.  A user who has stopped the run waits for its report, which does not come if it takes
   3 s after a second signal (engine/signals.c), so the work is cut short then. */
enum {
  PATIENCE_MS = 10000, /* the longest that the table is made, awaited, compared or dropped */
  STEADY_MS = 2000,    /* comparing ends if no further commit has been found for this time */
  VISIT_MS = 2000,     /* the longest visit without its login, unless it gets_all_time */
  HURRY_MS = 1500,     /* the longest that any work goes on after the run was stopped */
  DROP_MS = 1000,      /* the least time for dropping the table, even then */
  PAUSE_MS = 50        /* the pause before servers are asked again */
};

/* Bytes for any statement of this file, with the name of the table. */
enum { STATEMENT_ROOM = 128 };

/* A server that is to be asked. */
struct server {
  unsigned ordinal;
  size_t n_unasked;   /* servers among which the time that is left is divided, this one included */
  bool gets_all_time; /* the visit may last as long as the present work */
};

/* A connection to one of the servers, which is closed after a few statements. */
struct visit {
  struct bn_sql_verify *verify;
  unsigned ordinal; /* of the server */
  struct bn_sql_link link;
  struct bn_sql_alarm alarm;
  bool connected;
  bool has_alarm;
  bool lost; /* in a statement, which may have been carried out */
  struct bn_sql_diag diag;
};

/* The rows that a server has, beside what this run knows of them. */
struct content {
  const struct bn_sql_commit_row *newest;
  struct bn_sql_known_row *known; /* by id, from 0 to n */
  uint64_t n;
  bool marked; /* the row with id 0 is there, with which the table was made */
  bool absent; /* the server has said that there is no such table, or no such row */
};

void bn_sql_verify_init(struct bn_sql_verify *v)
{
  (void)pthread_mutex_init(&v->lock, NULL);
  (void)pthread_mutex_init(&v->ledger.lock, NULL);
}

void bn_sql_verify_done(struct bn_sql_verify *v)
{
  struct bn_sql_commit_row *row, *next;

  for (row = v->ledger.newest; row != NULL; row = next) {
    next = row->next;
    free(row);
  }
  (void)pthread_mutex_destroy(&v->ledger.lock);
  (void)pthread_mutex_destroy(&v->lock);
}

/* --- one server --- */

/* Names a server as users write it, or, if its driver gives no names, by the driver's name.
   Returns how many servers there are. */
static size_t verify_name_place(const struct bn_sql_verify *v, unsigned ordinal, char *name,
                                size_t size)
{
  const struct bn_sql_verified *drv = &v->drv;
  const struct bn_sql_target target = {.ordinal = ordinal};

  (void)snprintf(name, size, "%s", drv->ops->name);
  return drv->ops->place != NULL ? drv->ops->place(drv->self, &target, name, size) : 1;
}

static size_t verify_count_places(const struct bn_sql_verify *v)
{
  return verify_name_place(v, 0, NULL, 0);
}

/* Sets err to "cannot ACTION SERVER: REASON"; the action ends with a preposition.  Returns -1. */
static int verify_fail(const struct visit *visit, const char *action, struct bn_err *err)
{
  char name[BN_LABEL_LEN];

  (void)verify_name_place(visit->verify, visit->ordinal, name, sizeof name);
  return bn_err_set(err, visit->diag.code, "--verify-commits: cannot %s %s: %s", action, name,
                    visit->diag.text);
}

/* Returns the time that is `ms` milliseconds from now. */
static uint64_t verify_after_ms(unsigned ms)
{
  return bn_clock_mono() + ms * BN_NSEC_PER_MSEC;
}

/* Returns whether somebody has asked the run to stop. */
static bool verify_is_hurried(const struct bn_sql_verify *v)
{
  return v->session != NULL && bn_session_deadline(v->session) == 0;
}

/* Moves the end of the present work, v->until_ns, to HURRY_MS from now at most if the run has been
   stopped; later calls do not put it off.  Returns it. */
static uint64_t verify_update_deadline(struct bn_sql_verify *v)
{
  if (verify_is_hurried(v))
    v->until_ns = bn_clock_min(v->until_ns, verify_after_ms(HURRY_MS));
  return v->until_ns;
}

/* Returns the server to be asked after n_asked of n servers, which are asked in turn, beginning
   with `first`. */
static struct server verify_server_at(const struct bn_sql_verify *v, unsigned first,
                                      unsigned n_asked, size_t n)
{
  return (struct server){.ordinal = (unsigned)((first + n_asked) % verify_count_places(v)),
                         .n_unasked = n - n_asked};
}

/* Returns whether it is too late to ask another server after n_asked of them.  The first one is
   always asked: drivers wait a second for a server that does not answer, even if less time is
   left. */
static bool verify_is_too_late(struct bn_sql_verify *v, unsigned n_asked)
{
  return n_asked > 0 && bn_clock_mono() >= verify_update_deadline(v);
}

/* Returns the latest end of a visit that begins now: VISIT_MS and the longest login from now. */
static uint64_t verify_visit_limit(const struct bn_sql_verify *v)
{
  return verify_after_ms(VISIT_MS) + v->login_ns;
}

/* Returns when a visit has to end.  A server that gets all time, or that is asked after the end of
   the present work, has no other limit than that end.  Any other server gets an equal share of the
   time that is left, up to verify_visit_limit. */
static uint64_t verify_visit_deadline(struct bn_sql_verify *v, struct server server)
{
  const uint64_t now_ns = bn_clock_mono(), until_ns = verify_update_deadline(v);
  uint64_t share_ns;

  if (server.gets_all_time || until_ns <= now_ns)
    return until_ns;
  share_ns = (until_ns - now_ns) / server.n_unasked;
  return bn_clock_min(verify_visit_limit(v), now_ns + share_ns);
}

/* Connects to a server for a visit, and sets an alarm at its end.  Without an alarm, because the
   driver cannot interrupt a statement, the visit may take longer.  Returns 0, or -1 and err; the
   caller closes the visit in either case. */
static int verify_open_visit(struct visit *visit, struct bn_sql_verify *v, struct server server,
                             struct bn_err *err)
{
  const uint64_t began_ns = bn_clock_mono(), until_ns = verify_visit_deadline(v, server);
  const struct bn_sql_target target = {.ordinal = server.ordinal, .prepared = v->drv.prepared};

  *visit = (struct visit){.verify = v, .ordinal = server.ordinal};
  bn_sql_link_make(&visit->link, v->drv.ops, v->drv.self);
  if (bn_sql_link_connect(&visit->link, &target, until_ns, &visit->diag) != BN_SQL_DONE)
    return verify_fail(visit, "connect to", err);
  visit->connected = true;
  v->login_ns = bn_clock_max(v->login_ns, bn_clock_mono() - began_ns);
  visit->has_alarm = bn_sql_alarm_set(&visit->alarm, &visit->link, until_ns) == 0;
  return 0;
}

/* Closes a visit, also one that could not be opened. */
static void verify_close_visit(struct visit *visit)
{
  if (visit->has_alarm)
    bn_sql_alarm_clear(&visit->alarm);
  bn_sql_link_disconnect(&visit->link);
  bn_sql_link_free(&visit->link);
}

/* Reads a whole number.  Returns false if the value is not one. */
static bool verify_read_number(const struct bn_sql_value *value, uint64_t *out)
{
  char text[24], *end; /* UINT64_MAX has 20 digits */

  if (value->ptr == NULL || value->len == 0 || value->len >= sizeof text)
    return false;
  memcpy(text, value->ptr, value->len);
  text[value->len] = '\0';
  *out = strtoull(text, &end, 10);
  return *end == '\0';
}

/* Adds a row of the table to the content.  A row that this run has not made is left out. */
static void verify_add_row(struct content *c, const struct bn_sql_value pair[2])
{
  uint64_t id, n;

  if (!verify_read_number(&pair[0], &id) || !verify_read_number(&pair[1], &n) || id > c->n)
    return;
  c->known[id].stored = n;
  c->marked |= id == 0;
}

/* Adds the rows of a result to `content`, which may be NULL, and frees the result.  Returns 0, or
   -1 and err as verify_fail if not all rows can be read: rows that were not read would be taken for
   missing commits. */
static int verify_add_rows(struct visit *visit, struct bn_sql_result *r, struct content *content,
                           const char *action, struct bn_err *err)
{
  const struct bn_driver *ops = visit->link.ops;
  struct bn_sql_value row[2];

  while (content != NULL && r->nfields == 2 && ops->fetch(visit->link.handle, r, row))
    verify_add_row(content, row);
  ops->free_result(visit->link.handle, r);
  if (!r->cut)
    return 0;
  (void)snprintf(visit->diag.text, sizeof visit->diag.text,
                 "the rest of the result cannot be read");
  return verify_fail(visit, action, err);
}

/* Executes a statement on the server, and adds its rows to `content`; NULL: none are expected.  A
   hostile server may return a result of any form.  Returns 0, or -1 and err as verify_fail. */
static int verify_execute(struct visit *visit, const char *sql, struct content *content,
                          const char *action, struct bn_err *err)
{
  const struct bn_driver *ops = visit->link.ops;
  struct bn_sql_result r = {0};
  const enum bn_sql rc = ops->query(visit->link.handle, sql, strlen(sql), &r, &visit->diag);

  visit->lost = rc == BN_SQL_LOST;
  if (rc > BN_SQL_ROWS) {
    if (content != NULL)
      content->absent |= ops->missing != NULL && ops->missing(&visit->diag);
    return verify_fail(visit, action, err);
  }
  visit->verify->last_answered = visit->ordinal;
  if (rc == BN_SQL_DONE)
    return 0;
  return verify_add_rows(visit, &r, content, action, err);
}

/* Reads the table.  Returns 0 if the server has said what it has, or -1 and err. */
static int verify_read_table(struct bn_sql_verify *v, struct server server, struct content *content,
                             struct bn_err *err)
{
  struct visit visit;
  char sql[STATEMENT_ROOM];
  int rc;

  bn_sql_verify_snapshot_rows(content->newest, content->known);
  content->marked = false;
  (void)snprintf(sql, sizeof sql, "SELECT id, n FROM %s", v->ledger.table);
  rc = verify_open_visit(&visit, v, server, err);
  if (rc == 0)
    rc = verify_execute(&visit, sql, content, "read its table on", err);
  /* The mark was committed before any row: without it, this is not the table. */
  content->absent |= rc == 0 && !content->marked;
  verify_close_visit(&visit);
  return rc;
}

/* Sleeps before servers are asked again. */
static void verify_pause(void)
{
  bn_clock_sleep_until(verify_after_ms(PAUSE_MS));
}

/* Writes the statement that drops the table.  Returns it. */
static const char *verify_drop_text(const struct bn_sql_verify *v, char sql[STATEMENT_ROOM])
{
  (void)snprintf(sql, STATEMENT_ROOM, "DROP TABLE IF EXISTS %s", v->ledger.table);
  return sql;
}

void bn_sql_verify_log_left_table(const struct bn_sql_verify *v, const char *why)
{
  enum { TEXT_ROOM = 800 }; /* more than a reason and the statement have */
  char sql[STATEMENT_ROOM], text[TEXT_ROOM];

  (void)snprintf(text, sizeof text,
                 "the table of --verify-commits is still there%s%s; to remove it, type \"%s\"",
                 *why != '\0' ? ": " : "", why, verify_drop_text(v, sql));
  bn_log_foreign(text);
}

/* Drops the table on any of n servers, which are asked in turn from `first` on.  They are asked
   again until it is too late: a cluster that has just lost a node refuses the statement for a
   while.  Returns 0, or -1 if the table is left, which is logged. */
static int verify_drop_with_retries(struct bn_sql_verify *v, unsigned first, size_t n)
{
  struct bn_err err = {0};
  char sql[STATEMENT_ROOM];
  int rc;

  (void)verify_drop_text(v, sql);
  do {
    rc = -1;
    for (unsigned i = 0; i < n && rc != 0 && !verify_is_too_late(v, i); i++) {
      struct visit visit;

      rc = verify_open_visit(&visit, v, verify_server_at(v, first, i, n), &err);
      if (rc == 0)
        rc = verify_execute(&visit, sql, NULL, "drop its table on", &err);
      verify_close_visit(&visit);
    }
    if (rc != 0)
      verify_pause();
  } while (rc != 0 && bn_clock_mono() < verify_update_deadline(v));
  if (rc != 0)
    bn_sql_verify_log_left_table(v, err.text);
  return rc;
}

/* Drops the table on any server, which replicates that to the others. */
static void verify_drop_on_any(struct bn_sql_verify *v)
{
  (void)verify_drop_with_retries(v, v->last_answered, verify_count_places(v));
}

/* --- before the events --- */

/* The outcome of an attempt to make the table.  If the attempts on all servers have failed, the
   greatest outcome counts. */
enum attempt {
  MADE,
  NEVER,   /* another attempt would fail as well */
  NOT_NOW, /* another attempt may succeed */
  LEFT     /* there may be a table that could not be dropped: the servers are not asked again */
};

/* Drops the table that was made on this server, because the run cannot use it.  This takes no
   longer than one visit, whatever is left of the time of the work.  Returns as
   verify_drop_with_retries. */
static int verify_discard(struct bn_sql_verify *v, unsigned ordinal)
{
  const uint64_t until_ns = v->until_ns;
  int rc;

  v->until_ns = verify_visit_limit(v);
  rc = verify_drop_with_retries(v, ordinal, 1);
  v->until_ns = until_ns;
  return rc;
}

/* The attempts to make the table.  libpq does not tell a wrong password from a server that is away,
   so only servers that have let us in once are asked again. */
struct attempts {
  size_t places;
  bool *connected; /* by ordinal: the server has let us in once */
  bool all_asked;  /* each server has been asked once */
};

/* Opens a visit, and makes the table with the row with id 0, the mark by which a server shows that
   it has the table of this run.  Sets *may_exist to whether the server may have the table, also
   after a failure.  Returns 0, or -1 and err; the caller closes the visit in either case. */
static int verify_make_on(struct visit *visit, struct bn_sql_verify *v, struct server server,
                          bool *may_exist, struct bn_err *err)
{
  const struct bn_sql_link *link = &visit->link;
  char sql[STATEMENT_ROOM];
  int rc;

  *may_exist = false;
  if (verify_open_visit(visit, v, server, err) != 0)
    return -1;
  (void)snprintf(sql, sizeof sql,
                 "CREATE TABLE %s (id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)",
                 v->ledger.table);
  rc = verify_execute(visit, sql, NULL, "create its table on", err);
  *may_exist = rc == 0 || visit->lost;
  if (rc != 0)
    return rc;
  (void)snprintf(sql, sizeof sql, "INSERT INTO %s (id, n) VALUES (0, 0)", v->ledger.table);
  rc = verify_execute(visit, sql, NULL, "write to its table on", err);
  /* The server may be configured to begin sessions with autocommit off. */
  if (rc == 0 && link->ops->transaction != NULL &&
      link->ops->transaction(link->handle) != BN_TRANSACTION_OWN)
    rc = verify_execute(visit, "COMMIT", NULL, "write to its table on", err);
  return rc;
}

/* Makes the table under a new name on a server, and inserts the mark.  If the mark fails, or if the
   table may exist after a failure, the table is dropped.  If the outcome is not MADE, err says
   why. */
static enum attempt verify_try_server(struct bn_sql_verify *v, unsigned ordinal,
                                      struct attempts *attempts, struct bn_err *err)
{
  const struct server server = {
      .ordinal = ordinal, .n_unasked = 1, .gets_all_time = attempts->places == 1};
  enum attempt outcome = MADE;
  struct visit visit;
  bool may_exist;

  /* The name is a new random one, because a server that was lost in an earlier attempt may still be
     making the table of that attempt. */
  (void)snprintf(v->ledger.table, BN_SQL_COMMITS_NAME, "bench_commits_%016" PRIx64,
                 bn_rng_entropy());
  if (verify_make_on(&visit, v, server, &may_exist, err) != 0) {
    attempts->connected[ordinal] |= visit.connected;
    /* A server that takes over from another one refuses statements only for a moment, but a missing
       right (OTHER) stays missing. */
    if (v->drv.ops->place != NULL && attempts->connected[ordinal] &&
        bn_sql_errors_classify(v->drv.ops, &visit.diag) != BN_CLASS_OTHER)
      outcome = NOT_NOW;
    else
      outcome = NEVER;
  }
  verify_close_visit(&visit);
  if (outcome != MADE && may_exist && verify_discard(v, ordinal) != 0)
    return LEFT;
  return outcome;
}

/* Waits until a server has the table.  Returns 0, or -1 and err if the server does not get it.  The
   first visit only finds out whether the server lets us in.  If it does not, 0 is returned, because
   the run goes on without such a server. */
static int verify_await_table(struct bn_sql_verify *v, struct server server, struct bn_err *err)
{
  struct bn_sql_known_row mark = {0};
  struct content content = {.known = &mark};
  char name[BN_LABEL_LEN];
  struct visit visit;

  if (verify_open_visit(&visit, v, server, err) != 0) {
    verify_close_visit(&visit);
    return 0;
  }
  verify_close_visit(&visit);
  while (verify_read_table(v, server, &content, err) != 0 || !content.marked) {
    const bool may_replicate = v->drv.ops->place != NULL; /* else it is no server */

    if (may_replicate && verify_after_ms(PAUSE_MS) < verify_update_deadline(v)) {
      verify_pause();
      continue;
    }
    if (!content.absent) /* the server could not be asked, as err says */
      return -1;
    (void)verify_name_place(v, server.ordinal, name, sizeof name);
    return bn_err_set(err, 0,
                      "--verify-commits: %s does not have the table that bench has just created; "
                      "list only servers that replicate each other, and use no database in memory",
                      name);
  }
  return 0;
}

/* Makes the table on the first server that accepts it, which is *made_on then.  Servers that have
   never let us in are asked once.  If the table is not MADE, err says why. */
static enum attempt verify_try_each_server(struct bn_sql_verify *v, struct attempts *attempts,
                                           unsigned *made_on, struct bn_err *err)
{
  enum attempt greatest = NEVER;

  for (unsigned i = 0; i < attempts->places; i++) {
    enum attempt outcome;

    if (attempts->all_asked && !attempts->connected[i])
      continue;
    outcome = verify_try_server(v, i, attempts, err);
    if (outcome == MADE) {
      *made_on = i;
      return MADE;
    }
    greatest = outcome > greatest ? outcome : greatest;
  }
  attempts->all_asked = true;
  return greatest;
}

/* Makes the table.  Failures that may pass are followed by another attempt, until it is too late.
   Returns 0, or -1 and err. */
static int verify_make_with_retries(struct bn_sql_verify *v, size_t places, unsigned *made_on,
                                    struct bn_err *err)
{
  struct attempts attempts = {.places = places, .connected = bn_alloc(places, sizeof(bool))};
  enum attempt outcome = verify_try_each_server(v, &attempts, made_on, err);

  while (outcome == NOT_NOW && verify_after_ms(PAUSE_MS) < verify_update_deadline(v)) {
    verify_pause();
    outcome = verify_try_each_server(v, &attempts, made_on, err);
  }
  free(attempts.connected);
  return outcome == MADE ? 0 : -1;
}

/* Makes the table, and waits until all servers that let us in have it.  Returns 0, or -1 and
   err. */
static int verify_set_up_table(struct bn_sql_verify *v, struct bn_err *err)
{
  const size_t places = verify_count_places(v);
  unsigned made_on = 0;
  int rc;

  v->until_ns = verify_after_ms(PATIENCE_MS);
  rc = verify_make_with_retries(v, places, &made_on, err);
  if (rc != 0)
    return rc;
  v->until_ns = verify_after_ms(PATIENCE_MS);
  for (unsigned i = 0; i < places && rc == 0; i++)
    rc = verify_await_table(v, (struct server){.ordinal = i, .n_unasked = 1}, err);
  if (rc != 0)
    (void)verify_discard(v, made_on);
  return rc;
}

/* Makes the layer and the table.  v->made says whether that has succeeded; if not, the reason has
   been logged.  The caller holds the lock. */
static void verify_start_layer(struct bn_sql_verify *v, const struct bn_driver *below,
                               const struct bn_session *s)
{
  struct bn_err err = {0};

  v->layer = (struct bn_sql_committer){
      .ledger = &v->ledger, .trace = v->drv.trace, .driver = v->drv.ops, .caps = v->drv.caps};
  bn_sql_committer_init(&v->layer, below);
  v->session = s;
  v->made = verify_set_up_table(v, &err) == 0;
  v->session = NULL;
  if (!v->made)
    bn_log_failure(&err);
}

const struct bn_sql_committer *bn_sql_verify_start(struct bn_sql_verify *v,
                                                   const struct bn_sql_verified *drv,
                                                   const struct bn_driver *below,
                                                   const struct bn_session *s)
{
  bool is_ours;

  (void)pthread_mutex_lock(&v->lock);
  if (!v->tried) {
    v->tried = true;
    v->drv = *drv;
    verify_start_layer(v, below, s);
  }
  is_ours = v->made && v->drv.ops == drv->ops;
  if (v->made && !is_ours)
    bn_log(BN_FATAL,
           "--verify-commits works with one database driver for each run; the script already uses "
           "'%s'",
           v->drv.ops->name);
  (void)pthread_mutex_unlock(&v->lock);
  return is_ours ? &v->layer : NULL;
}

/* --- after the events --- */

void bn_sql_verify_snapshot_rows(const struct bn_sql_commit_row *newest,
                                 struct bn_sql_known_row *known)
{
  for (const struct bn_sql_commit_row *row = newest; row != NULL; row = row->next) {
    struct bn_sql_known_row *copy = &known[row->id];

    /* A session that goes on counts a commit as acknowledged, and then clears `pending`.  If both
       loads fall between these steps, the commit is also copied as pending, and is one unknown
       commit too many; if both steps fall between the loads, it is not copied at all. */
    copy->acknowledged = atomic_load_explicit(&row->acknowledged, memory_order_acquire);
    copy->pending = atomic_load_explicit(&row->pending, memory_order_acquire);
    copy->stored = 0;
  }
}

struct bn_sql_commit_counts bn_sql_verify_compare(const struct bn_sql_known_row *known, uint64_t n)
{
  struct bn_sql_commit_counts sum = {0};

  for (const struct bn_sql_known_row *row = known + 1; row <= known + n; row++) {
    sum.acknowledged += row->acknowledged;
    sum.missing += row->stored < row->acknowledged ? row->acknowledged - row->stored : 0;
    sum.unknown += row->pending;
    sum.unknown_stored += row->pending && row->stored > row->acknowledged;
  }
  return sum;
}

/* Asks the servers in turn until one of them has all commits.  v->counts becomes the counts of the
   server that lacks the fewest: a server that a failover has left behind does not matter.
   *has_counts says whether any server has answered, now or in an earlier call.  Returns whether
   v->counts have become better. */
static bool verify_ask_all_servers(struct bn_sql_verify *v, struct content *content,
                                   bool *has_counts, struct bn_err *err)
{
  const size_t places = verify_count_places(v);
  const unsigned first = v->last_answered;
  bool has_better = false;

  for (unsigned i = 0; i < places && !verify_is_too_late(v, i); i++) {
    struct bn_sql_commit_counts found;

    if (*has_counts && v->counts.missing == 0)
      break;
    if (verify_read_table(v, verify_server_at(v, first, i, places), content, err) != 0)
      continue;
    found = bn_sql_verify_compare(content->known, content->n);
    if (*has_counts && found.missing >= v->counts.missing)
      continue;
    v->counts = found;
    *has_counts = true;
    has_better = true;
  }
  return has_better;
}

/* Compares the table repeatedly, because replication may lag, until nothing is missing, no further
   commit has been found for STEADY_MS, or the time is over.  Returns 0 if v->counts are those of a
   server; err may then tell of another server that could not be asked.  Returns -1 and err if no
   server could be asked. */
static int verify_compare_until_steady(struct bn_sql_verify *v, struct content *content,
                                       struct bn_err *err)
{
  bool has_counts = false;
  uint64_t steady_ns = 0;

  for (;;) {
    if (verify_ask_all_servers(v, content, &has_counts, err))
      steady_ns = verify_after_ms(STEADY_MS);
    if (has_counts && (v->counts.missing == 0 || bn_clock_mono() >= steady_ns))
      return 0;
    if (bn_clock_mono() >= verify_update_deadline(v))
      return has_counts ? 0 : -1;
    verify_pause();
  }
}

/* Compares the table and drops it.  Returns 0, or -1 and err if commits are missing, or no server
   could be asked: then the table is left. */
static int verify_compare_and_drop(struct bn_sql_verify *v, struct content *content,
                                   struct bn_err *err)
{
  unsigned drop_ms;

  if (verify_compare_until_steady(v, content, err) != 0) {
    bn_sql_verify_snapshot_rows(content->newest, content->known);
    v->counts = bn_sql_verify_compare(content->known, content->n);
    v->counts.unknown += v->counts.acknowledged; /* nothing is known of any commit */
    v->counts.missing = 0;
    bn_sql_verify_log_left_table(v, "");
    return -1;
  }
  drop_ms = verify_is_hurried(v) ? DROP_MS : PATIENCE_MS;
  v->until_ns = bn_clock_max(v->until_ns, verify_after_ms(drop_ms));
  verify_drop_on_any(v);
  if (v->counts.missing == 0)
    return 0;
  return bn_err_set(err, 0,
                    "%" PRIu64 " of %" PRIu64 " commits that the server has acknowledged are "
                    "missing (--verify-commits)",
                    v->counts.missing, v->counts.acknowledged);
}

int bn_sql_verify_end(struct bn_sql_verify *v, const struct bn_session *main, struct bn_err *err)
{
  struct content content = {0};
  int rc;

  /* Sessions that hang may still add rows.  These are not compared. */
  (void)pthread_mutex_lock(&v->ledger.lock);
  content.newest = v->ledger.newest;
  (void)pthread_mutex_unlock(&v->ledger.lock);
  content.n = content.newest != NULL ? content.newest->id : 0;
  v->session = main;
  v->until_ns = verify_after_ms(PATIENCE_MS);
  content.known = bn_alloc((size_t)content.n + 1, sizeof *content.known);
  rc = verify_compare_and_drop(v, &content, err);
  free(content.known);
  return rc;
}

/* Does not wait for the lock, which a worker that the run has left behind may hold: after a second
   signal, the main thread waits for nobody. */
bool bn_sql_verify_cancel(struct bn_sql_verify *v)
{
  bool made;

  if (pthread_mutex_trylock(&v->lock) != 0) {
    bn_log_stderr("a table of --verify-commits is still being made; its name begins with "
                  "bench_commits_");
    return false;
  }
  made = v->made;
  v->tried = true;
  v->made = false;
  (void)pthread_mutex_unlock(&v->lock);
  return made;
}

void bn_sql_verify_drop(struct bn_sql_verify *v, const struct bn_session *main)
{
  v->session = main;
  v->until_ns = verify_after_ms(DROP_MS);
  verify_drop_on_any(v);
}
