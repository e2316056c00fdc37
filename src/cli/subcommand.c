/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommands: which one an argument vector asks for, and its own grammar. */
#include "cli/subcommand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/mask.h"
#include "dialect/dialect.h"
#include "option/opt.h"
#include "study/study.h"

/* A subcommand and what has been read of its command line. */
struct invocation {
  const struct bn_subcommand *sub;
  char *group; /* of its options */
  struct bn_optset *set;
  void *conf;
  bool wants_help;
  bool has_name;        /* the name of the subcommand was seen */
  bool has_separator;   /* "--" was seen: all that follows is of the run */
  const char **operand; /* ends with NULL */
  size_t n_operands;
};

const struct bn_subcommand *bn_subcommand_find_named(const struct bn_subcommand *table,
                                                     const char *name)
{
  for (; table->name != NULL; table++)
    if (strcmp(table->name, name) == 0)
      return table;
  return NULL;
}

/* Returns the position at which the name of a subcommand may stand, or argc. */
static int subcommand_find_name_place(int argc, char *const *argv)
{
  int i = 1;

  /* A test that is named by an option makes the first word its command. */
  for (; i < argc && argv[i][0] == '-'; i++)
    if (strncmp(argv[i], "--test", strlen("--test")) == 0)
      return argc;
  if (i + 1 < argc && strcmp(argv[i], "help") == 0)
    i++;
  return i;
}

const struct bn_subcommand *bn_subcommand_find_asked(const struct bn_subcommand *table, int argc,
                                                     char *const *argv)
{
  const int place = subcommand_find_name_place(argc, argv);

  return place < argc ? bn_subcommand_find_named(table, argv[place]) : NULL;
}

/* Makes the set of the subcommand's own options.  Returns 0, or -1 and err; subcommand_forget frees
   the set in either case. */
static int subcommand_declare(struct invocation *a, struct bn_err *err)
{
  a->group = bn_alloc_print("%s options", a->sub->name);
  a->conf = bn_alloc(1, a->sub->conf_size);
  a->set = bn_optset_new(&bn_policy_bench);
  return bn_optset_add(a->set, a->group, a->sub->options, a->conf, false, err);
}

/* Adds --help apart from the subcommand's own options, because bench-studies(7) lists only
   those. */
static int subcommand_declare_help(struct invocation *a, struct bn_err *err)
{
  static const struct bn_opt own[] = {
      {.name = "help", .type = BN_BOOL, .def = "off", .help = "this list of options"}, BN_OPT_END};

  return bn_optset_add(a->set, a->group, own, &a->wants_help, false, err);
}

/* Frees what has been read of a command line, also after a failure. */
static void subcommand_forget(struct invocation *a)
{
  bn_optset_free(a->set);
  free(a->conf);
  free(a->operand);
  free(a->group);
}

/* Sets the option of "--NAME" or "--NAME=VALUE".  The set remembers what is wrong with it, for
   subcommand_check_options. */
static void subcommand_set_option(const struct invocation *a, const char *arg)
{
  const char *name = arg + 2;
  const size_t len = strcspn(name, "=");
  char *own_name = bn_alloc_part(name, len);

  (void)bn_optset_set(a->set, own_name, name[len] == '=' ? name + len + 1 : NULL, arg);
  free(own_name);
}

/* Returns the option of the subcommand that "--NAME" or "--NAME=VALUE" names, or NULL. */
static const struct bn_opt *subcommand_find_option(const struct invocation *a, const char *arg)
{
  return bn_opt_find(a->sub->options, arg + 2, strcspn(arg + 2, "="));
}

/* Returns the option of the subcommand that "-o" or "-oVALUE" names, or NULL. */
static const struct bn_opt *subcommand_find_short_option(const struct invocation *a,
                                                         const char *arg)
{
  if (arg[0] != '-' || arg[1] == '\0')
    return NULL;
  for (const struct bn_opt *o = a->sub->options; o != NULL && o->name != NULL; o++)
    if (arg[1] == o->letter)
      return o;
  return NULL;
}

/* Sets an option as "--NAME=VALUE" does; subcommand_check_options finds a wrong value. */
static void subcommand_set_value(const struct invocation *a, const struct bn_opt *o,
                                 const char *value)
{
  char *typed = bn_alloc_print("--%s=%s", o->name, value);

  (void)bn_optset_set(a->set, o->name, value, typed);
  free(typed);
}

/* Takes "-o VALUE" or "-oVALUE"; `next` is the argument behind it, or NULL.  Returns how many of
   the two it took, or -1 and err. */
static int subcommand_set_short(struct invocation *a, const struct bn_opt *o, const char *arg,
                                const char *next, struct bn_err *err)
{
  const char *value = arg[2] != '\0' ? arg + 2 : next;

  if (value == NULL)
    return bn_err_set(err, 0, "-%c needs a value (see bench %s --help)", o->letter, a->sub->name);
  subcommand_set_value(a, o, value);
  return value == next ? 2 : 1;
}

/* Takes "--name=VALUE", or "--name VALUE" as many programs have it.  Returns how many of the two
   arguments it took. */
static int subcommand_set_long(const struct invocation *a, const char *arg, const char *next)
{
  const struct bn_opt *o = subcommand_find_option(a, arg);

  if (o != NULL && o->type != BN_BOOL && strchr(arg, '=') == NULL && next != NULL) {
    subcommand_set_value(a, o, next);
    return 2;
  }
  subcommand_set_option(a, arg);
  return 1;
}

/* Refuses unknown options, and values that are wrong.  Returns 0, or -1 and err. */
static int subcommand_check_options(const struct invocation *a, struct bn_err *err)
{
  struct bn_optset_fault fault;

  if (bn_optset_unknown(a->set, false, &fault) || bn_optset_fault(a->set, &fault))
    return bn_err_set(err, 0, "%s", fault.text);
  return 0;
}

/* Returns the usage line, which the caller frees.  The options of a file that declares a study
   stand behind its name, among the operands. */
static char *subcommand_format_usage(const struct bn_subcommand *sub)
{
  return bn_alloc_print("bench %s%s %s", sub->name, sub->loads_file ? "" : " [options]...",
                        sub->operands);
}

/* Refuses too few or too many operands.  An operand too many may be meant as the value of an
   option, and so have a password.  Returns 0, or -1 and err. */
static int subcommand_check_operands(const struct invocation *a, struct bn_err *err)
{
  const size_t most = a->sub->max_operands;
  char *usage = subcommand_format_usage(a->sub), masked[BN_MASK_MAX];
  int rc = 0;

  if (a->n_operands < a->sub->min_operands)
    rc = bn_err_set(err, 0, "too few arguments; usage: %s", usage);
  else if (a->n_operands > most)
    rc = bn_err_set(err, 0, "too many arguments, from '%s' on; usage: %s",
                    bn_mask_text(a->operand[most], masked), usage);
  free(usage);
  return rc;
}

/* Returns whether "--NAME" or "--NAME=VALUE" is an option of the subcommand. */
static bool subcommand_is_own(const struct invocation *a, const char *arg)
{
  return subcommand_find_option(a, arg) != NULL ||
         bn_opt_is_named(arg + 2, strcspn(arg + 2, "="), "help");
}

/* Returns whether an argument belongs to the command line of a run.  "oltp_read_write --help" asks
   for the help of the run. */
static bool subcommand_is_of_run(const struct invocation *a, const char *arg)
{
  if (!a->sub->takes_run || !a->has_name)
    return false;
  if (a->has_separator || arg[0] != '-')
    return true;
  if (strncmp(arg, "--", 2) != 0)
    return subcommand_find_short_option(a, arg) == NULL &&
           (a->n_operands > 0 || strcmp(arg, "-h") != 0);
  return !subcommand_is_own(a, arg) || (a->n_operands > 0 && strcmp(arg, "--help") == 0);
}

/* Takes a word that is no option.  The first is the name of the subcommand itself, unless it is
   "help"; the words behind the name are operands. */
static void subcommand_take_word(struct invocation *a, const char *word)
{
  if (a->has_name)
    a->operand[a->n_operands++] = word;
  else if (strcmp(word, "help") == 0)
    a->wants_help = true;
  else
    a->has_name = true;
}

/* Takes `arg`, and perhaps `next`, the argument behind it or NULL.  Returns how many it took, or -1
   and err. */
static int subcommand_take_argument(struct invocation *a, const char *arg, const char *next,
                                    struct bn_err *err)
{
  const struct bn_opt *o = subcommand_find_short_option(a, arg);
  char masked[BN_MASK_MAX];

  if (a->sub->takes_run && a->has_name && !a->has_separator && strcmp(arg, "--") == 0) {
    a->has_separator = true;
    return 1;
  }
  if (subcommand_is_of_run(a, arg)) {
    a->operand[a->n_operands++] = arg;
    return 1;
  }
  if (strncmp(arg, "--", 2) == 0)
    return subcommand_set_long(a, arg, next);
  if (o != NULL)
    return subcommand_set_short(a, o, arg, next, err);
  if (strcmp(arg, "-h") == 0)
    a->wants_help = true;
  else if (arg[0] == '-' && arg[1] != '\0')
    return bn_err_set(err, 0, "unknown argument '%s' (see bench %s --help)",
                      bn_mask_arg(arg, masked), a->sub->name);
  else
    subcommand_take_word(a, arg);
  return 1;
}

/* Overwrites the value of an option that is a secret, in its argument or in `next`, the second one
   that it took, or NULL. */
static void subcommand_hide_secret(const struct invocation *a, char *arg, char *next)
{
  const struct bn_opt *o;
  char *value;

  if (strncmp(arg, "--", 2) == 0) {
    o = subcommand_find_option(a, arg);
    value = strchr(arg, '=');
    value = value != NULL ? value + 1 : next;
  } else {
    o = subcommand_find_short_option(a, arg);
    value = o != NULL && arg[2] != '\0' ? arg + 2 : next;
  }
  if (o != NULL && bn_opt_is_secret(o) && value != NULL)
    bn_mask_overwrite(value);
}

/* Takes all arguments but the one at the position `skipped`, which was read before; 0: none was.
   Returns 0, or -1 and err. */
static int subcommand_parse(struct invocation *a, const struct bn_subcommand_args *args,
                            int skipped, struct bn_err *err)
{
  a->operand = bn_alloc((size_t)args->argc + 1, sizeof *a->operand);
  for (int i = 1; i < args->argc;) {
    char *next = i + 1 < args->argc ? args->argv[i + 1] : NULL;
    int n = 1;

    if (i != skipped)
      n = subcommand_take_argument(a, args->argv[i], next, err);
    if (n < 0)
      return -1;
    if (args->shown != NULL)
      subcommand_hide_secret(a, args->shown[i], n == 2 ? args->shown[i + 1] : NULL);
    i += n;
  }
  return subcommand_check_options(a, err);
}

/* Prints the usage line, the title and, unless a file declares them, the options. */
static void subcommand_print_help(const struct invocation *a, FILE *out)
{
  const char *const groups[] = {a->group};
  const struct bn_subcommand *sub = a->sub;
  char *usage = subcommand_format_usage(sub);

  (void)fprintf(out, "Usage:\n  %s\n\n%s - %s\n\n", usage, sub->name, sub->title);
  free(usage);
  if (sub->loads_file)
    return;
  (void)fprintf(out, "%s:\n", a->group);
  (void)bn_optset_print_help(a->set, groups, 1, out);
  (void)fputc('\n', out);
}

/* Runs a subcommand, or prints its help.  study NULL: the subcommand is in C.  `skipped` is that of
   subcommand_parse.  Returns the exit status, and err after a failure. */
static int subcommand_execute(struct invocation *a, const struct bn_subcommand_args *args,
                              int skipped, struct bn_study *study, FILE *out, struct bn_err *err)
{
  const struct bn_subcommand *sub = a->sub;

  if (subcommand_declare(a, err) != 0 || subcommand_declare_help(a, err) != 0 ||
      subcommand_parse(a, args, skipped, err) != 0)
    return EXIT_FAILURE;
  if (a->wants_help) {
    subcommand_print_help(a, out);
    return EXIT_SUCCESS;
  }
  if (subcommand_check_operands(a, err) != 0)
    return EXIT_FAILURE;
  if (sub->traits_of != 0)
    *(bn_opt_traits_of **)((char *)a->conf + sub->traits_of) = args->traits_of;
  return study != NULL ? bn_study_run(study, a->conf, a->operand, err)
                       : sub->run(a->conf, a->operand, err);
}

void bn_subcommand_scrub(int argc, char *const *argv)
{
  char shown[BN_MASK_MAX];

  for (int i = 1; i < argc; i++) {
    char *equals = strchr(argv[i], '='), *value = equals != NULL ? equals + 1 : argv[i];
    const bool is_named_secret = equals != NULL && bn_mask_names_secret(argv[i]);

    if (is_named_secret || bn_mask_text(value, shown) != value)
      bn_mask_overwrite(value);
  }
}

/* Returns the position of the argument that names the file of a study, or 0. */
static int subcommand_find_file_place(const struct bn_subcommand *sub,
                                      const struct bn_subcommand_args *args)
{
  const int i = subcommand_find_name_place(args->argc, args->argv) + 1;

  if (!sub->loads_file || i >= args->argc)
    return 0;
  return args->argv[i][0] != '-' ? i : 0;
}

/* Returns whether a bundled module of Lua declares and runs the subcommand. */
static bool subcommand_is_in_lua(const struct bn_subcommand *sub)
{
  return sub->run == NULL && !sub->loads_file;
}

int bn_subcommand_run(const struct bn_subcommand *sub, const struct bn_subcommand_args *args,
                      FILE *out, struct bn_err *err)
{
  struct invocation a = {.sub = sub};
  const int file = subcommand_find_file_place(sub, args);
  const bool in_lua = subcommand_is_in_lua(sub);
  struct bn_study *study = NULL;
  struct bn_err why = {0};
  int status;

  if (args->shown != NULL)
    bn_subcommand_scrub(args->argc, args->shown);
  if (file > 0)
    study = bn_study_open_file(args->argv[file], args->traits_of, err);
  else if (in_lua)
    study = bn_study_open(sub->name, args->traits_of, err);
  if (study == NULL && (file > 0 || in_lua))
    return EXIT_FAILURE;
  if (study != NULL)
    a.sub = bn_study_declaration(study);
  status = subcommand_execute(&a, args, file, study, out, &why);
  if (why.text[0] != '\0')
    (void)bn_err_set(err, why.code, "%s%s%s", file > 0 ? args->argv[file] : "",
                     file > 0 ? ": " : "", why.text);
  subcommand_forget(&a);
  bn_study_free(study);
  return status;
}

int bn_subcommand_each(const struct bn_subcommand *table,
                       int (*fn)(void *arg, const struct bn_subcommand *sub), void *arg)
{
  int rc = 0;

  for (; table->name != NULL && rc == 0; table++) {
    const bool in_lua = subcommand_is_in_lua(table);
    struct bn_err err = {0};
    struct bn_study *study = in_lua ? bn_study_open(table->name, NULL, &err) : NULL;

    if (in_lua && study == NULL) {
      if (err.text[0] != '\0')
        bn_log_stderr("bench %s: %s", table->name, err.text);
      return -1;
    }
    rc = fn(arg, study != NULL ? bn_study_declaration(study) : table);
    bn_study_free(study);
  }
  return rc;
}

static int subcommand_print_row(void *arg, const struct bn_subcommand *sub)
{
  (void)fprintf(arg, "  %s - %s\n", sub->name, sub->title);
  return 0;
}

void bn_subcommand_print_list(const struct bn_subcommand *table, FILE *out)
{
  (void)fputs("Subcommands:\n", out);
  (void)bn_subcommand_each(table, subcommand_print_row, out);
  (void)fputc('\n', out);
}

/* Prints the section of a subcommand, unless it has no options: mdoc has no empty lists. */
static int subcommand_print_section(void *arg, const struct bn_subcommand *sub)
{
  struct invocation a = {.sub = sub};
  FILE *out = arg;
  int rc = sub->options != NULL ? subcommand_declare(&a, NULL) : 0;

  if (rc == 0 && sub->options != NULL) {
    const char *const groups[] = {a.group};

    (void)fprintf(out, ".Ss bench %s\n.Bl -tag -width Ds\n", sub->name);
    (void)bn_optset_print_man(a.set, groups, 1, out);
    (void)fputs(".El\n", out);
  }
  subcommand_forget(&a);
  return rc;
}

int bn_subcommand_print_man(const struct bn_subcommand *table, FILE *out)
{
  return bn_subcommand_each(table, subcommand_print_section, out);
}
