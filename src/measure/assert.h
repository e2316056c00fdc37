/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads assertions about a result, such as "p99@read<2ms", and judges a view by them.

   An assertion is METRIC [@PART] OP LIMIT [UNIT]: a percentile pN, min, avg, median or max of a
   latency, a short name such as tps, or a name of bn_view_fields; the operators are <, <=, > and
   >=.  PART is event:NAME for a kind of events, group:NAME for a group, or phase:NUMBER for a phase
   of a profile; such parts have some figures besides latencies.  Any other PART is the name of a
   latency, or with --statements the name of a statement. */
#ifndef BN_MEASURE_ASSERT_H
#define BN_MEASURE_ASSERT_H

#include "base/buf.h"
#include "base/err.h"
#include "measure/facts.h"
#include "measure/view.h"

enum { BN_ASSERTS_MAX = 64, BN_ASSERT_NAME = 64 };

enum bn_assert_what {
  BN_ASSERT_FIELD,  /* of a view, by its name */
  BN_ASSERT_ERRORS, /* errors in percent: the share of all attempts that ended in an error */
  BN_ASSERT_KIND,   /* a figure of a kind of events, or of a phase, that is no latency */
  BN_ASSERT_PROOF,  /* the proof sheet of a script, which no view has: see engine/asserts.h */
  BN_ASSERT_RANK,   /* a percentile; this and all that follow are of latencies */
  BN_ASSERT_MIN,
  BN_ASSERT_AVG,
  BN_ASSERT_MEDIAN,
  BN_ASSERT_MAX
};

enum bn_assert_op { BN_ASSERT_LT, BN_ASSERT_LE, BN_ASSERT_GT, BN_ASSERT_GE };

struct bn_assert {
  const char *text; /* as typed; borrowed */
  enum bn_assert_what what;
  double rank;                       /* of a percentile */
  const struct bn_view_field *field; /* NULL: a percentile */
  char part[BN_ASSERT_NAME];         /* the name of the part, as typed; "": all events */
  enum bn_assert_op op;
  double limit;     /* in its unit */
  const char *unit; /* as in documents: "ms", "%", "1/s" */
  double scale;     /* the figure of the view times this is in that unit */
};

/* Reads an assertion, which keeps the text.  Returns 0, or -1 and err, which says what is wrong
   with the text without repeating it; its code is ENOENT if no metric has that name. */
int bn_assert_parse(struct bn_assert *out, const char *text, struct bn_err *err);
/* As bn_assert_parse().  Reads also "proof", which asserts that no line of the proof sheet of a
   script is violated. */
int bn_assert_parse_option(struct bn_assert *out, const char *text, struct bn_err *err);
/* As bn_assert_parse() for METRIC [@PART] without a comparison and a limit.  Its unit is that of
   documents: latencies are in s. */
int bn_assert_parse_metric(struct bn_assert *out, const char *text, struct bn_err *err);
/* Adds all names of metrics, separated by commas. */
void bn_assert_list_names(struct bn_buf *out);

/* The properties of a run that are known before it starts. */
struct bn_assert_scope {
  const struct bn_metrics *metrics;
  unsigned kinds;  /* 1 << enum bn_kind of each that it may turn out to be */
  bool paced;      /* --rate */
  bool native;     /* bench's own form */
  bool statements; /* --statements: latencies may be those of names that are not known yet */
  bool proves;     /* a script makes a proof sheet */
};

/* Returns 0, or -1 and err, which says why the run will not measure what is asserted. */
int bn_assert_check(const struct bn_assert *a, const struct bn_assert_scope *scope,
                    struct bn_err *err);

/* Returns whether the figure is a latency, of all events or of a part of them. */
bool bn_assert_is_latency(const struct bn_assert *a);
/* Returns whether the figure is a percentile of a latency, such as the median. */
bool bn_assert_is_percentile(const struct bn_assert *a);
/* Returns whether the figure is the share of the events that a kind of them has. */
bool bn_assert_is_share(const struct bn_assert *a);
/* Returns the index of the histogram of the events or part that the assertion is about, or n_hists
   if the run does not have it. */
size_t bn_assert_find_hist(const struct bn_assert *a, const struct bn_metrics *m);

/* Judges the total of a run (v NULL: nothing was measured), which was filled with these rules.
   Without histograms, as in a stored result, only the percentiles in the view's list are known.  An
   assertion about a proof sheet is not measured, because no view has one. */
struct bn_finding bn_assert_judge(const struct bn_assert *a, const struct bn_view *v,
                                  const struct bn_view_rules *rules);

/* The judgement of a view of about a second.  BN_SECOND_UNKNOWN: the metric is of a whole run (a
   count, or a figure of a phase), or nothing was measured for it in the second.  While no event
   ends, the upper limit of a latency is violated once an event has been in flight for longer. */
enum bn_assert_second { BN_SECOND_HOLDS, BN_SECOND_VIOLATED, BN_SECOND_UNKNOWN };
enum bn_assert_second bn_assert_judge_second(const struct bn_assert *a, const struct bn_view *v,
                                             const struct bn_view_rules *rules);

/* Prints what was found: "63.10 ms", "at least 63.10 ms" or "not measured".  Returns out. */
const char *bn_assert_format(const struct bn_verdict *v, char *out, size_t size);

#endif
