/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --statements: finds the counters of a statement, which are kept under its name. */
#include "sql/statements.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/stat.h"

/* --- patterns: texts with places for their values --- */

/* Returns the position after the number at p, or p if there is none.  p is also returned if the
   number ends with a point, which might belong to the text after it.  As an unsigned number, the
   distance from '0' is 0 to 9 for digits alone. */
static inline const char *statements_skip_digits(const char *p)
{
  const char *const begin = p;

  if ((unsigned char)(*p - '0') > 9)
    return p;
  do
    p++;
  while ((unsigned char)(*p - '0') <= 9 || *p == '.');
  return p[-1] != '.' ? p : begin;
}

/* Returns the position after the text in single quotes at p, or p if there is none.  A text with a
   backslash, which may stand before its closing quote, is not skipped.  A doubled quote is taken
   for the closing one: then the rest begins with a quote, as no part of a pattern does, so that
   nothing is matched by mistake.  end[0] is 0. */
static const char *statements_skip_quotes(const char *p, const char *end)
{
  const char *quote;

  if (*p != '\'')
    return p;
  quote = memchr(p + 1, '\'', (size_t)(end - p - 1));
  if (quote == NULL || memchr(p, '\\', (size_t)(quote - p)) != NULL)
    return p;
  return quote + 1;
}

/* Returns the kind of the literal from p to `end`, or END if it is of neither kind and stays in the
   text of a pattern. */
static enum bn_sql_place statements_literal_kind(const char *p, const char *end)
{
  if (statements_skip_digits(p) == end)
    return BN_SQL_PLACE_NUMBER;
  return statements_skip_quotes(p, end) == end ? BN_SQL_PLACE_QUOTED : BN_SQL_PLACE_END;
}

/* A literal without its sign, which stays in the text. */
struct literal {
  size_t at, end;
  enum bn_sql_place kind;
};

/* Returns literal number i without its sign. */
static struct literal statements_literal_of(const char *sql, const struct bn_sql_literals *literals,
                                            size_t i)
{
  struct literal l = {.at = literals->literal[i].at};

  l.end = l.at + literals->literal[i].len;
  if (sql[l.at] == '-' || sql[l.at] == '+')
    l.at++;
  l.kind = statements_literal_kind(sql + l.at, sql + l.end);
  return l;
}

/* Fills the parts and the text of a pattern, which has room for them: bn_sql_pattern_new has found
   that the parts together have BN_SQL_PATTERN_TEXT bytes at most. */
static void statements_fill_pattern(struct bn_sql_pattern *p, const char *sql, size_t len,
                                    const struct bn_sql_literals *literals)
{
  struct bn_sql_part *part = p->part;
  char *text = p->text;
  size_t from = 0;

  for (size_t i = 0; i < literals->n; i++) {
    const struct literal l = statements_literal_of(sql, literals, i);

    if (l.kind == BN_SQL_PLACE_END)
      continue;
    memcpy(text, sql + from, l.at - from);
    text += l.at - from;
    *part++ = (struct bn_sql_part){(uint16_t)(l.at - from), (uint8_t)l.kind};
    from = l.end;
  }
  memcpy(text, sql + from, len - from);
  *part = (struct bn_sql_part){(uint16_t)(len - from), BN_SQL_PLACE_END};
}

struct bn_sql_pattern *bn_sql_pattern_new(const char *sql, size_t len,
                                          const struct bn_sql_literals *literals)
{
  struct bn_sql_pattern *p;
  size_t size = len; /* of the text around the values */

  if (literals->n > BN_SQL_LITERALS)
    return NULL;
  for (size_t i = 0; i < literals->n; i++) {
    const struct literal l = statements_literal_of(sql, literals, i);

    if (l.kind != BN_SQL_PLACE_END)
      size -= l.end - l.at;
  }
  if (size > BN_SQL_PATTERN_TEXT)
    return NULL;
  p = bn_alloc(1, sizeof *p + size);
  statements_fill_pattern(p, sql, len, literals);
  return p;
}

bool bn_sql_pattern_fits(const struct bn_sql_pattern *p, const char *sql, size_t len)
{
  const char *const end = sql + len, *text = p->text;

  /* Each round compares a part, and skips the value after it. */
  for (const struct bn_sql_part *part = p->part;; part++) {
    const char *value = sql + part->len;

    if (part->len > 0 && (value > end || memcmp(sql, text, part->len) != 0))
      return false;
    if (part->value == BN_SQL_PLACE_END)
      return value == end;
    text += part->len;
    sql = part->value == BN_SQL_PLACE_NUMBER ? statements_skip_digits(value)
                                             : statements_skip_quotes(value, end);
    if (sql == value)
      return false;
  }
}

/* --- names --- */

/* Patterns are cached in sets of WAYS.  SETS and DIGESTS are powers of two. */
enum { SETS = 64, WAYS = 4, DIGESTS = 512 };

/* A slot for a digest of an earlier text, at the index that the hash of the digest selects.  The
   digest itself is not kept. */
struct cached_digest {
  uint64_t hash;
  struct bn_statement *statement; /* NULL: none yet */
};

/* The pattern of an earlier text. */
struct cached_pattern {
  struct bn_sql_pattern *pattern; /* owned; NULL: none yet */
  struct bn_statement *statement;
};

struct bn_sql_statement_names {
  const struct bn_session *session;
  struct cached_pattern last; /* a copy of the entry below that the last text has fitted */
  struct cached_pattern patterns[SETS][WAYS];
  unsigned char oldest[SETS]; /* the entry of each set that the next new pattern replaces */
  struct cached_digest digests[DIGESTS];
};

struct bn_sql_statement_names *bn_sql_statement_names_new(const struct bn_session *s)
{
  struct bn_sql_statement_names *names = bn_alloc(1, sizeof *names);

  names->session = s;
  return names;
}

void bn_sql_statement_names_free(struct bn_sql_statement_names *names)
{
  if (names == NULL)
    return;
  for (size_t set = 0; set < SETS; set++)
    for (size_t way = 0; way < WAYS; way++)
      free(names->patterns[set][way].pattern);
  free(names);
}

struct bn_statement *bn_sql_statement_names_get(struct bn_sql_statement_names *names,
                                                const char *name, size_t len)
{
  return bn_statements_get(names->session->stat->statements, names->session->id, name, len);
}

/* 2^64 divided by the golden ratio: multiplying by it spreads similar numbers. */
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Returns a hash of the text, from eight bytes at a time.  Products have their best bits at the
   top; the shifts mix these into the lower bits, which select an index.  Two different digests have
   the same hash once in 2^64 pairs. */
static uint64_t statements_hash_of(const char *text, size_t len)
{
  uint64_t h = len, word;

  for (; len >= sizeof word; text += sizeof word, len -= sizeof word) {
    memcpy(&word, text, sizeof word);
    h = (h ^ word) * HASH_FACTOR;
    h ^= h >> 29;
  }
  word = 0;
  memcpy(&word, text, len);
  h = (h ^ word) * HASH_FACTOR;
  return h ^ h >> 32;
}

/* Returns the set for a text, by its first 24 or 8 bytes, in which there are seldom values: "SELECT
   c FROM sbtest1 WH", "SELECT 1".  All texts of fewer than 8 bytes share one set. */
static size_t statements_set_of(const char *sql, size_t len)
{
  enum { LONG = 24, SHORT = 8 };

  if (len >= LONG)
    return statements_hash_of(sql, LONG) % SETS;
  return statements_hash_of(sql, len >= SHORT ? SHORT : 0) % SETS;
}

/* Returns the counters under a digest.  They are looked up in the table of the run only if the
   session's slot for the digest is empty or has another one.  Equal hashes are taken for equal
   digests. */
static struct bn_statement *statements_by_digest(struct bn_sql_statement_names *names,
                                                 const char *digest, size_t len)
{
  const uint64_t hash = statements_hash_of(digest, len);
  struct cached_digest *slot = &names->digests[hash % DIGESTS];

  if (slot->statement == NULL || slot->hash != hash)
    *slot = (struct cached_digest){hash, bn_sql_statement_names_get(names, digest, len)};
  return slot->statement;
}

/* Returns the counters for a text that fits no pattern.  If the text can have a pattern, its
   pattern replaces the oldest one of the set. */
static struct bn_statement *statements_learn(struct bn_sql_statement_names *names, size_t set,
                                             const char *sql, size_t len,
                                             const struct bn_sql_caps *caps)
{
  struct bn_sql_literals literals;
  char digest[BN_STATEMENT_NAME];
  const size_t digest_len = bn_sql_digest(sql, len, caps, digest, sizeof digest, &literals);
  struct bn_statement *st = statements_by_digest(names, digest, digest_len);
  struct bn_sql_pattern *pattern = bn_sql_pattern_new(sql, len, &literals);
  struct cached_pattern *entry = &names->patterns[set][names->oldest[set]];

  if (pattern == NULL)
    return st;
  names->oldest[set] = (unsigned char)((names->oldest[set] + 1) % WAYS);
  free(entry->pattern);
  *entry = (struct cached_pattern){pattern, st};
  names->last = *entry;
  return st;
}

/* Returns the counters for a text that does not fit the last pattern, by the patterns of its set or
   by its digest. */
static __attribute__((noinline)) struct bn_statement *
statements_look_up(struct bn_sql_statement_names *names, const char *sql, size_t len,
                   const struct bn_sql_caps *caps)
{
  const size_t set = statements_set_of(sql, len);

  for (size_t i = 0; i < WAYS; i++) {
    const struct cached_pattern *entry = &names->patterns[set][i];

    if (entry->pattern != NULL && bn_sql_pattern_fits(entry->pattern, sql, len)) {
      names->last = *entry;
      return entry->statement;
    }
  }
  return statements_learn(names, set, sql, len, caps);
}

struct bn_statement *bn_sql_statement_names_of_text(struct bn_sql_statement_names *names,
                                                    const char *sql, size_t len,
                                                    const struct bn_sql_caps *caps)
{
  if (names->last.pattern != NULL && bn_sql_pattern_fits(names->last.pattern, sql, len))
    return names->last.statement;
  return statements_look_up(names, sql, len, caps);
}
