/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a bulk insert as a driver's bulk load takes them: which statements and rows can go that
   way.  A row is taken only if both ways store the same of it. */
#ifndef BN_SQL_LOAD_H
#define BN_SQL_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Bytes of rows that are loaded at a time, as text of INSERT and as lines. */
enum { BN_SQL_LOAD_MAX = 1 << 20 };

struct bn_sql_load {
  bool on;               /* the statement is fit for it */
  char *table, *columns; /* "": all of them */
  struct bn_buf lines;
  size_t rows; /* in lines */
};

/* Begins to collect the rows of an INSERT, whose text up to VALUES is given, and forgets the rows
   of the one before.  Returns false, with `on` false, if they cannot be loaded. */
bool bn_sql_load_start(struct bn_sql_load *l, const char *insert, size_t len);
/* Adds a row, the text "(…)", as a line.  Returns false, and adds nothing, if it has to be
   inserted. */
bool bn_sql_load_add(struct bn_sql_load *l, const char *row, size_t len);
/* Removes the rows, which have been loaded. */
void bn_sql_load_drop_rows(struct bn_sql_load *l);
/* Adds the text that stands for the load in messages and traces. */
void bn_sql_load_describe(const struct bn_sql_load *l, struct bn_buf *b);
/* Frees the rows and the name of the table, and turns loading off. */
void bn_sql_load_forget(struct bn_sql_load *l);

/* The most statements that the text of a load may have to be cut into, without the first. */
enum { BN_SQL_CUTS = 16 };

/* The bulk inserts of a connection; bulk.c owns it. */
struct bn_sql_bulk {
  struct bn_buf text; /* the INSERT so far */
  size_t head;        /* length of its text up to VALUES */
  size_t max;         /* longest statement */
  unsigned rows;      /* in the text */
  bool active;
  bool may_load; /* by the driver's bulk load */
  /* While rows are loaded, the text holds the rows of several statements, and `cut` the places
     where each but the first begins.  `load` has the same rows as the driver's load_rows takes
     them. */
  size_t cut[BN_SQL_CUTS];
  unsigned n_cuts;
  struct bn_sql_load load;
};

/* Frees the memory of the rows, and keeps what was chosen for the connection. */
static inline void bn_sql_bulk_free_rows(struct bn_sql_bulk *b)
{
  bn_sql_load_forget(&b->load);
  bn_buf_done(&b->text);
}

#endif
