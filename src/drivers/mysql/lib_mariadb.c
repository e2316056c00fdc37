/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is particular to MariaDB Connector/C. */
#include <string.h>

#include <errmsg.h>

#include "drivers/mysql/internal.h"

int bn_mysql_lib_ssl_mode(MYSQL *handle, int mode, const char **text)
{
  const my_bool yes = 1;

  (void)text;
  if (mode == BN_MYSQL_SSL_DISABLED)
    return 0;
  /* Without a file the library would not even ask for encryption. */
  (void)mysql_ssl_set(handle, NULL, NULL, NULL, NULL, NULL);
  if (mode >= BN_MYSQL_SSL_REQUIRED)
    (void)mysql_optionsv(handle, MYSQL_OPT_SSL_ENFORCE, &yes);
  if (mode == BN_MYSQL_SSL_VERIFY_IDENTITY)
    (void)mysql_optionsv(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
  return 0;
}

int bn_mysql_lib_compression(MYSQL *handle, const char *algorithms, const char **text)
{
  if (algorithms != NULL && strcmp(algorithms, "zlib") != 0) {
    *text = "this client library compresses by zlib only";
    return -1;
  }
  (void)mysql_optionsv(handle, MYSQL_OPT_COMPRESS, NULL);
  return 0;
}

int bn_mysql_lib_socket(MYSQL *handle)
{
  return (int)mysql_get_socket(handle);
}

int bn_mysql_lib_unsent(void)
{
  return CR_SERVER_GONE_ERROR;
}

bool bn_mysql_lib_asks_why(void)
{
  return false;
}

const char *bn_mysql_lib_text(int code)
{
  switch (code) {
  case CR_SERVER_GONE_ERROR:
    return "Server has gone away";
  case CR_SERVER_LOST:
    return "Lost connection to server during query";
  default:
    return "Malformed packet";
  }
}

/* The library then sends the password as if it were protected, which a server refuses that has
   caching_sha2_password. */
bool bn_mysql_lib_wants_plain(MYSQL *handle)
{
  return mysql_errno(handle) == 1045 && (handle->server_capabilities & CLIENT_SSL) == 0;
}
