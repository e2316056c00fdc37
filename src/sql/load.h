/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns rows of an INSERT into the lines of a driver's bulk load (api/driver.h).  A row is turned
   into a line only if the server certainly stores the same in both ways. */
#ifndef BN_SQL_LOAD_H
#define BN_SQL_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Bytes of rows that are loaded at a time, as text of INSERT and as lines. */
enum { BN_SQL_LOAD_MAX = 1 << 20 };

/* The rows of an INSERT that are to be loaded.  Zeroed memory is a load that is off. */
struct bn_sql_load {
  bool on;               /* the rows of the INSERT are loaded */
  char *table, *columns; /* owned; columns "": all of them */
  struct bn_buf lines;
  size_t rows; /* in lines */
};

/* Begins to collect the rows of an INSERT, whose text up to VALUES is given, and forgets the INSERT
   before it.  Returns l->on: false if its rows cannot be loaded. */
bool bn_sql_load_start(struct bn_sql_load *l, const char *insert, size_t len);
/* Adds a row, the text "(…)", as a line.  Returns false, and adds nothing, if it has to be
   inserted. */
bool bn_sql_load_add(struct bn_sql_load *l, const char *row, size_t len);
/* Adds a description of the load to b, which stands in messages and traces for its text. */
void bn_sql_load_describe(const struct bn_sql_load *l, struct bn_buf *b);
/* Frees the rows and the name of the table, and turns loading off. */
void bn_sql_load_forget(struct bn_sql_load *l);

/* The most statements that the text of a load may have to be cut into, without the first. */
enum { BN_SQL_CUTS = 16 };

/* The bulk inserts of a connection.  Only bulk.c uses the members. */
struct bn_sql_bulk {
  struct bn_buf text; /* the INSERT so far */
  size_t head;        /* length of its text up to VALUES */
  size_t max;         /* length of the longest statement */
  unsigned rows;      /* in the text */
  bool active;        /* between init and done */
  bool may_load;      /* rows may be sent by the driver's bulk load */
  /* While rows are loaded, the text has the rows of several statements, and `cut` the places where
     the rows of each but the first begin.  `load` has the same rows as lines. */
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
