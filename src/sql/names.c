/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --statements: what the statements of a session are counted as. */
#include "sql/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "measure/stat.h"
#include "sql/digest.h"

enum { SLOTS = 1024 }; /* a power of two */

/* Digests seen before, each in the place that its hash says; a new one replaces what is there. */
struct slot {
  uint64_t hash;
  struct bn_statement *statement; /* NULL: none yet */
};

struct bn_sql_names {
  const struct bn_session *session;
  struct slot slot[SLOTS];
};

struct bn_sql_names *bn_sql_names_new(const struct bn_session *s)
{
  struct bn_sql_names *n = calloc(1, sizeof *n);

  if (n != NULL)
    n->session = s;
  return n;
}

void bn_sql_names_free(struct bn_sql_names *n)
{
  free(n);
}

struct bn_statement *bn_sql_names_get(struct bn_sql_names *n, const char *name, size_t len)
{
  const struct bn_session *s = n->session;
  struct bn_statement *st = bn_statements_get(s->stat->statements, s->id, name, len);

  if (st == NULL) {
    bn_log(BN_FATAL, "--statements: out of memory");
    s->services->fail(s->services->of);
  }
  return st;
}

/* Eight bytes at a time; two texts of one run have the same one once in 2^64 pairs. */
static uint64_t hash_of(const char *text, size_t len)
{
  uint64_t h = len, word;

  for (; len >= sizeof word; text += sizeof word, len -= sizeof word) {
    memcpy(&word, text, sizeof word);
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  word = 0;
  memcpy(&word, text, len);
  h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 32;
}

struct bn_statement *bn_sql_names_of_text(struct bn_sql_names *n, const char *sql, size_t len,
                                          const struct bn_sql_caps *caps)
{
  char name[BN_STATEMENT_NAME];
  const size_t size = bn_sql_digest(sql, len, caps, name, sizeof name);
  const uint64_t hash = hash_of(name, size);
  struct slot *slot = &n->slot[hash % SLOTS];

  if (slot->statement == NULL || slot->hash != hash)
    *slot = (struct slot){hash, bn_sql_names_get(n, name, size)};
  return slot->statement;
}
