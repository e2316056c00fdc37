/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The errors of a run by their codes, each with its class and its first message. */
#ifndef BN_REPORT_TEXT_ERRORS_H
#define BN_REPORT_TEXT_ERRORS_H

#include <stdio.h>

#include "measure/facts.h"
#include "measure/view.h"

/* The most frequent one first; nothing if there was none. */
void bn_text_errors(FILE *out, const struct bn_facts *f, const struct bn_view *v);

/* The threads that failed while others went on: for each kind when the first one did, and why. */
void bn_text_failures(FILE *out, const struct bn_facts *f, const struct bn_view *v);

#endif
