/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has a chart drawn by gnuplot, as a child process. */
#ifndef BN_STUDY_GNUPLOT_H
#define BN_STUDY_GNUPLOT_H

#include "study/child.h"
#include "study/plot/plotscript.h"

/* The picture, whole.  -1 and err: gnuplot is not there, or says that it cannot; err->code EINTR: a
   signal came, which is in `c`. */
int bn_gnuplot(struct bn_children *c, const struct bn_chart *chart, const struct bn_canvas *canvas,
               struct bn_buf *picture, struct bn_err *err);
/* -1 and err: gnuplot is not in PATH. */
int bn_gnuplot_check(struct bn_err *err);

#endif
