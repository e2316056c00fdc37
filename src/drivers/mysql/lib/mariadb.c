/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that differ for MariaDB Connector/C. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <errmsg.h>
#include <mysql/plugin_auth.h>

#include "drivers/common/deadline.h"
#include "drivers/common/remedy.h"
#include "drivers/common/tls.h"
#include "drivers/mysql/driver.h"
#include "drivers/mysql/lib/lib.h"
#include "drivers/mysql/wire/wire.h"

/* The connection that the thread's call of the library belongs to: the library hands its callbacks
   no more than the handle or the socket.  With a waiter many connections are within such calls, and
   each call sets this anew after it has waited.  The TLS model puts the variable into the static
   block of a thread: LeakSanitizer would read any other block after the module was unloaded. */
static _Thread_local struct bn_mysql_lib *mariadb_in_call
    __attribute__((tls_model("initial-exec")));

/* --- before the password --- */

/* The library calls a method of authentication before it checks whether the server offers
   encryption, and some of its methods then send the password in clear text although encryption was
   asked for.  So the library is told to begin with one of three methods of this file, the gates.  A
   gate sends nothing: the server then names the account's own method, and by that time the library
   knows whether the connection is encrypted. */
static const char gate_required[] = "bench_if_encrypted", gate_preferred[] = "bench_not_in_clear",
                  gate_any[] = "bench_in_clear";

/* Methods that send no password in clear text on an unencrypted connection. */
static const char never_in_clear[] =
    "mysql_native_password,caching_sha2_password,sha256_password,client_ed25519,parsec,"
    "auth_gssapi_client";

/* Makes the socket nonblocking, because OpenSSL would block in its recv().  The library makes it
   blocking when it has connected, so this is called after each connect and each login. */
static void mariadb_set_nonblocking(MYSQL *handle)
{
  const int fd = (int)mysql_get_socket(handle), flags = fcntl(fd, F_GETFL);

  if (flags >= 0)
    (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static bool mariadb_offers_encryption(const MYSQL *handle)
{
  return (handle->server_capabilities & CLIENT_SSL) != 0;
}

/* Reads the server's first packet.  The library, before it reads, encrypts the connection if it was
   asked to.  Returns CR_OK_HANDSHAKE_COMPLETE if the packet ends the login, else CR_ERROR: the
   library then goes on with the account's own method, which the packet names. */
static int mariadb_ask_method(MYSQL_PLUGIN_VIO *vio, MYSQL *handle)
{
  enum { SAYS_OK = 0 };
  unsigned char *packet;
  int len;

  if (mariadb_in_call->wait->waiter != NULL)
    mariadb_set_nonblocking(handle);
  len = vio->read_packet(vio, &packet);
  return len > 0 && packet[0] == SAYS_OK ? CR_OK_HANDSHAKE_COMPLETE : CR_ERROR;
}

/* The method gate_required: fails if the server offers no encryption. */
static int mariadb_pass_if_encrypted(MYSQL_PLUGIN_VIO *vio, MYSQL *handle)
{
  NET *net = &handle->net;

  if (mariadb_offers_encryption(handle))
    return mariadb_ask_method(vio, handle);
  net->last_errno = CR_SSL_CONNECTION_ERROR;
  (void)snprintf(net->sqlstate, sizeof net->sqlstate, "HY000");
  (void)snprintf(net->last_error, sizeof net->last_error, "%s", bn_mysql_lib_not_encrypted(handle));
  return CR_ERROR;
}

/* The method gate_any: goes on without encryption if the server offers none. */
static int mariadb_pass_any(MYSQL_PLUGIN_VIO *vio, MYSQL *handle)
{
  if (!mariadb_offers_encryption(handle)) {
    /* Methods take a connection for encrypted if encryption was asked for, so take that back. */
    (void)mysql_ssl_set(handle, NULL, NULL, NULL, NULL, NULL);
    handle->options.use_ssl = 0;
    handle->client_flag &= ~(unsigned long)CLIENT_SSL;
  }
  return mariadb_ask_method(vio, handle);
}

/* The method gate_preferred: allows without encryption only methods that send no password in clear
   text, except on a socket in the file system, where nobody can listen. */
static int mariadb_pass_not_in_clear(MYSQL_PLUGIN_VIO *vio, MYSQL *handle)
{
  if (!mariadb_offers_encryption(handle) && handle->unix_socket == NULL)
    (void)mysql_optionsv(handle, MARIADB_OPT_RESTRICTED_AUTH, never_in_clear);
  return mariadb_pass_any(vio, handle);
}

/* The part of a method that the library reads.  The header that defines it is not always installed
   with all that it includes. */
struct gate {
  MYSQL_CLIENT_PLUGIN_HEADER
  int (*authenticate)(MYSQL_PLUGIN_VIO *vio, MYSQL *handle);
};

/* MYSQL_CLIENT_AUTHENTICATION_PLUGIN and the version of its interface, by that header. */
enum { AUTHENTICATION = 2, INTERFACE_VERSION = 0x0100 };

/* A gate, by its name and its function. */
#define GATE(gate_name, function)                                                                  \
  {                                                                                                \
    .type = AUTHENTICATION, .interface_version = INTERFACE_VERSION, .name = (gate_name),           \
    .author = "", .desc = "", .license = "GPL", .authenticate = (function)                         \
  }
static const struct gate gates[] = {GATE(gate_required, mariadb_pass_if_encrypted),
                                    GATE(gate_preferred, mariadb_pass_not_in_clear),
                                    GATE(gate_any, mariadb_pass_any)};

/* Registers the gates.  If that fails, the connections that name them fail. */
void bn_mysql_lib_init(void)
{
  MYSQL *handle = mysql_init(NULL);

  if (handle == NULL)
    return;
  for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
    const struct gate *gate = &gates[i];
    struct st_mysql_client_plugin *plugin;

    memcpy(&plugin, &gate, sizeof plugin); /* the library only reads it */
    (void)mysql_client_register_plugin(handle, plugin);
  }
  mysql_close(handle);
}

/* --- options, and what else differs --- */

/* The first mode in which the library is told to verify.  Before 3.4 it checks the certificate
   against a file of them without being told, and if told, the name of the host too. */
#if MARIADB_PACKAGE_VERSION_ID >= 30400
enum { VERIFY_FROM = BN_MYSQL_SSL_VERIFY_CA };
#else
enum { VERIFY_FROM = BN_MYSQL_SSL_VERIFY_IDENTITY };
#endif

int bn_mysql_lib_set_ssl_mode(MYSQL *handle, int mode, const char **text)
{
  const my_bool yes = 1, verifies = mode >= VERIFY_FROM;
  const bool keeps_default = mode == BN_MYSQL_SSL_VERIFY_CA && !verifies;

  (void)text;
  /* From 3.4 on, the library verifies by default, and encrypts in every mode if it is to verify.
     In VERIFY_CA the default stays, because the library may be newer than the one compiled with. */
  if (!keeps_default)
    (void)mysql_optionsv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verifies);
  if (mode == BN_MYSQL_SSL_DISABLED)
    return 0;
  (void)mysql_optionsv(handle, MYSQL_DEFAULT_AUTH,
                       mode >= BN_MYSQL_SSL_REQUIRED ? gate_required : gate_preferred);
  /* Without this call the library would not ask for encryption. */
  (void)mysql_ssl_set(handle, NULL, NULL, NULL, NULL, NULL);
  if (mode >= BN_MYSQL_SSL_REQUIRED)
    (void)mysql_optionsv(handle, MYSQL_OPT_SSL_ENFORCE, &yes);
  return 0;
}

/* In mode PREFERRED, gate_preferred restricts the methods, if the server offers no encryption; in
   stricter modes the connection is encrypted. */
void bn_mysql_lib_set_cleartext(MYSQL *handle, int mode, bool local, bool allowed)
{
  if (mode == BN_MYSQL_SSL_DISABLED && !local && !allowed)
    (void)mysql_optionsv(handle, MARIADB_OPT_RESTRICTED_AUTH, never_in_clear);
  else if (mode == BN_MYSQL_SSL_PREFERRED && allowed)
    (void)mysql_optionsv(handle, MYSQL_DEFAULT_AUTH, gate_any);
}

const char *bn_mysql_lib_explain_cleartext(MYSQL *handle)
{
  /* The library's own text is not read: it names the method from memory that it has freed. */
  if (mysql_errno(handle) != CR_PLUGIN_NOT_ALLOWED)
    return NULL;
  return "the server asks for a method that may send the password in clear text, and the "
         "connection is not encrypted; use --mysql-ssl, or --mysql-cleartext-password=on to allow "
         "it";
}

/* --- waits for the socket --- */

/* Connects and logs in.  Returns false if that fails; the handle knows why. */
static bool mariadb_log_in(struct bn_mysql_lib *c, const struct bn_mysql_place *p)
{
  return mysql_real_connect(c->handle, p->host, p->user, p->password, p->db, p->port, p->socket,
                            CLIENT_MULTI_STATEMENTS) != NULL;
}

#ifdef BN_MYSQL_IO_WAIT
/* The number of waits for the socket after which a login is given up: an ordinary one needs about
   ten, but the library follows a server that asks for authentication without an end. */
enum { LOGIN_WAITS_MAX = 1000 };

const char *const bn_mysql_lib_cannot_wait = NULL;

/* Returns the time at which a wait ends.  The library's own limits are of no use: some of them are
   seconds and some are milliseconds. */
static uint64_t mariadb_deadline_ns(const struct bn_mysql_lib *c)
{
  if (!c->calls_back)
    return c->login_until_ns;
  return bn_deadline_within(c->driver->host, c->driver->conf->read_timeout_s, UINT64_MAX);
}

/* Waits by the waiter, beside other sessions.  Returns 1 if the library can go on with the socket,
   or 0 if the time is over or the session was interrupted. */
static int mariadb_wait_beside(struct bn_mysql_lib *c, int fd, short events)
{
  const struct bn_sql_waiter *w = c->wait->waiter;
  /* The library waits only when it has read all that was there. */
  bool *armed = c->calls_back && events == POLLIN ? &c->wait->armed : NULL;
  const uint64_t until_ns = mariadb_deadline_ns(c);
  const bool is_ready = w->wait(w, fd, events, armed, until_ns) != 0;

  bn_mysql_lib_make_current(c); /* other sessions of the thread have made calls meanwhile */
  if (is_ready)
    return 1;
  /* A wait of a statement without a limit ends only if the session was interrupted.  On a socket
     that is shut down, the library finds and reports the end of the connection as any other. */
  if (c->calls_back && until_ns == UINT64_MAX)
    return shutdown(fd, SHUT_RDWR) == 0 ? 1 : 0;
  return 0;
}

/* Waits in poll(), without a limit if timeout_ms is not positive.  Returns as poll() does. */
static int mariadb_wait_alone(int fd, short events, int timeout_ms)
{
  struct pollfd p = {.fd = fd, .events = events};
  int n;

  do
    n = poll(&p, 1, timeout_ms > 0 ? timeout_ms : -1);
  while (n < 0 && errno == EINTR);
  return n;
}

/* Returns the event to wait for.  The library asks for bytes even if OpenSSL waits for room to
   write (ma_tls_write); the server sends none before it has the rest of the statement. */
static short mariadb_event(const struct bn_mysql_lib *c, bool is_read)
{
  const struct ssl_st *tls;

  if (!is_read)
    return POLLOUT;
  tls = bn_mysql_lib_tls(c);
  return tls != NULL && bn_tls_lacks_room(tls) ? POLLOUT : POLLIN;
}

/* Called by the library for each of its waits while it logs in, and with calls_back after that.
   Returns as poll() does.  errno is ETIMEDOUT after 0, and if a login has waited too often. */
static int mariadb_wait(my_socket fd, my_bool is_read, int timeout_ms)
{
  struct bn_mysql_lib *c = mariadb_in_call; /* because the library passes the socket alone */
  const bool is_login = !c->calls_back;
  const short events = mariadb_event(c, is_read);
  int n;

  if (is_login && ++c->login_waits > LOGIN_WAITS_MAX) {
    errno = ETIMEDOUT;
    return -1;
  }
  if (c->wait->waiter != NULL)
    n = mariadb_wait_beside(c, fd, events);
  else
    n = mariadb_wait_alone(fd, events, timeout_ms);
  if (n == 0)
    errno = ETIMEDOUT;
  return n;
}

void bn_mysql_lib_make_current(struct bn_mysql_lib *c)
{
  mariadb_in_call = c;
  bn_tls_drop_errors();
}

bool bn_mysql_lib_login(struct bn_mysql_lib *c, const struct bn_mysql_place *p,
                        const char **refused)
{
  const bool has_waiter = c->wait->waiter != NULL;
  bool logged_in;

  /* mariadb_wait, by which every login waits, reads these. */
  c->login_waits = 0;
  c->calls_back = false;
  mariadb_in_call = c;
  (void)mysql_optionsv(c->handle, MARIADB_OPT_IO_WAIT, mariadb_wait);
  logged_in = mariadb_log_in(c, p);
  *refused = c->login_waits > LOGIN_WAITS_MAX ? bn_remedy_endless_login : NULL;
  /* Later calls have to wait by mariadb_wait if the socket does not block: with a waiter, or
     because wire/ has made it so, as it does with an encrypted one. */
  c->calls_back = logged_in && (has_waiter || bn_mysql_lib_tls(c) != NULL);
  if (!c->calls_back)
    (void)mysql_optionsv(c->handle, MARIADB_OPT_IO_WAIT, NULL);
  if (logged_in && has_waiter)
    mariadb_set_nonblocking(c->handle);
  return logged_in;
}
#else
const char *const bn_mysql_lib_cannot_wait =
    "this client library cannot wait beside other sessions: leave --workers out";

/* Is never called, because bn_mysql_lib_login sets no calls_back here. */
void bn_mysql_lib_make_current(struct bn_mysql_lib *c)
{
  (void)c;
}

bool bn_mysql_lib_login(struct bn_mysql_lib *c, const struct bn_mysql_place *p,
                        const char **refused)
{
  *refused = NULL;
  return mariadb_log_in(c, p);
}
#endif

/* The first members of the library's structs st_ma_pvio_tls and st_ma_pvio, whose headers are not
   always installed. */
struct pvio_tls {
  void *data, *pvio, *ssl;
};

struct pvio {
  void *data;
  unsigned char *cache, *cache_pos;
  size_t cache_size;
  int type, timeout[3], ssl_type;
  struct pvio_tls *tls;
};

/* Frees the cache of 16 KiB, half of a connection's memory, that the library reads through.  A
   cache with unread bytes stays.  Without a cache, the library makes more system calls to read. */
void bn_mysql_lib_free_cache(struct bn_mysql_lib *c)
{
  struct pvio *pvio = (void *)c->handle->net.pvio;

  if (pvio == NULL || pvio->cache == NULL || pvio->cache_pos < pvio->cache + pvio->cache_size)
    return;
  free(pvio->cache);
  pvio->cache = NULL;
}

/* Returns NULL also for an encryption other than that of this version of OpenSSL, and for a library
   without a callback for its waits, which mariadb_event() could not correct. */
struct ssl_st *bn_mysql_lib_tls(const struct bn_mysql_lib *c)
{
  const struct pvio *pvio = (const void *)c->handle->net.pvio;
  const char *version;

  if (bn_mysql_lib_cannot_wait != NULL || mysql_get_ssl_cipher(c->handle) == NULL)
    return NULL;
  if (pvio == NULL || pvio->tls == NULL ||
      mariadb_get_infov(c->handle, MARIADB_TLS_LIBRARY, &version) != 0)
    return NULL;
  return bn_tls_matches_version(version) ? pvio->tls->ssl : NULL;
}

int bn_mysql_lib_set_compression(MYSQL *handle, const char *algorithms, const char **text)
{
  if (algorithms != NULL && strcmp(algorithms, "zlib") != 0) {
    *text = "this client library compresses by zlib only";
    return -1;
  }
  (void)mysql_optionsv(handle, MYSQL_OPT_COMPRESS, NULL);
  return 0;
}

int bn_mysql_lib_socket(const struct bn_mysql_lib *c)
{
  return (int)mysql_get_socket(c->handle);
}

bool bn_mysql_lib_is_connected(const struct bn_mysql_lib *c)
{
  return c->handle != NULL && c->handle->net.pvio != NULL;
}

const struct bn_mysql_words bn_mysql_lib_words = {
    .unsent = CR_SERVER_GONE_ERROR,
    .asks_why = false,
    .gone = "Server has gone away",
    .lost = "Lost connection to server during query",
    .malformed = "Malformed packet",
};
