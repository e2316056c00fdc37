/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of an option, and the set of options as its own files see it.  Internal to option/. */
#ifndef BN_OPTION_OPTVAL_H
#define BN_OPTION_OPTVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"
#include "api/policy.h"
#include "option/opt.h"

/* Room for a value of any type, for options without a place of their own. */
union bn_optval {
  bool b;
  int64_t i;
  uint64_t u;
  double d;
  int choice;
  char *s;
  struct bn_list list;
};

/* Parses a text as typed on the command line (NULL: the option was given without '=') and replaces
   the value if the text is right.  The value of a verbatim list is one item.  Returns OK, BAD,
   RANGE or BOOL. */
enum bn_optset_error bn_optval_parse(const struct bn_opt *o, void *value, const char *text);
/* Sets the value to its default in this dialect, or to zero if there is none.  An old value is not
   freed.  Returns as bn_optval_parse does: the default of a script's option need not fit its type,
   and the value is then zero. */
enum bn_optset_error bn_optval_set_default(const struct bn_opt *o, const struct bn_policy *policy,
                                           void *value);
/* Frees what a string or list holds; the value becomes empty. */
void bn_optval_clear(const struct bn_opt *o, void *value);
/* Fills a fault of that kind in the words of the policy.  text NULL: the option was given without
   '='. */
void bn_optval_explain(const struct bn_opt *o, const char *text, enum bn_optset_error kind,
                       const struct bn_policy *policy, struct bn_optset_fault *out);
/* Writes the choices to out, with ", " between them.  An empty choice, which is the last and means
   "no value", is left out. */
void bn_optval_list_choices(const struct bn_opt *o, char *out, size_t len);
/* Returns the value as a number, for comparisons; 0 for a text or a list. */
double bn_optval_to_number(const struct bn_opt *o, const void *value);

/* An item of a file's value, without its quotes. */
struct bn_optval_item {
  const char *text;
  size_t len;
};
/* Finds the next item of a file's value and moves *pos past it.  ',' and blanks separate items,
   which stand in '…' or "…" if they contain any of these; a '#' that begins an item ends the value.
   Returns 1, 0: there is no other, or -1: a quote is not closed. */
int bn_optval_next(const char **pos, struct bn_optval_item *item);
/* Returns the first item of a file's value, "" if there is none, and sets *rest to what follows it.
   with_commas: the commas belong to the item, and "a, b" is one item, "a,b".  The caller frees the
   item. */
char *bn_optval_copy_first(const char *text, bool with_commas, const char **rest);
/* Adds all items of a file's value, in which each quote is closed, to out. */
void bn_optval_split_items(const char *text, struct bn_list *out);

/* --- the set --- */

/* A setting as a user wrote it, kept for an option that is declared later. */
struct bn_setting {
  char *name;
  char *text;  /* NULL: without '=' */
  char *typed; /* the whole argument, for messages; NULL: from a file */
  char *path;  /* NULL: command line */
  unsigned line;
  bool bad_bool;       /* the option is known, the text is not a boolean */
  bool is_read;        /* no option is declared, but the text of the script has its name */
  unsigned long order; /* the settings of a set are numbered from 1 on */
};

/* An option of the set, with its value and its latest setting. */
struct bn_entry {
  const struct bn_opt *o;
  char *group;
  char *name;  /* '_' for '-' */
  void *value; /* in the struct of the owner; of an alias: &own */
  union bn_optval own;
  unsigned traits; /* its own, and those of the option that it shadows or stands for */
  bool given, shadowed;
  enum bn_optset_error bad; /* what is wrong with the latest setting; OK: nothing */
  struct bn_setting last;   /* the latest setting, good or bad */
};

/* Options and pending settings are in the order in which they were added. */
struct bn_optset {
  const struct bn_policy *policy;
  bool sent; /* another process has sent the configuration files */
  struct bn_entry **entry;
  size_t n;
  struct bn_setting *pending;
  size_t n_pending;
  unsigned long n_settings; /* so far */
};

/* Parses the text of a setting.  On the command line, it is parsed as by bn_optval_parse.  In a
   file, it has items (bn_optval_next), whose quotes are closed: a list gets all of them, any other
   value is the first one, and a boolean without an item is off. */
enum bn_optset_error bn_optval_parse_setting(const struct bn_opt *o, void *value,
                                             const struct bn_setting *st);
/* Returns the text, or BN_MASK if the option is a secret and the text is not empty. */
const char *bn_opt_mask_text(const struct bn_opt *o, const char *text);
/* Returns the newest option of that name, which is a script's own if it shadows a general one, or
   NULL if there is none. */
struct bn_entry *bn_optset_find_entry(const struct bn_optset *s, const char *name);
/* Returns the option that an alias stands for, the oldest of that name, which is declared beside
   the alias and has its type; NULL if the option is no alias. */
struct bn_entry *bn_optset_find_target(const struct bn_optset *s, const struct bn_entry *alias);

/* Returns the origin of the last setting. */
static inline enum bn_origin bn_optval_origin(const struct bn_entry *e)
{
  if (!e->given)
    return BN_FROM_DEFAULT;
  return e->last.path != NULL ? BN_FROM_FILE : BN_FROM_COMMAND_LINE;
}

/* Returns whether the value is a number, a size or a time, or a list whose first item scripts see
   as one. */
bool bn_optval_is_numeric(const struct bn_opt *o);

#endif
