/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Escaping of texts as the server wants it at the moment. */
#include <string.h>

#include "drivers/pgsql/internal.h"

/* Bytes of the character at p, at least 1. */
static size_t character(const char *p, size_t left, int encoding)
{
  const int n = (*p & 0x80) != 0 ? PQmblen(p, encoding) : 1;

  return n > 1 && (size_t)n <= left ? (size_t)n : 1;
}

static bool was_plain(const struct bn_pgsql_conn *c)
{
  const char *value = PQparameterStatus(c->handle, "standard_conforming_strings");

  return value != NULL && strcmp(value, "on") == 0;
}

/* libpq does it by what it was told last, and so it has not seen what changed since. */
size_t bn_pgsql_quote(void *conn, char *out, const char *in, size_t len)
{
  const struct bn_pgsql_conn *c = conn;
  const char *const begin = out;
  int encoding;
  bool plain;

  if (c->plain_strings == 0 && c->encoding < 0)
    return PQescapeStringConn(c->handle, out, in, len, NULL);
  encoding = c->encoding >= 0 ? c->encoding : PQclientEncoding(c->handle);
  plain = c->plain_strings != 0 ? c->plain_strings == '1' : was_plain(c);
  for (size_t i = 0, n; i < len && in[i] != '\0'; i += n) {
    n = character(in + i, len - i, encoding);
    if (in[i] == '\'' || (in[i] == '\\' && !plain))
      *out++ = in[i];
    memcpy(out, in + i, n);
    out += n;
  }
  *out = '\0';
  return (size_t)(out - begin);
}
