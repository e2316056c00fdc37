/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two sides of a comparison differ in besides what was measured.

   Pure. */
#ifndef BN_STUDY_DIFFER_H
#define BN_STUDY_DIFFER_H

#include "study/compare/side.h"
#include "study/points.h"

/* All strings are owned. */
struct bn_difference {
  char *what;  /* "host cpu_model", "--table-size" */
  char *a, *b; /* the values, with commas between them */
};

struct bn_differences {
  struct bn_difference *row; /* owned */
  size_t n;
};

/* Facts about the program, the workload, the host and the server, and options that do not make
   points.  Runs that are left out do not count.  -1: out of memory; bn_differences_done() is to be
   called in any case. */
int bn_differ(const struct bn_side *a, const struct bn_side *b, const struct bn_points *points,
              struct bn_differences *out, struct bn_err *err);
void bn_differences_done(struct bn_differences *d);

/* Adds them as lines for a terminal, or as a table of Markdown; nothing if there are none. */
void bn_differences_print(const struct bn_differences *d, bool markdown, struct bn_buf *out);
/* A list of {"name", "a", "b"}; NULL: out of memory. */
struct bn_node *bn_differences_document(const struct bn_differences *d, const struct bn_store *js);

#endif
