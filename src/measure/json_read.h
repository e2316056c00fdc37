/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes values out of a tree and remembers the first that is not what it should be. */
#ifndef BN_MEASURE_JSON_READ_H
#define BN_MEASURE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/json.h"
#include "measure/layout.h"

struct bn_json_in {
  struct bn_err *err; /* gets the first fault */
  bool failed;
};

__attribute__((format(printf, 2, 3))) void bn_json_in_refuse(struct bn_json_in *e, const char *fmt,
                                                             ...);
int bn_json_in_verdict(const struct bn_json_in *e); /* 0 or -1 */

/* Members of a map.  NULL or 0: there is none, it is null, or it is of another type, which is a
   fault. */
const struct bn_node *bn_json_in_list(struct bn_json_in *e, const struct bn_node *map,
                                      const char *key);
const struct bn_node *bn_json_in_map(struct bn_json_in *e, const struct bn_node *map,
                                     const char *key);
const char *bn_json_in_text(struct bn_json_in *e, const struct bn_node *map, const char *key);
bool bn_json_in_bool(struct bn_json_in *e, const struct bn_node *map, const char *key);
int64_t bn_json_in_signed(struct bn_json_in *e, const struct bn_node *map, const char *key,
                          int64_t min, int64_t max);
/* The place of a text among names that end with NULL; another text is a fault. */
unsigned bn_json_in_name(struct bn_json_in *e, const struct bn_node *map, const char *key,
                         const char *const *names);
/* A count as measure/store.h has it: null is UINT64_MAX. */
uint64_t bn_json_in_get_count(struct bn_json_in *e, const struct bn_node *map, const char *key);
/* null is HUGE_VAL. */
double bn_json_in_get_number(struct bn_json_in *e, const struct bn_node *map, const char *key);
/* The same of a value at hand; key: for the sentence. */
uint64_t bn_json_in_count(struct bn_json_in *e, const struct bn_node *n, const char *key);
double bn_json_in_number(struct bn_json_in *e, const struct bn_node *n, const char *key);
/* How many values a list has; more than max are a fault. */
size_t bn_json_in_length(struct bn_json_in *e, const struct bn_node *list, const char *key,
                         size_t max);
/* Every member of a struct that a layout names. */
void bn_json_in_layout(struct bn_json_in *e, const struct bn_node *map, const struct bn_layout *l,
                       void *into);

#endif
