/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A waiter for one thread, by epoll, as exact as struct bn_sql_waiter allows: it forgets an event
   once it has reported it, and it counts how often the thread slept elsewhere. */
#ifndef BN_TESTS_WAITER_H
#define BN_TESTS_WAITER_H

#include "api/driver.h"

enum { WAITER_FDS = 4096 };

struct waiter {
  struct bn_sql_waiter base; /* what drivers are given */
  void *spare;               /* base.spare */
  int epoll;
  short came[WAITER_FDS]; /* events that nobody has been told yet, of registered sockets */
  bool registered[WAITER_FDS];
  bool interrupted;          /* all waits return 0 */
  unsigned waits;            /* how many there were, */
  unsigned long slept_there; /* and how often the thread slept elsewhere than in them, */
  unsigned long slept_before;
  bool watching; /* between waiter_watch(w, true) and (w, false) */
};

void waiter_open(struct waiter *w);
void waiter_close(struct waiter *w);
/* Begins or ends to count where the thread sleeps. */
void waiter_watch(struct waiter *w, bool on);

#endif
