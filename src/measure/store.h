/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The durable form of a result: a JSON document, and a journal while the run lasts.

   Document, version 2:

     {"format": "bench result", "version": 2,
      "facts":  {"plan": {…}, "rows": […], "options": […], "messages": […],
                 "times": {…}, SECTION: {KEY: VALUE}},
      "groups": [{"name": …, "metrics": […], "intervals": [RECORD], "checkpoints": [RECORD],
                  "total": RECORD}],
      "assertions": [{"text": …, "value": …, "unit": …, "at_least": …, "holds": …,
                      "ended_run": …}],
      "end":    {…}}

   "assertions" is there if the run had some and came to its final report.  The first group holds
   all sessions.  A run on several hosts has a group of each host behind it, with

      "host": {"name": …, "lost": TEXT or null, "threads": …, "processor_s": …,
               "clock_error_s": …, "start_lag_s": …, "time_s": …}

   and with a total if it has told what it measured.  A RECORD has the figures that people read and
   the raw numbers that they were computed from:

     {"kind": …, "running": …, "paced": …, "replaced": …, "max_at_least": …,
      "figures": {NAME: NUMBER},               members of bn_view_fields that are known
      "percentiles": [{"percent": …, "s": …,   null: beyond the range of the histogram
                       "at_least": …}],
      "timings": [{"name": …, …, "percentiles": […]}],
      "statements": [{"name": …, "count": …, …, "rows": …, "errors": …, "percentiles": […]}],
      "workload": […],                           "merge" says what becomes of a figure in a sum
      "watch": {NAME: NUMBER}, "sessions": […],
      "counts": [{"name": …, "unit": …, "count": …, "per_s": …}],   of what a script declares
      "lines": [TEXT],                           that a script adds to the report
      "raw": {"at_ns": …, …, "counters": {NAME: COUNT}, "labels": {NAME: [[LABEL, COUNT]]},
              "sessions": [[events, busy_ns, min_ns, max_ns]],
              "fair_events": [n, sum, sum_sq], "fair_busy_s": […],
              "histograms": {NAME: [COUNT]}, "ages": [COUNT],
              "statements": [{"name": …, "histogram": [COUNT]}]}}

   Units are in the names.  A whole number that is not known (a counter that is absent here, the
   least latency without events) is null, and one above 2^63 - 1 is a text.  The moments of fairness
   are texts in the form of printf's %La, because a double cannot hold them.  measure/json_hist.h
   explains the list of a histogram.  In "raw", min_ns and max_ns, also those of sessions, are since
   the measurement began, in every record; so are min_s and max_s of "sessions".  The total has
   histograms and the numbers of each session, checkpoints have the latter; which records have
   histograms is chosen by --report-bins.  The timings of intervals have no percentiles.  The total
   of a run that left events unfinished has their "ages", which its percentiles count.  "statements"
   are in checkpoints and the total of runs with --statements, in "raw" where the total has
   histograms.

   Version 1 has another form of histograms, and is still read.  A later version of this form may
   add names, which this one keeps when it writes a document anew.  It does not add the names that
   an older version did not have: what is absent is not known.

   A journal has one such value a line: {"format": "bench journal", …, "facts"}, {"group"},
   {"interval"}, {"checkpoint"}, and once a second {"tick"}, whose histograms hold what came since
   the tick before it. */
#ifndef BN_MEASURE_STORE_H
#define BN_MEASURE_STORE_H

#include <stddef.h>

#include "api/opt.h"
#include "measure/bounds.h"
#include "measure/hist_codec.h"
#include "measure/json.h"
#include "measure/result.h"

enum { BN_STORE_VERSION = 2 };
/* Is not in JSON of one line. */
enum { BN_STORE_GAP = '\t' };

/* --- writing: trees, NULL: out of memory --- */

struct bn_node *bn_store_facts(const struct bn_facts *f);
struct bn_node *bn_store_metrics(const struct bn_metrics *m);
struct bn_node *bn_store_record(const struct bn_view *v);
/* Prints the same as a line that is sent to another process of this version, which is quick to
   read: {SPAN: RECORD} in JSON, in which "figures" is a list of all bn_view_fields and what is
   absent is 0, and behind it, each after BN_STORE_GAP, the histograms of the metrics
   (measure/hist_codec.h). malloc'd; NULL: out of memory. */
char *bn_store_brief(const struct bn_view *v, size_t *len);
/* At least as many values as bn_store_record() makes of an interval or a checkpoint. */
uint64_t bn_store_values(const struct bn_view *v);
/* Returns whether one more interval leaves the document within the bounds (measure/bounds.h);
   values: of the group's records. */
bool bn_store_has_room(const struct bn_group *g, uint64_t values);
/* The whole document; `known`: an older one with names to keep, or NULL. */
struct bn_node *bn_store_document(const struct bn_result *r, const struct bn_node *known);
/* As bn_file_save (base/file.h). */
int bn_store_save(const struct bn_node *document, const char *path, struct bn_err *err);
int bn_store_print(const struct bn_node *document, FILE *out, struct bn_err *err);

/* --- reading --- */

/* Lines of a journal that say nothing that can be understood, and were passed over. */
struct bn_skipped_lines {
  size_t lines, first; /* how many, and the number of the first; from 1 on */
  struct bn_err why;   /* of the first */
  size_t bound;        /* the number of the line that ended the reading; 0: none did */
  struct bn_err large; /* why that did */
};

/* The content of a file: a result and, on request, the tree it was read from, which has the form of
   a document for a journal too. */
struct bn_stored {
  struct bn_result result;
  struct bn_node *document; /* or NULL */
  bool of_journal;
  struct bn_skipped_lines passed;
};

/* The option of subcommands that read the documents which a user names: a file of another kind may
   have any size.  The value at `member` is a uint64_t. */
#define BN_STORE_MOST_NAME "max-document-size"
#define BN_STORE_MOST_OPTION(member)                                                               \
  {                                                                                                \
    .name = BN_STORE_MOST_NAME, .type = BN_SIZE, .def = "64M", .min = 1 << 20,                     \
    .max = (int64_t)BN_BOUND_FILE_BYTES, .offset = (member),                                       \
    .help = "largest document that is read"                                                        \
  }

/* Reads a document of at most `most` bytes, or a journal.  keep_tree: for a document that is
   written anew; it takes several times the memory of the result.  -1: err names the file and what
   is wrong with it. */
int bn_store_load(const char *path, uint64_t most, bool keep_tree, struct bn_stored *out,
                  struct bn_err *err);
/* As bn_store_load for a result whose intervals and checkpoints are not asked for, which take half
   of the time: a document is read without them, and what they have is not checked. */
int bn_store_load_totals(const char *path, uint64_t most, struct bn_stored *out,
                         struct bn_err *err);
void bn_stored_done(struct bn_stored *s);
/* The result of a tree that is a document.  -1 and err; *out is to be freed in both cases. */
int bn_store_read_document(const struct bn_node *n, struct bn_result *out, struct bn_err *err);
/* Parts of it, for journals; -1 and err. */
int bn_store_read_facts(const struct bn_node *n, struct bn_facts *out, struct bn_err *err);
/* Adds them to the facts, which have been read. */
int bn_store_read_assertions(const struct bn_node *n, struct bn_facts *out, struct bn_err *err);
int bn_store_read_end(const struct bn_node *n, struct bn_end *out, struct bn_err *err);
int bn_store_read_metrics(const struct bn_node *n, struct bn_metrics *out, struct bn_err *err);
int bn_store_read_record(const struct bn_node *n, const struct bn_metrics *m,
                         enum bn_view_span span, struct bn_record *out, struct bn_err *err);
/* As bn_store_read_record for a part of the time that bn_store_brief() has written; texts: from the
   first BN_STORE_GAP to the end of the line.  The record has no histograms, but `hists` has what
   they are made of. */
int bn_store_read_brief(const struct bn_node *n, const char *texts, size_t len,
                        const struct bn_metrics *m, enum bn_view_span span, struct bn_record *out,
                        struct bn_hist_codec *hists, struct bn_err *err);
/* Add what was read, within the bounds (measure/bounds.h).  A NULL name is an empty one. */
struct bn_group *bn_store_group(struct bn_result *r, const char *name, struct bn_err *err);
/* Adds a view to the last group. */
int bn_store_keep(struct bn_result *r, const struct bn_view *v, struct bn_err *err);
/* Returns 0 if a group may have `length` intervals or checkpoints, else -1 and err. */
int bn_store_check_length(enum bn_view_span span, size_t length, struct bn_err *err);

#endif
