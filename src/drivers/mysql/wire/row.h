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

/* Gets the row at *at of a reply that was read to its end; *at moves behind it.  A row of several
   packets is joined in *joined, which the caller frees.  -1: out of memory. */
int bn_mysql_row_next(const uint8_t *reply, size_t *at, uint8_t **joined, struct bn_mysql_row *row);

/* Get the values of a text row, or of a prepared statement's row; they point into the row and the
   cells (n of BN_MYSQL_CELL bytes).  -1: the row is not valid. */
int bn_mysql_row_text(const struct bn_mysql_row *row, size_t n, struct bn_sql_value *out);
int bn_mysql_row_binary(const struct bn_mysql_row *row, const struct bn_mysql_column *column,
                        size_t n, char *cells, struct bn_sql_value *out);

/* --- float.c --- */
/* Both return the length, below BN_MYSQL_CELL - 1.  digits: the most significant digits, 0: as few
   as identify the number. */
size_t bn_mysql_put_real(char *out, double value, int digits);
size_t bn_mysql_put_fixed(char *out, double value, unsigned decimals);

#endif
