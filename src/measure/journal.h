/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal of a run: lines that are appended while it goes on, so that a process which is killed
   leaves all whole seconds behind.  measure/store.h describes its form. */
#ifndef BN_MEASURE_JOURNAL_H
#define BN_MEASURE_JOURNAL_H

#include "measure/lines.h"
#include "measure/lockfile.h"
#include "measure/store.h"

/* Takes a line without a newline; line[len] may be overwritten.  Returns 0, or -1 and err. */
typedef int bn_journal_put(void *of, char *line, size_t len, struct bn_err *err);

struct bn_journal {
  bn_journal_put *put; /* writes or sends a line */
  void *of;            /* its first argument */
  bool brief; /* lines are sent, not kept: their records are brief (bn_store_print_brief) */
  struct bn_lockfile lock; /* of its file, until it is closed */
  bool ended;              /* it is not open, or a line could not be written */
  bool written;            /* it has a line */
  struct bn_snap past;     /* the last tick; without metrics: they have not been written */
  struct bn_snap step; /* the present tick, with the histograms of the time since the last one */
};

/* Makes an empty file and locks it.  A journal of that name that no run has locked is moved aside
   (lock.aside).  Returns 0, or -1 and err, with the code EBUSY if a run has it locked; then the
   journal is not open. */
int bn_journal_open(struct bn_journal *j, const char *path, struct bn_err *err);
/* Opens a journal whose lines are sent and do not go into a file. */
void bn_journal_open_sink(struct bn_journal *j, bn_journal_put *put, void *of);
/* These write one line each, with one write(2); the first view of a group writes a line of the
   group before it.  If a line cannot be written, the journal ends: that call returns -1 and err,
   later ones do nothing and return 0. */

/* Writes the facts.  group: also writes, in the same line, this name and the metrics of the group,
   which f->plan has: a reader then knows what will be measured before there is a view.  NULL: the
   facts alone. */
int bn_journal_write_facts(struct bn_journal *j, const char *group, const struct bn_facts *f,
                           struct bn_err *err);
/* Writes a view, but no total: the ticks stand for it. */
int bn_journal_write_view(struct bn_journal *j, const char *group, const struct bn_view *v,
                          struct bn_err *err);
/* Closes a journal.  remove: also removes its file, because the document has been written.  A
   journal without a line is removed in any case, and a file that was moved aside for it gets its
   name again. */
void bn_journal_close(struct bn_journal *j, bool remove);

/* Completes the result of a run that was cut, which has its facts: adds the group, with the last
   tick as its total.  The tick has the histograms of all ticks.  If the facts lack the start of the
   run, because they were sent earlier, the start is computed from the tick. */
void bn_journal_complete_cut(struct bn_result *r, const char *group, const struct bn_view *tick);

/* Returns whether a text is a journal. */
bool bn_journal_is_journal(const char *text, size_t len);
/* Reads the result of a journal; the last tick is the total.  A last line without a newline is left
   out; other lines that cannot be read are skipped and counted.  A line above a bound
   (measure/bounds.h) ends the reading, and what came before it is the result.  Returns 0, or -1 and
   err if the first line does not begin a journal.  The caller frees `out` in both cases. */
int bn_journal_read(struct bn_lines *lines, struct bn_stored *out, struct bn_err *err);

#endif
