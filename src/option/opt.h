/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of options: add tables, set values by name, iterate; nobody looks a value up by name but
   the exporter to scripts. */
#ifndef BN_OPTION_OPT_H
#define BN_OPTION_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "api/opt.h"
#include "api/policy.h"
#include "base/err.h"

/* A single thread uses a set, before workers start. */
struct bn_optset;

/* The kind of a fault of a setting, for callers that word it as sysbench does. */
enum bn_optset_error {
  BN_OPTSET_OK = 0,
  BN_OPTSET_UNKNOWN = -1, /* no such option: kept as pending, see below */
  BN_OPTSET_BAD = -2,     /* malformed value: "Invalid value for the '%s' option: '%s'" */
  BN_OPTSET_RANGE = -3,   /* range_text, or a sentence with the bounds or choices */
  BN_OPTSET_BOOL = -4     /* bad boolean: "invalid option: --…"; kept as pending too */
};

/* policy: borrowed, outlives the set. */
struct bn_optset *bn_optset_new(const struct bn_policy *policy);
/* Says that another process has sent the configuration files, as FOLDER/N-NAME: messages show NAME,
   and notes of what is ignored while a file is read are left out, because the sender has printed
   them.  Comes before the first file. */
void bn_optset_files_were_sent(struct bn_optset *s);
/* Also frees the strings and lists it put into value structs, which must still exist. */
void bn_optset_free(struct bn_optset *s);

/* Adds a table under a group name ("cpu options", copied); sets every value to its default in this
   dialect. Table and values stay the caller's and must outlive the set.  Pending settings that
   match a new option are applied at once, in the order they were given; what is wrong with them is
   found by bn_optset_unknown and bn_optset_fault.  A name that exists already is refused (-1),
   unless override: a script's own option of a general name shadows it for bn_optset_each and takes
   its settings, while the general one keeps its value for the engine. */
int bn_optset_add(struct bn_optset *s, const char *group, const struct bn_opt *table, void *values,
                  bool override, struct bn_err *err);

/* Sets one option; value NULL: given without '=' ("--debug").  The result is also remembered, and
   forgotten when the option is set again, so that the last setting decides.  An unknown name and a
   bad boolean are remembered as pending.  arg_as_typed: "--file-num=4", for messages; BN_MASK: it
   may be a password, so that not even its name is shown. */
enum bn_optset_error bn_optset_set(struct bn_optset *s, const char *name, const char *value,
                                   const char *arg_as_typed);
/* Reads a configuration file (optfile.c); -1: it cannot be read, and then the code is an errno
   value, or (unless the policy is loose, and then the rest of the file is skipped with a line on
   stderr) a line is malformed, and the code is 0. */
int bn_optset_read_file(struct bn_optset *s, const char *path, struct bn_err *err);
/* Whether what stands before '=' in a line of such a file names nothing: a comment, or blank. */
bool bn_optset_is_comment(const char *name);
/* A script declares an option again that the program has: its default takes the place of the
   program's, unless the option was given.  1: it does; 0: it does not, or there is no other option
   of that name; -1 and err. */
int bn_optset_set_default(struct bn_optset *s, const struct bn_opt *own, struct bn_err *err);
/* Sets an option as a line of a file does, for optfile.c; text: the items as written, after '='. */
void bn_optset_set_from_file(struct bn_optset *s, const char *name, const char *text,
                             const char *path, unsigned line);

/* Every pending setting of an unknown option, in order; path NULL: from the command line, else of
   that file and line. Scripts of the 1.0 and 0.5 kind take the command line's as free string
   options. */
void bn_optset_each_pending(const struct bn_optset *s,
                            void (*fn)(void *arg, const char *name, const char *value,
                                       const char *path, unsigned line),
                            void *arg);
/* Returns whether both are the same name, in which '-' and '_' are equal. */
bool bn_opt_same_name(const char *a, const char *b);
/* Returns whether name[0..len), which has no 0, is this name. */
bool bn_opt_is_named(const char *name, size_t len, const char *declared);
/* Returns whether a list, whose names are separated by ", ", has the name.  NULL: an empty list. */
bool bn_opt_is_listed(const char *list, const char *name);
/* Returns the option of a table that has the name name[0..len), or NULL.  table NULL: none. */
const struct bn_opt *bn_opt_find(const struct bn_opt *table, const char *name, size_t len);
/* The option of that name, or NULL. */
const struct bn_opt *bn_optset_find(const struct bn_optset *s, const char *name);
/* The traits of the option of that name: its own, those of the general option that it shadows, and
   those of the option that it is an old name of.  0: none, or there is no such option. */
unsigned bn_optset_traits(const struct bn_optset *s, const char *name);
/* The known name closest to this one (also equal to it), or NULL when none is near. */
const char *bn_optset_nearest(const struct bn_optset *s, const char *name);

/* A fault of a setting.  Outside of dialects the sentence has one form,
   "--NAME=VALUE: what is wrong; allowed: …", or "FILE:LINE: NAME=VALUE: …". */
struct bn_optset_fault {
  enum bn_optset_error kind; /* in a dialect: RANGE is FATAL on stdout, others are for stderr */
  const struct bn_opt *opt;  /* NULL: unknown */
  const char *typed;         /* the argument, borrowed; NULL: of no single one, or of a file */
  char text[640];
};
/* A value that the option's owner refuses, because it knows more than the table. */
struct bn_opt_refusal {
  const char *name, *value, *wrong;
  const char *allowed; /* NULL: it goes without saying */
};
/* Returns whether the option is declared a secret, or is a text and its name has a word of one. */
bool bn_opt_is_secret(const struct bn_opt *o);
/* Sets the sentence, in the first form with BN_ERR_OPTION, or in a dialect `plain` with the value
   in the place of its %s; returns -1. */
int bn_opt_refuse(const struct bn_policy *policy, const struct bn_opt_refusal *r, const char *plain,
                  struct bn_err *err);
/* As bn_opt_refuse for an option of the set, which knows the file that has set it: a fault of the
   kind RANGE. */
void bn_optset_refuse(const struct bn_optset *s, const struct bn_opt_refusal *r, const char *plain,
                      struct bn_optset_fault *out);
/* The first setting of the command line that has no option, unless any is accepted, or a boolean
   that is none. */
bool bn_optset_unknown(const struct bn_optset *s, bool accept_any, struct bn_optset_fault *out);
/* The first option, in the order of the tables, whose last setting was bad. */
bool bn_optset_fault(const struct bn_optset *s, struct bn_optset_fault *out);

/* Returns whether it was set by the user (command line or file), and not to nothing, under this
   name or through an alias of it. */
bool bn_optset_given(const struct bn_optset *s, const char *name);
/* Returns the origin of the last setting, also of one to nothing.  The origin of an unknown name is
   the default. */
enum bn_origin bn_optset_origin(const struct bn_optset *s, const char *name);
/* Moves the values of deprecated aliases over (one that differs from the alias's default beats the
   new name, an explicit default counts when the new name was not given) and calls warn for each
   that differed, in the order of the reference. */
void bn_optset_resolve_aliases(struct bn_optset *s, void (*warn)(void *arg, const char *text),
                               void *arg);

/* Calls fn for every option; name has '_' for '-'; value is of the type that opt.h states; an alias
   comes with its target's value. */
void bn_optset_each(const struct bn_optset *s,
                    void (*fn)(void *arg, const char *name, const struct bn_opt *o,
                               const void *value),
                    void *arg);

/* Calls fn for every option that is not hidden, in the order of the tables, and then for those that
   no table declares.  An old name is no option of its own once bn_optset_resolve_aliases has run.
   Where a script shadows a general option there are two of that name, in two groups. */
void bn_optset_facts(const struct bn_optset *s, void (*fn)(void *arg, const struct bn_opt_fact *f),
                     void *arg);
/* Returns whether the value of the option of that name is never shown: it is declared a secret, it
   is a text and its name has a word of a secret (base/mask.h), or the option is not known. */
bool bn_optset_is_secret(const struct bn_optset *s, const char *name);
/* Marks the pending settings that a script without declarations reads, which makes them known. */
void bn_optset_mark_read(struct bn_optset *s, bool (*reads)(void *arg, const char *name),
                         void *arg);

/* Prints the option lines of these groups as one aligned block in the layout of the policy: the
   options that it lists.  Nothing but lines; returns how
   many (opthelp.c). */
size_t bn_optset_help(const struct bn_optset *s, const char *const *groups, size_t n, FILE *out);
/* The same options as list items of mdoc(7) with types, bounds and defaults, for the man page. */
size_t bn_optset_help_man(const struct bn_optset *s, const char *const *groups, size_t n,
                          FILE *out);
/* The default of an option in this dialect as a user would type it, or NULL. */
const char *bn_opt_default(const struct bn_opt *o, const struct bn_policy *policy);

/* Writes the name of an argument "--NAME" or "--NAME=VALUE", in which '_' stands for '-'.  A longer
   name is that of no option. */
enum { BN_OPT_NAME_MAX = 64 };
void bn_opt_read_name(const char *arg, char name[BN_OPT_NAME_MAX]);

/* Returns whether the set has an option in that group. */
bool bn_optset_has_group(const struct bn_optset *s, const char *group);
/* The i-th option of the set in the order it was added, or NULL after the last, with aliases and
   options that another one of their name hides; *group unless that is NULL. */
const struct bn_opt *bn_optset_at(const struct bn_optset *s, size_t i, const char **group);
const struct bn_policy *bn_optset_policy(const struct bn_optset *s);

#endif
