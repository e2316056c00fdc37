/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of hosts, and the threads, events and rate of each. */
#ifndef BN_HOSTS_WORK_SPLIT_H
#define BN_HOSTS_WORK_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
  BN_WORK_SPLIT_HOSTS = 256,
  BN_WORK_SPLIT_THREADS = 1000000, /* of a host, as --threads has it */
  BN_WORK_SPLIT_NAME_MAX = 255
};

struct bn_work_split_host {
  char *name;       /* owned; what ssh is given: "host", "user@host", an address */
  unsigned threads; /* the number behind the name; 0: there is none */
};

/* All zero: none. */
struct bn_work_split_list {
  struct bn_work_split_host *host; /* owned */
  size_t n;
};

/* Adds the hosts of a value of --hosts, "a,me@b:8,[::1]:4": a number behind ':' is the host's
   threads, and an IPv6 address stands in brackets.  A name is refused if it begins with '-', which
   a shell would take for an option, has a blank, a quote or a control character, or is there
   already.  -1: err begins with the option; the list has what came before. */
int bn_work_split_add(struct bn_work_split_list *list, const char *text, struct bn_err *err);
/* Adds the hosts of a file's text, one or several in a line, separated as above or by blanks; '#'
   begins a comment.  path is for messages. */
int bn_work_split_add_file(struct bn_work_split_list *list, const char *text, const char *path,
                           struct bn_err *err);
void bn_work_split_done(struct bn_work_split_list *list);

/* The work of all hosts together. */
struct bn_work_split_total {
  unsigned threads;       /* --threads, of each host that says no number of its own */
  unsigned threads_total; /* --threads-total, divided among these hosts instead; 0: not given */
  uint64_t events;        /* 0: no limit */
  uint64_t events_per_session; /* of each thread, in place of events; 0: no such limit */
  double rate;                 /* 0: none; at most 2^53 */
  bool integer_rate; /* hosts take whole numbers only, as dialects do: divided as events */
};

/* The work of one host. */
struct bn_work_split {
  unsigned threads;
  uint64_t first_session; /* sessions of the hosts before it */
  uint64_t events;        /* at least 1 of a limit, as 0 would be none */
  bool per_session;       /* they are those of events_per_session, not a part of events */
  double rate;
};

/* Fills out[list->n] and *sessions, which is the sum of the threads.  Events and rate are divided
   by threads, unless each thread has its events: the events add up to those of the whole, no host
   is more than one event from its part, and the rates add up to the rate but for rounding of
   doubles.  -1: err says which option leaves a host without a thread or an event. */
int bn_work_split_divide(const struct bn_work_split_list *list,
                         const struct bn_work_split_total *total, struct bn_work_split *out,
                         uint64_t *sessions, struct bn_err *err);

#endif
