/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds words that announce a secret, including mistyped ones. */
#include "base/mask.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz-_"

enum { PATTERN_MAX = 8 };

static const char *const words[] = {"passphrase", "password", "passwd", "pwd", "secret", "token"};

static const char parting[] = "=: \t\r\n\v\f,;";

static size_t mask_least(size_t a, size_t b)
{
  return a < b ? a : b;
}

static const char *mask_nearer(const char *a, const char *b)
{
  return a == NULL || (b != NULL && b < a) ? b : a;
}

/* Returns the end of the word of a secret at the beginning of text[0..len), or NULL. */
static const char *end_of_first_word(const char *text, size_t len)
{
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i]) <= len && strncasecmp(text, words[i], strlen(words[i])) == 0)
      return text + strlen(words[i]);
  return NULL;
}

/* Returns the end of the first such word in text[0..len), or NULL. */
static const char *end_of_word(const char *text, size_t len)
{
  const char *end = NULL;

  for (size_t i = 0; i < len && end == NULL; i++)
    end = end_of_first_word(text + i, len - i);
  return end;
}

/* Returns the end of the first part of text[0..len) that differs from pattern by at most `most`
   letters inserted, left out or replaced, taken where it differs least.  The text behind it may be
   a value, which is not read.  NULL: there is none. */
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

      row[j] = mask_least(mask_least(above, row[j - 1]) + 1, diagonal + cost);
      diagonal = above;
    }
    if (row[n] < best) {
      best = row[n];
      end = text + i + 1;
    } else if (end != NULL && row[n] > best) {
      break;
    }
  }
  return end;
}

/* Finds "pw" as in --mysql-pw=x; it is too short to be looked for within words. */
static const char *end_of_pw(const char *text, size_t len)
{
  for (size_t i = 0; i + 2 <= len; i++)
    if (strncasecmp(text + i, "pw", 2) == 0 && (i == 0 || strchr("-_", text[i - 1]) != NULL) &&
        (i + 2 == len || strchr("-_", text[i + 2]) != NULL))
      return text + i + 2;
  return NULL;
}

/* Returns the end of a text like one of the longer words, or NULL. */
static const char *end_of_near_word(const char *name, size_t len)
{
  const char *end = end_of_likeness(name, len, "password", 2);

  if (end == NULL)
    end = end_of_likeness(name, len, "passwd", 1);
  return end != NULL ? end : end_of_likeness(name, len, "secret", 1);
}

/* As end_of_near_word, and "pass" as in --mysql-pass=x. */
static const char *end_of_mistyped(const char *name, size_t len)
{
  const char *end = end_of_near_word(name, len);

  if (end == NULL)
    end = end_of_likeness(name, len, "pass", 0);
  return end != NULL ? end : end_of_pw(name, len);
}

/* Accepts "mysql-pass" and "mysqlpass2", but not "num-passes" and "passive". */
static bool has_pass(const char *name, size_t len)
{
  for (size_t i = 0; i + 4 <= len; i++)
    if (strncasecmp(name + i, "pass", 4) == 0 &&
        (i + 4 == len || !islower((unsigned char)name[i + 4])))
      return true;
  return false;
}

/* Counts letters, digits, '-', '_' and '.', the characters of option names. */
static size_t name_length(const char *arg)
{
  size_t len = 0;

  while (isalnum((unsigned char)arg[len]) || (arg[len] != '\0' && strchr("-_.", arg[len]) != NULL))
    len++;
  return len;
}

bool bn_mask_names_secret(const char *name)
{
  return end_of_word(name, strlen(name)) != NULL;
}

bool bn_mask_resembles_secret(const char *arg)
{
  const size_t len = strcspn(arg, "=");

  return end_of_word(arg, len) != NULL || end_of_near_word(arg, len) != NULL ||
         has_pass(arg, len) || end_of_pw(arg, len) != NULL;
}

/* Returns the end of the name that has the word: "--password-file" is a name, "--passwordSECRET" a
   name and a value. */
static const char *end_of_name(const char *word)
{
  const size_t more = *word == '-' || *word == '_' ? strspn(word, LOWER) : 0;

  return word[more] == '\0' || strchr(parting, word[more]) != NULL ? word + more : word;
}

/* Accepts "host=x password=y", but not "password": a word in a value announces a secret only if a
   value is assigned to it. */
static const char *end_of_word_in_value(const char *value)
{
  const char *end = end_of_word(value, strlen(value));

  while (end != NULL && (*end == '\0' || strchr("=: \"'", *end) == NULL))
    end = end_of_word(end, strlen(end));
  return end;
}

/* Returns the colon before the password in "scheme://user:password@host", also if the host is
   missing, but not that of "host:3306".  A password may have any character, so that an '@' counts
   anywhere.  NULL: there is none. */
static const char *end_of_uri_user(const char *value)
{
  const char *user = strstr(value, "://"), *colon, *end;

  colon = user != NULL ? strchr(user + strlen("://"), ':') : NULL;
  if (colon == NULL)
    return NULL;
  end = colon + 1 + strspn(colon + 1, "0123456789");
  return strchr(colon, '@') != NULL || (*end != '\0' && strchr("/?,", *end) == NULL) ? colon : NULL;
}

static const char *end_in_value(const char *value)
{
  return mask_nearer(end_of_word_in_value(value), end_of_uri_user(value));
}

/* Returns the length that may be shown: dashes and name.  The value is not read if the name is that
   of a secret: a password may contain one of the words. */
static size_t shown_length(const char *arg, bool is_secret)
{
  const size_t len = name_length(arg);
  const char *end = mask_nearer(end_of_word(arg, len), end_of_mistyped(arg, len));

  if (end != NULL)
    return (size_t)(end_of_name(end) - arg);
  if (is_secret)
    return len;
  end = end_in_value(arg + len);
  return end != NULL ? (size_t)(end - arg) : strlen(arg);
}

/* Shows arg[0..shown) and the separator behind it. */
static const char *mask_cut(const char *arg, size_t shown, char out[BN_MASK_MAX])
{
  const size_t part = arg[shown] != '\0' && strchr(parting, arg[shown]) != NULL ? 1 : 0;

  if (arg[shown] == '\0')
    return arg;
  (void)snprintf(out, BN_MASK_MAX, "%.*s" BN_MASK, (int)mask_least(shown + part, BN_MASK_MAX - 4),
                 arg);
  return out;
}

const char *bn_mask_arg(const char *arg, bool is_secret, char out[BN_MASK_MAX])
{
  return mask_cut(arg, shown_length(arg, is_secret), out);
}

const char *bn_mask_name(const char *name, const char *value, bool is_secret, char out[BN_MASK_MAX])
{
  return value != NULL && name[strspn(name, "0123456789." LOWER)] == '\0'
             ? name
             : bn_mask_arg(name, is_secret, out);
}

const char *bn_mask_value(const char *value, char out[BN_MASK_MAX])
{
  const char *end = end_in_value(value);

  return end != NULL ? mask_cut(value, (size_t)(end - value), out) : value;
}
