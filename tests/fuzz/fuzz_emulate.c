/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the emulation of prepared statements: every parameter gets its value, nothing else
   changes, and no value adds a parameter. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/emulate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARAMS_MAX = 64 };

static size_t quote(void *conn, char *out, const char *in, size_t len)
{
  const bool backslash = conn != NULL;
  size_t n = 0;

  for (size_t i = 0; i < len; i++) {
    if (in[i] == '\'' || (backslash && in[i] == '\\'))
      out[n++] = in[i];
    out[n++] = in[i];
  }
  return n;
}

/* The first byte chooses the server, the second how much of the rest is a text value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const bool no = false;
  const size_t text_len = size > 1 && data[1] < size - 2 ? data[1] : 0;
  const char *rest = (const char *)data + (size > 1 ? 2 : size);
  struct bn_sql_bind binds[PARAMS_MAX];
  struct bn_sql_caps caps = {.syntax = BN_SYNTAX_STANDARD};
  struct bn_sql_marks marks;
  struct bn_sql_emulation e = {.quote = quote, .marks = &marks};
  struct bn_buf out;

  if (size > 0)
    caps.syntax = data[0] % 2 != 0       ? BN_SYNTAX_MYSQL
                  : data[0] / 2 % 2 != 0 ? BN_SYNTAX_POSTGRESQL
                                         : BN_SYNTAX_STANDARD;
  e.conn = caps.syntax == BN_SYNTAX_MYSQL ? &e : NULL;
  e.sql = rest + text_len;
  e.len = size > 1 ? size - 2 - text_len : 0;
  bn_sql_marks_find(&marks, e.sql, e.len, &caps);
  const size_t n = marks.n;

  if (n > PARAMS_MAX) {
    bn_sql_marks_done(&marks);
    return 0;
  }
  for (size_t i = 0; i < n; i++)
    binds[i] = (struct bn_sql_bind){BN_SQL_TEXT, &no, rest, &text_len};
  bn_buf_init(&out, 0);
  bn_sql_emulate(&e, binds, &out);
  bn_sql_marks_done(&marks);
  if (out.len < e.len - n + n * (text_len + 2) || out.len > e.len + n * (2 * text_len + 2))
    abort();
  bn_buf_done(&out);
  return 0;
}
