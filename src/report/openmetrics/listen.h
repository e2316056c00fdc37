/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of a run while it lasts, on a page that Prometheus or curl asks for. */
#ifndef BN_REPORT_OPENMETRICS_LISTEN_H
#define BN_REPORT_OPENMETRICS_LISTEN_H

#include "api/report.h"

/* The values of bn_listen_options. */
struct bn_listen_conf {
  const char *at; /* "[ADDRESS:]PORT"; NULL or "": no page */
};
extern const struct bn_opt bn_listen_options[];

/* A reporter without a file, which renders the page once a second, however often clients ask for
   it. */
extern const struct bn_reporter bn_reporter_listen;

#endif
