/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the reader of a PostgreSQL server's answers: whatever it sends, reading goes on or ends,
   and stays within the bytes that came. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/pgsql/wire/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 65535 };

static void fetch_all(const struct bn_pgsql_reply *r, char *data, size_t len)
{
  const size_t fields = (size_t)r->result_fields;
  struct bn_sql_value *row = malloc(fields * sizeof *row + 1);
  struct bn_pgsql_cursor c;
  uint64_t rows = 0;

  if (row == NULL)
    return;
  bn_pgsql_cursor_begin(&c, r, data);
  while (bn_pgsql_cursor_next(&c, data, len, r->result_fields, row)) {
    rows++;
    for (int i = 0; i < r->result_fields; i++) {
      if (row[i].ptr != NULL && (row[i].ptr < data || row[i].ptr + row[i].len > data + len))
        abort();
    }
  }
  if (rows > r->rows)
    abort();
  free(row);
}

static void look_at(const struct bn_pgsql_reply *r, char *data, size_t len)
{
  char out[16];

  if (r->kind == BN_PGSQL_ERROR) {
    bn_pgsql_error_field(data + r->error_at, r->error_len, 'M', out, sizeof out);
    if (strlen(out) >= sizeof out)
      abort();
  } else if (r->kind == BN_PGSQL_ROWS) {
    if (r->result_fields < 0 || r->result_fields > FIELDS)
      abort();
    fetch_all(r, data, len);
  }
}

/* The bytes come in parts of `part`; each is in memory of its own size. */
static void read_in_parts(const uint8_t *bytes, size_t size, size_t part, int fields)
{
  struct bn_pgsql_reply r = {.at = 0};
  enum bn_pgsql_seen seen = BN_PGSQL_INCOMPLETE;

  bn_pgsql_reply_begin(&r, fields);
  for (size_t len = part; len <= size; len += part) {
    char *data = malloc(len);

    if (data == NULL)
      return;
    memcpy(data, bytes, len);
    do {
      seen = bn_pgsql_reply_read(&r, data, len);
      if (r.at > len || (seen == BN_PGSQL_INCOMPLETE && r.need <= len))
        abort();
    } while (seen == BN_PGSQL_COPY_IN);
    if (seen == BN_PGSQL_READY)
      look_at(&r, data, len);
    free(data);
    if (seen != BN_PGSQL_INCOMPLETE)
      return;
  }
}

/* The same in one place, out of which goes what is not needed. */
static void read_and_pack(const uint8_t *bytes, size_t size, size_t part, int fields)
{
  struct bn_pgsql_reply r = {.at = 0};
  enum bn_pgsql_seen seen = BN_PGSQL_INCOMPLETE;
  char *data = malloc(size + 1);
  size_t len = 0;

  if (data == NULL)
    return;
  bn_pgsql_reply_begin(&r, fields);
  for (size_t at = 0; seen == BN_PGSQL_INCOMPLETE && size - at >= part; at += part) {
    memcpy(data + len, bytes + at, part);
    len += part;
    do
      seen = bn_pgsql_reply_read(&r, data, len);
    while (seen == BN_PGSQL_COPY_IN);
    if (seen == BN_PGSQL_INCOMPLETE && bn_pgsql_reply_can_pack(&r))
      len -= bn_pgsql_reply_pack(&r, data, len);
    if (r.at > len || (seen == BN_PGSQL_INCOMPLETE && r.need <= len))
      abort();
  }
  if (seen == BN_PGSQL_READY)
    look_at(&r, data, len);
  free(data);
}

static void read_idle(const uint8_t *bytes, size_t size)
{
  struct bn_pgsql_reply r = {.at = 0};
  char *data = malloc(size + 1);

  if (data == NULL)
    return;
  memcpy(data + 1, bytes, size);
  bn_pgsql_reply_begin(&r, BN_PGSQL_NO_ROWS);
  if (bn_pgsql_reply_read_asides(&r, data + 1, size) == BN_PGSQL_INCOMPLETE && r.need <= size)
    abort();
  free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 2)
    return 0;
  read_in_parts(data + 2, size - 2, 1 + data[0], data[1] % 8 - 1);
  read_and_pack(data + 2, size - 2, 1 + data[0], data[1] % 8 - 1);
  read_idle(data + 2, size - 2);
  return 0;
}
