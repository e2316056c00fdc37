/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report as one flat row of named values: the columns of every format that has rows. */
#ifndef BN_MEASURE_ROW_H
#define BN_MEASURE_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "measure/facts.h"
#include "measure/result.h"
#include "measure/view.h"

enum bn_cell_type {
  BN_CELL_UNKNOWN,
  BN_CELL_WHOLE,
  BN_CELL_REAL, /* finite */
  BN_CELL_TIME, /* whole: ns since 1970 */
  BN_CELL_TEXT  /* of others: it may have any bytes */
};

struct bn_cell {
  /* Letters, digits, '_' and '.': "at_s", "p99.9_s"; of a part of the run with '@' and ':':
     "p99_s@event:payment". */
  char name[BN_UNITS_DIGITS + 64];
  enum bn_cell_type type;
  uint64_t whole;
  double real;
  const char *text; /* the facts' */
};

enum { BN_CELL_DIGITS = 40, BN_ROW_RANK = BN_UNITS_DIGITS + 4 };

/* All zero is an empty row. */
struct bn_row {
  struct bn_cell *cell; /* owned */
  size_t n, room;
};

void bn_row_done(struct bn_row *row);
/* Writes the name of the column of a percentile, "p99.9_s", and returns it. */
const char *bn_row_name_rank(char name[BN_ROW_RANK], double percent);

/* An interval: when it ended, every figure that intervals have, the percentiles of the plan, and
   what a script has declared. */
void bn_row_interval(struct bn_row *row, const struct bn_plan *plan, const struct bn_view *v);
/* The columns that say what a run was, and how it ended. */
void bn_row_run(struct bn_row *row, const struct bn_facts *f, const struct bn_end *end);
/* Every figure of a total, the percentiles of the plan, and what a script has declared; v NULL:
   there is none. */
void bn_row_total(struct bn_row *row, const struct bn_plan *plan, const struct bn_view *v);
/* Cells after those that are there. */
void bn_row_append(struct bn_row *row, const struct bn_row *more);

/* A number as %.17g tells it with the fewest digits, a real one never as a whole one, so that a
   column has one type; a time of UTC in the form of ISO 8601, without the zone.  Both are the same
   in every locale.  Returns digits; "": not known, or a text. */
const char *bn_cell_digits(const struct bn_cell *c, char digits[BN_CELL_DIGITS]);

#endif
