/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands by which gnuplot draws a chart, with the data.

   Pure.  Texts of the chart stand in single quotes, in which gnuplot substitutes nothing, without
   single quotes and control characters of their own, so that no text can be a command.  Colours are
   those of Okabe and Ito (M. Okabe, K. Ito: Color Universal Design, 2008), which colour-blind
   people tell apart. */
#ifndef BN_STUDY_PLOTSCRIPT_H
#define BN_STUDY_PLOTSCRIPT_H

#include "base/buf.h"
#include "study/plot/chart.h"

enum bn_plot_form { BN_PLOT_TEXT, BN_PLOT_SVG, BN_PLOT_PNG };

struct bn_canvas {
  enum bn_plot_form form;
  unsigned columns, rows; /* of text */
};

/* How many rows a text of so many columns should have. */
unsigned bn_plotscript_rows(const struct bn_chart *c);
/* Appends the commands.  0 or -1: out of memory. */
int bn_plotscript(struct bn_buf *out, const struct bn_chart *c, const struct bn_canvas *canvas);

#endif
