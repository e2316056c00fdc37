/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the threads of a run one at a time, on simulated time. */
#include "simclock.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { TASKS = 1024, SIGNALS = 8, KINDS = 64 };

static const uint64_t epoch_ns = 1000 * BN_NSEC_PER_SEC;
/* A test that takes longer never ends. */
static const uint64_t longest_ns = 1000 * BN_NSEC_PER_SEC;
/* Threads that change so often without any progress of time do not wait for anything. */
static const unsigned most_turns = 1000000;

enum state { NONE, READY, BLOCKED, DONE };

struct task {
  pthread_t thread;
  pthread_cond_t turn;
  enum state state;
  uint64_t order;       /* of becoming ready or beginning to wait */
  uint64_t deadline_ns; /* BLOCKED; UINT64_MAX: none */
  const void *on;       /* BLOCKED: a condition variable, a task, or one of the marks below */
  const struct bn_wait *wait;
  sigset_t set, pending;                  /* the signals that it waits for; those sent to it */
  bool timed_out, joined, without_reason; /* the last wait returned without a reason */
  void *(*body)(void *);
  void *arg;
};

static const char on_signal, on_hang, on_sleep, on_all;

static struct {
  pthread_mutex_t lock; /* guards all; `now` is read without */
  _Atomic uint64_t now;
  struct task task[TASKS], *running;
  size_t n;
  uint64_t order;
  uint64_t turns_ns; /* the time of the last turn, and how many there were at that time */
  unsigned turns;
  bool released, without_reason;
  sigset_t pending; /* by the process */
  struct {
    uint64_t at_ns;
    int signo;
  } signal[SIGNALS];
  size_t n_signals;
  uint64_t refuse_ns; /* no thread is started from then on */
  struct sim_seen seen[KINDS];
} sim = {.lock = PTHREAD_MUTEX_INITIALIZER, .now = 1000 * BN_NSEC_PER_SEC, .refuse_ns = UINT64_MAX};

static _Thread_local struct task *me;

/* --- who runs; all with the lock --- */

static void make_ready(struct task *t)
{
  t->state = READY;
  t->order = ++sim.order;
}

static void wake_on(const void *on)
{
  for (;;) {
    struct task *first = NULL;

    for (size_t i = 0; i < sim.n; i++) {
      struct task *t = &sim.task[i];

      if (t->state == BLOCKED && t->on == on && (first == NULL || t->order < first->order))
        first = t;
    }
    if (first == NULL)
      return;
    make_ready(first);
  }
}

static int first_common(const sigset_t *a, const sigset_t *b)
{
  for (int signo = 1; signo < SIGRTMAX; signo++)
    if (sigismember(a, signo) == 1 && sigismember(b, signo) == 1)
      return signo;
  return 0;
}

static void wake_for_signals(void)
{
  for (size_t i = 0; i < sim.n; i++) {
    struct task *t = &sim.task[i];

    if (t->state == BLOCKED && t->on == &on_signal &&
        (first_common(&t->set, &t->pending) != 0 || first_common(&t->set, &sim.pending) != 0))
      make_ready(t);
  }
}

static struct task *first_ready(void)
{
  struct task *first = NULL;

  for (size_t i = 0; i < sim.n; i++) {
    struct task *t = &sim.task[i];

    if (t->state == READY && (first == NULL || t->order < first->order))
      first = t;
  }
  return first;
}

static struct task *first_due(void)
{
  struct task *first = NULL;

  for (size_t i = 0; i < sim.n; i++) {
    struct task *t = &sim.task[i];

    if (t->state == BLOCKED && t->deadline_ns != UINT64_MAX &&
        (first == NULL || t->deadline_ns < first->deadline_ns ||
         (t->deadline_ns == first->deadline_ns && t->order < first->order)))
      first = t;
  }
  return first;
}

/* A thread may hang in stdio. */
static void give_up(const char *why)
{
  dprintf(STDERR_FILENO, "at %.9f s %s:\n", sim_s(), why);
  for (size_t i = 0; i < sim.n; i++)
    if (sim.task[i].state == BLOCKED)
      dprintf(STDERR_FILENO, "  thread %zu for %s\n", i,
              sim.task[i].wait != NULL ? sim.task[i].wait->what : "nothing of the program's");
  abort();
}

/* The next signal comes, if that is before until_ns. */
static bool signal_comes(uint64_t until_ns)
{
  if (sim.n_signals == 0 || sim.signal[0].at_ns > until_ns)
    return false;
  if (sim.signal[0].at_ns > atomic_load(&sim.now))
    atomic_store(&sim.now, sim.signal[0].at_ns);
  (void)sigaddset(&sim.pending, sim.signal[0].signo);
  sim.n_signals--;
  memmove(&sim.signal[0], &sim.signal[1], sim.n_signals * sizeof sim.signal[0]);
  wake_for_signals();
  return true;
}

static struct task *choose(void)
{
  for (;;) {
    struct task *t = first_ready(), *due;

    if (t != NULL)
      return t;
    due = first_due();
    if (signal_comes(due != NULL ? due->deadline_ns : UINT64_MAX))
      continue;
    if (due == NULL || due->deadline_ns > epoch_ns + longest_ns)
      give_up("there is no end to what threads wait for");
    else if (due->deadline_ns > atomic_load(&sim.now))
      atomic_store(&sim.now, due->deadline_ns);
    due->timed_out = true;
    make_ready(due);
  }
}

static void count_turn(void)
{
  const uint64_t now = bn_clock_mono();

  sim.turns = sim.turns_ns == now ? sim.turns + 1 : 0;
  sim.turns_ns = now;
  if (sim.turns > most_turns)
    give_up("the time stands still while threads run");
}

static void pass_on(void)
{
  count_turn();
  sim.running = choose();
  (void)pthread_cond_signal(&sim.running->turn);
}

static void await_turn(void)
{
  while (sim.running != me)
    (void)pthread_cond_wait(&me->turn, &sim.lock);
}

/* --- threads --- */

static struct task *add_task(void)
{
  struct task *t = &sim.task[sim.n++];

  assert(sim.n <= TASKS);
  memset(t, 0, sizeof *t);
  (void)pthread_cond_init(&t->turn, NULL);
  (void)sigemptyset(&t->pending);
  make_ready(t);
  return t;
}

/* The lock is held from here to leave(). */
static void enter(void)
{
  (void)pthread_mutex_lock(&sim.lock);
  if (me == NULL) { /* the main thread */
    (void)sigemptyset(&sim.pending);
    sim.running = me = add_task();
    me->thread = pthread_self();
  }
}

static void leave(void)
{
  (void)pthread_mutex_unlock(&sim.lock);
}

/* false: the deadline has passed. */
static bool block(const void *on, uint64_t deadline_ns)
{
  me->state = BLOCKED;
  me->order = ++sim.order;
  me->on = on;
  me->deadline_ns = deadline_ns;
  me->timed_out = false;
  pass_on();
  await_turn();
  return !me->timed_out;
}

static void end_task(void)
{
  (void)pthread_mutex_lock(&sim.lock);
  me->state = DONE;
  wake_on(me);
  wake_on(&on_all);
  pass_on();
  (void)pthread_mutex_unlock(&sim.lock);
}

static void *task_main(void *arg)
{
  me = arg;
  (void)pthread_mutex_lock(&sim.lock);
  await_turn();
  (void)pthread_mutex_unlock(&sim.lock);
  (void)me->body(me->arg);
  end_task();
  return NULL;
}

static struct task *task_of(pthread_t thread)
{
  for (size_t i = 0; i < sim.n; i++)
    if (!sim.task[i].joined && pthread_equal(sim.task[i].thread, thread))
      return &sim.task[i];
  return NULL;
}

/* --- what is seen --- */

static struct sim_seen *seen_of(const struct bn_wait *w)
{
  for (size_t i = 0; i < KINDS; i++) {
    if (sim.seen[i].wait == NULL)
      sim.seen[i].wait = w;
    if (sim.seen[i].wait == w)
      return &sim.seen[i];
  }
  abort();
}

static bool observed(const struct bn_wait *w, const void *on, uint64_t deadline_ns)
{
  struct sim_seen *s = seen_of(w);
  const uint64_t from_ns = atomic_load(&sim.now);
  const uint64_t ahead_ns = deadline_ns > from_ns ? deadline_ns - from_ns : 0;
  bool in_time;

  s->entered++;
  if (deadline_ns == UINT64_MAX)
    s->endless++;
  else if (ahead_ns > s->farthest_ns)
    s->farthest_ns = ahead_ns;
  me->wait = w;
  in_time = block(on, deadline_ns);
  me->wait = NULL;
  if (atomic_load(&sim.now) - from_ns > s->longest_ns)
    s->longest_ns = atomic_load(&sim.now) - from_ns;
  return in_time;
}

const struct sim_seen *sim_seen_at(size_t i)
{
  return i < KINDS && sim.seen[i].wait != NULL ? &sim.seen[i] : NULL;
}

const struct sim_seen *sim_seen_what(const char *what)
{
  const struct sim_seen *s;

  for (size_t i = 0; (s = sim_seen_at(i)) != NULL; i++)
    if (strcmp(s->wait->what, what) == 0)
      return s;
  return NULL;
}

/* --- what tests call --- */

void sim_begin(void)
{
  enter();
  for (size_t i = 1; i < sim.n; i++)
    assert(sim.task[i].state == DONE && sim.task[i].joined);
  sim.n = 1;
  atomic_store(&sim.now, epoch_ns);
  sim.n_signals = 0;
  sim.refuse_ns = UINT64_MAX;
  sim.released = false;
  (void)sigemptyset(&sim.pending);
  memset(sim.seen, 0, sizeof sim.seen);
  leave();
}

double sim_s(void)
{
  return (double)(atomic_load(&sim.now) - epoch_ns) / 1e9;
}

void sim_wake_without_reason(bool on)
{
  enter();
  sim.without_reason = on;
  leave();
}

static uint64_t ns_at(double at_s)
{
  return epoch_ns + (uint64_t)(at_s * 1e9 + 0.5);
}

void sim_send_at(double at_s, int signo)
{
  enter();
  assert(sim.n_signals < SIGNALS);
  sim.signal[sim.n_signals].at_ns = ns_at(at_s);
  sim.signal[sim.n_signals++].signo = signo;
  leave();
}

void sim_refuse_threads_from(double at_s)
{
  enter();
  sim.refuse_ns = ns_at(at_s);
  leave();
}

void sim_sleep_ms(double ms)
{
  bn_clock_sleep_until(bn_clock_mono() + (uint64_t)(ms * 1e6 + 0.5));
}

void sim_hang(void)
{
  enter();
  if (!sim.released)
    (void)block(&on_hang, UINT64_MAX);
  leave();
}

static bool all_done(void)
{
  for (size_t i = 1; i < sim.n; i++)
    if (sim.task[i].state != DONE)
      return false;
  return true;
}

void sim_release(void)
{
  enter();
  sim.released = true;
  wake_on(&on_hang);
  while (!all_done())
    (void)block(&on_all, UINT64_MAX);
  for (size_t i = 1; i < sim.n; i++)
    if (!sim.task[i].joined) {
      leave();
      (void)pthread_join(sim.task[i].thread, NULL);
      enter();
      sim.task[i].joined = true;
    }
  leave();
}

/* --- in place of base/wait --- */

int bn_wait_spawn(pthread_t *thread, uint64_t stack_bytes, void *(*body)(void *), void *arg)
{
  struct task *t;
  int rc;

  (void)stack_bytes;
  enter();
  if (bn_clock_mono() >= sim.refuse_ns) {
    leave();
    return EAGAIN;
  }
  t = add_task();
  t->body = body;
  t->arg = arg;
  rc = pthread_create(&t->thread, NULL, task_main, t);
  assert(rc == 0);
  *thread = t->thread;
  leave();
  return rc;
}

void bn_wait_join(const struct bn_wait *w, pthread_t thread)
{
  struct task *t;

  enter();
  t = task_of(thread);
  seen_of(w)->entered += t->state == DONE;
  while (t->state != DONE)
    (void)observed(w, t, UINT64_MAX);
  t->joined = true;
  leave();
  (void)pthread_join(thread, NULL);
}

void bn_wait_init_cond(pthread_cond_t *cond)
{
  (void)pthread_cond_init(cond, NULL);
}

bool bn_wait_until(const struct bn_wait *w, pthread_cond_t *cond, pthread_mutex_t *lock,
                   uint64_t deadline_ns)
{
  bool in_time = true;

  assert(deadline_ns != UINT64_MAX || w->bound != BN_BOUND_DEADLINE);
  enter();
  me->without_reason = sim.without_reason && !me->without_reason;
  if (me->without_reason) {
    leave();
    return true;
  }
  (void)pthread_mutex_unlock(lock);
  in_time = observed(w, cond, deadline_ns);
  leave();
  (void)pthread_mutex_lock(lock);
  return in_time;
}

void bn_wait_wake(pthread_cond_t *cond)
{
  enter();
  wake_on(cond);
  leave();
}

int bn_wait_signal(const struct bn_wait *w, const sigset_t *set, uint64_t deadline_ns,
                   siginfo_t *info)
{
  bool in_time = true;
  int signo;

  enter();
  me->set = *set;
  for (;;) {
    signo = first_common(set, &me->pending);
    if (signo == 0)
      signo = first_common(set, &sim.pending);
    if (signo != 0 || !in_time)
      break;
    in_time = observed(w, &on_signal, deadline_ns);
  }
  if (signo != 0) {
    (void)sigdelset(&me->pending, signo);
    (void)sigdelset(&sim.pending, signo);
  }
  leave();
  if (info != NULL)
    *info = (siginfo_t){.si_signo = signo, .si_code = SI_USER};
  return signo != 0 ? signo : -1;
}

bool bn_wait_has_reader(int fd)
{
  (void)fd;
  return true;
}

bool bn_wait_is_writable(int fd)
{
  (void)fd;
  return true;
}

bool bn_wait_until_writable(int fd, uint64_t deadline_ns)
{
  (void)deadline_ns;
  return bn_wait_is_writable(fd);
}

/* No session of a simulated run shares its worker. */
int bn_wait_events(const struct bn_wait *w, int epoll_fd, struct epoll_event *events, int n,
                   uint64_t deadline_ns)
{
  (void)w;
  (void)epoll_fd;
  (void)events;
  (void)n;
  (void)deadline_ns;
  abort();
}

short bn_wait_poll(const struct bn_wait *w, int fd, short events, uint64_t deadline_ns)
{
  (void)w;
  (void)fd;
  (void)events;
  (void)deadline_ns;
  abort();
}

void bn_wait_park(const struct bn_wait *w)
{
  enter();
  while (!sim.released)
    (void)observed(w, &on_hang, UINT64_MAX);
  leave();
  end_task();
  pthread_exit(NULL);
}

/* No test waits for a mutex that nobody releases. */
void bn_wait_set_alarm(uint64_t after_ns,
                       void (*handler)(int signo, siginfo_t *info, void *context), int value)
{
  (void)after_ns;
  (void)handler;
  (void)value;
}

void bn_wait_send_signal(pthread_t thread, int signo)
{
  struct task *t;

  enter();
  t = task_of(thread);
  if (t != NULL)
    (void)sigaddset(&t->pending, signo);
  wake_for_signals();
  leave();
}

/* --- in place of base/clock --- */

void bn_clock_init(struct bn_clock *c, enum bn_clock_choice choice)
{
  (void)choice;
  memset(c, 0, sizeof *c);
}

const char *bn_clock_name(const struct bn_clock *c)
{
  (void)c;
  return "simulated";
}

void bn_clock_refit(struct bn_clock *c)
{
  (void)c;
}

void bn_clock_reader_init(struct bn_clock_reader *r, struct bn_clock *c)
{
  *r = (struct bn_clock_reader){.clock = c};
}

uint64_t bn_clock_now_slow(struct bn_clock_reader *r)
{
  (void)r;
  return bn_clock_mono();
}

uint64_t bn_clock_mono(void)
{
  return atomic_load(&sim.now);
}

uint64_t bn_clock_wall(void)
{
  return bn_clock_mono();
}

void bn_clock_sleep_until(uint64_t ns)
{
  enter();
  (void)block(&on_sleep, ns);
  leave();
}
