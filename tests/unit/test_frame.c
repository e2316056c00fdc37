/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames survive a stream in pieces of any length, and what is no frame is refused by a
   sentence. */
#include "cm.h"

#include <stdio.h>
#include <string.h>

#include "hosts/frame.h"

/* Checks the payload of a frame. */
static void assert_text(const struct bn_frame *f, const char *text)
{
  assert_int_equal(f->len, strlen(text));
  assert_memory_equal(f->data, text, f->len);
}

/* Returns the next frame of a reader, which has to have one. */
static struct bn_frame fetch(struct bn_frame_reader *r)
{
  struct bn_frame f;
  struct bn_err err = {0};

  if (bn_frame_next(r, &f, &err) != 1)
    fail_msg("no frame: %s", err.text);
  return f;
}

static void the_bytes_are_those_of_the_protocol(void **state)
{
  struct bn_buf out = {.max = 0};
  char ping[BN_FRAME_NUMBER];

  (void)state;
  bn_frame_write_number(ping, 0x0102030405060708);
  assert_int_equal(bn_frame_put(&out, BN_FRAME_PING, ping, sizeof ping), 0);
  assert_int_equal(bn_frame_put(&out, BN_FRAME_OPEN, NULL, 0), 0);
  assert_int_equal(bn_frame_put(&out, BN_FRAME_END, "\xff", 1), 0);
  assert_int_equal(bn_frame_put_file(&out, "a", "xyz", 3, NULL), 0);
  assert_int_equal(out.len, 13 + 5 + 6 + 11);
  assert_memory_equal(out.data,
                      "\x09\0\0\0\x04\x08\x07\x06\x05\x04\x03\x02\x01"
                      "\x01\0\0\0\x03"
                      "\x02\0\0\0\x47\xff"
                      "\x07\0\0\0\x02\x01\0axyz",
                      out.len);
  bn_buf_done(&out);
}

/* Writes the five frames that check_all() expects. */
static void put_all(struct bn_buf *out)
{
  char pong[2 * BN_FRAME_NUMBER];

  assert_int_equal(bn_frame_put(out, BN_FRAME_WELCOME, "{\"protocol\":1}", 14), 0);
  bn_frame_write_number(pong, 17);
  bn_frame_write_number(pong + BN_FRAME_NUMBER, UINT64_MAX);
  assert_int_equal(bn_frame_put(out, BN_FRAME_PONG, pong, sizeof pong), 0);
  assert_int_equal(bn_frame_put(out, BN_FRAME_READY, "{}", 2), 0);
  assert_int_equal(bn_frame_put(out, BN_FRAME_REFUSE, "no\033[2J\0\nsecond", 14), 0);
  assert_int_equal(bn_frame_put(out, BN_FRAME_END, "\3", 1), 0);
}

/* Reads the frames that are complete, of which the first one is number i of those of put_all().
   Returns the number of the next one. */
static unsigned check_all(struct bn_frame_reader *r, unsigned i)
{
  struct bn_frame f;
  char text[64];

  for (; bn_frame_next(r, &f, NULL) == 1; i++)
    switch (i) {
    case 0:
      assert_int_equal(f.type, BN_FRAME_WELCOME);
      assert_text(&f, "{\"protocol\":1}");
      break;
    case 1:
      assert_int_equal(f.type, BN_FRAME_PONG);
      assert_true(bn_frame_get_number(&f, 0) == 17 && bn_frame_get_number(&f, 1) == UINT64_MAX);
      assert_true(bn_frame_get_number(&f, 2) == 0);
      break;
    case 2:
      assert_text(&f, "{}");
      break;
    case 3:
      bn_frame_get_text(&f, text, sizeof text);
      assert_string_equal(text, "no\\x1b[2J \\x0asecond");
      break;
    default:
      assert_int_equal(f.type, BN_FRAME_END);
      assert_int_equal(bn_frame_get_byte(&f), 3);
    }
  return i;
}

static void pieces_of_any_length_give_the_same_frames(void **state)
{
  struct bn_buf out = {.max = 0};

  (void)state;
  put_all(&out);
  for (size_t piece = 1; piece <= out.len; piece++) {
    struct bn_frame_reader r;
    unsigned seen = 0;

    bn_frame_reader_init(&r, BN_FRAME_FROM_AGENT);
    for (size_t at = 0; at < out.len; at += piece) {
      const size_t len = out.len - at < piece ? out.len - at : piece;

      assert_int_equal(bn_frame_feed(&r, out.data + at, len, NULL), 0);
      seen = check_all(&r, seen);
    }
    assert_int_equal(seen, 5);
    assert_false(bn_frame_is_cut(&r));
    bn_frame_reader_done(&r);
  }
  bn_buf_done(&out);
}

static void an_end_within_a_frame_is_seen(void **state)
{
  struct bn_buf out = {.max = 0};
  struct bn_frame_reader r;
  struct bn_frame f;

  (void)state;
  assert_int_equal(bn_frame_put(&out, BN_FRAME_START, "\1\0\0\0\0\0\0", 8), 0);
  for (size_t len = 0; len < out.len; len++) {
    bn_frame_reader_init(&r, BN_FRAME_FROM_CONTROLLER);
    assert_int_equal(bn_frame_feed(&r, out.data, len, NULL), 0);
    assert_int_equal(bn_frame_next(&r, &f, NULL), 0);
    assert_int_equal(bn_frame_is_cut(&r), len > 0);
    bn_frame_reader_done(&r);
  }
  bn_buf_done(&out);
}

/* Checks that a stream, which comes in one piece, is refused with the sentence, and that nothing
   more is taken. */
static void refuses(enum bn_frame_side side, const char *data, size_t len, const char *sentence)
{
  struct bn_frame_reader r;
  struct bn_frame f;
  struct bn_err err = {0};

  bn_frame_reader_init(&r, side);
  assert_int_equal(bn_frame_feed(&r, data, len, &err), 0);
  while (bn_frame_next(&r, &f, &err) == 1)
    ;
  assert_string_equal(err.text, sentence);
  assert_int_equal(bn_frame_next(&r, &f, &err), -1);
  assert_int_equal(bn_frame_feed(&r, data, len, &err), -1);
  assert_string_equal(err.text, "the stream has failed");
  bn_frame_reader_done(&r);
}

static void what_is_no_stream_is_quoted(void **state)
{
  (void)state;
  refuses(BN_FRAME_FROM_AGENT, "Welcome to \033[1mA\n", 17,
          "the stream is not from bench: it begins with 'Welcome to \\x1b[1mA\\x0a'; does a "
          "start-up file of the shell there print text?");
  refuses(BN_FRAME_FROM_CONTROLLER, "hello\n", 6,
          "the stream is not from bench: it begins with 'hello\\x0a'; bench --agent is started "
          "by bench --hosts=LIST");
  refuses(BN_FRAME_FROM_AGENT, "\0\0\0\0", 4,
          "the stream is not from bench: it begins with '    '; does a start-up file of the "
          "shell there print text?");
}

static void a_frame_that_cannot_be_is_refused_by_its_head(void **state)
{
  static const char end[] = "\x02\0\0\0\x47\xff";
  static const struct {
    const char *head, *sentence;
  } cases[] = {
      {"\x01\0\0\1\x45", "the stream is garbled: a frame has no possible length; it goes on with "
                         "'\\x01  \\x01E'"},
      {"\x02\0\0\0\x09", "the stream is garbled: a frame has no known type; it goes on with "
                         "'\\x02   \\x09'"},
      {"\x01\0\0\0\x03",
       "the stream is garbled: a frame travels in the wrong direction; it goes on "
       "with '\\x01   \\x03'"},
      {"\x12\0\0\0\x43", "the stream is garbled: a frame has a length that its type does not have; "
                         "it goes on with '\\x12   C'"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char stream[11];

    memcpy(stream, end, 6);
    memcpy(stream + 6, cases[i].head, 5);
    refuses(BN_FRAME_FROM_AGENT, stream, sizeof stream, cases[i].sentence);
  }
}

static void a_writer_refuses_what_a_reader_would(void **state)
{
  struct bn_buf out = {.max = 100};

  (void)state;
  assert_int_equal(bn_frame_put(&out, BN_FRAME_OPEN, "x", 1), -1);
  assert_int_equal(bn_frame_put(&out, BN_FRAME_HELLO, "", 0), -1);
  assert_int_equal(bn_frame_put(&out, BN_FRAME_PONG, "a number", BN_FRAME_NUMBER), -1);
  assert_int_equal(bn_frame_put(&out, (enum bn_frame_type)9, "x", 1), -1);
  assert_int_equal(out.len, 0);
  assert_int_equal(bn_frame_put(&out, BN_FRAME_STOP, "\2", 1), 0);
  assert_string_equal(bn_frame_get_type_name(BN_FRAME_STOP), "STOP");
  assert_string_equal(bn_frame_get_type_name((enum bn_frame_type)9), "frame");
  bn_buf_done(&out);
}

/* Makes a frame FILE with any name in `payload`, which has room for it. */
static struct bn_frame file_frame(char *payload, const char *name, size_t len)
{
  payload[0] = (char)(len & 0xff);
  payload[1] = (char)(len >> 8);
  memcpy(payload + 2, name, len);
  memcpy(payload + 2 + len, "data", 4);
  return (struct bn_frame){BN_FRAME_FILE, payload, 2 + len + 4};
}

static void names_that_lead_away_are_refused(void **state)
{
  static const char *const bad[] = {"", "/etc/x", "..", "a/../../b", "./a", "a//b", "a/", "a\nb"};
  static const char *const good[] = {"a", "a.lua", "lib/a b.lua", "..a", "a/...", "\xc3\xa4"};
  struct bn_frame_file file;
  struct bn_err err;
  char payload[600], name[BN_FRAME_NAME_MAX + 2];
  struct bn_frame f;

  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct bn_buf out = {.max = 0};

    f = file_frame(payload, bad[i], strlen(bad[i]));
    assert_int_equal(bn_frame_get_file(&f, &file, &err), -1);
    assert_int_equal(bn_frame_put_file(&out, bad[i], "", 0, &err), -1);
    assert_non_null(strstr(err.text, "is refused: it "));
    assert_null(out.data);
  }
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    f = file_frame(payload, good[i], strlen(good[i]));
    assert_int_equal(bn_frame_get_file(&f, &file, &err), 0);
    assert_string_equal(file.name, good[i]);
    assert_int_equal(file.len, 4);
    assert_memory_equal(file.data, "data", 4);
  }
  memset(name, 'a', sizeof name);
  f = file_frame(payload, name, BN_FRAME_NAME_MAX);
  assert_int_equal(bn_frame_get_file(&f, &file, &err), 0);
  f = file_frame(payload, name, BN_FRAME_NAME_MAX + 1);
  assert_int_equal(bn_frame_get_file(&f, &file, &err), -1);
  f = file_frame(payload, "a\0b", 3);
  assert_int_equal(bn_frame_get_file(&f, &file, &err), -1);
  assert_string_equal(err.text, "the file name 'a b' is refused: it has a control character");
  f.len = 4;
  assert_int_equal(bn_frame_get_file(&f, &file, &err), -1);
  assert_string_equal(err.text, "a frame FILE ends within its name");
}

static void the_largest_frame_passes_and_memory_is_bounded(void **state)
{
  struct bn_buf out = {.max = 0};
  struct bn_frame_reader r;
  struct bn_frame_file file;
  struct bn_frame f;
  struct bn_err err;
  const size_t most = BN_FRAME_MAX - 1 - 2 - 1;
  char *data = calloc(1, most + 1);

  (void)state;
  assert_non_null(data);
  data[most - 1] = 'z';
  assert_int_equal(bn_frame_put_file(&out, "a", data, most + 1, &err), -1);
  assert_string_equal(err.text, "the file 'a' is larger than 16 MiB");
  assert_int_equal(bn_frame_put_file(&out, "a", data, most, &err), 0);
  bn_frame_reader_init(&r, BN_FRAME_FROM_CONTROLLER);
  for (unsigned round = 0; round < 2; round++) {
    for (size_t at = 0; at < out.len; at += BN_FRAME_PIECE) {
      const size_t len = out.len - at < BN_FRAME_PIECE ? out.len - at : BN_FRAME_PIECE;

      assert_int_equal(bn_frame_next(&r, &f, &err), 0);
      assert_int_equal(bn_frame_feed(&r, out.data + at, len, &err), 0);
    }
    f = fetch(&r);
    assert_int_equal(bn_frame_get_file(&f, &file, &err), 0);
    assert_int_equal(file.len, most);
    assert_int_equal(file.data[most - 1], 'z');
  }
  assert_int_equal(bn_frame_feed(&r, out.data, out.len, &err), 0);
  assert_int_equal(bn_frame_feed(&r, out.data, BN_FRAME_PIECE + 2, &err), -1);
  assert_string_equal(err.text, "out of memory");
  bn_frame_reader_done(&r);
  bn_buf_done(&out);
  free(data);
}

BN_TESTS(frame)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bytes_are_those_of_the_protocol),
      cmocka_unit_test(pieces_of_any_length_give_the_same_frames),
      cmocka_unit_test(an_end_within_a_frame_is_seen),
      cmocka_unit_test(what_is_no_stream_is_quoted),
      cmocka_unit_test(a_frame_that_cannot_be_is_refused_by_its_head),
      cmocka_unit_test(a_writer_refuses_what_a_reader_would),
      cmocka_unit_test(names_that_lead_away_are_refused),
      cmocka_unit_test(the_largest_frame_passes_and_memory_is_bounded),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
