/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of ffi.C by which sessions hand over work. */
#include "script/api/ffi_workqueue.h"

#include "engine/event.h"
#include "option/conf.h"
#include "script/api/instance.h"

/* The interval at which a session tries again to give work to a full queue. */
#define RETRY_NS (5 * BN_NSEC_PER_MSEC)

/* The results of bn_ffi_workqueue_give, which module sysbench.workqueue knows. */
enum { GIVEN = 0, TRY_AGAIN = 1, NOBODY_TAKES = 2, RUN_IS_OVER = 3 };

bool bn_ffi_workqueue_join(bool as_taker)
{
  struct bn_instance *in = bn_instance_current();
  const enum bn_workqueue_role role = as_taker ? BN_WORKQUEUE_TAKES : BN_WORKQUEUE_GIVES;
  const bool has_joined = in->workqueue.role != BN_WORKQUEUE_NONE;

  /* The main instance executes no events, so it has no work to give or take. */
  if (!in->lua.worker || has_joined)
    return true;
  if (bn_workqueue_join(&bn_instance_api()->workqueue, &in->workqueue, role) != 0)
    return false;
  /* An event of a taker begins when it gets work, and needs no ticket. */
  if (as_taker)
    bn_event_exempt(in->lua.session);
  return true;
}

bool bn_ffi_workqueue_among_last(unsigned n)
{
  const struct bn_session *s = bn_instance_session();

  return (uint64_t)s->id + n >= s->services->conf->plan.threads;
}

/* Puts work into the queue.  If the queue is full, waits for room until the session is interrupted.
   A session that shares its worker does not wait: it would hold up the sessions of the worker that
   may take the work. */
static enum bn_workqueue_answer ffi_workqueue_put(const struct bn_session *s,
                                                  const struct bn_work *work)
{
  const bool shares_worker = s->task != NULL;

  for (;;) {
    const enum bn_workqueue_answer answer = bn_workqueue_give(&bn_instance_api()->workqueue, work);

    if (answer != BN_WORKQUEUE_FULL || shares_worker || bn_session_interrupted(s))
      return answer;
    bn_clock_sleep_until(bn_clock_mono() + RETRY_NS);
  }
}

int bn_ffi_workqueue_give(double a, double b)
{
  struct bn_session *s = bn_instance_session();
  const struct bn_work work = {.at_ns = bn_clock_now(&s->clock), .value = {a, b}};

  switch (ffi_workqueue_put(s, &work)) {
  case BN_WORKQUEUE_FULL:
    return bn_session_interrupted(s) ? RUN_IS_OVER : TRY_AGAIN;
  case BN_WORKQUEUE_NOBODY: /* at the end of the run, all sessions that take work leave */
    return bn_session_over(s) ? RUN_IS_OVER : NOBODY_TAKES;
  default:
    return GIVEN;
  }
}

void bn_ffi_begin_taken_event(struct bn_instance *in)
{
  bn_event_start_at(in->lua.session, &in->tick, in->workqueue.taken.at_ns);
}

bool bn_ffi_workqueue_take(void)
{
  struct bn_instance *in = bn_instance_current();

  if (!bn_workqueue_take(&bn_instance_api()->workqueue, &in->workqueue, in->lua.session))
    return false;
  bn_ffi_begin_taken_event(in);
  return true;
}

double bn_ffi_workqueue_taken(int which)
{
  return bn_instance_current()->workqueue.taken.value[which != 0];
}

unsigned bn_ffi_workqueue_left(void)
{
  return bn_workqueue_count(&bn_instance_api()->workqueue);
}

unsigned bn_ffi_workqueue_longest(void)
{
  return bn_workqueue_longest(&bn_instance_api()->workqueue);
}
