/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes JSON, by jansson. */
#include "measure/json.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/bounds.h"

/* A struct bn_node is a json_t that only this file sees.  A cast by way of an integer drops const
   without a warning. */
static json_t *json_inner(const struct bn_node *n)
{
  return (json_t *)(uintptr_t)n;
}

static struct bn_node *json_outer(const json_t *j)
{
  return (struct bn_node *)(uintptr_t)j;
}

size_t bn_node_bound_values(const char *text, size_t len)
{
  size_t n = 1;
  bool quoted = false;

  for (size_t i = 0; i < len; i++) {
    if (quoted && text[i] == '\\')
      i++;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && (text[i] == ',' || text[i] == '[' || text[i] == '{'))
      n++;
  }
  return n;
}

struct bn_node *bn_node_parse_within(const char *text, size_t len, size_t most, struct bn_err *err)
{
  json_error_t why = {.line = 0};
  json_t *j;

  if (bn_node_bound_values(text, len) > most) {
    (void)bn_err_set(err, EFBIG, "it has more than %zu values", most);
    return NULL;
  }
  j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
  if (j == NULL && why.text[0] == '\0') /* the parser says nothing if memory runs out */
    bn_alloc_fail();
  if (j == NULL)
    (void)bn_err_set(err, EINVAL, "line %d: %s", why.line, why.text);
  return json_outer(j);
}

struct bn_node *bn_node_parse(const char *text, size_t len, struct bn_err *err)
{
  return bn_node_parse_within(text, len, BN_BOUND_VALUES, err);
}

/* Returns the length of the text of the list that begins at text[0], which is '[', or 0 if the list
   has anything but numbers, nulls, and lists of them. */
static size_t json_length_of_numbers(const char *text)
{
  static const char allowed[] = "[]0123456789+-.eE,nul \n"; /* 'n', 'u' and 'l' are of null */
  const char *end = text;
  int depth = 0; /* of the lists that have begun and not ended */

  do {
    depth += *end == '[';
    depth -= *end == ']';
    if (*end == '\0' || strchr(allowed, *end) == NULL) /* strchr() would find the 0 */
      return 0;
    end++;
  } while (depth > 0);
  return (size_t)(end - text);
}

/* Removes all white space from a list of numbers, text[0..len): no space is part of a value.
   Returns the new length. */
static size_t json_squeeze_numbers(char *text, size_t len)
{
  size_t n = 0;

  for (size_t i = 0; i < len; i++)
    if (text[i] != ' ' && text[i] != '\n')
      text[n++] = text[i];
  return n;
}

/* Puts lists of numbers on one line each: with a line for each bucket of a histogram, four fifths
   of a document would be indentation.  Returns the new length. */
static size_t json_join_numbers(char *text)
{
  size_t n = 0;
  bool quoted = false; /* `at` is within a text */
  char *at = text;

  while (*at != '\0') {
    size_t len = !quoted && *at == '[' ? json_length_of_numbers(at) : 0;
    size_t kept; /* of these len bytes, once white space is removed */

    if (len > 0) {
      kept = json_squeeze_numbers(at, len);
    } else {
      len = kept = quoted && *at == '\\' ? 2 : 1; /* an escaped quote does not end a text */
      quoted ^= *at == '"';
    }
    memmove(text + n, at, kept);
    n += kept;
    at += len;
  }
  text[n] = '\0';
  return n;
}

char *bn_node_print(const struct bn_node *n, unsigned indent, size_t *len)
{
  const size_t flags =
      (indent > 0 ? JSON_INDENT(indent) : JSON_COMPACT) | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY;
  /* json_dumps() drops a name for which it has no memory, and reports no error. */
  const size_t size = json_dumpb(json_inner(n), NULL, 0, flags);
  char *text = bn_alloc(size + 1, 1);

  if (size == 0 || json_dumpb(json_inner(n), text, size, flags) != size)
    bn_alloc_fail();
  *len = indent > 0 ? json_join_numbers(text) : size;
  return text;
}

void bn_node_free(struct bn_node *n)
{
  json_decref(json_inner(n));
}

struct bn_node *bn_node_map(void)
{
  return json_outer(json_object());
}

struct bn_node *bn_node_list(void)
{
  return json_outer(json_array());
}

struct bn_node *bn_node_utf8(const char *s)
{
  return json_outer(json_string(s));
}

struct bn_node *bn_node_integer(int64_t i)
{
  return json_outer(json_integer(i));
}

struct bn_node *bn_node_real(double x)
{
  return json_outer(json_real(x));
}

struct bn_node *bn_node_boolean(bool yes)
{
  return json_outer(json_boolean(yes));
}

struct bn_node *bn_node_null(void)
{
  return json_outer(json_null());
}

int bn_node_set(struct bn_node *map, const char *key, struct bn_node *value)
{
  return json_object_set_new(json_inner(map), key, json_inner(value));
}

int bn_node_append(struct bn_node *list, struct bn_node *value)
{
  return json_array_append_new(json_inner(list), json_inner(value));
}

/* Does bn_node_complete().  Values other than lists and maps stay as they are.  The recursion is
   bounded, because the parser has bounded the depth of the trees. */
static void json_complete(json_t *into, json_t *from)
{
  const size_t n_values = json_array_size(into); /* 0: it is no list */
  const char *key;
  json_t *value;

  if (n_values == json_array_size(from))
    for (size_t i = 0; i < n_values; i++)
      json_complete(json_array_get(into, i), json_array_get(from, i));
  if (!json_is_object(into) || !json_is_object(from))
    return;
  json_object_foreach(from, key, value)
  {
    json_t *mine = json_object_get(into, key);

    if (mine != NULL)
      json_complete(mine, value);
    else if (json_object_set(into, key, value) != 0)
      bn_alloc_fail();
  }
}

void bn_node_complete(struct bn_node *into, const struct bn_node *from)
{
  json_complete(json_inner(into), json_inner(from));
}

static bool json_is_empty(const json_t *j)
{
  return (json_is_array(j) && json_array_size(j) == 0) ||
         (json_is_object(j) && json_object_size(j) == 0);
}

/* Removes the keys of `into` that `from` lacks, unless their value is an empty list or map, in all
   maps within it too.  The recursion is bounded, as that of json_complete(). */
static void json_confine(json_t *into, json_t *from)
{
  const size_t n_values = json_array_size(into);
  const char *key;
  json_t *value;
  void *next;

  if (n_values == json_array_size(from))
    for (size_t i = 0; i < n_values; i++)
      json_confine(json_array_get(into, i), json_array_get(from, i));
  if (!json_is_object(into) || !json_is_object(from))
    return;
  json_object_foreach_safe(into, next, key, value)
  {
    json_t *theirs = json_object_get(from, key);

    if (theirs != NULL)
      json_confine(value, theirs);
    else if (!json_is_empty(value))
      (void)json_object_del(into, key);
  }
}

void bn_node_confine(struct bn_node *into, const struct bn_node *from)
{
  json_confine(json_inner(into), json_inner(from));
}

enum bn_node_type bn_node_type_of(const struct bn_node *n)
{
  static const enum bn_node_type types[] = {
      [JSON_OBJECT] = BN_NODE_MAP, [JSON_ARRAY] = BN_NODE_LIST,  [JSON_STRING] = BN_NODE_TEXT,
      [JSON_REAL] = BN_NODE_REAL,  [JSON_INTEGER] = BN_NODE_INT, [JSON_TRUE] = BN_NODE_BOOL,
      [JSON_FALSE] = BN_NODE_BOOL, [JSON_NULL] = BN_NODE_NULL,
  };

  return n != NULL ? types[json_typeof(json_inner(n))] : BN_NODE_NULL;
}

const struct bn_node *bn_node_get(const struct bn_node *map, const char *key)
{
  return json_outer(json_object_get(json_inner(map), key));
}

const struct bn_node *bn_node_get_at(const struct bn_node *list, size_t i)
{
  return json_outer(json_array_get(json_inner(list), i));
}

size_t bn_node_count(const struct bn_node *n)
{
  return json_is_object(json_inner(n)) ? json_object_size(json_inner(n))
                                       : json_array_size(json_inner(n));
}

int bn_node_each(const struct bn_node *map,
                 int (*fn)(void *arg, const char *key, const struct bn_node *value), void *arg)
{
  const char *key;
  json_t *value;
  int rc = 0;

  json_object_foreach(json_inner(map), key, value)
  {
    rc = fn(arg, key, json_outer(value));
    if (rc != 0)
      break;
  }
  return rc;
}

const char *bn_node_get_text(const struct bn_node *n)
{
  return json_string_value(json_inner(n));
}

int64_t bn_node_get_integer(const struct bn_node *n)
{
  return json_integer_value(json_inner(n));
}

double bn_node_get_real(const struct bn_node *n)
{
  return json_number_value(json_inner(n));
}

bool bn_node_get_boolean(const struct bn_node *n)
{
  return json_is_true(json_inner(n));
}
