/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the text report about what was watched beside the run. */
#ifndef BN_REPORT_TEXT_WATCHED_H
#define BN_REPORT_TEXT_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "measure/result.h"

enum { BN_WATCHED_LINES = 3 };

/* Prints the part of a full report; prints nothing if nothing was watched. */
void bn_watched_print(const struct bn_view *v, FILE *out);
/* Prints tables of the figures of each host, with a line for each group (which has a member);
   prints nothing if no host was watched. */
void bn_watched_members(const struct bn_group *g, size_t n, FILE *out);
/* Formats line i under an interval, without its stamp; false: nothing of it was watched. */
bool bn_watched_line(const struct bn_view *v, size_t i, char *out, size_t size);

#endif
