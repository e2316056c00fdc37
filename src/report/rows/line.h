/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines that rows of values are written as. */
#ifndef BN_REPORT_ROWS_LINE_H
#define BN_REPORT_ROWS_LINE_H

#include "base/buf.h"
#include "base/err.h"
#include "measure/row.h"

/* Each adds one line.  What is not known is nothing between commas, in JSON null.  A text is
   quoted, what a terminal would act on is escaped, and what a spreadsheet would compute has a '
   before it. 0, or -1: out of memory. */
int bn_line_names(struct bn_buf *b, const struct bn_row *row);
/* The same unless `names` says that they have been written.  A later result of a joined report has
   to have the same ones: -1 and err. */
int bn_line_first(struct bn_buf *b, const struct bn_row *row, struct bn_buf *names,
                  struct bn_err *err);
int bn_line_values(struct bn_buf *b, const struct bn_row *row);
/* Without texts. */
int bn_line_json(struct bn_buf *b, const struct bn_row *row);
/* -1 */
int bn_line_no_memory(struct bn_err *err);

#endif
