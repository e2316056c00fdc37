/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: open, close, open again, and the memory behind them. */
#include "sql/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "measure/stat.h"
#include "sql/count.h"
#include "sql/errors.h"
#include "sql/recover.h"
#include "sql/settings.h"

void bn_sql_refuse(struct bn_sql_conn *c)
{
  memset(&c->diag, 0, sizeof c->diag);
  c->view.error = BN_VERDICT_FATAL;
  c->view.sql_errno = 0;
}

/* Copies n names of options and the n values that override them. */
static void conn_copy_overrides(struct bn_sql_conn *c, const char *const *name,
                                const char *const *value, size_t n)
{
  if (n == 0)
    return;
  c->override = bn_alloc(2 * n, sizeof *c->override);
  c->n_overrides = n;
  for (size_t i = 0; i < n; i++) {
    c->override[i] = bn_alloc_text(name[i]);
    c->override[n + i] = bn_alloc_text(value[i]);
  }
}

/* Frees all that the connection owns but its statements and its link. */
static void conn_free_memory(struct bn_sql_conn *c)
{
  for (size_t i = 0; i < 2 * c->n_overrides; i++)
    free(c->override[i]);
  free(c->override);
  c->override = NULL;
  c->n_overrides = 0;
  bn_sql_pending_failure_free(&c->failure);
  free(c->failed_text);
  c->failed_text = NULL;
  c->failed_len = 0;
  bn_buf_done(&c->emulated);
  if (c->bulk != NULL)
    bn_sql_bulk_free_rows(c->bulk);
  free(c->bulk);
  c->bulk = NULL;
  bn_sql_cursor_free(&c->cur);
}

enum bn_sql bn_sql_conn_drop_results(struct bn_sql_conn *c, struct bn_sql_diag *d)
{
  struct bn_sql_diag unused = {0};
  const enum bn_sql rc =
      bn_sql_cursor_drop(&c->cur, c->state == BN_CONN_OPEN, d != NULL ? d : &unused);

  if (rc == BN_SQL_LOST)
    c->state = BN_CONN_LOST;
  return rc;
}

void bn_sql_conn_shut(struct bn_sql_conn *c)
{
  if (c->state == BN_CONN_LOST || c->state == BN_CONN_OPEN) {
    (void)bn_sql_conn_drop_results(c, NULL);
    for (struct bn_sql_stmt *st = c->stmts; st != NULL; st = st->next)
      bn_sql_stmt_shut(st, c->link.ops);
    /* Another thread may interrupt a link of the session, but not while it is being closed. */
    bn_sql_session_remove_link(c->owner, &c->link);
    bn_sql_link_disconnect(&c->link);
  }
  c->state = BN_CONN_CLOSED;
}

/* Frees the statements, which have been shut. */
static void conn_destroy_stmts(struct bn_sql_conn *c)
{
  while (c->stmts != NULL) {
    struct bn_sql_stmt *st = c->stmts;

    c->stmts = st->next;
    bn_sql_stmt_destroy(st, &c->sys->texts);
  }
  c->n_orphans = 0;
}

/* Closes a connection that nobody holds any more, and frees its memory.  The object itself stays,
   because the script may still have pointers to it. */
static void conn_close_unreferenced(struct bn_sql_conn *c)
{
  bn_sql_conn_shut(c);
  conn_destroy_stmts(c);
  conn_free_memory(c);
}

/* Returns an empty connection in the session's list.  An object that nobody holds any more is used
   again, after its connection, which may have stayed open for its result, is closed.  Pointers that
   the script still has to the object then lead to the new connection, and never to freed memory. */
static struct bn_sql_conn *conn_reuse_or_alloc(struct bn_sql_session *owner)
{
  struct bn_sql_conn *c = owner->all;

  while (c != NULL && c->refs != 0)
    c = c->next_all;
  if (c != NULL) {
    conn_close_unreferenced(c);
    bn_sql_link_free(&c->link);
    *c = (struct bn_sql_conn){.next_all = c->next_all};
    return c;
  }
  c = bn_alloc(1, sizeof *c);
  c->next_all = owner->all;
  owner->all = c;
  return c;
}

/* Makes the link of c to the driver, with the layers that the run asks for.  A statement passes the
   layer of --verify-commits first, and then that of --db-read-hosts.  c->server becomes the link
   behind the layers, or the first of two links behind --db-read-hosts.  Returns 0, or -1 after a
   failure, which has been logged. */
static int conn_make_link(struct bn_sql_conn *c)
{
  const bool is_of_load = c->n_overrides == 0; /* with overrides, c is not part of the load */
  const struct bn_sql_committer *commits;
  const struct bn_sql_link *below;

  bn_sql_link_make(&c->link, c->drv->ops, c->drv->self);
  c->server = &c->link;
  if (is_of_load && c->owner->paired) {
    c->split = bn_sql_split_wrap(&c->link, &c->drv->splitter, c->session,
                                 bn_sql_counter_index(c->sys, BN_SQL_C_READ_HOST_READS));
    c->server = bn_sql_split_links(c->split);
  }
  if (!is_of_load || !c->owner->verified)
    return 0;
  commits = bn_sql_driver_get_committer(c->drv, c->link.ops, c->session);
  if (commits == NULL)
    return -1;
  below = bn_sql_commits_wrap(&c->link, commits, c->session);
  if (c->split == NULL)
    c->server = below;
  return 0;
}

bool bn_sql_conn_may_load(const struct bn_sql_conn *c)
{
  return c->drv->ops->load_begin != NULL && c->sys->conf->bulk_load == BN_SQL_BULK_AUTO &&
         c->session->services->is_command;
}

/* Returns the server that c is to be connected to, as drivers take it.  The overrides in it are
   borrowed from c. */
static struct bn_sql_target conn_target_of(const struct bn_sql_conn *c)
{
  const bool loads = bn_sql_conn_may_load(c);

  return (struct bn_sql_target){
      .ordinal = c->ordinal,
      .override_name = (const char *const *)c->override,
      .override_value =
          c->n_overrides > 0 ? (const char *const *)(c->override + c->n_overrides) : NULL,
      .n_overrides = c->n_overrides,
      .loads = loads,
      /* A bundled workload, which notes all_connect before it connects, runs on the tables of its
         `prepare`; another script may create its own. */
      .prepared = c->sys->preflight.all_connect && !c->session->services->is_command,
      /* A silent server is given up if its loss is ignored and another one may answer.  Dialects
         wait for the same server, as sysbench does.  So does a bulk load: a silent server may be
         busy with rows that it has received. */
      .elsewhere =
          c->places > 1 && c->drv->ignores_silence && bn_policy_is_native(c->sys->policy) && !loads,
      .waiter = c->session->waiter,
  };
}

/* Executes a statement on the server, or with --db-read-hosts on both servers.  Returns DONE, or
   the outcome of the first failure. */
static enum bn_sql conn_execute_on_servers(struct bn_sql_conn *c, const char *sql)
{
  const int n_servers = c->split != NULL ? BN_ROLES : 1;
  enum bn_sql rc = BN_SQL_DONE;

  for (int i = 0; i < n_servers && rc == BN_SQL_DONE; i++) {
    bn_sql_trace(&c->sys->trace, c->session, sql, strlen(sql));
    rc = bn_sql_link_execute(&c->server[i], sql, NULL, &c->diag);
  }
  return rc;
}

/* Asks the server whether the connection goes through a pooler, whose other clients would get the
   settings of this session.  Returns the answer, or false if the driver has no such question. */
static bool conn_ask_pooled(const struct bn_sql_conn *c)
{
  return c->drv->ops->pooled != NULL && c->drv->ops->pooled(c->server->handle);
}

/* Sets --db-isolation-level.  There is no statement for the default level, or for the only level of
   a database.  A pooler is refused, because its other clients would get the level too.  Returns
   DONE, or a failure and c->diag. */
static enum bn_sql conn_set_isolation(struct bn_sql_conn *c)
{
  const int level = c->sys->conf->isolation;
  const char *sql = level != BN_ISOLATION_DEFAULT ? c->drv->ops->isolation[level] : "";

  if (sql[0] == '\0')
    return BN_SQL_DONE;
  if (!conn_ask_pooled(c))
    return conn_execute_on_servers(c, sql);
  (void)snprintf(c->diag.text, sizeof c->diag.text,
                 "--db-isolation-level cannot be used through a pooler, whose other clients would "
                 "get this level too: connect to the server itself, or let the role have it, as "
                 "with ALTER ROLE ... SET default_transaction_isolation");
  return BN_SQL_ERROR;
}

/* Puts a prefix before the message of a failure.  A long message loses its end. */
static void conn_prefix_message(struct bn_sql_diag *d, const char *prefix)
{
  const size_t len = strlen(prefix);

  memmove(d->text + len, d->text, sizeof d->text - len);
  memcpy(d->text, prefix, len);
  d->text[sizeof d->text - 1] = '\0';
}

/* Executes --db-init-sql.  The first connection of the run then asks whether it goes through a
   pooler, whose other clients may get what was set.  Returns DONE, or a failure and c->diag, whose
   message names the option. */
static enum bn_sql conn_execute_init_sql(struct bn_sql_conn *c)
{
  const char *sql = c->sys->conf->init_sql;
  enum bn_sql rc;

  if (sql == NULL || sql[0] == '\0')
    return BN_SQL_DONE;
  rc = conn_execute_on_servers(c, sql);
  if (rc != BN_SQL_DONE) {
    conn_prefix_message(&c->diag, "--db-init-sql: ");
    return rc;
  }
  if (!atomic_exchange(&c->sys->pooler_asked, true) && conn_ask_pooled(c))
    bn_log_hint("there is a pooler: what --db-init-sql sets for the session may reach its other "
                "clients");
  return BN_SQL_DONE;
}

/* Executes the statements of --db-isolation-level and --db-init-sql.  An alarm ends them at the
   deadline: calls of a driver have none, and interrupts of the session do not reach the connection
   yet.  Returns DONE, or a failure and c->diag. */
static enum bn_sql conn_set_session(struct bn_sql_conn *c, uint64_t deadline_ns)
{
  struct bn_sql_alarm alarm;
  bool has_alarm;
  enum bn_sql rc;

  if (c->sys->conf->isolation == BN_ISOLATION_DEFAULT && c->sys->conf->init_sql == NULL)
    return BN_SQL_DONE;
  has_alarm = deadline_ns != UINT64_MAX && bn_sql_alarm_set(&alarm, &c->link, deadline_ns) == 0;
  rc = conn_set_isolation(c);
  if (rc == BN_SQL_DONE)
    rc = conn_execute_init_sql(c);
  if (has_alarm)
    bn_sql_alarm_clear(&alarm);
  return rc;
}

int bn_sql_conn_open(struct bn_sql_conn *c, uint64_t deadline_ns)
{
  const struct bn_sql_target target = conn_target_of(c);
  const char *doing_before = atomic_exchange_explicit(
      &c->session->doing, "connecting to the database", memory_order_relaxed);
  enum bn_sql rc;

  memset(&c->diag, 0, sizeof c->diag);
  rc = bn_sql_link_connect(&c->link, &target, deadline_ns, &c->diag);
  if (rc == BN_SQL_DONE)
    rc = conn_set_session(c, deadline_ns);
  atomic_store_explicit(&c->session->doing, doing_before, memory_order_relaxed);
  if (rc != BN_SQL_DONE) {
    bn_sql_link_disconnect(&c->link);
    return -1;
  }
  c->state = BN_CONN_OPEN;
  c->prepares_no_more = c->failure.rollback_due = false;
  c->view.error = BN_VERDICT_NONE;
  c->view.sql_errno = 0;
  bn_sql_session_add_link(c->owner, &c->link);
  return 0;
}

/* Asks for the limits of the server of c, on another connection, and gives them to the preflight.
   If the server does not answer, its limits count as unknown.  c is open, and the caller holds the
   lock of the preflight. */
static void conn_ask_limits(struct bn_sql_conn *c)
{
  const struct bn_sql_target target = conn_target_of(c);
  const struct bn_driver *ops = c->drv->ops;
  const size_t places = ops->place != NULL ? ops->place(c->drv->self, &target, NULL, 0) : 1;
  struct bn_sql_info info = bn_sql_info_unknown();
  struct bn_sql_diag d = {0};
  struct bn_sql_link link;

  if (ops->info != NULL) {
    bn_sql_link_make(&link, ops, c->drv->self);
    if (bn_sql_link_connect(&link, &target, UINT64_MAX, &d) == BN_SQL_DONE)
      (void)ops->info(link.handle, &info);
    bn_sql_link_disconnect(&link);
    bn_sql_link_free(&link);
  }
  bn_sql_preflight_note_limits(&c->sys->preflight, &info, places,
                               (int64_t)atomic_load(&c->sys->n_prepared));
}

/* Opens c, however long that takes.  Returns 0, or -1 after a failure, which has been logged with
   its remedy unless the session is interrupted. */
static int conn_open_unlimited(struct bn_sql_conn *c)
{
  struct bn_sqlsys *sys = c->sys;

  if (bn_sql_conn_open(c, UINT64_MAX) == 0)
    return 0;
  if (!bn_session_interrupted(c->session)) {
    bn_sql_log_failure(c->drv->ops, sys->policy, BN_STEP_CONNECT, &c->diag, "", 0);
    bn_sql_log_remedy(c->drv->ops, &c->diag, NULL, &sys->remedy_reported);
  }
  return -1;
}

/* Opens c.  In a run of many connections, the first one is opened before the others, and finds out
   whether the server allows as many as the run needs.  If it does not, all are refused, which the
   preflight has said.  Returns as conn_open_unlimited. */
static int conn_open_after_preflight(struct bn_sql_conn *c)
{
  struct bn_sql_preflight *p = &c->sys->preflight;
  int rc;

  if (!bn_sql_preflight_is_due(c->session))
    return conn_open_unlimited(c);
  if (!bn_sql_preflight_enter(p)) /* another session is the first one, and judges for all */
    return p->refused ? -1 : conn_open_unlimited(c);
  rc = conn_open_unlimited(c);
  if (rc == 0) {
    conn_ask_limits(c);
    bn_sql_preflight_judge_connections(p, c->session);
  }
  bn_sql_preflight_unlock(p);
  if (!p->refused)
    return rc;
  bn_sql_conn_shut(c);
  return -1;
}

/* Adds to the facts of the run what the driver knows of the server and of the connection.  Only the
   first call of the run does so, because all connections have the same facts. */
static void conn_add_facts(struct bn_sql_conn *c)
{
  const struct bn_services *services = c->session->services;
  struct bn_sql_about about = {.server = ""};

  if (c->drv->ops->about == NULL || atomic_exchange(&c->sys->about_reported, true))
    return;
  c->drv->ops->about(c->server->handle, &about);
  const struct {
    const char *key, *value;
  } facts[] = {{"server_version", about.server}, {"client_version", about.client},
               {"transport", about.transport},   {"encryption", about.encryption},
               {"protocol", about.protocol},     {"compression", about.compression},
               {"parameters", about.parameters}};

  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
    if (facts[i].value[0] != '\0')
      services->fact(services->of, "database", facts[i].key, facts[i].value);
}

/* Names the server of the connection; with --db-read-hosts, the server that the last statement was
   for.  Returns how many servers, or pairs of servers, the connections take in turn.  name may be
   NULL, with size 0. */
static size_t conn_name_server(const struct bn_sql_conn *c, char *name, size_t size)
{
  const struct bn_sql_target target = conn_target_of(c);
  const struct bn_driver *ops = c->drv->ops;

  if (c->split != NULL)
    return bn_sql_split_name_place(c->split, &target, name, size);
  return ops->place != NULL ? ops->place(c->drv->self, &target, name, size) : 1;
}

void bn_sql_conn_count_server(const struct bn_sql_conn *c, unsigned label)
{
  const struct bn_services *services = c->session->services;
  char name[BN_LABEL_LEN] = "";

  if (!c->owner->measured || c->drv->ops->place == NULL)
    return;
  (void)conn_name_server(c, name, sizeof name);
  (void)services->count_label(services->of, label, name);
}

/* Returns whether the driver has all options that are overridden; if not, that has been logged. */
static bool conn_check_overrides(const struct bn_driver *ops, const char *const *name, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (!bn_sql_has_option(ops, name[i])) {
      bn_log(BN_FATAL, "the database driver '%s' has no option '%s'", ops->name, name[i]);
      return false;
    }
  }
  return true;
}

/* Makes a closed connection of the session, with n overrides, its link to the driver and its
   ordinal.  Returns NULL after a failure, which has been logged. */
static struct bn_sql_conn *conn_make(struct bn_sql_driver *drv, struct bn_session *s,
                                     const char *const *override_name,
                                     const char *const *override_value, size_t n)
{
  struct bn_sql_session *owner;
  struct bn_sql_conn *c;

  if (!conn_check_overrides(drv->ops, override_name, n))
    return NULL;
  owner = bn_sql_session_get(drv->sys, s, drv);
  if (owner == NULL)
    return NULL;
  c = conn_reuse_or_alloc(owner);
  c->cur.link = &c->link;
  c->cur.timed = owner->timed ? s : NULL;
  c->refs = 1; /* the caller's */
  c->drv = drv;
  c->sys = drv->sys;
  c->owner = owner;
  c->session = s;
  c->view.driver = drv;
  c->view.sql_state = c->diag.state;
  c->view.sql_errmsg = c->diag.text;
  conn_copy_overrides(c, override_name, override_value, n);
  if (conn_make_link(c) != 0) {
    bn_sql_conn_free(c);
    return NULL;
  }
  c->ordinal = atomic_fetch_add_explicit(&drv->sys->ordinal, 1, memory_order_relaxed);
  c->places = (unsigned)conn_name_server(c, NULL, 0);
  return c;
}

struct bn_sql_conn *bn_sql_connect(struct bn_sql_driver *drv, struct bn_session *s,
                                   const char *const *override_name,
                                   const char *const *override_value, size_t n_overrides)
{
  struct bn_sql_conn *c = conn_make(drv, s, override_name, override_value, n_overrides);
  struct bn_sql_target target;

  if (c == NULL)
    return NULL;
  if (conn_open_after_preflight(c) != 0) {
    bn_sql_conn_free(c);
    return NULL;
  }
  conn_add_facts(c);
  target = conn_target_of(c);
  bn_sql_settings_gather(c, &target);
  return c;
}

int bn_sql_disconnect(struct bn_sql_conn *c)
{
  c->view.error = BN_VERDICT_NONE;
  if (c->state == BN_CONN_CLOSED) {
    bn_log(BN_ALERT, "attempt to close an already closed connection");
    return -1;
  }
  bn_sql_conn_shut(c);
  return 0;
}

void bn_sql_conn_free(struct bn_sql_conn *c)
{
  if (c == NULL)
    return;
  c->refs--;
  if (c->refs > 0)
    return;
  /* The script may still read the result, until the session opens another connection or ends. */
  if (c->cur.live && c->owner != NULL)
    return;
  conn_close_unreferenced(c);
}

/* Frees a connection that is closed, and its statements. */
static void conn_destroy(struct bn_sql_conn *c)
{
  conn_destroy_stmts(c);
  conn_free_memory(c);
  bn_sql_link_free(&c->link);
  free(c);
}

/* Closes the connection at the end of its session, and frees it.  If somebody still holds it, it is
   kept until bn_sql_retired_free. */
static void conn_retire(struct bn_sql_conn *c)
{
  bn_sql_conn_shut(c);
  c->owner = NULL;
  c->session = NULL;
  if (c->refs == 0) {
    conn_destroy(c);
    return;
  }
  pthread_mutex_lock(&c->sys->lock);
  c->next_all = c->sys->retired;
  c->sys->retired = c;
  pthread_mutex_unlock(&c->sys->lock);
}

void bn_sql_session_end(struct bn_sqlsys *sys, struct bn_session *s)
{
  const bool is_of_run = !s->services->is_command && bn_session_is_worker(s);
  struct bn_sql_session *owner = bn_sql_session_detach(s);

  if (owner == NULL)
    return;
  if (is_of_run)
    bn_sql_end_hints_add_rows(&sys->hints, s->stat);
  if (bn_sql_preflight_is_lazy(&sys->preflight) && bn_sql_preflight_is_worker(s))
    bn_sql_end_hints_add_prepares(&sys->hints, &owner->first_use, s);
  while (owner->all != NULL) {
    struct bn_sql_conn *c = owner->all;

    owner->all = c->next_all;
    conn_retire(c);
  }
  bn_sql_session_free(sys, owner);
}

void bn_sql_retired_free(struct bn_sqlsys *sys)
{
  while (sys->retired != NULL) {
    struct bn_sql_conn *c = sys->retired;

    sys->retired = c->next_all;
    conn_destroy(c);
  }
}

bool bn_sql_conn_prepares_once(const struct bn_sql_conn *c)
{
  return !c->sys->emulate && !c->sys->anew;
}

/* Returns an open connection of the session, or NULL. */
static struct bn_sql_conn *conn_find_open(const struct bn_session *s)
{
  const struct bn_sql_session *owner = bn_sql_session_find(s);
  struct bn_sql_conn *c = owner != NULL ? owner->all : NULL;

  while (c != NULL && c->state != BN_CONN_OPEN)
    c = c->next_all;
  return c;
}

int bn_sql_check_room(const struct bn_session *s, uint64_t bytes, struct bn_err *err)
{
  struct bn_sql_conn *c = conn_find_open(s);

  if (c == NULL || c->drv->ops->check_room == NULL)
    return 0;
  return c->drv->ops->check_room(c->server->handle, bytes, err);
}

enum bn_sql_rest bn_sql_expect_statements(struct bn_sqlsys *sys, struct bn_session *s,
                                          uint64_t at_start, uint64_t in_all)
{
  struct bn_sql_conn *c = conn_find_open(s);
  struct bn_sql_expected expected = {
      .at_start = at_start,
      .in_all = in_all,
      .way = (enum bn_sql_prepare_way)sys->conf->prepare,
  };
  enum bn_sql_rest when;

  /* Without a connection that keeps its statements, none can be prepared ahead, and only a worker
     outside of its loop of events prepares ahead. */
  if (c == NULL || !bn_sql_conn_prepares_once(c) || !bn_sql_preflight_is_worker(s))
    return BN_SQL_REST_LATER;
  expected.spent_ns = c->preparing_ns;
  if (!bn_sql_preflight_lock(&sys->preflight)) /* it is held by a session of the same thread */
    return BN_SQL_REST_LATER;
  if (bn_sql_preflight_wants_limits(&sys->preflight, s, &expected))
    conn_ask_limits(c);
  when = bn_sql_preflight_judge_statements(&sys->preflight, s, &expected);
  bn_sql_preflight_unlock(&sys->preflight);
  return when;
}
