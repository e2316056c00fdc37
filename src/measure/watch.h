/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings of counters that are watched beside a run, and the figures of the time between two. */
#ifndef BN_MEASURE_WATCH_H
#define BN_MEASURE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/diskrow.h"

struct bn_view;

/* Counts of the host, from the kernel.  Processor times are in ticks since its start, of all
   processors together; memory is in bytes. */
enum bn_host_count {
  BN_HOST_USER, /* with `guest` */
  BN_HOST_NICE, /* with `guest_nice` */
  BN_HOST_SYSTEM,
  BN_HOST_IDLE,
  BN_HOST_IOWAIT,
  BN_HOST_IRQ,
  BN_HOST_SOFTIRQ,
  BN_HOST_STEAL,
  BN_HOST_SWITCHES, /* of contexts */
  BN_HOST_INTERRUPTS,
  BN_HOST_FORKS,
  BN_HOST_RUNNING, /* now, as all below but the bytes of the network */
  BN_HOST_BLOCKED,
  BN_HOST_AVAILABLE,
  BN_HOST_CACHED,
  BN_HOST_DIRTY,
  BN_HOST_WRITEBACK,
  BN_HOST_SWAP_USED,
  BN_HOST_RECEIVED, /* by all interfaces but lo */
  BN_HOST_RECEIVED_PACKETS,
  BN_HOST_SENT,
  BN_HOST_SENT_PACKETS,
  BN_HOST_LOOPBACK, /* sent by lo, which is what it receives */
  BN_HOST_COUNTS
};

/* Servers have some hundred counters, and two figures of each. */
enum { BN_READING_MAX = 1024, BN_WATCHED_MAX = 2 * BN_READING_MAX + 64 };

/* The values of a watcher at a moment.  A value that is not known is BN_ABSENT (api/metric.h). */
struct bn_reading {
  uint64_t at_ns;                 /* CLOCK_MONOTONIC; 0: there is none */
  uint64_t value[BN_READING_MAX]; /* by enum bn_host_count, enum bn_disk_field, or a table */
};

/* A figure, with its unit in the name: "host_user_percent". */
struct bn_watched_figure {
  const char *name;
  double value;
};

/* The figures of a view; names are borrowed. */
struct bn_watched {
  struct bn_watched_figure figure[BN_WATCHED_MAX];
  size_t n;
};

/* These add the figures of the time between two readings to `out`.  A value that one of them lacks
   has no figure. */

/* Adds the figures of the host.  A rate is the difference, divided by the time between the
   readings.  A share of processor time is the difference of its kind, divided by the sum of the
   differences of all kinds, from user to steal.  A count that falls back, as iowait may
   (proc_stat(5)), has a difference of 0.  A state, such as available memory, is that of the later
   reading. */
void bn_watched_add_host(const struct bn_reading *from, const struct bn_reading *to,
                         struct bn_watched *out);
/* Adds the figures of a device as iostat -x (sysstat) defines them, from the fields that the
   kernel's Documentation/admin-guide/iostats.rst explains, t being the time between the readings:
     utilization  = time with a request in flight / t
     queue length = requests in flight integrated over time / t        (aqu-sz)
     await        = time of the requests that ended / their number
     merged       = requests merged before they were queued / t        (rrqm/s, wrqm/s)
     size         = bytes / requests                                   (rareq-sz, wareq-sz)
   Without requests, await and size have no figure. */
void bn_watched_add_device(const struct bn_reading *from, const struct bn_reading *to,
                           struct bn_watched *out);

/* The name of a figure begins with its subject: the host, its device or the server.  That of a
   figure per transaction ends with BN_WATCHED_PER_TRANSACTION.  Documents, and so the merge of
   several hosts, know the traits of a figure by its name alone: a server may have two thousand
   figures, each in every interval. */
#define BN_WATCHED_HOST            "host_"
#define BN_WATCHED_DEVICE          "device_"
#define BN_WATCHED_SERVER          "server_"
#define BN_WATCHED_PER_TRANSACTION "_per_transaction"

/* The names of the figures of one value of a server; NULL: it has no such figure. */
struct bn_watched_name {
  char *state; /* the value at the end */
  char *rate;  /* the difference, divided by the time between the readings */
  char *part;  /* the difference, divided by the number of transactions */
};

/* Adds the figures of a server; names: [BN_READING_MAX], by value.  Transactions are those of the
   span of v, without those in the grace.  A counter that has not grown has no figure. */
void bn_watched_add_server(const struct bn_watched_name *names, const struct bn_reading *from,
                           const struct bn_reading *to, const struct bn_view *v,
                           struct bn_watched *out);

/* Returns whether a figure of that name is about the server, which all hosts of a run share. */
bool bn_watched_is_shared(const char *name);
/* Validates a figure that another host sent.  Returns whether it is a finite number whose name has
   one of the beginnings above, and only letters, digits and "_-.". */
bool bn_watched_is_valid(const struct bn_watched_figure *f);
/* Sets `out` to the figures of a view that all hosts share, or to the others.  Names stay the
   view's. */
void bn_watched_pick(const struct bn_view *v, bool shared, struct bn_watched *out);
/* Sets `out` to the figures that all hosts share, as the view of one of them has them, for the sum
   of all hosts.  Figures per transaction of that host become those per transaction of all hosts. */
void bn_watched_sum(const struct bn_view *one, const struct bn_view *all, struct bn_watched *out);
/* Returns a copy of n figures with their names in one block, which the caller frees with free(). */
struct bn_watched_figure *bn_watched_copy(const struct bn_watched_figure *from, size_t n);

#endif
