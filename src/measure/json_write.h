/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the tree of a document: puts values into maps and lists, and remembers if one could not be
   made, so that only the finished tree has to be checked.

   Every function takes the value over.  Single thread. */
#ifndef BN_MEASURE_JSON_WRITE_H
#define BN_MEASURE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/json.h"
#include "measure/layout.h"

/* Values.  NULL: out of memory.  A text that is not UTF-8 gets U+FFFD for each byte that is not
   ASCII; NULL is null. */
struct bn_node *bn_node_text(const char *s);
/* UINT64_MAX is null, and what an integer cannot hold is a text. */
struct bn_node *bn_node_u64(uint64_t n);
/* NaN or infinite: null. */
struct bn_node *bn_node_f64(double x);

struct bn_json_out {
  bool failed; /* no memory for a value */
  bool brief;  /* what is 0, false or empty may be left out */
};

/* A key that is not ASCII is as bn_node_text would have it, and gets a number (" (2)") if the map
   has that key already: different keys may look the same once they are UTF-8. */
void bn_json_put(struct bn_json_out *p, struct bn_node *map, const char *key,
                 struct bn_node *value);
void bn_json_add(struct bn_json_out *p, struct bn_node *list, struct bn_node *value);
void bn_json_text(struct bn_json_out *p, struct bn_node *map, const char *key, const char *text);
/* The list of the names whose bits are set; bit 0 is that of the first name. */
void bn_json_names(struct bn_json_out *p, struct bn_node *map, const char *key,
                   const char *const *names, unsigned bits);
/* Every member of a struct that a layout names. */
void bn_json_layout(struct bn_json_out *p, struct bn_node *map, const struct bn_layout *l,
                    const void *from);
/* The tree, for the caller to free; NULL: something of it is missing, and it is freed. */
struct bn_node *bn_json_finish(const struct bn_json_out *p, struct bn_node *n);

#endif
