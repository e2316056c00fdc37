/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: the choice of the server, encryption, and time limits. */
#include "drivers/mysql/lib/lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/common/deadline.h"
#include "drivers/common/names.h"
#include "drivers/mysql/driver.h"
#include "drivers/mysql/error.h"

/* The longest packet that the library takes: the highest max_allowed_packet of servers, 1 GiB. */
static const unsigned long max_packet = 1UL << 30;

/* Returns the value that replaces an option for this connection, or NULL. */
static const char *connect_find_override(const struct bn_sql_target *t, const char *name)
{
  for (size_t i = 0; i < t->n_overrides; i++) {
    if (strcmp(t->override_name[i], name) == 0)
      return t->override_value[i];
  }
  return NULL;
}

/* Returns whether the option may differ between connections. */
static bool connect_can_override(const char *name)
{
  static const char *const names[] = {"host", "port", "socket", "user", "password", "db"};

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

/* Returns the name of the first override whose option cannot differ between connections, or
   NULL. */
static const char *connect_find_fixed_override(const struct bn_sql_target *t)
{
  for (size_t i = 0; i < t->n_overrides; i++)
    if (!connect_can_override(t->override_name[i]))
      return t->override_name[i];
  return NULL;
}

/* Returns whether "localhost" is reached by TCP.  The library would use its default socket,
   whatever the port is; but several ports, or a port of the target's own, are those of other
   servers than the socket. */
static bool connect_needs_tcp(const struct bn_mysql *driver, const char *port)
{
  const bool has_several_servers = port != NULL || driver->n_ports > 1;

  return driver->host->policy->mysql_port_means_tcp && has_several_servers;
}

/* Sets the socket, or else the host and the port: sockets in turn, or all pairs of hosts and ports,
   the port varying fastest.  A host, socket or port of the target's own replaces the options. */
static void connect_choose_server(struct bn_mysql_place *p, const struct bn_mysql *driver,
                                  const struct bn_sql_target *t)
{
  const char *port = connect_find_override(t, "port");
  bool overrides_server;

  p->host = connect_find_override(t, "host");
  p->socket = connect_find_override(t, "socket");
  overrides_server = p->host != NULL || p->socket != NULL || port != NULL;
  if (!overrides_server && driver->sockets->n > 0)
    p->socket = driver->sockets->item[t->ordinal % driver->sockets->n];
  if (p->socket != NULL) {
    p->host = BN_MYSQL_HOST;
    return;
  }
  if (p->host == NULL)
    p->host = driver->hosts->item[t->ordinal / driver->n_ports % driver->hosts->n];
  p->tcp = connect_needs_tcp(driver, port);
  if (port != NULL)
    p->port = (unsigned)strtoul(port, NULL, 10);
  else
    p->port = driver->port[t->ordinal % driver->n_ports];
}

/* Returns the target's own value, or the driver's, which may be NULL. */
static const char *connect_get_value(const struct bn_sql_target *t, const char *name,
                                     const char *driver_value)
{
  const char *override = connect_find_override(t, name);

  return override != NULL ? override : driver_value;
}

/* Sets the destination: the server, the account and the database. */
static void connect_choose_place(struct bn_mysql_place *p, const struct bn_mysql *driver,
                                 const struct bn_sql_target *t)
{
  *p = (struct bn_mysql_place){
      .user = connect_get_value(t, "user", driver->user),
      .password = connect_get_value(t, "password", driver->password),
      .db = connect_get_value(t, "db", driver->conf->db),
      .loads = t->loads,
  };
  connect_choose_server(p, driver, t);
}

/* Writes the place into d->where, in the words that follow "MySQL server", or nothing in a dialect
   that does not name it. */
static void connect_describe(const struct bn_mysql *driver, const struct bn_mysql_place *p,
                             struct bn_sql_diag *d)
{
  if (driver->host->policy->mysql_place_unnamed)
    d->where[0] = '\0';
  else if (p->socket != NULL)
    (void)snprintf(d->where, sizeof d->where, " on socket '%s'", p->socket);
  else
    (void)snprintf(d->where, sizeof d->where, " on host '%s', port %u", p->host, p->port);
}

size_t bn_mysql_lib_place(const struct bn_mysql *driver, const struct bn_sql_target *t, char *name,
                          size_t size)
{
  struct bn_mysql_place p;

  connect_choose_place(&p, driver, t);
  if (p.socket != NULL) {
    (void)snprintf(name, size, "%s", p.socket);
    return connect_find_override(t, "socket") != NULL ? 1 : driver->sockets->n;
  }
  (void)snprintf(name, size, "%s:%u", p.host, p.port);
  if (connect_find_override(t, "host") != NULL)
    return connect_find_override(t, "port") != NULL ? 1 : driver->n_ports;
  return driver->hosts->n * driver->n_ports;
}

/* Returns the option's value or, if it is empty, that of the option file, which may be NULL. */
static const char *connect_choose_value(const char *from_option, const char *from_file)
{
  return from_option != NULL && from_option[0] != '\0' ? from_option : from_file;
}

/* Returns the given path, or NULL.  Older versions of sysbench replace NULL by this file of the
   working directory, if it can be read. */
static const char *connect_choose_file(const char *given, const struct bn_mysql *driver,
                                       const char *default_file)
{
  if (given != NULL)
    return given;
  if (!driver->host->policy->mysql_files_in_folder)
    return NULL;
  return access(default_file, R_OK) == 0 ? default_file : NULL;
}

/* Sets an option of the handle, which the library copies, unless the value is NULL. */
static void connect_set_text(MYSQL *handle, enum mysql_option option, const char *value)
{
  if (value != NULL)
    (void)mysql_options(handle, option, value);
}

/* Sets the options that the mode of encryption needs.  Returns 0, or -1 and a message in *text if
   they cannot be met: a connection that is less safe than asked for is worse than none. */
static int connect_set_ssl(struct bn_mysql_lib *c, int mode, const char **text)
{
  const struct bn_mysql *driver = c->driver;
  const struct bn_mysql_conf *conf = driver->conf;
  const struct bn_mysql_defaults *file = &driver->file;
  const char *key = connect_choose_value(conf->ssl_key, file->ssl_key);
  const char *cert = connect_choose_value(conf->ssl_cert, file->ssl_cert);
  const char *cipher = connect_choose_value(conf->ssl_cipher, file->ssl_cipher);
  const char *ca =
      connect_choose_file(connect_choose_value(conf->ssl_ca, file->ssl_ca), driver, "cacert.pem");

  if (bn_mysql_lib_set_ssl_mode(c->handle, mode, text) != 0)
    return -1;
  if (mode == BN_MYSQL_SSL_DISABLED)
    return 0;
  if (mode >= BN_MYSQL_SSL_VERIFY_CA && ca == NULL) {
    *text = "to verify the server, --mysql-ssl-ca has to name the certificates to trust";
    return -1;
  }
  connect_set_text(c->handle, MYSQL_OPT_SSL_KEY,
                   connect_choose_file(key, driver, "client-key.pem"));
  connect_set_text(c->handle, MYSQL_OPT_SSL_CERT,
                   connect_choose_file(cert, driver, "client-cert.pem"));
  connect_set_text(c->handle, MYSQL_OPT_SSL_CA, ca);
  connect_set_text(c->handle, MYSQL_OPT_SSL_CIPHER, cipher);
  return 0;
}

/* Returns the seconds until the library gives up: those of the option or those until the deadline,
   at least 1, whichever are fewer; 0: no limit.  The time until the deadline is cut to a day,
   because the library counts in milliseconds, and a longer time might overflow. */
static unsigned connect_timeout_s(const struct bn_mysql *driver, uint64_t deadline_ns)
{
  enum { DAY_S = 86400 };
  const uint64_t option_s = (uint64_t)driver->conf->connect_timeout_s;
  uint64_t remaining_s, now_ns;

  if (deadline_ns == UINT64_MAX)
    return (unsigned)option_s;
  now_ns = driver->host->now_ns();
  remaining_s = deadline_ns > now_ns ? (deadline_ns - now_ns) / BN_NS_PER_S + 1 : 1;
  if (remaining_s > DAY_S)
    remaining_s = DAY_S;
  return (unsigned)(option_s != 0 && option_s < remaining_s ? option_s : remaining_s);
}

/* Returns whether the library connects to a socket in the file system: to one that is named, or for
   "localhost" to its default one. */
static bool connect_is_local(const struct bn_mysql_place *p)
{
  const bool is_localhost = p->host == NULL || strcmp(p->host, BN_MYSQL_HOST) == 0;

  return p->socket != NULL || (is_localhost && !p->tcp);
}

/* Sets the options of a handle that connects to the place.  Returns 0, or -1 and a message in *text
   if one of them cannot be met. */
static int connect_set_options(struct bn_mysql_lib *c, const struct bn_mysql_place *p, int ssl,
                               uint64_t deadline_ns, const char **text)
{
  const struct bn_mysql_conf *conf = c->driver->conf;
  const unsigned connect_s = connect_timeout_s(c->driver, deadline_ns);
  const unsigned read_s = (unsigned)conf->read_timeout_s;
  const unsigned yes = 1, tcp = MYSQL_PROTOCOL_TCP; /* the library reads values by their address */

  if (connect_s > 0)
    (void)mysql_options(c->handle, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
  if (read_s > 0) {
    (void)mysql_options(c->handle, MYSQL_OPT_READ_TIMEOUT, &read_s);
    (void)mysql_options(c->handle, MYSQL_OPT_WRITE_TIMEOUT, &read_s);
  }
  (void)mysql_options(c->handle, MYSQL_OPT_MAX_ALLOWED_PACKET, &max_packet);
  connect_set_text(c->handle, MYSQL_SET_CHARSET_NAME, conf->charset);
  for (size_t i = 0; i < c->driver->file.n_init_commands; i++)
    (void)mysql_options(c->handle, MYSQL_INIT_COMMAND, c->driver->file.init_command[i]);
  if (conf->compression &&
      bn_mysql_lib_set_compression(c->handle, conf->compression_algorithms, text) != 0)
    return -1;
  if (connect_set_ssl(c, ssl, text) != 0)
    return -1;
  bn_mysql_lib_set_cleartext(c->handle, ssl, connect_is_local(p), conf->cleartext_password);
  bn_mysql_lib_load_guard(c);
  if (p->tcp)
    (void)mysql_options(c->handle, MYSQL_OPT_PROTOCOL, &tcp);
  if (p->loads)
    (void)mysql_options(c->handle, MYSQL_OPT_LOCAL_INFILE, &yes);
  return 0;
}

/* Fills d and closes the handle of a failed login.  `reason` says why bench has given the login up;
   NULL: the library knows why it failed.  Returns ERROR or LOST. */
static enum bn_sql connect_fail(struct bn_mysql_lib *c, const char *reason, struct bn_sql_diag *d)
{
  enum bn_sql rc;

  if (reason == NULL)
    reason = bn_mysql_lib_explain_cleartext(c->handle);
  if (reason != NULL)
    rc = bn_mysql_fail_text((int)mysql_errno(c->handle), "mysql_real_connect()", reason, d);
  else
    rc = bn_mysql_lib_fail(c, "mysql_real_connect()", d);
  mysql_close(c->handle);
  c->handle = NULL;
  return rc;
}

/* Returns the port for the trace: 0 with a socket, except in 0.5, which traces its option. */
static unsigned connect_get_traced_port(const struct bn_mysql *driver,
                                        const struct bn_mysql_place *p)
{
  return p->port == 0 && driver->host->policy->mysql_zero_port ? driver->port[0] : p->port;
}

/* Returns the text for the trace. */
static const char *connect_get_traced_text(const char *text)
{
  return text != NULL ? text : "(null)";
}

/* Traces the login, without its password. */
static void connect_trace_login(const struct bn_mysql_lib *c, const struct bn_mysql_place *p)
{
  bn_mysql_trace(c->driver,
                 "mysql_real_connect(%p, \"%s\", \"%s\", \"***\", \"%s\", %u, \"%s\", "
                 "CLIENT_MULTI_STATEMENTS)",
                 (void *)c->handle, p->host, connect_get_traced_text(p->user),
                 connect_get_traced_text(p->db), connect_get_traced_port(c->driver, p),
                 connect_get_traced_text(p->socket));
}

/* Makes a handle and logs in.  Some libraries go on without encryption where the server has none,
   so it is checked afterwards.  Returns DONE, or a failure; a handle that is left then is closed by
   bn_mysql_lib_disconnect. */
static enum bn_sql connect_open_handle(struct bn_mysql_lib *c, const struct bn_mysql_place *p,
                                       int ssl, uint64_t deadline_ns, struct bn_sql_diag *d)
{
  const char *reason = NULL;

  c->handle = mysql_init(NULL);
  bn_mysql_trace(c->driver, "mysql_init(%p)", (void *)c->handle);
  if (c->handle == NULL)
    return bn_mysql_fail_text(BN_MYSQL_NO_MEMORY, "mysql_init()", "out of memory", d);
  if (connect_set_options(c, p, ssl, deadline_ns, &reason) != 0)
    return bn_mysql_fail_text(BN_MYSQL_ENCRYPTION, "mysql_options()", reason, d);
  connect_trace_login(c, p);
  c->login_until_ns =
      bn_deadline_within(c->driver->host, c->driver->conf->connect_timeout_s, deadline_ns);
  if (!bn_mysql_lib_login(c, p, &reason))
    return connect_fail(c, reason, d);
  if (ssl >= BN_MYSQL_SSL_REQUIRED && !bn_mysql_lib_is_encrypted(c))
    return bn_mysql_fail_text(BN_MYSQL_ENCRYPTION, "mysql_real_connect()",
                              bn_mysql_lib_not_encrypted(c->handle), d);
  return BN_SQL_DONE;
}

/* Returns whether a connect has failed because the backlog of the Unix socket was full. */
static bool connect_met_full_backlog(const struct bn_mysql_place *p, const struct bn_sql_diag *d)
{
  return connect_is_local(p) && d->code == BN_MYSQL_SOCKET_CONNECTION &&
         bn_mysql_quotes_errno(d, EAGAIN);
}

/* Connects once.  Without a waiter, the library looks the host up and tries its addresses in turn.
   With a waiter, that is done here, because the library's own look-up would hold up all sessions of
   the thread for each connection.  Returns DONE, or a failure and d. */
static enum bn_sql connect_open_any_address(struct bn_mysql_lib *c, const struct bn_mysql_place *p,
                                            uint64_t deadline_ns, struct bn_sql_diag *d)
{
  const int ssl = c->driver->ssl;
  const bool has_host = !connect_is_local(p);
  struct bn_mysql_place with_address = *p;
  const char *addresses = NULL; /* with commas between them */
  enum bn_sql rc;

  /* To verify the certificate, the library has to be given the name: MariaDB's from 3.4 on also to
     verify the authority alone. */
  if (c->wait->waiter != NULL && has_host && ssl < BN_MYSQL_SSL_VERIFY_CA)
    addresses = bn_names_resolve(c->driver->names, p->host);
  if (addresses == NULL)
    return connect_open_handle(c, p, ssl, deadline_ns, d);
  do {
    const size_t len = strcspn(addresses, ",");
    char *address = c->driver->host->print("%.*s", (int)len, addresses);

    with_address.host = address;
    rc = connect_open_handle(c, &with_address, ssl, deadline_ns, d);
    free(address);
    addresses += len + (addresses[len] == ',');
  } while (rc != BN_SQL_DONE && bn_mysql_reached_no_server(d) && *addresses != '\0');
  return rc;
}

/* Connects, and tries again while the backlog of the Unix socket is full, as long as
   bn_backlog_wait allows.  Returns DONE, or a failure and d. */
static enum bn_sql connect_open_with_retries(struct bn_mysql_lib *c, const struct bn_mysql_place *p,
                                             uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct bn_backlog backlog = {.ms = 0};
  enum bn_sql rc;

  do
    rc = connect_open_any_address(c, p, deadline_ns, d);
  while (rc != BN_SQL_DONE && connect_met_full_backlog(p, d) &&
         bn_backlog_wait(&backlog, c->wait->waiter, c->driver->host, deadline_ns));
  return rc;
}

enum bn_sql bn_mysql_lib_connect(struct bn_mysql_lib *c, const struct bn_mysql *driver,
                                 const struct bn_sql_target *t, uint64_t deadline_ns,
                                 struct bn_sql_diag *d)
{
  const char *fixed_option;
  struct bn_mysql_place p;
  char text[160];

  c->driver = driver;
  connect_choose_place(&p, driver, t);
  connect_describe(driver, &p, d);
  fixed_option = connect_find_fixed_override(t);
  if (fixed_option != NULL) {
    (void)snprintf(text, sizeof text, "--mysql-%s cannot differ between connections", fixed_option);
    return bn_mysql_fail_text(0, "mysql_options()", text, d);
  }
  /* No connection exists yet, so none is LOST, whatever the error's number. */
  if (connect_open_with_retries(c, &p, deadline_ns, d) != BN_SQL_DONE)
    return BN_SQL_ERROR;
  return BN_SQL_DONE;
}

void bn_mysql_lib_disconnect(struct bn_mysql_lib *c)
{
  bn_mysql_lib_load_forget(c);
  if (c->handle == NULL)
    return;
  bn_mysql_lib_enter(c);
  if (!c->driver->host->policy->mysql_traces_as_05)
    bn_mysql_trace(c->driver, "mysql_close(%p)", (void *)c->handle);
  mysql_close(c->handle);
  c->handle = NULL;
}

unsigned long bn_mysql_lib_capabilities(const struct bn_mysql_lib *c)
{
  return c->handle->client_flag & c->handle->server_capabilities;
}

unsigned *bn_mysql_lib_status(struct bn_mysql_lib *c)
{
  return &c->handle->server_status;
}

/* MySQL before 8.0 is not trusted: Aurora 2, whose version is 5.7.12, never answers the second
   command. */
bool bn_mysql_lib_reads_ahead(const struct bn_mysql_lib *c)
{
  enum { MYSQL_8_0 = 80000 };

  return strstr(mysql_get_server_info(c->handle), "MariaDB") != NULL ||
         mysql_get_server_version(c->handle) >= MYSQL_8_0;
}

bool bn_mysql_lib_is_encrypted(const struct bn_mysql_lib *c)
{
  return mysql_get_ssl_cipher(c->handle) != NULL;
}
