/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sweep varies: options with their values, all combinations of them, and in which order they
   are run.  Pure. */
#ifndef BN_STUDY_GRID_H
#define BN_STUDY_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/opt.h"
#include "base/buf.h"
#include "base/err.h"

enum { BN_GRID_AXES_MAX = 8, BN_GRID_VALUES_MAX = 1000, BN_GRID_POINTS_MAX = 2000 };

/* One option.  The strings are owned. */
struct bn_grid_axis {
  char *name;   /* "threads" */
  char **value; /* as they are typed: "1", "64K", "uniform" */
  size_t n;
  bool of_data; /* the data that were prepared with another value are of no use; the caller's */
};

/* A point is a combination of values: a number below n_points, of which the value of the first axis
   is the most significant digit.  All zero is a grid without an axis, which has one point. */
struct bn_grid {
  struct bn_grid_axis axis[BN_GRID_AXES_MAX];
  size_t n_axes;
};

/* items: those of --vary, which are parted by commas: "threads=1", "2", "4..64".  An item
   NAME=VALUE begins an axis.  A VALUE of the form A..B, with whole numbers or sizes, stands for A,
   2 A, 4 A and so on up to B, and A..B:STEP for A, A + STEP and so on; B itself is always the last
   value.  -1: err begins with "--vary". */
int bn_grid_read(struct bn_grid *g, const struct bn_list *items, struct bn_err *err);
void bn_grid_done(struct bn_grid *g);

size_t bn_grid_points(const struct bn_grid *g);
/* The index of a point's value of an axis. */
size_t bn_grid_index(const struct bn_grid *g, size_t point, size_t axis);
/* The value itself. */
const char *bn_grid_value(const struct bn_grid *g, size_t point, size_t axis);
/* Adds "threads=16 table-size=1000". */
void bn_grid_name(const struct bn_grid *g, size_t point, struct bn_buf *out);
/* Whether both points need the same data. */
bool bn_grid_same_data(const struct bn_grid *g, size_t a, size_t b);

/* Which point each run is of, repeat after repeat; each repeat has every point once.  The points of
   a repeat are shuffled (Fisher and Yates 1938, in the form of Durstenfeld 1964), by data: those
   that need the same data follow each other, and both the data and the points of the same data are
   shuffled.  The seed decides, whatever the number of repeats is.  ascending: in the first repeat,
   the values of the first axis ascend.  NULL: out of memory; else the caller frees it. */
size_t *bn_grid_order(const struct bn_grid *g, size_t repeats, uint64_t seed, bool ascending);

/* The number that a value is, also of a size; false: it is none. */
bool bn_grid_number(const char *value, double *number);
/* Whether b differs from a in the first axis alone, and its value is the larger number. */
bool bn_grid_beyond(const struct bn_grid *g, size_t a, size_t b);

#endif
