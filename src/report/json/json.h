/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run as a JSON document, with a journal while the run lasts (measure/store.h). */
#ifndef BN_REPORT_JSON_JSON_H
#define BN_REPORT_JSON_JSON_H

#include "api/report.h"

/* With a file: FILE.partial is appended once a second, and at the end FILE is written whole and the
   journal removed; when FILE cannot be written the journal stays.  Without one, or with "-", the
   document goes to standard output, without a journal. */
extern const struct bn_reporter bn_reporter_json;
/* The same without a file, with the total alone: intervals of hours are large. */
extern const struct bn_reporter bn_reporter_json_total;

#endif
