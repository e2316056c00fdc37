/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepared statements that are sent as text: puts the values in place of the question marks.  Any
   thread may call these functions. */
#ifndef BN_SQL_EMULATE_H
#define BN_SQL_EMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/driver.h"
#include "base/buf.h"

/* The question marks of a text that stand for parameters. */
struct bn_sql_marks {
  size_t n;
  size_t *at; /* owned; their offsets, ascending; NULL: there are none */
};

/* The text of a statement, its marks, and how its server writes texts as literals. */
struct bn_sql_emulation {
  const char *sql;
  size_t len;
  const struct bn_sql_marks *marks;
  size_t (*quote)(void *conn, char *out, const char *in, size_t len); /* of struct bn_driver */
  void *conn;                                                         /* its argument */
};

/* Returns the next question mark from p on that stands for a parameter, because it is outside of
   literals, quoted names and comments, or end if there is none.  The text is from begin to end. */
const char *bn_sql_find_param(const char *p, const char *begin, const char *end,
                              const struct bn_sql_caps *caps);
/* Finds all of them in a text.  bn_sql_marks_done frees what they own. */
void bn_sql_marks_find(struct bn_sql_marks *marks, const char *sql, size_t len,
                       const struct bn_sql_caps *caps);
void bn_sql_marks_done(struct bn_sql_marks *marks);

/* Sets the content of out, which has no limit, to the text with the values in place of the marks.
   binds has at least as many entries as there are marks. */
void bn_sql_emulate(const struct bn_sql_emulation *e, const struct bn_sql_bind *binds,
                    struct bn_buf *out);

#endif
