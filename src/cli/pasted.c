/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments that were pasted from a document: characters that look like a blank or a dash. */
#include "cli/pasted.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

struct sign {
  const char *bytes, *name;
  bool dash;
};

static const struct sign signs[] = {
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

enum { SIGNS = sizeof signs / sizeof signs[0] };

static const struct sign *sign_at(const char *text)
{
  for (size_t i = 0; i < SIGNS; i++)
    if (strncmp(text, signs[i].bytes, strlen(signs[i].bytes)) == 0)
      return &signs[i];
  return NULL;
}

/* A blank at the end. */
static const struct sign *sign_behind(const char *text)
{
  const size_t len = strlen(text);

  for (size_t i = 0; i < SIGNS; i++) {
    const size_t n = strlen(signs[i].bytes);

    if (!signs[i].dash && len >= n && strcmp(text + len - n, signs[i].bytes) == 0)
      return &signs[i];
  }
  return NULL;
}

/* In the name of an option, or where one begins. */
static const struct sign *sign_in_name(const char *arg)
{
  const struct sign *found = sign_at(arg + strspn(arg, "-"));

  for (size_t i = 0; found == NULL && arg[0] == '-' && arg[i] != '\0' && arg[i] != '='; i++)
    found = sign_at(arg + i);
  return found;
}

static const struct sign *sign_of(const char *arg)
{
  const char *value = strchr(arg, '=');
  const struct sign *found = sign_in_name(arg);

  if (found == NULL && value != NULL && (found = sign_at(value + 1)) != NULL && found->dash)
    found = NULL;
  return found != NULL ? found : sign_behind(arg);
}

/* The name of the option; a word may be a password and is not shown. */
static void name_option(const char *arg, char name[64])
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  size_t len;

  for (const struct sign *s; (s = sign_at(arg)) != NULL || *arg == '-';)
    arg += s != NULL ? strlen(s->bytes) : 1;
  len = strspn(arg, letters);
  name[0] = '\0';
  if (len > 0 && arg[len] == '=')
    (void)snprintf(name, 64, " ('--%.*s')", (int)(len < 50 ? len : 50), arg);
}

int bn_cli_check_pasted(const char *arg, int position)
{
  const struct sign *sign = sign_of(arg);
  char name[64];

  /* A file may have any name. */
  if (sign == NULL || (arg[0] != '-' && access(arg, F_OK) == 0))
    return 0;
  name_option(arg, name);
  bn_log_stderr("argument %d%s has %s: %s", position, name, sign->name,
                sign->dash ? "type '-' in its place" : "remove it");
  return -1;
}
