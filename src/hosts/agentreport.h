/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reporter by which an agent tells its controller of the run: READY, INTERVAL and RESULT. */
#ifndef BN_HOSTS_AGENTREPORT_H
#define BN_HOSTS_AGENTREPORT_H

#include "api/report.h"

/* The reporter's conf is a struct bn_agent.  It sends the lines of a journal (measure/store.h): the
   facts as READY once all sessions are ready, and each other line as an INTERVAL.  Intervals have
   their histograms.  At the end it sends the document that another reporter, which comes before it,
   has written (bn_agent_open_document()). */
extern const struct bn_reporter bn_reporter_agent;

#endif
