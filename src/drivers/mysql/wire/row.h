/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows as a server sends them, to the text that the client library makes of them. */
#ifndef BN_DRIVERS_MYSQL_WIRE_ROW_H
#define BN_DRIVERS_MYSQL_WIRE_ROW_H

#include "drivers/mysql/wire/packet.h"

enum {
  BN_MYSQL_CELL = 384 /* room for the text of any number or time */
};

/* A row's bytes, in one piece. */
struct bn_mysql_row {
  const uint8_t *data;
  size_t len;
};

/* The row at *at of a reply that was read to its end; *at moves behind it.  One of several packets
   is put together in *joined, which is the caller's to free.  -1: out of memory. */
int bn_mysql_row_next(const uint8_t *reply, size_t *at, uint8_t **joined, struct bn_mysql_row *row);

/* The values of a row of text, or of a prepared statement's; they point into the row and the cells
   (n of BN_MYSQL_CELL bytes).  -1: no server sends that. */
int bn_mysql_row_text(const struct bn_mysql_row *row, size_t n, struct bn_sql_value *out);
int bn_mysql_row_binary(const struct bn_mysql_row *row, const struct bn_mysql_column *column,
                        size_t n, char *cells, struct bn_sql_value *out);

/* --- real.c --- */
/* Both return the length, below BN_MYSQL_CELL - 1.  digits: significant ones at most, 0: as few as
   tell the number. */
size_t bn_mysql_put_real(char *out, double value, int digits);
size_t bn_mysql_put_fixed(char *out, double value, unsigned decimals);

#endif
