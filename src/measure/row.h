/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes one flat row of named values of a report: the columns of every format that has rows. */
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
  BN_CELL_TEXT  /* of unknown origin: it may have any bytes */
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

/* Room for the digits of a cell, and for the name of the column of a percentile. */
enum { BN_CELL_DIGITS = 40, BN_ROW_RANK = BN_UNITS_DIGITS + 4 };

/* All zero is an empty row. */
struct bn_row {
  struct bn_cell *cell; /* owned */
  size_t n, room;
};

void bn_row_done(struct bn_row *row);
/* Writes the name of the column of a percentile, "p99.9_s", and returns it. */
const char *bn_row_name_rank(char name[BN_ROW_RANK], double percent);

/* These replace the cells of a row.  If a view, the facts or the end are NULL, the values are
   unknown, so that all rows have the same columns. */

/* Describes an interval: when it ended, every figure that intervals have, the percentiles of the
   plan, and what a script has declared. */
void bn_row_set_interval(struct bn_row *row, const struct bn_plan *plan, const struct bn_view *v);
/* Describes what a run was, and its exit status.  Without facts, the numbers of the plan are 0. */
void bn_row_set_run(struct bn_row *row, const struct bn_facts *f, const struct bn_end *end);
/* Describes a total: every figure, the percentiles of the plan, what a script has declared, and the
   phases. */
void bn_row_set_total(struct bn_row *row, const struct bn_plan *plan, const struct bn_view *v);

/* Appends copies of the cells of another row. */
void bn_row_append(struct bn_row *row, const struct bn_row *more);

/* Prints a number with the fewest digits from which the same number is read; a real number has a
   '.' or an exponent, so that a column has one type.  Prints a time in UTC and the form of ISO
   8601, without the zone.  The locale makes no difference.  Returns digits, which are "" for a text
   and for a value that is not known. */
const char *bn_cell_print(const struct bn_cell *c, char digits[BN_CELL_DIGITS]);

#endif
