/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of groups that make a run together (--group): the rows of all their tables, and for
   each group those of a kind of events, which is the group.

   Groups have different scripts, of which some run with --rate, so their tables differ.  A record
   of a group that has been given the rows of all can be summed like that of a host. */
#ifndef BN_MEASURE_GROUP_LAYOUT_H
#define BN_MEASURE_GROUP_LAYOUT_H

#include "base/err.h"
#include "measure/hist_codec.h"
#include "measure/result.h"

/* What a group measures by itself. */
struct bn_group_part {
  const char *name;
  const struct bn_metrics *metrics;
  bool paced; /* --rate */
};

/* The rows of a group that the rows of all groups are taken from; or one of these. */
enum { BN_ROW_NONE = -1, BN_ROW_ZEROS = -2 };
struct bn_group_rows {
  int *counter, *hist, *labelled; /* owned: for each row of all groups */
  bool paced;
  bool waits; /* it tells queueing apart */
};

/* All zero: the parts of the run are no groups. */
struct bn_group_layout {
  struct bn_metrics all;       /* owned */
  struct bn_group_rows *group; /* owned; [n] */
  size_t n;
  bool paced; /* a group has --rate */
};

/* -1: err names the groups whose metrics of one name differ, or says that there are too many. */
int bn_group_layout_make(struct bn_group_layout *l, const struct bn_group_part *part, size_t n,
                         struct bn_err *err);
void bn_group_layout_done(struct bn_group_layout *l);
/* Gives a record of group i the rows of all groups; those that it does not have are 0.  Its events
   are those of the group. */
void bn_group_layout_record(const struct bn_group_layout *l, size_t i, struct bn_record *r);
/* The same for the histograms of a line. */
void bn_group_layout_line(const struct bn_group_layout *l, size_t i, struct bn_hist_codec *line);

#endif
