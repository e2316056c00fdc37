/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run as a value: its facts, the measurements, and how it ended. */
#ifndef BN_MEASURE_RESULT_H
#define BN_MEASURE_RESULT_H

#include "measure/facts.h"
#include "measure/view.h"

/* A view with memory of its own. */
struct bn_record {
  struct bn_view view; /* points into the members below */
  struct bn_snap delta;
  struct bn_view_store store;
  struct bn_hist *ages;              /* owned; NULL: none */
  char *figure_names;                /* owned: the keys and texts of the figures */
  char *lines;                       /* owned; the view's; NULL: none */
  struct bn_watched_figure *watched; /* owned: one block with their names; NULL: none */
};

/* A host of a run on several hosts, or a group (--group), or a group on one host. */
struct bn_member {
  char *host;  /* owned; the host as the user named it; if the member is a group that is not on one
                  host, the name of the group */
  char *group; /* owned; the group on the host; NULL: the member is all of a host or group */
  char *lost;  /* owned; how it was lost, in words; NULL: it was not */
  unsigned threads;
  double processor_s;   /* processor time of its process; HUGE_VAL: not known */
  double clock_error_s; /* how far its clock may differ from those of other hosts */
  double start_lag_s;   /* how long after the agreed time it started; HUGE_VAL: not known */
  double time_s;        /* how long its events counted; HUGE_VAL: not known */
};

/* The section of facts about the hosts of a run, and its keys: the time in which the events of all
   hosts counted; and, if they are known for whole seconds, the rate of all hosts together up to the
   last second in which all of them were there, and the number of that second. */
#define BN_HOSTS_SECTION "hosts"
#define BN_HOSTS_TIME    "together_s"
#define BN_HOSTS_RATE    "together_events_per_s"
#define BN_HOSTS_SECONDS "together_seconds"

/* The measurements of sessions that belong together: one workload, on one host or on all. */
struct bn_group {
  char *name; /* the workload's */
  /* owned; NULL: of the whole run.  The first group is of the whole run, and those of its hosts
     come after it.  With groups on hosts, the sum of each group comes first, and then the parts of
     each group on its hosts. */
  struct bn_member *member;
  struct bn_record *interval, *checkpoint;
  size_t n_intervals, n_checkpoints;
  struct bn_record total;
  bool has_total;
  uint64_t bytes; /* of memory that the intervals and checkpoints take */
  bool packs;     /* intervals keep their histograms, in the sparse form */
  bool bare;      /* the total keeps no histograms */
};

/* Why a run ended: the first reason that applies, from BN_END_SIGNAL on, else one of the reasons
   before it.  A member of struct bn_end that says the same is in parentheses. */
enum bn_end_reason {
  BN_END_UNKNOWN,
  BN_END_TIME,     /* the time limit */
  BN_END_EVENTS,   /* the limit of events */
  BN_END_DONE,     /* there was no more to do: a test with an amount of work, a script's own loop */
  BN_END_SIGNAL,   /* a signal ended it (signo) */
  BN_END_TIMEOUT,  /* it was ended by force (timeout) */
  BN_END_SCRIPT,   /* a script ended it (left) */
  BN_END_OVERLOAD, /* it was overloaded, and that ends such a run (overload) */
  BN_END_FAILURE,  /* something failed (failed) */
  BN_END_KILLED,   /* the process was killed (partial) */
  BN_END_ASSERTION /* an assertion was violated for too long */
};

/* How a run ended. */
struct bn_end {
  enum bn_end_reason reason;
  int status;                              /* exit status */
  int signo;                               /* the signal that ended it; 0: none */
  bool failed;                             /* a worker, command or report failed */
  bool timeout;                            /* forced shutdown, or the time grace was used up */
  bool left;                               /* a script called os.exit() */
  bool early;                              /* it ended while events could begin */
  bool overload;                           /* --rate: the backlog was above --rate-max-backlog */
  bool partial;                            /* the process was killed: read from a journal */
  bool replaced_intervals, replaced_total; /* a script's hook printed those reports */
};

struct bn_result {
  struct bn_facts facts;
  struct bn_group *group;
  size_t n_groups;
  struct bn_end end;
};

/* Makes a record of all that a view has, with its histograms. */
void bn_record_copy(struct bn_record *r, const struct bn_view *v);
/* Replaces the watched figures of a record by a copy of n others. */
void bn_record_set_watched(struct bn_record *r, const struct bn_watched_figure *figure, size_t n);
void bn_record_done(struct bn_record *r);

/* Appends a group without records, and returns it.  It is valid until the next one is added. */
struct bn_group *bn_result_add_group(struct bn_result *r, const char *name);
/* Returns the total of all sessions, which is that of the first group, or NULL if there is none. */
const struct bn_view *bn_result_total(const struct bn_result *r);
/* Returns whether the run has ended in its warm-up, so that its total is that of the warm-up.  The
   result has a total. */
bool bn_result_ended_in_warmup(const struct bn_result *r);
/* Appends a group of one host, with copies of m and, unless v is NULL, of its total, without
   histograms. */
void bn_result_add_member(struct bn_result *r, const char *name, const struct bn_member *m,
                          const struct bn_view *v);
/* Keeps a copy of a view among the intervals, the checkpoints, or as the total, by its span; a tick
   is a total so far.  The total has histograms unless the group is bare; an interval has no
   sessions, and histograms only if they are sparse already or the group packs them. */
void bn_group_add_view(struct bn_group *g, const struct bn_view *v);
/* Points the plan at the metrics that the records of the first group are of, once the last record
   was added. */
void bn_result_find_metrics(struct bn_result *r);
/* Escapes the characters of rows, assertions, hosts and a script's lines that a terminal would act
   on (base/escape.h), for a result that comes from a file.  Rows keep their newlines. */
void bn_result_escape(struct bn_result *r);
/* Returns the bytes that a text takes with its final 0, or 0 for NULL. */
size_t bn_result_text_size(const char *text);
/* Copies a text to *at, moves *at past it, and returns the copy.  For NULL it copies nothing, and
   returns NULL. */
const char *bn_result_copy_text(char **at, const char *text);
void bn_result_done(struct bn_result *r);

#endif
