/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of the modules that read and write documents, as trees of values. */
#ifndef BN_API_STORE_H
#define BN_API_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_STORE_ABI = 1 };

/* A value of a document; owned by the module. */
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

/* `bench_store` is the only symbol the module exports.  One thread at a time works on a tree. */
struct bn_store {
  unsigned abi;     /* BN_STORE_ABI it was built with */
  size_t size;      /* sizeof (struct bn_store) it was built with */
  const char *name; /* "json" */
  /* Parses a text, which must be a single map or list with every key once.  Returns NULL if it is
     not; err has the fault and the line. */
  struct bn_node *(*parse)(const char *text, size_t len, struct bn_err *err);
  /* Prints a tree; indent 0: all on one line.  The caller frees the text, which ends with a 0 that
     len does not count.  Returns NULL if out of memory. */
  char *(*print)(const struct bn_node *n, unsigned indent, size_t *len);
  void (*free)(struct bn_node *n); /* frees a tree; NULL is allowed */

  /* These make a value.  They return NULL if out of memory, for a text that is not UTF-8, or for a
     number that is not finite. */
  struct bn_node *(*map)(void);
  struct bn_node *(*list)(void);
  struct bn_node *(*text)(const char *s);
  struct bn_node *(*integer)(int64_t i);
  struct bn_node *(*real)(double x);
  struct bn_node *(*boolean)(bool yes);
  struct bn_node *(*null)(void);
  /* These take the value over, also when they fail.  They return -1 if out of memory, if the value
     is NULL, or if the key is not UTF-8. */
  int (*set)(struct bn_node *map, const char *key, struct bn_node *value);
  int (*append)(struct bn_node *list, struct bn_node *value);
  /* Adds keys of `from` that `into` lacks, also in maps within maps and in maps of lists that are
     as long in both.  Returns 0, or -1 if out of memory. */
  int (*complete)(struct bn_node *into, const struct bn_node *from);

  /* These read; the tree owns their results. */
  enum bn_node_type (*type)(const struct bn_node *n);                       /* NULL: BN_NODE_NULL */
  const struct bn_node *(*get)(const struct bn_node *map, const char *key); /* NULL: not there */
  const struct bn_node *(*at)(const struct bn_node *list, size_t i);        /* NULL: not there */
  size_t (*count)(const struct bn_node *n); /* number of values of a list or map */
  /* Calls fn for every key of a map, in the order of the text, until it returns other than 0, and
     returns that. */
  int (*each)(const struct bn_node *map,
              int (*fn)(void *arg, const char *key, const struct bn_node *value), void *arg);
  const char *(*get_text)(const struct bn_node *n); /* NULL: not a text */
  int64_t (*get_integer)(const struct bn_node *n);  /* 0: not an integer */
  double (*get_real)(const struct bn_node *n);      /* also for an integer; 0: not a number */
  bool (*get_boolean)(const struct bn_node *n);

  /* Removes keys of `into` that `from` lacks, where complete adds them.  Empty lists and maps
     stay. */
  void (*confine)(struct bn_node *into, const struct bn_node *from);

  /* As parse, for a text with at most that many values. */
  struct bn_node *(*parse_within)(const char *text, size_t len, size_t most, struct bn_err *err);
};

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_STORE_KIND                                                                              \
  {                                                                                                \
    "store", "bench_store", BN_STORE_ABI, sizeof(struct bn_store)                                  \
  }

#endif
