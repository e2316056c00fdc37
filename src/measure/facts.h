/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a run: the program, its options, the workload, the host, the server, the times.
   They are values; other files gather them. */
#ifndef BN_MEASURE_FACTS_H
#define BN_MEASURE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/opt.h"
#include "api/plan.h"
#include "api/session.h"

enum bn_fact_type { BN_FACT_TEXT, BN_FACT_WHOLE, BN_FACT_REAL };

/* A fact: section "host", key "cpu_model". */
struct bn_fact {
  char *section, *key;
  enum bn_fact_type type;
  char *text; /* BN_FACT_TEXT */
  int64_t whole;
  double real;
};

/* A line that the workload says about itself under the heading of the run. */
struct bn_fact_row {
  int level;  /* enum bn_level from which it is shown */
  char *text; /* with its newlines */
};

struct bn_fact_option {
  char *group, *name;
  char *value; /* as a user would type it; NULL: no value, or a secret */
  enum bn_origin origin;
  unsigned traits; /* enum bn_opt_trait */
  bool secret;     /* there is a value, which is not kept */
};

/* A message of the run. */
struct bn_fact_message {
  uint64_t wall_ns; /* when it was logged first */
  int level;        /* enum bn_level of base/log.h; BN_NOTICE: a line on standard error */
  char *text;
  uint64_t times; /* how often it was logged in all */
};

/* The outcome of an assertion at the end of the run. */
struct bn_finding {
  double value;  /* in the unit of the assertion; 0 if nothing was measured */
  bool measured; /* else it does not hold */
  bool at_least; /* the value may be larger: events have not ended */
  bool holds;
  bool ended_run; /* it was violated for so long that the run was ended; then it does not hold */
};

/* An --assert and its outcome. */
struct bn_verdict {
  char *text, *unit; /* "p99<50ms", "ms" */
  struct bn_finding found;
};

/* All strings are owned.  One thread at a time uses them; the engine has a lock around its own. */
struct bn_facts {
  struct bn_plan plan;
  struct bn_fact *fact;
  size_t n_facts;
  struct bn_fact_row *row;
  size_t n_rows;
  struct bn_fact_option *option;
  size_t n_options;
  struct bn_fact_message *message; /* in the order of time */
  size_t n_messages;
  struct bn_verdict *verdict; /* from the final report on */
  size_t n_verdicts;
  /* CLOCK_MONOTONIC of this host and CLOCK_REALTIME of the same moment, ns; 0: not yet. */
  uint64_t start_ns, start_wall_ns; /* when the start barrier opened */
  uint64_t end_wall_ns;             /* when the measurement ended */
};

/* The sections about failed statements.  Their keys are the server's codes; the values are the
   class and the message of the first error of each code. */
#define BN_ERROR_CLASSES  "error_classes"
#define BN_ERROR_MESSAGES "error_messages"

/* The sections about threads that failed while others went on.  Their keys are the kinds of
   failures; the values are the message of the first failure of that kind, and its time in seconds
   since the measurement began. */
#define BN_THREAD_ERRORS      "thread_errors"
#define BN_THREAD_ERROR_TIMES "thread_error_seconds"

/* These set a fact, whose text is copied.  They replace an earlier fact of the same section and
   key. */
void bn_facts_set_text(struct bn_facts *f, const char *section, const char *key, const char *text);
void bn_facts_set_whole(struct bn_facts *f, const char *section, const char *key, int64_t value);
void bn_facts_set_real(struct bn_facts *f, const char *section, const char *key, double value);
/* Sets a copy of a fact. */
void bn_facts_set_copy(struct bn_facts *f, const struct bn_fact *fact);
/* Copies the facts about errors and failed threads that f does not have.  If threads failed
   in the same way in both, the earlier failure stays. */
void bn_facts_add_errors(struct bn_facts *f, const struct bn_facts *from);
/* Puts the name of the group in which threads failed, and ": ", before the kinds of the failures.
   group NULL: does nothing. */
void bn_facts_name_group(struct bn_facts *f, const char *group);
/* Returns whether groups made the run (--group). */
bool bn_facts_have_groups(const struct bn_facts *f);
/* Returns whether fact i is the first of its section. */
bool bn_facts_begins_section(const struct bn_facts *f, size_t i);
/* Returns a fact, or NULL if it is not known.  It is valid until the next fact is set. */
const struct bn_fact *bn_facts_find(const struct bn_facts *f, const char *section, const char *key);
/* Returns the text of a fact, which is valid until that fact is set again; NULL if it is not known
   or a number. */
const char *bn_facts_find_text(const struct bn_facts *f, const char *section, const char *key);
/* Adds a line that the workload says about itself; a newline is added if the text does not end with
   one. */
__attribute__((format(printf, 3, 4))) void bn_facts_add_row(struct bn_facts *f, int level,
                                                            const char *fmt, ...);
/* Adds a copy of an option, without the value of a secret. */
void bn_facts_add_option(struct bn_facts *f, const struct bn_opt_fact *option);
/* Gives the options of an older document, which does not say their traits, the traits that they
   have today.  traits_of NULL: nobody knows them, and nothing is done. */
void bn_facts_set_traits(struct bn_facts *f, bn_opt_traits_of *traits_of);
/* Adds a message, whose text is copied. */
void bn_facts_add_message(struct bn_facts *f, uint64_t wall_ns, int level, const char *text,
                          uint64_t times);
/* Adds all messages that have been logged so far. */
void bn_facts_add_logged(struct bn_facts *f);
/* Adds the outcome of an assertion. */
void bn_facts_add_verdict(struct bn_facts *f, const char *text, const char *unit,
                          const struct bn_finding *found);
void bn_facts_done(struct bn_facts *f);

#endif
