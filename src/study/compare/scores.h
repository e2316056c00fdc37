/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How two folders of `bench sweep --from=FILE` compare, sweep by sweep: two machines, for example.

   The score of a point is the median of a figure over the runs of the point.  The relative score is
   that of B divided by that of A, or the other way round where less is better: more than 1 is
   always better.  Scores of several points or sweeps have a geometric mean (Fleming and Wallace,
   How not to lie with statistics: the correct way to summarize benchmark results, Communications of
   the ACM 29, 1986): it is the same whichever side the scores are relative to.  Scores are not
   tested: nothing is said about chance. */
#ifndef BN_STUDY_SCORES_H
#define BN_STUDY_SCORES_H

#include "base/buf.h"
#include "study/compare/differ.h"
#include "study/compare/side.h"

/* Of the points that both sides have measured.  Strings are owned. */
struct bn_score {
  char *name;            /* of the folder of the sweep */
  size_t n_points;       /* 0: there is none */
  double a, b;           /* the best of each side, in the unit of the figure */
  char *best_a, *best_b; /* their points, "threads=4", escaped; "": there is one only */
  double first, last;    /* relative scores of the first and of the last point */
  double best;           /* of the best of each side */
  double mean;           /* geometric, over the points */
  double spread; /* the median, over points and sides with two runs or more, of the difference
                    between the largest and the least value, as a share of the median; NaN: no
                    point has two runs */
};

struct bn_scores {
  struct bn_score *row; /* owned */
  size_t n;
  char **only[2]; /* owned: names of sweeps that only A, or only B, has */
  size_t n_only[2];
  struct bn_differences differences; /* of all sweeps, each once */
  size_t n_scored;                   /* sweeps with points */
  double mean;                       /* geometric, over those */
};

/* Whether the folder has folders of sweeps, and no results of its own. */
bool bn_scores_apply(const char *folder);
/* figures: its first is looked at.  -1 and err; bn_scores_done() in any case. */
int bn_scores_make(const struct bn_store *js, const char *const name[2],
                   struct bn_side_figures *figures, struct bn_scores *out, struct bn_err *err);
void bn_scores_done(struct bn_scores *s);

/* Adds a text for a terminal, or one in Markdown; all that stands in files is escaped. */
void bn_scores_print(const struct bn_scores *s, const char *const name[2],
                     const struct bn_figure_name *figure, bool markdown, struct bn_buf *out);
/* A document; NULL: out of memory. */
struct bn_node *bn_scores_document(const struct bn_scores *s, const char *const name[2],
                                   const struct bn_figure_name *figure, const struct bn_store *js);

#endif
