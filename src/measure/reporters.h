/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop over the reporters of a run, of a run on many hosts, or of a stored result.

   Order of the calls: open, begin, starting, started, views, ended, total, close.  One thread makes
   them at a time. */
#ifndef BN_MEASURE_REPORTERS_H
#define BN_MEASURE_REPORTERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/report.h"
#include "base/buf.h"
#include "measure/result.h"

struct bn_reporters_slot {
  struct bn_report_use use;
  void *state; /* owned */
  bool opened;
  bool lost; /* its report is not complete */
};

/* The caller may set the members up to `text` after bn_reporters_init. */
struct bn_reporters {
  struct bn_err *err;    /* gets the first error; NULL: errors are logged */
  pthread_mutex_t *lock; /* is held while `finish` reads facts; NULL: none */
  /* The reporter that sets `shown` with its total, and that prints the result if a report is lost.
     NULL: none. */
  const struct bn_reporter *text;
  /* Returns whether the reader of standard output has left.  NULL: nobody watches it. */
  bool (*reader_left)(void);
  struct bn_reporters_slot *slot; /* owned */
  size_t n;
  unsigned replaced;    /* BN_REPLACES_… of all reporters together, once they are open */
  _Atomic bool failed;  /* a call has failed */
  struct bn_buf lines;  /* the text that a view's lines point at */
  _Atomic bool in_hook; /* a script's hook prints the final report or a part of it */
  _Atomic bool shown;   /* `text` has printed the final report */
  /* Borrowed until the reporters are closed: the facts, the total, and the groups of its hosts. */
  const struct bn_facts *facts;
  const struct bn_view *total;
  const struct bn_group *member;
  size_t n_members;
};

/* Copies `use`; what its members point at is borrowed. */
void bn_reporters_init(struct bn_reporters *r, const struct bn_report_use *use, size_t n);
/* Frees the reporters, which have been closed. */
void bn_reporters_done(struct bn_reporters *r);

/* Functions that return a bool return false if a reporter has failed. */

/* Opens the reporters until one cannot be opened or refuses the plan.  plan NULL: they are not
   asked whether they accept it.  bn_reporters_close() is to be called in any case. */
bool bn_reporters_open(struct bn_reporters *r, const struct bn_plan *plan);
/* Asks the open reporters again, about a plan of which more is known.  Returns 0, or -1 and err if
   one of them refuses it. */
int bn_reporters_check_plan(const struct bn_reporters *r, const struct bn_plan *plan,
                            struct bn_err *err);
/* These pass the facts of a run: for the heading, before the first worker begins, and when the
   start barrier opens.  The facts stay valid until the reporters are closed, and may grow. */
void bn_reporters_begin(struct bn_reporters *r, const struct bn_facts *f);
void bn_reporters_starting(struct bn_reporters *r, const struct bn_facts *f);
void bn_reporters_started(struct bn_reporters *r, const struct bn_facts *f);
/* Passes a view.  Sets v->replaced, and v->lines if a reporter adds lines. */
bool bn_reporters_view(struct bn_reporters *r, struct bn_view *v);
/* Says that no interval, checkpoint or tick will come any more.  Comes before the total. */
void bn_reporters_ended(struct bn_reporters *r);
/* Passes the total of a run on n hosts, each with its group.  If `text` is set, the view and the
   groups stay valid until the reporters are closed, as does a total that bn_reporters_view()
   passes. */
bool bn_reporters_total(struct bn_reporters *r, struct bn_view *v, const struct bn_group *g,
                        size_t n);
/* Passes a stored result, from its facts to how it ended, until a reporter fails. */
bool bn_reporters_replay(struct bn_reporters *r, const struct bn_result *result);
/* Passes how the run ended, and closes the reporters that were opened.  end NULL:
   bn_reporters_replay() has passed it.  If a report could not be written, and there is no text
   report, `text` prints the result on standard output, or on standard error if a report was to go
   to standard output. */
bool bn_reporters_close(struct bn_reporters *r, const struct bn_end *end);

/* Returns whether a reporter wants views of that span. */
bool bn_reporters_want(const struct bn_reporters *r, enum bn_view_span span);
/* Returns whether a reporter wants the time after the last interval. */
bool bn_reporters_want_rest(const struct bn_reporters *r);

#endif
