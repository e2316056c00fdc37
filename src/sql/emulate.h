/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Client-side prepared statements: puts the values in place of the question marks. */
#ifndef BN_SQL_EMULATE_H
#define BN_SQL_EMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"
#include "base/buf.h"

/* A text and the rules by which its server reads literals: they decide what is a parameter. */
struct bn_sql_emulation {
  const char *sql;
  size_t len;
  const struct bn_sql_caps *caps;
  /* As the driver's hook; called with conn. */
  size_t (*quote)(void *conn, char *out, const char *in, size_t len);
  void *conn;
};

/* Returns how many question marks stand for parameters: those outside of literals, quoted names and
   comments. */
size_t bn_sql_count_params(const char *sql, size_t len, const struct bn_sql_caps *caps);

/* Replaces the content of out by the text with the values in place.  binds has as many entries as
   bn_sql_count_params says.  out has no limit. */
void bn_sql_emulate(const struct bn_sql_emulation *e, const struct bn_sql_bind *binds,
                    struct bn_buf *out);

#endif
