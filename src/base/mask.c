/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds passwords after the names of options, in settings and in URIs. */
#include "base/mask.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Returns the end of the word for a secret at the beginning of the text, or NULL. */
static const char *mask_skip_secret_word(const char *text)
{
  static const char *const words[] = {"passphrase", "password", "passwd", "pwd", "secret", "token"};

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strncasecmp(text, words[i], strlen(words[i])) == 0)
      return text + strlen(words[i]);
  return NULL;
}

bool bn_mask_names_secret(const char *arg)
{
  for (; *arg != '\0' && *arg != '='; arg++)
    if (mask_skip_secret_word(arg) != NULL)
      return true;
  return false;
}

/* Returns the end of the first word for a secret to which a value is assigned ("password=y"), or
   NULL. */
static const char *mask_find_assigned_word(const char *text)
{
  for (; *text != '\0'; text++) {
    const char *end = mask_skip_secret_word(text);

    if (end != NULL && *end != '\0' && strchr("=: \"'", *end) != NULL)
      return end;
  }
  return NULL;
}

/* Returns the colon before the password in "scheme://user:password@host", or NULL if there is none.
   If an '@' follows the colon anywhere, the text between them is a password, which may have any
   character.  Without an '@', the text after the colon is a password unless it is a port. */
static const char *mask_find_uri_colon(const char *text)
{
  const char *scheme_end = strstr(text, "://");
  const char *colon = scheme_end != NULL ? strchr(scheme_end + strlen("://"), ':') : NULL;

  if (colon == NULL || strchr(colon, '@') != NULL)
    return colon;
  const char *digits_end = colon + 1 + strspn(colon + 1, "0123456789");
  const bool is_port = *digits_end == '\0' || strchr("/?,", *digits_end) != NULL;

  return is_port ? NULL : colon;
}

/* Writes text[0..name_len), text[name_len] if that separates a name from its value, and "***".
   text[name_len] is not the final 0, which strchr would find too.  Returns out. */
static const char *mask_after(const char *text, size_t name_len, char out[BN_MASK_MAX])
{
  const size_t len_max = BN_MASK_MAX - sizeof BN_MASK;
  const bool has_separator = strchr("=: \t\r\n\v\f,;", text[name_len]) != NULL;
  const size_t len = has_separator ? name_len + 1 : name_len;

  (void)snprintf(out, BN_MASK_MAX, "%.*s" BN_MASK, (int)(len < len_max ? len : len_max), text);
  return out;
}

/* Returns whether the name of an option may have the character. */
static bool mask_is_name_char(char c)
{
  return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* Whatever follows the name is taken for its value, and so for a secret. */
const char *bn_mask_arg(const char *arg, char out[BN_MASK_MAX])
{
  size_t name_len = 0;

  while (mask_is_name_char(arg[name_len]))
    name_len++;
  if (arg[name_len] == '\0') /* a name alone */
    return arg;
  return mask_after(arg, name_len, out);
}

const char *bn_mask_text(const char *text, char out[BN_MASK_MAX])
{
  const char *word_end = mask_find_assigned_word(text), *colon = mask_find_uri_colon(text);
  const bool colon_is_first = colon != NULL && (word_end == NULL || colon < word_end);
  const char *first = colon_is_first ? colon : word_end;

  return first != NULL ? mask_after(text, (size_t)(first - text), out) : text;
}

void bn_mask_overwrite(char *secret)
{
  enum { LETTERS = 4 }; /* the others become blanks, so that `ps` does not show their number */

  for (size_t i = 0; secret[i] != '\0'; i++)
    secret[i] = i < LETTERS ? 'x' : ' ';
}
