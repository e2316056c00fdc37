/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --connect: the URI of a database stands for options of its driver. */
#include "cli/connect.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mask.h"
#include "base/uri.h"

/* A part of a URI, and the option that it stands for.  An empty name ends a table. */
struct meaning {
  const char *name, *option;
  /* Set by the user, they beat the part as its own option does, because the driver uses them in
     place of it. */
  const char *beaten_by[2];
};

/* What a URI means to a driver. */
struct target {
  const char *driver;
  struct meaning user, password, host, port, path;
  const char *instead_of_host; /* used in place of hosts if it is set; NULL: there is none */
  const struct meaning *params;
};

static const struct meaning mysql_params[] = {
    {.name = "socket", .option = "mysql-socket", .beaten_by = {"mysql-host", "mysql-port"}},
    {.name = "ssl-mode", .option = "mysql-ssl"},
    {.name = "ssl-ca", .option = "mysql-ssl-ca"},
    {.name = "ssl-cert", .option = "mysql-ssl-cert"},
    {.name = "ssl-key", .option = "mysql-ssl-key"},
    {.name = "ssl-cipher", .option = "mysql-ssl-cipher"},
    {.name = "compression", .option = "mysql-compression"},
    {.name = "connect-timeout", .option = "mysql-connect-timeout"},
    {.name = "password-file", .option = "mysql-password-file"},
    {.name = "defaults-file", .option = "mysql-defaults-file"},
    {.name = NULL}};

/* libpq's names. */
static const struct meaning pgsql_params[] = {
    {.name = "host", .option = "pgsql-host"},
    {.name = "socket", .option = "pgsql-host"},
    {.name = "sslmode", .option = "pgsql-sslmode"},
    {.name = "sslrootcert", .option = "pgsql-sslrootcert"},
    {.name = "sslcert", .option = "pgsql-sslcert"},
    {.name = "sslkey", .option = "pgsql-sslkey"},
    {.name = "require_auth", .option = "pgsql-require-auth"},
    {.name = "connect_timeout", .option = "pgsql-connect-timeout"},
    {.name = "password-file", .option = "pgsql-password-file"},
    {.name = "service", .option = "pgsql-service"},
    {.name = NULL}};

#define PARTS(driver)                                                                              \
  .user = {.option = driver "-user"}, .host = {.option = driver "-host"},                          \
  .port = {.option = driver "-port"}, .path = {.option = driver "-db"},                            \
  .password = {.option = driver "-password",                                                       \
               .beaten_by = {driver "-password-file", driver "-password-prompt"}}

static const struct target mysql = {
    .driver = "mysql", PARTS("mysql"), .instead_of_host = "mysql-socket", .params = mysql_params};
static const struct target pgsql = {.driver = "pgsql", PARTS("pgsql"), .params = pgsql_params};

static const struct {
  const char *name;
  const struct target *target;
} schemes[] = {
    {"mysql", &mysql}, {"mariadb", &mysql}, {"postgresql", &pgsql}, {"postgres", &pgsql}};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

static const struct target *target_of(const char *name)
{
  for (size_t i = 0; i < SCHEMES; i++)
    if (strcmp(schemes[i].name, name) == 0)
      return schemes[i].target;
  return NULL;
}

/* As near to the user as the URI: a file is farther than the command line. */
static bool is_set(const struct bn_optset *options, const char *option)
{
  const enum bn_origin origin = bn_optset_origin(options, option);

  return origin != BN_FROM_DEFAULT && origin >= bn_optset_origin(options, "connect");
}

static int connect_set(struct bn_optset *options, const char *option, const char *value)
{
  struct bn_err err = {0};

  if (bn_optset_set(options, option, value, BN_MASK, &err) != BN_OPTSET_NO_MEMORY)
    return 0;
  bn_log_stderr("%s", err.text);
  return -1;
}

/* value NULL: the URI does not say. */
static int connect_take(struct bn_optset *options, const struct meaning *m, const char *value)
{
  bool beaten = value == NULL || is_set(options, m->option);

  for (size_t i = 0; i < 2 && m->beaten_by[i] != NULL; i++)
    beaten |= is_set(options, m->beaten_by[i]);
  return beaten ? 0 : connect_set(options, m->option, value);
}

/* Hosts of the URI are used although a file names a socket. */
static int leave_socket(struct bn_optset *options, const struct target *t, const struct bn_uri *u)
{
  if (u->host == NULL || t->instead_of_host == NULL || is_set(options, t->instead_of_host) ||
      bn_optset_origin(options, t->instead_of_host) == BN_FROM_DEFAULT)
    return 0;
  return connect_set(options, t->instead_of_host, "");
}

static void refuse_param(const struct target *t, const char *name)
{
  char known[256] = "";

  for (const struct meaning *m = t->params; m->name != NULL; m++)
    (void)snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                   m == t->params ? "" : ", ", m->name);
  bn_log_stderr("--connect: the driver %s has no parameter '%.40s'; allowed: %s", t->driver, name,
                known);
}

static int take_param(struct bn_optset *options, const struct target *t,
                      const struct bn_uri_param *p)
{
  for (const struct meaning *m = t->params; m->name != NULL; m++)
    if (bn_opt_same_name(m->name, p->name))
      return connect_take(options, m, p->value);
  refuse_param(t, p->name);
  return -1;
}

/* Parameters come first: ?host= beats the host before the path, as in libpq. */
static int take_all(struct bn_optset *options, const struct target *t, const struct bn_uri *u)
{
  char port[16];

  (void)snprintf(port, sizeof port, "%u", u->port);
  for (size_t i = 0; i < u->n_params; i++)
    if (take_param(options, t, &u->param[i]) != 0)
      return -1;
  if (leave_socket(options, t, u) != 0 || connect_take(options, &t->user, u->user) != 0 ||
      connect_take(options, &t->password, u->password) != 0 ||
      connect_take(options, &t->host, u->host) != 0 ||
      connect_take(options, &t->port, u->port != 0 ? port : NULL) != 0)
    return -1;
  return connect_take(options, &t->path, u->path);
}

static int take_driver(struct bn_optset *options, const struct target *t, const char *driver)
{
  if (!is_set(options, "db-driver"))
    return connect_set(options, "db-driver", t->driver);
  if (driver != NULL && strcmp(driver, t->driver) == 0)
    return 0;
  bn_log_stderr(
      "--connect: the URI is for the driver %s, but --db-driver=%s; leave out one of them",
      t->driver, driver != NULL ? driver : "");
  return -1;
}

static int connect_apply(struct bn_optset *options, const struct bn_uri *u, const char *driver)
{
  const struct target *t = target_of(u->scheme);

  if (t != NULL)
    return take_driver(options, t, driver) == 0 ? take_all(options, t, u) : -1;
  bn_log_stderr("--connect: unknown scheme; allowed: mysql, mariadb, postgresql, postgres");
  return -1;
}

int bn_cli_connect(struct bn_optset *options, const char *uri, const char *driver)
{
  struct bn_err err = {0};
  struct bn_uri u;
  int rc;

  if (uri == NULL || uri[0] == '\0')
    return 0;
  rc = bn_uri_parse(&u, uri, &err);
  if (rc != 0)
    bn_log_stderr("--connect: %s", err.text);
  else
    rc = connect_apply(options, &u, driver);
  bn_uri_done(&u);
  return rc;
}
