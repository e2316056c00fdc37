/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shortens the text of a document whose totals alone are read, before it is parsed. */
#ifndef BN_MEASURE_SKIP_H
#define BN_MEASURE_SKIP_H

#include <stddef.h>

/* Empties the lists of intervals and of checkpoints of all groups, and puts a text
   (measure/hist_codec.h) in place of each list in `histograms` of the totals, for whose numbers the
   parser needs most of its time.  Line ends stay, so that the parser counts the same lines.  The
   content of the lists of records is not checked.  A list without an end stays, and so does a
   histogram in a form that bench does not write.  Returns the new length. */
size_t bn_skip_to_totals(char *text, size_t len);

#endif
