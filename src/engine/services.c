/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes requests of sessions on to the parts of the run. */
#include "engine/services.h"

#include "base/wait.h"
#include "engine/event.h"

static void set_kind(void *of, enum bn_kind kind)
{
  const struct bn_parts *p = of;

  bn_book_set_kind(p->book, kind);
}

static void fact(void *of, const char *section, const char *key, const char *text)
{
  const struct bn_parts *p = of;

  bn_book_fact(p->book, section, key, text);
}

static bool count_label(void *of, unsigned index, const char *label)
{
  const struct bn_parts *p = of;

  return bn_labels_count(p->load->stats.labels[index], label, 1);
}

static bool leave(void *of, int status)
{
  const struct bn_parts *p = of;

  if (!bn_outcome_has(p->outcome, BN_OUTCOME_OPENED))
    return false;
  bn_crew_end(p->crew, BN_CAUSE_LEFT, status);
  return true;
}

static void fail(void *of)
{
  const struct bn_parts *p = of;

  bn_crew_end(p->crew, BN_CAUSE_FAILED, 0);
}

static const struct bn_wait process_end = {"the end of the process", BN_BOUND_LEFT_BEHIND};

__attribute__((noreturn)) static void stay_behind(void *of)
{
  const struct bn_parts *p = of;

  bn_crew_end(p->crew, BN_CAUSE_ABANDONED, 0);
  bn_wait_park(&process_end);
}

static bool barrier(struct bn_session *s)
{
  const struct bn_parts *p = s->services->of;

  return s == s->services->main ? !bn_session_over(s) : bn_crew_barrier(p->crew);
}

static void set_interrupt(struct bn_session *s, void (*fn)(void *arg), void *arg)
{
  const struct bn_parts *p = s->services->of;

  bn_interrupt_set(p->interrupt, s, fn, arg);
}

void bn_services_bind(struct bn_services *out, struct bn_parts *parts,
                      const struct bn_sessions *sessions, const struct bn_workload *ops)
{
  *out = (struct bn_services){
      .of = parts,
      .conf = parts->conf,
      .metrics = ops->metrics,
      .main = bn_sessions_main(sessions),
      .reporting = bn_sessions_reporting(sessions),
      .unique = &parts->load->unique,
      .set_kind = set_kind,
      .fact = fact,
      .count_label = count_label,
      .leave = leave,
      .fail = fail,
      .stay_behind = stay_behind,
      .barrier = barrier,
      .set_interrupt = set_interrupt,
      .counted_events = bn_event_counted,
  };
}
