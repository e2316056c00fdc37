/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the values of a tree, and keeps the first fault. */
#include "measure/json_read.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"

void bn_json_in_refuse(struct bn_json_in *in, const char *fmt, ...)
{
  char text[256]; /* a longer one is cut */
  va_list ap;

  if (in->failed)
    return;
  in->failed = true;
  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  (void)bn_err_set(in->err, EINVAL, "%s", text);
}

int bn_json_in_verdict(const struct bn_json_in *in)
{
  return in->failed ? -1 : 0;
}

/* Returns the member of a map, or NULL if there is none or it is null.  Refuses a member of another
   type.  what: the type in words. */
static const struct bn_node *json_read_member(struct bn_json_in *in, const struct bn_node *map,
                                              const char *key, enum bn_node_type type,
                                              const char *what)
{
  const struct bn_node *n = bn_node_get(map, key);

  if (n == NULL || bn_node_type_of(n) == type)
    return n;
  if (bn_node_type_of(n) != BN_NODE_NULL)
    bn_json_in_refuse(in, "'%s' is not a %s", key, what);
  return NULL;
}

const struct bn_node *bn_json_in_list(struct bn_json_in *in, const struct bn_node *map,
                                      const char *key)
{
  return json_read_member(in, map, key, BN_NODE_LIST, "list");
}

const struct bn_node *bn_json_in_map(struct bn_json_in *in, const struct bn_node *map,
                                     const char *key)
{
  return json_read_member(in, map, key, BN_NODE_MAP, "map");
}

const char *bn_json_in_text(struct bn_json_in *in, const struct bn_node *map, const char *key)
{
  return bn_node_get_text(json_read_member(in, map, key, BN_NODE_TEXT, "text"));
}

bool bn_json_in_bool(struct bn_json_in *in, const struct bn_node *map, const char *key)
{
  return bn_node_get_boolean(json_read_member(in, map, key, BN_NODE_BOOL, "boolean"));
}

/* Reads a count that is a text, because a JSON integer of 64 bits cannot hold it.  Returns false if
   the text is not a count.  strtoull() alone would also take blanks and a sign. */
static bool json_read_digits(const char *digits, uint64_t *count)
{
  char *end;

  errno = 0;
  *count = strtoull(digits, &end, 10);
  return digits[0] >= '0' && digits[0] <= '9' && *end == '\0' && errno == 0;
}

uint64_t bn_json_in_read_count(struct bn_json_in *in, const struct bn_node *n, const char *key)
{
  uint64_t count;

  if (n == NULL)
    return 0;
  switch (bn_node_type_of(n)) {
  case BN_NODE_NULL:
    return UINT64_MAX;
  case BN_NODE_INT:
    if (bn_node_get_integer(n) >= 0)
      return (uint64_t)bn_node_get_integer(n);
    break;
  case BN_NODE_TEXT:
    if (json_read_digits(bn_node_get_text(n), &count))
      return count;
    break;
  default:
    break;
  }
  bn_json_in_refuse(in, "'%s' is not a count", key);
  return 0;
}

uint64_t bn_json_in_get_count(struct bn_json_in *in, const struct bn_node *map, const char *key)
{
  return bn_json_in_read_count(in, bn_node_get(map, key), key);
}

int64_t bn_json_in_signed(struct bn_json_in *in, const struct bn_node *map, const char *key,
                          int64_t min, int64_t max)
{
  const struct bn_node *n = bn_node_get(map, key);
  const enum bn_node_type type = bn_node_type_of(n); /* BN_NODE_NULL also if there is none */
  const int64_t i = bn_node_get_integer(n);

  if (type == BN_NODE_NULL)
    return 0;
  if (type == BN_NODE_INT && i >= min && i <= max)
    return i;
  bn_json_in_refuse(in, "'%s' is not a whole number, or is out of range", key);
  return 0;
}

double bn_json_in_read_number(struct bn_json_in *in, const struct bn_node *n, const char *key)
{
  if (n == NULL)
    return 0;
  switch (bn_node_type_of(n)) {
  case BN_NODE_NULL:
    return HUGE_VAL;
  case BN_NODE_INT:
  case BN_NODE_REAL:
    return bn_node_get_real(n);
  default:
    bn_json_in_refuse(in, "'%s' is not a number", key);
    return 0;
  }
}

double bn_json_in_get_number(struct bn_json_in *in, const struct bn_node *map, const char *key)
{
  return bn_json_in_read_number(in, bn_node_get(map, key), key);
}

unsigned bn_json_in_name(struct bn_json_in *in, const struct bn_node *map, const char *key,
                         const char *const *names)
{
  const char *name = bn_json_in_text(in, map, key);
  const int i = bn_near_find(names, name);

  if (i >= 0)
    return (unsigned)i;
  bn_json_in_refuse(in, "'%s' is '%.40s', which this version does not know", key,
                    name != NULL ? name : "");
  return 0;
}

void bn_json_in_layout(struct bn_json_in *in, const struct bn_node *map, const struct bn_layout *l,
                       void *into)
{
  for (; l->name != NULL; l++) {
    void *at = (char *)into + l->offset;

    switch (l->type) {
    case BN_LAY_BOOL:
      *(bool *)at = bn_json_in_bool(in, map, l->name);
      break;
    case BN_LAY_INT:
      *(int *)at = (int)bn_json_in_signed(in, map, l->name, INT_MIN, INT_MAX);
      break;
    case BN_LAY_UNSIGNED:
      *(unsigned *)at = (unsigned)bn_json_in_signed(in, map, l->name, 0, UINT_MAX);
      break;
    case BN_LAY_WHOLE:
      *(uint64_t *)at = bn_json_in_get_count(in, map, l->name);
      break;
    case BN_LAY_SIGNED:
      *(int64_t *)at = bn_json_in_signed(in, map, l->name, INT64_MIN, INT64_MAX);
      break;
    case BN_LAY_REAL:
      *(double *)at = bn_json_in_get_number(in, map, l->name);
      break;
    }
  }
}

size_t bn_json_in_length(struct bn_json_in *in, const struct bn_node *list, const char *key,
                         size_t max)
{
  const size_t n = bn_node_count(list);

  if (n <= max)
    return n;
  bn_json_in_refuse(in, "'%s' has more than %zu values", key, max);
  return 0;
}
