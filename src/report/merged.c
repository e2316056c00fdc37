/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads results, has them summed, and writes the sum as a result. */
#include "report/merged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "measure/merge.h"
#include "measure/store.h"
#include "report/output.h"
#include "report/saved.h"

const struct bn_opt bn_merged_options[] = {
    {.name = "output",
     .type = BN_PATH,
     .letter = 'o',
     .form = "=FILE",
     .offset = offsetof(struct bn_merged_conf, output),
     .help = "file for the result, instead of standard output"},
    {.name = "force",
     .type = BN_BOOL,
     .def = "off",
     .offset = offsetof(struct bn_merged_conf, force),
     .help = "merging also if options differ or the overlap is too small"},
    BN_STORE_MOST_OPTION(offsetof(struct bn_merged_conf, document_max)),
    BN_OPT_END,
};

/* The results to merge, and the files that they are from. */
struct inputs {
  struct bn_stored *stored; /* owned */
  struct bn_part *part;     /* owned */
  size_t n;                 /* inputs that were read */
};

/* Refuses a list in which one file is named twice, also by two paths.  Returns 0, or -1 and err. */
static int merged_check_distinct(const char *const *operand, struct bn_err *err)
{
  for (size_t i = 0; operand[i] != NULL; i++)
    for (size_t k = i + 1; operand[k] != NULL; k++)
      if (bn_file_is_same(operand[i], operand[k]))
        return bn_err_set(err, EINVAL, "'%s' and '%s' are the same file, which would count twice",
                          operand[i], operand[k]);
  return 0;
}

/* Reads the files in their order, and warns of lines of journals that were left out.  Returns 0, or
   -1 and err.  The caller frees the inputs in both cases. */
static int merged_read_inputs(const struct bn_merged_conf *c, const char *const *operand,
                              struct inputs *in, struct bn_err *err)
{
  size_t n_operands = 0;

  while (operand[n_operands] != NULL)
    n_operands++;
  in->stored = bn_alloc(n_operands, sizeof *in->stored);
  in->part = bn_alloc(n_operands, sizeof *in->part);
  for (; in->n < n_operands; in->n++) {
    struct bn_stored *s = &in->stored[in->n];

    if (bn_store_load(operand[in->n], c->document_max, false /* keep_tree */, s, err) != 0)
      return -1;
    bn_facts_set_traits(&s->result.facts, c->traits_of);
    in->part[in->n] = (struct bn_part){.name = operand[in->n], .result = &s->result};
    bn_saved_warn_skipped(operand[in->n], &s->passed);
  }
  return 0;
}

static void merged_free_inputs(struct inputs *in)
{
  for (size_t i = 0; i < in->n; i++)
    bn_stored_done(&in->stored[i]);
  free(in->stored);
  free(in->part);
}

/* Prints each note, which ends with a newline, on a line of standard error.  The notes are escaped,
   because they may quote the files.  strsep(3) overwrites the newlines; it has set `next` to NULL
   when it returns the empty text after the last one. */
static void merged_print_notes(struct bn_buf *notes)
{
  char *next = notes->data;
  char shown[1024];

  for (char *note = strsep(&next, "\n"); next != NULL; note = strsep(&next, "\n")) {
    (void)bn_escape(shown, sizeof shown, note, "");
    bn_log_stderr("bench merge: %s", shown);
  }
}

/* Writes the sum of the inputs, and then prints notes on it.  Returns 0, or -1 and err. */
static int merged_write_sum(const struct bn_merged_conf *c, const struct inputs *in,
                            struct bn_err *err)
{
  const enum bn_merge_how mode = c->force ? BN_MERGE_FORCED : BN_MERGE_ALIKE;
  struct bn_buf notes = {.max = 0};
  struct bn_result result;
  int rc = bn_merge(in->part, in->n, mode, &result, &notes, err);

  if (rc != 0)
    bn_escape_error(err); /* it may quote the files */
  else
    rc = bn_output_write_document(bn_store_document(&result, NULL), c->output, err);
  if (rc == 0)
    merged_print_notes(&notes);
  bn_result_done(&result);
  bn_buf_done(&notes);
  return rc;
}

int bn_merged_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct bn_merged_conf *c = conf;
  struct inputs in = {.n = 0};
  int rc = -1;

  if (bn_output_check_path(c->output, err) == 0 && merged_check_distinct(operand, err) == 0 &&
      merged_read_inputs(c, operand, &in, err) == 0)
    rc = merged_write_sum(c, &in, err);
  merged_free_inputs(&in);
  return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
