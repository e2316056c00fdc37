/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: the choice of the server, and time limits. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/deadline.h"
#include "drivers/common/names.h"
#include "drivers/common/remedy.h"
#include "drivers/common/sockwait.h"
#include "drivers/pgsql/driver.h"
#include "drivers/pgsql/error.h"
#include "drivers/pgsql/lib/lib.h"

/* The parameters of libpq that this driver sets. */
enum {
  HOST,
  PORT,
  USER,
  PASSWORD,
  DBNAME,
  SSLMODE,
  SSLROOTCERT,
  SSLCERT,
  SSLKEY,
  NAME,
  REQUIRE_AUTH,
  SERVICE,
  N_PARAMS,
  N_OVERRIDABLE = NAME, /* connections may differ in the parameters before this one */
  N_FURTHER = 64        /* more than libpq has parameters, for --pgsql-parameters */
};
static const char *const keywords[N_PARAMS] = {
    [HOST] = "host",
    [PORT] = "port",
    [USER] = "user",
    [PASSWORD] = "password",
    [DBNAME] = "dbname",
    [SSLMODE] = "sslmode",
    [SSLROOTCERT] = "sslrootcert",
    [SSLCERT] = "sslcert",
    [SSLKEY] = "sslkey",
    [NAME] = "fallback_application_name",
    [REQUIRE_AUTH] = "require_auth",
    [SERVICE] = "service",
};

/* Returns the index of the parameter that an override sets, or -1 if it cannot differ between
   connections.  Overrides have the names of libpq's parameters, but "db" for "dbname". */
static int connect_find_param(const char *name)
{
  if (strcmp(name, "db") == 0)
    return DBNAME;
  for (int i = 0; i < N_OVERRIDABLE; i++) {
    if (i != DBNAME && strcmp(keywords[i], name) == 0)
      return i;
  }
  return -1;
}

/* Returns the value of an option for libpq.  A service replaces the defaults of options: for these,
   NULL is returned, because libpq takes from a service only the parameters that it is not given. */
static const char *connect_choose_value(const struct bn_pgsql_conf *conf, const char *value,
                                        bool given)
{
  const bool is_from_service = conf->service != NULL && !given;

  return is_from_service ? NULL : value;
}

/* Sets the values of libpq's parameters: the pair of host and port that the ordinal selects, the
   port varying fastest, and the options.  Overrides of t replace them.  Returns NULL, or the name
   of an override whose option cannot differ between connections. */
static const char *connect_set_values(const char *values[N_PARAMS], const struct bn_pgsql *driver,
                                      const struct bn_sql_target *t)
{
  const struct bn_pgsql_conf *conf = driver->conf;

  values[HOST] = connect_choose_value(
      conf, driver->hosts[t->ordinal / conf->port.n % driver->n_hosts], conf->host_given);
  values[PORT] =
      connect_choose_value(conf, conf->port.item[t->ordinal % conf->port.n], conf->port_given);
  values[USER] = connect_choose_value(conf, conf->user, conf->user_given);
  values[PASSWORD] = driver->password;
  values[DBNAME] = connect_choose_value(conf, conf->db, conf->db_given);
  values[SSLMODE] = connect_choose_value(conf, conf->sslmode, conf->sslmode_given);
  values[SSLROOTCERT] = conf->sslrootcert;
  values[SSLCERT] = conf->sslcert;
  values[SSLKEY] = conf->sslkey;
  values[NAME] = "bench";
  values[REQUIRE_AUTH] = driver->require_auth;
  values[SERVICE] = conf->service;
  for (size_t i = 0; i < t->n_overrides; i++) {
    const int param = connect_find_param(t->override_name[i]);

    if (param < 0)
      return t->override_name[i];
    values[param] = t->override_value[i];
  }
  return NULL;
}

size_t bn_pgsql_lib_place(const struct bn_pgsql *driver, const struct bn_sql_target *t, char *name,
                          size_t size)
{
  const char *values[N_PARAMS], *service = driver->conf->service;
  bool sets_host = false, sets_port = false;

  (void)connect_set_values(values, driver, t); /* the connect refuses a wrong override */
  if (values[HOST] == NULL && service != NULL)
    (void)snprintf(name, size, "%s", service);
  else
    (void)snprintf(name, size, "%s:%s", values[HOST] != NULL ? values[HOST] : "local",
                   values[PORT] != NULL ? values[PORT] : "");
  for (size_t i = 0; i < t->n_overrides; i++) {
    const int param = connect_find_param(t->override_name[i]);

    sets_host |= param == HOST;
    sets_port |= param == PORT;
  }
  if (sets_host)
    return sets_port ? 1 : driver->conf->port.n;
  return driver->n_hosts * driver->conf->port.n;
}

/* The number of events of the socket after which a login is given up: libpq follows a server that
   asks for authentication without an end. */
enum { LOGIN_EVENTS_MAX = 1000 };

/* Fills d for a login that bench ends itself.  Returns ERROR. */
static enum bn_sql connect_give_up(struct bn_pgsql_lib *c, const char *reason,
                                   struct bn_sql_diag *d)
{
  char text[256];

  (void)snprintf(text, sizeof text, "connection to server at \"%s\", port %s failed: %s\n\n",
                 PQhost(c->handle) != NULL ? PQhost(c->handle) : "", PQport(c->handle), reason);
  (void)bn_pgsql_fail_text("08001", "PQconnectPoll", text, d);
  return BN_SQL_ERROR;
}

/* Returns the milliseconds until the deadline, rounded up, as poll() takes them; 0: the time is up;
   -1: there is no deadline.  More than a day is cut to a day, which fits into an int:
   connect_wait() then waits again. */
static int connect_remaining_ms(const struct bn_pgsql *driver, uint64_t deadline_ns)
{
  enum { DAY_MS = 86400000 };
  uint64_t now_ns, remaining_ms;

  if (deadline_ns == UINT64_MAX)
    return -1;
  now_ns = driver->host->now_ns();
  if (now_ns >= deadline_ns)
    return 0;
  remaining_ms = (deadline_ns - now_ns) / BN_NS_PER_MS + 1;
  return remaining_ms < DAY_MS ? (int)remaining_ms : DAY_MS;
}

/* Waits for an event of libpq's socket.  Returns false if the time is up, or the session was
   interrupted.  A failure of poll() counts as an event: PQconnectPoll goes on from there. */
static bool connect_wait(const struct bn_pgsql_lib *c, short events, uint64_t deadline_ns)
{
  struct pollfd p = {.fd = PQsocket(c->handle), .events = events};
  int rc;

  if (c->wait->waiter != NULL)
    return c->wait->waiter->wait(c->wait->waiter, p.fd, events, NULL, deadline_ns) != 0;
  do {
    const int ms = connect_remaining_ms(c->driver, deadline_ns);

    if (ms == 0)
      return false;
    rc = poll(&p, 1, ms);
  } while (rc == 0 || (rc < 0 && errno == EINTR));
  return true;
}

/* Logs in as PQconnectdbParams does, but limits the number of events, and keeps a deadline that is
   not rounded to seconds.  With a waiter, later calls of libpq do not block.  Returns DONE, or
   ERROR and d. */
static enum bn_sql connect_establish(struct bn_pgsql_lib *c, uint64_t deadline_ns,
                                     struct bn_sql_diag *d)
{
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  int n_events = 0;

  while (PQstatus(c->handle) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
         state != PGRES_POLLING_FAILED) {
    const short event = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;

    if (!connect_wait(c, event, deadline_ns))
      return connect_give_up(c, "timeout expired", d);
    if (++n_events > LOGIN_EVENTS_MAX)
      return connect_give_up(c, bn_remedy_endless_login, d);
    state = PQconnectPoll(c->handle);
  }
  if (PQstatus(c->handle) == CONNECTION_OK) {
    if (c->wait->waiter != NULL)
      (void)PQsetnonblocking(c->handle, 1);
    return BN_SQL_DONE;
  }
  (void)bn_pgsql_lib_fail_in_full(c, NULL, "PQconnectPoll", d);
  return BN_SQL_ERROR;
}

/* Called for each notice, in place of libpq's own receiver, which would print it at once. */
static void connect_on_notice(void *arg, const PGresult *res)
{
  struct bn_pgsql_lib *c = arg;

  if (c->driver->host->names_loss)
    bn_pgsql_lib_note_state(c, res);
  if (c->driver->host->policy->pgsql_shows_notices)
    c->driver->host->notice(PQresultErrorMessage(res));
}

/* Called for each event of a result.  Stores the SQLSTATE of a new result, also of one that no call
   of libpq returns.  Returns 1, which keeps the result. */
static int connect_on_event(PGEventId id, void *info, void *arg)
{
  if (id == PGEVT_RESULTCREATE)
    bn_pgsql_lib_note_state(arg, ((const PGEventResultCreate *)info)->result);
  return 1;
}

/* Returns whether libpq may be given the addresses of the host by the environment, a service or
   --pgsql-parameters. */
static bool connect_has_addresses(const struct bn_pgsql_conf *conf)
{
  return getenv("PGHOSTADDR") != NULL || conf->service != NULL ||
         (conf->parameters != NULL && strstr(conf->parameters, "hostaddr") != NULL);
}

/* Returns the name once for each of the addresses, with commas between them, as libpq wants it; the
   caller frees it. */
static char *connect_repeat_host(const struct bn_driver_host *host, const char *name,
                                 const char *addresses)
{
  char *list = host->text(name);

  for (const char *p = strchr(addresses, ','); p != NULL; p = strchr(p + 1, ',')) {
    char *longer = host->print("%s,%s", list, name);

    free(list);
    list = longer;
  }
  return list;
}

/* Adds the values of --pgsql-parameters that were given, at most N_FURTHER, to the n parameters.
   Returns how many there are now. */
static size_t connect_add_further(const char **name, const char **value, size_t n,
                                  const PQconninfoOption *further)
{
  for (const PQconninfoOption *o = further; o->keyword != NULL; o++) {
    if (o->val == NULL || n == N_PARAMS + N_FURTHER)
      continue;
    name[n] = o->keyword;
    value[n++] = o->val;
  }
  return n;
}

/* Begins to connect.  addresses: those of the host, with commas between them, or NULL.  libpq takes
   the last value of a parameter, so --pgsql-parameters come after the options.  Returns NULL if
   there is no memory. */
static PGconn *connect_start(const struct bn_pgsql *driver, const char *const *values,
                             const char *addresses)
{
  enum { DBNAME_IS_NAME = 0 }; /* libpq does not expand the name as a connection string */
  enum { ROOM = N_PARAMS + N_FURTHER + 2 }; /* "hostaddr" may follow, and a NULL ends the arrays */
  const char *name[ROOM] = {NULL}, *value[ROOM] = {NULL};
  char *hosts = NULL;
  PQconninfoOption *further = NULL;
  PGconn *handle;
  size_t n = N_PARAMS;

  memcpy(name, keywords, sizeof keywords);
  memcpy(value, values, N_PARAMS * sizeof *value);
  if (driver->conf->parameters != NULL) {
    further = PQconninfoParse(driver->conf->parameters, NULL);
    if (further == NULL) /* no memory: bn_pgsql_lib_check_parameters has checked the text */
      return NULL;
    n = connect_add_further(name, value, n, further);
  }
  if (addresses != NULL) {
    value[HOST] = hosts = connect_repeat_host(driver->host, values[HOST], addresses);
    name[n] = "hostaddr";
    value[n] = addresses;
  }
  handle = PQconnectStartParams(name, value, DBNAME_IS_NAME);
  PQconninfoFree(further);
  free(hosts);
  return handle;
}

/* Refuses parameters that libpq marks by "*", because results show all parameters.  Returns 0, or
   -1 and err. */
static int connect_refuse_secrets(const PQconninfoOption *all, struct bn_err *err)
{
  for (const PQconninfoOption *o = all; o->keyword != NULL; o++) {
    const bool is_secret = o->val != NULL && o->dispchar[0] == '*';
    const bool is_password = strcmp(o->keyword, keywords[PASSWORD]) == 0;

    if (is_secret)
      return bn_err_set(err, 0,
                        "--pgsql-parameters: '%s' is a secret, which would stand in results%s",
                        o->keyword, is_password ? "; use --pgsql-password-file" : "");
  }
  return 0;
}

int bn_pgsql_lib_check_parameters(const char *parameters, struct bn_err *err)
{
  char *error = NULL; /* a sentence of libpq and a line break; NULL if memory runs out */
  PQconninfoOption *all = PQconninfoParse(parameters, &error);
  int rc;

  if (error != NULL)
    error[strcspn(error, "\n")] = '\0';
  if (all == NULL)
    rc = bn_err_set(err, 0, "--pgsql-parameters: %s", error != NULL ? error : "out of memory");
  else
    rc = connect_refuse_secrets(all, err);
  PQconninfoFree(all);
  PQfreemem(error);
  return rc;
}

/* Returns the seconds that a service, the environment or --pgsql-parameters allow for a connect; 0:
   no limit.  PQconnectPoll does not obey them. */
static int64_t connect_libpq_timeout_s(PGconn *handle)
{
  PQconninfoOption *all = PQconninfo(handle);
  int64_t timeout_s = 0;

  for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++)
    if (o->val != NULL && strcmp(o->keyword, "connect_timeout") == 0)
      timeout_s = strtol(o->val, NULL, 10);
  PQconninfoFree(all);
  return timeout_s > 0 && timeout_s <= INT32_MAX ? timeout_s : 0;
}

/* Connects once.  With a waiter, libpq is given the addresses of the host, because its own look-up
   would hold up all sessions of the thread for each connection.  Returns DONE, or a failure and
   d. */
static enum bn_sql connect_try_once(struct bn_pgsql_lib *c, const char *const *values,
                                    uint64_t deadline_ns, struct bn_sql_diag *d)
{
  const struct bn_pgsql *driver = c->driver;
  const char *addresses = NULL;
  const bool needs_addresses = values[HOST] != NULL && !connect_has_addresses(driver->conf);

  if (c->wait->waiter != NULL && needs_addresses)
    addresses = bn_names_resolve(driver->names, values[HOST]);
  c->handle = connect_start(driver, values, addresses);
  if (c->handle == NULL)
    return bn_pgsql_fail_text("53200", "PQconnectStartParams", "out of memory\n\n", d);
  c->last_state[0] = '\0';
  (void)PQsetNoticeReceiver(c->handle, connect_on_notice, c);
  /* Registered only if needed, because it costs two allocations for each result. */
  if (driver->host->names_loss)
    (void)PQregisterEventProc(c->handle, connect_on_event, "bench", c);
  if (driver->conf->connect_timeout_s == 0)
    deadline_ns = bn_deadline_within(driver->host, connect_libpq_timeout_s(c->handle), deadline_ns);
  return connect_establish(c, deadline_ns, d);
}

/* Returns whether a connect has failed because the backlog of the Unix socket was full: no other
   connect fails with EAGAIN. */
static bool connect_met_full_backlog(const struct bn_sql_diag *d)
{
  return strstr(d->text, strerror(EAGAIN)) != NULL;
}

enum bn_sql bn_pgsql_lib_connect(struct bn_pgsql_lib *c, const struct bn_pgsql *driver,
                                 const struct bn_sql_target *t, uint64_t deadline_ns,
                                 struct bn_sql_diag *d)
{
  const char *values[N_PARAMS], *fixed_option;
  struct bn_backlog backlog = {.ms = 0};
  char text[160];
  enum bn_sql rc;

  c->driver = driver;
  fixed_option = connect_set_values(values, driver, t);
  if (fixed_option != NULL) {
    (void)snprintf(text, sizeof text, "--pgsql-%s cannot differ between connections\n\n",
                   fixed_option);
    return bn_pgsql_fail_text("", "PQconnectStartParams", text, d);
  }
  deadline_ns = bn_deadline_within(driver->host, driver->conf->connect_timeout_s, deadline_ns);
  for (;;) {
    rc = connect_try_once(c, values, deadline_ns, d);
    if (rc == BN_SQL_DONE || !connect_met_full_backlog(d))
      return rc;
    if (!bn_backlog_wait(&backlog, c->wait->waiter, driver->host, deadline_ns))
      return rc;
    PQfinish(c->handle);
  }
}

void bn_pgsql_lib_disconnect(struct bn_pgsql_lib *c)
{
  PQfinish(c->handle);
  c->handle = NULL;
  free(c->closing);
  c->closing = NULL;
  bn_pgsql_lib_free_values(c);
}

bool bn_pgsql_lib_knows_parameter(const char *keyword)
{
  PQconninfoOption *all = PQconndefaults();
  bool found = false;

  for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++)
    found |= strcmp(o->keyword, keyword) == 0;
  PQconninfoFree(all);
  return found;
}

bool bn_pgsql_lib_is_threadsafe(void)
{
  return PQisthreadsafe() != 0;
}

int bn_pgsql_lib_socket(const struct bn_pgsql_lib *c)
{
  return PQsocket(c->handle);
}

struct ssl_st *bn_pgsql_lib_tls(const struct bn_pgsql_lib *c)
{
  return PQsslStruct(c->handle, "OpenSSL");
}

bool bn_pgsql_lib_speaks_version_3(const struct bn_pgsql_lib *c)
{
  const bool has_foreign_tls = PQsslInUse(c->handle) && bn_pgsql_lib_tls(c) == NULL;

  return PQsocket(c->handle) >= 0 && !has_foreign_tls && !PQgssEncInUse(c->handle) &&
         PQprotocolVersion(c->handle) == 3;
}

char bn_pgsql_lib_transaction_letter(const struct bn_pgsql_lib *c)
{
  switch (PQtransactionStatus(c->handle)) {
  case PQTRANS_IDLE:
    return 'I';
  case PQTRANS_INTRANS:
    return 'T';
  case PQTRANS_INERROR:
    return 'E';
  default:
    return '?';
  }
}

bool bn_pgsql_lib_is_idle(const struct bn_pgsql_lib *c)
{
  return PQstatus(c->handle) == CONNECTION_OK && PQtransactionStatus(c->handle) != PQTRANS_ACTIVE;
}
