/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run as a JSON document, with a journal while the run lasts (measure/store.h). */
#ifndef BN_REPORT_JSON_JSON_H
#define BN_REPORT_JSON_JSON_H

#include "api/report.h"

/* With a file, the journal FILE.partial is appended to once a second.  At the end FILE is written
   and the journal removed; if FILE cannot be written, the journal stays.  Without a file, or with
   "-", the document goes to standard output, without a journal. */
extern const struct bn_reporter bn_reporter_json;
/* Writes the total of a part of a run alone, without a file: intervals of hours are large. */
extern const struct bn_reporter bn_reporter_json_total;

#endif
