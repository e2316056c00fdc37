/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --statements: finds the counters of a statement, which are kept under its name. */
#ifndef BN_SQL_STATEMENTS_H
#define BN_SQL_STATEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "measure/statements.h"
#include "sql/digest.h"

/* The names that a session has counted statements under; only its worker uses them. */
struct bn_sql_statement_names;

/* Makes the names of a session, which is borrowed, and whose statistics tell statements apart. */
struct bn_sql_statement_names *bn_sql_statement_names_new(const struct bn_session *s);
/* Frees the names; the counters stay.  NULL is allowed. */
void bn_sql_statement_names_free(struct bn_sql_statement_names *names);
/* Returns the counters under that name. */
struct bn_statement *bn_sql_statement_names_get(struct bn_sql_statement_names *names,
                                                const char *name, size_t len);
/* Returns the counters under the digest of the text (sql/digest.h).  sql[len] is 0. */
struct bn_statement *bn_sql_statement_names_of_text(struct bn_sql_statement_names *names,
                                                    const char *sql, size_t len,
                                                    const struct bn_sql_caps *caps);

/* The most bytes of a pattern's text. */
enum { BN_SQL_PATTERN_TEXT = 512 };

/* The kind of value that stands after a part of the text. */
enum bn_sql_place {
  BN_SQL_PLACE_END,    /* none: the text ends there */
  BN_SQL_PLACE_NUMBER, /* digits, perhaps with a point */
  BN_SQL_PLACE_QUOTED  /* a text in single quotes, without a backslash */
};

/* A part of the text, up to a value or to the end. */
struct bn_sql_part {
  uint16_t len;  /* BN_SQL_PATTERN_TEXT at most */
  uint8_t value; /* enum bn_sql_place: the value after the part */
};

/* The text of a statement, cut into parts at its values.  Comparing a text with it is much faster
   than making the digest of the text.  `text` has all parts, one after the other. */
struct bn_sql_pattern {
  struct bn_sql_part part[BN_SQL_LITERALS + 1];
  char text[];
};

/* Makes the pattern of a text with these literals; the caller frees it.  Returns NULL if the text
   has too many literals, or more than BN_SQL_PATTERN_TEXT bytes around them. */
struct bn_sql_pattern *bn_sql_pattern_new(const char *sql, size_t len,
                                          const struct bn_sql_literals *literals);

/* Returns whether the text differs from that of the pattern in its values alone, and so has the
   same digest.  sql[len] is 0. */
bool bn_sql_pattern_fits(const struct bn_sql_pattern *p, const char *sql, size_t len);

#endif
