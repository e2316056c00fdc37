/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes and reads the durable form of a result: a JSON document, and a journal while the run
   lasts.

   bench-result(5) and measure/result.schema.json describe the document.  Its "groups" have lists of
   RECORDs: the "figures" of a view and more that people read, and in "raw" the numbers of the
   snapshot that they were computed from.

   This is version 2.  Version 1 has another form of histograms, and is still read.  A later version
   of this form may add names, which this one keeps when it writes a document anew.  It does not add
   the names that an older version did not have: what is absent is not known.

   A journal has one JSON value a line: {"format": "bench journal", …, "facts"}, {"group"},
   {"interval"}, {"checkpoint"}, and once a second {"tick"}, a RECORD whose histograms hold what
   came since the tick before it. */
#ifndef BN_MEASURE_STORE_H
#define BN_MEASURE_STORE_H

#include <stddef.h>

#include "api/opt.h"
#include "measure/bounds.h"
#include "measure/hist_codec.h"
#include "measure/json.h"
#include "measure/result.h"

enum { BN_STORE_VERSION = 2 };
/* Stands between the parts of a brief record; JSON of one line does not have it. */
enum { BN_STORE_GAP = '\t' };

/* --- writing --- */

/* These return a tree, which the caller frees: the facts, the metrics of a group, and a record. */
struct bn_node *bn_store_facts(const struct bn_facts *f);
struct bn_node *bn_store_metrics(const struct bn_metrics *m);
struct bn_node *bn_store_record(const struct bn_view *v);
/* Returns a record as a line that is sent to another process of this version, which is quick to
   read: {SPAN: RECORD} in JSON, in which "figures" is a list of all bn_view_fields and what is
   absent is 0, followed by the histograms of the metrics (measure/hist_codec.h), each after
   BN_STORE_GAP.  The caller frees the line. */
char *bn_store_print_brief(const struct bn_view *v, size_t *len);
/* Returns how many values an interval or a checkpoint has, as bn_node_bound_values() counts. */
uint64_t bn_store_count_values(const struct bn_view *v);
/* Returns whether one more interval leaves the document within the bounds (measure/bounds.h);
   values: the sum of bn_store_count_values() of the group's records. */
bool bn_store_has_room(const struct bn_group *g, uint64_t values);
/* Returns the whole document, which the caller frees.  known: an older document of the same result,
   or NULL; names that only it has are kept, and names that it lacks are not added. */
struct bn_node *bn_store_document(const struct bn_result *r, const struct bn_node *known);
/* As bn_store_document() for a part of a run, to which another process adds other parts: it has all
   metrics, also those of which it has no values. */
struct bn_node *bn_store_part(const struct bn_result *r);
/* These write a document to a file, which it replaces as by bn_file_save(), or to a stream.  They
   return 0, or -1 and err. */
int bn_store_save(const struct bn_node *document, const char *path, struct bn_err *err);
int bn_store_print(const struct bn_node *document, FILE *out, struct bn_err *err);

/* --- reading --- */

/* Lines of a journal that could not be read, and were passed over. */
struct bn_skipped_lines {
  size_t lines, first; /* how many there are, and the number of the first, from 1 on */
  struct bn_err why;   /* what is wrong with the first */
  size_t bound;        /* the number of the line that ended the reading; 0: none did */
  struct bn_err large; /* why that line ended it */
};

/* The content of a file: a result and, on request, the tree of a document. */
struct bn_stored {
  struct bn_result result;
  struct bn_node *document; /* owned; NULL: not requested, or of a journal */
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

/* Reads a document of at most `most` bytes, or a journal, from a file, or from standard input
   ("-").  keep_tree: also keeps the tree of a document that is to be written anew; the tree takes
   several times the memory of the result.  Returns 0, or -1 and err, which names the file and the
   fault; then there is nothing to free. */
int bn_store_load(const char *path, uint64_t most, bool keep_tree, struct bn_stored *out,
                  struct bn_err *err);
/* As bn_store_load() without the intervals and checkpoints of a document, which take half of the
   time and are not checked then.  A journal is read with them. */
int bn_store_load_totals(const char *path, uint64_t most, struct bn_stored *out,
                         struct bn_err *err);
void bn_stored_done(struct bn_stored *s);
/* Reads the result of a tree that is a document.  Returns 0, or -1 and err; the caller frees *out
   in both cases. */
int bn_store_read_document(const struct bn_node *n, struct bn_result *out, struct bn_err *err);
/* These read parts of a document or of a line of a journal.  They return 0, or -1 and err; then
   there is nothing to free. */
int bn_store_read_facts(const struct bn_node *n, struct bn_facts *out, struct bn_err *err);
/* Adds the assertions to facts that have been read. */
int bn_store_read_assertions(const struct bn_node *n, struct bn_facts *out, struct bn_err *err);
int bn_store_read_end(const struct bn_node *n, struct bn_end *out, struct bn_err *err);
int bn_store_read_metrics(const struct bn_node *n, struct bn_metrics *out, struct bn_err *err);
int bn_store_read_record(const struct bn_node *n, const struct bn_metrics *m,
                         enum bn_view_span span, struct bn_record *out, struct bn_err *err);
/* As bn_store_read_record() for a view of a part of the time that bn_store_print_brief() has
   written; texts: from the first BN_STORE_GAP to the end of the line.  The record has no
   histograms: `hists` gets their buckets. */
int bn_store_read_brief(const struct bn_node *n, const char *texts, size_t len,
                        const struct bn_metrics *m, enum bn_view_span span, struct bn_record *out,
                        struct bn_hist_codec *hists, struct bn_err *err);
/* Adds a group that was read (name NULL: without a name) to a result, and returns it.  Returns NULL
   and err if that exceeds a bound (measure/bounds.h). */
struct bn_group *bn_store_add_group(struct bn_result *r, const char *name, struct bn_err *err);
/* Adds a view of an interval or a checkpoint that was read to the last group.  Returns 0, or -1 and
   err if that exceeds a bound.  The size of a view is known only once it is added, so the last one
   may exceed that bound. */
int bn_store_add_view(struct bn_result *r, const struct bn_view *v, struct bn_err *err);
/* Checks that a group may have `length` intervals or checkpoints.  Returns 0, or -1 and err. */
int bn_store_check_length(enum bn_view_span span, size_t length, struct bn_err *err);

#endif
