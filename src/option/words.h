/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of words, and a text with options split into words. */
#ifndef BN_OPTION_WORDS_H
#define BN_OPTION_WORDS_H

#include <stdbool.h>

#include "api/opt.h"
#include "base/err.h"

struct bn_buf;

/* Moves *pos past the word if the text there begins with it, and returns whether it does. */
bool bn_words_skip(const char **pos, const char *word);
/* Splits a text into words, which blanks, tabs and newlines separate.  Text in '…' or "…" is taken
   as it is, also within a word; no other character is special.  Returns 0, or -1 and err if a quote
   has no end; out is then empty. */
int bn_words_split(const char *text, struct bn_list *out, struct bn_err *err);
/* Adds a word, in quotes if bn_words_split() needs them to read it again as it is, but without the
   value of a password. */
void bn_words_show(struct bn_buf *out, const char *word);
/* Returns the length of the text of one group: up to a ';' that is not quoted, or to the end.  A
   quote that is not closed reaches to the end. */
size_t bn_words_get_group_len(const char *text);
/* Returns a text of --group without passwords: its words as bn_words_show() adds them, with "; "
   between groups, or, if a quote has no end, the text up to its first password.  A text without a
   password stays as it is.  The caller frees it. */
char *bn_words_mask(const char *text);
/* Adds a copy of a word. */
void bn_words_add(struct bn_list *words, const char *word);
/* Adds a word that was allocated, which the list takes over. */
void bn_words_adopt(struct bn_list *words, char *word);
/* Overwrites the words, of which any may be a password, and frees them.  The list is empty and
   usable afterwards. */
void bn_words_done(struct bn_list *words);

#endif
