/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that bytes arrive as they were sent, and how a channel ends. */
#include "cm.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "hosts/channel.h"

enum { NUMBER = 0x01020304, SIZE = 64 };

/* The far ends of the pipes of a channel, which has the near ends. */
struct far {
  int in, out; /* it reads `in` and writes `out` */
};

/* Adds a channel to rank 1, and returns it. */
static struct bn_channel *open_channel(struct bn_channels *all, struct far *far, bool opens)
{
  int to[2], from[2];

  assert_int_equal(pipe2(to, O_NONBLOCK), 0);
  assert_int_equal(pipe2(from, O_NONBLOCK), 0);
  *far = (struct far){to[0], from[1]};
  const struct bn_channel new = {
      .rank = 1, .number = NUMBER, .in = from[0], .to = {.fd = to[1]}, .must_open = opens};

  bn_channels_add(all, &new);
  return bn_channels_find(all, 1, NUMBER);
}

/* Makes the next message of the channel, and checks its kind and its text. */
static void expect(struct bn_channel *c, char *message, enum bn_channel_message what,
                   const char *text)
{
  const size_t len = bn_channel_make_message(c, message, SIZE);

  assert_int_equal(len, BN_CHANNEL_HEAD + strlen(text));
  assert_int_equal(message[0], what);
  assert_int_equal(bn_channel_get_number(message), NUMBER);
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
  assert_int_equal(bn_channel_make_message(c, message, sizeof message), 0);
  assert_int_equal(write(far.out, "abc", 3), 3);
  expect(c, message, BN_CHANNEL_DATA, "abc");
  assert_int_equal(bn_channel_make_message(c, message, sizeof message), 0);
  assert_int_equal(close(far.out), 0);
  expect(c, message, BN_CHANNEL_END, "");
  assert_int_equal(c->in, -1);
  assert_int_equal(bn_channel_make_message(c, message, sizeof message), 0);
  bn_channels_remove_ended(&all);
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
  bn_channel_take_data(c, text, sizeof text);
  bn_channel_take_end(c);
  assert_true(bn_pipe_has_queued(&c->to)); /* a pipe holds less */
  while (have < sizeof got) {
    const ssize_t n = read(far.in, got + have, sizeof got - have);

    assert_true(n > 0);
    have += (size_t)n;
    bn_channel_write(c);
  }
  assert_memory_equal(got, text, sizeof text);
  assert_int_equal(read(far.in, got, 1), 0);
  assert_int_equal(close(far.out), 0);
  expect(c, text, BN_CHANNEL_END, "");
  bn_channels_remove_ended(&all);
  assert_int_equal(all.n, 0);
  (void)close(far.in);
  bn_channels_done(&all);
}

/* A pipe holds less than what a slow reader is sent, and all of it arrives. */
static void a_slow_reader_gets_everything(void **state)
{
  struct bn_channels all = {.n = 0};
  struct far far;
  struct bn_channel *c = open_channel(&all, &far, false);
  static char text[64 << 10];
  size_t sent = 0, got = 0;
  ssize_t n;

  (void)state;
  for (int i = 0; i < 400; i++, sent += sizeof text) {
    bn_channel_take_data(c, text, sizeof text);
    n = read(far.in, text, 7000);
    got += n > 0 ? (size_t)n : 0;
    assert_int_equal(c->to.queue.len - c->to.sent + got <= sent + sizeof text, 1);
  }
  while ((n = read(far.in, text, sizeof text)) > 0) {
    got += (size_t)n;
    bn_channel_write(c);
  }
  assert_int_equal(got, sent);
  assert_false(bn_pipe_has_queued(&c->to));
  (void)close(far.in);
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
  bn_channel_take_data(c, "abc", 3);
  assert_int_equal(c->to.fd, -1);
  assert_false(bn_pipe_has_queued(&c->to));
  bn_channel_take_data(c, "abc", 3);
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
                                     cmocka_unit_test(a_slow_reader_gets_everything),
                                     cmocka_unit_test(what_nobody_reads_is_thrown_away)};

  return cmocka_run_group_tests(tests, ignore_pipes, NULL);
}
