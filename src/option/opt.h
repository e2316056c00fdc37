/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of options: tables are added, values are set by name, all options are visited.  Code that
   uses a value reads it in its own struct; only the exporter to scripts asks by name. */
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

/* Makes an empty set.  policy: borrowed, outlives the set. */
struct bn_optset *bn_optset_new(const struct bn_policy *policy);
/* Says that another process has sent the configuration files, as FOLDER/N-NAME.  Messages then show
   NAME, and there are no notes on ignored parts of a file, which the sender has printed.  Is called
   before the first file is read. */
void bn_optset_mark_files_sent(struct bn_optset *s);
/* Frees the set, and the strings and lists that it has put into the structs of values, which must
   still exist.  NULL: nothing. */
void bn_optset_free(struct bn_optset *s);

/* Adds a table under a group name ("cpu options", copied); sets every value to its default in this
   dialect.  Table and values stay the caller's and must outlive the set.  Pending settings that
   match a new option are applied at once, in the order they were given; bn_optset_find_unknown and
   bn_optset_find_fault find their faults.  With `override`, a script's own option that has the name
   of a general option shadows it in bn_optset_each and takes its settings, while the general option
   keeps its value for the engine.  Returns 0, or -1 and err: a name exists already and `override`
   is false, or a default does not fit its type. */
int bn_optset_add(struct bn_optset *s, const char *group, const struct bn_opt *table, void *values,
                  bool override, struct bn_err *err);

/* Returns the value that was typed for the general option of that name, if a script's own option of
   the name, which bn_optset_add is about to add, takes it; "" if it was typed without '='.  Returns
   NULL if there is none to take. */
const char *bn_optset_get_taken(const struct bn_optset *s, const char *name);

/* Sets one option; value NULL: given without '=' ("--debug").  Returns OK or the kind of its fault,
   which the set keeps until the option is set again: the last setting decides.  A setting with an
   unknown name or a bad boolean is kept as pending.  arg_as_typed is "--file-num=4", for messages,
   or BN_MASK if not even the name may be shown, because it may be a password. */
enum bn_optset_error bn_optset_set(struct bn_optset *s, const char *name, const char *value,
                                   const char *arg_as_typed);
/* Sets the option of an argument, "--NAME" or "--NAME=VALUE", as bn_optset_set does. */
void bn_optset_set_arg(struct bn_optset *s, const char *arg);
/* Reads a configuration file and sets its options.  Returns 0, or -1 and err: the file cannot be
   read, and the code is an errno value, or a line is malformed, and the code is 0.  If the policy
   is loose, a malformed line is printed on stderr instead, and the rest of the file is skipped. */
int bn_optset_read_file(struct bn_optset *s, const char *path, struct bn_err *err);
/* Returns whether the part of a line of such a file before '=' is a comment or blank. */
bool bn_optset_is_comment(const char *name);
/* Gives a general option the default of a script's own option of that name, unless the general one
   was given.  Where the policy lets defaults beat files, a setting in a file does not count, nor
   any setting of an option that sysbench has: the script's option does not take it either.  Returns
   1 if the general option has the default now, 0 if not or if there is no general option of that
   name, or -1 and err if the default does not fit the general option.  If it does not fit an option
   that sysbench does not have, that option keeps its own default, and 0 is returned. */
int bn_optset_use_script_default(struct bn_optset *s, const struct bn_opt *own, struct bn_err *err);
/* Gives a script's own option the default of the general option of that name, unless the general
   option was given: the script's option has its setting then.  Without a general option of that
   name, nothing is done. */
void bn_optset_use_general_default(struct bn_optset *s, const struct bn_opt *own);
/* Sets a general option that sysbench does not have to its default, if a script's own option of
   that name has taken its setting and the general option is not reserved.  Returns whether it
   did. */
bool bn_optset_leave_to_script(struct bn_optset *s, const struct bn_opt *own);
/* Sets an option as a line of a file does; `text` is all after '=', as written, and each of its
   quotes is closed.  A bad value is remembered with its place. */
void bn_optset_set_from_file(struct bn_optset *s, const char *name, const char *text,
                             const char *path, unsigned line);

/* Calls fn for every pending setting of an unknown option, in the order of the settings.  path is
   NULL for a setting of the command line; other settings are of that line of a file.  Scripts for
   1.0 and 0.5 take the settings of the command line for options of their own, which are texts. */
void bn_optset_each_pending(const struct bn_optset *s,
                            void (*fn)(void *arg, const char *name, const char *value,
                                       const char *path, unsigned line),
                            void *arg);
/* Returns whether both names are the same; '-' and '_' are equal here and below. */
bool bn_opt_is_same_name(const char *a, const char *b);
/* Returns whether name[0..len), which has no null byte, is the declared name. */
bool bn_opt_is_named(const char *name, size_t len, const char *declared);
/* Returns whether a list has the name.  ", " separates the names of the list; NULL: it is empty. */
bool bn_opt_is_listed(const char *list, const char *name);
/* Returns whether no script can have the option for itself: sysbench does not have it, and it is
   used before a script is read, such as for opening reports. */
bool bn_opt_is_reserved(const struct bn_opt *o);
/* Returns the option of a table that has the name name[0..len), or NULL.  table NULL: none. */
const struct bn_opt *bn_opt_find(const struct bn_opt *table, const char *name, size_t len);
/* Returns the newest option of that name, or NULL. */
const struct bn_opt *bn_optset_find(const struct bn_optset *s, const char *name);
/* Returns the traits of the option of that name, with the traits of the general option that it
   shadows and of the option that it is an old name of; 0 if there is no such option. */
unsigned bn_optset_get_traits(const struct bn_optset *s, const char *name);
/* Returns the known name closest to a name, which may be the name itself, or NULL if none is
   near. */
const char *bn_optset_find_nearest(const struct bn_optset *s, const char *name);

/* A fault of a setting.  Outside of dialects the sentence has one form,
   "--NAME=VALUE: what is wrong; allowed: …", or "FILE:LINE: NAME=VALUE: …". */
struct bn_optset_fault {
  enum bn_optset_error kind; /* in a dialect: RANGE is FATAL on stdout, others are for stderr */
  const struct bn_opt *opt;  /* NULL: unknown */
  const char *typed; /* the argument that is wrong, borrowed; NULL: no single one, or in a file */
  char text[640];
};
/* A value that the owner of the option, who knows more than its table, refuses. */
struct bn_opt_refusal {
  const char *name, *value;
  const char *wrong;   /* the reason, which follows the value in a message: "out of range" */
  const char *allowed; /* the allowed values; NULL: `wrong` names them */
};
/* Returns whether no version of sysbench has the option. */
static inline bool bn_opt_is_native(const struct bn_opt *o)
{
  return o->in == 0;
}
/* Returns whether the option is declared a secret, or is a text or a list and its name has a word
   of a secret (base/mask.h). */
bool bn_opt_is_secret(const struct bn_opt *o);
/* Sets err to the refusal: "--NAME=VALUE: ..." with the code BN_ERR_OPTION, or in a dialect `plain`
   with the value in the place of its %s.  Returns -1. */
int bn_opt_refuse(const struct bn_policy *policy, const struct bn_opt_refusal *r, const char *plain,
                  struct bn_err *err);
/* Sets *out to the refusal of an option of the set, as bn_opt_refuse, but with the line of the file
   that has set the option.  The fault is of the kind RANGE. */
void bn_optset_refuse(const struct bn_optset *s, const struct bn_opt_refusal *r, const char *plain,
                      struct bn_optset_fault *out);
/* Finds the first setting of the command line that is wrong because its option does not exist,
   unless accept_any is true, or is a boolean and has another value.  Returns whether there is such
   a setting, and sets *out. */
bool bn_optset_find_unknown(const struct bn_optset *s, bool accept_any,
                            struct bn_optset_fault *out);
/* Finds the first option, in the order of the tables, whose last setting has a fault.  Returns
   whether there is such an option, and sets *out. */
bool bn_optset_find_fault(const struct bn_optset *s, struct bn_optset_fault *out);

/* Returns whether the user (command line or file) has set the option, under its name or an alias of
   it, and to a text that is not empty. */
bool bn_optset_is_given(const struct bn_optset *s, const char *name);
/* Returns the origin of the last setting of an option, also if it was set to an empty text.  The
   origin of an unknown name is the default. */
enum bn_origin bn_optset_get_origin(const struct bn_optset *s, const char *name);
/* Returns the value of an option as it was typed on the command line, or "" if it was typed without
   '='.  Returns NULL if the command line has not set it, or a file has set it later. */
const char *bn_optset_get_typed(const struct bn_optset *s, const char *name);
/* Gives the values of deprecated aliases to the options that they stand for.  The last of the
   settings counts.  In a dialect, a value that differs from the default of the alias replaces the
   value of the present name, and a value that is equal to that default does so only if the present
   name was not given.  Calls warn for each alias whose value differed, in the order of the present
   names, as sysbench does. */
void bn_optset_resolve_aliases(struct bn_optset *s, void (*warn)(void *arg, const char *text),
                               void *arg);

/* Calls fn for every option that no other one shadows.  `name` has '_' for '-', `value` is of the
   type that api/opt.h states, and an alias comes with the value of its target. */
void bn_optset_each(const struct bn_optset *s,
                    void (*fn)(void *arg, const char *name, const struct bn_opt *o,
                               const void *value),
                    void *arg);

/* Calls fn for every option that is neither hidden nor an old name, in the order of the tables, and
   then for those that no table declares.  Where a script shadows a general option there are two of
   that name, in two groups.  bn_optset_resolve_aliases comes before. */
void bn_optset_each_fact(const struct bn_optset *s,
                         void (*fn)(void *arg, const struct bn_opt_fact *f), void *arg);
/* Returns whether the value of the option of that name is never shown: it is a secret
   (bn_opt_is_secret), or there is no such option. */
bool bn_optset_is_secret(const struct bn_optset *s, const char *name);
/* Marks the pending settings that a script without declarations reads, according to `reads`.  Their
   values are no longer hidden in bn_optset_each_fact. */
void bn_optset_mark_read(struct bn_optset *s, bool (*reads)(void *arg, const char *name),
                         void *arg);

/* Prints the lines of the options that the policy lists in these n groups, as one aligned block in
   its layout, and nothing else. */
void bn_optset_print_help(const struct bn_optset *s, const char *const *groups, size_t n,
                          FILE *out);
/* Prints the options of bn_optset_print_help as list items of mdoc(7) with types, bounds and
   defaults, for the manual pages. */
void bn_optset_print_man(const struct bn_optset *s, const char *const *groups, size_t n, FILE *out);
/* Returns the default of an option in this dialect as a user would type it, or NULL. */
const char *bn_opt_get_default(const struct bn_opt *o, const struct bn_policy *policy);

/* Writes the name of an argument "--NAME" or "--NAME=VALUE", with '-' in the place of '_'.  A name
   that is cut short is that of no option. */
enum { BN_OPT_NAME_MAX = 64 };
void bn_opt_read_name(const char *arg, char name[BN_OPT_NAME_MAX]);

/* Returns whether the set has an option in that group. */
bool bn_optset_has_group(const struct bn_optset *s, const char *group);
/* Returns the i-th option of the set in the order of adding, or NULL past the last; aliases and
   options that another one shadows are among them.  Sets *group, unless that is NULL. */
const struct bn_opt *bn_optset_get_at(const struct bn_optset *s, size_t i, const char **group);
/* Returns the policy that the set was made with. */
const struct bn_policy *bn_optset_policy(const struct bn_optset *s);

#endif
