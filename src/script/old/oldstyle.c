/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts that declare no options take any option; their own text shows which ones they know. */
#include "script/old/oldstyle.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mask.h"
#include "base/near.h"
#include "option/conf.h"
#include "option/opt.h"
#include "script/vm/chunk.h"
#include "script/vm/lua.h"

/* Returns whether an identifier of Lua may have the character.  isalnum() would depend on the
   locale. */
static bool oldstyle_is_word_char(char c)
{
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Appends the content of a file of the script, for bn_chunks_each.  A file that cannot be read any
   more adds nothing. */
static void oldstyle_add_file(void *arg, const char *file)
{
  struct bn_buf *words = arg;

  (void)bn_file_read(file, words);
  (void)bn_buf_char(words, '\n');
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
  const char *next = word != NULL ? word + strlen(word) : words->data;

  while (next < end && *next == '\0')
    next++;
  return next < end ? next : NULL;
}

/* Returns whether one of the words `arg` is the name of the option.  '-' and '_' are the same. */
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

/* The argument of oldstyle_log_unmentioned. */
struct word_check {
  const struct bn_optset *options;
  struct bn_buf *words;
};

/* Sets the bool `arg` for an option of the command line, whose path is NULL. */
static void oldstyle_find_option(void *arg, const char *name, const char *value, const char *path,
                                 unsigned line)
{
  bool *has_option = arg;

  (void)name;
  (void)value;
  (void)line;
  if (path == NULL)
    *has_option = true;
}

/* Logs an option of the command line that the script does not mention, with the nearest name among
   the options of the program and the words of the script. */
static void oldstyle_log_unmentioned(void *arg, const char *name, const char *value,
                                     const char *path, unsigned line)
{
  const struct word_check *c = arg;
  struct bn_near near = {.typed = name};
  char masked[BN_MASK_MAX];

  (void)value;
  (void)line;
  if (path != NULL || oldstyle_mentions(c->words, name))
    return;
  const char *known = bn_optset_find_nearest(c->options, name);

  if (known != NULL)
    bn_near_offer(&near, known);
  /* Words without '_' are not offered, because most of them are no options. */
  for (const char *word = oldstyle_next_word(c->words, NULL); word != NULL;
       word = oldstyle_next_word(c->words, word))
    if (strchr(word, '_') != NULL)
      bn_near_offer(&near, word);
  bn_near_complain(bn_mask_arg(name, masked), near.best);
}

/* Returns whether a script without declarations is written for the interface of 0.5.  In versions
   that always have its names every script is; natively, our workloads of 0.5 are, and a user's
   script that uses one of the names. */
static bool oldstyle_is_for_05(const struct bn_vm *vm, struct bn_buf *words)
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
  const bool is_old = oldstyle_is_for_05(vm, &words);

  bn_buf_done(&words);
  return is_old;
}

/* A script of 0.5 reads its options as globals, so their names are among the words of its files. */
bool bn_oldstyle_accept_any(const struct bn_vm *vm)
{
  struct bn_optset *options = vm->setup->options;
  struct bn_buf words;
  struct word_check check = {.options = options, .words = &words};
  bool has_option = false;

  bn_optset_each_pending(options, oldstyle_find_option, &has_option);
  if (!has_option) /* no option could be refused, so the files are not read */
    return true;
  oldstyle_read_words(&words, vm->chunks);
  const bool accepts = oldstyle_is_for_05(vm, &words);

  if (accepts) {
    bn_optset_mark_read(options, oldstyle_mentions, &words);
    bn_optset_each_pending(options, oldstyle_log_unmentioned, &check);
  }
  bn_buf_done(&words);
  return accepts;
}
