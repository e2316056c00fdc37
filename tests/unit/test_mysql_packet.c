/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of MySQL: answers whole, cut and hostile, and what is asked. */
#include <string.h>

#include "cm.h"
#include "drivers/mysql/wire/row.h"

/* What has been received: packets, numbered from 1. */
struct bytes {
  uint8_t data[4096];
  size_t len;
  uint8_t seq;
};

static void add(struct bytes *b, const void *payload, size_t len)
{
  const uint8_t header[] = {(uint8_t)len, (uint8_t)(len >> 8), 0, ++b->seq};

  memcpy(b->data + b->len, header, sizeof header);
  memcpy(b->data + b->len + sizeof header, payload, len);
  b->len += sizeof header + len;
}

#define ADD(b, literal) add(b, literal, sizeof(literal) - 1)

/* Any reading of all that there is, from a block of just that size. */
static enum bn_mysql_read read_all(struct bn_mysql_reply *r, const struct bytes *b)
{
  uint8_t *data = malloc(b->len > 0 ? b->len : 1);
  enum bn_mysql_read got;

  memcpy(data, b->data, b->len);
  bn_mysql_reply_begin(r, 1);
  got = bn_mysql_reply_read(r, data, b->len);
  free(data);
  return got;
}

#define OK                          "\x00\x05\x00\x02\x00\x00\x00"
#define END                         "\xfe\x00\x00\x22\x00"
#define TAIL(type, flags, decimals) "\x0c\x3f\x00\x0a\x00\x00\x00" type flags decimals "\x00\x00"
#define COLUMN(type, flags, decimals)                                                              \
  "\x03"                                                                                           \
  "def"                                                                                            \
  "\x00\x00\x00\x01"                                                                               \
  "a"                                                                                              \
  "\x00" TAIL(type, flags, decimals)
#define INT COLUMN("\x03", "\x00\x00", "\x00")

static void test_ok(void **state)
{
  struct bytes b = {.len = 0};
  struct bn_mysql_reply r = {.binary = true};

  (void)state;
  ADD(&b, "\x00\xfc\x2c\x01\xfd\x01\x02\x03\x0a\x00\x01\x00"
          "info");
  assert_int_equal(read_all(&r, &b), BN_READ_DONE);
  assert_int_equal(r.affected, 300);
  assert_int_equal(r.status, 10);
  assert_int_equal(r.nfields, 0);
  assert_int_equal(r.code, 0);
  assert_int_equal(r.at, b.len);
}

static void test_error(void **state)
{
  struct bytes b = {.len = 0}, old = {.len = 0};
  struct bn_mysql_reply r = {.binary = true};

  (void)state;
  ADD(&b, "\xff\x7a\x04#42S02no such");
  assert_int_equal(read_all(&r, &b), BN_READ_DONE);
  assert_int_equal(r.code, 1146);
  assert_string_equal(r.sql_state, "42S02");
  assert_memory_equal(b.data + r.text_at, "no such", 7);
  assert_int_equal(r.text_len, 7);
  /* Too many connections is said without a state. */
  ADD(&old, "\xff\x10\x04Too many");
  assert_int_equal(read_all(&r, &old), BN_READ_DONE);
  assert_string_equal(r.sql_state, "HY000");
  assert_int_equal(r.text_len, 8);
}

static void test_error_out_of_turn(void **state)
{
  struct bytes b = {.seq = 7}, ok = {.seq = 7};
  struct bn_mysql_reply r = {.binary = true};

  (void)state;
  ADD(&b, "\xff\x87\x07#70100killed");
  assert_int_equal(read_all(&r, &b), BN_READ_DONE);
  assert_int_equal(r.code, 1927);
  ADD(&ok, OK);
  assert_int_equal(read_all(&r, &ok), BN_READ_BAD);
}

static void test_progress_is_no_error(void **state)
{
  struct bytes b = {.len = 0};
  struct bn_mysql_reply r = {.binary = true};

  (void)state;
  ADD(&b, "\xff\xff\xff\x01\x01\x02\x10\x00\x00\x03"
          "abc");
  ADD(&b, OK);
  assert_int_equal(read_all(&r, &b), BN_READ_DONE);
  assert_int_equal(r.code, 0);
  assert_int_equal(r.affected, 5);
}

/* One column, two rows, an end of either form. */
static void make_result(struct bytes *b, bool short_end, const char *flag)
{
  uint8_t count[2] = {1, 0};

  memset(b, 0, sizeof *b);
  if (flag != NULL)
    count[1] = (uint8_t)flag[0];
  add(b, count, flag != NULL ? 2 : 1);
  if (flag == NULL || flag[0] != 0)
    ADD(b, INT);
  if (!short_end)
    ADD(b, END);
  ADD(b, "\x00\x00\x07\x00\x00\x00");
  ADD(b, "\x00\x04");
  if (short_end)
    ADD(b, "\xfe\x00\x00\x22\x00\x00\x00");
  else
    ADD(b, END);
}

static void test_results_of_every_form(void **state)
{
  static const char *const flags[] = {NULL, "\x00", "\x01"};

  (void)state;
  for (int i = 0; i < 6; i++) {
    const char *flag = flags[i % 3];
    struct bn_mysql_reply r = {.binary = true, .short_end = i >= 3};
    struct bytes b;

    make_result(&b, i >= 3, flag);
    assert_int_equal(read_all(&r, &b), BN_READ_DONE);
    assert_int_equal(r.nfields, 1);
    assert_int_equal(r.nrows, 2);
    assert_int_equal(r.status, 0x22);
    assert_int_equal(r.affected, 0);
    assert_int_equal(r.described, flag != NULL && flag[0] == 0 ? 0 : 1);
    assert_int_equal(r.remembered, flag != NULL);
    assert_int_equal(r.at, b.len);
  }
}

/* All that can be cut off is missing, and nothing else is needed. */
static void test_every_truncation(void **state)
{
  struct bytes b;

  (void)state;
  for (int i = 0; i < 2; i++) {
    make_result(&b, i > 0, "\x01");
    while (b.len-- > 0) {
      struct bn_mysql_reply r = {.binary = true, .short_end = i > 0};

      assert_int_equal(read_all(&r, &b), BN_READ_MORE);
    }
  }
}

static void test_byte_by_byte(void **state)
{
  struct bn_mysql_reply r = {.binary = true};
  struct bytes b;

  (void)state;
  make_result(&b, false, NULL);
  bn_mysql_reply_begin(&r, 1);
  for (size_t n = 1; n < b.len; n++)
    assert_int_equal(bn_mysql_reply_read(&r, b.data, n), BN_READ_MORE);
  assert_int_equal(bn_mysql_reply_read(&r, b.data, b.len), BN_READ_DONE);
  assert_int_equal(r.nrows, 2);
}

static void test_several_results_go_on_counting(void **state)
{
  struct bn_mysql_reply r = {.binary = true};
  struct bytes b = {.len = 0};
  size_t first;

  (void)state;
  ADD(&b, "\x00\x00\x00\x0a\x00\x00\x00");
  first = b.len;
  ADD(&b, OK);
  assert_int_equal(read_all(&r, &b), BN_READ_DONE);
  assert_int_equal(r.status & BN_MYSQL_MORE_RESULTS, BN_MYSQL_MORE_RESULTS);
  assert_int_equal(r.at, first);
  bn_mysql_reply_begin(&r, r.seq);
  assert_int_equal(bn_mysql_reply_read(&r, b.data + first, b.len - first), BN_READ_DONE);
  assert_int_equal(r.affected, 5);
}

static void test_an_error_instead_of_rows(void **state)
{
  struct bn_mysql_reply r = {.binary = true};
  struct bytes b = {.len = 0};

  (void)state;
  ADD(&b, "\x01");
  ADD(&b, INT);
  ADD(&b, END);
  ADD(&b, "\x00\x00\x07\x00\x00\x00");
  ADD(&b, "\xff\x25\x05#70100interrupted");
  assert_int_equal(read_all(&r, &b), BN_READ_DONE);
  assert_int_equal(r.code, 1317);
  assert_int_equal(r.nfields, 1);
}

struct sample {
  const char *bytes;
  size_t len;
};
#define SAMPLE(literal)                                                                            \
  {                                                                                                \
    literal, sizeof(literal) - 1                                                                   \
  }

/* First packets that no server sends as an answer to a statement. */
static void test_hostile_answers(void **state)
{
  static const struct sample bad[] = {
      SAMPLE(""),
      SAMPLE("\xfb/etc/passwd"), /* it wants a file */
      SAMPLE("\xfe"),
      SAMPLE("\x00"),
      SAMPLE("\x00\x00\x00\x02\x00"),                 /* short OK */
      SAMPLE("\x00\xfe\xff\xff\xff\xff\xff\xff\xff"), /* a number that is cut */
      SAMPLE("\x00\xff\x00\x00\x00\x00\x00"),         /* no number */
      SAMPLE("\xff\x00\x00#HY000"),                   /* an error without a number */
      SAMPLE("\xff\x01"),                             /* short error */
      SAMPLE("\x02\x01\x00"),                         /* more than a count and a flag */
      SAMPLE("\xfd\x00\x00\x01"),                     /* 65536 columns */
      SAMPLE("\xfc\x00\x00"),                         /* none */
  };

  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct bn_mysql_reply r = {.binary = true};
    struct bytes b = {.len = 0};

    add(&b, bad[i].bytes, bad[i].len);
    assert_int_equal(read_all(&r, &b), BN_READ_BAD);
  }
}

/* The same in place of a column, of the columns' end, and of a row. */
static void test_hostile_results(void **state)
{
  static const struct sample column[] = {SAMPLE(""),
                                         SAMPLE("\x03"
                                                "def"),
                                         SAMPLE(END), SAMPLE("123456789012")};
  static const struct sample end[] = {SAMPLE(""), SAMPLE(INT), SAMPLE("\xfe\x00"),
                                      SAMPLE("\xfe\x00\x00\x22\x00\x00")};
  static const struct sample row[] = {SAMPLE(""), SAMPLE("\x01\x00\x07"), SAMPLE("\xfe\x00"),
                                      SAMPLE("\xfe\x00\x00\x22\x00\x00\x00\x00\x00")};
  struct bn_mysql_reply r = {.binary = true};

  (void)state;
  for (size_t i = 0; i < 4; i++) {
    struct bytes b = {.len = 0};

    ADD(&b, "\x01");
    add(&b, column[i].bytes, column[i].len);
    assert_int_equal(read_all(&r, &b), BN_READ_BAD);
    b = (struct bytes){.len = 0};
    ADD(&b, "\x01");
    ADD(&b, INT);
    add(&b, end[i].bytes, end[i].len);
    assert_int_equal(read_all(&r, &b), BN_READ_BAD);
    b = (struct bytes){.len = 0};
    ADD(&b, "\x01");
    ADD(&b, INT);
    ADD(&b, END);
    add(&b, row[i].bytes, row[i].len);
    assert_int_equal(read_all(&r, &b), BN_READ_BAD);
  }
}

static void test_sequence_numbers_are_checked(void **state)
{
  struct bn_mysql_reply r = {.binary = true};
  struct bytes b;

  (void)state;
  make_result(&b, false, NULL);
  b.data[5 + 3]++;
  assert_int_equal(read_all(&r, &b), BN_READ_BAD);
}

static void test_a_row_of_several_packets(void **state)
{
  const size_t max = BN_MYSQL_PACKET_MAX, total = 2 * max + 3;
  uint8_t *payload = malloc(total), *reply = malloc(total + 64), *joined = NULL;
  struct bn_mysql_reply r = {.binary = false, .short_end = true};
  struct bn_mysql_row row;
  struct bn_sql_value v;
  struct bytes head = {.len = 0}, end = {.seq = 5};
  size_t len, at;

  (void)state;
  memset(payload, 'x', total);
  memcpy(payload, "\xfe", 1);
  for (unsigned i = 0; i < 8; i++)
    payload[1 + i] = (uint8_t)((uint64_t)(total - 9) >> 8 * i);
  ADD(&head, "\x01");
  ADD(&head, INT);
  memcpy(reply, head.data, head.len);
  memcpy(reply + head.len + BN_MYSQL_HEADER, payload, total);
  len = bn_mysql_seal(reply + head.len, total);
  assert_int_equal(len, total + 12);
  for (unsigned i = 0; i < 3; i++) {
    assert_int_equal(reply[head.len + i * (max + 4) + 3], i);
    reply[head.len + i * (max + 4) + 3] = (uint8_t)(3 + i);
  }
  ADD(&end, "\xfe\x00\x00\x22\x00\x00\x00");
  memcpy(reply + head.len + len, end.data, end.len);
  bn_mysql_reply_begin(&r, 1);
  assert_int_equal(bn_mysql_reply_read(&r, reply, head.len + len + end.len), BN_READ_DONE);
  assert_int_equal(r.nrows, 1);
  /* The second time it takes the place of the first. */
  for (int i = 0; i < 2; i++) {
    at = r.rows_at;
    assert_int_equal(bn_mysql_row_next(reply, &at, &joined, &row), 0);
    assert_int_equal(at, head.len + len);
  }
  assert_int_equal(row.len, total);
  assert_memory_equal(row.data, payload, total);
  assert_int_equal(bn_mysql_row_get_text(&row, 1, &v), 0);
  assert_int_equal(v.len, total - 9);
  free(joined);
  free(payload);
  free(reply);
}

static void test_columns(void **state)
{
  struct bytes b = {.len = 0};
  struct bn_mysql_reply r = {.binary = true};
  struct bn_mysql_column c[2];

  (void)state;
  ADD(&b, "\x02");
  ADD(&b, COLUMN("\x08", "\x21\x80", "\x00"));
  ADD(&b, COLUMN("\x0c", "\x80\x00", "\x06"));
  ADD(&b, END);
  ADD(&b, END);
  assert_int_equal(read_all(&r, &b), BN_READ_DONE);
  bn_mysql_reply_columns(&r, b.data, c);
  assert_int_equal(c[0].type, 8);
  assert_int_equal(c[0].flags, 0x8021);
  assert_int_equal(c[0].length, 10);
  assert_int_equal(c[1].type, 12);
  assert_int_equal(c[1].decimals, 6);
}

/* --- what is asked
   -------------------------------------------------------------------------------- */

static void test_execute(void **state)
{
  static const bool yes = true, no = false;
  static const int64_t number = -2;
  static const double real = 1.0;
  static const size_t three = 3, none = 0;
  const struct bn_sql_bind b[] = {
      {BN_SQL_INT64, &no, &number, NULL},  {BN_SQL_INT64, &yes, &number, NULL},
      {BN_SQL_DOUBLE, &no, &real, NULL},   {BN_SQL_TEXT, &no, "abc", &three},
      {BN_SQL_BLOB, NULL, "abc", &three},  {BN_SQL_NULL, NULL, NULL, NULL},
      {BN_SQL_TEXT, &yes, "abc", &three},  {BN_SQL_TEXT, &no, NULL, &none},
      {BN_SQL_INT64, &yes, &number, NULL},
  };
  static const char expected[] =
      "\x38\x00\x00\x00\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x62\x01\x01"
      "\x08\x00\x08\x00\x05\x00\xfd\x00\xfc\x00\x06\x00\xfd\x00\xfd\x00\x08\x00"
      "\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\xf0\x3f\x03"
      "abc\x03"
      "abc\x00";
  uint8_t out[256];
  size_t len = bn_mysql_put_execute(out, 0x01020304, b, 9, true, false);

  (void)state;
  assert_int_equal(len, sizeof expected - 1);
  assert_memory_equal(out, expected, len);
  assert_true(bn_mysql_execute_room(b, 9) >= len);
  assert_int_equal(bn_mysql_put_execute(out, 1, b, 9, false, false), len - 18);
  assert_int_equal(bn_mysql_put_execute(out, 1, NULL, 0, true, false), 14);
  assert_memory_equal(out, "\x0a\x00\x00\x00\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00", 14);
}

/* MySQL 8: a count, and an empty name behind each type. */
static void test_execute_where_attributes_are_known(void **state)
{
  static const char expected[] =
      "\x18\x00\x00\x00\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x01\x00\x01"
      "\x08\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00";
  static const int64_t five = 5;
  const struct bn_sql_bind b = {BN_SQL_INT64, NULL, &five, NULL};
  uint8_t out[64];

  (void)state;
  assert_int_equal(bn_mysql_put_execute(out, 1, &b, 1, true, true), sizeof expected - 1);
  assert_memory_equal(out, expected, sizeof expected - 1);
  assert_int_equal(bn_mysql_put_execute(out, 1, &b, 1, false, true), sizeof expected - 4);
  assert_int_equal(bn_mysql_put_execute(out, 1, NULL, 0, true, true), 14);
  assert_int_equal(out[9], 0);
}

static void test_long_values_are_parted(void **state)
{
  static const bool no = false;
  const size_t fixed = 10 + 1 + 1 + 9; /* command, nulls, no types, length of the value */

  (void)state;
  for (size_t extra = 0; extra < 3; extra++) {
    const size_t value_len =
        BN_MYSQL_PACKET_MAX - fixed - 1 + extra + 4 /* of the length's nine bytes */;
    char *value = malloc(value_len);
    const struct bn_sql_bind b = {BN_SQL_TEXT, &no, value, &value_len};
    const size_t room = bn_mysql_execute_room(&b, 1);
    uint8_t *out = malloc(room);
    size_t payload, len;

    memset(value, 'v', value_len);
    len = bn_mysql_put_execute(out, 1, &b, 1, false, false);
    payload = 12 + 4 + value_len;
    assert_true(len <= room);
    assert_int_equal(len, bn_mysql_sealed_len(payload));
    assert_int_equal(bn_mysql_answer_seq(len), payload / BN_MYSQL_PACKET_MAX + 1);
    assert_int_equal(out[len - 1], payload == BN_MYSQL_PACKET_MAX ? 1 : 'v');
    free(out);
    free(value);
  }
}

/* Bytes that come one by one. */
static enum bn_mysql_read hear(struct bn_mysql_prepared *r, const struct bytes *b)
{
  enum bn_mysql_read got = BN_READ_MORE;

  for (size_t len = 1; len <= b->len && got == BN_READ_MORE; len++)
    got = bn_mysql_prepared_read(r, b->data, len);
  return got;
}

#define PREPARED(columns, params) "\x00\x07\x01\x00\x00" columns "\x00" params "\x00\x00\x00\x00"

static void test_what_is_said_of_a_prepared_statement(void **state)
{
  struct bn_mysql_column column[2];

  (void)state;
  for (int short_end = 0; short_end < 2; short_end++) {
    struct bn_mysql_prepared r = {.short_end = short_end, .seq = 1};
    struct bytes b = {.len = 0};

    ADD(&b, PREPARED("\x02", "\x01"));
    ADD(&b, COLUMN("\xfd", "\x00\x00", "\x00"));
    if (!short_end)
      ADD(&b, END);
    ADD(&b, COLUMN("\x05", "\x01\x80", "\x1f"));
    ADD(&b, INT);
    if (!short_end)
      ADD(&b, END);
    assert_int_equal(hear(&r, &b), BN_READ_DONE);
    assert_false(r.failed);
    assert_int_equal(r.id, 0x107);
    assert_int_equal(r.n_params, 1);
    assert_int_equal(r.n_columns, 2);
    assert_int_equal(r.at, b.len);
    bn_mysql_prepared_columns(&r, b.data, column);
    assert_int_equal(column[0].type, 5);
    assert_int_equal(column[0].flags, 0x8001);
    assert_int_equal(column[0].decimals, 31);
    assert_int_equal(column[1].type, 3);
  }
}

static void test_a_prepared_statement_without_more(void **state)
{
  struct bn_mysql_prepared none = {.seq = 1}, refused = {.seq = 1};
  struct bytes b = {.len = 0}, error = {.len = 0};

  (void)state;
  ADD(&b, PREPARED("\x00", "\x00"));
  assert_int_equal(hear(&none, &b), BN_READ_DONE);
  assert_int_equal(none.at, b.len);
  ADD(&error, "\xff\x7a\x04#42S02no such");
  assert_int_equal(hear(&refused, &error), BN_READ_DONE);
  assert_true(refused.failed);
  assert_int_equal(refused.at, error.len);
}

/* In the place of the answer: the server is about to close the connection. */
static void test_a_farewell_instead_of_a_statement(void **state)
{
  (void)state;
  for (int seq = 0; seq < 256; seq++) {
    struct bn_mysql_prepared r = {.seq = 1};
    struct bytes b = {.seq = (uint8_t)seq};

    ADD(&b, "\xff\x1d\x04#08S01bye");
    assert_int_equal(hear(&r, &b), BN_READ_DONE);
    assert_true(r.failed);
    assert_int_equal(r.at, b.len);
  }
}

static void test_what_no_server_says_of_a_statement(void **state)
{
  struct bytes b[5];

  (void)state;
  memset(b, 0, sizeof b);
  ADD(&b[0], "\x00\x07\x01\x00\x00\x00\x00\x00\x00\x00\x00"); /* too short */
  ADD(&b[1], "\x01\x07\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00");
  ADD(&b[2], PREPARED("\x00", "\x01"));
  ADD(&b[2], "\x03"
             "def"); /* no parameter */
  ADD(&b[3], PREPARED("\x01", "\x00"));
  ADD(&b[3], INT);
  ADD(&b[3], OK); /* not the end */
  b[4].seq = 1;
  ADD(&b[4], PREPARED("\x00", "\x00"));
  for (size_t i = 0; i < sizeof b / sizeof b[0]; i++) {
    struct bn_mysql_prepared r = {.seq = 1};

    assert_int_equal(hear(&r, &b[i]), BN_READ_BAD);
  }
}

BN_TESTS(mysql_packet)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ok),
      cmocka_unit_test(test_error),
      cmocka_unit_test(test_error_out_of_turn),
      cmocka_unit_test(test_progress_is_no_error),
      cmocka_unit_test(test_results_of_every_form),
      cmocka_unit_test(test_every_truncation),
      cmocka_unit_test(test_byte_by_byte),
      cmocka_unit_test(test_several_results_go_on_counting),
      cmocka_unit_test(test_an_error_instead_of_rows),
      cmocka_unit_test(test_hostile_answers),
      cmocka_unit_test(test_hostile_results),
      cmocka_unit_test(test_sequence_numbers_are_checked),
      cmocka_unit_test(test_a_row_of_several_packets),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_what_is_said_of_a_prepared_statement),
      cmocka_unit_test(test_a_prepared_statement_without_more),
      cmocka_unit_test(test_a_farewell_instead_of_a_statement),
      cmocka_unit_test(test_what_no_server_says_of_a_statement),
      cmocka_unit_test(test_execute),
      cmocka_unit_test(test_execute_where_attributes_are_known),
      cmocka_unit_test(test_long_values_are_parted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
