/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts values into the tree of a document. */
#include "measure/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"

struct bn_node *bn_node_text(const char *s)
{
  struct bn_node *n = s != NULL ? bn_node_utf8(s) : bn_node_null();

  if (n == NULL) {                            /* it is not UTF-8, or there is no memory */
    char *escaped = bn_escape_new(s, "\n\t"); /* these would be escaped too */

    n = bn_node_utf8(escaped);
    free(escaped);
  }
  if (n == NULL)
    bn_alloc_fail();
  return n;
}

struct bn_node *bn_node_u64(uint64_t n)
{
  char digits[24];

  if (n == UINT64_MAX)
    return bn_node_null();
  if (n <= INT64_MAX)
    return bn_node_integer((int64_t)n);
  (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  return bn_node_utf8(digits);
}

struct bn_node *bn_node_f64(double x)
{
  return isfinite(x) ? bn_node_real(x) : bn_node_null();
}

static bool json_write_is_ascii(const char *s)
{
  for (; *s != '\0'; s++)
    if ((unsigned char)*s >= 0x80)
      return false;
  return true;
}

/* Returns the key as bn_node_text() escapes it, with a number if the map has that key already.  The
   caller frees it. */
static char *json_write_unused_key(const struct bn_node *map, const char *key)
{
  struct bn_node *text = bn_node_text(key);
  const char *escaped = bn_node_get_text(text);
  char *unused = bn_alloc_text(escaped);

  for (unsigned n = 2; bn_node_get(map, unused) != NULL; n++) {
    free(unused);
    unused = bn_alloc_print("%s (%u)", escaped, n);
  }
  bn_node_free(text);
  return unused;
}

void bn_json_put(struct bn_node *map, const char *key, struct bn_node *value)
{
  /* Most keys are ASCII.  They are not looked up: hardly any is the escaped form of another key. */
  char *unused_key = json_write_is_ascii(key) ? NULL : json_write_unused_key(map, key);

  if (bn_node_set(map, unused_key != NULL ? unused_key : key, value) != 0)
    bn_alloc_fail();
  free(unused_key);
}

void bn_json_add(struct bn_node *list, struct bn_node *value)
{
  if (bn_node_append(list, value) != 0)
    bn_alloc_fail();
}

void bn_json_names(struct bn_node *map, const char *key, const char *const *names, unsigned bits)
{
  struct bn_node *list = bn_node_list();

  for (unsigned i = 0; names[i] != NULL; i++)
    if ((bits >> i & 1) != 0)
      bn_json_add(list, bn_node_text(names[i]));
  bn_json_put(map, key, list);
}

/* Returns the value of a member of a struct as a node.  l: the member's row in the layout. */
static struct bn_node *json_write_value_of(const struct bn_layout *l, const void *member)
{
  switch (l->type) {
  case BN_LAY_BOOL:
    return bn_node_boolean(*(const bool *)member);
  case BN_LAY_INT:
    return bn_node_integer(*(const int *)member);
  case BN_LAY_UNSIGNED:
    return bn_node_integer(*(const unsigned *)member);
  case BN_LAY_WHOLE:
    return bn_node_u64(*(const uint64_t *)member);
  case BN_LAY_SIGNED:
    return bn_node_integer(*(const int64_t *)member);
  case BN_LAY_REAL:
    return bn_node_f64(*(const double *)member);
  }
  return NULL;
}

/* Returns whether all bytes of a member are 0.  -0.0 is not zero here, so that it is written and
   keeps its sign. */
static bool json_write_is_zero(const struct bn_layout *l, const void *member)
{
  static const uint64_t zero;
  static const size_t size[] = {
      [BN_LAY_BOOL] = sizeof(bool),         [BN_LAY_INT] = sizeof(int),
      [BN_LAY_UNSIGNED] = sizeof(unsigned), [BN_LAY_WHOLE] = sizeof(uint64_t),
      [BN_LAY_SIGNED] = sizeof(int64_t),    [BN_LAY_REAL] = sizeof(double),
  };

  return memcmp(member, &zero, size[l->type]) == 0;
}

void bn_json_layout(struct bn_node *map, const struct bn_layout *l, const void *from, bool brief)
{
  for (; l->name != NULL; l++) {
    const void *member = (const char *)from + l->offset;

    if (!brief || !json_write_is_zero(l, member))
      bn_json_put(map, l->name, json_write_value_of(l, member));
  }
}
