/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flags in atomics, and the order of exit statuses. */
#include "engine/outcome.h"

#include <inttypes.h>

#include "base/log.h"
#include "measure/stat.h"
#include "option/conf.h"

void bn_outcome_init(struct bn_outcome *o)
{
  *o = (struct bn_outcome){.script_status = -1};
}

void bn_outcome_advance(struct bn_outcome *o, enum bn_stage stage)
{
  if ((int)stage > atomic_load(&o->stage))
    atomic_store(&o->stage, (int)stage);
}

enum bn_stage bn_outcome_stage(const struct bn_outcome *o)
{
  return (enum bn_stage)atomic_load(&o->stage);
}

void bn_outcome_set(struct bn_outcome *o, enum bn_outcome_flag flag)
{
  (void)atomic_fetch_or(&o->flags, flag);
}

bool bn_outcome_has(const struct bn_outcome *o, enum bn_outcome_flag flag)
{
  return (atomic_load(&o->flags) & flag) != 0;
}

void bn_outcome_record_signal(struct bn_outcome *o, int signo)
{
  int none = 0;

  (void)atomic_compare_exchange_strong(&o->signo, &none, signo);
}

void bn_outcome_record_exit(struct bn_outcome *o, int status)
{
  int none = -1;

  (void)atomic_compare_exchange_strong(&o->script_status, &none, status & 0xff); /* as _exit */
}

void bn_outcome_record_cut(struct bn_outcome *o, uint64_t now_ns)
{
  uint64_t never = 0;

  (void)atomic_compare_exchange_strong(&o->cut_ns, &never, now_ns);
}

void bn_outcome_record_end(struct bn_outcome *o, uint64_t now_ns)
{
  bn_stat_raise(&o->end_ns, now_ns);
}

void bn_outcome_record_looped(struct bn_outcome *o, uint64_t last_ns, uint64_t now_ns)
{
  bn_stat_raise(&o->last_ns, last_ns);
  bn_stat_raise(&o->looped_ns, now_ns);
}

uint64_t bn_outcome_arrivals_end_ns(const struct bn_outcome *o, uint64_t deadline_ns)
{
  const uint64_t cut_ns = atomic_load(&o->cut_ns);

  return cut_ns != 0 && cut_ns < deadline_ns ? cut_ns : deadline_ns;
}

bool bn_outcome_has_stuck_threads(const struct bn_outcome *o)
{
  const unsigned flags = atomic_load(&o->flags);
  const bool a_call_hangs = (flags & (BN_OUTCOME_INTERRUPT_HANGS | BN_OUTCOME_WATCHER_HANGS)) != 0;
  const bool were_abandoned = (flags & BN_OUTCOME_ABANDONED) != 0;
  const bool have_returned = (flags & BN_OUTCOME_RETURNED) != 0;

  return a_call_hangs || (were_abandoned && !have_returned);
}

/* Returns whether the run is a failure because of its overload. */
static bool outcome_overload_fails(const struct bn_outcome *o)
{
  return !o->overload_passes && bn_outcome_has(o, BN_OUTCOME_OVERLOADED);
}

/* If several causes apply, the first one below decides. */
int bn_outcome_status(const struct bn_outcome *o)
{
  const unsigned flags = atomic_load(&o->flags);
  const int signo = atomic_load(&o->signo), script_status = atomic_load(&o->script_status);

  if (signo != 0)
    return BN_STATUS_SIGNAL + signo;
  if ((flags & BN_OUTCOME_TIMEOUT) != 0)
    return BN_STATUS_TIMEOUT;
  if (script_status > 0)
    return script_status;
  if ((flags & (BN_OUTCOME_FAILED | BN_OUTCOME_THREAD_FAILED | BN_OUTCOME_REPORT_FAILED |
                BN_OUTCOME_UNCHECKED)) != 0)
    return BN_STATUS_FAILED;
  if (outcome_overload_fails(o))
    return BN_STATUS_FAILED;
  if ((flags & BN_OUTCOME_EMPTY) != 0)
    return BN_STATUS_EMPTY;
  if ((flags & BN_OUTCOME_UNSERVED) != 0)
    return BN_STATUS_UNSERVED;
  return (flags & BN_OUTCOME_VIOLATED) != 0 ? BN_STATUS_VIOLATED : BN_STATUS_OK;
}

enum bn_end_reason bn_outcome_reason(const struct bn_outcome *o)
{
  const unsigned flags = atomic_load(&o->flags);
  const struct {
    bool applies;
    enum bn_end_reason reason;
  } row[] = {
      {atomic_load(&o->signo) != 0, BN_END_SIGNAL},
      {(flags & BN_OUTCOME_TIMEOUT) != 0, BN_END_TIMEOUT},
      {atomic_load(&o->script_status) >= 0, BN_END_SCRIPT},
      {(flags & BN_OUTCOME_FAILED) != 0, BN_END_FAILURE},
      {outcome_overload_fails(o), BN_END_OVERLOAD},
      {(flags & BN_OUTCOME_JUDGED) != 0, BN_END_ASSERTION},
      {(flags & BN_OUTCOME_TIME_UP) != 0, BN_END_TIME},
      {(flags & BN_OUTCOME_SPENT) != 0, BN_END_EVENTS},
  };

  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (row[i].applies)
      return row[i].reason;
  return (flags & BN_OUTCOME_OPENED) != 0 ? BN_END_DONE : BN_END_FAILURE;
}

/* Events that were begun and have ended without success count as dropped. */
bool bn_outcome_is_empty(const struct bn_view_counts *all)
{
  return all->events == 0 && all->dropped > 0;
}

void bn_outcome_log_empty(const struct bn_view_counts *all, const char *group)
{
  const char *name = group != NULL ? group : "", *colon = group != NULL ? ": " : "";

  if (all->errors + all->reconnects > 0)
    bn_log_stderr("%s%sno event succeeded: %llu statements failed with errors that are ignored, "
                  "and %llu connections were made again, so the run has measured nothing; the "
                  "report names the errors",
                  name, colon, (unsigned long long)all->errors,
                  (unsigned long long)all->reconnects);
  else
    bn_log_stderr("%s%sno event succeeded, so the run has measured nothing: a value that event() "
                  "returns ends its thread, and an error that repeats its event does so until the "
                  "end of the run",
                  name, colon);
}

void bn_outcome_note_default_time(const struct bn_outcome *o, const struct bn_conf *c)
{
  const struct bn_conf_raw *r = &c->raw;
  const bool by_session = r->events_per_session != 0;
  const bool has_event_limit = c->plan.events != 0;
  /* A profile sets the time of its run. */
  const bool is_default_time = !r->time_given && c->profile.n_pieces == 0;
  const bool time_came_first =
      bn_outcome_has(o, BN_OUTCOME_TIME_UP) && !bn_outcome_has(o, BN_OUTCOME_SPENT);

  if (bn_policy_is_native(c->policy) && has_event_limit && is_default_time && time_came_first)
    bn_log_note("the default --time=%.15g ended the run before all of --%s=%" PRId64
                " had begun; --time=0 removes this limit",
                r->time_s, by_session ? "events-per-session" : "events",
                by_session ? r->events_per_session : r->events);
}

void bn_outcome_log(const struct bn_outcome *o)
{
  const int script_status = atomic_load(&o->script_status);

  if (outcome_overload_fails(o))
    bn_log(BN_FATAL, "The event queue is full. This means the worker threads are unable to keep up "
                     "with the specified event generation rate");
  if (script_status >= 0)
    bn_log_hint("the script ended the run by os.exit(%d); the report covers what was measured "
                "until then",
                script_status);
  if (bn_outcome_has(o, BN_OUTCOME_FAILED))
    bn_log_hint("the run failed; the report covers what was measured until then");
}
