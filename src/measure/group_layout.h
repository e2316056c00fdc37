/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of groups that make a run together (--group): one table with the rows of the tables
   of all groups, and with the rows of one kind of events for each group.

   Groups have different scripts, of which some run with --rate, so their tables differ.  A record
   of a group that has been given the rows of all groups can be summed like that of a host. */
#ifndef BN_MEASURE_GROUP_LAYOUT_H
#define BN_MEASURE_GROUP_LAYOUT_H

#include "base/err.h"
#include "measure/hist_codec.h"
#include "measure/result.h"

/* The metrics of a group, or of its part on a host.  The parts of one group have the same
   metrics, and stand together. */
struct bn_group_part {
  const char *name;
  const struct bn_metrics *metrics;
};

/* These stand for the index of a row that the group does not have: a row that counts nothing, or a
   histogram that has a time of 0 for each event. */
enum { BN_ROW_NONE = -1, BN_ROW_ZEROS = -2 };

/* For each row of the table of all groups: the index of the row of this group that it gets its
   values from, BN_ROW_NONE or BN_ROW_ZEROS. */
struct bn_group_rows {
  int *counter, *hist, *labelled; /* owned */
  bool lacks_waiting;             /* other groups have --rate, and this one has not */
};

/* All zero: the parts of the run are no groups. */
struct bn_group_layout {
  struct bn_metrics all;       /* owned: the rows of all groups */
  struct bn_group_rows *group; /* owned; [n]: of each part */
  size_t n;
};

/* Joins the tables of n groups or parts of groups, whose names and metrics are not needed
   afterwards.  Returns 0, or -1 and err, which names two groups whose metrics of one name differ,
   or says that there are too many metrics, or that some lack others. */
int bn_group_layout_make(struct bn_group_layout *l, const struct bn_group_part *part, size_t n,
                         struct bn_err *err);
void bn_group_layout_done(struct bn_group_layout *l);
/* Replaces the rows of a record of part i, a group or its part on a host, by those of all groups.
   The record has the metrics of the group.  A row that the group lacks counts nothing.  All events
   of the record also count as events of the kind that stands for the group. */
void bn_group_layout_convert_record(const struct bn_group_layout *l, size_t i, struct bn_record *r);
/* Puts the histograms of a line of part i in the order of the histograms of all groups.  line->part
   is replaced. */
void bn_group_layout_convert_line(const struct bn_group_layout *l, size_t i,
                                  struct bn_hist_codec *line);

#endif
