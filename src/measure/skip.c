/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the lists of records in the text of a document by their depth and their names. */
#include "measure/skip.h"

#include <stdbool.h>
#include <string.h>

/* The members of a group are in a map in a list in a map. */
enum { GROUP_DEPTH = 3 };

/* A text that is read and shortened in place. */
struct skipping {
  const char *at, *end; /* the text that is still to be read */
  const char *done;     /* the text before it has been moved to `to` or left out */
  char *to;             /* the end of the shortened text */
};

/* Goes past a quoted text, which begins at s->at, or to the end of all if it has no end. */
static void skip_pass_text(struct skipping *s)
{
  for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
    if (*s->at == '\\')
      s->at++;
  s->at = s->at < s->end ? s->at + 1 : s->end;
}

/* Goes past white space. */
static void skip_pass_space(struct skipping *s)
{
  while (s->at < s->end && *s->at != '\0' && strchr(" \t\r\n", *s->at) != NULL)
    s->at++;
}

/* Goes past a list or a map, which begins at s->at.  Returns false, at the end of the text, if the
   list or map has no end. */
static bool skip_pass_value(struct skipping *s)
{
  int depth = 0;

  do {
    if (*s->at == '"') {
      skip_pass_text(s);
      continue;
    }
    depth += *s->at == '[' || *s->at == '{';
    depth -= *s->at == ']' || *s->at == '}';
    s->at++;
  } while (depth > 0 && s->at < s->end);
  return depth == 0;
}

/* Moves the text from s->done up to `end` to the shortened text. */
static void skip_keep_to(struct skipping *s, const char *end)
{
  const size_t len = (size_t)(end - s->done);

  memmove(s->to, s->done, len);
  s->to += len;
  s->done = end;
}

/* Goes past a quoted text, which begins at s->at.  Returns whether it is the name of a list of
   records. */
static bool skip_pass_name(struct skipping *s)
{
  static const char *const names[] = {"\"intervals\"", "\"checkpoints\""};
  const char *name = s->at;
  size_t len;

  skip_pass_text(s);
  len = (size_t)(s->at - name);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (len == strlen(names[i]) && memcmp(name, names[i], len) == 0)
      return true;
  return false;
}

/* Leaves out the values of the list whose name has just been read, unless no list with an end
   follows.  Its newlines are kept, so that the lines of errors stay those of the file. */
static void skip_leave_out_list(struct skipping *s)
{
  const char *list;

  skip_pass_space(s);
  if (s->at == s->end || *s->at != ':')
    return;
  s->at++;
  skip_pass_space(s);
  list = s->at;
  if (s->at == s->end || *s->at != '[' || !skip_pass_value(s))
    return;
  skip_keep_to(s, list + 1);
  for (const char *c = list; c < s->at; c++)
    if (*c == '\n')
      *s->to++ = '\n';
  s->done = s->at - 1; /* the ']' is moved with what follows */
}

size_t bn_skip_records(char *text, size_t len)
{
  struct skipping s = {.at = text, .end = text + len, .done = text, .to = text};
  int depth = 0;

  while (s.at < s.end) {
    if (*s.at == '"') {
      if (skip_pass_name(&s) && depth == GROUP_DEPTH)
        skip_leave_out_list(&s);
      continue;
    }
    depth += *s.at == '[' || *s.at == '{';
    depth -= *s.at == ']' || *s.at == '}';
    s.at++;
  }
  skip_keep_to(&s, s.end);
  return (size_t)(s.to - text);
}
