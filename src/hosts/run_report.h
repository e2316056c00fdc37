/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls the reporters of a run on several hosts, from the heading to the end.

   Each reporter gets the calls that it gets in a run of a single process, in the same order, from
   the thread of the printer. */
#ifndef BN_HOSTS_RUN_REPORT_H
#define BN_HOSTS_RUN_REPORT_H

#include "engine/asserts.h"
#include "hosts/fleet.h"
#include "measure/reporters.h"

struct bn_run_report {
  struct bn_fleet *fleet;
  struct bn_asserts asserts;
  struct bn_merged_result_start start; /* of the hosts; a copy for the thread of the printer */
  struct bn_result result;             /* the result of all hosts; it may have no group */
  struct bn_end end;                   /* the end of the run */
  struct bn_printer_job begin, started, ended;
  /* The thread of the printer uses the rest between bn_run_report_show_heading() and the end. */
  struct bn_reporters reporters;
  struct bn_facts facts;   /* of the heading, and then of the result */
  struct bn_facts heading; /* of the heading, once those of the result have replaced them */
};

/* Prepares the report of the fleet's command, and opens the reporters if it is a run.  The fleet
   stays the caller's, for all calls below.  Returns false if a reporter cannot be opened, which has
   been logged. */
bool bn_run_report_open(struct bn_run_report *r, struct bn_fleet *f);
/* Checks the assertions and the reports once all hosts are ready, so that their metrics are known.
   Returns 0, or -1 and err, which names an assertion about something that the hosts will not
   measure, or a report that cannot show what they will measure. */
int bn_run_report_check(const struct bn_run_report *r, struct bn_err *err);
/* Has the reporters print the heading, with the facts that all hosts have in common. */
void bn_run_report_show_heading(struct bn_run_report *r);
/* Tells the reporters that the hosts start at fleet->start, and sends them the sums from now on. */
void bn_run_report_show_start(struct bn_run_report *r);
/* Shows the sums of which all hosts have sent their parts by now.  Stops the hosts if an assertion
   has been violated for too long. */
void bn_run_report_show_intervals(struct bn_run_report *r);
/* Finds how the command has ended.  After a run, has the reporters print the result, which is the
   last job of the printer. */
void bn_run_report_end(struct bn_run_report *r);
/* Prints the names of the journals of documents that are not complete, because the process ends
   while a report waits for its reader. */
void bn_run_report_name_journals(const struct bn_run_report *r);
/* Returns the exit status, once the printer is closed. */
int bn_run_report_get_status(const struct bn_run_report *r);
/* Frees all, once the printer is closed. */
void bn_run_report_done(struct bn_run_report *r);

#endif
