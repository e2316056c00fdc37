/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the words that announce a secret, also where they are mistyped. */
#include "base/mask.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PATTERN_MAX = 8 };

static const char *const words[] = {"passphrase", "password", "passwd", "pwd", "secret", "token"};

static const char parting[] = "=: \t\r\n\v\f,;";

static size_t least(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* The end of the first of them in text; NULL: there is none. */
static const char *end_of_word(const char *text)
{
  for (; *text != '\0'; text++)
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
      if (strncasecmp(text, words[i], strlen(words[i])) == 0)
        return text + strlen(words[i]);
  return NULL;
}

/* The end of the part of text[0..len) that has the fewest letters inserted, left out or replaced
   in comparison to pattern, at most `most`; the first one of several.  NULL: there is none. */
static const char *end_of_likeness(const char *text, size_t len, const char *pattern, size_t most)
{
  const size_t n = strlen(pattern);
  size_t row[PATTERN_MAX + 1], best = most + 1;
  const char *end = NULL;

  for (size_t j = 0; j <= n; j++)
    row[j] = j;
  for (size_t i = 0; i < len; i++) {
    size_t diagonal = row[0];

    for (size_t j = 1; j <= n; j++) {
      const size_t above = row[j];
      const size_t cost = tolower((unsigned char)text[i]) == pattern[j - 1] ? 0 : 1;

      row[j] = least(least(above, row[j - 1]) + 1, diagonal + cost);
      diagonal = above;
    }
    if (row[n] < best) {
      best = row[n];
      end = text + i + 1;
    }
  }
  return end;
}

/* Within the name; also "pass", as in --mysql-pass=x. */
static const char *end_of_mistyped(const char *arg)
{
  const size_t len = strcspn(arg, "=");
  const char *end = end_of_likeness(arg, len, "password", 2);

  if (end == NULL)
    end = end_of_likeness(arg, len, "secret", 1);
  if (end == NULL)
    end = end_of_likeness(arg, len, "pass", 0);
  return end;
}

bool bn_mask_names_secret(const char *name)
{
  return end_of_word(name) != NULL;
}

bool bn_mask_resembles_secret(const char *arg)
{
  const char *word = end_of_word(arg);

  return (word != NULL && word <= arg + strcspn(arg, "=")) || end_of_mistyped(arg) != NULL;
}

/* How much of it may be shown, dashes and name. */
static size_t shown_length(const char *arg, bool is_secret)
{
  const char *end = end_of_word(arg);

  if (end == NULL)
    end = end_of_mistyped(arg);
  if (end == NULL)
    return is_secret ? strcspn(arg, parting) : strlen(arg);
  /* "--passwordSECRET", but "--password-file". */
  if (isalnum((unsigned char)*end))
    return (size_t)(end - arg);
  return (size_t)(end - arg) + strcspn(end, parting);
}

const char *bn_mask_arg(const char *arg, bool is_secret, char out[BN_MASK_MAX])
{
  const size_t shown = shown_length(arg, is_secret);
  const size_t part = arg[shown] != '\0' && strchr(parting, arg[shown]) != NULL ? 1 : 0;

  if (arg[shown] == '\0')
    return arg;
  (void)snprintf(out, BN_MASK_MAX, "%.*s" BN_MASK, (int)least(shown + part, BN_MASK_MAX - 4), arg);
  return out;
}
