/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts rows from the server's form to the text that the client library makes of them. */
#ifndef BN_DRIVERS_MYSQL_WIRE_ROW_H
#define BN_DRIVERS_MYSQL_WIRE_ROW_H

#include "drivers/mysql/wire/packet.h"

enum {
  BN_MYSQL_CELL = 384 /* room for the text of any number or time */
};

/* The bytes of a row, in one piece. */
struct bn_mysql_row {
  const uint8_t *data;
  size_t len;
};

/* Gets the row at *at of a reply that was read to its end; *at moves past it.  A row of several
   packets is joined in *joined, which the caller frees.  Returns 0, or -1 if out of memory. */
int bn_mysql_row_next(const uint8_t *reply, size_t *at, uint8_t **joined, struct bn_mysql_row *row);

/* Get the values of a text row, or of a prepared statement's row; they point into the row and the
   cells (n of BN_MYSQL_CELL bytes).  Return 0, or -1 if the row is not valid. */
int bn_mysql_row_get_text(const struct bn_mysql_row *row, size_t n, struct bn_sql_value *out);
int bn_mysql_row_get_binary(const struct bn_mysql_row *row, const struct bn_mysql_column *column,
                            size_t n, char *cells, struct bn_sql_value *out);

/* --- float.c --- */
/* Both functions return the length, below BN_MYSQL_CELL - 1, and write "0" for a number that is not
   finite. */

/* Writes a number with `digits` significant digits or, if digits is 0, with as few as identify it.
   A number that would have too many zeros gets an exponent, and a point after its first digit. */
size_t bn_mysql_put_real(char *out, double value, int digits);
/* Writes a number with `decimals` decimals.  If the shortest text that identifies the number has no
   more decimals, zeros are added to that; else the number is rounded. */
size_t bn_mysql_put_fixed(char *out, double value, unsigned decimals);

#endif
