/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The errors of a run by their codes, each with its class and its first message, and warnings. */
#ifndef BN_REPORT_TEXT_ERRORS_H
#define BN_REPORT_TEXT_ERRORS_H

#include <stdio.h>

#include "measure/facts.h"
#include "measure/view.h"

/* Prints the most frequent error first; prints nothing without errors. */
void bn_text_errors(FILE *out, const struct bn_facts *f, const struct bn_view *v);

/* Prints the threads that failed while other threads went on: for each kind of failure, when it
   first occurred, and why. */
void bn_text_failures(FILE *out, const struct bn_facts *f, const struct bn_view *v);

/* Prints what the run warned of, as facts that may spoil its figures; prints nothing if it did
   not. */
void bn_text_warnings(FILE *out, const struct bn_facts *f);

#endif
