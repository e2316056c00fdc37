/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommands: finds the one that an argument vector asks for, reads its arguments, and runs it. */
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

/* Values of parameters of the option set. */
enum { NO_OVERRIDE = false, REFUSE_UNKNOWN = false };

/* A subcommand and what has been read of its command line. */
struct invocation {
  const struct bn_subcommand *sub;
  const struct bn_subcommand_args *args;
  int file;               /* the position of the argument with the file of a study; 0: none */
  struct bn_study *study; /* owned; NULL: the subcommand is in C */
  char *group;            /* "NAME options" */
  struct bn_optset *set;
  void *conf;
  bool wants_help;
  bool has_name;        /* the name of the subcommand was read */
  bool has_separator;   /* "--" was read: all arguments after it belong to the run */
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

/* Returns the position at which the name of a subcommand may stand: that of the first word, or of
   the second if the first is "help".  Returns argc if there is no such word. */
static int subcommand_find_name_position(int argc, char *const *argv)
{
  int position = 1;

  /* With --test=NAME, the first word is the command of that test. */
  for (; position < argc && argv[position][0] == '-'; position++)
    if (strncmp(argv[position], "--test", strlen("--test")) == 0)
      return argc;
  if (position + 1 < argc && strcmp(argv[position], "help") == 0)
    position++;
  return position;
}

const struct bn_subcommand *bn_subcommand_find_asked(const struct bn_subcommand *table, int argc,
                                                     char *const *argv)
{
  const int position = subcommand_find_name_position(argc, argv);

  return position < argc ? bn_subcommand_find_named(table, argv[position]) : NULL;
}

/* Makes the set of the subcommand's own options.  Returns 0, or -1 and err; subcommand_free frees
   the set in either case. */
static int subcommand_declare(struct invocation *inv, struct bn_err *err)
{
  inv->group = bn_alloc_print("%s options", inv->sub->name);
  inv->conf = bn_alloc(1, inv->sub->conf_size);
  inv->set = bn_optset_new(&bn_policy_bench);
  return bn_optset_add(inv->set, inv->group, inv->sub->options, inv->conf, NO_OVERRIDE, err);
}

/* Declares --help in another table, because bench-studies(7) lists the options of the first one.
   Returns 0, or -1 and err. */
static int subcommand_declare_help(struct invocation *inv, struct bn_err *err)
{
  static const struct bn_opt table[] = {
      {.name = "help", .type = BN_BOOL, .def = "off", .help = "this list of options"}, BN_OPT_END};

  return bn_optset_add(inv->set, inv->group, table, &inv->wants_help, NO_OVERRIDE, err);
}

/* Frees what has been read of a command line.  The invocation may be incomplete. */
static void subcommand_free(struct invocation *inv)
{
  bn_optset_free(inv->set);
  free(inv->conf);
  free(inv->operand);
  free(inv->group);
  bn_study_free(inv->study); /* it has the declarations of the set */
}

/* Returns the option of the subcommand that "--NAME" or "--NAME=VALUE" names, or NULL. */
static const struct bn_opt *subcommand_find_option(const struct invocation *inv, const char *arg)
{
  const char *name = arg + strlen("--");

  return bn_opt_find(inv->sub->options, name, strcspn(name, "="));
}

/* Returns the option of the subcommand that "-o" or "-oVALUE" names, or NULL. */
static const struct bn_opt *subcommand_find_short_option(const struct invocation *inv,
                                                         const char *arg)
{
  if (arg[0] != '-' || arg[1] == '\0')
    return NULL;
  for (const struct bn_opt *o = inv->sub->options; o != NULL && o->name != NULL; o++)
    if (arg[1] == o->letter)
      return o;
  return NULL;
}

/* Sets an option as "--NAME=VALUE" does; subcommand_check_options refuses a wrong value. */
static void subcommand_set_value(const struct invocation *inv, const struct bn_opt *o,
                                 const char *value)
{
  char *typed = bn_alloc_print("--%s=%s", o->name, value);

  bn_optset_set_arg(inv->set, typed);
  free(typed);
}

/* Sets the option o to the value of "-o VALUE" or "-oVALUE"; `next` is the argument after `arg`, or
   NULL.  Returns how many of the two were used, or -1 and err. */
static int subcommand_set_short(const struct invocation *inv, const struct bn_opt *o,
                                const char *arg, const char *next, struct bn_err *err)
{
  const char *joined = arg + strlen("-o");
  const bool is_joined = joined[0] != '\0';

  if (!is_joined && next == NULL)
    return bn_err_set(err, 0, "-%c needs a value (see bench %s --help)", o->letter, inv->sub->name);
  subcommand_set_value(inv, o, is_joined ? joined : next);
  return is_joined ? 1 : 2;
}

/* Sets the option of "--NAME=VALUE", or of "--NAME VALUE", a form that the command line of a run
   does not have.  Returns how many of the two arguments were used. */
static int subcommand_set_long(const struct invocation *inv, const char *arg, const char *next)
{
  const struct bn_opt *o = subcommand_find_option(inv, arg);
  const bool needs_value = o != NULL && o->type != BN_BOOL && strchr(arg, '=') == NULL;

  if (needs_value && next != NULL) {
    subcommand_set_value(inv, o, next);
    return 2;
  }
  bn_optset_set_arg(inv->set, arg);
  return 1;
}

/* Refuses unknown options, and values that are wrong.  Returns 0, or -1 and err. */
static int subcommand_check_options(const struct invocation *inv, struct bn_err *err)
{
  struct bn_optset_fault fault;

  if (bn_optset_find_unknown(inv->set, REFUSE_UNKNOWN, &fault) ||
      bn_optset_find_fault(inv->set, &fault))
    return bn_err_set(err, 0, "%s", fault.text);
  return 0;
}

/* Returns the usage line, which the caller frees.  If a file declares the study, the options stand
   after the name of the file, among the operands. */
static char *subcommand_format_usage(const struct bn_subcommand *sub)
{
  return bn_alloc_print("bench %s%s %s", sub->name, sub->loads_file ? "" : " [options]...",
                        sub->operands);
}

/* Refuses too few or too many operands.  Returns 0, or -1 and err, which shows the first operand
   that is too many.  It may be a URI, so passwords in it are masked.  As a whole it is no password:
   an option would have used it as its value, or is unknown and was refused before. */
static int subcommand_check_operands(const struct invocation *inv, struct bn_err *err)
{
  const size_t min = inv->sub->min_operands, max = inv->sub->max_operands;
  char masked[BN_MASK_MAX];
  char *usage;

  /* A file of a study replaces inv->sub, so the row that asks for one has not got it. */
  const bool lacks_file = inv->sub->loads_file;

  if (!lacks_file && inv->n_operands >= min && inv->n_operands <= max)
    return 0;
  usage = subcommand_format_usage(inv->sub);
  if (lacks_file || inv->n_operands < min)
    (void)bn_err_set(err, 0, "too few arguments; usage: %s", usage);
  else
    (void)bn_err_set(err, 0, "too many arguments, from '%s' on; usage: %s",
                     bn_mask_text(inv->operand[max], masked), usage);
  free(usage);
  return -1;
}

/* Returns whether an argument belongs to the command line of a run: each argument after "--", each
   word, and each option that the subcommand does not have.  "-h" and "--help" belong to the run if
   they stand after its first word, as in "oltp_read_write --help". */
static bool subcommand_is_for_run(const struct invocation *inv, const char *arg)
{
  if (!inv->sub->takes_run || !inv->has_name)
    return false;
  if (inv->has_separator || arg[0] != '-')
    return true;
  if (strcmp(arg, "--help") == 0)
    return inv->n_operands > 0;
  if (strncmp(arg, "--help=", strlen("--help=")) == 0)
    return false;
  if (strncmp(arg, "--", 2) == 0)
    return subcommand_find_option(inv, arg) == NULL;
  if (strcmp(arg, "-h") == 0 && inv->n_operands == 0)
    return false;
  return subcommand_find_short_option(inv, arg) == NULL;
}

/* Reads `arg`, and `next`, the argument after it or NULL, if that is the value of an option.
   Returns how many of the two were used, or -1 and err. */
static int subcommand_read_argument(struct invocation *inv, const char *arg, const char *next,
                                    struct bn_err *err)
{
  const struct bn_opt *short_option = subcommand_find_short_option(inv, arg);
  const bool may_be_separator = inv->sub->takes_run && inv->has_name && !inv->has_separator;
  char masked[BN_MASK_MAX];

  if (may_be_separator && strcmp(arg, "--") == 0) {
    inv->has_separator = true;
    return 1;
  }
  if (subcommand_is_for_run(inv, arg)) {
    inv->operand[inv->n_operands++] = arg;
    return 1;
  }
  if (strncmp(arg, "--", 2) == 0)
    return subcommand_set_long(inv, arg, next);
  if (short_option != NULL)
    return subcommand_set_short(inv, short_option, arg, next, err);
  if (strcmp(arg, "-h") == 0)
    inv->wants_help = true;
  else if (arg[0] == '-' && arg[1] != '\0')
    return bn_err_set(err, 0, "unknown argument '%s' (see bench %s --help)",
                      bn_mask_arg(arg, masked), inv->sub->name);
  else if (inv->has_name)
    inv->operand[inv->n_operands++] = arg;
  else if (strcmp(arg, "help") == 0) /* it may stand before the name */
    inv->wants_help = true;
  else
    inv->has_name = true;
  return 1;
}

/* Overwrites the value of an option that is a secret, in the argument vector that `ps` shows.  The
   value is part of `arg`, as in "--NAME=VALUE" and "-oVALUE", or is `next`, the argument after it;
   next NULL: the option has not used that argument. */
static void subcommand_hide_secret(const struct invocation *inv, char *arg, char *next)
{
  const struct bn_opt *o;
  char *value;

  if (strncmp(arg, "--", 2) == 0) {
    o = subcommand_find_option(inv, arg);
    value = strchr(arg, '=');
    value = value != NULL ? value + 1 : next;
  } else {
    o = subcommand_find_short_option(inv, arg);
    value = o != NULL && arg[2] != '\0' ? arg + 2 : next;
  }
  if (o != NULL && bn_opt_is_secret(o) && value != NULL)
    bn_mask_overwrite(value);
}

/* Reads all arguments but the file of a study, overwrites secrets in args->shown, and refuses wrong
   options.  Returns 0, or -1 and err. */
static int subcommand_parse(struct invocation *inv, struct bn_err *err)
{
  const struct bn_subcommand_args *args = inv->args;

  inv->operand = bn_alloc((size_t)args->argc + 1, sizeof *inv->operand);
  for (int i = 1; i < args->argc;) {
    const char *next = i + 1 < args->argc ? args->argv[i + 1] : NULL;
    int n_used;

    if (i == inv->file) {
      i++;
      continue;
    }
    n_used = subcommand_read_argument(inv, args->argv[i], next, err);
    if (n_used < 0)
      return -1;
    if (args->shown != NULL)
      subcommand_hide_secret(inv, args->shown[i], n_used == 2 ? args->shown[i + 1] : NULL);
    i += n_used;
  }
  return subcommand_check_options(inv, err);
}

/* Prints the usage line, the title and, unless a file declares them, the options. */
static void subcommand_print_help(const struct invocation *inv, FILE *out)
{
  const char *const groups[] = {inv->group};
  const struct bn_subcommand *sub = inv->sub;
  char *usage = subcommand_format_usage(sub);

  (void)fprintf(out, "Usage:\n  %s\n\n%s - %s\n\n", usage, sub->name, sub->title);
  free(usage);
  if (sub->loads_file)
    return;
  (void)fprintf(out, "%s:\n", inv->group);
  bn_optset_print_help(inv->set, groups, 1, out);
  (void)fputc('\n', out);
}

/* Runs a subcommand, or prints its help.  Returns the exit status, and err after a failure. */
static int subcommand_execute(struct invocation *inv, FILE *out, struct bn_err *err)
{
  const struct bn_subcommand *sub = inv->sub;

  if (subcommand_declare(inv, err) != 0 || subcommand_declare_help(inv, err) != 0 ||
      subcommand_parse(inv, err) != 0)
    return EXIT_FAILURE;
  if (inv->wants_help) {
    subcommand_print_help(inv, out);
    return EXIT_SUCCESS;
  }
  if (subcommand_check_operands(inv, err) != 0)
    return EXIT_FAILURE;
  /* sub->traits_of is the offset of a member of conf that receives the function, or 0. */
  if (sub->traits_of != 0)
    *(bn_opt_traits_of **)((char *)inv->conf + sub->traits_of) = inv->args->traits_of;
  return inv->study != NULL ? bn_study_run(inv->study, inv->conf, inv->operand, err)
                            : sub->run(inv->conf, inv->operand, err);
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
static int subcommand_find_file_position(const struct bn_subcommand *sub,
                                         const struct bn_subcommand_args *args)
{
  const int position = subcommand_find_name_position(args->argc, args->argv) + 1;

  if (!sub->loads_file || position >= args->argc || args->argv[position][0] == '-')
    return 0;
  return position;
}

/* Returns whether a bundled module of Lua declares and runs the subcommand. */
static bool subcommand_is_in_lua(const struct bn_subcommand *sub)
{
  return sub->run == NULL && !sub->loads_file;
}

/* Opens the study that a file or a bundled module declares, and sets inv->sub to the declaration.
   Returns 0, or -1 and err.  There is no study for a subcommand in C, and if the command line names
   no file, which subcommand_check_operands refuses. */
static int subcommand_open_study(struct invocation *inv, struct bn_err *err)
{
  const struct bn_subcommand_args *args = inv->args;

  if (inv->file > 0)
    inv->study = bn_study_open_file(args->argv[inv->file], args->traits_of, err);
  else if (subcommand_is_in_lua(inv->sub))
    inv->study = bn_study_open(inv->sub->name, args->traits_of, err);
  else
    return 0;
  if (inv->study == NULL)
    return -1;
  inv->sub = bn_study_declaration(inv->study);
  return 0;
}

int bn_subcommand_run(const struct bn_subcommand *sub, const struct bn_subcommand_args *args,
                      FILE *out, struct bn_err *err)
{
  struct invocation inv = {
      .sub = sub, .args = args, .file = subcommand_find_file_position(sub, args)};
  struct bn_err cause = {0}; /* becomes err, after the name of the study's file */
  int status;

  if (args->shown != NULL)
    bn_subcommand_scrub(args->argc, args->shown);
  if (subcommand_open_study(&inv, err) != 0)
    return EXIT_FAILURE;
  status = subcommand_execute(&inv, out, &cause);
  if (inv.file > 0 && cause.text[0] != '\0')
    (void)bn_err_set(err, cause.code, "%s: %s", args->argv[inv.file], cause.text);
  else
    *err = cause;
  subcommand_free(&inv);
  return status;
}

/* Calls fn with the declaration of a study of that name.  Returns as fn does, or -1 if the bundled
   module that declares it is wrong. */
static int subcommand_call_with_study(const char *name,
                                      int (*fn)(void *arg, const struct bn_subcommand *sub),
                                      void *arg)
{
  struct bn_err err = {0};
  struct bn_study *study = bn_study_open(name, NULL, &err);
  int rc;

  if (study == NULL) {
    if (err.text[0] != '\0')
      bn_log_stderr("bench %s: %s", name, err.text);
    return -1;
  }
  rc = fn(arg, bn_study_declaration(study));
  bn_study_free(study);
  return rc;
}

int bn_subcommand_each(const struct bn_subcommand *table,
                       int (*fn)(void *arg, const struct bn_subcommand *sub), void *arg)
{
  int rc = 0;

  for (; table->name != NULL && rc == 0; table++) {
    if (subcommand_is_in_lua(table))
      rc = subcommand_call_with_study(table->name, fn, arg);
    else
      rc = fn(arg, table);
  }
  return rc;
}

/* Prints the line of a subcommand in the list, for bn_subcommand_each. */
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

/* Prints the section of a subcommand, for bn_subcommand_each.  A subcommand without options has
   none, because mdoc has no empty lists. */
static int subcommand_print_section(void *arg, const struct bn_subcommand *sub)
{
  struct invocation inv = {.sub = sub};
  FILE *out = arg;
  int rc;

  if (sub->options == NULL)
    return 0;
  rc = subcommand_declare(&inv, NULL);
  if (rc == 0) {
    const char *const groups[] = {inv.group};

    (void)fprintf(out, ".Ss bench %s\n.Bl -tag -width Ds\n", sub->name);
    bn_optset_print_man(inv.set, groups, 1, out);
    (void)fputs(".El\n", out);
  }
  subcommand_free(&inv);
  return rc;
}

int bn_subcommand_print_man(const struct bn_subcommand *table, FILE *out)
{
  return bn_subcommand_each(table, subcommand_print_section, out);
}
