/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a run: their list, the work of each, and the phase that they have reached together.

   The work of the hosts adds up to that of the run.  A phase is entered once, in order, and an
   order to stop only gets sharper: to end, to end at once. */
#ifndef BN_HOSTS_FLEET_H
#define BN_HOSTS_FLEET_H

#include "hosts/arguments.h"
#include "hosts/connection.h"
#include "hosts/controller.h"
#include "hosts/merged_result.h"
#include "hosts/printer.h"
#include "hosts/stop_signal.h"

enum bn_fleet_phase {
  BN_FLEET_CONNECT, /* until all have welcomed */
  BN_FLEET_OPEN,    /* until all are ready */
  BN_FLEET_CLOCKS,  /* until their clocks are compared */
  BN_FLEET_RUN      /* until all have ended */
};

struct bn_fleet {
  const struct bn_hosts_setup *setup;
  const struct bn_group_list *all;    /* the groups of the command line */
  const struct bn_group_list *groups; /* that take part in place of hosts; may be empty */
  struct bn_arguments_from *from;     /* owned; [n_arguments] */
  /* The command line of all hosts, until the last one is started; of groups that of each. */
  struct bn_arguments *arguments; /* owned */
  size_t n_arguments;
  struct bn_work_split_list list;
  struct bn_connection *connection; /* owned; [list.n] */
  size_t n; /* the hosts that take part: a command may be one of the first host alone */
  uint64_t sessions;
  bool is_run;
  enum bn_fleet_phase phase;
  uint64_t phase_ns; /* when the phase began */
  struct bn_stop_signal stop_signal;
  enum bn_frame_stop stop; /* how the hosts have been told to stop; 0: not yet */
  uint64_t stop_ns;
  int signo;   /* the signal by which the user has stopped them; 0: none */
  bool late;   /* the hosts were told to end at once because they did not end in time */
  bool failed; /* a host was lost, or could not be started */
  bool left;   /* a script has ended the run on a host by os.exit() */
  struct bn_intervals intervals;
  struct bn_sources sources;
  struct bn_printer printer; /* prints and reports */
  struct bn_merged_result_start start;
};

/* all: the groups of the command line, of which `groups` take part; both are empty without --group,
   and stay the caller's.  Lists the hosts of the options, divides the work, and makes the command
   line; starts none.  The files are read here, once: one may be a pipe, and until then signals end
   the process.  -1 and err; *f is then to be done all the same. */
int bn_fleet_make(struct bn_fleet *f, const struct bn_hosts_setup *setup,
                  const struct bn_group_list *all, const struct bn_group_list *groups,
                  struct bn_err *err);
/* Starts the agents of the hosts from number `first` on, and begins the phase BN_FLEET_CONNECT.  A
   host has been started, or it is lost.  -1: err says which host could not be started. */
int bn_fleet_launch(struct bn_fleet *f, size_t first, struct bn_err *err);
/* Ends what is still there of each host's process here. */
void bn_fleet_done(struct bn_fleet *f);

/* Whether groups make the run. */
bool bn_fleet_has_groups(const struct bn_fleet *f);
/* "hosts" or "groups", for messages. */
const char *bn_fleet_parts(const struct bn_fleet *f);
/* Once all groups are ready: counts their sessions, and makes the metrics that they have together.
   Does nothing for hosts.  -1: err says which groups do not fit together. */
int bn_fleet_unite(struct bn_fleet *f, struct bn_err *err);
/* Whether --hosts or --hosts-file is given. */
bool bn_fleet_is_listed(const struct bn_conf *conf);
/* Whether a launcher has sent a signal: it gives the processes that it has started a second. */
bool bn_fleet_is_urged(const struct bn_fleet *f);
void bn_fleet_enter(struct bn_fleet *f, enum bn_fleet_phase phase);
/* Whether all that have not ended their part of a command wait for each other, and none failed. */
bool bn_fleet_have_met(const struct bn_fleet *f);
/* Whether all hosts are that far, or further. */
bool bn_fleet_are(const struct bn_fleet *f, enum bn_connection_state state);
/* Tells those that are there to stop, unless they know. */
void bn_fleet_stop(struct bn_fleet *f, enum bn_frame_stop how, uint64_t now_ns);

#endif
