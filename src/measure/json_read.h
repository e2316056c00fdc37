/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the values of a tree, and keeps the first fault. */
#ifndef BN_MEASURE_JSON_READ_H
#define BN_MEASURE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/json.h"
#include "measure/layout.h"

/* The state of reading a tree.  It is passed to all functions below. */
struct bn_json_in {
  struct bn_err *err; /* gets the first fault */
  bool failed;        /* there was a fault */
};

/* Sets the fault, unless there was one before. */
__attribute__((format(printf, 2, 3))) void bn_json_in_refuse(struct bn_json_in *in, const char *fmt,
                                                             ...);
/* Returns -1 if there was a fault, which err has, else 0. */
int bn_json_in_verdict(const struct bn_json_in *in);

/* These return a member of a map; NULL, false or 0 if there is none, if it is null, or if it is of
   another type or out of range, which is a fault. */
const struct bn_node *bn_json_in_list(struct bn_json_in *in, const struct bn_node *map,
                                      const char *key);
const struct bn_node *bn_json_in_map(struct bn_json_in *in, const struct bn_node *map,
                                     const char *key);
const char *bn_json_in_text(struct bn_json_in *in, const struct bn_node *map, const char *key);
bool bn_json_in_bool(struct bn_json_in *in, const struct bn_node *map, const char *key);
int64_t bn_json_in_signed(struct bn_json_in *in, const struct bn_node *map, const char *key,
                          int64_t min, int64_t max);
/* Returns the index of a text among names that end with NULL.  Another text, or none, is a
   fault. */
unsigned bn_json_in_name(struct bn_json_in *in, const struct bn_node *map, const char *key,
                         const char *const *names);
/* Returns a count, which may be a text of digits if it is above 2^63 - 1, or UINT64_MAX for null; 0
   if there is none.  Anything else is a fault. */
uint64_t bn_json_in_get_count(struct bn_json_in *in, const struct bn_node *map, const char *key);
/* Returns a number, or HUGE_VAL for null; 0 if there is none.  Anything else is a fault. */
double bn_json_in_get_number(struct bn_json_in *in, const struct bn_node *map, const char *key);
/* As the last two for a value instead of a member.  key: its name in the message. */
uint64_t bn_json_in_read_count(struct bn_json_in *in, const struct bn_node *n, const char *key);
double bn_json_in_read_number(struct bn_json_in *in, const struct bn_node *n, const char *key);
/* Returns how many values a list has; NULL has none.  More than max are a fault, and 0 is
   returned. */
size_t bn_json_in_length(struct bn_json_in *in, const struct bn_node *list, const char *key,
                         size_t max);
/* Sets every member of a struct that a layout names. */
void bn_json_in_layout(struct bn_json_in *in, const struct bn_node *map, const struct bn_layout *l,
                       void *into);

#endif
