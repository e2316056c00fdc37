/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a run: their list, the work of each, and the phase that they have reached together.

   With groups, there is a process for each group, or for each group on each host that has threads
   of it; what is said of hosts below holds for these processes.

   The work of the hosts adds up to that of the run.  A phase is entered once, in order, and an
   order to stop only gets sharper: to end, to end at once. */
#ifndef BN_HOSTS_FLEET_H
#define BN_HOSTS_FLEET_H

#include "hosts/arguments.h"
#include "hosts/connection.h"
#include "hosts/controller.h"
#include "hosts/group_work.h"
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
  const struct bn_group_list *groups; /* those that take part; may be empty */
  struct bn_group_work *group_work;   /* owned: of each group, or one without groups */
  /* owned; [n_arguments]: the command line of all hosts, or of each group, until all are started */
  struct bn_arguments *arguments;
  size_t n_arguments;
  struct bn_work_split_list list;   /* of hosts; empty: groups run here */
  struct bn_connection *connection; /* owned; [n_all]: to hosts, to groups, or to groups on hosts */
  size_t n_all;
  size_t n; /* how many of them take part: a command may be executed by the first one alone */
  uint64_t sessions; /* of all of them */
  bool is_run;
  enum bn_fleet_phase phase;
  uint64_t phase_ns; /* when the phase began */
  struct bn_stop_signal stop_signal;
  enum bn_frame_stop stop; /* how the hosts have been told to stop; 0: not yet */
  uint64_t stop_ns;
  int signo;          /* the signal by which the user has stopped them; 0: none */
  bool late;          /* the hosts were told to end at once because they did not end in time */
  bool failed;        /* the run or the command has failed */
  bool script_exited; /* a script has ended the run on a host by os.exit() */
  struct bn_intervals intervals;
  struct bn_sources sources;
  struct bn_printer printer;  /* prints and reports */
  struct bn_remote_line line; /* of standard output; used by the thread of the printer */
  struct bn_merged_result_start start;
};

/* Lists the hosts, divides the work, makes the command lines and reads the files for the hosts, but
   starts none.  `all` has the groups of the command line, of which `groups` take part; both are
   empty without --group, and stay the caller's.  Starts to receive signals last.  Until then, a
   signal ends the process, because a file may be a pipe from which nothing comes.  Returns 0, or -1
   and err; bn_fleet_done() follows in both cases. */
int bn_fleet_init(struct bn_fleet *f, const struct bn_hosts_setup *setup,
                  const struct bn_group_list *all, const struct bn_group_list *groups,
                  struct bn_err *err);
/* Starts the agents of the hosts from number `first` on, and begins the phase BN_FLEET_CONNECT.  If
   a host cannot be started, that host and the hosts after it are lost, and the run has failed. */
void bn_fleet_launch(struct bn_fleet *f, size_t first);
/* Kills the processes of hosts here that have not ended, and frees all. */
void bn_fleet_done(struct bn_fleet *f);

/* Returns whether groups take part. */
bool bn_fleet_has_groups(const struct bn_fleet *f);
/* Returns "hosts", "groups", or "processes" of groups on hosts, for messages. */
const char *bn_fleet_name_parts(const struct bn_fleet *f);
/* Counts the sessions of all groups, and makes the metrics that they have together, once all are
   ready.  Does nothing without groups.  Returns 0, or -1 and err, which says which groups do not
   fit together. */
int bn_fleet_unite_groups(struct bn_fleet *f, struct bn_err *err);
/* Returns whether a launcher has sent a signal, after which it gives the processes that it has
   started one second. */
bool bn_fleet_is_urged(const struct bn_fleet *f);
/* Begins a phase now. */
void bn_fleet_enter_phase(struct bn_fleet *f, enum bn_fleet_phase phase);
/* Returns whether the sessions of all hosts wait for each other in a command.  Hosts that have
   ended it with success are not waited for.  False: a host has failed, or none waits. */
bool bn_fleet_have_met(const struct bn_fleet *f);
/* Returns whether all hosts have reached the state or a later one. */
bool bn_fleet_have_reached(const struct bn_fleet *f, enum bn_connection_state state);
/* Prints why the run has failed, and sets f->failed: bn_liveness_settle() stops the hosts then, as
   after the loss of one. */
void bn_fleet_fail(struct bn_fleet *f, const struct bn_err *err);
/* Tells the hosts that have not ended to stop, unless they were told so as firmly before. */
void bn_fleet_stop(struct bn_fleet *f, enum bn_frame_stop how, uint64_t now_ns);

#endif
