/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of a run while it lasts, on a page that Prometheus or curl asks for. */
#ifndef BN_REPORT_OPENMETRICS_LISTEN_H
#define BN_REPORT_OPENMETRICS_LISTEN_H

#include "api/report.h"

struct bn_listen; /* the page */

/* The values of bn_listen_options, and the page of the run. */
struct bn_listen_conf {
  const char *at;         /* "[ADDRESS:]PORT"; NULL or "": no page */
  double linger_s;        /* time for which the page stays after the end of the run */
  struct bn_listen *page; /* owned; NULL: none */
};
extern const struct bn_opt bn_listen_options[];

/* A reporter without a file, which renders the page once a second, however often clients ask for
   it.  Its page stays when it is closed. */
extern const struct bn_reporter bn_reporter_listen;

/* Makes the page of the options, which bn_reporter_listen then serves; conf->page stays NULL if
   none is wanted.  Returns 0, or -1 and err if --metrics-linger is set without an address. */
int bn_listen_new(struct bn_listen_conf *conf, struct bn_err *err);
/* Ends the page, if there is one, and frees it.  A page that is served first stays for linger_s, or
   until a signal comes.  at_once: it does not stay. */
void bn_listen_end(struct bn_listen_conf *conf, bool at_once);

#endif
