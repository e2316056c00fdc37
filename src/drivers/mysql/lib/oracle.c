/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that differ for Oracle's libmysqlclient, from 8.0 on. */
#include <string.h>

#include <errmsg.h>

#include "drivers/mysql/lib/lib.h"
#include "drivers/mysql/wire/wire.h"

int bn_mysql_lib_set_ssl_mode(MYSQL *handle, int mode, const char **text)
{
  static const unsigned modes[] = {
      [BN_MYSQL_SSL_DISABLED] = SSL_MODE_DISABLED,
      [BN_MYSQL_SSL_PREFERRED] = SSL_MODE_PREFERRED,
      [BN_MYSQL_SSL_REQUIRED] = SSL_MODE_REQUIRED,
      [BN_MYSQL_SSL_VERIFY_CA] = SSL_MODE_VERIFY_CA,
      [BN_MYSQL_SSL_VERIFY_IDENTITY] = SSL_MODE_VERIFY_IDENTITY,
  };
  const bool yes = true;

  /* Without encryption, caching_sha2_password needs the key that the server offers; MariaDB's
     library always asks for it. */
  if (mode <= BN_MYSQL_SSL_PREFERRED)
    (void)mysql_options(handle, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &yes);
  if (mysql_options(handle, MYSQL_OPT_SSL_MODE, &modes[mode]) == 0)
    return 0;
  *text = "this client library does not know the mode of --mysql-ssl";
  return -1;
}

/* This library sends no clear-text password unless it is allowed to.  It may where nobody can
   listen: on a local connection, and in modes that send no password without encryption. */
void bn_mysql_lib_set_cleartext(MYSQL *handle, int mode, bool local, bool allowed)
{
  const bool yes = true;

  if (allowed || local || mode >= BN_MYSQL_SSL_REQUIRED)
    (void)mysql_options(handle, MYSQL_ENABLE_CLEARTEXT_PLUGIN, &yes);
}

/* The library has one error number for all methods that it lacks, so the text decides. */
const char *bn_mysql_lib_explain_cleartext(MYSQL *handle)
{
  if (mysql_errno(handle) != CR_AUTH_PLUGIN_CANNOT_LOAD ||
      strstr(mysql_error(handle), "mysql_clear_password") == NULL)
    return NULL;
  return "the server asks for the password in clear text; use --mysql-ssl=required, or "
         "--mysql-cleartext-password=on to send it without encryption";
}

const char *const bn_mysql_lib_cannot_wait =
    "this client library cannot wait beside other sessions: leave --workers out, or use "
    "--mysql-ssl=off, --mysql-protocol=own";

/* Is never called, because this library has no callback for its waits, so that no connection sets
   calls_back. */
void bn_mysql_lib_make_current(struct bn_mysql_lib *c)
{
  (void)c;
}

/* Nothing is refused, because no limit but the library's own ones is set.  The library has no
   callback for its waits, so that a login holds up the other sessions of its thread. */
bool bn_mysql_lib_login(struct bn_mysql_lib *c, const struct bn_mysql_place *p,
                        const char **refused)
{
  *refused = NULL;
  return mysql_real_connect(c->handle, p->host, p->user, p->password, p->db, p->port, p->socket,
                            CLIENT_MULTI_STATEMENTS) != NULL;
}

/* This library has no memory of a connection that could be freed. */
void bn_mysql_lib_free_cache(struct bn_mysql_lib *c)
{
  (void)c;
}

int bn_mysql_lib_set_compression(MYSQL *handle, const char *algorithms, const char **text)
{
  (void)mysql_options(handle, MYSQL_OPT_COMPRESS, NULL);
  if (algorithms == NULL ||
      mysql_options(handle, MYSQL_OPT_COMPRESSION_ALGORITHMS, algorithms) == 0)
    return 0;
  *text = "this client library does not know the algorithms of --mysql-compression-algorithms";
  return -1;
}

int bn_mysql_lib_socket(const struct bn_mysql_lib *c)
{
  return (int)c->handle->net.fd;
}

bool bn_mysql_lib_is_connected(const struct bn_mysql_lib *c)
{
  return c->handle != NULL && c->handle->net.vio != NULL;
}

const struct bn_mysql_words bn_mysql_lib_words = {
    .unsent = CR_SERVER_LOST,
    .asks_why = true,
    .gone = "MySQL server has gone away",
    .lost = "Lost connection to MySQL server during query",
    .malformed = "Malformed packet",
};

/* This library has no function that returns OpenSSL's part of a connection. */
struct ssl_st *bn_mysql_lib_tls(const struct bn_mysql_lib *c)
{
  (void)c;
  return NULL;
}

/* This library checks for encryption before it sends a password, and needs nothing for that. */
void bn_mysql_lib_init(void)
{
}
