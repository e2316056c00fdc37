/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums what hosts measure: the intervals of one time, which are a round; the checkpoints of one
   time; and once a second, with the ticks, all that the hosts have measured so far.

   It reads no clock and no descriptor: it is given the lines that hosts send, which have the form
   of a journal, and shows a sum when all hosts have sent their part of it.  A host that has ended
   is not waited for.  The last interval of a host ends with the host, and is a part of the round
   that is over next.  In the same way, what a host has counted after its last checkpoint is a part
   of the checkpoint that is shown next, if one is, and not of the final report. */
#ifndef BN_HOSTS_INTERVAL_MERGE_H
#define BN_HOSTS_INTERVAL_MERGE_H

#include <stdbool.h>

#include "hosts/hist_sums.h"
#include "hosts/validate.h"
#include "measure/group_layout.h"
#include "measure/hist_codec.h"
#include "measure/json.h"
#include "measure/merged_view.h"

/* For how many seconds the counts of a host are kept.  If a host is further ahead of the slowest
   one, no rate is known of the second that the slowest one has reached. */
enum { BN_INTERVALS_SECONDS = 64 };

/* How long after its time a host may report, or end, in seconds, and still not count as held up: a
   thread that is not held up wakes within some milliseconds, so this is ample, and is short beside
   the second between two ticks. */
#define BN_INTERVALS_LATE_S 0.1

/* How many events a host has had up to at_s, about the end of a second.  second 0: not known. */
struct bn_intervals_second {
  uint64_t second, events;
  double at_s;
};

struct bn_intervals_host {
  const char *group_name;       /* borrowed, set after init; NULL: there are no groups */
  struct bn_valid_spec spec;    /* the description of its measurements; name NULL: not known yet */
  bool has_ended;               /* no more lines come */
  bool has_last_part;           /* its last interval has come, which ended within a round */
  struct bn_record *record;     /* owned; [ahead]: its round i is at i % ahead */
  uint64_t last_round;          /* the latest whole round that has come; 0: none */
  struct bn_record *check;      /* owned; [n_checks]: its checkpoints that have not been summed */
  size_t last_check;            /* the latest checkpoint that has come; 0: none */
  struct bn_view_counts before; /* up to that checkpoint, or to its end if is_counted */
  struct bn_result *result;     /* borrowed; its result, which counts since then; NULL: none yet */
  bool is_counted;              /* a checkpoint that was shown has what `result` counts */
  bool needs_base;              /* no tick has come after that checkpoint */
  struct bn_snap base;          /* owned; its counters at the first tick after that checkpoint */
  bool has_base;                /* there is a base, and `ticked` is of the time after it */
  struct bn_record tick;        /* owned; its last tick, whose counters are those since the start */
  struct bn_hist_sums ticked;   /* the histograms of all its ticks, or of those after the base */
  uint64_t ticks;               /* how many ticks have come */
  struct bn_intervals_second past[BN_INTERVALS_SECONDS]; /* by second % BN_INTERVALS_SECONDS */
};

/* The last second of which all hosts have sent a tick. */
struct bn_intervals_together {
  uint64_t second;     /* 0: there is none */
  double events_per_s; /* the rate of all hosts from their starts to that second */
};

/* The function that gets the sums. */
struct bn_intervals_output {
  struct bn_view_rules rules;
  struct bn_merge_time start;                       /* of the measurement, on the clocks here */
  void (*show)(void *arg, const struct bn_view *v); /* the view is valid for the call */
  void *arg;
};

struct bn_intervals {
  struct bn_intervals_output out; /* set when the hosts start, before sums are shown */
  struct bn_intervals_host *host; /* owned; [n] */
  size_t n;
  struct bn_hist_codec line;  /* owned; the histograms of the line that was read last */
  struct bn_hist_sums *round; /* owned; [ahead]: the sums of rounds, placed as records are */
  struct bn_hist_sums ticked; /* the histograms of all ticks of all hosts */
  const uint64_t *check_ns;   /* borrowed; [n_checks]: times of checkpoints, ascending */
  size_t n_checks;
  struct bn_hist_sums *check;    /* owned; [n_checks]: the sums of checkpoints */
  struct bn_group_layout layout; /* what groups measure together; owned */
  struct bn_facts errors;        /* the facts about errors that have come with checkpoints */
  size_t next_check;             /* the checkpoint that is summed next; from 1 on */
  double checked_s;              /* when the checkpoint before it was; 0: there was none */
  double length_s;               /* the length of an interval; 0: there are none */
  size_t ahead;                  /* how many rounds a host may be ahead of the slowest */
  uint64_t next_round;           /* the round that is summed next; from 1 on */
  uint64_t next_tick;            /* the tick that is summed next; from 1 on */
  uint64_t longest_ns;           /* the longest event in all ticks, rounded up; 0: no event */
  uint64_t judged_seconds;       /* the last second that was looked at for `together` */
  struct bn_intervals_together together;
};

/* Prepares for that many hosts, whose intervals are length_s long, or 0 for no intervals. */
void bn_intervals_init(struct bn_intervals *r, size_t hosts, double length_s);
/* Expects checkpoints at these n times, which stay the caller's.  Comes right after the init. */
void bn_intervals_set_checkpoints(struct bn_intervals *r, const uint64_t *at_ns, size_t n);
/* Frees all.  *r may also be all zero, without an init. */
void bn_intervals_done(struct bn_intervals *r);
/* Reads the description of what a host measures, as bn_valid_read_spec() does, once before its
   lines.  Returns 0, or -1 and err, which says why it is wrong or cannot be summed with what the
   hosts before it measure; later hosts are not compared with it then. */
int bn_intervals_begin_host(struct bn_intervals *r, size_t host, const struct bn_node *group,
                            const struct bn_facts *facts, struct bn_err *err);
/* Makes the metrics that all groups have together, once all have begun, before their lines.  Hosts
   of one group stand together.  Returns 0, or -1 and err, which says which groups do not fit
   together. */
int bn_intervals_unite_groups(struct bn_intervals *r, struct bn_err *err);
/* Returns the description of what a host measures, or NULL if it has not begun. */
const struct bn_valid_spec *bn_intervals_get_spec(const struct bn_intervals *r, size_t host);
/* Returns the metrics of the sums: those of all groups, or those of the first host that has begun.
   NULL: none has. */
const struct bn_metrics *bn_intervals_get_metrics(const struct bn_intervals *r);
/* Takes a line of a host.  Returns 0, or -1 and err, which says why it cannot be taken. */
int bn_intervals_take_line(struct bn_intervals *r, size_t host, const char *line, size_t len,
                           struct bn_err *err);
/* Notes that no more lines come from a host, so that it is not waited for. */
void bn_intervals_end_host(struct bn_intervals *r, size_t host);
/* Keeps the result of a host that has ended, for the checkpoints that are shown after its end.  The
   result stays the caller's.  NULL: none is known. */
void bn_intervals_keep_result(struct bn_intervals *r, size_t host, struct bn_result *result);
/* Subtracts from each result that was kept what a checkpoint has counted of it.  Figures that only
   totals have, such as the arrivals and the events that have not ended, stay.  Comes once, after
   the last bn_intervals_show_next(). */
void bn_intervals_drop_counted(const struct bn_intervals *r);
/* Returns all that a host has measured by its last tick, or NULL if there was none. */
const struct bn_view *bn_intervals_get_last_tick(const struct bn_intervals *r, size_t host);
/* Makes a result of what a host has measured since its last checkpoint, as known by its ticks. *out
   has the facts of the host, and gets the group.  Returns 1, or 0 if no tick is of that time, or -1
   and err if the ticks make no sense. */
int bn_intervals_make_result(const struct bn_intervals *r, size_t host, struct bn_result *out,
                             struct bn_err *err);
/* Sums and shows the next round, checkpoint or tick of which each host has sent its part or has
   ended.  Returns 1, or 0 if none is complete, or -1 and err if one cannot be summed: it is left
   out. */
int bn_intervals_show_next(struct bn_intervals *r, struct bn_err *err);

/* For interval_merge.c alone. */

/* Clears the figures of an instant, such as the backlog, because the record is summed with records
   of a later time. */
void bn_intervals_drop_state(struct bn_record *record);
/* Adds the results of hosts that have ended to the next checkpoint, which was reached at at_s, and
   to the list of its parts, which has room for them. */
void bn_intervals_add_results(struct bn_intervals *r, double at_s, struct bn_views *parts);

#endif
