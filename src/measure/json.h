/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes JSON as trees of values.  Functions that say nothing of a lack of memory end the
   process then (base/alloc.h). */
#ifndef BN_MEASURE_JSON_H
#define BN_MEASURE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A value and all that is within it.  One thread at a time works on a tree. */
struct bn_node;

enum bn_node_type {
  BN_NODE_NULL,
  BN_NODE_BOOL,
  BN_NODE_INT,
  BN_NODE_REAL,
  BN_NODE_TEXT,
  BN_NODE_LIST,
  BN_NODE_MAP
};

/* Parses a text, which must be a single map or list with every key once, and have no more values
   than measure/bounds.h allows.  Returns NULL and err if it is not, with the fault and its line. */
struct bn_node *bn_node_parse(const char *text, size_t len, struct bn_err *err);
/* Returns an upper bound of the number of values in a text, so that a text with too many is refused
   before the parser allocates them: one, and one more for each comma, list and map outside of
   texts.  A list or map that is empty therefore counts twice. */
size_t bn_node_bound_values(const char *text, size_t len);
/* As bn_node_parse() for a text with at most that many values. */
struct bn_node *bn_node_parse_within(const char *text, size_t len, size_t most, struct bn_err *err);
/* Prints a tree with that many spaces per level, and lists of numbers on one line each; indent 0:
   all on one line.  The caller frees the text, which ends with a 0 that len does not count. */
char *bn_node_print(const struct bn_node *n, unsigned indent, size_t *len);
void bn_node_free(struct bn_node *n); /* frees a tree; NULL is allowed */

/* These make a value.  They return NULL if there is no memory, for a text that is not UTF-8, or for
   a number that is not finite. */
struct bn_node *bn_node_map(void);
struct bn_node *bn_node_list(void);
struct bn_node *bn_node_utf8(const char *s);
struct bn_node *bn_node_integer(int64_t i);
struct bn_node *bn_node_real(double x);
struct bn_node *bn_node_boolean(bool yes);
struct bn_node *bn_node_null(void);
/* These take over the value, also when they fail.  They return 0, or -1 if there is no memory, if
   the value or the map or list is NULL, or if the key is not UTF-8. */
int bn_node_set(struct bn_node *map, const char *key, struct bn_node *value);
int bn_node_append(struct bn_node *list, struct bn_node *value);
/* Adds the keys of `from` that `into` lacks, with their values, which the trees share then; also in
   maps within maps, and in maps within lists that have the same length in both. */
void bn_node_complete(struct bn_node *into, const struct bn_node *from);
/* Removes the keys of `into` that `from` lacks, in all maps in which bn_node_complete() would add
   some.  Keys with an empty list or map stay.  If either tree is NULL, nothing is done. */
void bn_node_confine(struct bn_node *into, const struct bn_node *from);

/* These read a tree, which owns what they return. */
enum bn_node_type bn_node_type_of(const struct bn_node *n); /* NULL: BN_NODE_NULL */
const struct bn_node *bn_node_get(const struct bn_node *map, const char *key); /* or NULL */
const struct bn_node *bn_node_get_at(const struct bn_node *list, size_t i);    /* or NULL */
size_t bn_node_count(const struct bn_node *n); /* number of values of a list or map */
/* Calls fn for every key of a map, in the order of the text, until it returns other than 0, and
   returns that. */
int bn_node_each(const struct bn_node *map,
                 int (*fn)(void *arg, const char *key, const struct bn_node *value), void *arg);
const char *bn_node_get_text(const struct bn_node *n); /* NULL: not a text */
int64_t bn_node_get_integer(const struct bn_node *n);  /* 0: not an integer */
double bn_node_get_real(const struct bn_node *n);      /* also for an integer; 0: not a number */
bool bn_node_get_boolean(const struct bn_node *n);

#endif
