/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the heading about workers, the connection and the database. */
#ifndef BN_REPORT_TEXT_HEADING_H
#define BN_REPORT_TEXT_HEADING_H

#include <stdio.h>

#include "measure/facts.h"

/* Prints the number of workers if threads share them. */
void bn_text_workers(FILE *out, const struct bn_facts *f);
/* Prints how the bytes of connections travel, the server, and its tables, as far as they were known
   when the load began; nothing without a database. */
void bn_text_heading(FILE *out, const struct bn_facts *f);

#endif
