/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The errors of a run by their codes, each with its class and its first message. */
#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/log.h"

/* Bytes of a message with its 0; longer messages are cut. */
enum { MESSAGE_SIZE = 121 };

/* Orders labels for qsort(3): by descending counts, and with equal counts by name. */
static int errors_compare(const void *a, const void *b)
{
  const struct bn_label *s = a, *t = b;

  if (s->n != t->n)
    return s->n > t->n ? -1 : 1;
  return strcmp(s->name, t->name);
}

/* Prints the line of an error: code, class, count and first message, of which class and message may
   be unknown.  The texts are escaped, and cut if they are long: a server chooses the message, and a
   document may have any text. */
static void errors_print_one(FILE *out, const struct bn_facts *f, const struct bn_label *error)
{
  const char *class = bn_facts_find_text(f, BN_ERROR_CLASSES, error->name);
  const char *message = bn_facts_find_text(f, BN_ERROR_MESSAGES, error->name);
  char code[64], shown_class[64], shown[MESSAGE_SIZE];
  char label[sizeof code + sizeof shown_class + 4]; /* for " ():" */

  (void)bn_escape(code, sizeof code, error->name, "");
  (void)bn_escape(shown_class, sizeof shown_class, class != NULL ? class : "", "");
  if (class != NULL)
    (void)snprintf(label, sizeof label, "%s (%s):", code, shown_class);
  else
    (void)snprintf(label, sizeof label, "%s:", code);
  (void)fprintf(out, "    %-36s %-6" PRIu64, label, error->n);
  if (message != NULL && bn_escape(shown, sizeof shown, message, "") > 0)
    (void)fprintf(out, " %s", shown);
  (void)fputs("\n", out);
}

void bn_text_print_errors(FILE *out, const struct bn_facts *f, const struct bn_view *v)
{
  enum { LABELS = BN_LABELS_MAX + 1 }; /* with "other" */
  const struct bn_snap *s = v->delta;
  struct bn_label sorted[LABELS];
  size_t n;

  if (s->metrics.n_labelled == 0 || s->n_labels[BN_L_ERRORS] == 0)
    return;
  n = s->n_labels[BN_L_ERRORS] < LABELS ? s->n_labels[BN_L_ERRORS] : LABELS;
  memcpy(sorted, s->label[BN_L_ERRORS], n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, errors_compare);
  while (n > 0 && sorted[n - 1].n == 0) /* errors that occurred only before the span */
    n--;
  if (n == 0)
    return;
  (void)fputs("Errors (count, first message):\n", out);
  for (size_t i = 0; i < n; i++)
    errors_print_one(out, f, &sorted[i]);
  (void)fputs("\n", out);
}

/* Returns when a kind of failure first occurred, in seconds since the measurement began, or NaN if
   that is not known. */
static double errors_find_time(const struct bn_facts *f, const struct bn_fact *failure)
{
  const struct bn_fact *at = bn_facts_find(f, BN_THREAD_ERROR_TIMES, failure->key);

  return at != NULL && at->type == BN_FACT_REAL ? at->real : NAN;
}

/* Prints the line of a kind of failure: its key, when it first occurred, and its first message.  A
   failure of the warm-up has no time, or a negative one.  Key and message are escaped, and cut if
   they are long, because a document may have any text. */
static void errors_print_failure(FILE *out, const struct bn_facts *f, const struct bn_fact *failure)
{
  const double at_s = errors_find_time(f, failure);
  const bool is_of_warmup = isnan(at_s) || at_s < 0;
  char key[128], label[sizeof key + 1], message[MESSAGE_SIZE];

  (void)bn_escape(key, sizeof key, failure->key, "");
  (void)snprintf(label, sizeof label, "%s:", key);
  (void)bn_escape(message, sizeof message, failure->text, "");
  if (is_of_warmup)
    (void)fprintf(out, "    %-36s warm-up  %s\n", label, message);
  else
    (void)fprintf(out, "    %-36s %.3f s  %s\n", label, at_s, message);
}

/* Returns whether the view is a checkpoint, and the failure came after it.  The facts of a saved
   result have the failures of the whole run. */
static bool errors_is_after_checkpoint(const struct bn_facts *f, const struct bn_fact *failure,
                                       const struct bn_view *v)
{
  return v->span == BN_VIEW_CHECKPOINT && errors_find_time(f, failure) > v->at_s;
}

void bn_text_print_failures(FILE *out, const struct bn_facts *f, const struct bn_view *v)
{
  if (v->failed_threads == 0)
    return;
  (void)fputs("Failed threads (first failure, first message):\n", out);
  for (size_t i = 0; i < f->n_facts; i++) {
    const struct bn_fact *fact = &f->fact[i];
    const bool is_failure =
        strcmp(fact->section, BN_THREAD_ERRORS) == 0 && fact->type == BN_FACT_TEXT;

    if (is_failure && !errors_is_after_checkpoint(f, fact, v))
      errors_print_failure(out, f, fact);
  }
  (void)fputs("\n", out);
}

/* The warnings are the messages on level INFO, from bn_log_note().  Their prefix is left out under
   the heading. */
void bn_text_print_warnings(FILE *out, const struct bn_facts *f)
{
  static const char prefix[] = "warning: ";
  size_t n_printed = 0;

  for (size_t i = 0; i < f->n_messages; i++) {
    const char *text = f->message[i].text;
    char shown[1024];

    if (f->message[i].level != BN_INFO)
      continue;
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
      text += sizeof prefix - 1;
    if (n_printed++ == 0)
      (void)fputs("Warnings:\n", out);
    (void)bn_escape(shown, sizeof shown, text, "");
    (void)fprintf(out, "    %s\n", shown);
  }
  if (n_printed > 0)
    (void)fputs("\n", out);
}
