/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of one query, read completely, as text in one block of memory that is reused. */
#ifndef BN_DRIVERS_SQLITE_ROWS_H
#define BN_DRIVERS_SQLITE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

#include "api/driver.h"

/* A result; its values are data[begin..end). */
struct bn_sqlite_part {
  enum bn_sql kind; /* DONE, ROWS, ERROR */
  uint64_t nrows, affected;
  uint32_t nfields;
  size_t begin, end;
};

/* All zero is valid and empty. */
struct bn_sqlite_rows {
  char *data;
  size_t len, cap;
  size_t at, end; /* offsets of the next value, and of the end, of the current part */
  /* Further results of a text with several statements. */
  struct bn_sqlite_part *part;
  size_t n_parts, next_part;
};

/* Forgets all results; frees memory beyond the usual size. */
void bn_sqlite_rows_clear(struct bn_sqlite_rows *rows);
/* Frees all memory; the rows are valid and empty then. */
void bn_sqlite_rows_free(struct bn_sqlite_rows *rows);
/* Adds the current row of st.  Returns 0, or -1 if there is no memory for it. */
int bn_sqlite_rows_add(struct bn_sqlite_rows *rows, sqlite3_stmt *st, int nfields);
/* Adds a further result, which bn_sqlite_next returns in its turn. */
void bn_sqlite_rows_add_part(const struct bn_driver_host *host, struct bn_sqlite_rows *rows,
                             const struct bn_sqlite_part *p);
/* Makes p the current part, and fills r with what is known of it. */
void bn_sqlite_rows_select_part(struct bn_sqlite_rows *rows, const struct bn_sqlite_part *p,
                                struct bn_sql_result *r);
/* Puts the next row of the current part into row; the values stay valid until the next query.
   Returns false if there is none. */
bool bn_sqlite_rows_fetch(struct bn_sqlite_rows *rows, uint32_t nfields, struct bn_sql_value *row);

#endif
