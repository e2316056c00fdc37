/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts that declare no options take any option; their own text shows which ones they know. */
#include "script/old/oldstyle.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mask.h"
#include "base/near.h"
#include "option/conf.h"
#include "option/opt.h"
#include "script/vm/chunk.h"
#include "script/vm/lua.h"

/* Returns whether a name of Lua may have the character.  isalnum() would depend on the locale. */
static bool oldstyle_is_word_char(char c)
{
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Appends a file of the script.  One that cannot be read any more adds no words. */
static void oldstyle_add_file(void *arg, const char *file)
{
  struct bn_buf *words = arg;
  FILE *in = fopen(file, "re");
  char part[4096];
  size_t n;

  if (in == NULL)
    return;
  while ((n = fread(part, 1, sizeof part, in)) > 0)
    (void)bn_buf_add(words, part, n);
  (void)bn_buf_char(words, '\n');
  (void)fclose(in);
}

/* Reads the words of a script: the identifiers in all its files, with zero bytes between them. */
static void oldstyle_read_words(struct bn_buf *words, const struct bn_chunks *chunks)
{
  bn_buf_init(words, 0);
  bn_chunks_each(chunks, oldstyle_add_file, words);
  for (size_t i = 0; i < words->len; i++)
    if (!oldstyle_is_word_char(words->data[i]))
      words->data[i] = '\0';
}

/* Returns the word after `word`, or NULL after the last one; NULL gives the first word. */
static const char *oldstyle_next_word(const struct bn_buf *words, const char *word)
{
  const char *end = words->data + words->len;
  const char *p = word != NULL ? word + strlen(word) : words->data;

  while (p != NULL && p < end && *p == '\0')
    p++;
  return p != NULL && p < end ? p : NULL;
}

/* Returns whether a word of the script is the name of the option; '-' and '_' are the same. */
static bool oldstyle_mentions(void *arg, const char *name)
{
  const struct bn_buf *words = arg;

  for (const char *word = oldstyle_next_word(words, NULL); word != NULL;
       word = oldstyle_next_word(words, word))
    if (bn_opt_is_same_name(word, name))
      return true;
  return false;
}

/* Returns whether the script uses a function of the 0.5 interface. */
static bool oldstyle_uses_old_names(struct bn_buf *words)
{
  static const char *const names[] = {
      "db_connect", "db_query", "db_prepare",      "db_bulk_insert_init", "sb_rand_str",
      "sb_rand",    "sb_rnd",   "sb_rand_uniform", "sb_rand_uniq"};

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (oldstyle_mentions(words, names[i]))
      return true;
  return false;
}

/* A walk through options, for those that a script does not mention. */
struct word_check {
  const struct bn_optset *options;
  struct bn_buf *words;
};

/* Counts the options of the command line, which come from no file (path). */
static void oldstyle_count_option(void *arg, const char *name, const char *value, const char *path,
                                  unsigned line)
{
  unsigned *n = arg;

  (void)name;
  (void)value;
  (void)line;
  *n += path == NULL;
}

/* Logs an option of the command line that the script does not mention, with the nearest name among
   the options of the program and the words of the script. */
static void oldstyle_log_unmentioned(void *arg, const char *name, const char *value,
                                     const char *path, unsigned line)
{
  const struct word_check *c = arg;
  struct bn_near near = {.typed = name};
  const char *known;
  char masked[BN_MASK_MAX];

  (void)value;
  (void)line;
  if (path != NULL || oldstyle_mentions(c->words, name))
    return;
  known = bn_optset_find_nearest(c->options, name);
  if (known != NULL)
    bn_near_offer(&near, known);
  /* A word without '_' can be anything, so it is not offered. */
  for (const char *w = oldstyle_next_word(c->words, NULL); w != NULL;
       w = oldstyle_next_word(c->words, w))
    if (strchr(w, '_') != NULL)
      bn_near_offer(&near, w);
  bn_near_complain(bn_mask_arg(name, masked), near.best);
}

/* Returns whether a script without declarations is one of the old interface: in versions that
   always have the old names each one is, elsewhere a user's script that uses them. */
static bool oldstyle_is_old(const struct bn_vm *vm, struct bn_buf *words)
{
  const struct bn_conf *conf = vm->setup->conf;

  if (conf->policy->old_names_always || vm->place.set == BN_SET_LEGACY)
    return true;
  return conf->policy->old_names_on_demand && vm->place.set == BN_SET_USER &&
         oldstyle_uses_old_names(words);
}

bool bn_oldstyle_is_old(const struct bn_vm *vm)
{
  struct bn_buf words;

  oldstyle_read_words(&words, vm->chunks);
  const bool is_old = oldstyle_is_old(vm, &words);

  bn_buf_done(&words);
  return is_old;
}

bool bn_oldstyle_accept_any(const struct bn_vm *vm)
{
  struct bn_optset *options = vm->setup->options;
  struct bn_buf words;
  struct word_check check = {.options = options, .words = &words};
  unsigned pending = 0;

  bn_optset_each_pending(options, oldstyle_count_option, &pending);
  if (pending == 0) /* nothing could be refused, so the files are not read */
    return true;
  oldstyle_read_words(&words, vm->chunks);
  const bool accepts = oldstyle_is_old(vm, &words);

  if (accepts) {
    bn_optset_mark_read(options, oldstyle_mentions, &words);
    bn_optset_each_pending(options, oldstyle_log_unmentioned, &check);
  }
  bn_buf_done(&words);
  return accepts;
}
