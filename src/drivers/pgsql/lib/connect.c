/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: the choice of the server, and time limits. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/names.h"
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
  N_FURTHER = 64 /* more than libpq has parameters, for --pgsql-parameters */
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

static int connect_index_of_override(const char *name)
{
  if (strcmp(name, "db") == 0)
    return DBNAME;
  for (int i = 0; i < NAME; i++) {
    if (i != DBNAME && strcmp(keywords[i], name) == 0)
      return i;
  }
  return -1;
}

/* libpq reads only parameters from a service that it is not given. */
static const char *connect_unless_of_service(const struct bn_pgsql_conf *conf, const char *value,
                                             bool given)
{
  return conf->service != NULL && !given ? NULL : value;
}

/* Selects one of all pairs of hosts and ports, the port varying fastest.  Returns the name of an
   unsupported override, or NULL. */
static const char *connect_choose(const char *values[N_PARAMS], const struct bn_pgsql *driver,
                                  const struct bn_sql_target *t)
{
  const struct bn_pgsql_conf *conf = driver->conf;

  values[HOST] = connect_unless_of_service(
      conf, driver->hosts[t->ordinal / conf->port.n % driver->n_hosts], conf->host_given);
  values[PORT] =
      connect_unless_of_service(conf, conf->port.item[t->ordinal % conf->port.n], conf->port_given);
  values[USER] = connect_unless_of_service(conf, conf->user, conf->user_given);
  values[PASSWORD] = driver->password;
  values[DBNAME] = connect_unless_of_service(conf, conf->db, conf->db_given);
  values[SSLMODE] = connect_unless_of_service(conf, conf->sslmode, conf->sslmode_given);
  values[SSLROOTCERT] = conf->sslrootcert;
  values[SSLCERT] = conf->sslcert;
  values[SSLKEY] = conf->sslkey;
  values[NAME] = "bench";
  values[REQUIRE_AUTH] = driver->require_auth;
  values[SERVICE] = conf->service;
  for (size_t i = 0; i < t->n_overrides; i++) {
    const int k = connect_index_of_override(t->override_name[i]);

    if (k < 0)
      return t->override_name[i];
    values[k] = t->override_value[i];
  }
  return NULL;
}

size_t bn_pgsql_lib_place(const struct bn_pgsql *driver, const struct bn_sql_target *t, char *name,
                          size_t size)
{
  const char *values[N_PARAMS], *service = driver->conf->service;
  bool host = false, port = false;

  (void)connect_choose(values, driver, t);
  if (values[HOST] == NULL && service != NULL)
    (void)snprintf(name, size, "%s", service);
  else
    (void)snprintf(name, size, "%s:%s", values[HOST] != NULL ? values[HOST] : "local",
                   values[PORT] != NULL ? values[PORT] : "");
  for (size_t i = 0; i < t->n_overrides; i++) {
    host |= connect_index_of_override(t->override_name[i]) == HOST;
    port |= connect_index_of_override(t->override_name[i]) == PORT;
  }
  if (host)
    return port ? 1 : driver->conf->port.n;
  return driver->n_hosts * driver->conf->port.n;
}

/* Events of the socket that a login may take.  libpq follows a server that asks for authentication
   without an end. */
enum { LOGIN_EVENTS_MAX = 1000 };

static enum bn_sql connect_give_up(struct bn_pgsql_lib *c, const char *why, struct bn_sql_diag *d)
{
  char text[256];

  (void)snprintf(text, sizeof text, "connection to server at \"%s\", port %s failed: %s\n\n",
                 PQhost(c->handle) != NULL ? PQhost(c->handle) : "", PQport(c->handle), why);
  (void)bn_pgsql_fail_text("08001", "PQconnectPoll", text, d);
  return BN_SQL_ERROR;
}

/* Returns the milliseconds that poll may wait, or -1 for no limit.  A day, in which no login is
   still of use, keeps the number within an int. */
static int connect_remaining_ms(const struct bn_pgsql *driver, uint64_t deadline_ns)
{
  enum { DAY_MS = 86400000 };
  uint64_t now, remaining_ms;

  if (deadline_ns == UINT64_MAX)
    return -1;
  now = driver->host->now_ns();
  if (now >= deadline_ns)
    return 0;
  remaining_ms = (deadline_ns - now) / 1000000 + 1;
  return remaining_ms < DAY_MS ? (int)remaining_ms : DAY_MS;
}

/* Waits for an event of libpq's socket.  Returns false if the time is up. */
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

/* Does what PQconnectdbParams does, with a deadline more exact than its seconds. */
static enum bn_sql connect_establish(struct bn_pgsql_lib *c, uint64_t deadline_ns,
                                     struct bn_sql_diag *d)
{
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  int events = 0;

  while (PQstatus(c->handle) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
         state != PGRES_POLLING_FAILED) {
    if (!connect_wait(c, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ns))
      return connect_give_up(c, "timeout expired", d);
    if (++events > LOGIN_EVENTS_MAX)
      return connect_give_up(c,
                             "the server asks for authentication again and again; check what "
                             "listens at this address",
                             d);
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

/* Replaces libpq's own receiver, which would print the notice unchanged. */
static void connect_take_notice(void *arg, const PGresult *res)
{
  struct bn_pgsql_lib *c = arg;

  if (c->driver->host->names_loss)
    bn_pgsql_lib_note_words(c, res);
  if (c->driver->host->policy->pgsql_shows_notices)
    c->driver->host->notice(PQresultErrorMessage(res));
}

/* libpq calls this for each result, also for results that no call returns. */
static int connect_take_event(PGEventId id, void *info, void *arg)
{
  if (id == PGEVT_RESULTCREATE)
    bn_pgsql_lib_note_words(arg, ((const PGEventResultCreate *)info)->result);
  return 1;
}

static uint64_t connect_deadline(const struct bn_pgsql *driver, uint64_t deadline_ns)
{
  const uint64_t asked_ns = (uint64_t)driver->conf->connect_timeout_s * 1000000000;
  uint64_t timeout_at_ns;

  if (asked_ns == 0)
    return deadline_ns;
  timeout_at_ns = driver->host->now_ns() + asked_ns;
  return timeout_at_ns < deadline_ns ? timeout_at_ns : deadline_ns;
}

/* Returns whether libpq has addresses from elsewhere. */
static bool connect_has_addresses(const struct bn_pgsql_conf *conf)
{
  return getenv("PGHOSTADDR") != NULL || conf->service != NULL ||
         (conf->parameters != NULL && strstr(conf->parameters, "hostaddr") != NULL);
}

/* Names the host once for each of its addresses, as libpq wants it; malloc'd. */
static char *connect_repeat_host(const struct bn_driver_host *host, const char *name,
                                 const char *addresses)
{
  char *list = host->text(name);

  while ((addresses = strchr(addresses, ',')) != NULL) {
    char *longer = host->print("%s,%s", list, name);

    free(list);
    list = longer;
    addresses++;
  }
  return list;
}

/* Begins to connect.  If a parameter is given twice, libpq takes the last one. */
static PGconn *connect_start(const struct bn_pgsql *driver, const char *const *values,
                             const char *addresses)
{
  const char *name[N_PARAMS + N_FURTHER + 2] = {NULL}, *value[N_PARAMS + N_FURTHER + 2] = {NULL};
  char *hosts = NULL;
  PQconninfoOption *all = NULL;
  PGconn *handle;
  size_t n = N_PARAMS;

  memcpy(name, keywords, sizeof keywords);
  memcpy(value, values, N_PARAMS * sizeof *value);
  if (driver->conf->parameters != NULL)
    all = PQconninfoParse(driver->conf->parameters, NULL);
  for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
    if (o->val == NULL || n == N_PARAMS + N_FURTHER)
      continue;
    name[n] = o->keyword;
    value[n++] = o->val;
  }
  if (addresses != NULL) {
    value[HOST] = hosts = connect_repeat_host(driver->host, values[HOST], addresses);
    name[n] = "hostaddr";
    value[n] = addresses;
  }
  handle = PQconnectStartParams(name, value, 0);
  PQconninfoFree(all);
  free(hosts);
  return handle;
}

int bn_pgsql_lib_check_parameters(const char *parameters, struct bn_err *err)
{
  char *why = NULL;
  PQconninfoOption *all = PQconninfoParse(parameters, &why);
  int rc = 0;

  /* A sentence of libpq ends with a line break; without memory there is no sentence. */
  if (why != NULL)
    why[strcspn(why, "\n")] = '\0';
  if (all == NULL)
    rc = bn_err_set(err, 0, "--pgsql-parameters: %s", why != NULL ? why : "out of memory");
  for (const PQconninfoOption *o = all; rc == 0 && o != NULL && o->keyword != NULL; o++)
    if (o->val != NULL && o->dispchar[0] == '*')
      rc = bn_err_set(err, 0, "--pgsql-parameters: '%s' is a secret, which would stand in results",
                      o->keyword);
  PQconninfoFree(all);
  PQfreemem(why);
  return rc;
}

static enum bn_sql connect_once(struct bn_pgsql_lib *c, const char *const *values,
                                uint64_t deadline_ns, struct bn_sql_diag *d)
{
  const struct bn_pgsql *driver = c->driver;
  const char *addresses = NULL;

  if (c->wait->waiter != NULL && values[HOST] != NULL && !connect_has_addresses(driver->conf))
    addresses = bn_names_find(driver->names, values[HOST]);
  c->handle = connect_start(driver, values, addresses);
  if (c->handle == NULL)
    return bn_pgsql_fail_text("53200", "PQconnectStartParams", "out of memory\n\n", d);
  c->last_words[0] = '\0';
  (void)PQsetNoticeReceiver(c->handle, connect_take_notice, c);
  /* Registered only if needed, because it costs two allocations for each result. */
  if (driver->host->names_loss)
    (void)PQregisterEventProc(c->handle, connect_take_event, "bench", c);
  return connect_establish(c, deadline_ns, d);
}

enum bn_sql bn_pgsql_lib_connect(struct bn_pgsql_lib *c, const struct bn_pgsql *driver,
                                 const struct bn_sql_target *t, uint64_t deadline_ns,
                                 struct bn_sql_diag *d)
{
  const char *values[N_PARAMS], *foreign;
  struct bn_backlog backlog = {.ms = 0};
  char text[160];
  enum bn_sql rc;

  c->driver = driver;
  foreign = connect_choose(values, driver, t);
  if (foreign != NULL) {
    (void)snprintf(text, sizeof text, "--pgsql-%s cannot differ between connections\n\n", foreign);
    return bn_pgsql_fail_text("", "PQconnectStartParams", text, d);
  }
  deadline_ns = connect_deadline(driver, deadline_ns);
  /* Only a connect to a Unix socket fails like this: its backlog is full. */
  while ((rc = connect_once(c, values, deadline_ns, d)) != BN_SQL_DONE &&
         strstr(d->text, strerror(EAGAIN)) != NULL &&
         bn_backlog_wait(&backlog, c->wait->waiter, driver->host, deadline_ns))
    PQfinish(c->handle);
  return rc;
}

void bn_pgsql_lib_disconnect(struct bn_pgsql_lib *c)
{
  PQfinish(c->handle);
  c->handle = NULL;
  free(c->closing);
  free(c->tried_copy);
  c->closing = c->tried_copy = NULL;
  bn_pgsql_lib_free_values(c);
}

bool bn_pgsql_lib_knows(const char *keyword)
{
  PQconninfoOption *all = PQconndefaults();
  bool known = false;

  for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++)
    known |= strcmp(o->keyword, keyword) == 0;
  PQconninfoFree(all);
  return known;
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

bool bn_pgsql_lib_is_known(const struct bn_pgsql_lib *c)
{
  return PQsocket(c->handle) >= 0 && (!PQsslInUse(c->handle) || bn_pgsql_lib_tls(c) != NULL) &&
         !PQgssEncInUse(c->handle) && PQprotocolVersion(c->handle) == 3;
}

char bn_pgsql_lib_transaction(const struct bn_pgsql_lib *c)
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
