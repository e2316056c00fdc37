/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks by CLOCK_MONOTONIC, so that setting the wall clock moves no deadline. */
#include "base/wait.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* Stores the time until the deadline in *time and returns it, or returns NULL for a wait without an
   end (UINT64_MAX).  For the deadline 0, which has passed, the clock is not read. */
static const struct timespec *wait_time_until(uint64_t deadline_ns, struct timespec *time)
{
  if (deadline_ns == UINT64_MAX)
    return NULL;
  *time =
      bn_clock_to_timespec(deadline_ns != 0 ? bn_clock_between(bn_clock_mono(), deadline_ns) : 0);
  return time;
}

/* Asserts that there is a deadline if a deadline is the only bound of the wait. */
static void wait_assert_bound(const struct bn_wait *w, uint64_t deadline_ns)
{
  assert(deadline_ns != UINT64_MAX || w->bound != BN_BOUND_DEADLINE);
  (void)w, (void)deadline_ns;
}

int bn_wait_spawn(pthread_t *thread, uint64_t stack_bytes, void *(*body)(void *), void *arg)
{
  pthread_attr_t attr;
  int rc = pthread_attr_init(&attr);

  if (rc != 0)
    return rc;
  if (stack_bytes != 0)
    rc = pthread_attr_setstacksize(&attr, stack_bytes);
  if (rc == 0)
    rc = pthread_attr_setguardsize(&attr, BN_WAIT_GUARD);
  if (rc == 0)
    rc = pthread_create(thread, &attr, body, arg);
  (void)pthread_attr_destroy(&attr);
  return rc;
}

void bn_wait_join(const struct bn_wait *w, pthread_t thread)
{
  assert(w->bound == BN_BOUND_RETURNING || w->bound == BN_BOUND_READER);
  (void)w;
  (void)pthread_join(thread, NULL);
}

void bn_wait_init_cond(pthread_cond_t *cond)
{
  pthread_condattr_t attr;

  (void)pthread_condattr_init(&attr);
  (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  (void)pthread_cond_init(cond, &attr);
  (void)pthread_condattr_destroy(&attr);
}

bool bn_wait_until(const struct bn_wait *w, pthread_cond_t *cond, pthread_mutex_t *lock,
                   uint64_t deadline_ns)
{
  wait_assert_bound(w, deadline_ns);
  if (deadline_ns == UINT64_MAX)
    return pthread_cond_wait(cond, lock) == 0;
  const struct timespec deadline = bn_clock_to_timespec(deadline_ns);

  return pthread_cond_timedwait(cond, lock, &deadline) == 0;
}

void bn_wait_wake(pthread_cond_t *cond)
{
  (void)pthread_cond_broadcast(cond);
}

int bn_wait_signal(const struct bn_wait *w, const sigset_t *set, uint64_t deadline_ns,
                   siginfo_t *info)
{
  struct timespec timeout;
  int signo;

  wait_assert_bound(w, deadline_ns);
  do {
    if (deadline_ns == UINT64_MAX)
      signo = sigwaitinfo(set, info);
    else
      signo = sigtimedwait(set, info, wait_time_until(deadline_ns, &timeout));
  } while (signo < 0 && errno == EINTR);
  return signo;
}

bool bn_wait_has_reader(int fd)
{
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  const bool is_closed = poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP)) != 0;

  return !is_closed;
}

bool bn_wait_is_writable(int fd)
{
  struct pollfd p = {.fd = fd, .events = POLLOUT};

  return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) != 0;
}

/* A signal or an error counts as writable: the next write reports the error. */
bool bn_wait_until_writable(int fd, uint64_t deadline_ns)
{
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  struct timespec timeout;

  return ppoll(&p, 1, wait_time_until(deadline_ns, &timeout), NULL) != 0;
}

/* Waits as epoll_wait(2) does, with a timeout in nanoseconds (NULL: none).  Returns -1 and ENOSYS
   if the C library does not have the call. */
#ifdef HAVE_EPOLL_PWAIT2
static int wait_epoll(int epoll_fd, struct epoll_event *events, int n,
                      const struct timespec *timeout)
{
  return epoll_pwait2(epoll_fd, events, n, timeout, NULL);
}
#else
static int wait_epoll(int epoll_fd, struct epoll_event *events, int n,
                      const struct timespec *timeout)
{
  (void)epoll_fd, (void)events, (void)n, (void)timeout;
  errno = ENOSYS;
  return -1;
}
#endif

/* Waits as wait_epoll() does, where its call is missing or forbidden: ppoll waits for the set,
   because epoll_wait takes whole milliseconds, which is too coarse for arrivals. */
static int wait_epoll_by_ppoll(int epoll_fd, struct epoll_event *events, int n,
                               const struct timespec *timeout)
{
  struct pollfd p = {.fd = epoll_fd, .events = POLLIN};
  const int n_ready = ppoll(&p, 1, timeout, NULL);

  return n_ready > 0 ? epoll_wait(epoll_fd, events, n, 0) : n_ready;
}

int bn_wait_events(const struct bn_wait *w, int epoll_fd, struct epoll_event *events, int n,
                   uint64_t deadline_ns)
{
  struct timespec time;
  const struct timespec *timeout = wait_time_until(deadline_ns, &time);
  int n_events;

  wait_assert_bound(w, deadline_ns);
  n_events = wait_epoll(epoll_fd, events, n, timeout);
  /* Kernels before 5.11 lack the call, and containers forbid it, with an error of their choice:
     any error but EINTR leads to the other way.  The call is tried again at each wait, because only
     writable data, which tests/lint/globals.sh refuses, could remember that it fails. */
  if (n_events < 0 && errno != EINTR)
    n_events = wait_epoll_by_ppoll(epoll_fd, events, n, timeout);
  assert(n_events >= 0 || errno == EINTR); /* other errors are mistakes in the program */
  return n_events > 0 ? n_events : 0;
}

short bn_wait_poll(const struct bn_wait *w, int fd, short events, uint64_t deadline_ns)
{
  struct pollfd p = {.fd = fd, .events = events};
  struct timespec timeout;
  int n_ready;

  wait_assert_bound(w, deadline_ns);
  n_ready = ppoll(&p, 1, wait_time_until(deadline_ns, &timeout), NULL);
  assert(n_ready >= 0 || errno == EINTR);
  return n_ready > 0 ? p.revents : 0;
}

void bn_wait_park(const struct bn_wait *w)
{
  assert(w->bound == BN_BOUND_LEFT_BEHIND);
  (void)w;
  for (;;)
    (void)pause();
}

void bn_wait_set_alarm(uint64_t after_ns,
                       void (*handler)(int signo, siginfo_t *info, void *context), int value)
{
  const struct itimerspec expiry = {.it_value = bn_clock_to_timespec(after_ns)}; /* once */
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  struct sigevent event = {
      .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM, .sigev_value.sival_int = value};
  sigset_t set;
  timer_t timer;

  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGALRM);
  event._sigev_un._tid = gettid(); /* sigev_notify_thread_id, which older glibc does not define */
  if (sigaction(SIGALRM, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
    return;
  (void)timer_settime(timer, 0, &expiry, NULL);
  (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void bn_wait_send_signal(pthread_t thread, int signo)
{
  (void)pthread_kill(thread, signo);
}
