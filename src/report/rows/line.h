/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines that rows of values are written as. */
#ifndef BN_REPORT_ROWS_LINE_H
#define BN_REPORT_ROWS_LINE_H

#include "base/buf.h"
#include "base/err.h"
#include "measure/row.h"

/* Each function appends one line.  An unknown value is an empty cell, in JSON null.  A text is
   quoted, control characters are escaped, and a text that a spreadsheet would compute has a '
   before it. */
void bn_line_names(struct bn_buf *b, const struct bn_row *row);
/* Appends the names unless `names` has them.  A later result of a joined report must have the same
   names, else -1 and err. */
int bn_line_first(struct bn_buf *b, const struct bn_row *row, struct bn_buf *names,
                  struct bn_err *err);
void bn_line_values(struct bn_buf *b, const struct bn_row *row);
/* The row has no texts. */
void bn_line_json(struct bn_buf *b, const struct bn_row *row);

#endif
