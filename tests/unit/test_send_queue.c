/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that the frames of several threads arrive whole, and those of each thread in their order,
   while another thread sends them. */
#include "cm.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "hosts/send_queue.h"

enum { THREADS = 2, FRAMES = 20000 };

struct scene {
  struct bn_send_queue queue;
  atomic_uint finished; /* number of threads that have put all their frames */
  struct bn_frame_reader reader;
  uint64_t seen[THREADS]; /* number of frames of each thread that have arrived */
};

struct putter {
  pthread_t thread;
  struct scene *scene;
  uint64_t number;
};

/* Each frame carries the number of its thread and its own. */
static void *putter_main(void *arg)
{
  const struct putter *p = arg;
  char pong[2 * BN_FRAME_NUMBER];

  bn_frame_write_number(pong, p->number);
  for (uint64_t i = 0; i < FRAMES; i++) {
    bn_frame_write_number(pong + BN_FRAME_NUMBER, i);
    if (bn_send_queue_put(&p->scene->queue, BN_FRAME_PONG, pong, sizeof pong) != 0)
      break;
  }
  (void)atomic_fetch_add(&p->scene->finished, 1);
  bn_send_queue_wake(&p->scene->queue);
  return NULL;
}

static void check_frames(struct scene *c)
{
  struct bn_frame f;

  while (bn_frame_next(&c->reader, &f, NULL) == 1) {
    const uint64_t thread = bn_frame_get_number(&f, 0);

    assert_int_equal(f.type, BN_FRAME_PONG);
    assert_in_range(thread, 0, THREADS - 1);
    assert_int_equal(bn_frame_get_number(&f, 1), c->seen[thread]);
    c->seen[thread]++;
  }
}

static void read_all(struct scene *c, int fd)
{
  char piece[BN_FRAME_PIECE];
  ssize_t n;

  while ((n = read(fd, piece, sizeof piece)) > 0) {
    assert_int_equal(bn_frame_feed(&c->reader, piece, (size_t)n, NULL), 0);
    check_frames(c);
  }
}

/* Returns false if no thread puts frames any more and all have been sent. */
static bool await_frames(struct scene *c)
{
  struct pollfd wake = {.fd = c->queue.wake, .events = POLLIN};
  const bool finished = atomic_load(&c->finished) == THREADS;

  if (bn_send_queue_get_pending(&c->queue) > 0)
    return true;
  if (finished)
    return false;
  assert_int_equal(poll(&wake, 1, -1), 1);
  bn_send_queue_reset_wake(&c->queue);
  return true;
}

static void frames_of_threads_arrive_whole(void **state)
{
  struct putter putter[THREADS];
  struct scene c = {.finished = 0};
  int ends[2];

  (void)state;
  assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  assert_int_equal(bn_send_queue_init(&c.queue, ends[1]), 0);
  bn_frame_reader_init(&c.reader, BN_FRAME_FROM_AGENT);
  for (unsigned i = 0; i < THREADS; i++) {
    putter[i] = (struct putter){.scene = &c, .number = i};
    assert_int_equal(pthread_create(&putter[i].thread, NULL, putter_main, &putter[i]), 0);
  }
  while (await_frames(&c)) {
    assert_int_equal(bn_send_queue_send_piece(&c.queue), 0);
    read_all(&c, ends[0]);
  }
  for (unsigned i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(putter[i].thread, NULL), 0);
    assert_int_equal(c.seen[i], FRAMES);
  }
  assert_false(bn_frame_is_cut(&c.reader));
  bn_frame_reader_done(&c.reader);
  bn_send_queue_done(&c.queue);
  assert_int_equal(close(ends[0]), 0);
  assert_int_equal(close(ends[1]), 0);
}

BN_TESTS(send_queue)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_of_threads_arrive_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
