/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes rows as CSV (RFC 4180, with the line ends of Unix) and as JSON. */
#include "report/rows/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

void bn_line_add_names(struct bn_buf *b, const struct bn_row *row)
{
  for (size_t i = 0; i < row->n; i++)
    (void)bn_buf_printf(b, "%s%s", i > 0 ? "," : "", row->cell[i].name);
  (void)bn_buf_char(b, '\n');
}

int bn_line_add_names_once(struct bn_buf *b, const struct bn_row *row, struct bn_buf *names,
                           struct bn_err *err)
{
  const size_t start = b->len;

  bn_line_add_names(b, row);
  if (names->len == 0)
    return bn_buf_str(names, b->data + start);
  if (strcmp(names->data, b->data + start) != 0)
    return bn_err_set(err, EINVAL,
                      "the files have different columns, which depend on --percentile and on the "
                      "groups, kinds of events, phases and metrics; print them one by one");
  b->len = start; /* the line was made only to be compared */
  return 0;
}

/* Appends a text in quotes, with its own quotes doubled.  A text that begins with one of "=+-@"
   gets a ' before it, because a spreadsheet would take it for a formula. */
static void line_add_text(struct bn_buf *b, const char *text)
{
  char *shown = bn_escape_new(text, "");

  (void)bn_buf_char(b, '"');
  if (shown[0] != '\0' && strchr("=+-@", shown[0]) != NULL)
    (void)bn_buf_char(b, '\'');
  for (const char *s = shown; *s != '\0'; s++) {
    if (*s == '"')
      (void)bn_buf_char(b, '"');
    (void)bn_buf_char(b, *s);
  }
  (void)bn_buf_char(b, '"');
  free(shown);
}

void bn_line_add_values(struct bn_buf *b, const struct bn_row *row)
{
  char digits[BN_CELL_DIGITS];

  for (size_t i = 0; i < row->n; i++) {
    const struct bn_cell *c = &row->cell[i];

    if (i > 0)
      (void)bn_buf_char(b, ',');
    if (c->type == BN_CELL_TEXT)
      line_add_text(b, c->text);
    else
      (void)bn_buf_str(b, bn_cell_print(c, digits));
  }
  (void)bn_buf_char(b, '\n');
}

/* Times have a zone here, because programs take a time without one for a local time.  In CSV they
   have none: spreadsheets know no zones and would take such cells for texts. */
void bn_line_add_json(struct bn_buf *b, const struct bn_row *row)
{
  char digits[BN_CELL_DIGITS];

  for (size_t i = 0; i < row->n; i++) {
    const struct bn_cell *c = &row->cell[i];
    const char *value = bn_cell_print(c, digits);

    (void)bn_buf_printf(b, "%s\"%s\":", i > 0 ? "," : "{", c->name);
    if (value[0] == '\0')
      (void)bn_buf_str(b, "null");
    else if (c->type == BN_CELL_TIME)
      (void)bn_buf_printf(b, "\"%sZ\"", value);
    else
      (void)bn_buf_str(b, value);
  }
  (void)bn_buf_str(b, "}\n");
}
