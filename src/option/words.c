/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a text, with two kinds of quotes. */
#include "option/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/mask.h"

#define BLANKS " \t\n"

bool bn_words_skip(const char **pos, const char *word)
{
  const size_t len = strlen(word);

  if (strncmp(*pos, word, len) != 0)
    return false;
  *pos += len;
  return true;
}

void bn_words_adopt(struct bn_list *words, char *word)
{
  words->item = bn_alloc_resize(words->item, words->n + 1, sizeof *words->item);
  words->item[words->n++] = word;
}

void bn_words_add(struct bn_list *words, const char *word)
{
  bn_words_adopt(words, bn_alloc_text(word));
}

/* Appends the next part of a word: the text between two quotes, or the text up to a quote or to the
   end of the word.  Returns the text after the part, or NULL if a quote has no end. */
static const char *words_append_part(const char *s, struct bn_buf *word)
{
  const char *end;

  if (*s != '\'' && *s != '"') {
    const size_t len = strcspn(s, BLANKS "'\"");

    (void)bn_buf_add(word, s, len);
    return s + len;
  }
  end = strchr(s + 1, *s);
  if (end == NULL)
    return NULL;
  (void)bn_buf_add(word, s + 1, (size_t)(end - s - 1));
  return end + 1;
}

/* Adds the word at s, without its quotes, to the list.  Returns the text after the word, or NULL
   and err. */
static const char *words_split_one(const char *s, struct bn_list *out, struct bn_err *err)
{
  struct bn_buf word = {.max = 0};

  while (*s != '\0' && strchr(BLANKS, *s) == NULL) {
    const char *rest = words_append_part(s, &word);

    if (rest == NULL) {
      bn_buf_done(&word);
      (void)bn_err_set(err, EINVAL, "the quote %c has no end", *s);
      return NULL;
    }
    s = rest;
  }
  bn_words_adopt(out, bn_buf_take(&word));
  return s;
}

int bn_words_split(const char *text, struct bn_list *out, struct bn_err *err)
{
  *out = (struct bn_list){.n = 0};
  for (const char *s = text + strspn(text, BLANKS); *s != '\0'; s += strspn(s, BLANKS)) {
    s = words_split_one(s, out, err);
    if (s == NULL) {
      bn_words_done(out);
      return -1;
    }
  }
  return 0;
}

size_t bn_words_get_group_len(const char *text)
{
  static const char marks[] = ";'\"";
  size_t len = strcspn(text, marks);

  while (text[len] == '\'' || text[len] == '"') {
    const char *end = strchr(text + len + 1, text[len]);

    if (end == NULL)
      return strlen(text);
    len = (size_t)(end + 1 - text);
    len += strcspn(text + len, marks);
  }
  return len;
}

/* Adds a word that has apostrophes and needs quotes.  Its apostrophes are put in quotation marks,
   and the pieces between them in apostrophes. */
static void words_quote_pieces(struct bn_buf *out, const char *word)
{
  while (*word != '\0') {
    const bool is_apostrophe = *word == '\'';
    const size_t len = is_apostrophe ? strspn(word, "'") : strcspn(word, "'");
    const char *quote = is_apostrophe ? "\"" : "'";

    (void)bn_buf_printf(out, "%s%.*s%s", quote, (int)len, word, quote);
    word += len;
  }
}

/* Returns whether a word is an option for a secret, also one whose dashes are missing.  The path of
   a script may have "token" in it. */
static bool words_is_secret_option(const char *word)
{
  const char name_end = word[strcspn(word, "=./")];
  const bool is_path = name_end == '.' || name_end == '/';

  return !is_path && bn_mask_names_secret(word);
}

void bn_words_show(struct bn_buf *out, const char *word)
{
  const bool has_apostrophe = strchr(word, '\'') != NULL;
  const bool needs_quotes = word[0] == '\0' || strpbrk(word, BLANKS ";\"") != NULL;
  char masked[BN_MASK_MAX];
  const char *shown = bn_mask_text(word, masked);

  if (words_is_secret_option(word))
    (void)bn_buf_printf(out, "%.*s=" BN_MASK, (int)strcspn(word, "="), word);
  else if (needs_quotes && has_apostrophe)
    words_quote_pieces(out, shown);
  else if (needs_quotes)
    (void)bn_buf_printf(out, "'%s'", shown);
  else if (has_apostrophe)
    (void)bn_buf_printf(out, "\"%s\"", shown);
  else
    (void)bn_buf_printf(out, "%s", shown);
}

/* Adds the words of one group with passwords masked.  A word after "--password" or "--password="
   may be the password, unless it begins with a dash.  Returns 0, or -1 if a quote has no end. */
static int words_mask_group(struct bn_buf *out, const char *text, size_t len)
{
  char *group = bn_alloc_part(text, len);
  struct bn_list words;
  struct bn_err err;
  bool hides_next = false;
  const int rc = bn_words_split(group, &words, &err);

  for (size_t i = 0; i < words.n; i++) {
    const char *word = words.item[i], *equals = strchr(word, '=');
    const bool has_value = equals != NULL && equals[1] != '\0';

    (void)bn_buf_str(out, i > 0 ? " " : "");
    if (hides_next && word[0] != '-')
      (void)bn_buf_str(out, BN_MASK);
    else
      bn_words_show(out, word);
    hides_next = words_is_secret_option(word) && !has_value;
  }
  bn_words_done(&words);
  explicit_bzero(group, len);
  free(group);
  return rc;
}

char *bn_words_mask(const char *text)
{
  struct bn_buf shown = {.max = 0};
  char masked[BN_MASK_MAX];
  const char *truncated = bn_mask_text(text, masked); /* ends at its first password */
  const char *group = text;

  if (truncated == text) /* there is no password */
    return bn_alloc_text(text);
  for (;;) {
    const size_t len = bn_words_get_group_len(group);

    if (words_mask_group(&shown, group, len) != 0)
      break;
    if (group[len] == '\0')
      return bn_buf_take(&shown);
    (void)bn_buf_str(&shown, "; ");
    group += len + 1;
  }
  /* A quote has no end, so that words after the first password cannot be told apart. */
  bn_buf_done(&shown);
  return bn_alloc_text(truncated);
}

void bn_words_done(struct bn_list *words)
{
  for (size_t i = 0; i < words->n; i++) {
    explicit_bzero(words->item[i], strlen(words->item[i]));
    free(words->item[i]);
  }
  free(words->item);
  *words = (struct bn_list){.n = 0};
}
