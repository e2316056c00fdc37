/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the text report.  Texts of a server, a script or a document are escaped. */
#ifndef BN_REPORT_TEXT_PARTS_H
#define BN_REPORT_TEXT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "measure/facts.h"
#include "measure/result.h"
#include "measure/view.h"
#include "report/text/templates.h"

/* --- heading.c --- */

/* Prints when the run started and how to repeat it, if both are known: a stored result knows them,
   a run that begins does not. */
void bn_text_print_repetition(FILE *out, const struct bn_facts *f);
/* Prints the options of the run that the version of the dialect names. */
void bn_text_print_plan(FILE *out, const struct bn_facts *f, const struct bn_dialect *d);
/* Prints how the bytes of connections travel, the driver, the server and its tables, as far as they
   were known when the load began; nothing if the driver was not. */
void bn_text_print_database(FILE *out, const struct bn_facts *f);

/* --- errors.c --- */

/* Prints a table of the errors of a view, the most frequent one first; nothing without errors.  f
   has their classes and messages. */
void bn_text_print_errors(FILE *out, const struct bn_facts *f, const struct bn_view *v);
/* Prints a table of the threads that failed while other threads went on: for each kind of failure,
   when it first occurred, and why.  Prints nothing if no thread failed. */
void bn_text_print_failures(FILE *out, const struct bn_facts *f, const struct bn_view *v);
/* Prints the warnings of the run, which name what may spoil its figures; nothing without any. */
void bn_text_print_warnings(FILE *out, const struct bn_facts *f);

/* --- tables.c --- */

/* The indices of a view's percentiles in the ascending order of their ranks. */
struct bn_text_ranks {
  size_t n, at[BN_PERCENTS_MAX];
};
/* Returns the indices, one for each rank, although a document may have a rank twice. */
struct bn_text_ranks bn_text_sort_ranks(const struct bn_view *v);
/* Prints the statements of --statements, those with the most time first; nothing if there are
   none. */
void bn_text_print_statements(FILE *out, const struct bn_view *v);
/* Prints the kinds of events, in the order of the script, and the groups; nothing if there are
   none. */
void bn_text_print_event_kinds(FILE *out, const struct bn_view *v);
/* Prints the phases that began, and how long it took to recover from them; nothing if there are
   none.  group: the escaped name of the group that they are of; NULL: they are of the run. */
void bn_text_print_phases(FILE *out, const struct bn_view *v, const char *group);
/* Prints the rest of the line of a kind of events in an interval, after the stamp: its rate, the
   greatest percentile if there is one, and its losses. */
void bn_text_print_event_kind(FILE *out, const struct bn_view *v, const struct bn_event_kind *k);

/* --- members.c --- */

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

/* --- watched.c --- */

/* The lines under an interval: of the host, its device, and the server. */
enum { BN_TEXT_WATCHED_LINES = 3 };
/* Prints the section "Watched" of a full report, or nothing if nothing was watched. */
void bn_text_print_watched(const struct bn_view *v, FILE *out);
/* Prints tables of the figures of each host, with a line for each of the n groups, which all have a
   member; nothing if no host was watched. */
void bn_text_print_watched_members(const struct bn_group *g, size_t n, FILE *out);
/* Adds the line i < BN_TEXT_WATCHED_LINES under an interval, without its stamp.  Returns false, and
   adds nothing, if the view has no figure for the line. */
bool bn_text_add_watched_line(const struct bn_view *v, size_t i, struct bn_buf *out);

#endif
