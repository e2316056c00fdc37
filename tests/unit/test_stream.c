/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The byte stream of the drivers, over a pair of sockets. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "drivers/common/stream.h"
#include "waiter.h"

struct pair {
  struct bn_stream s;
  int connection;
};

static void open_pair(struct pair *p)
{
  int fd[2];

  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
  bn_stream_init(&p->s, fd[0], NULL, NULL);
  p->connection = fd[1];
}

static void close_pair(struct pair *p)
{
  const int fd = p->s.fd;

  bn_stream_done(&p->s);
  assert_int_equal(close(fd), 0); /* it was not the stream's */
  if (p->connection >= 0)
    (void)close(p->connection);
}

static void hang_up(struct pair *p)
{
  (void)close(p->connection);
  p->connection = -1;
}

static void feed(struct pair *p, const char *text)
{
  assert_int_equal(write(p->connection, text, strlen(text)), strlen(text));
}

static void gives_bytes_as_they_are_needed(void **state)
{
  struct pair p;

  (void)state;
  open_pair(&p);
  assert_null(p.s.in.data);
  feed(&p, "abcdef");
  assert_int_equal(bn_stream_need(&p.s, 2), 0);
  assert_int_equal(bn_stream_len(&p.s), 6);
  bn_stream_skip(&p.s, 2);
  assert_memory_equal(bn_stream_data(&p.s), "cdef", 4);
  feed(&p, "gh");
  assert_int_equal(bn_stream_need(&p.s, 6), 0);
  assert_memory_equal(bn_stream_data(&p.s), "cdefgh", 6);
  bn_stream_skip(&p.s, 6);
  assert_int_equal(bn_stream_len(&p.s), 0);
  assert_int_equal(p.s.begin, 0);
  assert_int_equal(bn_stream_fill(&p.s, false), 0);
  feed(&p, "x");
  assert_int_equal(bn_stream_fill(&p.s, false), 1);
  assert_int_equal(bn_stream_len(&p.s), 1);
  close_pair(&p);
}

static void says_that_the_peer_has_closed(void **state)
{
  struct pair p;

  (void)state;
  open_pair(&p);
  feed(&p, "abc");
  hang_up(&p);
  p.s.error = -1;
  /* However much a message promises, memory is taken for what has come. */
  assert_int_equal(bn_stream_need(&p.s, (size_t)1 << 62), -1);
  assert_int_equal(p.s.error, 0);
  assert_int_equal(bn_stream_len(&p.s), 3);
  assert_in_range(p.s.in.cap, 1, 4096);
  assert_non_null(bn_stream_room(&p.s, 4));
  bn_stream_wrote(&p.s, 4);
  assert_int_equal(bn_stream_flush(&p.s), -1); /* and no SIGPIPE */
  assert_int_equal(p.s.error, EPIPE);
  assert_int_equal(p.s.out_len, 0);
  close_pair(&p);
}

enum { BIG = 3 << 20 };

static char letter_at(size_t i)
{
  return (char)('a' + i % 23);
}

static void *send_big(void *arg)
{
  const struct pair *p = arg;
  char part[10007];

  for (size_t sent = 0; sent < BIG;) {
    size_t n = 0;

    while (n < sizeof part && sent + n < BIG) {
      part[n] = letter_at(sent + n);
      n++;
    }
    for (size_t done = 0; done < n;) {
      const ssize_t rc = write(p->connection, part + done, n - done);

      if (rc < 0)
        return NULL;
      done += (size_t)rc;
    }
    sent += n;
  }
  return NULL;
}

static void check_big(const struct bn_stream *s, size_t skipped)
{
  for (size_t i = 0; i < bn_stream_len(s); i++) {
    if (bn_stream_data(s)[i] != letter_at(skipped + i))
      fail_msg("byte %zu differs", i);
  }
}

static void converse(struct pair *p, int times)
{
  for (int i = 0; i < times; i++) {
    feed(p, "0123456789");
    assert_int_equal(bn_stream_need(&p->s, 10), 0);
    bn_stream_skip(&p->s, 10);
  }
}

/* What is big once costs memory until it has not been needed for a while. */
static void grows_for_what_is_big_and_shrinks(void **state)
{
  struct pair p;
  pthread_t thread;

  (void)state;
  open_pair(&p);
  assert_int_equal(pthread_create(&thread, NULL, send_big, &p), 0);
  assert_int_equal(bn_stream_need(&p.s, 1000), 0);
  check_big(&p.s, 0);
  bn_stream_skip(&p.s, 999);
  assert_int_equal(bn_stream_need(&p.s, BIG - 999), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(bn_stream_len(&p.s), BIG - 999);
  check_big(&p.s, 999);
  assert_in_range(p.s.in.cap, BIG, 4 * BIG);
  bn_stream_skip(&p.s, BIG - 999);
  converse(&p, 40);
  assert_in_range(p.s.in.cap, BIG, 4 * BIG);
  converse(&p, 40);
  assert_int_equal(p.s.in.cap, 4096);
  close_pair(&p);
}

static void *echo_big(void *arg)
{
  const struct pair *p = arg;
  char part[4096];
  ssize_t n;

  /* Reads no further than it can write back. */
  while ((n = read(p->connection, part, sizeof part)) > 0) {
    for (ssize_t done = 0, rc; done < n; done += rc) {
      rc = write(p->connection, part + done, (size_t)(n - done));
      if (rc < 0)
        return NULL;
    }
  }
  return NULL;
}

static void fill_out(struct bn_stream *s)
{
  char *room = bn_stream_room(s, BIG);

  assert_non_null(room);
  for (size_t i = 0; i < BIG; i++)
    room[i] = letter_at(i);
  bn_stream_wrote(s, BIG);
}

/* Both sides would wait for ever if sending did not read. */
static void sends_to_a_peer_that_wants_to_be_read(void **state)
{
  struct pair p;
  pthread_t thread;

  (void)state;
  open_pair(&p);
  assert_int_equal(pthread_create(&thread, NULL, echo_big, &p), 0);
  fill_out(&p.s);
  assert_int_equal(bn_stream_flush(&p.s), 0);
  assert_int_equal(p.s.out_len, 0);
  assert_int_equal(bn_stream_need(&p.s, BIG), 0);
  check_big(&p.s, 0);
  for (int i = 0; i < 64; i++) {
    bn_stream_skip(&p.s, bn_stream_len(&p.s));
    assert_non_null(bn_stream_room(&p.s, 1));
    p.s.out.data[0] = 'x';
    bn_stream_wrote(&p.s, 1);
    assert_int_equal(bn_stream_flush(&p.s), 0);
    assert_int_equal(bn_stream_need(&p.s, 1), 0);
  }
  assert_int_equal(p.s.out.cap, 1024);
  assert_int_equal(shutdown(p.s.fd, SHUT_RDWR), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  close_pair(&p);
}

static void *speak_late(void *arg)
{
  const struct pair *p = arg;

  (void)usleep(20000);
  (void)!write(p->connection, "late", 4);
  return NULL;
}

/* Of a socket that does not block. */
static void waits_with_poll(void **state)
{
  struct pair p;
  pthread_t thread;

  (void)state;
  open_pair(&p);
  assert_int_equal(fcntl(p.s.fd, F_SETFL, O_NONBLOCK), 0);
  assert_int_equal(pthread_create(&thread, NULL, speak_late, &p), 0);
  assert_int_equal(bn_stream_need(&p.s, 4), 0);
  assert_memory_equal(bn_stream_data(&p.s), "late", 4);
  assert_int_equal(pthread_join(thread, NULL), 0);
  close_pair(&p);
}

static void *shut_late(void *arg)
{
  const struct pair *p = arg;

  (void)usleep(20000);
  (void)shutdown(p->s.fd, SHUT_RDWR);
  return NULL;
}

static void ends_waiting_when_it_is_shut(void **state)
{
  struct pair p;
  pthread_t thread;

  (void)state;
  open_pair(&p);
  assert_int_equal(pthread_create(&thread, NULL, shut_late, &p), 0);
  p.s.error = -1;
  assert_int_equal(bn_stream_need(&p.s, 4), -1);
  assert_int_equal(p.s.error, 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  close_pair(&p);
}

enum { STATEMENTS = 200 };

struct server {
  struct pair *p;
  pid_t client;
  bool failed;
};

/* The kernel's letter for what a thread of this process does; 'S': it sleeps. */
static char state_of(pid_t thread)
{
  char path[64], state = '?';
  FILE *f;

  (void)snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)thread);
  f = fopen(path, "r");
  if (f == NULL)
    return '?';
  if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
    state = '?';
  (void)fclose(f);
  return state;
}

static bool until_it_sleeps(pid_t thread)
{
  char state;

  while ((state = state_of(thread)) != 'S' && state != '?')
    (void)usleep(50);
  return state == 'S';
}

/* Takes a request and answers it, each when the client has gone to sleep. */
static void *serve(void *arg)
{
  struct server *s = arg;
  char c;

  for (int i = 0; i < STATEMENTS && !s->failed; i++) {
    s->failed = recv(s->p->connection, &c, 1, MSG_PEEK) != 1 || !until_it_sleeps(s->client) ||
                recv(s->p->connection, &c, 1, 0) != 1 || !until_it_sleeps(s->client) ||
                send(s->p->connection, &c, 1, 0) != 1;
  }
  if (s->failed)
    (void)shutdown(s->p->connection, SHUT_RDWR);
  return NULL;
}

static long switches(void)
{
  struct rusage used;

  assert_int_equal(getrusage(RUSAGE_THREAD, &used), 0);
  return used.ru_nvcsw;
}

/* That the server takes the request off a Unix socket wakes nobody. */
static void sleeps_once_for_an_answer(void **state)
{
  struct pair p;
  struct server server = {.p = &p, .client = gettid()};
  pthread_t thread;
  long before;

  (void)state;
  open_pair(&p);
  assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
  before = switches();
  for (int i = 0; i < STATEMENTS; i++) {
    assert_non_null(bn_stream_room(&p.s, 1));
    p.s.out.data[0] = 'x';
    bn_stream_wrote(&p.s, 1);
    assert_int_equal(bn_stream_flush(&p.s), 0);
    assert_int_equal(bn_stream_need(&p.s, 1), 0);
    bn_stream_skip(&p.s, 1);
  }
  /* Now and then an answer is there before a thread that is going to sleep does. */
  assert_in_range(switches() - before, STATEMENTS / 2, STATEMENTS * 3 / 2);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_false(server.failed);
  close_pair(&p);
}

/* Each packet of such a socket takes a call of its own. */
static void is_not_kept_by_a_peer_that_goes_on_sending(void **state)
{
  enum { SENT = 40 };
  struct pair p;
  int fd[2];

  (void)state;
  assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), 0);
  bn_stream_init(&p.s, fd[0], NULL, NULL);
  p.connection = fd[1];
  for (int i = 0; i < SENT; i++)
    feed(&p, "x");
  bn_stream_drain(&p.s);
  assert_int_equal(bn_stream_len(&p.s), BN_STREAM_DRAIN);
  bn_stream_drain(&p.s);
  bn_stream_drain(&p.s);
  assert_int_equal(bn_stream_len(&p.s), SENT);
  close_pair(&p);
}

/* With a waiter.  Empty buffers of usual size pass from one connection of the thread to the next: a
   connection that waits in the middle of a message keeps its own, and large ones are freed. */
static void passes_its_buffers_on(void **state)
{
  enum { USUAL = 4032, LONG = 13000 };
  static char long_answer[LONG + 1];
  struct pair p, q;
  struct waiter w;
  struct bn_sockwait p_wait = {.waiter = &w.base}, q_wait = {.waiter = &w.base};
  const char *first;

  (void)state;
  memset(long_answer, 'x', LONG);
  waiter_open(&w);
  open_pair(&p);
  open_pair(&q);
  bn_stream_init(&p.s, p.s.fd, NULL, &p_wait);
  bn_stream_init(&q.s, q.s.fd, NULL, &q_wait);

  first = bn_stream_room(&p.s, 1);
  assert_non_null(first);
  assert_int_equal(p.s.out.cap, USUAL);
  p.s.out.data[0] = 'x';
  bn_stream_wrote(&p.s, 1);
  assert_int_equal(bn_stream_flush(&p.s), 0);
  assert_null(p.s.out.data);
  assert_ptr_equal(w.spare, first);

  feed(&p, "answer");
  feed(&q, "answer");
  assert_int_equal(bn_stream_fill(&p.s, BN_STREAM_AT_ONCE), 1);
  assert_ptr_equal(p.s.in.data, first);
  assert_null(w.spare);
  bn_stream_skip(&p.s, 1);
  assert_int_equal(bn_stream_fill(&q.s, BN_STREAM_AT_ONCE), 1);
  assert_ptr_not_equal(q.s.in.data, first);
  assert_int_equal(q.s.in.cap, USUAL);
  assert_memory_equal(bn_stream_data(&q.s), "answer", 6);
  assert_memory_equal(bn_stream_data(&p.s), "nswer", 5);
  bn_stream_skip(&p.s, 5);
  assert_ptr_equal(w.spare, first);
  bn_stream_skip(&q.s, 6); /* the place is taken */
  assert_null(q.s.in.data);
  assert_ptr_equal(w.spare, first);

  feed(&q, long_answer);
  while (bn_stream_len(&q.s) < LONG)
    assert_int_equal(bn_stream_fill(&q.s, BN_STREAM_AT_ONCE), 1);
  assert_int_equal(q.s.in.cap, 4 * USUAL);
  assert_null(w.spare);
  bn_stream_skip(&q.s, LONG);
  assert_null(q.s.in.data);
  assert_null(w.spare);
  close_pair(&p);
  close_pair(&q);
  waiter_close(&w);
}

BN_TESTS(stream)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_bytes_as_they_are_needed),
      cmocka_unit_test(says_that_the_peer_has_closed),
      cmocka_unit_test(grows_for_what_is_big_and_shrinks),
      cmocka_unit_test(sends_to_a_peer_that_wants_to_be_read),
      cmocka_unit_test(waits_with_poll),
      cmocka_unit_test(ends_waiting_when_it_is_shut),
      cmocka_unit_test(sleeps_once_for_an_answer),
      cmocka_unit_test(is_not_kept_by_a_peer_that_goes_on_sending),
      cmocka_unit_test(passes_its_buffers_on),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
