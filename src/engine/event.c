/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slow half of the event path: tickets of --events, arrivals of --rate, and what is said when
   there are no more. */
#include "engine/event.h"

#include "base/log.h"
#include "engine/admit.h"
#include "engine/pacer.h"
#include "option/conf.h"

/* However long the reporting thread is held up in it.  No event's time holds the wait. */
static void await_baseline(struct bn_session *s)
{
  bn_admit_await(s->seat->admit);
  s->last_ns = bn_clock_now(&s->clock);
}

uint64_t bn_event_counted(struct bn_session *s)
{
  uint64_t n;

  while (bn_admit_counted(s->seat, &n) == BN_ADMIT_FROZEN)
    await_baseline(s);
  return n;
}

void bn_event_unclaim(struct bn_session *s)
{
  bn_admit_unclaim(s->seat);
}

void bn_event_leave(struct bn_session *s)
{
  while (bn_admit_leave(s->seat) == BN_ADMIT_FROZEN)
    await_baseline(s);
}

/* The session's clock may be a little behind the one that ends the wait. */
static bool wait_until(struct bn_session *s, uint64_t due_ns)
{
  bool waited = true;

  s->last_ns = bn_clock_now(&s->clock);
  if (s->last_ns >= due_ns)
    return true;
  waited = bn_pacer_sleep(s->pacer, s->limit, due_ns);
  s->last_ns = bn_clock_now(&s->clock);
  return waited;
}

static bool await_arrival(struct bn_session *s)
{
  const uint64_t due = s->due_ns;
  const bool never = due >= bn_session_deadline(s);
  const bool waited = wait_until(s, never ? bn_session_deadline(s) : due);

  s->due_ns = 0;
  if (never || !waited || s->last_ns >= bn_session_deadline(s))
    return false;
  s->due_ns = due;
  return true;
}

/* 0.5 says nothing. */
static void say_why(const struct bn_session *s, enum bn_admission answer)
{
  if (answer != BN_ADMIT_CLOSED && !s->services->conf->policy->limits_end_silently)
    bn_log(BN_INFO, "%s limit exceeded, exiting...", answer == BN_ADMIT_TIME_UP ? "Time" : "Event");
}

bool bn_event_claim(struct bn_session *s)
{
  enum bn_admission answer;

  while ((answer = bn_admit_claim(s->seat, s->last_ns)) == BN_ADMIT_FROZEN)
    await_baseline(s);
  if (answer != BN_ADMIT_YES) {
    say_why(s, answer);
    return false;
  }
  if (s->pacer != NULL)
    s->due_ns = bn_pacer_claim(s->pacer);
  return true;
}

bool bn_event_more_slow(struct bn_session *s)
{
  return bn_event_claim(s) && (s->due_ns == 0 || await_arrival(s));
}
