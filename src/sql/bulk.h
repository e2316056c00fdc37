/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk insert: rows are collected into statements as long as the reference's. */
#ifndef BN_SQL_BULK_H
#define BN_SQL_BULK_H

#include "base/buf.h"
#include "sql/load.h"

enum { BN_SQL_CUTS = 16 };

/* A connection's; bulk.c owns it. */
struct bn_sql_bulk {
  struct bn_buf text; /* the INSERT so far */
  size_t head;        /* length of its text up to VALUES */
  size_t max;         /* longest statement; 0: not decided yet */
  unsigned rows;      /* in the text */
  bool active;
  bool may_load; /* by the driver's bulk load */
  /* While rows are loaded the text holds those of several statements: where each but the first
     begins.  `load` has the same rows as the driver's load_rows takes them. */
  size_t cut[BN_SQL_CUTS];
  unsigned n_cuts;
  struct bn_sql_load load;
};

static inline void bn_sql_bulk_free(struct bn_sql_bulk *b)
{
  bn_sql_load_forget(&b->load);
  bn_buf_done(&b->text);
}

#endif
