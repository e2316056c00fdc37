/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events and openings of the toy workload, and reporters, whose threads do not come back. */
#ifndef BN_TESTS_UNIT_TOYHANGS_H
#define BN_TESTS_UNIT_TOYHANGS_H

#include "simclock.h"
#include "toyrun.h"

static enum bn_next event_that_stays(void *self, struct bn_session *s)
{
  if (s->id == 1)
    s->services->stay_behind(s->services->of);
  return toy_event(self, s);
}

static int hung_open(void *self, struct bn_session *s, struct bn_err *err)
{
  if (s->id == 1)
    sim_hang();
  return toy_session_open(self, s, err);
}

static int failed_or_hung_open(void *self, struct bn_session *s, struct bn_err *err)
{
  return s->id == 2 ? bn_err_set(err, 0, "session 2 does not open") : hung_open(self, s, err);
}

static int hung_report(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)self;
  (void)v;
  (void)err;
  sim_hang();
  return 0;
}

#endif
