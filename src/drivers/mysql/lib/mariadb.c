/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that differ for MariaDB Connector/C. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <errmsg.h>
#include <mysql/plugin_auth.h>

#include "drivers/mysql/lib/lib.h"
#include "drivers/mysql/wire/wire.h"

/* --- before the password -------------------------------------------------------------------------
 */

/* The library calls a method of authentication before it checks whether the server offers
   encryption, and some of its methods then send the password in clear text although encryption was
   asked for.  So these methods come first.  They send nothing: the server then names the account's
   own method, and by that time the library knows whether the connection is encrypted. */
static const char gate_required[] = "bench_if_encrypted", gate_preferred[] = "bench_not_in_clear",
                  gate_any[] = "bench_in_clear";

/* Methods that send no password in clear text on an unencrypted connection. */
static const char never_in_clear[] =
    "mysql_native_password,caching_sha2_password,sha256_password,client_ed25519,parsec,"
    "auth_gssapi_client";

static bool mariadb_offers_encryption(const MYSQL *handle)
{
  return (handle->server_capabilities & CLIENT_SSL) != 0;
}

/* Encrypts if possible, and reads the name of the account's method. */
static int mariadb_ask_method(MYSQL_PLUGIN_VIO *vio)
{
  unsigned char *packet;
  const int len = vio->read_packet(vio, &packet);

  return len > 0 && packet[0] == 0 ? CR_OK_HANDSHAKE_COMPLETE : CR_ERROR;
}

static int mariadb_pass_if_encrypted(MYSQL_PLUGIN_VIO *vio, MYSQL *handle)
{
  NET *net = &handle->net;

  if (mariadb_offers_encryption(handle))
    return mariadb_ask_method(vio);
  net->last_errno = CR_SSL_CONNECTION_ERROR;
  (void)snprintf(net->sqlstate, sizeof net->sqlstate, "HY000");
  (void)snprintf(net->last_error, sizeof net->last_error, "%s", BN_MYSQL_LIB_NOT_ENCRYPTED);
  return CR_ERROR;
}

static int mariadb_pass_any(MYSQL_PLUGIN_VIO *vio, MYSQL *handle)
{
  if (!mariadb_offers_encryption(handle)) {
    /* Methods take an encryption that was asked for as one that exists. */
    (void)mysql_ssl_set(handle, NULL, NULL, NULL, NULL, NULL);
    handle->options.use_ssl = 0;
    handle->client_flag &= ~(unsigned long)CLIENT_SSL;
  }
  return mariadb_ask_method(vio);
}

/* Nobody can listen on a socket in the file system. */
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

enum { AUTHENTICATION = 2, INTERFACE_VERSION = 0x0100 };

static const struct gate gates[] = {
    {.type = AUTHENTICATION,
     .interface_version = INTERFACE_VERSION,
     .name = gate_required,
     .author = "",
     .desc = "",
     .license = "GPL",
     .authenticate = mariadb_pass_if_encrypted},
    {.type = AUTHENTICATION,
     .interface_version = INTERFACE_VERSION,
     .name = gate_preferred,
     .author = "",
     .desc = "",
     .license = "GPL",
     .authenticate = mariadb_pass_not_in_clear},
    {.type = AUTHENTICATION,
     .interface_version = INTERFACE_VERSION,
     .name = gate_any,
     .author = "",
     .desc = "",
     .license = "GPL",
     .authenticate = mariadb_pass_any},
};

/* A failed registration makes connections that name the method fail. */
void bn_mysql_lib_init(void)
{
  MYSQL *handle = mysql_init(NULL);

  for (size_t i = 0; i < sizeof gates / sizeof gates[0] && handle != NULL; i++) {
    const struct gate *gate = &gates[i];
    struct st_mysql_client_plugin *plugin;

    memcpy(&plugin, &gate, sizeof plugin); /* the library only reads it */
    (void)mysql_client_register_plugin(handle, plugin);
  }
  if (handle != NULL)
    mysql_close(handle);
}

/* --- options, and what else differs --------------------------------------------------------------
 */

int bn_mysql_lib_ssl_mode(MYSQL *handle, int mode, const char **text)
{
  const my_bool yes = 1;

  (void)text;
  if (mode == BN_MYSQL_SSL_DISABLED)
    return 0;
  (void)mysql_optionsv(handle, MYSQL_DEFAULT_AUTH,
                       mode >= BN_MYSQL_SSL_REQUIRED ? gate_required : gate_preferred);
  /* Without this call the library would not ask for encryption. */
  (void)mysql_ssl_set(handle, NULL, NULL, NULL, NULL, NULL);
  if (mode >= BN_MYSQL_SSL_REQUIRED)
    (void)mysql_optionsv(handle, MYSQL_OPT_SSL_ENFORCE, &yes);
  if (mode == BN_MYSQL_SSL_VERIFY_IDENTITY)
    (void)mysql_optionsv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
  return 0;
}

void bn_mysql_lib_cleartext(MYSQL *handle, int mode, bool local, bool allowed)
{
  if (mode == BN_MYSQL_SSL_DISABLED && !local && !allowed)
    (void)mysql_optionsv(handle, MARIADB_OPT_RESTRICTED_AUTH, never_in_clear);
  else if (mode == BN_MYSQL_SSL_PREFERRED && allowed)
    (void)mysql_optionsv(handle, MYSQL_DEFAULT_AUTH, gate_any);
}

const char *bn_mysql_lib_cleartext_refused(MYSQL *handle)
{
  /* The library's own text has the method's name in memory that it has freed. */
  return mysql_errno(handle) != CR_PLUGIN_NOT_ALLOWED
             ? NULL
             : "the server asks for a method that may send the password in clear text, and the "
               "connection is not encrypted; use --mysql-ssl, or --mysql-cleartext-password=on to "
               "allow it";
}

#ifdef BN_MYSQL_IO_WAIT
/* Waits for the socket that a login may take, of which an ordinary one needs about ten.  The
   library follows a server that asks for authentication without an end. */
enum { LOGIN_WAITS_MAX = 1000 };

/* The library hands its callback no more than the socket, and logs in within one call. */
static _Thread_local int login_waits;

/* Returns as poll() does; timeout is in milliseconds, and not positive for none. */
static int mariadb_login_wait(my_socket fd, my_bool is_read, int timeout)
{
  struct pollfd p = {.fd = fd, .events = is_read ? POLLIN : POLLOUT};
  int n;

  if (++login_waits > LOGIN_WAITS_MAX) {
    errno = ETIMEDOUT;
    return -1;
  }
  do
    n = poll(&p, 1, timeout > 0 ? timeout : -1);
  while (n < 0 && errno == EINTR);
  if (n == 0)
    errno = ETIMEDOUT;
  return n;
}

void bn_mysql_lib_login_bound(MYSQL *handle)
{
  login_waits = 0;
  (void)mysql_optionsv(handle, MARIADB_OPT_IO_WAIT, mariadb_login_wait);
}

const char *bn_mysql_lib_login_unbound(MYSQL *handle)
{
  (void)mysql_optionsv(handle, MARIADB_OPT_IO_WAIT, NULL);
  if (login_waits <= LOGIN_WAITS_MAX)
    return NULL;
  return "the server asks for authentication again and again; check what listens at this address";
}
#else
void bn_mysql_lib_login_bound(MYSQL *handle)
{
  (void)handle;
}

const char *bn_mysql_lib_login_unbound(MYSQL *handle)
{
  (void)handle;
  return NULL;
}
#endif

int bn_mysql_lib_compression(MYSQL *handle, const char *algorithms, const char **text)
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

bool bn_mysql_lib_connected(const struct bn_mysql_lib *c)
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
