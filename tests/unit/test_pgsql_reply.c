/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of a PostgreSQL server, byte by byte: whole, cut off, and such as no server sends. */
#include <string.h>

#include "cm.h"
#include "drivers/pgsql/wire/reply.h"

/* Bytes of an answer with their number, whatever they are. */
#define BYTES(text) text, sizeof(text) - 1

/* Two columns, whose names do not matter here; then as many rows as a test wants. */
#define DESCRIBED    "T\0\0\0\6\0\2"
#define ROW_A_NULL   "D\0\0\0\17\0\2\0\0\0\1a\377\377\377\377"
#define ROW_EMPTY_BC "D\0\0\0\20\0\2\0\0\0\0\0\0\0\2bc"
#define SELECT_2     "C\0\0\0\15SELECT 2\0"
#define READY        "Z\0\0\0\5I"
#define BOUND        "2\0\0\0\4"
#define PARSED       "1\0\0\0\4"
#define NOTICE       "N\0\0\0\13SNOTE\0\0"
#define ERROR_       "E\0\0\0\33SERROR\0C23505\0Mtwice!\0\0"
#define PLAIN_OFF    "S\0\0\0\44standard_conforming_strings\0off\0"
#define LATIN1       "S\0\0\0\33client_encoding\0LATIN1\0"

enum { ROOM = 512, FIELDS = 8 };

struct answer {
  struct bn_pgsql_reply reply;
  char *data; /* of exactly len bytes, for those who look after bounds */
  size_t len;
};

static enum bn_pgsql_seen read_answer(struct answer *a, int fields, const char *bytes, size_t len)
{
  *a = (struct answer){.data = malloc(len), .len = len};
  assert_non_null(a->data);
  memcpy(a->data, bytes, len);
  bn_pgsql_reply_begin(&a->reply, fields);
  return bn_pgsql_reply_read(&a->reply, a->data, a->len);
}

static void forget(struct answer *a)
{
  free(a->data);
}

static void check_row(struct answer *a, struct bn_pgsql_cursor *c, const char *first,
                      const char *second)
{
  struct bn_sql_value row[2];
  const char *const wanted[2] = {first, second};

  assert_true(bn_pgsql_cursor_next(c, a->data, a->len, 2, row));
  for (int i = 0; i < 2; i++) {
    if (wanted[i] == NULL) {
      assert_null(row[i].ptr);
      assert_int_equal(row[i].len, 0);
      continue;
    }
    assert_string_equal(row[i].ptr, wanted[i]);
    assert_int_equal(row[i].len, strlen(wanted[i]));
  }
}

static void gives_rows_with_their_values(void **state)
{
  struct answer a;
  struct bn_pgsql_cursor c;
  struct bn_sql_value row[2];

  (void)state;
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS,
                               BYTES(DESCRIBED ROW_A_NULL NOTICE ROW_EMPTY_BC SELECT_2 READY)),
                   BN_PGSQL_READY);
  assert_int_equal(a.reply.kind, BN_PGSQL_ROWS);
  assert_int_equal(a.reply.result_fields, 2);
  assert_int_equal(a.reply.rows, 2);
  assert_int_equal(a.reply.affected, 0);
  assert_int_equal(a.reply.status, 'I');
  assert_int_equal(a.reply.at, a.len);
  bn_pgsql_cursor_begin(&c, &a.reply, a.data);
  check_row(&a, &c, "a", NULL);
  check_row(&a, &c, "", "bc");
  assert_false(bn_pgsql_cursor_next(&c, a.data, a.len, 2, row));
  assert_false(bn_pgsql_cursor_next(&c, a.data, a.len, 2, row));
  forget(&a);
}

/* What a socket gives ends anywhere. */
static void goes_on_where_the_bytes_ended(void **state)
{
  /* Rows beside another message, and rows beside rows, which are read together. */
  static const struct {
    const char *bytes;
    size_t len;
    uint64_t rows;
  } answers[] = {
      {BYTES(BOUND DESCRIBED ROW_A_NULL PLAIN_OFF ROW_EMPTY_BC SELECT_2 READY), 2},
      {BYTES(BOUND DESCRIBED ROW_A_NULL ROW_EMPTY_BC ROW_A_NULL SELECT_2 PLAIN_OFF READY), 3},
  };
  struct answer a;

  (void)state;
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
    for (size_t cut = 0; cut < answers[i].len; cut++) {
      assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS, answers[i].bytes, cut),
                       BN_PGSQL_INCOMPLETE);
      assert_in_range(a.reply.need, cut + 1, answers[i].len);
      assert_true(a.reply.at <= cut);
      assert_int_equal(bn_pgsql_reply_read(&a.reply, answers[i].bytes, answers[i].len),
                       BN_PGSQL_READY);
      assert_int_equal(a.reply.rows, answers[i].rows);
      assert_int_equal(a.reply.rows_at, sizeof BOUND DESCRIBED - 1);
      assert_int_equal(a.reply.plain_strings, '0');
      forget(&a);
    }
}

static void needs_no_description_twice(void **state)
{
  struct answer a;

  (void)state;
  assert_int_equal(read_answer(&a, 2, BYTES(BOUND "C\0\0\0\15SELECT 0\0" READY)), BN_PGSQL_READY);
  assert_int_equal(a.reply.kind, BN_PGSQL_ROWS);
  assert_int_equal(a.reply.result_fields, 2);
  assert_int_equal(a.reply.rows, 0);
  forget(&a);
  /* The rows are others than they were. */
  assert_int_equal(read_answer(&a, 5, BYTES(BOUND ROW_A_NULL ROW_EMPTY_BC SELECT_2 READY)),
                   BN_PGSQL_READY);
  assert_int_equal(a.reply.result_fields, 2);
  assert_int_equal(a.reply.rows, 2);
  forget(&a);
}

static void counts_what_commands_did(void **state)
{
  static const struct {
    const char *bytes;
    size_t len;
    uint64_t affected;
  } commands[] = {
      {BYTES("C\0\0\0\17INSERT 0 3\0" READY), 3},
      {BYTES("C\0\0\0\21UPDATE 12345\0" READY), 12345},
      {BYTES("C\0\0\0\12BEGIN\0" READY), 0},
      {BYTES("C\0\0\0\12WITH5\0" READY), 0},
      {BYTES("C\0\0\0\6 7" READY), 7}, /* not ended */
      {BYTES("C\0\0\0\5\0" READY), 0},
      {BYTES("C\0\0\0\4" READY), 0},
  };
  struct answer a;

  (void)state;
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS, commands[i].bytes, commands[i].len),
                     BN_PGSQL_READY);
    assert_int_equal(a.reply.kind, BN_PGSQL_COMMAND);
    assert_int_equal(a.reply.affected, commands[i].affected);
    forget(&a);
  }
}

static void keeps_the_last_of_several_results(void **state)
{
  struct answer a;
  struct bn_pgsql_cursor c;

  (void)state;
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS,
                               BYTES("C\0\0\0\15UPDATE 9\0" DESCRIBED ROW_A_NULL SELECT_2 DESCRIBED
                                         ROW_EMPTY_BC SELECT_2 "Z\0\0\0\5T")),
                   BN_PGSQL_READY);
  assert_int_equal(a.reply.rows, 1);
  assert_int_equal(a.reply.affected, 0);
  assert_int_equal(a.reply.status, 'T');
  bn_pgsql_cursor_begin(&c, &a.reply, a.data);
  check_row(&a, &c, "", "bc");
  forget(&a);
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS,
                               BYTES(DESCRIBED ROW_A_NULL SELECT_2 "C\0\0\0\15UPDATE 9\0" READY)),
                   BN_PGSQL_READY);
  assert_int_equal(a.reply.kind, BN_PGSQL_COMMAND);
  assert_int_equal(a.reply.affected, 9);
  assert_int_equal(a.reply.rows, 0);
  forget(&a);
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS, BYTES("I\0\0\0\4" READY)), BN_PGSQL_READY);
  assert_int_equal(a.reply.kind, BN_PGSQL_EMPTY);
  forget(&a);
}

static void remembers_an_error(void **state)
{
  struct answer a;
  char out[ROOM];

  (void)state;
  assert_int_equal(
      read_answer(&a, BN_PGSQL_NO_ROWS, BYTES(DESCRIBED ROW_A_NULL ERROR_ SELECT_2 "Z\0\0\0\5E")),
      BN_PGSQL_READY);
  assert_int_equal(a.reply.kind, BN_PGSQL_ERROR);
  assert_int_equal(a.reply.status, 'E');
  bn_pgsql_error_field(a.data + a.reply.error_at, a.reply.error_len, 'C', out, sizeof out);
  assert_string_equal(out, "23505");
  bn_pgsql_error_field(a.data + a.reply.error_at, a.reply.error_len, 'M', out, 4);
  assert_string_equal(out, "twi");
  bn_pgsql_error_field(a.data + a.reply.error_at, a.reply.error_len, 'D', out, sizeof out);
  assert_string_equal(out, "");
  /* Without the NULs that should end field and body. */
  bn_pgsql_error_field("Mabc", 4, 'M', out, sizeof out);
  assert_string_equal(out, "");
  bn_pgsql_error_field("M", 1, 'M', out, sizeof out);
  assert_string_equal(out, "");
  bn_pgsql_error_field("Mabc\0", 5, 'M', out, sizeof out);
  assert_string_equal(out, "abc");
  forget(&a);
}

static void counts_what_was_prepared(void **state)
{
  struct answer a;

  (void)state;
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS, BYTES(PARSED PARSED PARSED READY)),
                   BN_PGSQL_READY);
  assert_int_equal(a.reply.kind, BN_PGSQL_NOTHING);
  assert_int_equal(bn_pgsql_reply_count_parsed(&a.reply, a.data), 3);
  forget(&a);
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS, BYTES(PARSED NOTICE PARSED ERROR_ READY)),
                   BN_PGSQL_READY);
  assert_int_equal(a.reply.kind, BN_PGSQL_ERROR);
  assert_int_equal(bn_pgsql_reply_count_parsed(&a.reply, a.data), 2);
  forget(&a);
}

static void notes_what_is_told_about_texts(void **state)
{
  struct answer a;

  (void)state;
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS,
                               BYTES(PLAIN_OFF LATIN1 "S\0\0\0\10a\0b\0"
                                                      "S\0\0\0\5a"
                                                      "S\0\0\0\4" READY)),
                   BN_PGSQL_READY);
  assert_int_equal(a.reply.plain_strings, '0');
  assert_string_equal(a.reply.encoding, "LATIN1");
  forget(&a);
}

static void survives_copy(void **state)
{
  struct answer a;

  (void)state;
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS, BYTES("G\0\0\0\7\0\0\0" ERROR_ READY)),
                   BN_PGSQL_COPY_IN);
  assert_true((a.reply.flags & BN_PGSQL_COPIED) != 0);
  assert_int_equal(bn_pgsql_reply_read(&a.reply, a.data, a.len), BN_PGSQL_READY);
  forget(&a);
  assert_int_equal(read_answer(&a, BN_PGSQL_NO_ROWS,
                               BYTES("H\0\0\0\7\0\0\0"
                                     "d\0\0\0\6x\n"
                                     "c\0\0\0\4"
                                     "C\0\0\0\13COPY 1\0" READY)),
                   BN_PGSQL_READY);
  assert_true((a.reply.flags & BN_PGSQL_COPIED) != 0);
  forget(&a);
}

static void refuses_what_no_server_sends(void **state)
{
  static const struct {
    const char *bytes;
    size_t len;
  } odd[] = {
      {BYTES("C\0\0\0\3")},                                /* shorter than its length */
      {BYTES("D\377\377\377\377")},                        /* negative */
      {BYTES("D\200\0\0\0")},                              /* as negative as can be */
      {BYTES("C\177\377\377\377")},                        /* a tag of 2 GiB */
      {BYTES("\0\0\0\0\4")},                               /* no type */
      {BYTES("R\0\0\0\10\0\0\0\0")},                       /* asks for a password */
      {BYTES("HTTP/1.1 400 Bad Request\r\n")},             /* somebody else */
      {BYTES("T\0\0\0\5\0")},                              /* a description of nothing */
      {BYTES("D\0\0\0\4")},                                /* a row of nothing */
      {BYTES(DESCRIBED "D\0\0\0\12\0\1\377\377\377\377")}, /* other than described */
      {BYTES(DESCRIBED ROW_A_NULL "D\0\0\0\5\0\2")},       /* the second is nothing */
      {BYTES(DESCRIBED ROW_A_NULL "D\377\377\377\377\0\2")},
      {BYTES(DESCRIBED ROW_A_NULL SELECT_2 ROW_A_NULL READY)}, /* behind the end */
      {BYTES("Z\0\0\0\4")},                                    /* ready for what? */
  };
  struct answer a;

  (void)state;
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    if (read_answer(&a, BN_PGSQL_NO_ROWS, odd[i].bytes, odd[i].len) != BN_PGSQL_ODD)
      fail_msg("answer %zu was taken", i);
    forget(&a);
  }
}

/* A length costs nothing until the bytes are there. */
static void waits_for_what_is_promised(void **state)
{
  struct answer a;

  (void)state;
  assert_int_equal(read_answer(&a, 1, BYTES("D\177\377\377\377\0\1\177\377\377\360")),
                   BN_PGSQL_INCOMPLETE);
  assert_true(a.reply.need == (size_t)INT32_MAX + 1);
  forget(&a);
}

static void ends_at_a_row_that_is_shorter_than_it_says(void **state)
{
  static const struct {
    const char *bytes;
    size_t len;
    int fields;
  } rows[] = {
      {BYTES("D\0\0\0\12\0\1\0\0\0\1C\0\0\0\15SELECT 1\0" READY), 1}, /* of the next message */
      {BYTES("D\0\0\0\12\0\1\177\377\377\377C\0\0\0\15SELECT 1\0" READY), 1},
      {BYTES("D\0\0\0\12\0\1\377\377\377\376C\0\0\0\15SELECT 1\0" READY), 1},
      {BYTES("D\0\0\0\6\0\1C\0\0\0\15SELECT 1\0" READY), 1},
      {BYTES("D\0\0\0\6\377\377C\0\0\0\15SELECT 1\0" READY), 65535},
      {BYTES("D\0\0\0\14\0\2\0\0\0\2abC\0\0\0\15SELECT 1\0" READY), 2},
      {BYTES("D\0\0\0\14\0\1\0\0\0\1abC\0\0\0\15SELECT 1\0" READY), 1}, /* one byte more */
  };
  struct bn_sql_value *row = calloc(65535, sizeof *row);
  struct bn_pgsql_cursor c;
  struct answer a;

  (void)state;
  assert_non_null(row);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(read_answer(&a, 1, rows[i].bytes, rows[i].len), BN_PGSQL_READY);
    assert_int_equal(a.reply.result_fields, rows[i].fields);
    bn_pgsql_cursor_begin(&c, &a.reply, a.data);
    assert_false(bn_pgsql_cursor_next(&c, a.data, a.len, rows[i].fields, row));
    assert_true(c.bad);
    assert_false(bn_pgsql_cursor_next(&c, a.data, a.len, rows[i].fields, row));
    forget(&a);
  }
  free(row);
}

/* Reads byte by byte, and packs as often as it may. */
static size_t read_packing(struct answer *a, const char *bytes, size_t len)
{
  enum bn_pgsql_seen seen = BN_PGSQL_INCOMPLETE;
  size_t most = 0;

  *a = (struct answer){.data = malloc(len)};
  assert_non_null(a->data);
  bn_pgsql_reply_begin(&a->reply, BN_PGSQL_NO_ROWS);
  for (size_t i = 0; i < len; i++) {
    assert_int_equal(seen, BN_PGSQL_INCOMPLETE);
    a->data[a->len++] = bytes[i];
    seen = bn_pgsql_reply_read(&a->reply, a->data, a->len);
    if (seen == BN_PGSQL_INCOMPLETE && bn_pgsql_reply_can_pack(&a->reply)) {
      const size_t need = a->reply.need - a->len;

      a->len -= bn_pgsql_reply_pack(&a->reply, a->data, a->len);
      assert_int_equal(a->reply.need, a->len + need);
    }
    most = a->len > most ? a->len : most;
  }
  assert_int_equal(seen, BN_PGSQL_READY);
  return most;
}

#define NOTICES_8 NOTICE NOTICE NOTICE NOTICE NOTICE NOTICE NOTICE NOTICE

static void packs_what_is_not_needed(void **state)
{
  static const struct {
    const char *bytes;
    size_t len;
  } answers[] = {
      {BYTES(DESCRIBED NOTICES_8 ROW_A_NULL ROW_EMPTY_BC SELECT_2 READY)},
      {BYTES(NOTICES_8 DESCRIBED ROW_A_NULL NOTICES_8 ROW_EMPTY_BC SELECT_2 NOTICE READY)},
      {BYTES(DESCRIBED ROW_A_NULL NOTICE ROW_EMPTY_BC NOTICES_8 SELECT_2 NOTICES_8 READY)},
      {BYTES(DESCRIBED ROW_EMPTY_BC NOTICE SELECT_2 NOTICE DESCRIBED NOTICE ROW_A_NULL NOTICES_8
                 ROW_EMPTY_BC NOTICES_8 SELECT_2 READY)},
  };
  struct bn_pgsql_cursor c;
  struct answer a;

  (void)state;
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    assert_true(read_packing(&a, answers[i].bytes, answers[i].len) <=
                sizeof DESCRIBED ROW_A_NULL ROW_EMPTY_BC NOTICE SELECT_2 READY);
    assert_int_equal(a.reply.kind, BN_PGSQL_ROWS);
    assert_int_equal(a.reply.rows, 2);
    bn_pgsql_cursor_begin(&c, &a.reply, a.data);
    check_row(&a, &c, "a", NULL);
    check_row(&a, &c, "", "bc");
    assert_false(bn_pgsql_cursor_next(&c, a.data, a.len, 2, NULL));
    forget(&a);
  }
}

static void packs_around_the_first_error(void **state)
{
  struct answer a;
  char text[16];

  (void)state;
  (void)read_packing(
      &a, BYTES(DESCRIBED ROW_A_NULL NOTICE ERROR_ NOTICES_8 "E\0\0\0\14SERROR\0\0" NOTICE READY));
  assert_int_equal(a.reply.kind, BN_PGSQL_ERROR);
  bn_pgsql_error_field(a.data + a.reply.error_at, a.reply.error_len, 'M', text, sizeof text);
  assert_string_equal(text, "twice!");
  assert_true(a.len < sizeof ERROR_ NOTICE NOTICE READY);
  forget(&a);
}

/* Its rows may be gone, or what is kept of them is no row. */
static void gives_no_row_of_an_answer_with_copy(void **state)
{
  static const struct {
    const char *bytes;
    size_t len;
  } answers[] = {
      {BYTES("H\0\0\0\7\0\0\0" DESCRIBED ROW_A_NULL ROW_EMPTY_BC SELECT_2 READY)},
      {BYTES(DESCRIBED ROW_A_NULL "H\0\0\0\7\0\0\0" ROW_EMPTY_BC SELECT_2 READY)},
      {BYTES(DESCRIBED ROW_A_NULL ROW_EMPTY_BC SELECT_2 "H\0\0\0\7\0\0\0" READY)},
  };
  struct bn_pgsql_cursor c;
  struct answer a;

  (void)state;
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    (void)read_packing(&a, answers[i].bytes, answers[i].len);
    bn_pgsql_cursor_begin(&c, &a.reply, a.data);
    assert_false(bn_pgsql_cursor_next(&c, a.data, a.len, 2, NULL));
    assert_false(c.bad);
    forget(&a);
  }
}

static enum bn_pgsql_seen idle(struct answer *a, const char *bytes, size_t len)
{
  bn_pgsql_reply_begin(&a->reply, BN_PGSQL_NO_ROWS);
  return bn_pgsql_reply_read_asides(&a->reply, bytes, len);
}

static void hears_what_is_said_between_answers(void **state)
{
  struct answer a;

  (void)state;
  assert_int_equal(idle(&a, "", 0), BN_PGSQL_READY);
  assert_int_equal(idle(&a, BYTES(NOTICE PLAIN_OFF ERROR_)), BN_PGSQL_READY);
  assert_int_equal(a.reply.at, sizeof NOTICE PLAIN_OFF ERROR_ - 1);
  assert_int_equal(a.reply.plain_strings, '0');
  assert_int_equal(idle(&a, BYTES(NOTICE PLAIN_OFF) - 1), BN_PGSQL_INCOMPLETE);
  assert_int_equal(a.reply.need, sizeof NOTICE PLAIN_OFF - 1);
  assert_int_equal(idle(&a, BYTES("N\0\0")), BN_PGSQL_INCOMPLETE);
  assert_int_equal(idle(&a, BYTES(READY)), BN_PGSQL_ODD);
}

BN_TESTS(pgsql_reply)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_rows_with_their_values),
      cmocka_unit_test(goes_on_where_the_bytes_ended),
      cmocka_unit_test(needs_no_description_twice),
      cmocka_unit_test(counts_what_commands_did),
      cmocka_unit_test(keeps_the_last_of_several_results),
      cmocka_unit_test(remembers_an_error),
      cmocka_unit_test(counts_what_was_prepared),
      cmocka_unit_test(notes_what_is_told_about_texts),
      cmocka_unit_test(survives_copy),
      cmocka_unit_test(refuses_what_no_server_sends),
      cmocka_unit_test(waits_for_what_is_promised),
      cmocka_unit_test(ends_at_a_row_that_is_shorter_than_it_says),
      cmocka_unit_test(packs_what_is_not_needed),
      cmocka_unit_test(packs_around_the_first_error),
      cmocka_unit_test(gives_no_row_of_an_answer_with_copy),
      cmocka_unit_test(hears_what_is_said_between_answers),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
