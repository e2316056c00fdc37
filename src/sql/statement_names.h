/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --statements: what the statements of a session are counted as. */
#ifndef BN_SQL_STATEMENT_NAMES_H
#define BN_SQL_STATEMENT_NAMES_H

#include <stddef.h>

#include "api/driver.h"
#include "api/session.h"
#include "measure/statements.h"

/* A session's; its worker only. */
struct bn_sql_statement_names;

/* Of a session whose statistics tell statements apart.  NULL: out of memory. */
struct bn_sql_statement_names *bn_sql_statement_names_new(const struct bn_session *s);
void bn_sql_statement_names_free(struct bn_sql_statement_names *n);
/* What is counted under that name, or under the digest of a text (sql/digest.h).  NULL: out of
   memory; the run ends as a failed one, which has been logged. */
struct bn_statement *bn_sql_statement_names_get(struct bn_sql_statement_names *n, const char *name,
                                                size_t len);
struct bn_statement *bn_sql_statement_names_of_text(struct bn_sql_statement_names *n,
                                                    const char *sql, size_t len,
                                                    const struct bn_sql_caps *caps);

#endif
