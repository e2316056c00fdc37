/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that bytes arrive as they were sent, and how a channel ends. */
#include "cm.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "hosts/channel.h"

enum { NUMBER = 0x01020304, SIZE = 64 };

/* The near ends of a channel are in *c, the far ones here. */
struct far {
  int in, out; /* it reads `in` and writes `out` */
};

static struct bn_channel *open_channel(struct bn_channels *all, struct far *far, bool opens)
{
  int to[2], from[2];

  assert_int_equal(pipe2(to, O_NONBLOCK), 0);
  assert_int_equal(pipe2(from, O_NONBLOCK), 0);
  *far = (struct far){to[0], from[1]};
  const struct bn_channel new = {
      .rank = 1, .number = NUMBER, .in = from[0], .out = to[1], .opens = opens};

  assert_int_equal(bn_channels_add(all, &new), 0);
  return bn_channels_find(all, 1, NUMBER);
}

static void expect(struct bn_channel *c, char *message, enum bn_channel_message what,
                   const char *text)
{
  const size_t len = bn_channel_next(c, message, SIZE);

  assert_int_equal(len, BN_CHANNEL_HEAD + strlen(text));
  assert_int_equal(message[0], what);
  assert_int_equal(bn_channel_number(message), NUMBER);
  assert_memory_equal(message + BN_CHANNEL_HEAD, text, strlen(text));
}

static void a_channel_opens_and_sends(void **state)
{
  struct bn_channels all = {.n = 0};
  struct far far;
  struct bn_channel *c = open_channel(&all, &far, true);
  char message[SIZE];

  (void)state;
  expect(c, message, BN_CHANNEL_OPEN, "");
  assert_int_equal(bn_channel_next(c, message, sizeof message), 0);
  assert_int_equal(write(far.out, "abc", 3), 3);
  expect(c, message, BN_CHANNEL_DATA, "abc");
  assert_int_equal(bn_channel_next(c, message, sizeof message), 0);
  assert_int_equal(close(far.out), 0);
  expect(c, message, BN_CHANNEL_END, "");
  assert_int_equal(bn_channel_next(c, message, sizeof message), 0);
  bn_channels_sweep(&all);
  assert_int_equal(all.n, 1); /* the other side may still send */
  (void)close(far.in);
  bn_channels_done(&all);
}

static void what_comes_is_written_before_the_end(void **state)
{
  struct bn_channels all = {.n = 0};
  struct far far;
  struct bn_channel *c = open_channel(&all, &far, false);
  static char text[1 << 20], got[sizeof text];
  size_t have = 0;

  (void)state;
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = (char)(i * 7 / 3);
  bn_channel_take(c, text, sizeof text);
  bn_channel_end(c);
  assert_true(bn_channel_wants(c)); /* a pipe holds less */
  while (have < sizeof got) {
    const ssize_t n = read(far.in, got + have, sizeof got - have);

    assert_true(n > 0);
    have += (size_t)n;
    bn_channel_write(c);
  }
  assert_memory_equal(got, text, sizeof text);
  assert_int_equal(read(far.in, got, 1), 0);
  assert_int_equal(close(far.out), 0);
  assert_int_equal(bn_channel_next(c, text, sizeof text), BN_CHANNEL_HEAD + 4);
  assert_int_equal(text[0], BN_CHANNEL_GONE);
  expect(c, text, BN_CHANNEL_END, "");
  bn_channels_sweep(&all);
  assert_int_equal(all.n, 0);
  (void)close(far.in);
  bn_channels_done(&all);
}

/* All that one side writes, as far as it may; what the messages are goes to the other side. */
static size_t carry(struct bn_channel *from, struct bn_channel *to)
{
  static char message[16 << 10];
  size_t len, sum = 0;

  while ((len = bn_channel_next(from, message, sizeof message)) > 0) {
    sum += len - BN_CHANNEL_HEAD;
    if (message[0] == BN_CHANNEL_DATA)
      bn_channel_take(to, message + BN_CHANNEL_HEAD, len - BN_CHANNEL_HEAD);
    else if (message[0] == BN_CHANNEL_GONE)
      bn_channel_took(to, message + BN_CHANNEL_HEAD, len - BN_CHANNEL_HEAD);
  }
  return sum;
}

/* A reader that stands still holds up the writer, and no memory grows. */
static void a_slow_reader_holds_up_the_writer(void **state)
{
  struct bn_channels all[2] = {{.n = 0}, {.n = 0}};
  struct far far[2];
  struct bn_channel *from = open_channel(&all[0], &far[0], false);
  struct bn_channel *to = open_channel(&all[1], &far[1], false);
  static char text[64 << 10];
  uint64_t sent = 0, got = 0, held_up = 0;
  ssize_t n;

  (void)state;
  for (int i = 0; i < 4000; i++) {
    n = write(far[0].out, text, sizeof text);
    sent += n > 0 ? (uint64_t)n : 0;
    held_up += n < 0;
    (void)carry(from, to);
    assert_in_range(to->queue.len - to->written, 0, BN_CHANNEL_WINDOW);
    if (i >= 1000 && (n = read(far[1].in, text, 7000)) > 0)
      got += (uint64_t)n;
    bn_channel_write(to);
    (void)carry(to, from);
  }
  assert_true(held_up > 0 && got > 2 * BN_CHANNEL_WINDOW);
  assert_false(bn_channel_reads(from) && to->queue.len == 0);
  for (int idle = 0; idle < 2; idle++) { /* all arrives in the end */
    while ((n = read(far[1].in, text, sizeof text)) > 0) {
      got += (uint64_t)n;
      idle = 0;
    }
    bn_channel_write(to);
    (void)carry(to, from);
    (void)carry(from, to);
  }
  assert_int_equal(got, sent);
  assert_true(bn_channel_reads(from));
  for (int i = 0; i < 2; i++) {
    (void)close(far[i].in);
    (void)close(far[i].out);
    bn_channels_done(&all[i]);
  }
}

/* The writer is not held up by who has gone. */
static void what_is_thrown_away_is_told(void **state)
{
  struct bn_channels all = {.n = 0};
  struct far far;
  struct bn_channel *c = open_channel(&all, &far, false);
  static char text[BN_CHANNEL_WINDOW / 2];
  char message[SIZE];

  (void)state;
  bn_channel_take(c, text, sizeof text);
  assert_int_equal(close(far.in), 0);
  bn_channel_write(c);
  bn_channel_take(c, text, sizeof text);
  assert_int_equal(bn_channel_next(c, message, sizeof message), BN_CHANNEL_HEAD + 4);
  c->there = BN_CHANNEL_WINDOW;
  assert_false(bn_channel_reads(c));
  bn_channel_took(c, message + BN_CHANNEL_HEAD, 4);
  assert_int_equal(c->there, 0);
  bn_channel_took(c, message + BN_CHANNEL_HEAD, 4);
  assert_int_equal(c->there, 0);
  (void)close(far.out);
  bn_channels_done(&all);
}

static void what_nobody_reads_is_thrown_away(void **state)
{
  struct bn_channels all = {.n = 0};
  struct far far;
  struct bn_channel *c = open_channel(&all, &far, false);

  (void)state;
  assert_int_equal(close(far.in), 0);
  bn_channel_take(c, "abc", 3);
  assert_false(bn_channel_wants(c));
  bn_channel_take(c, "abc", 3);
  assert_null(bn_channels_find(&all, 2, NUMBER));
  assert_null(bn_channels_find(&all, 1, NUMBER + 1));
  (void)close(far.out);
  bn_channels_done(&all);
}

static int ignore_pipes(void **state)
{
  (void)state;
  return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -1 : 0;
}

BN_TESTS(channel)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_channel_opens_and_sends),
                                     cmocka_unit_test(what_comes_is_written_before_the_end),
                                     cmocka_unit_test(a_slow_reader_holds_up_the_writer),
                                     cmocka_unit_test(what_is_thrown_away_is_told),
                                     cmocka_unit_test(what_nobody_reads_is_thrown_away)};

  return cmocka_run_group_tests(tests, ignore_pipes, NULL);
}
