/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the ends of literals, quoted names and comments in the text of a statement. */
#include "sql/lex.h"

#include <string.h>

const char *bn_sql_skip_quoted(const char *p, const char *end, bool backslash)
{
  const char quote = *p++;

  while (p < end) {
    if (backslash && *p == '\\' && end - p > 1)
      p += 2;
    else if (*p != quote)
      p++;
    else if (end - p > 1 && p[1] == quote)
      p += 2;
    else
      return p + 1;
  }
  return end;
}

const char *bn_sql_skip_line(const char *p, const char *end)
{
  const char *nl = memchr(p, '\n', (size_t)(end - p));

  return nl != NULL ? nl + 1 : end;
}

/* Returns whether the two dashes at p begin a comment: MySQL wants a blank after them. */
static bool lex_is_dash_comment(const char *p, const char *end, bool is_mysql)
{
  enum { DELETE_CHARACTER = 0x7f }; /* counts as a blank, as all control characters do */

  return !is_mysql || end - p == 2 || (unsigned char)p[2] <= ' ' || p[2] == DELETE_CHARACTER;
}

/* Returns the position after the comment at p, in which other comments may stand, or end if it is
   not closed. */
static const char *lex_skip_nested(const char *p, const char *end)
{
  unsigned depth = 0;

  while (end - p > 1) {
    const bool opens = p[0] == '/' && p[1] == '*', closes = p[0] == '*' && p[1] == '/';

    depth += opens;
    depth -= closes;
    p += opens || closes ? 2 : 1;
    if (depth == 0)
      return p;
  }
  return end;
}

/* Returns the position after the comment whose slash and star are at p, as bn_sql_skip_comment. */
static const char *lex_skip_block(const char *p, const char *end, const struct bn_sql_caps *caps)
{
  const bool is_mysql = bn_sql_is_mysql(caps);
  const char *close;

  if (bn_sql_is_postgresql(caps))
    return lex_skip_nested(p, end);
  /* The mark of a version comment has "!" after its star, or in MariaDB "M!". */
  if (is_mysql && end - p > 2 && p[2] == '!')
    return p + 3;
  if (is_mysql && end - p > 3 && p[2] == 'M' && p[3] == '!')
    return p + 4;
  close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
  return close != NULL ? close + 2 : end;
}

const char *bn_sql_skip_comment_slow(const char *p, const char *end, const struct bn_sql_caps *caps)
{
  const bool is_mysql = bn_sql_is_mysql(caps), has_next = end - p > 1;

  if (*p == '#' && is_mysql)
    return bn_sql_skip_line(p, end);
  if (has_next && p[0] == '-' && p[1] == '-' && lex_is_dash_comment(p, end, is_mysql))
    return bn_sql_skip_line(p, end);
  return has_next && p[0] == '/' && p[1] == '*' ? lex_skip_block(p, end, caps) : p;
}

const char *bn_sql_skip_dollars(const char *p, const char *begin, const char *end)
{
  const char *tag_end = p + 1, *close;
  size_t tag_len;

  if (p > begin && bn_sql_is_word(p[-1])) /* within a name */
    return p + 1;
  while (tag_end < end && bn_sql_is_word(*tag_end))
    tag_end++;
  if (tag_end == end || *tag_end != '$' || bn_sql_is_digit(p[1])) /* a tag begins with no digit */
    return p + 1;
  tag_len = (size_t)(tag_end + 1 - p); /* with both dollars */
  close = memmem(p + tag_len, (size_t)(end - p) - tag_len, p, tag_len);
  return close != NULL ? close + tag_len : end;
}

bool bn_sql_escapes_here(const char *p, const char *begin, bool backslash)
{
  bool follows_e;

  if (*p == '`')
    return false;
  if (backslash)
    return true;
  follows_e = p > begin && (p[-1] == 'E' || p[-1] == 'e');
  if (*p != '\'' || !follows_e)
    return false;
  return p - 1 == begin || !bn_sql_is_word(p[-2]); /* the E is not the end of a name */
}
