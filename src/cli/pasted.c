/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refuses arguments that were pasted from a document, with characters that look like a blank or a
   dash. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"

/* A character that looks like a dash, or like a blank, or cannot be seen. */
struct lookalike {
  const char *bytes, *name;
  bool is_dash;
};

static const struct lookalike lookalikes[] = {
    {"\xc2\xa0", "U+00A0 (a no-break space)", false},
    {"\xe2\x80\x82", "U+2002 (an en space)", false},
    {"\xe2\x80\x83", "U+2003 (an em space)", false},
    {"\xe2\x80\x87", "U+2007 (a figure space)", false},
    {"\xe2\x80\x89", "U+2009 (a thin space)", false},
    {"\xe2\x80\x8b", "U+200B (a zero-width space)", false},
    {"\xe2\x80\xaf", "U+202F (a narrow no-break space)", false},
    {"\xe3\x80\x80", "U+3000 (an ideographic space)", false},
    {"\xef\xbb\xbf", "U+FEFF (a byte order mark)", false},
    {"\r", "a carriage return (\\r, as files of Windows have)", false},
    {"\xe2\x80\x90", "U+2010 (a hyphen)", true},
    {"\xe2\x80\x91", "U+2011 (a non-breaking hyphen)", true},
    {"\xe2\x80\x92", "U+2012 (a figure dash)", true},
    {"\xe2\x80\x93", "U+2013 (an en dash)", true},
    {"\xe2\x80\x94", "U+2014 (an em dash)", true},
    {"\xe2\x80\x95", "U+2015 (a horizontal bar)", true},
    {"\xe2\x88\x92", "U+2212 (a minus sign)", true},
};

enum { LOOKALIKES = sizeof lookalikes / sizeof lookalikes[0] };
/* Bytes for " ('--NAME')", and the most bytes of NAME in it. */
enum { NAME_SIZE = 64, NAME_SHOWN = 50 };

/* Returns the lookalike that the text begins with, or NULL. */
static const struct lookalike *pasted_find_at_start(const char *text)
{
  for (size_t i = 0; i < LOOKALIKES; i++)
    if (strncmp(text, lookalikes[i].bytes, strlen(lookalikes[i].bytes)) == 0)
      return &lookalikes[i];
  return NULL;
}

/* Returns the lookalike of a blank with which the text ends, or NULL. */
static const struct lookalike *pasted_find_at_end(const char *text)
{
  const size_t len = strlen(text);

  for (size_t i = 0; i < LOOKALIKES; i++) {
    const struct lookalike *candidate = &lookalikes[i];
    const size_t n = strlen(candidate->bytes);

    if (!candidate->is_dash && len >= n && strcmp(text + len - n, candidate->bytes) == 0)
      return candidate;
  }
  return NULL;
}

/* Returns the lookalike at the beginning of an argument, or anywhere in the name of an option, or
   NULL. */
static const struct lookalike *pasted_find_in_name(const char *arg)
{
  const bool is_option = arg[0] == '-';
  const struct lookalike *found = pasted_find_at_start(arg + strspn(arg, "-"));

  if (!is_option)
    return found;
  for (; found == NULL && *arg != '\0' && *arg != '='; arg++)
    found = pasted_find_at_start(arg);
  return found;
}

/* Returns the lookalike for which the argument is refused, or NULL.  A value may begin with a
   lookalike of a dash. */
static const struct lookalike *pasted_find(const char *arg)
{
  const char *equals = strchr(arg, '=');
  const struct lookalike *in_name = pasted_find_in_name(arg);
  const struct lookalike *in_value = equals != NULL ? pasted_find_at_start(equals + 1) : NULL;

  if (in_name != NULL)
    return in_name;
  if (in_value != NULL && !in_value->is_dash)
    return in_value;
  return pasted_find_at_end(arg);
}

/* Returns the argument without the dashes, blanks and their lookalikes at its beginning. */
static const char *pasted_skip_dashes(const char *arg)
{
  for (;;) {
    const struct lookalike *found = pasted_find_at_start(arg);

    if (found == NULL && *arg != '-')
      return arg;
    arg += found != NULL ? strlen(found->bytes) : 1;
  }
}

/* Writes " ('--NAME')" for the message, or "" for a word without '=', which may be a password. */
static void pasted_name_option(const char *arg, char name[NAME_SIZE])
{
  const char *text = pasted_skip_dashes(arg);
  const size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

  name[0] = '\0';
  if (len > 0 && text[len] == '=')
    (void)snprintf(name, NAME_SIZE, " ('--%.*s')", len < NAME_SHOWN ? (int)len : NAME_SHOWN, text);
}

int bn_cli_check_pasted(const char *arg, int position)
{
  const struct lookalike *found = pasted_find(arg);
  char name[NAME_SIZE];

  /* The name of an existing file may have any characters. */
  if (found == NULL || (arg[0] != '-' && access(arg, F_OK) == 0))
    return 0;
  pasted_name_option(arg, name);
  bn_log_stderr("argument %d%s has %s: %s", position, name, found->name,
                found->is_dash ? "type '-' in its place" : "remove it");
  return -1;
}
