/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture as a value: panels one above the other, over one x axis.

   Pure.  Whoever makes one says what it shows; study/plot/plotscript.h decides how that looks. */
#ifndef BN_STUDY_CHART_H
#define BN_STUDY_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* What the x axis has. */
enum bn_chart_x {
  BN_CHART_TIME,   /* seconds, from 0 on */
  BN_CHART_RANK,   /* 1 / (1 - q) of the quantile q */
  BN_CHART_NUMBER, /* of an option; the marks are the values */
  BN_CHART_NAME    /* 1, 2, … with a mark each */
};

/* The axis of ranks goes as far as this at least: to 90 %. */
enum { BN_CHART_RANK_LEAST = 10 };

enum bn_chart_y {
  BN_CHART_PER_S,  /* a rate, whose axis begins with 0 */
  BN_CHART_SECONDS /* latencies */
};

enum bn_chart_look {
  BN_CHART_LINE,
  BN_CHART_STEPS, /* a value holds up to the next point */
  BN_CHART_BARS,  /* a line, and at each point a bar from low to high */
  BN_CHART_SPOTS, /* the same without the line */
  BN_CHART_FIT    /* a line without spots */
};

/* A y that is not finite is a gap. */
struct bn_chart_point {
  double x, y, low, high;
};

struct bn_chart_series {
  char *name; /* owned; "": it is not in the legend */
  enum bn_chart_look look;
  unsigned colour;              /* the same number is the same colour in all panels */
  struct bn_chart_point *point; /* owned */
  size_t n, room;
};

struct bn_chart_panel {
  char title[96]; /* what the y axis has, with its unit */
  enum bn_chart_y y;
  struct bn_chart_series *series; /* owned */
  size_t n;
};

struct bn_chart_mark {
  double at;
  char text[48];
};

enum { BN_CHART_PANELS = 2 };

/* All zero is an empty picture.  The texts may come from anybody. */
struct bn_chart {
  char title[256], note[320];
  enum bn_chart_x x;
  char x_title[160];
  struct bn_chart_mark *mark; /* owned; of numbers and names */
  size_t n_marks;
  struct bn_chart_panel panel[BN_CHART_PANELS];
  size_t n_panels;
};

/* The pointer is valid until the next series of the panel.  NULL: out of memory. */
struct bn_chart_series *bn_chart_series(struct bn_chart_panel *p, const char *name,
                                        enum bn_chart_look look, unsigned colour);
/* 0 or -1: out of memory. */
int bn_chart_point(struct bn_chart_series *s, const struct bn_chart_point *point);
int bn_chart_mark(struct bn_chart *c, double at, const char *text);
/* The next panel. */
struct bn_chart_panel *bn_chart_panel(struct bn_chart *c, const char *title, enum bn_chart_y y);
void bn_chart_done(struct bn_chart *c);

#endif
