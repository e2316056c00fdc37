/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Escapes texts as the server currently requires. */
#include <string.h>

#include "drivers/pgsql/lib/lib.h"

/* Returns the bytes of the character at p, at least 1. */
static size_t quote_character(const char *p, size_t remaining, int encoding)
{
  const int n = (*p & 0x80) != 0 ? PQmblen(p, encoding) : 1;

  return n > 1 && (size_t)n <= remaining ? (size_t)n : 1;
}

static bool was_plain(const struct bn_pgsql_lib *c)
{
  const char *value = PQparameterStatus(c->handle, "standard_conforming_strings");

  return value != NULL && strcmp(value, "on") == 0;
}

/* libpq escapes by the settings that it was last told, so it does not know changes that wire/ has
   read. */
size_t bn_pgsql_lib_quote(const struct bn_pgsql_lib *c, char plain_strings, const char *encoding,
                          char *out, const char *in, size_t len)
{
  const char *const begin = out;
  int number;
  bool plain;

  if (plain_strings == 0 && encoding[0] == '\0')
    return PQescapeStringConn(c->handle, out, in, len, NULL);
  number = encoding[0] != '\0' ? pg_char_to_encoding(encoding) : -1;
  if (number < 0)
    number = PQclientEncoding(c->handle);
  plain = plain_strings != 0 ? plain_strings == '1' : was_plain(c);
  for (size_t i = 0, n; i < len && in[i] != '\0'; i += n) {
    n = quote_character(in + i, len - i, number);
    if (in[i] == '\'' || (in[i] == '\\' && !plain))
      *out++ = in[i];
    memcpy(out, in + i, n);
    out += n;
  }
  *out = '\0';
  return (size_t)(out - begin);
}
