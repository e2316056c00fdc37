/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the hosts of a run. */
#ifndef BN_REPORT_TEXT_MEMBERS_H
#define BN_REPORT_TEXT_MEMBERS_H

#include <stdio.h>

#include "measure/result.h"

enum { BN_TEXT_MEMBER = 768 };
/* Writes the name of a member for a terminal, "HOST/GROUP" of a group on a host.  Returns name. */
const char *bn_text_format_member(char name[BN_TEXT_MEMBER], const struct bn_member *m);
/* Returns how many of the n members are sums of groups over hosts, which come first. */
size_t bn_text_count_sums(const struct bn_group *g, size_t n);
/* Prints a heading, a line for each of the n groups, which all have a member, and how long all
   hosts ran together if that is clearly less than span_s, the time of the report.  f: the facts of
   the run.  out NULL: logs the lines to standard error, because a dialect's report has no such
   table. */
void bn_text_print_members(FILE *out, const struct bn_group *g, size_t n, const struct bn_facts *f,
                           double span_s);

#endif
