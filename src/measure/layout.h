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

/* Sets *value to the member of that name in the struct at `from`, or to NaN if it is UINT64_MAX, a
   number that is not known, and returns true.  Returns false, and leaves *value, if the layout has
   no such member, or one that is neither BN_LAY_WHOLE nor BN_LAY_REAL. */
bool bn_layout_get_number(const struct bn_layout *l, const void *from, const char *name,
                          double *value);

/* Returns whether bn_layout_get_number() would find a member of that name. */
bool bn_layout_has_number(const struct bn_layout *l, const char *name);

/* Returns the bit of enum bn_opt_trait of that name, or 0 if this version has no such trait. */
unsigned bn_layout_find_trait(const char *name);

/* Each of these layouts ends with a NULL name. */
extern const struct bn_layout bn_layout_plan[], bn_layout_times[], bn_layout_end[];
extern const struct bn_layout bn_layout_view[], bn_layout_snap[];
extern const struct bn_layout bn_layout_timing[], bn_layout_count[], bn_layout_event_kind[],
    bn_layout_phase[], bn_layout_ages[], bn_layout_session[];
extern const struct bn_layout bn_layout_member[];

/* The keys of records that are lines of their own, by enum bn_view_span; NULL does not end them. */
extern const char *const bn_layout_spans[];
/* Names by the values of an enum or, of traits, by bit.  They end with NULL. */
extern const char *const bn_layout_dialects[];     /* enum bn_version */
extern const char *const bn_layout_kinds[];        /* enum bn_kind */
extern const char *const bn_layout_origins[];      /* enum bn_origin */
extern const char *const bn_layout_metric_kinds[]; /* enum bn_metric_kind */
extern const char *const bn_layout_merges[];       /* enum bn_merge_rule */
extern const char *const bn_layout_reasons[];      /* enum bn_end_reason */
extern const char *const bn_layout_levels[];       /* enum bn_level */
extern const char *const bn_layout_traits[];       /* enum bn_opt_trait */

#endif
