/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of a run while it lasts, on a page that Prometheus or curl asks for. */
#ifndef BN_REPORT_OPENMETRICS_LISTEN_H
#define BN_REPORT_OPENMETRICS_LISTEN_H

#include "api/report.h"

struct bn_listen; /* the page */

/* The values of bn_listen_options, and the page of the run. */
struct bn_listen_conf {
  const char *at;  /* "[ADDRESS:]PORT"; NULL or "": no page */
  double linger_s; /* for so long the page stays after the end of the run */
  struct bn_listen *page;
};
extern const struct bn_opt bn_listen_options[];

/* A reporter without a file, which renders the page once a second, however often clients ask for
   it.  Its page stays when it is closed. */
extern const struct bn_reporter bn_reporter_listen;

/* Returns -1 and err if the options do not make a page; else `page` is one, or NULL if none is
   wanted. */
int bn_listen_new(struct bn_listen_conf *conf, struct bn_err *err);
/* Ends the page, once linger_s are over or a signal has come.  at_once: it does not linger. */
void bn_listen_end(struct bn_listen_conf *conf, bool at_once);

#endif
