/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the turns of a session by division, without a table of them. */
#include "engine/renewal.h"

#include <math.h>

#include "base/log.h"
#include "option/conf.h"

/* Returns the turns to connect again, of all sessions, per second; 0: there are none. */
static double renewal_rate(const struct bn_session *s)
{
  return s->services->conf->raw.reconnect_rate;
}

/* Sessions connect again one after another, at equal distances. */
uint64_t bn_renewal_due_ns(const struct bn_session *s, uint64_t i)
{
  const double turns = (double)i * s->services->sessions + s->number + 0.5; /* of all sessions */

  return bn_clock_after(s->start_ns, turns / renewal_rate(s));
}

/* Returns how many turns are due up to now_ns. */
static uint64_t renewal_count_passed(const struct bn_session *s, uint64_t now_ns)
{
  const double after_s = (double)(now_ns - s->start_ns) * 1e-9;
  const double n = (after_s * renewal_rate(s) - s->number - 0.5) / s->services->sessions;
  uint64_t passed = n > 0 ? (uint64_t)n : 0;

  /* That many turns are due for certain.  The quotient was rounded, so that a test decides about
     the next ones. */
  while (bn_renewal_due_ns(s, passed) <= now_ns)
    passed++;
  return passed;
}

void bn_renewal_start(struct bn_session *s)
{
  if (renewal_rate(s) > 0)
    s->renewal.next_ns = bn_renewal_due_ns(s, 0);
}

bool bn_renewal_allow(struct bn_session *s)
{
  s->renewal.allowed = renewal_rate(s) > 0;
  return s->renewal.allowed;
}

bool bn_renewal_take(struct bn_session *s)
{
  struct bn_renewal *r = &s->renewal;
  uint64_t passed, passed_before;

  if (s->last_ns < r->next_ns || s->repeats > 0)
    return false;
  passed = renewal_count_passed(s, s->last_ns);
  passed_before = atomic_exchange_explicit(&r->passed, passed, memory_order_relaxed);
  /* The latest of the turns that have passed is taken now.  The turns between the one that was
     taken before and this one are missed. */
  (void)atomic_fetch_add_explicit(&r->missed, passed - passed_before - 1, memory_order_relaxed);
  r->next_ns = bn_renewal_due_ns(s, passed);
  return true;
}

/* Returns how many of the due turns of a session are missed.  The latest of them is pending: the
   session takes it with its next event. */
static uint64_t renewal_count_missed(const struct bn_session *s, uint64_t due)
{
  const uint64_t passed = atomic_load_explicit(&s->renewal.passed, memory_order_relaxed);
  const uint64_t missed = atomic_load_explicit(&s->renewal.missed, memory_order_relaxed);

  return missed + (due > passed + 1 ? due - passed - 1 : 0);
}

void bn_renewal_log_missed(const struct bn_sessions *s, uint64_t end_ns)
{
  const struct bn_conf *conf = s->all[0].services->conf;
  const double rate = conf->raw.reconnect_rate;
  uint64_t due = 0, missed = 0;

  /* A session that pauses for --threads-profile misses turns by design. */
  if (rate <= 0 || conf->profile.of == BN_PROFILE_THREADS)
    return;
  for (unsigned i = 0; i < s->workers; i++) {
    const uint64_t passed = renewal_count_passed(&s->all[i], end_ns);

    due += passed;
    missed += renewal_count_missed(&s->all[i], passed);
  }
  if (missed > due / 100)
    bn_log_note("--reconnect-rate=%.15g could not be kept up: of %llu times at which a thread was "
                "to connect again, %llu were missed, because it began no event before the next "
                "one. Use a lower --reconnect-rate, or more events a second (--threads, --rate)",
                rate, (unsigned long long)due, (unsigned long long)missed);
}
