/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for the sockets and the times of all sessions of a worker at once. */
#include "engine/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/wait.h"
#include "engine/interrupt.h"
#include "engine/limits.h"

/* A task that waits for a time alone, and the events of a wait that no descriptor has ended. */
enum { NO_FD = -1, NO_EVENTS = 0 };
/* The most events that one call of epoll returns.  Their array on the stack is at most a page. */
enum { EVENTS_AT_ONCE = 256 };
/* How often a wait in place looks whether the session is interrupted or the run is over. */
static const uint64_t check_interval_ns = 100 * BN_NSEC_PER_MSEC;
/* The time for tasks of the queue in one turn. */
static const uint64_t queue_turn_ns = BN_NSEC_PER_MSEC;

static const struct bn_wait ready_task = {"a session of the worker that may go on", BN_BOUND_END};
static const struct bn_wait in_place = {"a call that holds up its worker", BN_BOUND_END};

/* --- making --- */

int bn_loop_init(struct bn_loop *l, unsigned n_tasks, void (*go_on)(struct bn_task *t),
                 struct bn_err *err)
{
  struct epoll_event wake = {.events = EPOLLIN};

  memset(l, 0, sizeof *l);
  l->woken.last = &l->woken.first;
  l->queue.last = &l->queue.first;
  l->go_on = go_on;
  l->n_tasks = n_tasks;
  l->task = bn_alloc(n_tasks, sizeof(struct bn_task *));
  l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  /* Nothing is called after a call that has failed, so that errno has its reason. */
  l->wake_fd = l->epoll_fd >= 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
  wake.data.fd = l->wake_fd;
  if (l->wake_fd < 0 || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->wake_fd, &wake) != 0)
    return bn_err_set(err, errno, "a worker cannot wait for its sessions: %s", strerror(errno));
  return 0;
}

/* Closes a descriptor; -1: there is none. */
static void loop_close(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}

void bn_loop_done(struct bn_loop *l)
{
  loop_close(l->epoll_fd);
  loop_close(l->wake_fd);
  bn_timers_done(&l->timers);
  bn_fiber_pool_done(&l->fibers);
  free(l->spare);
  free(l->fd);
  free(l->task);
}

/* --- tasks that are ready --- */

/* Puts a task at the end of a list, unless it is in a list already. */
static void loop_append(struct bn_task_list *list, struct bn_task *t)
{
  if (t->queued)
    return;
  t->queued = true;
  t->next = NULL;
  *list->last = t;
  list->last = &t->next;
}

void bn_loop_queue(struct bn_task *t)
{
  loop_append(&t->loop->queue, t);
}

/* Handles the return of the worker from the stack of a task's call to its own.  The call has
   returned, and gives its stack back, or it waits.  Returns has_returned. */
static bool loop_leave_call(struct bn_task *t, bool has_returned)
{
  t->loop->running = NULL;
  if (!has_returned)
    return false;
  bn_fiber_give_back(&t->loop->fibers, t->fiber);
  t->fiber = NULL;
  return true;
}

/* Goes on with the call of the task, if it has one.  Returns false if the call waits again. */
static bool loop_resume_call(struct bn_task *t)
{
  if (t->fiber == NULL)
    return true;
  t->loop->running = t;
  return loop_leave_call(t, bn_fiber_resume(t->fiber));
}

/* Goes on with a task that is ready: with its call, and with its session unless the call still
   waits. */
static void loop_run_task(struct bn_task *t)
{
  t->queued = false;
  t->turn_ns = 0;
  bn_log_set_session(t->session);
  /* A queued task may wait again: bn_task_finish has ended its call, and another wait has begun. */
  if (!t->waits && loop_resume_call(t))
    t->loop->go_on(t);
}

/* Goes on with the tasks whose waits have ended.  Tasks that become ready meanwhile come after the
   next poll of the sockets. */
static void loop_run_woken(struct bn_loop *l)
{
  struct bn_task *t = l->woken.first;

  l->woken = (struct bn_task_list){NULL, &l->woken.first};
  while (t != NULL) {
    struct bn_task *next = t->next;

    loop_run_task(t);
    t = next;
  }
}

/* Takes the first task out of the queue; NULL: the queue is empty. */
static struct bn_task *loop_take_queued(struct bn_loop *l)
{
  struct bn_task *t = l->queue.first;

  if (t == NULL)
    return NULL;
  l->queue.first = t->next;
  if (t->next == NULL)
    l->queue.last = &l->queue.first;
  return t;
}

/* Goes on with tasks of the queue for about a millisecond: a hundred thousand sessions that begin
   or end take a second, for which the events of other sessions must not wait.  If the queue is
   empty, the clock is not read. */
static void loop_run_queue(struct bn_loop *l)
{
  const uint64_t until_ns = l->queue.first != NULL ? bn_clock_mono() + queue_turn_ns : 0;
  struct bn_task *t;

  while ((t = loop_take_queued(l)) != NULL) {
    loop_run_task(t);
    if (bn_clock_mono() >= until_ns)
      return;
  }
}

/* --- the end of waits --- */

/* Ends the wait of a task, and puts the task in a list.  came: the events of its descriptor that
   ended the wait, or NO_EVENTS. */
static void loop_end_wait(struct bn_task *t, short came, struct bn_task_list *list)
{
  t->waits = t->until_over = false;
  t->came = came;
  bn_timers_clear(&t->loop->timers, &t->timer);
  loop_append(list, t);
}

/* Returns the task that has the timer as its member. */
static struct bn_task *loop_find_task(struct bn_timer *timer)
{
  return (struct bn_task *)(void *)((char *)timer - offsetof(struct bn_task, timer));
}

/* Ends the waits whose time has come.  Without timers the clock is not read. */
static void loop_on_timers(struct bn_loop *l)
{
  struct bn_timer *timer;
  uint64_t now_ns;

  if (bn_timers_next_ns(&l->timers) == UINT64_MAX)
    return;
  now_ns = bn_clock_mono();
  while ((timer = bn_timers_take_due(&l->timers, now_ns)) != NULL)
    loop_end_wait(loop_find_task(timer), NO_EVENTS, &l->woken);
}

/* Translates events of epoll to events of poll().  The end of a connection, EPOLLRDHUP, is
   input. */
static short loop_to_poll_events(uint32_t events)
{
  return (short)(((events & (EPOLLIN | EPOLLRDHUP)) != 0 ? POLLIN : 0) |
                 ((events & EPOLLOUT) != 0 ? POLLOUT : 0) |
                 ((events & EPOLLERR) != 0 ? POLLERR : 0) |
                 ((events & EPOLLHUP) != 0 ? POLLHUP : 0));
}

/* Ends the wait for a descriptor, or notes that its input came while no task waited for it. */
static void loop_on_event(struct bn_loop *l, const struct epoll_event *e)
{
  struct bn_loop_fd *entry = &l->fd[e->data.fd];
  struct bn_task *t = entry->task;

  if (t != NULL && t->waits && t->fd == e->data.fd)
    loop_end_wait(t, loop_to_poll_events(e->events), &l->woken);
  else
    entry->early = true;
}

/* Ends the waits that bn_loop_wake is for.  The descriptor is read only to make it silent again.
   At the end of the run most sessions wait, and all of their tasks become ready at once: they go to
   the queue, which holds up other events for a millisecond only. */
static void loop_on_wake(struct bn_loop *l)
{
  uint64_t n_wakes; /* not used */

  if (read(l->wake_fd, &n_wakes, sizeof n_wakes) < 0)
    return;
  for (unsigned i = 0; i < l->n_tasks; i++) {
    struct bn_task *t = l->task[i];

    if (t != NULL && t->waits && (t->until_over || bn_session_interrupted(t->session)))
      loop_end_wait(t, NO_EVENTS, &l->queue);
  }
}

void bn_loop_turn(struct bn_loop *l)
{
  /* With tasks in the queue, epoll is only asked and does not wait. */
  const uint64_t until_ns = l->queue.first != NULL ? 0 : bn_timers_next_ns(&l->timers);
  struct epoll_event event[EVENTS_AT_ONCE];
  const int n_events = bn_wait_events(&ready_task, l->epoll_fd, event, EVENTS_AT_ONCE, until_ns);

  for (int i = 0; i < n_events; i++) {
    if (event[i].data.fd == l->wake_fd)
      loop_on_wake(l);
    else
      loop_on_event(l, &event[i]);
  }
  loop_on_timers(l);
  loop_run_woken(l);
  loop_run_queue(l);
}

void bn_loop_wake(struct bn_loop *l)
{
  const uint64_t one = 1;

  /* The write fails only if the counter is full, and then the loop wakes anyway. */
  if (write(l->wake_fd, &one, sizeof one) < 0)
    return;
}

/* --- waits --- */

/* Returns the entry of a descriptor, valid until the next call, which may move the table. */
static struct bn_loop_fd *loop_get_fd(struct bn_loop *l, int fd)
{
  enum { SPARE = 64 }; /* entries for further descriptors */
  const size_t wanted = (size_t)fd + 1;

  if (wanted > l->n_fds) {
    const size_t n = wanted < 2 * l->n_fds ? 2 * l->n_fds : wanted + SPARE;

    l->fd = bn_alloc_resize(l->fd, n, sizeof *l->fd);
    memset(l->fd + l->n_fds, 0, (n - l->n_fds) * sizeof *l->fd);
    l->n_fds = n;
  }
  return &l->fd[fd];
}

/* Changes the events that epoll reports of a descriptor, or adds the descriptor to the epoll set if
   this is its first wait.  Returns 0, or -1 and errno. */
static int loop_register(struct bn_loop *l, int fd, uint32_t events)
{
  struct epoll_event e = {.events = events, .data.fd = fd};

  if (epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, fd, &e) == 0)
    return 0;
  if (errno != ENOENT)
    return -1;
  return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

/* The events of a descriptor that is registered for its life.  EPOLLET reports input once, so that
   bn_loop_fd.early has to keep it for a later wait. */
enum { FOR_LIFE = EPOLLIN | EPOLLRDHUP | EPOLLET };

/* Registers a descriptor once for its life; *armed belongs to its connection.  Sets *came to
   NO_EVENTS, or to events that have come already.  Returns 0, or -1 and errno. */
static int loop_arm(struct bn_task *t, int fd, bool *armed, short *came)
{
  struct bn_loop_fd *entry = loop_get_fd(t->loop, fd);

  entry->task = t;
  if (!*armed) {
    if (loop_register(t->loop, fd, FOR_LIFE) != 0)
      return -1;
    entry->early = false;
    *armed = entry->armed = true;
  }
  *came = entry->early ? POLLIN : NO_EVENTS;
  entry->early = false;
  return 0;
}

/* Registers a descriptor for one wait.  Returns 0, or -1 and errno. */
static int loop_arm_once(struct bn_task *t, int fd, short events)
{
  struct bn_loop_fd *entry = loop_get_fd(t->loop, fd);
  const uint32_t wanted = ((events & POLLIN) != 0 ? (uint32_t)EPOLLIN | EPOLLRDHUP : 0) |
                          ((events & POLLOUT) != 0 ? (uint32_t)EPOLLOUT : 0);

  entry->task = t;
  return loop_register(t->loop, fd, wanted | EPOLLONESHOT);
}

/* Notes that the run of the loop has to fail.  Returns false if it has failed before. */
static bool loop_note_failure(struct bn_loop *l)
{
  const bool is_first = !l->has_failed;

  l->has_failed = true;
  return is_first;
}

/* Fails the run because a descriptor cannot be watched.  error: the errno.  To wait for it here
   would hold up the other sessions. */
static void loop_fail_to_watch(struct bn_task *t, int error)
{
  const struct bn_services *services = t->session->services;

  /* What the connection reports now has this cause alone, and is not logged. */
  bn_interrupt_session(t->session);
  if (!loop_note_failure(t->loop))
    return;
  bn_log(BN_FATAL, "a worker cannot wait for another connection: %s%s", strerror(error),
         error == ENOSPC ? ": use fewer --threads, or raise fs.epoll.max_user_watches" : "");
  services->fail(services->of);
}

/* Registers a descriptor for its life again if it was so before loop_arm_once.  `armed` may belong
   to a closed descriptor of the same number.  That does no harm, because the connection that has
   the number now registers it at its first wait (loop_arm). */
static void loop_rearm(struct bn_loop *l, int fd)
{
  if (l->fd[fd].armed && loop_register(l, fd, FOR_LIFE) != 0)
    l->fd[fd].armed = false;
}

/* Leaves the stack of the call until an event of the descriptor (NO_FD: none), the time or an
   interrupt has ended the wait.  t->came then has the event, or NO_EVENTS. */
static void loop_leave_stack(struct bn_task *t, int fd, short wanted, uint64_t until_ns)
{
  t->fd = fd;
  t->wanted = wanted;
  t->waits = true;
  if (until_ns != UINT64_MAX)
    bn_timers_set(&t->loop->timers, &t->timer, until_ns);
  bn_fiber_leave(t->fiber);
}

/* Returns whether a wait without an event so far goes on.  It ends at until_ns or with an interrupt
   and, if until_over is set, with the run. */
static bool loop_may_go_on_waiting(const struct bn_task *t, uint64_t until_ns)
{
  if (bn_session_interrupted(t->session) || bn_clock_mono() >= until_ns)
    return false;
  return !t->until_over || !bn_session_over(t->session);
}

/* Waits while the worker does nothing else, because the task runs in the stack of another task or
   in the worker's own: a finalizer of the script may wait, for example.  Returns the events, or
   NO_EVENTS if the wait has ended without them. */
static short loop_wait_here(const struct bn_task *t, int fd, short events, uint64_t until_ns)
{
  short came;

  do {
    const uint64_t check_ns = bn_clock_mono() + check_interval_ns;

    came = bn_wait_poll(&in_place, fd, events, bn_clock_min(check_ns, until_ns));
  } while (came == NO_EVENTS && loop_may_go_on_waiting(t, until_ns));
  return came;
}

/* The `wait` of a driver's connection (api/driver.h): lets other tasks run meanwhile.  With `armed`
   the descriptor is registered for its life, otherwise for this wait alone. */
static int loop_wait(const struct bn_sql_waiter *w, int fd, short events, bool *armed,
                     uint64_t until_ns)
{
  struct bn_task *t = w->of;

  if (bn_session_interrupted(t->session))
    return NO_EVENTS;
  if (t->loop->running != t)
    return loop_wait_here(t, fd, events, until_ns);
  if (fd >= 0) {
    short came = NO_EVENTS;

    if ((armed != NULL ? loop_arm(t, fd, armed, &came) : loop_arm_once(t, fd, events)) != 0) {
      loop_fail_to_watch(t, errno);
      return NO_EVENTS;
    }
    if (came != NO_EVENTS)
      return came;
  }
  loop_leave_stack(t, fd, events, until_ns);
  if (fd >= 0 && armed == NULL)
    loop_rearm(t->loop, fd);
  return bn_session_interrupted(t->session) ? NO_EVENTS : t->came;
}

void bn_loop_add(struct bn_loop *l, unsigned i, struct bn_task *t, struct bn_session *s)
{
  t->loop = l;
  t->session = s;
  t->fd = NO_FD;
  t->waiter = (struct bn_sql_waiter){.wait = loop_wait, .of = t, .spare = &l->spare};
  l->task[i] = t;
}

/* --- a task --- */

/* Fails the run because a call has no stack of its own: other sessions would wait for that call,
   and their latencies would include the wait. */
static void loop_fail_without_stack(struct bn_task *t)
{
  const struct bn_services *services = t->session->services;

  if (!loop_note_failure(t->loop))
    return;
  bn_limits_report_stacks();
  services->fail(services->of);
}

bool bn_task_call(struct bn_task *t, void (*fn)(void *arg), void *arg)
{
  t->fiber = bn_fiber_take(&t->loop->fibers);
  if (t->fiber == NULL) {
    loop_fail_without_stack(t);
    fn(arg);
    return true;
  }
  t->loop->running = t;
  return loop_leave_call(t, bn_fiber_call(t->fiber, fn, arg));
}

/* The call may wait several times before it returns. */
void bn_task_finish(struct bn_task *t)
{
  do {
    const bool has_timer = t->timer.place != 0;
    const uint64_t until_ns = has_timer ? t->timer.at_ns : UINT64_MAX;

    if (t->waits)
      t->came = loop_wait_here(t, t->fd, t->wanted, until_ns);
    t->waits = t->until_over = false;
    bn_timers_clear(&t->loop->timers, &t->timer);
  } while (!loop_resume_call(t));
}

void bn_task_delay(struct bn_task *t, uint64_t until_ns)
{
  t->fd = NO_FD;
  t->waits = true;
  bn_timers_set(&t->loop->timers, &t->timer, until_ns);
}

void bn_task_sleep(struct bn_task *t, uint64_t until_ns)
{
  bn_task_delay(t, until_ns);
  t->until_over = t->slept = true;
}

void bn_task_pause(struct bn_task *t, uint64_t until_ns)
{
  t->until_over = true; /* the end of the run ends the wait, too */
  /* The caller goes on, whatever has ended the wait. */
  (void)loop_wait(&t->waiter, NO_FD, NO_EVENTS, NULL /* no descriptor to arm */, until_ns);
  t->until_over = false;
}
