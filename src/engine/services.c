/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binds what sessions may ask of a run (api/session.h) to the parts of the run that answer. */
#include "engine/run_internal.h"

static void set_kind(void *of, enum bn_kind kind)
{
  struct bn_run *run = of;

  bn_book_set_kind(run->book, kind);
}

static void count_label(void *of, unsigned index, const char *label)
{
  struct bn_run *run = of;

  bn_labels_count(run->stats.labels[index], label, 1);
}

static bool leave(void *of, int status)
{
  return bn_run_leave(of, status);
}

static void fact(void *of, const char *section, const char *key, const char *text)
{
  struct bn_run *run = of;

  bn_book_fact(run->book, section, key, text);
}

_Noreturn static void stay_behind(void *of)
{
  bn_run_stay_behind(of);
}

void bn_run_bind_services(struct bn_run *run)
{
  run->services = (struct bn_services){
      .of = run,
      .conf = run->conf,
      .workload_conf = run->workload_conf,
      .metrics = run->ops->metrics,
      .main = bn_run_main_session(run),
      .reporting = bn_run_report_session(run),
      .unique = &run->unique,
      .set_kind = set_kind,
      .fact = fact,
      .count_label = count_label,
      .leave = leave,
      .stay_behind = stay_behind,
      .barrier = bn_run_barrier,
      .set_interrupt = bn_run_set_interrupt,
      .counted_events = bn_event_counted,
  };
}
