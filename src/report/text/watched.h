/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the text report about what was watched beside the run. */
#ifndef BN_REPORT_TEXT_WATCHED_H
#define BN_REPORT_TEXT_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "measure/result.h"

/* The lines under an interval: of the host, its device, and the server. */
enum { BN_TEXT_WATCHED_LINES = 3 };

/* Prints the section "Watched" of a full report, or nothing if nothing was watched. */
void bn_text_print_watched(const struct bn_view *v, FILE *out);
/* Prints tables of the figures of each host, with a line for each of the n groups, which all have a
   member; nothing if no host was watched. */
void bn_text_print_watched_members(const struct bn_group *g, size_t n, FILE *out);
/* Formats line i under an interval, without its stamp, as far as it fits.  Returns false if the
   view has no figure for the line, which is then not to be printed. */
bool bn_text_format_watched_line(const struct bn_view *v, size_t i, char *out, size_t size);

#endif
