/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the text report prints what was watched beside the run. */
#ifndef BN_REPORT_TEXT_WATCHED_H
#define BN_REPORT_TEXT_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "measure/result.h"

enum { BN_WATCHED_LINES = 3 };

/* The part of a full report; nothing was watched: nothing. */
void bn_watched_print(const struct bn_view *v, FILE *out);
/* Tables of what was watched on each host, with a line for each of the groups, which have a member;
   nothing was watched there: nothing. */
void bn_watched_members(const struct bn_group *g, size_t n, FILE *out);
/* Line i under an interval, without its stamp; false: that was not watched. */
bool bn_watched_line(const struct bn_view *v, size_t i, char *out, size_t size);

#endif
