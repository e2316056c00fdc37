/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: which dialect, test, command and settings; what is wrong with them. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/near.h"
#include "cli/pasted.h"
#include "cli/subcommand.h"
#include "dialect/dialect.h"
#include "option/optval.h"
#include "registry.h"

static const char test_warning[] =
    "WARNING: the --test option is deprecated. You can pass a script "
    "name or path on the command line without any options.";

/* The value of "--NAME=value"; NULL: another option. */
static const char *cli_value_of(const char *arg, const char *name)
{
  const size_t len = strncmp(arg, "--", 2) == 0 ? strcspn(arg + 2, "=") : 0;

  return len > 0 && arg[2 + len] == '=' && bn_opt_is_named(arg + 2, len, name) ? arg + 2 + len + 1
                                                                               : NULL;
}

static int cli_set_dialect(struct bn_cli *cli, const char *name, const char *from)
{
  const struct bn_policy *policy = bn_policy_named(name);

  if (policy != NULL) {
    cli->policy = policy;
    bn_log_asides(!policy->plain_errors);
    return 0;
  }
  bn_log_stderr("%s=%s: no such dialect; allowed: 1.1, 1.0, 0.5", from, name);
  return -1;
}

int bn_cli_begin(struct bn_cli *cli, int argc, char **argv)
{
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  const char *program = argc == 0 ? "" : slash != NULL ? slash + 1 : argv[0];
  const char *wanted = getenv("BENCH_COMPAT"), *from = "BENCH_COMPAT";

  *cli = (struct bn_cli){.argc = argc, .argv = argv, .policy = &bn_policy_bench};
  for (int i = 1; i < argc; i++) {
    const char *value = strcmp(argv[i], "--compat") == 0 ? "" : cli_value_of(argv[i], "compat");

    if (value != NULL) {
      wanted = value;
      from = "--compat";
    }
  }
  if (wanted != NULL && (wanted[0] != '\0' || from[0] == '-'))
    return cli_set_dialect(cli, wanted, from);
  if (strcmp(program, "sysbench") == 0)
    return cli_set_dialect(cli, "1.0", "");
  return 0;
}

/* --- what may be shown --- */

/* The last one is a command of the program, the others are commands of tests. */
static const char *const command_names[] = {"prepare", "run", "cleanup", "help", "version"};
enum {
  N_COMMANDS = sizeof command_names / sizeof command_names[0],
  N_TEST_COMMANDS = N_COMMANDS - 1
};

const char *const bn_cli_script_commands[] = {"prepare", "prewarm", "warmup", "cleanup", NULL};

static bool cli_is_known_command(const char *arg)
{
  struct bn_near near = {.typed = arg};

  for (size_t i = 0; i < N_COMMANDS; i++)
    bn_near_offer(&near, command_names[i]);
  return near.best != NULL;
}

bool bn_cli_is_command_name(const char *word)
{
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(word, command_names[i]) == 0)
      return true;
  return false;
}

static bool cli_is_known_test(const char *arg)
{
  struct bn_near near = {.typed = arg};
  const size_t len = strlen(arg);

  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++)
    bn_near_offer(&near, bn_registry_workloads[i]->name);
  for (size_t i = 0; bn_registry_scripts[i].name != NULL; i++)
    bn_near_offer(&near, bn_registry_scripts[i].name);
  return near.best != NULL || (len > 4 && strcmp(arg + len - 4, ".lua") == 0);
}

static bool cli_names_test(const struct bn_cli *cli)
{
  for (int i = 1; i < cli->argc; i++)
    if (cli_value_of(cli->argv[i], "test") != NULL)
      return true;
  return false;
}

/* Returns whether the value of "--NAME", "-NAME" or "NAME", up to '=', is hidden: the option is a
   secret, or it is not known. */
static bool cli_hides_value(const struct bn_optset *options, const char *arg)
{
  char name[64];

  arg += strspn(arg, "-");
  (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
  return bn_optset_is_secret(options, name);
}

/* Returns whether a word may be a value: in "--mysql-password SECRET" and "mysql-pasword=SECRET",
   but not if it is meant to be a test or a command. */
static bool cli_hides_word(const struct bn_cli *cli, const struct bn_optset *options,
                           const char *arg)
{
  if (arg[0] == '-' || cli_is_known_command(arg) || cli_is_known_test(arg))
    return false;
  return cli->after_hidden || (strchr(arg, '=') != NULL && cli_hides_value(options, arg));
}

/* A value can follow one dash and a letter at once: "-pSECRET" is a form of MySQL's clients. */
static const char *cli_shown_word(const struct bn_cli *cli, const struct bn_optset *options,
                                  const char *arg, char masked[BN_MASK_MAX])
{
  if (cli_hides_word(cli, options, arg))
    return BN_MASK;
  if (arg[0] != '-' || !cli_hides_value(options, arg))
    return bn_mask_text(arg, masked);
  if (strchr(arg, '=') != NULL || arg[1] == '-' || strlen(arg) <= 2 ||
      bn_optset_nearest(options, arg + 1) != NULL)
    return bn_mask_arg(arg, masked);
  (void)snprintf(masked, BN_MASK_MAX, "%.2s" BN_MASK, arg);
  return masked;
}

/* Notes whether the next word may be the value of the option. */
static void cli_note_value(struct bn_cli *cli, const struct bn_optset *options, const char *arg)
{
  const char *value = strchr(arg, '=');

  cli->after_hidden = (value == NULL || value[1] == '\0') && cli_hides_value(options, arg);
}

/* --- arguments --- */

/* "--threads 4" gives threads nothing and makes 4 the test; remembered for whatever comes of it.
   In "--threads run" the value was forgotten. */
static void cli_note_separate_value(struct bn_cli *cli, const struct bn_optset *options, int i)
{
  const char *arg = cli->argv[i], *next = i + 1 < cli->argc ? cli->argv[i + 1] : NULL;
  const struct bn_opt *o = bn_optset_find(options, arg + 2);

  if (next == NULL || next[0] == '\0' || strncmp(next, "--", 2) == 0 ||
      bn_cli_is_command_name(next) || cli->hint[0] != '\0' || cli->policy->plain_errors)
    return;
  if (o != NULL && o->type == BN_BOOL)
    return;
  if ((o == NULL || bn_optval_is_numeric(o)) && !isdigit((unsigned char)next[0]))
    return;
  (void)snprintf(cli->hint, sizeof cli->hint, "%s=%s", arg,
                 cli_hides_value(options, arg) ? BN_MASK : next);
}

/* Suggests the option that an argument with a single dash probably means. */
static void cli_note_single_dash(struct bn_cli *cli, const struct bn_optset *options,
                                 const char *arg)
{
  char name[64];
  const size_t len = strcspn(arg + 1, "=");
  const char *nearest;

  if (cli->hint[0] != '\0' || cli->policy->plain_errors)
    return;
  (void)snprintf(name, sizeof name, "%.*s", (int)len, arg + 1);
  nearest = strcmp(name, "h") == 0   ? "help"
            : strcmp(name, "v") == 0 ? "version"
                                     : bn_optset_nearest(options, name);
  if (nearest != NULL && arg[1 + len] != '\0' && cli_hides_value(options, arg))
    (void)snprintf(cli->hint, sizeof cli->hint, "--%s=" BN_MASK, nearest);
  else if (nearest != NULL)
    (void)snprintf(cli->hint, sizeof cli->hint, "--%s%.64s", nearest, arg + 1 + len);
}

/* "threads=4": the dashes were forgotten. */
static void cli_note_bare_setting(struct bn_cli *cli, const struct bn_optset *options,
                                  const char *arg)
{
  const char *value = strchr(arg, '=');
  const char *nearest;
  char name[64];

  if (arg[0] == '-' || value == NULL || value - arg >= (ptrdiff_t)sizeof name ||
      cli->hint[0] != '\0' || cli->policy->plain_errors || cli->after_hidden)
    return;
  (void)snprintf(name, sizeof name, "%.*s", (int)(value - arg), arg);
  nearest = bn_optset_nearest(options, name);
  if (nearest == NULL)
    return;
  (void)snprintf(cli->hint, sizeof cli->hint, "--%s=%.64s", nearest,
                 cli_hides_value(options, arg) ? BN_MASK : value + 1);
}

/* Returns NULL if the test is not named nearly as a subcommand, whose grammar differs.  The
   shortest name is near too many. */
static const char *cli_near_subcommand(const struct bn_cli *cli)
{
  struct bn_near near = {.typed = cli->test};

  if (cli->policy->plain_errors || cli->hides_test || strlen(cli->test) < 4)
    return NULL;
  for (const struct bn_subcommand *sub = bn_registry_subcommands; sub->name != NULL; sub++)
    bn_near_offer(&near, sub->name);
  return near.best;
}

/* All that is no option is a command, unless the test is nowhere else; whoever gets that wrong is
   shown the help. */
static int cli_take_command(struct bn_cli *cli, const struct bn_optset *options, const char *arg)
{
  char masked[BN_MASK_MAX];

  cli->wants_help = true;
  if (cli->command != NULL) {
    bn_log_stderr("Multiple commands are not allowed.");
    return -1;
  }
  if (bn_cli_is_command_name(arg)) {
    cli->command = arg;
    return 0;
  }
  if (arg[0] != '-' && cli->test == NULL && !cli_names_test(cli)) {
    cli->test = arg;
    cli->hides_test = cli_hides_word(cli, options, arg);
    return 0;
  }
  bn_log_stderr("Unknown command: %s.", cli_shown_word(cli, options, arg, masked));
  return -1;
}

/* Keeps what "--threads= 4" probably means: the word behind the blank is not a test. */
static void cli_note_empty_value(struct bn_cli *cli, const struct bn_optset *options, int i)
{
  const char *arg = cli->argv[i], *next = i + 1 < cli->argc ? cli->argv[i + 1] : NULL;
  const size_t len = strlen(arg);

  if (next == NULL || next[0] == '-' || len < 3 || arg[len - 1] != '=' || cli->empty != NULL ||
      cli->policy->plain_errors || bn_cli_is_command_name(next))
    return;
  cli->empty = arg;
  (void)snprintf(cli->empty_hint, sizeof cli->empty_hint, "%.64s%.64s", arg,
                 cli_hides_value(options, arg) ? BN_MASK : next);
}

/* "-t", as other programs have it, taken for the test or the command; NULL: neither is one. */
static const char *cli_short_option(const struct bn_cli *cli)
{
  if (cli->test[0] == '-' && cli->test[1] != '\0')
    return cli->test;
  return cli->command[0] == '-' && cli->command[1] != '\0' ? cli->command : NULL;
}

/* Refuses a word behind the command, and says which earlier mistake has probably led to it. */
static int cli_refuse_word(const struct bn_cli *cli, const struct bn_optset *options,
                           const char *arg)
{
  const char *dashed = cli->policy->plain_errors ? NULL : cli_short_option(cli);
  const char *subcommand = cli_near_subcommand(cli);
  char masked[BN_MASK_MAX];
  const char *shown = cli_shown_word(cli, options, arg, masked);

  if (bn_cli_check_reserved(cli) != 0)
    return -1;
  /* The text behind the letter may be a password. */
  if (dashed != NULL && cli->hint[0] == '\0')
    bn_log_stderr("%.2s: no such option; options have two dashes and a name, such as --threads=4",
                  dashed);
  else if (cli->empty != NULL)
    bn_log_stderr("%s has no value: leave out the blank behind it (did you mean %s?)", cli->empty,
                  cli->empty_hint);
  else if (cli->hint[0] != '\0')
    bn_log_stderr("Unrecognized command line argument: %s (did you mean %s?)", shown, cli->hint);
  else if (subcommand != NULL)
    bn_log_stderr("Unrecognized command line argument: %s (did you mean %s instead of %s?)", shown,
                  subcommand, cli->test);
  else
    bn_log_stderr("Unrecognized command line argument: %s", shown);
  return -1;
}

/* Takes a word that is no option: the test comes first, the command second. */
static int cli_take_word(struct bn_cli *cli, const struct bn_optset *options, const char *arg)
{
  if (cli->test == NULL) {
    cli->hides_test = cli_hides_word(cli, options, arg);
    cli->test = arg;
  } else if (cli->command == NULL) {
    cli->hides_command = cli_hides_word(cli, options, arg);
    cli->command = arg;
  } else {
    return cli_refuse_word(cli, options, arg);
  }
  return 0;
}

static int cli_set_option(struct bn_cli *cli, struct bn_optset *options, const char *arg)
{
  struct bn_err err = {0};
  const char *value = strchr(arg, '=');
  char *name;
  bool goes_on;
  const size_t len = value != NULL ? (size_t)(value - arg) - 2 : strlen(arg) - 2;

  if (bn_opt_is_named(arg + 2, len, "test")) {
    if (value == NULL && !cli->policy->words_are_commands) {
      cli->bare_test = arg;
      return 0;
    }
    if (value == NULL) {
      bn_log_stderr("invalid option: %s", arg);
      return -1;
    }
    if (!cli->policy->words_are_commands)
      bn_log_stderr("%s", test_warning);
    cli->test = value[1] != '\0' ? value + 1 : NULL;
  }
  name = bn_alloc_part(arg + 2, len);
  (void)bn_optset_set(options, name, value != NULL ? value + 1 : NULL, arg);
  free(name);
  /* No file, as in --config-file=$UNSET. */
  if (bn_opt_is_named(arg + 2, len, "config-file") && value != NULL && value[1] != '\0' &&
      bn_optset_file(options, value + 1, &err) != 0) {
    /* sysbench goes on without a file that it cannot open. */
    goes_on = cli->policy->loose_files && (err.code == ENOENT || err.code == EACCES);
    bn_log_stderr("%s%s", err.code != 0 && !goes_on ? "--config-file=" : "", err.text);
    return goes_on ? 0 : -1;
  }
  return 0;
}

bool bn_cli_is_command(const struct bn_cli *cli, const char *name)
{
  return cli->command != NULL && strcmp(cli->command, name) == 0;
}

/* An agent is quiet in a run, because each host would print its messages; a command runs on one
   host.  Reports have a level of their own, the one that was typed. */
void bn_cli_set_messages(const struct bn_cli *cli, const struct bn_conf *conf, bool is_agent)
{
  const bool quiet = conf->raw.quiet || (is_agent && bn_cli_is_command(cli, "run"));
  const int level = (int)conf->raw.verbosity;

  bn_log_verbosity(quiet && level > BN_WARNING ? BN_WARNING : level);
  if (conf->raw.quiet)
    bn_log_asides(false);
}

static int cli_refuse_dashed(const struct bn_cli *cli, const struct bn_optset *options,
                             const char *dashed)
{
  char masked[BN_MASK_MAX];
  const char *shown = cli_shown_word(cli, options, dashed, masked);

  if (cli->hint[0] != '\0')
    bn_log_stderr("unknown argument '%s' (did you mean %s?)", shown, cli->hint);
  else
    bn_log_stderr("unknown argument '%s'", shown);
  return -1;
}

/* Returns the long form of a flag that other programs understand, or the argument. */
static const char *cli_spelled_out(const struct bn_cli *cli, const char *arg)
{
  if (!cli->policy->help_in_any_form)
    return arg;
  return strcmp(arg, "-h") == 0 ? "--help" : strcmp(arg, "-V") == 0 ? "--version" : arg;
}

int bn_cli_parse(struct bn_cli *cli, struct bn_optset *options)
{
  const char *dashed = NULL;

  for (int i = 1; i < cli->argc; i++) {
    const char *arg = cli_spelled_out(cli, cli->argv[i]);

    if (!cli->policy->plain_errors && bn_cli_check_pasted(arg, i) != 0)
      return -1;
    if (strncmp(arg, "--", 2) == 0) {
      if (strchr(arg, '=') == NULL && arg == cli->argv[i])
        cli_note_separate_value(cli, options, i);
      else
        cli_note_empty_value(cli, options, i);
      cli_note_value(cli, options, arg);
      if (cli_set_option(cli, options, arg) != 0)
        return -1;
      continue;
    }
    if (arg[0] == '-' && arg[1] != '\0') {
      cli_note_single_dash(cli, options, arg);
      if (dashed == NULL)
        dashed = arg;
    }
    cli_note_bare_setting(cli, options, arg);
    if (cli->policy->words_are_commands ? cli_take_command(cli, options, arg)
                                        : cli_take_word(cli, options, arg))
      return -1;
    if (arg[0] == '-')
      cli_note_value(cli, options, arg);
  }
  cli->wants_help = false;
  return dashed == NULL ? 0 : cli_refuse_dashed(cli, options, dashed);
}

void bn_cli_take_test(struct bn_cli *cli, const char *test)
{
  if (!cli->policy->files_name_test || test == NULL || test[0] == '\0' || cli_names_test(cli))
    return;
  if (cli->test != NULL && (cli->command != NULL || cli->policy->words_are_commands))
    return;
  if (cli->test != NULL) {
    cli->command = cli->test;
    cli->hides_command = cli->hides_test;
  }
  cli->test = test;
  cli->hides_test = false;
}

void bn_cli_take_help(struct bn_cli *cli, bool *help)
{
  if (!cli->policy->help_in_any_form)
    return;
  if (cli->test != NULL && strcmp(cli->test, "help") == 0) {
    cli->test = cli->command;
    cli->hides_test = cli->hides_command;
    cli->command = NULL;
    *help = true;
  }
  /* In "bench run --help" the test is what the user does not know yet. */
  if (!*help || cli->test == NULL || strcmp(cli->test, "-") == 0 ||
      bn_cli_is_command_name(cli->test))
    return;
  cli->command = "help";
  cli->hides_command = false;
  *help = false;
}

void bn_cli_scrub(struct bn_cli *cli, const struct bn_optset *options)
{
  for (int i = 1; i < cli->argc; i++) {
    char *arg = cli->argv[i], *value = strchr(arg, '=');
    const struct bn_opt *o;
    bool secret;

    if (strncmp(arg, "--", 2) != 0 || value == NULL)
      continue;
    *value = '\0';
    o = bn_optset_find(options, arg + 2);
    secret = o != NULL ? bn_opt_is_secret(o) : bn_mask_names_secret(arg);
    *value++ = '=';
    for (size_t k = 0; secret && value[k] != '\0'; k++)
      value[k] = k < 4 ? 'x' : ' ';
  }
}

/* --- what is wrong --- */

static void cli_warn_deprecated(void *arg, const char *text)
{
  const struct bn_cli *cli = arg;

  if (cli->warned)
    return;
  if (cli->policy->old_option == BN_OLD_OPTION_LOGGED)
    bn_log(BN_WARNING, "%s", text);
  else if (cli->policy->old_option == BN_OLD_OPTION_ON_STDERR)
    bn_log_stderr("WARNING: %s", text);
}

void bn_cli_resolve_aliases(const struct bn_cli *cli, struct bn_optset *options)
{
  struct bn_cli copy = *cli;

  bn_optset_resolve_aliases(options, cli_warn_deprecated, &copy);
}

/* A comma may be a decimal one, unless three digits follow it. */
static bool cli_is_digit_separator(const char *s)
{
  return *s == '_' || *s == '\'' || (*s == ',' && strspn(s + 1, "0123456789") == 3);
}

/* Suggests the number that is meant by "10_000" or "10,000".  text: "--NAME=VALUE: REASON". */
static void cli_suggest_digits(const char *text)
{
  const char *value = strchr(text, '=');
  char plain[32];
  size_t len = 0, n = 0;

  value = value != NULL ? value + 1 : "";
  for (; len + 1 < sizeof plain &&
         (isdigit((unsigned char)value[n]) || cli_is_digit_separator(value + n));
       n++)
    if (isdigit((unsigned char)value[n]))
      plain[len++] = value[n];
  plain[len] = '\0';
  if (len > 0 && len < n && value[n] == ':')
    bn_log_hint("did you mean %.*s=%s?", (int)strcspn(text, "="), text, plain);
}

void bn_cli_print_fault(const struct bn_cli *cli, const struct bn_optset_fault *fault)
{
  /* The reference checks this one in its logger, before there is a prefix. */
  const bool plain = (cli->policy->general_errors_bare && !cli->settled) ||
                     (fault->opt != NULL && strcmp(fault->opt->name, "verbosity") == 0);

  if (fault->kind != BN_OPTSET_RANGE || !cli->policy->plain_errors)
    bn_log_stderr("%s", fault->text);
  else
    bn_log(plain ? BN_NOTICE : BN_FATAL, "%s", fault->text);
  if (cli->hint[0] != '\0')
    bn_log_hint("did you mean %s?", cli->hint);
  else if (fault->opt != NULL)
    cli_suggest_digits(fault->text);
}

int bn_cli_check_reserved(const struct bn_cli *cli)
{
  const struct bn_subcommand *sub =
      cli->test != NULL ? bn_subcommand_named(bn_registry_subcommands, cli->test) : NULL;

  if (sub == NULL)
    return 0;
  bn_log_stderr("'%s' is reserved for a subcommand; to run a script of that name type ./%s.lua",
                sub->name, sub->name);
  return -1;
}

void bn_cli_no_command(const struct bn_cli *cli, const char *test)
{
  bn_log_stderr("The '%s' test requires a command argument. See '%s %s help'", test,
                cli->policy->program, test);
}

static void cli_list_commands(const struct bn_workload *ops, void *self)
{
  const char *const *asked = bn_cli_script_commands;
  struct bn_command found;
  char list[200] = "";
  size_t used = 0;

  for (const struct bn_command *c = ops->commands; c != NULL && c->name != NULL; c++)
    if (used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", c->name);
  for (; ops->find_command != NULL && *asked != NULL; asked++)
    if (used < sizeof list && ops->find_command(self, *asked, &found))
      used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", *asked);
  bn_log_hint("commands of '%s': %srun, help", ops->name, list);
}

void bn_cli_no_such_command(const struct bn_cli *cli, const struct bn_workload *ops, void *self)
{
  struct bn_near near = {.typed = cli->command};
  char masked[BN_MASK_MAX];
  const char *shown = cli->hides_command ? BN_MASK : bn_mask_text(cli->command, masked);
  const char *meant;
  bool is_known = false;

  for (size_t i = 0; i < N_TEST_COMMANDS; i++) {
    is_known |= strcmp(cli->command, command_names[i]) == 0;
    bn_near_offer(&near, command_names[i]);
  }
  for (const struct bn_command *c = ops->commands; c != NULL && c->name != NULL; c++)
    bn_near_offer(&near, c->name);
  meant = near.best == NULL && cli->hint[0] != '\0' ? cli->hint : near.best;
  if (cli->policy->plain_errors)
    meant = NULL;
  if (is_known)
    bn_log_stderr("'%s' test does not %s the '%s' command.", ops->name, cli->policy->lacks_command,
                  cli->command);
  else if (meant != NULL)
    bn_log_stderr("Unknown command: %s (did you mean %s?)", shown, meant);
  else {
    bn_log_stderr("Unknown command: %s", shown);
    cli_list_commands(ops, self);
  }
}

void bn_cli_suggest_test(const struct bn_cli *cli)
{
  struct bn_near near = {.typed = cli->test};

  if (strcmp(cli->test, "oltp") == 0) {
    bn_log_hint("the test 'oltp' of sysbench 0.4 is a script here: use oltp_legacy/oltp.lua with "
                "--oltp-table-size, or oltp_read_write with --table-size");
    return;
  }
  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++)
    bn_near_offer(&near, bn_registry_workloads[i]->name);
  for (size_t i = 0; bn_registry_scripts[i].name != NULL; i++)
    bn_near_offer(&near, bn_registry_scripts[i].name);
  if (near.best == NULL)
    near.best = cli_near_subcommand(cli);
  /* "threads=4" is nearer to the option than to the test. */
  if (near.best != NULL && (strchr(cli->test, '=') == NULL || cli->hint[0] == '\0'))
    bn_log_hint("did you mean %s?", near.best);
  else if (cli->hint[0] != '\0')
    bn_log_hint("did you mean %s?", cli->hint);
}

int bn_cli_check_output(void)
{
  if (bn_log_ok())
    return 0;
  bn_log_stderr("cannot write to standard output: part of the output is lost");
  return -1;
}

static void cli_list_reports(char *out, size_t len)
{
  size_t used = 0;

  out[0] = '\0';
  for (size_t i = 0; bn_registry_reporters[i] != NULL && used < len; i++)
    used += (size_t)snprintf(out + used, len - used, "%s%s", i > 0 ? ", " : "",
                             bn_registry_reporters[i]->name);
}

/* Standard output and the like, which one report does not take from another. */
static bool cli_is_stream(const char *path)
{
  return bn_file_descriptor(path) >= 0 || strcmp(path, "/dev/null") == 0;
}

static bool cli_is_journal_of(const struct bn_report_use *own, const char *path)
{
  char journal[PATH_MAX];

  return own->ops->journal != NULL &&
         (size_t)snprintf(journal, sizeof journal, "%s%s", own->path, own->ops->journal) <
             sizeof journal &&
         bn_file_is_same(journal, path);
}

/* Returns whether each report would write over the other, or replace its file. */
static bool cli_reports_share_file(const struct bn_report_use *a, const struct bn_report_use *b)
{
  if (a->path == NULL || b->path == NULL || cli_is_stream(a->path) || cli_is_stream(b->path))
    return false;
  return bn_file_is_same(a->path, b->path) || cli_is_journal_of(a, b->path) ||
         cli_is_journal_of(b, a->path);
}

/* NAME[:FILE] */
static int cli_find_report(const char *wanted, struct bn_report_use *use)
{
  const size_t len = strcspn(wanted, ":");
  char known[128];

  *use = (struct bn_report_use){.ops = bn_registry_reporter(wanted, len), .out = stdout};
  if (use->ops == NULL) {
    cli_list_reports(known, sizeof known);
    bn_log_stderr("--report=%s: no such report; allowed: %s", wanted, known);
    return -1;
  }
  if (wanted[len] == ':')
    use->path = wanted + len + 1;
  if (use->path != NULL && strcmp(use->path, "-") == 0)
    use->path = NULL;
  return 0;
}

static int cli_open_report(const char *wanted, const struct bn_report_use *before, size_t n,
                           struct bn_report_use *use)
{
  if (cli_find_report(wanted, use) != 0)
    return -1;
  for (size_t i = 0; i < n; i++)
    if (cli_reports_share_file(&before[i], use)) {
      bn_log_stderr("--report=%s: another --report uses this file too; name another file", wanted);
      return -1;
    }
  if (use->ops->own_file)
    use->out = NULL;
  else if (use->path != NULL) {
    const int fd = bn_file_reopen(use->path);

    use->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (use->out == NULL) {
      bn_log_stderr("cannot write the report to '%s': %s", use->path, bn_file_reason(errno));
      if (fd >= 0)
        (void)close(fd);
      return -1;
    }
  }
  return 0;
}

/* A list may be empty by mistake, as in --report=$UNSET: nobody wants a run of hours without its
   result. */
static int cli_refuse_no_report(void)
{
  char known[128];

  cli_list_reports(known, sizeof known);
  bn_log_stderr("--report=: no report is named; allowed: %s", known);
  return -1;
}

int bn_cli_open_reports(const struct bn_list *wanted, struct bn_report_use **reports, size_t *n)
{
  const size_t n_wanted = wanted != NULL ? wanted->n : 0;

  *n = 0;
  *reports = bn_alloc(n_wanted + BN_CLI_MORE_REPORTS, sizeof **reports);
  if (wanted != NULL && wanted->n == 0)
    return cli_refuse_no_report();
  for (; *n < n_wanted; (*n)++)
    if (cli_open_report(wanted->item[*n], *reports, *n, &(*reports)[*n]) != 0)
      return -1;
  return 0;
}

/* A reporter that hangs keeps the lock of its file.  That its report is not complete has been
   said. */
static bool cli_is_held(FILE *f)
{
  if (ftrylockfile(f) != 0)
    return true;
  funlockfile(f);
  return false;
}

bool bn_cli_prints_document(const struct bn_cli *cli, const struct bn_report_use *reports, size_t n)
{
  size_t documents = 0, texts = 0;

  for (size_t i = 0; i < n; i++)
    if (!reports[i].ops->aside && bn_file_is_stdout(reports[i].path))
      reports[i].ops->for_programs ? documents++ : texts++;
  return bn_cli_is_command(cli, "run") && documents > 0 && texts == 0;
}

int bn_cli_close_reports(const struct bn_report_use *reports, size_t n)
{
  int rc = 0;

  for (size_t i = 0; i < n; i++) {
    if (reports[i].out == NULL || reports[i].out == stdout || cli_is_held(reports[i].out))
      continue;
    if (fclose(reports[i].out) != 0) {
      bn_log_stderr("cannot write the report to '%s': %s", reports[i].path, strerror(errno));
      rc = -1;
    }
  }
  return rc;
}
