/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A waiter by epoll for the tests of drivers. */
#include "waiter.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

static unsigned long sleeps_of_thread(void)
{
  struct rusage r;

  (void)getrusage(RUSAGE_THREAD, &r);
  return (unsigned long)r.ru_nvcsw;
}

void waiter_watch(struct waiter *w, bool on)
{
  if (w->watching)
    w->slept_there += sleeps_of_thread() - w->slept_before;
  w->watching = on;
  w->slept_before = sleeps_of_thread();
}

/* A driver that goes on beside the contract must not look as if it worked. */
static void waiter_must(bool holds, const char *what)
{
  if (holds)
    return;
  (void)fprintf(stderr, "the waiter: %s: %s\n", what, strerror(errno));
  abort();
}

static void waiter_control(struct waiter *w, int op, int fd, unsigned events)
{
  struct epoll_event e = {.events = events, .data = {.fd = fd}};

  waiter_must(epoll_ctl(w->epoll, op, fd, &e) == 0, "epoll_ctl");
}

static int waiter_remaining_ms(uint64_t until_ns)
{
  const uint64_t now = bn_clock_mono();

  if (until_ns == UINT64_MAX)
    return -1;
  return until_ns > now ? (int)((until_ns - now) / 1000000 + 1) : 0;
}

/* Waits until something has come to fd. */
static short waiter_sleep(struct waiter *w, int fd, uint64_t until_ns)
{
  short came;

  while (fd < 0 || w->came[fd] == 0) {
    struct epoll_event e;
    const int n = epoll_wait(w->epoll, &e, 1, waiter_remaining_ms(until_ns));

    waiter_must(n >= 0 || errno == EINTR, "epoll_wait");
    if (n == 0)
      return 0;
    if (n > 0)
      w->came[e.data.fd] = (short)(w->came[e.data.fd] | (short)e.events);
  }
  came = w->came[fd];
  w->came[fd] = 0;
  return came;
}

static short waiter_once(struct waiter *w, int fd, short events, uint64_t until_ns)
{
  const bool registered = w->registered[fd];
  short came;

  w->came[fd] = 0;
  waiter_control(w, registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, (unsigned)events);
  came = waiter_sleep(w, fd, until_ns);
  if (registered)
    waiter_control(w, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
  else
    waiter_control(w, EPOLL_CTL_DEL, fd, 0);
  return came;
}

static short waiter_armed(struct waiter *w, int fd, bool *armed, uint64_t until_ns)
{
  if (!*armed) {
    w->came[fd] = 0;
    waiter_control(w, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
  }
  *armed = w->registered[fd] = true;
  return waiter_sleep(w, fd, until_ns);
}

static int waiter_wait(const struct bn_sql_waiter *base, int fd, short events, bool *armed,
                       uint64_t until_ns)
{
  struct waiter *w = base->of;
  const bool watching = w->watching;
  int came = 0;

  waiter_watch(w, false);
  w->waits++;
  if (w->interrupted)
    came = 0;
  else if (fd < 0)
    came = waiter_sleep(w, -1, until_ns);
  else if (armed != NULL)
    came = waiter_armed(w, fd, armed, until_ns);
  else {
    w->registered[fd] = w->registered[fd] && epoll_ctl(w->epoll, EPOLL_CTL_MOD, fd,
                                                       &(struct epoll_event){.events = 0}) == 0;
    came = waiter_once(w, fd, events, until_ns);
  }
  waiter_watch(w, watching);
  return came;
}

void waiter_open(struct waiter *w)
{
  memset(w, 0, sizeof *w);
  w->base = (struct bn_sql_waiter){.wait = waiter_wait, .of = w, .spare = &w->spare};
  w->epoll = epoll_create1(EPOLL_CLOEXEC);
  waiter_must(w->epoll >= 0, "epoll_create1");
}

void waiter_close(struct waiter *w)
{
  (void)close(w->epoll);
  free(w->spare);
}
