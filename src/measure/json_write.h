/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the tree of a document: puts values into maps and lists.

   Every function takes over the values that it is given.  A value that could not be made, for lack
   of memory, ends the process where it is put (base/alloc.h). */
#ifndef BN_MEASURE_JSON_WRITE_H
#define BN_MEASURE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/json.h"
#include "measure/layout.h"

/* These make a value, or NULL without memory. */

/* Makes a text, or null for NULL.  A text that is not UTF-8 is escaped as by bn_escape(), so that
   two such names stay different. */
struct bn_node *bn_node_text(const char *s);
/* Makes an integer, null for UINT64_MAX, or a text for a number that an integer cannot hold. */
struct bn_node *bn_node_u64(uint64_t n);
/* Makes a number, or null for a value that is not finite. */
struct bn_node *bn_node_f64(double x);

/* Puts a value into a map.  A key that is not ASCII is cleaned as by bn_node_text().  Different
   keys may then be the same: a key that the map has already gets a number, as in "key (2)". */
void bn_json_put(struct bn_node *map, const char *key, struct bn_node *value);
/* Appends a value to a list. */
void bn_json_add(struct bn_node *list, struct bn_node *value);
/* Puts a list of the names whose bits are set into a map; bit 0 is that of the first name. */
void bn_json_names(struct bn_node *map, const char *key, const char *const *names, unsigned bits);
/* Puts every member of a struct that a layout names into a map; if `brief`, only those that are not
   0. */
void bn_json_layout(struct bn_node *map, const struct bn_layout *l, const void *from, bool brief);

#endif
