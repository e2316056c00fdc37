/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plain members of a result's structs by the names that they have in a document, for reading
   and writing alike. */
#ifndef BN_MEASURE_LAYOUT_H
#define BN_MEASURE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

enum bn_layout_type {
  BN_LAY_BOOL,     /* bool */
  BN_LAY_INT,      /* int */
  BN_LAY_UNSIGNED, /* unsigned */
  BN_LAY_WHOLE,    /* uint64_t */
  BN_LAY_SIGNED,   /* int64_t */
  BN_LAY_REAL      /* double */
};

struct bn_layout {
  const char *name;
  enum bn_layout_type type;
  size_t offset;
};

/* Sets the value of the member of that name, which is a whole or a real number.  false: there is
   none. */
bool bn_layout_value(const struct bn_layout *l, const void *of, const char *name, double *value);

/* Returns whether there is such a member. */
bool bn_layout_has(const struct bn_layout *l, const char *name);

/* Returns the place of a text among names that end with NULL; -1: it is none of them, or NULL. */
int bn_layout_find_name(const char *const *names, const char *name);
/* Returns the bit of enum bn_opt_trait of that name; 0: there is none, as for one of a later
 * version.
 */
unsigned bn_layout_trait(const char *name);

/* They end with a NULL name. */
extern const struct bn_layout bn_layout_plan[], bn_layout_times[], bn_layout_end[];
extern const struct bn_layout bn_layout_view[], bn_layout_snap[];
extern const struct bn_layout bn_layout_timing[], bn_layout_count[], bn_layout_event_kind[],
    bn_layout_phase[], bn_layout_ages[], bn_layout_session[];
extern const struct bn_layout bn_layout_member[];

/* The key of a record that is a line of its own. */
extern const char *const bn_layout_spans[];
/* Names of the values of enum bn_version, bn_kind, bn_origin, bn_metric_kind, bn_merge and
   bn_end_reason, of the levels of messages, and of the bits of enum bn_opt_trait; they end with
   NULL. */
extern const char *const bn_layout_dialects[],
    *const bn_layout_kinds[], *const bn_layout_origins[], *const bn_layout_metric_kinds[],
                                                              *const bn_layout_merges[],
                                                                  *const bn_layout_reasons[],
                                                                      *const bn_layout_levels[],
                                                                          *const bn_layout_traits[];

#endif
