/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads documents and journals from files, and saves documents. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/file.h"
#include "measure/bounds.h"
#include "measure/journal.h"
#include "measure/json_read.h"
#include "measure/layout.h"
#include "measure/skip.h"
#include "measure/store.h"

/* The parts of a document that are read: its result, the tree too, or the result without intervals
   and checkpoints. */
enum store_part { STORE_RESULT, STORE_TREE, STORE_TOTALS };

/* How a file is to be loaded. */
struct store_want {
  enum store_part part;
  uint64_t most; /* bytes of a document */
};

/* --- loading ---------------------------------------------------------------------------------- */

/* Refuses a file that is larger than `most`, and names the option if it can raise that bound.
   Returns -1. */
static int store_refuse_size(const char *path, uint64_t most, struct bn_err *err)
{
  return bn_err_set(
      err, EFBIG, "'%s' has more than %llu MiB%s", path, (unsigned long long)(most >> 20),
      most < BN_BOUND_FILE_BYTES ? "; if it is a result of bench, set --" BN_STORE_MOST_NAME : "");
}

/* Returns whether the first block of a file shows that the file is not a document: its first
   character after white space is not '{'.  A block of white space alone shows nothing. */
static bool store_is_other_file(const char *text, size_t len)
{
  size_t i = 0;

  while (i < len && memchr(" \t\r\n", text[i], 4) != NULL)
    i++;
  return i < len && text[i] != '{';
}

/* Appends a block of n bytes to the text of a file, whose bound is text->max.  Returns 0, or -1 and
   err. */
static int store_add_block(struct bn_buf *text, const char *block, size_t n, const char *path,
                           struct bn_err *err)
{
  if (text->len + n > text->max)
    return store_refuse_size(path, text->max, err);
  if (bn_buf_add(text, block, n) != 0)
    return bn_err_set(err, ENOMEM, "out of memory for '%s'", path);
  return 0;
}

/* Reads the rest of a file.  If it cannot be a document, reads only its first block, which is
   enough for the parser to say what is wrong.  Returns 0, or -1 and err. */
static int store_read_text(struct bn_lines *l, struct bn_buf *text, const char *path,
                           struct bn_err *err)
{
  struct stat st;
  size_t n;
  const char *block = bn_lines_block(l, &n);

  if (store_is_other_file(block, n))
    return store_add_block(text, block, n, path, err);
  if (fstat(fileno(l->f), &st) == 0 && S_ISREG(st.st_mode)) {
    if ((uint64_t)st.st_size > text->max)
      return store_refuse_size(path, text->max, err);
    (void)bn_buf_reserve(text, (size_t)st.st_size); /* a failure shows at the first block */
  }
  for (; n > 0; block = bn_lines_block(l, &n)) {
    if (store_add_block(text, block, n, path, err) != 0)
      return -1;
    bn_lines_skip(l, n);
  }
  return 0;
}

/* Adds the records of a list to the last group.  Returns 0, or -1 and err. */
static int store_read_records(const struct bn_node *list, const struct bn_metrics *m,
                              enum bn_view_span span, struct bn_result *out, struct bn_err *err)
{
  /* The length is checked first: reading too many records takes time and memory. */
  if (bn_store_check_length(span, bn_node_count(list), err) != 0)
    return -1;
  for (size_t i = 0; i < bn_node_count(list); i++) {
    struct bn_record record;
    int rc;

    if (bn_store_read_record(bn_node_get_at(list, i), m, span, &record, err) != 0)
      return -1;
    rc = bn_store_add_view(out, &record.view, err);
    bn_record_done(&record);
    if (rc != 0)
      return -1;
  }
  return 0;
}

/* Reads the total of a group, which need not have one.  Returns 0, or -1 and err. */
static int store_read_total(const struct bn_node *n, const struct bn_metrics *m, struct bn_group *g,
                            struct bn_err *err)
{
  if (bn_node_type_of(n) == BN_NODE_NULL)
    return 0;
  if (bn_store_read_record(n, m, BN_VIEW_TOTAL, &g->total, err) != 0)
    return -1;
  g->has_total = true;
  return 0;
}

/* Reads the host of a group.  The group owns the host even if a member of it is refused. */
static void store_read_member(struct bn_json_in *in, const struct bn_node *map, struct bn_group *g)
{
  const char *name = bn_json_in_text(in, map, "name"), *lost = bn_json_in_text(in, map, "lost");
  const char *group = bn_json_in_text(in, map, "group");

  g->member = bn_alloc(1, sizeof *g->member);
  if (name == NULL)
    bn_json_in_refuse(in, "a 'host' has no name");
  bn_json_in_layout(in, map, bn_layout_member, g->member);
  g->member->host = bn_alloc_text(name != NULL ? name : "");
  g->member->group = bn_alloc_copy(group);
  g->member->lost = bn_alloc_copy(lost);
}

/* Adds a group to the result.  Returns 0, or -1 and err. */
static int store_read_group(const struct bn_node *n, struct bn_result *out, struct bn_err *err)
{
  struct bn_group *g = bn_store_add_group(out, bn_node_get_text(bn_node_get(n, "name")), err);
  struct bn_json_in in = {.err = err};
  const struct bn_node *host = bn_json_in_map(&in, n, "host");
  const struct bn_node *metrics = bn_json_in_list(&in, n, "metrics");
  const struct bn_node *intervals = bn_json_in_list(&in, n, "intervals");
  const struct bn_node *checkpoints = bn_json_in_list(&in, n, "checkpoints");
  struct bn_metrics m;
  int rc;

  if (g == NULL)
    return -1;
  if (host != NULL)
    store_read_member(&in, host, g);
  if (bn_json_in_verdict(&in) != 0)
    return -1;
  if (bn_node_count(metrics) == 0) /* the run never began to measure */
    return 0;
  if (bn_store_read_metrics(metrics, &m, err) != 0)
    return -1;
  rc = store_read_records(intervals, &m, BN_VIEW_INTERVAL, out, err);
  if (rc == 0)
    rc = store_read_records(checkpoints, &m, BN_VIEW_CHECKPOINT, out, err);
  if (rc == 0)
    rc = store_read_total(bn_node_get(n, "total"), &m, g, err);
  bn_metrics_done(&m);
  return rc;
}

/* Checks that a tree is a document of a version that can be read.  Returns 0, or -1 and err. */
static int store_check_format(const struct bn_node *n, struct bn_err *err)
{
  const char *format = bn_node_get_text(bn_node_get(n, "format"));
  const int64_t version = bn_node_get_integer(bn_node_get(n, "version"));

  if (format == NULL || strcmp(format, "bench result") != 0)
    return bn_err_set(err, EINVAL, "its 'format' is not \"bench result\"");
  if (version < 1)
    return bn_err_set(err, EINVAL, "it has no 'version'");
  if (version > BN_STORE_VERSION)
    return bn_err_set(err, EINVAL, "it has version %lld, this bench reads versions up to %d",
                      (long long)version, BN_STORE_VERSION);
  return 0;
}

int bn_store_read_document(const struct bn_node *n, struct bn_result *out, struct bn_err *err)
{
  struct bn_json_in in = {.err = err};
  const struct bn_node *groups, *assertions;

  memset(out, 0, sizeof *out);
  if (store_check_format(n, err) != 0)
    return -1;
  groups = bn_json_in_list(&in, n, "groups");
  assertions = bn_json_in_list(&in, n, "assertions");
  if (bn_json_in_verdict(&in) != 0 ||
      bn_store_read_facts(bn_node_get(n, "facts"), &out->facts, err) != 0 ||
      bn_store_read_assertions(assertions, &out->facts, err) != 0 ||
      bn_store_read_end(bn_node_get(n, "end"), &out->end, err) != 0)
    return -1;
  for (size_t i = 0; i < bn_node_count(groups); i++)
    if (store_read_group(bn_node_get_at(groups, i), out, err) != 0)
      return -1;
  return 0;
}

/* Loads a document, and keeps its tree if that is wanted.  Returns 0, or -1 and an error: in *why
   if the content is wrong, or in *err if the file cannot be read or is too large. */
static int store_load_document(struct bn_lines *l, const char *path, struct store_want want,
                               struct bn_stored *out, struct bn_err *why, struct bn_err *err)
{
  struct bn_buf text = {.max = want.most};
  int rc = -1;

  if (store_read_text(l, &text, path, err) == 0) {
    if (want.part == STORE_TOTALS)
      text.len = bn_skip_to_totals(text.data, text.len);
    out->document = bn_node_parse(text.data, text.len, why);
    if (out->document != NULL)
      rc = bn_store_read_document(out->document, &out->result, why);
  }
  if (want.part != STORE_TREE) {
    bn_node_free(out->document);
    out->document = NULL;
  }
  bn_buf_done(&text);
  return rc;
}

/* Loads a journal or a document.  Returns 0, or -1 and err, which names the file and the fault. */
static int store_load_lines(struct bn_lines *l, const char *path, struct store_want want,
                            struct bn_stored *out, struct bn_err *err)
{
  struct bn_err why = {0};
  size_t n;
  const char *start = bn_lines_block(l, &n);
  int rc;

  out->of_journal = bn_journal_is_journal(start, n);
  if (n == 0)
    rc = bn_err_set(&why, EINVAL, "it is empty");
  else if (out->of_journal)
    rc = bn_journal_read(l, out, &why);
  else
    rc = store_load_document(l, path, want, out, &why, err);
  if (ferror(l->f))
    return bn_err_set(err, EIO, "cannot read '%s': %s", path, strerror(errno));

  const bool has_why = rc != 0 && why.text[0] != '\0'; /* else err has the fault, if any */

  if (has_why)
    return bn_err_set(err, why.code, "'%s' is not a result of bench: %s", path, why.text);
  return rc;
}

/* Loads a file, or standard input ("-").  Returns 0, or -1 and err; then there is nothing to
   free. */
static int store_load_path(const char *path, struct store_want want, struct bn_stored *out,
                           struct bn_err *err)
{
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
  struct bn_lines lines;
  int rc;

  memset(out, 0, sizeof *out);
  if (f == NULL) {
    rc = bn_err_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
  } else {
    bn_lines_init(&lines, f);
    rc = store_load_lines(&lines, path, want, out, err);
    bn_lines_done(&lines);
  }
  if (f != NULL && f != stdin)
    (void)fclose(f);
  if (rc == 0) {
    bn_result_find_metrics(&out->result);
    return 0;
  }
  bn_escape_error(err); /* it quotes the file and its name */
  bn_stored_done(out);
  return rc;
}

int bn_store_load(const char *path, uint64_t most, bool keep_tree, struct bn_stored *out,
                  struct bn_err *err)
{
  const struct store_want want = {.part = keep_tree ? STORE_TREE : STORE_RESULT, .most = most};

  return store_load_path(path, want, out, err);
}

int bn_store_load_totals(const char *path, uint64_t most, struct bn_stored *out, struct bn_err *err)
{
  const struct store_want want = {.part = STORE_TOTALS, .most = most};

  return store_load_path(path, want, out, err);
}

void bn_stored_done(struct bn_stored *s)
{
  bn_result_done(&s->result);
  bn_node_free(s->document);
  s->document = NULL;
}

/* --- saving ----------------------------------------------------------------------------------- */

enum { INDENT = 1 }; /* spaces per level of a document */

/* Returns the text of a document, which ends with a newline and no 0, for the caller to free. */
static char *store_text_of(const struct bn_node *document, size_t *len)
{
  char *text = bn_node_print(document, INDENT, len);

  text[(*len)++] = '\n'; /* in place of the 0 at its end */
  return text;
}

int bn_store_save(const struct bn_node *document, const char *path, struct bn_err *err)
{
  size_t len = 0;
  char *text = store_text_of(document, &len);
  const int rc = bn_file_save(path, text, len);

  if (rc != 0)
    (void)bn_err_set(err, errno, "cannot write the result to '%s': %s", path,
                     bn_file_explain(errno));
  free(text);
  return rc;
}

int bn_store_print(const struct bn_node *document, FILE *out, struct bn_err *err)
{
  size_t len = 0;
  char *text = store_text_of(document, &len);
  int rc = 0;

  errno = 0; /* in case the call that fails does not set it */
  if (fwrite(text, 1, len, out) != len || fflush(out) != 0) {
    const int error = errno != 0 ? errno : EIO;

    rc = bn_err_set(err, error, "cannot write the result: %s", strerror(error));
  }
  free(text);
  return rc;
}
