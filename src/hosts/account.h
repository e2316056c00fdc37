/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reporters are told of a run on several hosts, from the heading to how it ended.

   Each reporter is told what one of a single process is, in the same order, by the thread of the
   outlet. */
#ifndef BN_HOSTS_ACCOUNT_H
#define BN_HOSTS_ACCOUNT_H

#include "engine/judge.h"
#include "hosts/fleet.h"
#include "hosts/seconds.h"
#include "hosts/tell.h"

struct bn_account {
  const struct bn_hosts_setup *setup;
  struct bn_outlet *outlet;
  struct bn_judge judge;
  struct bn_seconds seconds;
  struct bn_whole_start start;
  struct bn_result result; /* of all hosts; no group: there is none */
  struct bn_end end;       /* what is known of it before the reporters are told */
  struct bn_outlet_job begin, started, ended;
  /* Of the thread of the outlet, between bn_account_heading() and the end. */
  struct bn_tell tell;
  struct bn_facts facts, heading; /* what reporters are told; what they were told first */
  bool holds;                     /* all assertions */
  _Atomic bool replaced, judged, gathered;
};

/* Opens the reporters of a run.  false: one cannot be, which has been logged. */
bool bn_account_open(struct bn_account *a, struct bn_fleet *f);
/* Once all hosts are ready.  -1: err names an assertion about something that they will not measure.
 */
int bn_account_check(const struct bn_account *a, const struct bn_fleet *f, struct bn_err *err);
/* The heading has what all hosts have in common. */
void bn_account_heading(struct bn_account *a, const struct bn_fleet *f);
/* The hosts start, at f->start. */
void bn_account_started(struct bn_account *a, const struct bn_fleet *f);
/* The intervals that all hosts have sent by now.  Stops the hosts if an assertion has been violated
   for too long. */
void bn_account_rounds(struct bn_account *a, struct bn_fleet *f);
/* The report, if there was a run, and how it ended: the last that goes into the outlet. */
void bn_account_end(struct bn_account *a, struct bn_fleet *f);
/* The thread of the outlet hangs and is not waited for: the reporters that it does not hang in are
   told how the run ended all the same.  The outlet is left next. */
void bn_account_leave(struct bn_account *a);
/* The exit status, after all has been said. */
int bn_account_status(const struct bn_account *a);
void bn_account_done(struct bn_account *a);

#endif
