/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the packets that execute a prepared statement, from the SQL layer's values. */
#include <endian.h>
#include <string.h>

#include "drivers/mysql/wire/packet.h"

enum {
  COM_EXECUTE = 0x17,
  FIXED = 1 + 4 + 1 + 4, /* command, statement, flags, count of iterations */
  NO_CURSOR = 0,         /* flags: all rows are sent at once */
  COUNTED = 8,           /* the number of values follows */
  ITERATIONS = 1,
  NUMBER_MAX = 9, /* bytes of a number of variable length */
  TYPE_LEN = 2,   /* type and flags */
  WIRE_DOUBLE = 5,
  WIRE_NULL = 6,
  WIRE_INT64 = 8,
  WIRE_BLOB = 252,
  WIRE_TEXT = 253
};

/* Returns the length of the bitmap that marks which of n values are NULL. */
static size_t execute_nulls_len(size_t n)
{
  return (n + 7) / 8;
}

/* Returns whether a value is sent with its length before it. */
static bool execute_has_length(const struct bn_sql_bind *b)
{
  return b->type == BN_SQL_TEXT || b->type == BN_SQL_BLOB;
}

size_t bn_mysql_execute_room(const struct bn_sql_bind *b, size_t n)
{
  /* The number of values, their NULLs, and whether types follow; for each value its type, the
     length of its name, and its length or its 8 bytes, for which NUMBER_MAX suffices. */
  size_t room = FIXED + NUMBER_MAX + execute_nulls_len(n) + 1 + n * (TYPE_LEN + 1 + NUMBER_MAX);

  for (size_t i = 0; i < n; i++)
    room += execute_has_length(&b[i]) && !bn_sql_bind_null(&b[i]) ? *b[i].len : 0;
  return bn_mysql_sealed_len(room);
}

/* Writes the low `bytes` bytes of a value, the lowest first.  Like all execute_put functions it
   returns the position after them. */
static uint8_t *execute_put(uint8_t *out, uint64_t value, unsigned bytes)
{
  const uint64_t low_first = htole64(value);

  memcpy(out, &low_first, bytes);
  return out + bytes;
}

/* Writes an int64_t or a double. */
static uint8_t *execute_put8(uint8_t *out, const void *value)
{
  uint64_t bits;

  memcpy(&bits, value, sizeof bits);
  return execute_put(out, bits, 8);
}

/* Writes a number in as few bytes as hold it, as bn_mysql_get_number reads them: 1, or a byte that
   tells how many follow, and 2, 3 or 8. */
static uint8_t *execute_put_number(uint8_t *out, uint64_t n)
{
  if (n < BN_MYSQL_NUMBER_LONG)
    return execute_put(out, n, 1);
  if (n <= 0xffff)
    return execute_put(execute_put(out, BN_MYSQL_NUMBER_2, 1), n, 2);
  if (n <= 0xffffff)
    return execute_put(execute_put(out, BN_MYSQL_NUMBER_3, 1), n, 3);
  return execute_put(execute_put(out, BN_MYSQL_NUMBER_8, 1), n, 8);
}

/* Writes a value that is not NULL. */
static uint8_t *execute_put_value(uint8_t *out, const struct bn_sql_bind *b)
{
  if (!execute_has_length(b))
    return execute_put8(out, b->data);
  out = execute_put_number(out, *b->len);
  if (*b->len > 0)
    memcpy(out, b->data, *b->len);
  return out + *b->len;
}

/* Writes the types of n values, each with a byte of flags and, with attributes, the length of a
   name.  Both are 0, and are written as the zero bytes above the type. */
static uint8_t *execute_put_types(uint8_t *out, const struct bn_sql_bind *b, size_t n,
                                  bool attributes)
{
  static const uint8_t type[] = {
      [BN_SQL_NULL] = WIRE_NULL, [BN_SQL_INT64] = WIRE_INT64, [BN_SQL_DOUBLE] = WIRE_DOUBLE,
      [BN_SQL_TEXT] = WIRE_TEXT, [BN_SQL_BLOB] = WIRE_BLOB,
  };

  for (size_t i = 0; i < n; i++)
    out = execute_put(out, type[b[i].type], attributes ? TYPE_LEN + 1 : TYPE_LEN);
  return out;
}

/* A statement without parameters has only a part of fixed length.  Else a count (with attributes),
   a bitmap of NULLs, a byte that says whether types follow, the types, and the values follow it. */
size_t bn_mysql_put_execute(uint8_t *out, uint32_t id, const struct bn_sql_bind *b, size_t n,
                            bool types, bool attributes)
{
  uint8_t *begin = out + BN_MYSQL_HEADER, *p = begin, *nulls;

  *p++ = COM_EXECUTE;
  p = execute_put(p, id, 4);
  *p++ = attributes && n > 0 ? NO_CURSOR | COUNTED : NO_CURSOR;
  p = execute_put(p, ITERATIONS, 4);
  if (n == 0)
    return bn_mysql_seal(out, (size_t)(p - begin));
  if (attributes)
    p = execute_put_number(p, n);
  nulls = p;
  memset(nulls, 0, execute_nulls_len(n));
  p += execute_nulls_len(n);
  *p++ = types;
  if (types)
    p = execute_put_types(p, b, n, attributes);
  for (size_t i = 0; i < n; i++) {
    if (bn_sql_bind_null(&b[i]))
      nulls[i / 8] |= (uint8_t)(1u << i % 8);
    else
      p = execute_put_value(p, &b[i]);
  }
  return bn_mysql_seal(out, (size_t)(p - begin));
}

size_t bn_mysql_seal(uint8_t *out, size_t n)
{
  const size_t last = n / BN_MYSQL_PACKET_MAX;

  /* Each piece moves up to make room for the headers before it; the last one moves first, so that
     none is overwritten. */
  for (size_t i = last + 1; i-- > 0;) {
    const size_t len = i == last ? n - last * BN_MYSQL_PACKET_MAX : BN_MYSQL_PACKET_MAX;
    uint8_t *piece = out + i * (BN_MYSQL_PACKET_MAX + BN_MYSQL_HEADER);

    if (i > 0)
      memmove(piece + BN_MYSQL_HEADER, out + BN_MYSQL_HEADER + i * BN_MYSQL_PACKET_MAX, len);
    (void)execute_put(execute_put(piece, len, 3), i, 1);
  }
  return bn_mysql_sealed_len(n);
}
