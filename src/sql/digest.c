/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the digest of a statement: the part that statements have in common which differ only in
   their values. */
#include "sql/digest.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "sql/lex.h"

/* The digest as it is being made. */
struct digest {
  const char *begin, *end;
  const struct bn_sql_caps *caps;
  char *out;
  size_t len, size;
  bool full;    /* something did not fit */
  bool is_word; /* the last token is a name, a keyword or a literal */
  struct bn_sql_literals *literals;
  size_t open;          /* the index in out of the last opening parenthesis */
  bool has_only_values; /* that parenthesis is open, and only values and commas follow it */
};

/* Adds as much of the text as fits; if that is not all of it, the digest is full. */
static void digest_put(struct digest *d, const char *text, size_t len)
{
  const size_t room = d->size - d->len;

  d->full |= len > room;
  len = len < room ? len : room;
  memcpy(d->out + d->len, text, len);
  d->len += len;
}

/* Returns the last character of the digest, or a 0. */
static char digest_last(const struct digest *d)
{
  return d->len > 0 ? d->out[d->len - 1] : '\0';
}

/* Adds the blank that the next token needs before it: after a comma, and if it is a word (is_word),
   after another word or a closing parenthesis. */
static void digest_put_space(struct digest *d, bool is_word)
{
  if (digest_last(d) == ',' || (is_word && (d->is_word || digest_last(d) == ')')))
    digest_put(d, " ", 1);
  d->is_word = is_word;
}

/* Adds the mark that stands for a value. */
static void digest_put_mark(struct digest *d)
{
  digest_put_space(d, true /* as a word */);
  digest_put(d, "?", 1);
}

/* Counts the literal from p to `after`, records its place unless there are too many, and adds a
   mark for it.  Returns `after`. */
static const char *digest_put_literal(struct digest *d, const char *p, const char *after)
{
  struct bn_sql_literals *l = d->literals;

  if (l->n < BN_SQL_LITERALS) {
    l->literal[l->n].at = (size_t)(p - d->begin);
    l->literal[l->n].len = (size_t)(after - p);
  }
  l->n++;
  digest_put_mark(d);
  return after;
}

/* Returns whether the word stands for a value, as literals do. */
static bool digest_is_value(const char *p, size_t len)
{
  static const char *const values[] = {"NULL", "TRUE", "FALSE", "DEFAULT"};

  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (strlen(values[i]) == len && strncasecmp(p, values[i], len) == 0)
      return true;
  return false;
}

/* Adds a word or a quoted name. */
static void digest_put_word(struct digest *d, const char *p, const char *end)
{
  const size_t len = (size_t)(end - p);

  digest_put_space(d, true /* a word */);
  digest_put(d, p, len);
  d->has_only_values &= digest_is_value(p, len);
}

/* Closes a pair of parentheses.  If there is nothing but values in it, it is a list, and becomes
   "(...)".  If it follows another such list, it is removed with the ", " before it. */
static void digest_close_parenthesis(struct digest *d)
{
  static const char before[] = "(...), ";
  const size_t len = sizeof before - 1;
  const bool is_list = d->has_only_values && d->len > d->open + strlen("(");

  if (!is_list) {
    digest_put(d, ")", 1);
  } else if (d->open >= len && memcmp(d->out + d->open - len, before, len) == 0) {
    d->len = d->open - strlen(", ");
  } else {
    d->len = d->open + strlen("(");
    digest_put(d, "...)", strlen("...)"));
  }
  d->has_only_values = d->is_word = false;
}

/* Adds a character that is part of neither a word nor a literal. */
static void digest_put_punctuation(struct digest *d, char c)
{
  /* Multiplication and "all columns" alike have blanks around them. */
  digest_put_space(d, c == '*');
  if (c == '(') {
    d->open = d->len;
    d->has_only_values = true;
  } else if (c != ',') {
    d->has_only_values = false;
  }
  digest_put(d, &c, 1);
}

/* Returns whether a number begins at p. */
static bool digest_is_number(const char *p, const char *end)
{
  return bn_sql_is_digit(*p) || (*p == '.' && end - p > 1 && bn_sql_is_digit(p[1]));
}

/* Returns the position after a number, whose first character stands before p. */
static const char *digest_skip_number(const char *p, const char *end)
{
  for (const char *from = p; p < end; p++) {
    const bool is_sign = *p == '+' || *p == '-';
    const bool after_e = p > from && (p[-1] == 'e' || p[-1] == 'E');

    if (!bn_sql_is_word(*p) && *p != '.' && !(is_sign && after_e))
      break;
  }
  return p;
}

/* Returns the position after the rest of a word at p.  A dollar may stand within a name. */
static const char *digest_skip_word(const char *p, const char *end)
{
  while (p < end && (bn_sql_is_word(*p) || *p == '$'))
    p++;
  return p;
}

/* Returns whether a number with a sign begins at p.  No text begins with one. */
static bool digest_is_signed(const struct digest *d, const char *p)
{
  const bool has_sign = (*p == '-' || *p == '+') && d->end - p > 1;

  if (!has_sign || !digest_is_number(p + 1, d->end))
    return false;
  /* After a word or a closing parenthesis, the sign adds or subtracts. */
  return d->len > 0 && !d->is_word && digest_last(d) != ')';
}

/* Adds the token that begins with the dollar at p: a text $tag$...$tag$, the parameter $1, or a
   dollar alone.  Returns the position after it. */
static const char *digest_put_dollar(struct digest *d, const char *p)
{
  const char *after = bn_sql_skip_dollars(p, d->begin, d->end);

  if (after > p + 1) /* a text */
    return digest_put_literal(d, p, after);
  while (after < d->end && bn_sql_is_digit(*after))
    after++;
  if (after > p + 1)
    digest_put_mark(d);
  else
    digest_put_punctuation(d, *p);
  return after;
}

/* Adds a literal or a name in quotes.  Returns the position after it. */
static const char *digest_put_quoted(struct digest *d, const char *p)
{
  const bool is_mysql = bn_sql_is_mysql(d->caps);
  const bool is_text = *p == '\'' || (*p == '"' && is_mysql);
  const char *after =
      bn_sql_skip_quoted(p, d->end, is_text && bn_sql_escapes_here(p, d->begin, is_mysql));

  if (is_text)
    return digest_put_literal(d, p, after);
  digest_put_word(d, p, after);
  return after;
}

/* Skips a blank or a comment at p, or adds the token there.  Returns the position after it. */
static const char *digest_put_next(struct digest *d, const char *p)
{
  const char *after = bn_sql_skip_comment(p, d->end, d->caps);

  if (after != p)
    return after;
  if ((unsigned char)*p <= ' ')
    return p + 1;
  if (*p == '\'' || *p == '"' || *p == '`')
    return digest_put_quoted(d, p);
  if (*p == '$' && !bn_sql_is_mysql(d->caps))
    return digest_put_dollar(d, p);
  if (digest_is_number(p, d->end) || digest_is_signed(d, p))
    return digest_put_literal(d, p, digest_skip_number(p + 1, d->end));
  if (bn_sql_is_word(*p)) {
    after = digest_skip_word(p, d->end);
    digest_put_word(d, p, after);
    return after;
  }
  if (*p == '?')
    digest_put_mark(d);
  else if (*p == ')')
    digest_close_parenthesis(d);
  else
    digest_put_punctuation(d, *p);
  return p + 1;
}

/* Returns the number of bytes of the character of UTF-8 that begins with this byte, which is
   0xxxxxxx, 110xxxxx, 1110xxxx or 11110xxx. */
static size_t digest_character_bytes(unsigned char first)
{
  if (first < 0xc0)
    return 1;
  if (first < 0xe0)
    return 2;
  return first < 0xf0 ? 3 : 4;
}

/* Returns the length of the digest without a last character of which only a part fits. */
static size_t digest_whole_characters(const struct digest *d)
{
  size_t start = d->len;
  bool is_whole;

  if (!d->full || d->len == 0)
    return d->len;
  /* All bytes of a character but the first have the bits 10xxxxxx. */
  do
    start--;
  while (start > 0 && ((unsigned char)d->out[start] & 0xc0) == 0x80);
  is_whole = start + digest_character_bytes((unsigned char)d->out[start]) <= d->len;
  return is_whole ? d->len : start;
}

size_t bn_sql_digest(const char *sql, size_t len, const struct bn_sql_caps *caps, char *out,
                     size_t size, struct bn_sql_literals *literals)
{
  struct digest d = {
      .begin = sql, .end = sql + len, .caps = caps, .out = out, .size = size, .literals = literals};
  const char *p = sql;

  literals->n = 0;
  while (p < d.end && !d.full)
    p = digest_put_next(&d, p);
  if (d.full)
    literals->n = BN_SQL_LITERALS + 1; /* the text was not read to its end */
  /* Statements with and without a final semicolon have the same digest. */
  while (!d.full && digest_last(&d) == ';')
    d.len--;
  return digest_whole_characters(&d);
}
