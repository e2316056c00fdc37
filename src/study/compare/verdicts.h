/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison in a form for people or for programs. */
#ifndef BN_STUDY_VERDICTS_H
#define BN_STUDY_VERDICTS_H

#include "base/buf.h"
#include "study/compare/comparison.h"
#include "study/compare/differ.h"

/* All that is printed; borrowed. */
struct bn_verdicts {
  const char *name[2]; /* of the files or folders of A and B */
  const struct bn_side *side[2];
  const struct bn_side_figures *figures;
  const struct bn_differences *differences;
  const struct bn_points *points;
  const struct bn_comparison *comparison;
  const struct bn_comparison_rules *rules;
};

/* What is said of a row in a few words: "worse", "cannot tell: needs 3 more pairs".  Returns out.
 */
const char *bn_verdicts_say(const struct bn_verdicts *v, const struct bn_comparison_point *p,
                            const struct bn_comparison_row *row, char *out, size_t size);
/* Adds a text for a terminal, or one in Markdown; all that stands in files is escaped. */
void bn_verdicts_print(const struct bn_verdicts *v, bool markdown, struct bn_buf *out);
/* A document; NULL: out of memory. */
struct bn_node *bn_verdicts_document(const struct bn_verdicts *v, const struct bn_store *js);

#endif
