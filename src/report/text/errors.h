/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The errors of a run by their codes, each with its class and its first message, and warnings. */
#ifndef BN_REPORT_TEXT_ERRORS_H
#define BN_REPORT_TEXT_ERRORS_H

#include <stdio.h>

#include "measure/facts.h"
#include "measure/view.h"

/* Prints a table of the errors of a view, the most frequent one first; nothing without errors.  f
   has their classes and messages. */
void bn_text_print_errors(FILE *out, const struct bn_facts *f, const struct bn_view *v);

/* Prints a table of the threads that failed while other threads went on: for each kind of failure,
   when it first occurred, and why.  Prints nothing if no thread failed. */
void bn_text_print_failures(FILE *out, const struct bn_facts *f, const struct bn_view *v);

/* Prints the warnings of the run, which name what may spoil its figures; nothing without any. */
void bn_text_print_warnings(FILE *out, const struct bn_facts *f);

#endif
