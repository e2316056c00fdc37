/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream with a waiter: its thread sleeps nowhere else, no byte is missed, and an idle connection
   has no buffers. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "drivers/common/stream.h"
#include "waiter.h"

struct watched {
  struct waiter waiter;
  struct bn_sockwait wait;
  struct bn_stream s;
  int peer;
  size_t bytes; /* that the peer sends */
  pthread_t thread;
};

/* Both sockets would block: whoever waited elsewhere than in the waiter would be seen to sleep. */
static struct watched *watched_open(void)
{
  struct watched *w = calloc(1, sizeof *w);
  int fd[2];

  assert_non_null(w);
  waiter_open(&w->waiter);
  w->wait.waiter = &w->waiter.base;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
  bn_stream_init(&w->s, fd[0], NULL, &w->wait);
  w->peer = fd[1];
  waiter_watch(&w->waiter, true);
  return w;
}

static void watched_close(struct watched *w)
{
  const int fd = w->s.fd;

  waiter_watch(&w->waiter, false);
  assert_in_range(w->waiter.slept_there, 0, 2); /* for memory, perhaps */
  bn_stream_done(&w->s);
  (void)close(fd);
  (void)close(w->peer);
  waiter_close(&w->waiter);
  free(w);
}

/* The test's own sleep does not count. */
static void watched_join(struct watched *w)
{
  waiter_watch(&w->waiter, false);
  assert_int_equal(pthread_join(w->thread, NULL), 0);
  waiter_watch(&w->waiter, true);
}

static void *answer_late(void *arg)
{
  const struct watched *w = arg;
  char c;

  while (recv(w->peer, &c, 1, 0) == 1 && c != 'q') {
    (void)usleep(2000);
    if (write(w->peer, "answer", 6) != 6)
      break;
  }
  return NULL;
}

static void watched_say(struct bn_stream *s, char c)
{
  char *room = bn_stream_room(s, 1);

  assert_non_null(room);
  *room = c;
  bn_stream_wrote(s, 1);
  assert_int_equal(bn_stream_flush(s), 0);
}

static void waits_once_for_each_answer(void **state)
{
  enum { STATEMENTS = 50 };
  struct watched *w = watched_open();

  (void)state;
  assert_int_equal(pthread_create(&w->thread, NULL, answer_late, w), 0);
  for (unsigned i = 1; i <= STATEMENTS; i++) {
    watched_say(&w->s, 'x');
    assert_int_equal(bn_stream_need(&w->s, 6), 0);
    assert_memory_equal(bn_stream_data(&w->s), "answer", 6);
    bn_stream_skip(&w->s, 6);
    assert_null(w->s.in.data);
    assert_null(w->s.out.data);
    assert_int_equal(w->waiter.waits, i);
  }
  watched_say(&w->s, 'q');
  watched_join(w);
  watched_close(w);
}

static char watched_letter(size_t i)
{
  return (char)('a' + i % 23);
}

/* Sends parts of any size, with pauses. */
static void *send_parts(void *arg)
{
  const struct watched *w = arg;
  char part[9973];

  for (size_t sent = 0; sent < w->bytes;) {
    const size_t most = 1 + sent % sizeof part, rest = w->bytes - sent;
    const size_t n = most < rest ? most : rest;

    for (size_t i = 0; i < n; i++)
      part[i] = watched_letter(sent + i);
    for (size_t done = 0; done < n;) {
      const ssize_t rc = write(w->peer, part + done, n - done);

      if (rc < 0)
        return NULL;
      done += (size_t)rc;
    }
    sent += n;
    if (sent % 5 == 0)
      (void)usleep(100);
  }
  return NULL;
}

static void watched_check(const struct bn_stream *s, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (bn_stream_data(s)[i] != watched_letter(i))
      fail_msg("byte %zu differs", i);
  }
}

static void misses_nothing_of_a_long_answer(void **state)
{
  struct watched *w = watched_open();

  (void)state;
  w->bytes = 3 << 20;
  assert_int_equal(pthread_create(&w->thread, NULL, send_parts, w), 0);
  assert_int_equal(bn_stream_need(&w->s, w->bytes), 0);
  watched_check(&w->s, w->bytes);
  watched_join(w);
  bn_stream_skip(&w->s, w->bytes);
  assert_null(w->s.in.data);
  watched_close(w);
}

/* Bytes that exactly fill the room leave unknown whether there are more, of which no new event
   would tell. */
static void reads_on_when_the_room_was_filled(void **state)
{
  struct watched *w = watched_open();
  char bytes[8064] = {'x'};

  (void)state;
  for (size_t n = 1; n <= sizeof bytes; n++) {
    assert_int_equal(write(w->peer, bytes, n), (ssize_t)n);
    assert_int_equal(bn_stream_need(&w->s, n), 0);
    bn_stream_skip(&w->s, n);
  }
  watched_close(w);
}

static void *echo_parts(void *arg)
{
  const struct watched *w = arg;
  char part[4096];
  ssize_t n;

  while ((n = read(w->peer, part, sizeof part)) > 0) {
    for (ssize_t done = 0, rc; done < n; done += rc) {
      rc = write(w->peer, part + done, (size_t)(n - done));
      if (rc < 0)
        return NULL;
    }
  }
  return NULL;
}

static void watched_fill_out(struct bn_stream *s, size_t n)
{
  char *room = bn_stream_room(s, n);

  assert_non_null(room);
  for (size_t i = 0; i < n; i++)
    room[i] = watched_letter(i);
  bn_stream_wrote(s, n);
}

static void sends_and_reads_to_a_full_peer(void **state)
{
  struct watched *w = watched_open();

  (void)state;
  w->bytes = 3 << 20;
  assert_int_equal(pthread_create(&w->thread, NULL, echo_parts, w), 0);
  watched_fill_out(&w->s, w->bytes);
  assert_int_equal(bn_stream_flush(&w->s), 0);
  assert_int_equal(bn_stream_need(&w->s, w->bytes), 0);
  watched_check(&w->s, w->bytes);
  assert_true(w->waiter.waits > 0);
  assert_int_equal(shutdown(w->s.fd, SHUT_RDWR), 0);
  watched_join(w);
  watched_close(w);
}

static void fails_when_it_is_interrupted(void **state)
{
  struct watched *w = watched_open();

  (void)state;
  w->waiter.interrupted = true;
  w->s.error = -1;
  assert_int_equal(bn_stream_need(&w->s, 1), -1);
  assert_int_equal(w->s.error, 0);
  watched_close(w);
  w = watched_open();
  w->waiter.interrupted = true;
  watched_fill_out(&w->s, 3 << 20); /* which nobody reads */
  assert_int_equal(bn_stream_flush(&w->s), -1);
  assert_int_equal(w->s.error, EPIPE);
  watched_close(w);
}

/* A server that ends a connection says why, and both are one event. */
static void sees_the_end_behind_the_last_bytes(void **state)
{
  struct watched *w = watched_open();

  (void)state;
  assert_int_equal(write(w->peer, "ab", 2), 2);
  assert_int_equal(shutdown(w->peer, SHUT_WR), 0);
  assert_int_equal(bn_stream_need(&w->s, 2), 0);
  assert_int_equal(bn_stream_need(&w->s, 3), -1);
  assert_int_equal(w->s.error, 0);
  bn_stream_skip(&w->s, 2);
  watched_say(&w->s, 'x');
  assert_int_equal(bn_stream_need(&w->s, 1), -1);
  watched_close(w);
}

/* What others have left in the socket has had its event. */
static void sees_old_bytes_after_it_was_lent(void **state)
{
  struct watched *w = watched_open();
  char c;

  (void)state;
  assert_int_equal(write(w->peer, "ab", 2), 2);
  bn_sockwait_await_bytes(&w->wait, w->s.fd);
  assert_int_equal(recv(w->s.fd, &c, 1, 0), 1);
  assert_true(bn_sockwait_await_unread(&w->wait, w->s.fd));
  assert_int_equal(bn_stream_take(&w->s), 0);
  assert_int_equal(bn_stream_need(&w->s, 1), 0);
  assert_int_equal(*bn_stream_data(&w->s), 'b');
  (void)shutdown(w->peer, SHUT_RDWR);
  assert_false(bn_sockwait_await_unread(&w->wait, w->s.fd));
  watched_close(w);
}

BN_TESTS(sockwait)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_once_for_each_answer),
      cmocka_unit_test(misses_nothing_of_a_long_answer),
      cmocka_unit_test(reads_on_when_the_room_was_filled),
      cmocka_unit_test(sends_and_reads_to_a_full_peer),
      cmocka_unit_test(fails_when_it_is_interrupted),
      cmocka_unit_test(sees_the_end_behind_the_last_bytes),
      cmocka_unit_test(sees_old_bytes_after_it_was_lent),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
