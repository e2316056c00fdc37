/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of a worker: calls wait for sockets and times side by side, and each kind of end of a
   wait reaches the call that waits. */
#include "engine/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cm.h"

enum { TASKS = 300, ROUNDS = 50 };

/* A session whose code makes calls; each call receives a byte at a time from `here`. */
struct part {
  struct bn_task task; /* first */
  struct bn_session session;
  struct bn_limit limit;
  int here, there;
  bool armed, once, in_call;
  int rounds, received, came;
  uint64_t until_ns, began_ns, ended_ns;
};

static struct bn_loop loop;
static unsigned done;

static void fill(struct part *p, unsigned n, void (*go_on)(struct bn_task *t))
{
  struct bn_err err = {0};
  int pair[2];

  done = 0;
  assert_int_equal(bn_loop_init(&loop, n, go_on, &err), 0);
  for (unsigned i = 0; i < n; i++) {
    memset(&p[i], 0, sizeof p[i]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    p[i].here = pair[0];
    p[i].there = pair[1];
    p[i].until_ns = UINT64_MAX;
    atomic_store(&p[i].limit.until_ns, UINT64_MAX);
    p[i].session.limit = &p[i].limit;
    bn_loop_add(&loop, i, &p[i].task, &p[i].session);
    bn_loop_queue(&p[i].task);
  }
}

static void empty(struct part *p, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    (void)close(p[i].here);
    (void)close(p[i].there);
  }
  bn_loop_done(&loop);
}

static void turn_until(unsigned n)
{
  while (done < n)
    bn_loop_turn(&loop);
}

/* --- sockets --- */

/* Sends a byte, and waits for one, which the other side has sent before, sends now, or will
   send. */
static void exchange(void *arg)
{
  struct part *p = arg;
  char byte = 'x';

  assert_int_equal(send(p->here, &byte, 1, 0), 1);
  while (recv(p->here, &byte, 1, 0) < 1) {
    p->came = p->task.waiter.wait(&p->task.waiter, p->here, POLLIN, p->once ? NULL : &p->armed,
                                  UINT64_MAX);
    assert_true((p->came & POLLIN) != 0);
  }
  p->received++;
}

static void exchange_in_turns(struct bn_task *t)
{
  struct part *p = (struct part *)(void *)t;

  for (;;) {
    if (p->in_call)
      p->rounds++;
    p->in_call = true;
    if (p->rounds == ROUNDS)
      break;
    if (!bn_task_call(t, exchange, p))
      return;
  }
  done++;
}

/* Answers each byte with one, some at once, some late. */
static void *answer(void *arg)
{
  struct part *p = arg;
  char byte;

  for (int left = TASKS * ROUNDS; left > 0;)
    for (unsigned i = 0; i < TASKS; i++)
      if (recv(p[i].there, &byte, 1, 0) == 1) {
        assert_int_equal(send(p[i].there, &byte, 1, 0), 1);
        left--;
      }
  return NULL;
}

static void calls_wait_side_by_side(void **state)
{
  static struct part p[TASKS];
  pthread_t peer;

  (void)state;
  fill(p, TASKS, exchange_in_turns);
  for (unsigned i = 0; i < TASKS; i++)
    p[i].once = i % 3 == 0;
  assert_int_equal(pthread_create(&peer, NULL, answer, p), 0);
  turn_until(TASKS);
  assert_int_equal(pthread_join(peer, NULL), 0);
  for (unsigned i = 0; i < TASKS; i++)
    assert_int_equal(p[i].received, ROUNDS);
  empty(p, TASKS);
}

/* What comes while nobody waits is there for the next wait. */
static void an_early_byte_is_not_lost(void **state)
{
  static struct part p[2];
  char byte;

  (void)state;
  fill(p, 2, exchange_in_turns);
  p[0].rounds = p[1].rounds = ROUNDS - 1;
  while (done < 2) {
    bn_loop_turn(&loop);
    for (int i = 0; i < 2; i++)
      if (recv(p[i].there, &byte, 1, 0) == 1)
        assert_int_equal(send(p[i].there, &byte, 1, 0), 1);
  }
  /* Nobody waits for it now. */
  assert_int_equal(send(p[0].there, "y", 1, 0), 1);
  assert_int_equal(send(p[1].there, "y", 1, 0), 1);
  done = 0;
  for (int i = 0; i < 2; i++) {
    p[i].rounds = ROUNDS - 1;
    p[i].in_call = false;
    bn_loop_queue(&p[i].task);
  }
  turn_until(2);
  assert_int_equal(p[0].received + p[1].received, 4);
  empty(p, 2);
}

/* --- times --- */

static void wait_for_time(void *arg)
{
  struct part *p = arg;

  p->came = p->task.waiter.wait(&p->task.waiter, p->once ? p->here : -1, POLLIN, NULL, p->until_ns);
  p->ended_ns = bn_clock_mono();
}

static void wait_in_turns(struct bn_task *t)
{
  struct part *p = (struct part *)(void *)t;

  if (!p->in_call) {
    p->in_call = true;
    if (!bn_task_call(t, wait_for_time, p))
      return;
  }
  done++;
}

static void waits_end_at_their_times(void **state)
{
  static struct part p[TASKS];
  const uint64_t now = bn_clock_mono();

  (void)state;
  fill(p, TASKS, wait_in_turns);
  for (unsigned i = 0; i < TASKS; i++) {
    p[i].once = i % 2 == 0;
    p[i].until_ns = now + (uint64_t)(TASKS - i) * 100000;
  }
  turn_until(TASKS);
  for (unsigned i = 0; i < TASKS; i++) {
    assert_int_equal(p[i].came, 0);
    assert_true(p[i].ended_ns >= p[i].until_ns);
  }
  empty(p, TASKS);
}

/* --- descriptors that cannot be watched --- */

static unsigned failures;

static void count_failure(void *of)
{
  (void)of;
  failures++;
}

static void wait_for_a_file(void *arg)
{
  struct part *p = arg;

  p->came =
      p->task.waiter.wait(&p->task.waiter, p->here, POLLIN, p->once ? NULL : &p->armed, UINT64_MAX);
}

static void wait_for_a_file_in_turns(struct bn_task *t)
{
  struct part *p = (struct part *)(void *)t;

  p->came = -1;
  assert_true(bn_task_call(t, wait_for_a_file, p));
  done++;
}

/* epoll refuses plain files.  The wait ends as after an interruption, and the run fails once. */
static void fails_the_run_if_a_descriptor_cannot_be_watched(void **state)
{
  static const struct bn_services services = {.fail = count_failure};
  struct part p[2];

  (void)state;
  fill(p, 2, wait_for_a_file_in_turns);
  for (int i = 0; i < 2; i++) {
    (void)close(p[i].here);
    p[i].here = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    p[i].session.services = &services;
    p[i].once = i > 0;
  }
  failures = 0;
  turn_until(2);
  assert_int_equal(failures, 1);
  for (int i = 0; i < 2; i++) {
    assert_true(p[i].came == 0 && !p[i].armed);
    assert_true(bn_session_interrupted(&p[i].session)); /* so that nothing else is reported */
  }
  empty(p, 2);
}

/* --- kernels and containers without epoll_pwait2 --- */

/* Makes the call fail in this thread.  Returns whether it does. */
static bool refuse_epoll_pwait2(int code)
{
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_epoll_pwait2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

  return prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
         prctl(PR_SET_SECCOMP, (unsigned long)SECCOMP_MODE_FILTER, &program) == 0 &&
         syscall(__NR_epoll_pwait2, -1, NULL, 1, NULL, NULL, (size_t)0) < 0 && errno == code;
}

struct without_call {
  struct part part[3]; /* one waits for a byte, one for a time, one for the other side's byte */
  int code;
  bool refused;
};

static void *wait_without_the_call(void *arg)
{
  struct without_call *w = arg;

  w->refused = refuse_epoll_pwait2(w->code);
  if (w->refused)
    turn_until(3);
  return NULL;
}

static void waits_end_without_epoll_pwait2(void **state)
{
  static const int code[] = {ENOSYS, EPERM};

  (void)state;
  for (size_t i = 0; i < sizeof code / sizeof code[0]; i++) {
    struct without_call w = {.code = code[i]};
    pthread_t worker;

    fill(w.part, 3, wait_in_turns);
    for (int k = 0; k < 3; k++)
      w.part[k].until_ns = bn_clock_mono() + (k == 1 ? 2500000 : 3600 * BN_NSEC_PER_SEC);
    w.part[0].once = w.part[2].once = true;
    assert_int_equal(send(w.part[0].there, "x", 1, 0), 1);
    assert_int_equal(pthread_create(&worker, NULL, wait_without_the_call, &w), 0);
    (void)usleep(10000);
    assert_int_equal(send(w.part[2].there, "x", 1, 0), 1);
    assert_int_equal(pthread_join(worker, NULL), 0);
    assert_true(w.refused);
    assert_int_equal(w.part[0].came, POLLIN);
    assert_true(w.part[1].came == 0 && w.part[1].ended_ns >= w.part[1].until_ns);
    assert_int_equal(w.part[2].came, POLLIN);
    empty(w.part, 3);
  }
}

/* --- interrupts --- */

static void *wake_later(void *arg)
{
  struct part *p = arg;

  (void)usleep(20000);
  for (int i = 0; i < 2; i++)
    atomic_store(&p[i].session.interrupted, true);
  bn_loop_wake(&loop);
  return NULL;
}

/* An interrupt ends the waits of its sessions, and no others. */
static void an_interrupt_ends_waits(void **state)
{
  static struct part p[3];
  pthread_t other;

  (void)state;
  fill(p, 3, wait_in_turns);
  p[0].once = true;
  assert_int_equal(pthread_create(&other, NULL, wake_later, p), 0);
  turn_until(2);
  assert_int_equal(pthread_join(other, NULL), 0);
  assert_int_equal(p[0].came, 0);
  assert_int_equal(p[1].came, 0);
  assert_int_equal(p[2].ended_ns, 0);
  /* Of a session that was interrupted, no wait begins. */
  done = 0;
  p[0].in_call = false;
  bn_loop_queue(&p[0].task);
  turn_until(1);
  atomic_store(&p[2].session.interrupted, true);
  bn_loop_wake(&loop);
  turn_until(2);
  empty(p, 3);
}

static void sleep_in_turns(struct bn_task *t)
{
  struct part *p = (struct part *)(void *)t;

  if (!p->in_call) {
    p->in_call = true;
    bn_task_sleep(t, p->until_ns);
    return;
  }
  p->ended_ns = bn_clock_mono();
  done++;
}

static void *end_later(void *arg)
{
  (void)arg;
  (void)usleep(20000);
  bn_loop_wake(&loop);
  return NULL;
}

/* A sleep until an arrival ends with the run. */
static void the_end_of_the_run_ends_sleeps(void **state)
{
  static struct part p[2];
  pthread_t other;

  (void)state;
  fill(p, 2, sleep_in_turns);
  p[0].until_ns = p[1].until_ns = bn_clock_mono() + 3600 * BN_NSEC_PER_SEC;
  assert_int_equal(pthread_create(&other, NULL, end_later, NULL), 0);
  turn_until(2);
  assert_int_equal(pthread_join(other, NULL), 0);
  assert_true(p[0].task.slept && p[1].task.slept);
  empty(p, 2);
}

/* Takes a tenth of a millisecond, but the first task sleeps for a whole one. */
static void work_or_sleep(struct bn_task *t)
{
  struct part *p = (struct part *)(void *)t;
  const uint64_t until_ns = bn_clock_mono() + BN_NSEC_PER_MSEC / 10;

  if (t == loop.task[0] && !p->in_call) {
    p->in_call = true;
    bn_task_sleep(t, until_ns + BN_NSEC_PER_MSEC);
    return;
  }
  while (t != loop.task[0] && bn_clock_mono() < until_ns)
    ;
  p->received = (int)done++;
}

/* Sessions that begin or end, as many as there are, do not hold up those whose waits have ended. */
static void a_long_queue_holds_up_no_wait(void **state)
{
  static struct part p[TASKS];

  (void)state;
  fill(p, TASKS, work_or_sleep);
  turn_until(TASKS);
  assert_in_range(p[0].received, 1, TASKS / 2);
  empty(p, TASKS);
}

/* In a callback of a library, say, a call has to end before anything else goes on. */
static void a_call_can_be_finished_in_place(void **state)
{
  static struct part p[1];

  (void)state;
  fill(p, 1, wait_in_turns);
  p[0].until_ns = bn_clock_mono() + 20000000;
  assert_false(bn_task_call(&p[0].task, wait_for_time, &p[0]));
  bn_task_finish(&p[0].task);
  assert_true(p[0].ended_ns >= p[0].until_ns);
  assert_null(p[0].task.fiber);
  empty(p, 1);
}

/* The end of the run ends a sleep, but no call that comes after it. */
static void a_sleep_finished_in_place_leaves_no_mark(void **state)
{
  static struct part p[1];

  (void)state;
  fill(p, 1, wait_in_turns);
  bn_task_sleep(&p[0].task, bn_clock_mono() + BN_NSEC_PER_MSEC);
  bn_task_finish(&p[0].task);
  p[0].until_ns = bn_clock_mono() + 20 * BN_NSEC_PER_MSEC;
  assert_false(bn_task_call(&p[0].task, wait_for_time, &p[0]));
  p[0].in_call = true;
  bn_loop_wake(&loop);
  turn_until(1);
  assert_true(p[0].ended_ns >= p[0].until_ns);
  empty(p, 1);
}

BN_TESTS(loop)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_wait_side_by_side),
      cmocka_unit_test(an_early_byte_is_not_lost),
      cmocka_unit_test(waits_end_at_their_times),
      cmocka_unit_test(fails_the_run_if_a_descriptor_cannot_be_watched),
      cmocka_unit_test(waits_end_without_epoll_pwait2),
      cmocka_unit_test(an_interrupt_ends_waits),
      cmocka_unit_test(the_end_of_the_run_ends_sleeps),
      cmocka_unit_test(a_long_queue_holds_up_no_wait),
      cmocka_unit_test(a_call_can_be_finished_in_place),
      cmocka_unit_test(a_sleep_finished_in_place_leaves_no_mark),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
