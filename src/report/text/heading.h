/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the heading: how to repeat the run, its options, and its database. */
#ifndef BN_REPORT_TEXT_HEADING_H
#define BN_REPORT_TEXT_HEADING_H

#include <stdio.h>

#include "measure/facts.h"
#include "report/text/templates.h"

/* Prints when the run started and how to repeat it, if both are known: a stored result knows them,
   a run that begins does not. */
void bn_text_print_repetition(FILE *out, const struct bn_facts *f);
/* Prints the options of the run that the version of the dialect names. */
void bn_text_print_plan(FILE *out, const struct bn_facts *f, const struct bn_dialect *d);
/* Prints how the bytes of connections travel, the driver, the server and its tables, as far as they
   were known when the load began; nothing if the driver was not. */
void bn_text_print_database(FILE *out, const struct bn_facts *f);

#endif
