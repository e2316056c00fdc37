/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the question marks of a statement to numbered parameters of PostgreSQL. */
#include "drivers/pgsql/request.h"

#include <stdio.h>
#include <string.h>

static bool params_is_word(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c & 0x80) != 0;
}

/* Returns the end of a literal or a quoted name; a doubled quote does not end it. */
static const char *params_skip_quoted(const char *p, const char *end, bool backslash)
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

/* Comments nest in PostgreSQL. */
static const char *params_skip_comment(const char *p, const char *end)
{
  unsigned depth = 0;

  while (p < end) {
    if (end - p > 1 && p[0] == '/' && p[1] == '*') {
      depth++;
      p += 2;
    } else if (end - p > 1 && p[0] == '*' && p[1] == '/') {
      p += 2;
      if (--depth == 0)
        return p;
    } else {
      p++;
    }
  }
  return end;
}

static const char *params_skip_line(const char *p, const char *end)
{
  const char *nl = memchr(p, '\n', (size_t)(end - p));

  return nl != NULL ? nl + 1 : end;
}

/* Returns the end of $tag$ text $tag$; a dollar within a name begins no such text. */
static const char *params_skip_dollars(const char *p, const char *begin, const char *end)
{
  const char *tag_end = p + 1, *close;

  if ((p > begin && params_is_word(p[-1])) || (end - p > 1 && p[1] >= '0' && p[1] <= '9'))
    return p + 1;
  while (tag_end < end && params_is_word(*tag_end))
    tag_end++;
  if (tag_end == end || *tag_end != '$')
    return p + 1;
  tag_end++;
  close = memmem(tag_end, (size_t)(end - tag_end), p, (size_t)(tag_end - p));
  return close != NULL ? close + (tag_end - p) : end;
}

/* E'...' has backslash escapes. */
static bool params_has_escapes(const char *p, const char *begin)
{
  return *p == '\'' && p > begin && (p[-1] == 'E' || p[-1] == 'e') &&
         (p - 1 == begin || !params_is_word(p[-2]));
}

/* Returns the end of the piece at p without parameters: one character, or a whole literal. */
static const char *params_skip(const char *p, const char *begin, const char *end)
{
  if (*p == '\'' || *p == '"')
    return params_skip_quoted(p, end, params_has_escapes(p, begin));
  if (*p == '$')
    return params_skip_dollars(p, begin, end);
  if (end - p > 1 && p[0] == '-' && p[1] == '-')
    return params_skip_line(p, end);
  if (end - p > 1 && p[0] == '/' && p[1] == '*')
    return params_skip_comment(p, end);
  return p + 1;
}

size_t bn_pgsql_count_params(const char *sql, size_t len)
{
  const char *const end = sql + len;
  size_t n = 0;

  for (const char *p = sql; p < end; p = params_skip(p, sql, end))
    n += *p == '?';
  return n;
}

char *bn_pgsql_number_params(const struct bn_driver_host *host, const char *sql, size_t len,
                             size_t n)
{
  const char *const end = sql + len;
  const size_t room = len + n * 20 + 1;
  char *out = host->alloc(1, room), *to = out;
  size_t number = 0;

  for (const char *p = sql, *next; p < end; p = next) {
    next = params_skip(p, sql, end);
    if (*p == '?') {
      to += snprintf(to, room - (size_t)(to - out), "$%zu", ++number);
      continue;
    }
    memcpy(to, p, (size_t)(next - p));
    to += next - p;
  }
  return out;
}
