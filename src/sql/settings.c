/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks a server for the settings that somebody who repeats the run needs. */
#include "sql/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sql/side_query.h"

/* A table that another client has locked delays the start for PATIENCE_S at most.  Against a server
   that lies, answers after the first FACTS_MAX are dropped, and longer names and values are cut to
   NAME_ROOM and VALUE_ROOM bytes with their final 0. */
enum { PATIENCE_S = 5, FACTS_MAX = 256, NAME_ROOM = 64, VALUE_ROOM = 256 };

/* The facts that are being collected. */
struct settings {
  const struct bn_services *services;
  const char *section;
  bool pooled; /* the connection belongs to a pooler */
  unsigned n_answers;
};

/* Adds an answer, a name and a value, to the facts.  The answer "on_this_host" (questions.c of the
   drivers) is dropped if there is a pooler: it would say whether the pooler, and not bench, is on
   the server's host. */
static void settings_add(void *arg, const struct bn_sql_value pair[2])
{
  struct settings *s = arg;
  char name[NAME_ROOM], value[VALUE_ROOM];

  if (s->n_answers == FACTS_MAX)
    return;
  (void)snprintf(name, sizeof name, "%.*s", (int)pair[0].len, pair[0].ptr);
  (void)snprintf(value, sizeof value, "%.*s", (int)pair[1].len, pair[1].ptr);
  if (name[0] == '\0')
    return;
  s->n_answers++;
  if (!s->pooled || strcmp(name, "on_this_host") != 0)
    s->services->fact(s->services->of, s->section, name, value);
}

/* Adds to the facts whether there is a pooler, the answers to the questions of the driver, and the
   isolation level that the run sets. */
static void settings_ask(void *arg, struct bn_sql_link *link)
{
  const struct bn_sql_conn *c = arg;
  const struct bn_driver *ops = link->ops;
  const int level = c->sys->conf->isolation;
  struct settings s = {.services = c->session->services};
  struct bn_err err = {0}; /* a question that fails is passed over */

  s.pooled = ops->pooled != NULL && ops->pooled(link->handle);
  if (s.pooled)
    s.services->fact(s.services->of, "database", "pooler", "yes");
  for (const struct bn_sql_question *each = ops->questions; each->section != NULL; each++) {
    s.section = each->section;
    (void)bn_sql_side_query_read_pairs(link, each->sql, settings_add, &s, &err);
  }
  if (level != BN_ISOLATION_DEFAULT)
    s.services->fact(s.services->of, "server", "isolation", bn_sql_isolation_word(level));
}

void bn_sql_settings_gather(struct bn_sql_conn *c, const struct bn_sql_target *target)
{
  const bool is_wanted = c->sys->wants_settings && c->drv->ops->questions != NULL &&
                         bn_sql_preflight_is_worker(c->session);
  uint64_t until_ns;

  if (!is_wanted || atomic_exchange(&c->sys->settings_reported, true))
    return;
  until_ns = bn_clock_mono() + PATIENCE_S * BN_NSEC_PER_SEC;
  bn_sql_session_ask_server(c->owner, c->drv, target, until_ns, settings_ask, c);
}
