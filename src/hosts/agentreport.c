/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes frames of the calls that the reporters of a run receive. */
#include "hosts/agentreport.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hosts/agent.h"
#include "measure/journal.h"
#include "measure/result.h"

struct reporter {
  struct bn_agent *agent;
  struct bn_journal journal;
  bool is_ready_sent;
  char workload[256];     /* the name of the workload; a longer one is cut */
  struct bn_group packed; /* agentreport_interval() packs an interval in it; else empty */
};

/* Sends a line of the journal.  The first line, which has the facts of the run, is a frame READY,
   and each later line a frame INTERVAL.  Returns 0, or -1 and err. */
static int agentreport_send_line(void *reporter, char *line, size_t len, struct bn_err *err)
{
  struct reporter *r = reporter;
  const enum bn_frame_type type = r->is_ready_sent ? BN_FRAME_INTERVAL : BN_FRAME_READY;

  if (bn_send_queue_put(bn_agent_get_send_queue(r->agent), type, line, len) != 0)
    return bn_err_set(err, EPIPE, "the controller does not read what is sent to it");
  r->is_ready_sent = true;
  return 0;
}

/* Opens a journal whose lines are sent as frames, so that no path and no file is used. */
static int agentreport_open(void *self, const void *conf, const char *path, FILE *out,
                            struct bn_err *err)
{
  struct reporter *r = self;

  (void)path;
  (void)out;
  (void)err;
  r->agent = (struct bn_agent *)(uintptr_t)conf; /* other reporters have a conf that is const */
  r->packed.packs = true;
  bn_journal_open_sink(&r->journal, agentreport_send_line, r);
  return 0;
}

/* Sends the facts of the run, which say that all sessions are ready. */
static void agentreport_started(void *self, const struct bn_facts *f)
{
  struct reporter *r = self;
  const char *name = bn_facts_find_text(f, "workload", "name");

  (void)snprintf(r->workload, sizeof r->workload, "%s", name != NULL ? name : "");
  /* If the line cannot be sent, the listener ends the run. */
  (void)bn_journal_write_facts(&r->journal, r->workload, f, NULL /* err */);
}

/* Sends a view.  Returns 0 even if it cannot be sent, because the listener ends the run then. */
static int agentreport_view(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct reporter *r = self;

  (void)err;
  (void)bn_journal_write_view(&r->journal, r->workload, v, NULL /* err */);
  return 0;
}

/* Leaves in the view only the watched figures that all hosts share, because the controller shows
   sums over all hosts.  *shared holds the figures, and has to live as long as the view. */
static void agentreport_keep_shared(struct bn_view *v, struct bn_watched *shared)
{
  bn_watched_pick(v, true /* shared */, shared);
  v->watched = shared->figure;
  v->n_watched = shared->n;
}

/* Sends the facts about errors, and then the checkpoint, with which the controller shows them.
   Leaves out the figures of sessions, whose sums the checkpoint has, and of statements, which only
   the total shows. */
static int agentreport_checkpoint(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct reporter *r = self;
  struct bn_snap delta = *v->delta;
  struct bn_view sent = *v;
  struct bn_watched shared;

  delta.n_sessions = 0;
  sent.delta = &delta;
  sent.sessions = NULL;
  sent.n_sessions = 0;
  sent.statements = NULL;
  sent.n_statements = 0;
  agentreport_keep_shared(&sent, &shared);
  if (v->error_facts != NULL && v->error_facts->n_facts > 0)
    (void)bn_journal_write_facts(&r->journal, NULL /* no group */, v->error_facts, NULL);
  return agentreport_view(r, &sent, err);
}

/* Sends an interval with its histograms, which bn_group_add_view() packs in a copy.  Frees the copy
   at once, but keeps its place in the group, which is used again for the next interval. */
static int agentreport_interval(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct reporter *r = self;
  struct bn_view sent = *v;
  struct bn_watched shared;

  agentreport_keep_shared(&sent, &shared);
  bn_group_add_view(&r->packed, &sent);
  struct bn_record *packed = &r->packed.interval[0];

  (void)agentreport_view(r, &packed->view, err);
  bn_record_done(packed);
  r->packed.n_intervals = 0;
  return 0;
}

/* Sends the document, which is complete now. */
static int agentreport_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  const struct reporter *r = self;

  (void)end;
  return bn_agent_send_document(r->agent, err);
}

/* Closes the journal, and frees the room in which intervals were packed. */
static int agentreport_close(void *self, struct bn_err *err)
{
  struct reporter *r = self;

  (void)err;
  bn_journal_close(&r->journal, false /* remove */);
  free(r->packed.interval);
  r->packed.interval = NULL;
  return 0;
}

const struct bn_reporter bn_reporter_agent = {.name = "agent",
                                              .state_size = sizeof(struct reporter),
                                              .rest = true,
                                              .aside = true,
                                              .facts = true,
                                              .open = agentreport_open,
                                              .started = agentreport_started,
                                              .interval = agentreport_interval,
                                              .checkpoint = agentreport_checkpoint,
                                              .tick = agentreport_view,
                                              .finish = agentreport_finish,
                                              .close = agentreport_close};
