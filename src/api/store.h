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

/* A value of a document; the module's. */
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

/* `bench_store` is the one symbol the module exports.  One thread at a time works on a tree. */
struct bn_store {
  unsigned abi;     /* BN_STORE_ABI it was built with */
  size_t size;      /* sizeof (struct bn_store) it was built with */
  const char *name; /* "json" */
  /* A text must be one map or list and nothing else, with every key once.  NULL: err says what is
     wrong and in which line. */
  struct bn_node *(*parse)(const char *text, size_t len, struct bn_err *err);
  /* indent 0: all on one line.  malloc'd, ends with a 0 that len does not count; NULL: no memory.
   */
  char *(*print)(const struct bn_node *n, unsigned indent, size_t *len);
  void (*free)(struct bn_node *n); /* with all in it; NULL is allowed */

  /* Making: the value, or NULL: out of memory, a text that is not UTF-8, a number that is not
     finite. */
  struct bn_node *(*map)(void);
  struct bn_node *(*list)(void);
  struct bn_node *(*text)(const char *s);
  struct bn_node *(*integer)(int64_t i);
  struct bn_node *(*real)(double x);
  struct bn_node *(*boolean)(bool yes);
  struct bn_node *(*null)(void);
  /* They take the value over, also when they fail; -1: no memory, the value is NULL, or the key is
     not UTF-8. */
  int (*set)(struct bn_node *map, const char *key, struct bn_node *value);
  int (*append)(struct bn_node *list, struct bn_node *value);
  /* Keys of `from` that `into` lacks are added, also in maps within maps and in maps of lists that
     are as long in both.  0 or -1: no memory. */
  int (*complete)(struct bn_node *into, const struct bn_node *from);

  /* Reading: what is returned is borrowed from the tree. */
  enum bn_node_type (*type)(const struct bn_node *n);                       /* NULL: BN_NODE_NULL */
  const struct bn_node *(*get)(const struct bn_node *map, const char *key); /* NULL: not there */
  const struct bn_node *(*at)(const struct bn_node *list, size_t i);        /* NULL: not there */
  size_t (*count)(const struct bn_node *n); /* of a list's or map's values */
  /* Calls fn for every key of a map, in the order of the text, until it returns other than 0, and
     returns that. */
  int (*each)(const struct bn_node *map,
              int (*fn)(void *arg, const char *key, const struct bn_node *value), void *arg);
  const char *(*get_text)(const struct bn_node *n); /* NULL: it is none */
  int64_t (*get_integer)(const struct bn_node *n);  /* 0: it is none */
  double (*get_real)(const struct bn_node *n);      /* of an integer too; 0: it is none */
  bool (*get_boolean)(const struct bn_node *n);

  /* The opposite of complete: keys of `into` that `from` lacks are removed, in the same places.
     Empty lists and maps stay. */
  void (*confine)(struct bn_node *into, const struct bn_node *from);

  /* As parse, of a text with at most so many values. */
  struct bn_node *(*parse_within)(const char *text, size_t len, size_t most, struct bn_err *err);
};

/* How its modules are found: a struct bn_plugin_kind (base/plugin.h). */
#define BN_STORE_KIND                                                                              \
  {                                                                                                \
    "store", "bench_store", BN_STORE_ABI, sizeof(struct bn_store)                                  \
  }

#endif
