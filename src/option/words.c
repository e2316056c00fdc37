/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a text, with two kinds of quotes. */
#include "option/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define BLANKS " \t\n"

bool bn_words_skip(const char **at, const char *word)
{
  const size_t len = strlen(word);

  if (strncmp(*at, word, len) != 0)
    return false;
  *at += len;
  return true;
}

void bn_words_take(struct bn_list *words, char *word)
{
  words->item = bn_alloc_resize(words->item, words->n + 1, sizeof *words->item);
  words->item[words->n++] = word;
}

void bn_words_add(struct bn_list *words, const char *word)
{
  bn_words_take(words, bn_alloc_text(word));
}

/* Appends the part of a word up to a quote or the end of the word.  Returns what follows, or NULL
   if a quote has no end. */
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

/* Adds the word at s, without its quotes, to the list.  Returns what follows, or NULL and err. */
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
  bn_words_take(out, bn_buf_take(&word));
  return s;
}

int bn_words_split(const char *text, struct bn_list *out, struct bn_err *err)
{
  const char *s = text + strspn(text, BLANKS);

  *out = (struct bn_list){.n = 0};
  while (s != NULL && *s != '\0') {
    s = words_split_one(s, out, err);
    if (s != NULL)
      s += strspn(s, BLANKS);
  }
  if (s != NULL)
    return 0;
  bn_words_done(out);
  return -1;
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
