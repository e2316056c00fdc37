/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaves records out of the text of a document before it is parsed. */
#ifndef BN_MEASURE_SKIP_H
#define BN_MEASURE_SKIP_H

#include <stddef.h>

/* Empties the lists of intervals and of checkpoints of all groups.  Line ends stay, so that the
   parser counts the same lines.  The content of the lists is not checked; a list without an end
   stays.  Returns the new length. */
size_t bn_skip_records(char *text, size_t len);

#endif
