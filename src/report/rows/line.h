/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines that rows of values are written as. */
#ifndef BN_REPORT_ROWS_LINE_H
#define BN_REPORT_ROWS_LINE_H

#include "base/buf.h"
#include "base/err.h"
#include "measure/row.h"

/* The functions append lines to a buffer without a limit. */

/* Appends the names of the cells, as the line before the rows of CSV. */
void bn_line_add_names(struct bn_buf *b, const struct bn_row *row);
/* Appends the line of names if `names` is empty, and keeps it in `names`.  Otherwise appends
   nothing: rows of several results follow one line of names.  Returns 0, or -1 and err if the names
   of the row are not those in `names`. */
int bn_line_add_names_once(struct bn_buf *b, const struct bn_row *row, struct bn_buf *names,
                           struct bn_err *err);
/* Appends the values as a row of CSV.  An unknown value is an empty cell.  A text is quoted, its
   control characters are escaped, and a text that a spreadsheet would compute has a ' before it. */
void bn_line_add_values(struct bn_buf *b, const struct bn_row *row);
/* Appends the row, which has no texts, as an object of JSON.  An unknown value is null. */
void bn_line_add_json(struct bn_buf *b, const struct bn_row *row);

#endif
