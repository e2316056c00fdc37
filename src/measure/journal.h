/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal of a run that goes on: lines that are appended, so that a process which is killed
   leaves all whole seconds behind.  Its form stands in measure/store.h. */
#ifndef BN_MEASURE_JOURNAL_H
#define BN_MEASURE_JOURNAL_H

#include "measure/lines.h"
#include "measure/lockfile.h"
#include "measure/store.h"

/* Takes a line without a newline; line[len] may be overwritten.  0, or -1 and err. */
typedef int bn_journal_put(void *of, char *line, size_t len, struct bn_err *err);

struct bn_journal {
  bn_journal_put *put; /* where lines go */
  void *of;
  bool brief; /* lines are sent, not kept: their histograms are brief (bn_store_brief) */
  struct bn_lockfile lock;   /* of its file, until it is closed */
  bool ended;                /* it is not open, or could not be written any more */
  bool written;              /* it has a line */
  bool has_group;            /* its metrics have been written */
  struct bn_snap past, step; /* histograms up to the last tick, and since it */
};

/* Makes an empty file and holds it.  A journal of that name that no run holds is moved aside
   (lock.aside).  0, or -1 and err, with the code EBUSY when a run holds it: it is closed. */
int bn_journal_open(struct bn_journal *j, const char *path, struct bn_err *err);
/* As bn_journal_open for lines that are sent and do not go into a file. */
void bn_journal_to(struct bn_journal *j, bn_journal_put *put, void *of);
/* Each writes one line with one write(2).  What cannot be written ends the journal: -1 and err,
   once; later calls do nothing and return 0.  A view is not the total: ticks stand for it. */
int bn_journal_facts(struct bn_journal *j, const struct bn_facts *f, struct bn_err *err);
/* The facts and, in the same line, the name and the metrics of the group, which f->plan has: who
   reads it knows what will be measured before there is a view. */
int bn_journal_head(struct bn_journal *j, const char *group, const struct bn_facts *f,
                    struct bn_err *err);
int bn_journal_view(struct bn_journal *j, const char *group, const struct bn_view *v,
                    struct bn_err *err);
/* remove: the document has been written, so that the journal is not needed any more.  A journal
   without a line is removed in any case, and what was moved aside for it gets its name again. */
void bn_journal_close(struct bn_journal *j, bool remove);

/* Ends a result that has the facts, of a run that was cut: the group gets the last tick as its
   total, which has the histograms of all ticks.  The start follows from it where the facts do not
   say it, as they are sent before the start. */
void bn_journal_cut(struct bn_result *r, const char *group, const struct bn_view *tick);

/* Returns whether a text is a journal. */
bool bn_journal_is(const char *text, size_t len);
/* Reads the result of a journal; the last tick is the total.  A last line without a newline is left
   out; other lines that cannot be read are skipped and counted.  A line above a bound
   (measure/bounds.h) ends the reading, and what came before it is the result.  keep_tree: as of
   bn_store_load().  0, or -1 and err: there is no memory, or the first line does not begin a
   journal; out is to be freed in both cases. */
int bn_journal_read(struct bn_lines *lines, bool keep_tree, struct bn_stored *out,
                    struct bn_err *err);

#endif
