/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --statements: finds the name under which a statement of a session is counted. */
#ifndef BN_SQL_STATEMENTS_H
#define BN_SQL_STATEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/driver.h"
#include "api/session.h"
#include "measure/statements.h"
#include "sql/digest.h"

/* The names of a session; only its worker uses them. */
struct bn_sql_statement_names;

/* Makes the names of a session whose statistics tell statements apart. */
struct bn_sql_statement_names *bn_sql_statement_names_new(const struct bn_session *s);
/* NULL is allowed. */
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

/* The kind of place after a part of the text. */
enum bn_sql_place {
  BN_SQL_PLACE_END,    /* nothing: the text ends there */
  BN_SQL_PLACE_NUMBER, /* digits, perhaps with a point */
  BN_SQL_PLACE_QUOTED  /* single quotes without a backslash */
};

struct bn_sql_part {
  uint16_t len;  /* of the text before the value, BN_SQL_PATTERN_TEXT at most */
  uint8_t value; /* enum bn_sql_place */
};

/* The text of a statement with places for its values.  It recognizes texts of the same digest in a
   small part of the time that the digest takes.  `text` has all parts, one after the other. */
struct bn_sql_pattern {
  struct bn_sql_part part[BN_SQL_LITERALS + 1];
  char text[];
};

/* Makes the pattern of a text with these literals; the caller frees it.  Returns NULL if it has too
   many of them or more than BN_SQL_PATTERN_TEXT bytes around them. */
struct bn_sql_pattern *bn_sql_pattern_new(const char *sql, size_t len,
                                          const struct bn_sql_literals *literals);

/* Returns whether the text differs from that of the pattern in its values alone, and so has the
   same digest.  sql[len] is 0. */
bool bn_sql_pattern_fits(const struct bn_sql_pattern *p, const char *sql, size_t len);

#endif
