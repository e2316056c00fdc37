/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the reporters of a run on several hosts, from the heading to how it ended.

   Each reporter is told what one of a single process is, in the same order, by the thread of the
   printer. */
#ifndef BN_HOSTS_RUN_REPORT_H
#define BN_HOSTS_RUN_REPORT_H

#include "engine/asserts.h"
#include "hosts/fleet.h"
#include "measure/reporters.h"

struct bn_run_report {
  const struct bn_hosts_setup *setup;
  struct bn_fleet *fleet;
  struct bn_printer *printer;
  struct bn_asserts asserts;
  struct bn_merged_result_start start;
  struct bn_result result; /* the result of all hosts; it may have no group */
  struct bn_end end;       /* the end of the run without failures of reports */
  bool has_events; /* a checkpoint had some; the result covers the time after the last one */
  struct bn_printer_job begin, started, ended;
  /* The thread of the printer uses the rest between bn_run_report_heading() and the end. */
  struct bn_reporters reporters;
  struct bn_facts facts, heading; /* heading: the facts that reporters got first */
};

/* Opens the reporters of a run.  false: one cannot be, which has been logged. */
bool bn_run_report_open(struct bn_run_report *r, struct bn_fleet *f);
/* Once all hosts are ready.  -1: err names an assertion about something that they will not
   measure. */
int bn_run_report_check(const struct bn_run_report *r, const struct bn_fleet *f,
                        struct bn_err *err);
/* The heading has what all hosts have in common. */
void bn_run_report_heading(struct bn_run_report *r, const struct bn_fleet *f);
/* The hosts start, at f->start. */
void bn_run_report_started(struct bn_run_report *r, struct bn_fleet *f);
/* The intervals that all hosts have sent by now.  Stops the hosts if an assertion has been violated
   for too long. */
void bn_run_report_intervals(struct bn_run_report *r);
/* The report, if there was a run, and how it ended: the last that goes into the printer. */
void bn_run_report_end(struct bn_run_report *r, struct bn_fleet *f);
/* The process ends while a report waits for its reader: names the journals of documents that are
   not complete. */
void bn_run_report_leave(const struct bn_run_report *r);
/* The exit status, after all has been said. */
int bn_run_report_status(const struct bn_run_report *r);
void bn_run_report_done(struct bn_run_report *r);

#endif
