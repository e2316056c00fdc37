/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses, loads and initialises drivers, and starts and ends them in sessions. */
#include "sql/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/plugin.h"
#include "measure/stat.h"
#include "option/conf.h"
#include "option/opt.h"
#include "sql/count.h"

const struct bn_metric *bn_sqlsys_metrics(const struct bn_sqlsys *sys)
{
  return sys->metrics;
}

bool bn_sqlsys_names_statements(const struct bn_sqlsys *sys)
{
  return sys->conf->statements;
}

void bn_sql_drivers_done(struct bn_sqlsys *sys)
{
  for (size_t i = 0; i < sys->n_rows; i++) {
    struct bn_sql_driver *drv = &sys->drivers[i];

    if (drv->ops != NULL && drv->ops->done != NULL)
      drv->ops->done(drv->self);
    bn_sql_errors_free(&drv->ignored);
    bn_sql_splitter_done(&drv->splitter);
  }
  bn_sql_errors_free(&sys->ignored);
  bn_sql_trace_close(&sys->trace);
}

/* Says that no driver has the name, and, outside of dialects, lists the drivers.  is_option: the
   name is the value of --db-driver; else a script has given it. */
static void driver_log_unknown(const struct bn_sqlsys *sys, const char *name, bool is_option)
{
  const bool lists_drivers = sys->n_rows > 0 && !sys->policy->plain_errors;
  struct bn_err err = {0};
  struct bn_buf names;

  if (!lists_drivers) {
    bn_log(BN_FATAL, "invalid database driver name: '%s'", name);
    return;
  }
  bn_buf_init(&names, 0);
  for (size_t i = 0; i < sys->n_rows; i++)
    (void)bn_buf_printf(&names, "%s%s", i > 0 ? ", " : "", sys->rows[i].name);
  if (is_option) {
    const struct bn_opt_refusal refusal = {"db-driver", name, "unknown", names.data};

    (void)bn_opt_refuse(sys->policy, &refusal, "" /* only for dialects */, &err);
    bn_log_failure(&err);
  } else {
    bn_log(BN_FATAL, "invalid database driver name: '%s'; there are: %s", name, names.data);
  }
  bn_buf_done(&names);
}

/* Returns the row of the only driver.  If there is none, or more than one, logs that and returns
   NULL. */
static const struct bn_sql_driver_entry *driver_choose_only(const struct bn_sqlsys *sys)
{
  if (sys->n_rows == 1) {
    bn_log(BN_INFO, "No DB drivers specified, using %s", sys->rows[0].name);
    return &sys->rows[0];
  }
  if (sys->n_rows == 0)
    bn_log(BN_FATAL, "No DB drivers available");
  else
    bn_log(BN_FATAL, "Multiple DB drivers are available. Use --db-driver=name to specify which "
                     "one to use");
  return NULL;
}

/* Returns the row of the driver whose name a script gives, or, if script_name is NULL, of the
   driver that the options select.  Returns NULL after a message has been logged. */
static const struct bn_sql_driver_entry *driver_choose(const struct bn_sqlsys *sys,
                                                       const char *script_name)
{
  const bool is_option = script_name == NULL;
  const char *name = is_option ? sys->conf->driver : script_name;

  if (name == NULL && sys->policy->driver_must_be_named) {
    bn_log(BN_FATAL, "no database driver specified");
    return NULL;
  }
  if (name == NULL || name[0] == '\0')
    return driver_choose_only(sys);
  for (size_t i = 0; i < sys->n_rows; i++) {
    if (strcmp(sys->rows[i].name, name) == 0)
      return &sys->rows[i];
  }
  driver_log_unknown(sys, name, is_option);
  return NULL;
}

/* Sets what --db-ps-mode means for all drivers.  Returns 0, or -1 and err for an unknown mode. */
static int driver_set_ps_mode(struct bn_sqlsys *sys, struct bn_err *err)
{
  const char *mode = sys->conf->ps_mode != NULL ? sys->conf->ps_mode : "auto";
  const struct bn_opt_refusal refusal = {"db-ps-mode", mode, "unknown",
                                         "auto, disable, simple, extended"};

  sys->emulate = strcmp(mode, "disable") == 0 || strcmp(mode, "simple") == 0;
  sys->anew = strcmp(mode, "extended") == 0;
  if (sys->emulate || sys->anew || strcmp(mode, "auto") == 0)
    return 0;
  return bn_opt_refuse(sys->policy, &refusal, "Invalid value for db-ps-mode: %s", err);
}

/* Reads the options that all drivers share, until that has succeeded once.  The caller holds the
   lock.  Returns 0, or -1 and err. */
static int driver_read_shared_options(struct bn_sqlsys *sys, struct bn_err *err)
{
  const struct bn_sql_conf *conf = sys->conf;
  const bool has_trace = conf->trace != NULL && conf->trace[0] != '\0';

  if (sys->options_read)
    return 0;
  if (driver_set_ps_mode(sys, err) != 0)
    return -1;
  if (bn_sql_errors_parse(&sys->ignored, sys->policy, &conf->ignore_errors, err) != 0)
    return -1;
  if (has_trace && bn_sql_trace_open(&sys->trace, conf->trace, err) != 0)
    return -1;
  sys->announces = sys->trace.file != NULL || sys->conf->statements;
  sys->options_read = true;
  return 0;
}

/* Returns 0 if the driver knows the level of --db-isolation-level, else -1 and err. */
static int driver_check_isolation(const struct bn_sqlsys *sys, const struct bn_driver *ops,
                                  struct bn_err *err)
{
  const int level = sys->conf->isolation;
  const bool has_level = ops->isolation != NULL && ops->isolation[level] != NULL;

  if (level == BN_ISOLATION_DEFAULT || has_level)
    return 0;
  return bn_err_set(err, EINVAL, "the database driver '%s' has no isolation level '%s'", ops->name,
                    bn_sql_isolation_word(level));
}

/* Returns whether all errors by which a connection to a silent server is lost are ignored, so that
   the run goes on after such a loss. */
static bool driver_ignores_silence(const struct bn_sql_driver *drv, const struct bn_driver *ops)
{
  if (ops->silence == NULL)
    return false;
  for (const struct bn_sql_named *each = ops->silence; each->state != NULL; each++) {
    struct bn_sql_diag d = {.code = each->code};

    (void)snprintf(d.state, sizeof d.state, "%s", each->state);
    if (!bn_sql_driver_ignores(drv, &d, BN_CLASS_CONNECTION))
      return false;
  }
  return true;
}

/* Refuses a driver whose calls block the thread, in a run whose sessions share workers: each call
   would hold up the other sessions of its worker.  Returns 0, or -1 and err. */
static int driver_check_waits(const struct bn_driver *ops, const struct bn_session *s,
                              struct bn_err *err)
{
  const struct bn_conf *conf = s->services->conf;
  const bool shares_workers = !s->services->is_command && conf->workers != conf->plan.threads;

  if (ops->waits || !shares_workers)
    return 0;
  return bn_err_set(err, EINVAL,
                    "the database driver '%s' blocks the thread that waits for it, and cannot be "
                    "used with fewer --workers than --threads",
                    ops->name);
}

/* Opens the module, checks that it fits the program and can do what the run asks for, reads the
   options that concern it, and initialises it.  drv->ops is set last: until then the driver counts
   as not loaded, and its `done` is not called.  Returns 0, or -1 and err. */
static int driver_load(struct bn_sql_driver *drv, const struct bn_sql_driver_entry *row,
                       const struct bn_session *s, struct bn_err *err)
{
  static const struct bn_plugin_kind kind = BN_DRIVER_KIND;
  const struct bn_driver *ops = row->ops != NULL ? row->ops : bn_plugin_open(&kind, row->name, err);

  if (ops == NULL)
    return bn_plugin_advise(err, row->package, "db-driver");
  if (ops->conf_size != row->conf_size)
    return bn_err_set(err, EINVAL, "the module of the database driver '%s' is of another version",
                      row->name);
  if (driver_check_waits(ops, s, err) != 0 || driver_check_isolation(drv->sys, ops, err) != 0)
    return -1;
  if (bn_sql_errors_read_driver(&drv->ignored, ops, row->conf, err) != 0)
    return -1;
  /* The splitter only keeps the address of caps, which are set below. */
  if (bn_sql_splitter_init(&drv->splitter, &drv->sys->conf->read_hosts, ops, &drv->caps, err) != 0)
    return -1;
  drv->ignores_silence = driver_ignores_silence(drv, ops);
  drv->host.anew = drv->sys->anew;
  drv->host.names_loss = bn_sql_errors_include_loss(&drv->sys->ignored, ops) ||
                         bn_sql_errors_include_loss(&drv->ignored, ops);
  drv->host.interrupted = &s->interrupted;
  if (ops->init != NULL && ops->init(&drv->self, row->conf, &drv->host, err) != 0)
    return -1;
  drv->caps = ops->caps();
  drv->ops = ops;
  return 0;
}

/* Reads the shared options and loads the driver, unless both was done before.  The caller holds the
   lock.  Returns 0, or -1 and err. */
static int driver_make_ready(struct bn_sql_driver *drv, const struct bn_sql_driver_entry *row,
                             const struct bn_session *s, struct bn_err *err)
{
  if (driver_read_shared_options(drv->sys, err) != 0)
    return -1;
  if (drv->ops != NULL)
    return 0;
  if (driver_load(drv, row, s, err) != 0)
    return -1;
  s->services->fact(s->services->of, "database", "driver", row->name);
  return 0;
}

struct bn_sql_driver *bn_sql_driver(struct bn_sqlsys *sys, struct bn_session *s, const char *name)
{
  const struct bn_sql_driver_entry *row = driver_choose(sys, name);
  struct bn_sql_driver *drv;
  struct bn_err err = {0};
  int rc;

  if (row == NULL)
    return NULL;
  drv = &sys->drivers[row - sys->rows];
  pthread_mutex_lock(&sys->lock);
  rc = driver_make_ready(drv, row, s, &err);
  pthread_mutex_unlock(&sys->lock);
  if (rc != 0) {
    if (!bn_session_interrupted(s))
      bn_log_failure(&err);
    return NULL;
  }
  s->services->set_kind(s->services->of, BN_KIND_SQL);
  return drv;
}

const char *bn_sql_driver_name(const struct bn_sql_driver *drv)
{
  return drv->ops->name;
}

const struct bn_sql_committer *bn_sql_driver_get_committer(const struct bn_sql_driver *drv,
                                                           const struct bn_driver *below,
                                                           const struct bn_session *s)
{
  /* The connections that make and compare the table create no database if those of the run do
     not. */
  const struct bn_sql_verified verified = {.ops = drv->ops,
                                           .self = drv->self,
                                           .caps = &drv->caps,
                                           .trace = &drv->sys->trace,
                                           .prepared = drv->sys->preflight.all_connect};

  return bn_sql_verify_start(&drv->sys->verify, &verified, below, s);
}

/* --- sessions --- */

/* Interrupts the calls on all open links of the session.  Any thread may call it. */
static void session_interrupt(void *arg)
{
  struct bn_sql_session *owner = arg;

  pthread_mutex_lock(&owner->lock);
  for (struct bn_sql_link *l = owner->open; l != NULL; l = l->next) {
    if (l->ops->interrupt != NULL)
      l->ops->interrupt(l->handle);
  }
  pthread_mutex_unlock(&owner->lock);
}

struct bn_sql_session *bn_sql_session_find(const struct bn_session *s)
{
  return s->sql;
}

/* Sets what is measured of the session: nothing, unless the run has the metrics of SQL.  Only
   sessions of a run's workers have read hosts and commits that are verified. */
static void session_measure(const struct bn_sqlsys *sys, struct bn_sql_session *owner)
{
  const struct bn_session *s = owner->session;
  const bool is_of_run = !s->services->is_command && bn_session_is_worker(s);

  if (s->services->metrics != bn_sqlsys_metrics(sys))
    return;
  owner->measured = true;
  owner->verified = sys->conf->verify_commits && is_of_run;
  owner->paired = sys->conf->read_hosts.n > 0 && is_of_run;
  owner->count_commits = sys->policy->transactions_are_commits;
  owner->timed = sys->conf->debug && s->stat->hist != NULL;
  if (s->stat->statements != NULL)
    owner->names = bn_sql_statement_names_new(s);
  owner->observed = owner->timed || owner->names != NULL;
}

/* Makes the SQL part of the session, and registers it for interrupts. */
static struct bn_sql_session *session_make(struct bn_sqlsys *sys, struct bn_session *s)
{
  struct bn_sql_session *owner = bn_alloc(1, sizeof *owner);

  owner->session = s;
  session_measure(sys, owner);
  pthread_mutex_init(&owner->lock, NULL);
  s->sql = owner;
  s->services->set_interrupt(s, session_interrupt, owner);
  return owner;
}

struct bn_sql_session *bn_sql_session_get(struct bn_sqlsys *sys, struct bn_session *s,
                                          struct bn_sql_driver *drv)
{
  const uint64_t bit = UINT64_C(1) << drv->index;
  struct bn_sql_session *owner = bn_sql_session_find(s);

  if (owner == NULL)
    owner = session_make(sys, s);
  if ((owner->started & bit) != 0)
    return owner;
  if (drv->ops->thread_init != NULL && drv->ops->thread_init(drv->self) != 0) {
    bn_log(BN_FATAL, "thread-local driver initialization failed.");
    return NULL;
  }
  owner->started |= bit;
  return owner;
}

void bn_sql_session_add_link(struct bn_sql_session *owner, struct bn_sql_link *link)
{
  pthread_mutex_lock(&owner->lock);
  link->next = owner->open;
  owner->open = link;
  pthread_mutex_unlock(&owner->lock);
}

void bn_sql_session_remove_link(struct bn_sql_session *owner, struct bn_sql_link *link)
{
  pthread_mutex_lock(&owner->lock);
  for (struct bn_sql_link **p = &owner->open; *p != NULL; p = &(*p)->next) {
    if (*p == link) {
      *p = link->next;
      break;
    }
  }
  pthread_mutex_unlock(&owner->lock);
}

void bn_sql_session_ask_server(struct bn_sql_session *owner, const struct bn_sql_driver *drv,
                               const struct bn_sql_target *t, uint64_t until_ns,
                               void (*fn)(void *arg, struct bn_sql_link *link), void *arg)
{
  struct bn_sql_diag d = {0};
  struct bn_sql_alarm alarm;
  struct bn_sql_link link;

  bn_sql_link_make(&link, drv->ops, drv->self);
  if (bn_sql_link_connect(&link, t, until_ns, &d) == BN_SQL_DONE &&
      bn_sql_alarm_set(&alarm, &link, until_ns) == 0) {
    bn_sql_session_add_link(owner, &link);
    fn(arg, &link);
    bn_sql_session_remove_link(owner, &link);
    bn_sql_alarm_clear(&alarm);
  }
  bn_sql_link_disconnect(&link);
  bn_sql_link_free(&link);
}

struct bn_sql_session *bn_sql_session_detach(struct bn_session *s)
{
  struct bn_sql_session *owner = s->sql;

  s->sql = NULL;
  if (owner != NULL)
    s->services->set_interrupt(s, NULL, NULL);
  return owner;
}

void bn_sql_session_free(struct bn_sqlsys *sys, struct bn_sql_session *owner)
{
  for (size_t i = 0; i < sys->n_rows; i++) {
    const struct bn_sql_driver *drv = &sys->drivers[i];

    if ((owner->started >> i & 1) != 0 && drv->ops->thread_done != NULL)
      drv->ops->thread_done(drv->self);
  }
  pthread_mutex_destroy(&owner->lock);
  bn_sql_statement_names_free(owner->names);
  free(owner);
}
