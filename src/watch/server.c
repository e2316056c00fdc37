/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches the database server over a separate connection. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/metric.h"
#include "base/alloc.h"
#include "measure/watch.h"
#include "sql/side_query.h"
#include "watch/watchers.h"

struct server {
  struct bn_sql_side_query side_query;
  bool absent[BN_SQL_COUNTERS]; /* by statement of the driver: the server does not answer it */
  /* The counters that the server has named so far, n of them, in the order of readings. */
  struct bn_watched_name name[BN_READING_MAX]; /* set once, because figures point at the texts */
  char *key[BN_READING_MAX];                   /* owned; the server's own names */
  size_t n;
};

/* Returns whether a number of the server is a state, such as the open connections, and no count. */
static bool server_is_gauge(const struct server *s, const char *key)
{
  const char *const *gauge = s->side_query.link.ops->gauges;

  for (; gauge != NULL && *gauge != NULL; gauge++)
    if (strcmp(*gauge, key) == 0)
      return true;
  return false;
}

/* Returns "server_", the key and the unit: the name of a figure.  The caller frees it. */
static char *server_name_figure(const char *key, const char *unit)
{
  return bn_alloc_print(BN_WATCHED_SERVER "%s%s", key, unit);
}

/* Adds a counter that the server has named v, and the names of its figures.  Returns false if there
   are too many counters. */
static bool server_add_name(struct server *s, const struct bn_sql_value *v)
{
  struct bn_watched_name *name;
  char *key;

  if (s->n == BN_READING_MAX)
    return false;
  name = &s->name[s->n];
  key = bn_alloc_part(v->ptr, v->len);
  s->key[s->n] = key;
  if (server_is_gauge(s, key)) {
    name->state = server_name_figure(key, "");
  } else {
    name->rate = server_name_figure(key, "_per_s");
    name->part = server_name_figure(key, BN_WATCHED_PER_TRANSACTION);
  }
  s->n++;
  return true;
}

/* A reading in progress. */
struct pass {
  struct server *server;
  struct bn_reading *reading;
  size_t next; /* index of the expected name: rows come in the same order each time */
};

static bool server_has_name_at(const struct server *s, size_t i, const struct bn_sql_value *v)
{
  return i < s->n && strncmp(s->key[i], v->ptr, v->len) == 0 && s->key[i][v->len] == '\0';
}

/* Returns the index of a name, which is added if it is new, or BN_READING_MAX if there is no room
   for it. */
static size_t server_intern_name(const struct pass *p, const struct bn_sql_value *v)
{
  struct server *s = p->server;

  if (server_has_name_at(s, p->next, v))
    return p->next;
  for (size_t i = 0; i < s->n; i++)
    if (server_has_name_at(s, i, v))
      return i;
  return server_add_name(s, v) ? s->n - 1 : BN_READING_MAX;
}

/* Parses a value of digits alone.  Returns false for words, fractions and times, which are no
   counts. */
static bool server_parse_number(const struct bn_sql_value *v, uint64_t *number)
{
  char digits[24]; /* more than the largest number of 64 bits has */

  if (v->len == 0 || v->len >= sizeof digits)
    return false;
  for (size_t i = 0; i < v->len; i++)
    if (!isdigit((unsigned char)v->ptr[i]))
      return false;
  (void)snprintf(digits, sizeof digits, "%.*s", (int)v->len, v->ptr);
  errno = 0;
  *number = strtoull(digits, NULL, 10);
  return errno == 0;
}

/* Returns whether a name of the server may stand in the name of a figure in a document. */
static bool server_is_plain_name(const struct bn_sql_value *v)
{
  static const char marks[] = "_-.";

  for (size_t i = 0; i < v->len; i++)
    if (!isalnum((unsigned char)v->ptr[i]) && memchr(marks, v->ptr[i], strlen(marks)) == NULL)
      return false;
  return v->len > 0;
}

/* Adds a row, a name and its number, to the reading.  A row that is no count is passed over, and so
   is a new name beyond the largest number of counters. */
static void server_add_row(void *arg, const struct bn_sql_value pair[2])
{
  const struct bn_sql_value *name = &pair[0], *value = &pair[1];
  struct pass *p = arg;
  uint64_t number;
  size_t i;

  if (!server_is_plain_name(name) || !server_parse_number(value, &number))
    return;
  i = server_intern_name(p, name);
  if (i == BN_READING_MAX)
    return;
  p->reading->value[i] = number;
  p->next = i + 1;
}

/* Sends the statements of the driver for counters.  An optional statement that has failed, because
   the server does not have the counters or the user may not read them, is not sent again.  Returns
   0, or -1 and err if a statement that every server answers has failed. */
static int server_read(void *self, struct bn_reading *r, struct bn_err *err)
{
  struct server *s = self;
  const struct bn_driver *ops = s->side_query.link.ops;
  struct pass p = {.server = s, .reading = r};

  if (ops->counters[0].sql == NULL)
    return bn_err_set(err, EINVAL,
                      "no server is watched: the driver '%s' has no counters of a server",
                      ops->name);
  for (size_t i = 0; i < BN_READING_MAX; i++)
    r->value[i] = BN_ABSENT;
  for (size_t i = 0; i < BN_SQL_COUNTERS && ops->counters[i].sql != NULL; i++) {
    const struct bn_sql_counters *c = &ops->counters[i];

    if (s->absent[i])
      continue;
    s->absent[i] =
        bn_sql_side_query_read_pairs(&s->side_query.link, c->sql, server_add_row, &p, err) != 0;
    if (s->absent[i] && !c->optional)
      return -1;
  }
  return 0;
}

static int server_open(void *self, const struct bn_watch_place *place, struct bn_err *err)
{
  struct server *s = self;

  if (place->sql == NULL)
    return bn_err_set(err, EINVAL, "no server is watched: this test uses no database");
  return bn_sql_side_query_open(&s->side_query, place->sql, bn_clock_mono() + BN_WATCH_PATIENCE_NS,
                                err);
}

static void server_compare(void *self, const struct bn_reading *from, const struct bn_reading *to,
                           const struct bn_view *v, struct bn_watched *out)
{
  const struct server *s = self;

  bn_watched_add_server(s->name, from, to, v, out);
}

static void server_interrupt(void *self)
{
  struct server *s = self;

  bn_sql_side_query_interrupt(&s->side_query);
}

static void server_close(void *self)
{
  struct server *s = self;

  bn_sql_side_query_close(&s->side_query);
}

/* Frees the names of the counters and those of their figures, which reports have used. */
static void server_done(void *self)
{
  struct server *s = self;

  for (size_t i = 0; i < s->n; i++) {
    free(s->key[i]);
    free(s->name[i].state);
    free(s->name[i].rate);
    free(s->name[i].part);
  }
}

const struct bn_watcher bn_watcher_server = {
    .name = "server",
    .state_size = sizeof(struct server),
    .shared = true,
    .open = server_open,
    .read = server_read,
    .compare = server_compare,
    .interrupt = server_interrupt,
    .close = server_close,
    .done = server_done,
};
