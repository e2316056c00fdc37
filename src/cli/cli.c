/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the dialect, the test, the command and the settings, and says what is wrong with them. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/near.h"
#include "base/units.h"
#include "cli/subcommand.h"
#include "dialect/dialect.h"
#include "option/mix.h"
#include "option/optval.h"
#include "registry.h"

/* Returns the value of "--NAME=value", or NULL for any other argument. */
static const char *cli_find_value(const char *arg, const char *name)
{
  const char *equals = strchr(arg, '=');

  if (strncmp(arg, "--", 2) != 0 || equals == NULL)
    return NULL;
  return bn_opt_is_named(arg + 2, (size_t)(equals - arg) - 2, name) ? equals + 1 : NULL;
}

/* Says that there is no dialect of that name, and lists the dialects.  Returns -1. */
static int cli_refuse_dialect(const char *name, const char *from)
{
  struct bn_buf known = {.max = 0};
  char masked[BN_MASK_MAX];

  for (size_t i = 0; bn_policy_dialects[i] != NULL; i++)
    (void)bn_buf_printf(&known, "%s%s", i > 0 ? ", " : "", bn_policy_dialects[i]->dialect);
  bn_log_stderr("%s=%s: no such dialect; allowed: %s", from, bn_mask_text(name, masked),
                known.data);
  bn_buf_done(&known);
  return -1;
}

/* Chooses the dialect of that name.  from: who asks for it, for the message: the option, the
   variable, or the program by its own name.  Returns 0, or -1 after a message. */
static int cli_set_dialect(struct bn_cli *cli, const char *name, const char *from)
{
  const struct bn_policy *policy = bn_policy_find(name);

  if (policy == NULL)
    return cli_refuse_dialect(name, from);
  cli->policy = policy;
  bn_log_set_asides(!policy->plain_errors);
  return 0;
}

/* Returns the value of the last --NAME, "" if it has none, or NULL if there is no --NAME. */
static const char *cli_find_last(const struct bn_cli *cli, const char *name)
{
  const char *last = NULL;

  for (int i = 1; i < cli->argc; i++) {
    const char *arg = cli->argv[i];
    const size_t len = strcspn(arg, "=");

    if (strncmp(arg, "--", 2) == 0 && bn_opt_is_named(arg + 2, len - 2, name))
      last = arg[len] == '=' ? arg + len + 1 : "";
  }
  return last;
}

int bn_cli_begin(struct bn_cli *cli, int argc, char **argv)
{
  const char *variable = getenv("BENCH_COMPAT");
  const char *program = argc > 0 ? bn_file_name(argv[0]) : "";
  const char *typed;

  *cli = (struct bn_cli){.argc = argc, .argv = argv, .policy = &bn_policy_bench};
  typed = cli_find_last(cli, "compat");
  if (typed != NULL)
    return cli_set_dialect(cli, typed, "--compat");
  if (variable != NULL && variable[0] != '\0')
    return cli_set_dialect(cli, variable, "BENCH_COMPAT");
  if (strcmp(program, "sysbench") == 0)
    return cli_set_dialect(cli, "1.0", program);
  return 0;
}

/* --- what may be shown --- */

/* The commands of tests, and after these TEST_COMMANDS that of the program. */
static const char *const command_names[] = {"prepare", "run", "cleanup", "help", "version", NULL};
enum { TEST_COMMANDS = 4 };

/* The first commands in a list of a script's commands, and those that callers add at its end. */
static const char *const first_commands[] = {"prepare", "prewarm", "warmup", "cleanup", NULL};
static const char *const last_commands[] = {"run", "help", NULL};

/* Returns whether a list that ends with NULL has the name. */
static bool cli_list_has(const char *const *list, const char *name)
{
  while (*list != NULL && strcmp(*list, name) != 0)
    list++;
  return *list != NULL;
}

void bn_cli_each_script_command(const struct bn_workload *ops, void *self,
                                void (*use)(void *arg, const char *name), void *arg)
{
  struct bn_command found;

  for (const char *const *name = first_commands; *name != NULL; name++)
    if (ops->find_command(self, *name, &found))
      use(arg, *name);
  for (const char *name = ops->next_command(self, NULL); name != NULL;
       name = ops->next_command(self, name)) {
    const bool is_placed = cli_list_has(first_commands, name) || cli_list_has(last_commands, name);

    if (!is_placed && ops->find_command(self, name, &found))
      use(arg, name);
  }
}

bool bn_cli_is_command_name(const char *word)
{
  return cli_list_has(command_names, word);
}

/* Offers the names of all built-in tests and bundled scripts as what may have been meant. */
static void cli_offer_tests(struct bn_near *near)
{
  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++)
    bn_near_offer(near, bn_registry_workloads[i]->name);
  for (size_t i = 0; bn_registry_scripts[i].name != NULL; i++)
    bn_near_offer(near, bn_registry_scripts[i].name);
}

/* Returns whether a word is or resembles a command or the name of a test, or is the name of a
   script's file. */
static bool cli_is_like_name(const char *arg)
{
  static const char suffix[] = ".lua";
  struct bn_near near = {.typed = arg};
  const size_t len = strlen(arg);

  for (const char *const *name = command_names; *name != NULL; name++)
    bn_near_offer(&near, *name);
  cli_offer_tests(&near);
  return near.best != NULL ||
         (len > strlen(suffix) && strcmp(arg + len - strlen(suffix), suffix) == 0);
}

/* Returns whether the command line has a --test with a value. */
static bool cli_names_test(const struct bn_cli *cli)
{
  for (int i = 1; i < cli->argc; i++)
    if (cli_find_value(cli->argv[i], "test") != NULL)
      return true;
  return false;
}

/* Returns whether the value of the option in an argument ("--NAME", "-NAME" or "NAME", perhaps with
   "=VALUE") must not be shown: the option is a secret, or it is not known. */
static bool cli_hides_value(const struct bn_optset *options, const char *arg)
{
  char name[BN_OPT_NAME_MAX];

  arg += strspn(arg, "-");
  (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
  return bn_optset_is_secret(options, name);
}

/* Returns the text that a hint shows for a value that was probably meant for `option`: the value,
   or a mask, in `masked`. */
static const char *cli_mask_value(const struct bn_optset *options, const char *option,
                                  const char *value, char masked[BN_MASK_MAX])
{
  return cli_hides_value(options, option) ? BN_MASK : bn_mask_text(value, masked);
}

/* Returns whether a word may be or have a value that must be hidden, as in "--mysql-password
   SECRET" and "mysql-pasword=SECRET".  A word that resembles a test or a command is shown. */
static bool cli_hides_word(const struct bn_cli *cli, const char *arg)
{
  if (arg[0] == '-' || cli_is_like_name(arg))
    return false;
  return cli->after_hidden || (strchr(arg, '=') != NULL && cli_hides_value(cli->options, arg));
}

/* Returns the text that a message shows for an argument: the argument, or one with its value
   masked, in `masked`.  "-pSECRET", a form of MySQL's clients, is shown as "-p***", unless the word
   resembles the name of an option. */
static const char *cli_mask_word(const struct bn_cli *cli, const char *arg,
                                 char masked[BN_MASK_MAX])
{
  const bool is_joined = strlen(arg) > strlen("-p") && arg[1] != '-' && strchr(arg, '=') == NULL;

  if (cli_hides_word(cli, arg))
    return BN_MASK;
  if (arg[0] != '-' || !cli_hides_value(cli->options, arg))
    return bn_mask_text(arg, masked);
  if (!is_joined || bn_optset_find_nearest(cli->options, arg + 1) != NULL)
    return bn_mask_arg(arg, masked);
  (void)snprintf(masked, BN_MASK_MAX, "%.2s" BN_MASK, arg); /* the dash and the letter */
  return masked;
}

/* Sets cli->after_hidden: the next word may be the value of this argument, and must be hidden. */
static void cli_set_after_hidden(struct bn_cli *cli, const char *arg)
{
  const char *value = strchr(arg, '=');

  cli->after_hidden = (value == NULL || value[1] == '\0') && cli_hides_value(cli->options, arg);
}

/* --- arguments --- */

/* Returns whether cli->hint may be set.  Only the first mistake sets it, because a message makes
   one suggestion.  Dialects make none. */
static bool cli_wants_hint(const struct bn_cli *cli)
{
  return cli->hint[0] == '\0' && !cli->policy->plain_errors;
}

/* Sets the hint "--threads=4" for "--threads 4", which sets no value and makes 4 the test.  `next`
   is the argument after `arg`, or NULL.  No hint is set for "--threads run", whose value is
   missing, for a flag, or for a word that cannot be the value of the option. */
static void cli_hint_separate_value(struct bn_cli *cli, const char *arg, const char *next)
{
  const struct bn_opt *o = bn_optset_find(cli->options, arg + strlen("--"));
  const bool is_flag = o != NULL && o->type == BN_BOOL;
  char masked[BN_MASK_MAX];

  if (!cli_wants_hint(cli) || is_flag || next == NULL)
    return;
  if (next[0] == '\0' || strncmp(next, "--", 2) == 0 || bn_cli_is_command_name(next))
    return;
  /* An unknown option is taken for a numeric one. */
  if ((o == NULL || bn_optval_is_numeric(o)) && !isdigit((unsigned char)next[0]))
    return;
  (void)snprintf(cli->hint, sizeof cli->hint, "%s=%s", arg,
                 cli_mask_value(cli->options, arg, next, masked));
}

/* Returns the option that "-NAME" probably means, or NULL. */
static const char *cli_find_dashed_option(const struct bn_optset *options, const char *name)
{
  if (strcmp(name, "h") == 0)
    return "help";
  if (strcmp(name, "v") == 0)
    return "version";
  return bn_optset_find_nearest(options, name);
}

/* Sets the hint for an argument with a single dash: the option that it probably means. */
static void cli_hint_single_dash(struct bn_cli *cli, const char *arg)
{
  const size_t len = strcspn(arg + 1, "=");
  const char *value = arg + 1 + len; /* "=VALUE", or "" */
  const char *nearest;
  char name[BN_OPT_NAME_MAX], masked[BN_MASK_MAX];

  if (!cli_wants_hint(cli))
    return;
  (void)snprintf(name, sizeof name, "%.*s", (int)len, arg + 1);
  nearest = cli_find_dashed_option(cli->options, name);
  if (nearest == NULL)
    return;
  if (value[0] != '\0' && cli_hides_value(cli->options, arg))
    (void)snprintf(cli->hint, sizeof cli->hint, "--%s=" BN_MASK, nearest);
  else
    (void)snprintf(cli->hint, sizeof cli->hint, "--%s%.64s", nearest, bn_mask_text(value, masked));
}

/* Sets the hint "--threads=4" for "threads=4". */
static void cli_hint_bare_setting(struct bn_cli *cli, const char *arg)
{
  char name[BN_OPT_NAME_MAX], masked[BN_MASK_MAX];
  const size_t len = strcspn(arg, "=");
  const bool is_setting = arg[0] != '-' && arg[len] == '=' && len < sizeof name;
  const char *nearest;

  if (!cli_wants_hint(cli) || !is_setting || cli->after_hidden)
    return;
  (void)snprintf(name, sizeof name, "%.*s", (int)len, arg);
  nearest = bn_optset_find_nearest(cli->options, name);
  if (nearest == NULL)
    return;
  (void)snprintf(cli->hint, sizeof cli->hint, "--%s=%.64s", nearest,
                 cli_mask_value(cli->options, arg, arg + len + 1, masked));
}

/* Returns the subcommand that the name of the test resembles, or NULL.  Names of fewer letters than
   LETTERS_MIN resemble too many words ("ab", "cpu"). */
static const char *cli_find_near_subcommand(const struct bn_cli *cli)
{
  enum { LETTERS_MIN = 4 };
  struct bn_near near = {.typed = cli->test};

  if (cli->policy->plain_errors || cli->hides_test || strlen(cli->test) < LETTERS_MIN)
    return NULL;
  for (const struct bn_subcommand *sub = bn_registry_subcommands; sub->name != NULL; sub++)
    bn_near_offer(&near, sub->name);
  return near.best;
}

/* Reads a word in a dialect whose words are commands.  The first word that is no command is the
   test if no --test names one.  Returns 0, or -1 after a message; then the help is printed. */
static int cli_read_command(struct bn_cli *cli, const char *arg)
{
  char masked[BN_MASK_MAX];

  cli->wants_help = true; /* until bn_cli_parse has succeeded */
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
    cli->hides_test = cli_hides_word(cli, arg);
    return 0;
  }
  bn_log_stderr("Unknown command: %s.", cli_mask_word(cli, arg, masked));
  return -1;
}

/* Sets cli->empty to "--threads=" and cli->empty_hint to "--threads=4" for "--threads= 4".  `next`
   is the argument after `arg`, or NULL.  A message has them only if `next` is no test. */
static void cli_hint_empty_value(struct bn_cli *cli, const char *arg, const char *next)
{
  const size_t len = strlen(arg);
  const bool is_empty = len > strlen("--") && arg[len - 1] == '=';
  char masked[BN_MASK_MAX];

  if (!is_empty || next == NULL || next[0] == '-' || bn_cli_is_command_name(next))
    return;
  /* The first such argument counts. */
  if (cli->empty != NULL || cli->policy->plain_errors)
    return;
  cli->empty = arg;
  (void)snprintf(cli->empty_hint, sizeof cli->empty_hint, "%.64s%.64s", arg,
                 cli_mask_value(cli->options, arg, next, masked));
}

/* Returns whether a word looks like an option ("-t").  "-" is standard input. */
static bool cli_is_dashed(const char *word)
{
  return word[0] == '-' && word[1] != '\0';
}

/* Returns the short option that was taken for the test or the command, or NULL.  There are a test
   and a command, because a third word is refused. */
static const char *cli_find_short_option(const struct bn_cli *cli)
{
  if (cli_is_dashed(cli->test))
    return cli->test;
  return cli_is_dashed(cli->command) ? cli->command : NULL;
}

/* Refuses a word after the command.  If an earlier mistake has probably led to it, the message is
   about the first of these mistakes: an option with one dash, a workload without its weight, an
   option without its value, any other option, a mistyped subcommand.  Returns -1. */
static int cli_refuse_word(const struct bn_cli *cli, const char *arg)
{
  if (bn_cli_check_reserved(cli) != 0)
    return -1;
  const char *dashed = cli->policy->plain_errors ? NULL : cli_find_short_option(cli);
  const char *subcommand = cli_find_near_subcommand(cli);
  char masked[BN_MASK_MAX], masked_command[BN_MASK_MAX];
  const char *shown = cli_mask_word(cli, arg, masked);
  const char *command = bn_mask_text(cli->command, masked_command);
  const bool lacks_weight = bn_mix_is_test(cli->policy, cli->test) && !cli->hides_command &&
                            !bn_cli_is_command_name(cli->command);

  /* The text after the letter may be a password. */
  if (dashed != NULL && cli->hint[0] == '\0')
    bn_log_stderr("%.2s: no such option; options have two dashes and a name, such as --threads=4",
                  dashed);
  else if (lacks_weight)
    bn_log_stderr("%s: each of several workloads needs a weight, such as %s@1", command, command);
  else if (cli->empty != NULL)
    bn_log_stderr("%s has no value: leave out the blank after it (did you mean %s?)", cli->empty,
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

/* Reads a word: the test comes first, the command second.  Between them stand other workloads with
   their weights.  Returns 0, or -1 after a message. */
static int cli_read_word(struct bn_cli *cli, const char *arg)
{
  char masked[BN_MASK_MAX];

  if (cli->test != NULL && cli->command != NULL)
    return cli_refuse_word(cli, arg);
  if (cli->test != NULL && bn_mix_has_weight(arg))
    return bn_cli_add_workload(cli, arg, cli_mask_word(cli, arg, masked));
  if (cli->test == NULL) {
    cli->hides_test = cli_hides_word(cli, arg);
    cli->test = arg;
  } else {
    cli->hides_command = cli_hides_word(cli, arg);
    cli->command = arg;
  }
  return 0;
}

/* Reads "--test" without a value.  bn_cli_check_options() judges it later, because a script may
   have an option of that name.  A dialect whose words are commands refuses it at once.  Returns 0,
   or -1 after a message. */
static int cli_read_bare_test(struct bn_cli *cli, const char *arg)
{
  if (cli->policy->words_are_commands) {
    bn_log_stderr("invalid option: %s", arg);
    return -1;
  }
  cli->bare_test = arg;
  return 0;
}

/* Returns whether --quiet is given, perhaps after the argument that is read now. */
static bool cli_is_quiet(const struct bn_cli *cli)
{
  const char *value = cli_find_last(cli, "quiet");
  bool is_quiet = value != NULL;

  if (is_quiet && value[0] != '\0')
    (void)bn_units_parse_bool(value, &is_quiet);
  return is_quiet;
}

/* Reads a configuration file.  With --quiet there are no notes about it.  Returns 0, or -1 after a
   message. */
static int cli_read_file(const struct bn_cli *cli, const char *path)
{
  const bool has_asides = bn_log_has_asides();
  struct bn_err err = {0};

  bn_log_set_asides(has_asides && !cli_is_quiet(cli));
  const int rc = bn_optset_read_file(cli->options, path, &err);

  bn_log_set_asides(has_asides);
  if (rc == 0)
    return 0;
  /* sysbench goes on without a file that it cannot open. */
  if (cli->policy->loose_files && (err.code == ENOENT || err.code == EACCES)) {
    bn_log_stderr("%s", err.text);
    return 0;
  }
  /* bn_optset_read_file() sets no code for an error in a line, whose text is "FILE:LINE: ...". */
  bn_log_stderr("%s%s", err.code != 0 ? "--config-file=" : "", err.text);
  return -1;
}

/* Sets the option of "--NAME" or "--NAME=VALUE".  --test also sets cli->test, and --config-file
   reads the file at once.  Returns 0, or -1 after a message. */
static int cli_set_option(struct bn_cli *cli, const char *arg)
{
  const char *name = arg + strlen("--");
  const size_t len = strcspn(name, "=");
  const char *value = name[len] == '=' ? name + len + 1 : NULL;

  if (bn_opt_is_named(name, len, "test")) {
    if (value == NULL)
      return cli_read_bare_test(cli, arg);
    if (!cli->policy->words_are_commands)
      bn_log_stderr("WARNING: the --test option is deprecated. You can pass a script name or path "
                    "on the command line without any options.");
    cli->test = value[0] != '\0' ? value : NULL;
  }
  bn_optset_set_arg(cli->options, arg);
  /* "--config-file=", as in --config-file=$UNSET, names no file. */
  if (bn_opt_is_named(name, len, "config-file") && value != NULL && value[0] != '\0')
    return cli_read_file(cli, value);
  return 0;
}

bool bn_cli_is_command(const struct bn_cli *cli, const char *name)
{
  return cli->command != NULL && strcmp(cli->command, name) == 0;
}

void bn_cli_set_messages(const struct bn_cli *cli, const struct bn_conf *conf, bool is_agent)
{
  const bool quiet = conf->raw.quiet || (is_agent && bn_cli_is_command(cli, "run"));
  const int level = (int)conf->raw.verbosity;

  bn_log_set_verbosity(quiet && level > BN_WARNING ? BN_WARNING : level);
  if (conf->raw.quiet)
    bn_log_set_asides(false);
}

/* Refuses an argument with a single dash on a command line without other faults.  Returns -1. */
static int cli_refuse_dashed(const struct bn_cli *cli, const char *dashed)
{
  char masked[BN_MASK_MAX];
  const char *shown = cli_mask_word(cli, dashed, masked);

  if (cli->hint[0] != '\0')
    bn_log_stderr("unknown argument '%s' (did you mean %s?)", shown, cli->hint);
  else
    bn_log_stderr("unknown argument '%s'", shown);
  return -1;
}

/* Returns the long form of "-h" or "-V" unless the dialect has no such flag, else the argument. */
static const char *cli_spell_out(const struct bn_cli *cli, const char *arg)
{
  if (!cli->policy->help_in_any_form)
    return arg;
  if (strcmp(arg, "-h") == 0)
    return "--help";
  return strcmp(arg, "-V") == 0 ? "--version" : arg;
}

/* Reads option i; `arg` is its form from cli_spell_out.  Returns 0, or -1 after a message. */
static int cli_read_option(struct bn_cli *cli, int i, const char *arg)
{
  const char *next = i + 1 < cli->argc ? cli->argv[i + 1] : NULL;
  const bool is_spelled_out = arg != cli->argv[i]; /* it was "-h", which takes no value */

  if (strchr(arg, '=') != NULL)
    cli_hint_empty_value(cli, arg, next);
  else if (!is_spelled_out)
    cli_hint_separate_value(cli, arg, next);
  cli_set_after_hidden(cli, arg);
  return cli_set_option(cli, arg);
}

/* Reads an argument that does not begin with two dashes.  Returns 0, or -1 after a message. */
static int cli_read_other(struct bn_cli *cli, const char *arg)
{
  if (cli_is_dashed(arg))
    cli_hint_single_dash(cli, arg);
  cli_hint_bare_setting(cli, arg);
  const int rc =
      cli->policy->words_are_commands ? cli_read_command(cli, arg) : cli_read_word(cli, arg);

  if (rc == 0 && arg[0] == '-')
    cli_set_after_hidden(cli, arg);
  return rc;
}

int bn_cli_parse(struct bn_cli *cli)
{
  const char *dashed = NULL; /* the first argument with a single dash */

  for (int i = 1; i < cli->argc; i++) {
    const char *arg = cli_spell_out(cli, cli->argv[i]);
    const bool is_option = strncmp(arg, "--", 2) == 0;
    int rc;

    if (!cli->policy->plain_errors && bn_cli_check_pasted(arg, i) != 0)
      return -1;
    if (!is_option && dashed == NULL && cli_is_dashed(arg))
      dashed = arg;
    rc = is_option ? cli_read_option(cli, i, arg) : cli_read_other(cli, arg);
    if (rc != 0)
      return -1;
  }
  cli->wants_help = false;
  return dashed == NULL ? 0 : cli_refuse_dashed(cli, dashed);
}

/* Makes `test`, which a configuration file has named, the test, unless --test or a word names one.
   A single word is then the command. */
static void cli_use_test_of_file(struct bn_cli *cli, const char *test)
{
  if (!cli->policy->files_name_test || test == NULL || test[0] == '\0' || cli_names_test(cli))
    return;
  /* A word is a test if a command follows it, or if it is none of the dialect's commands. */
  if (cli->test != NULL && (cli->command != NULL || cli->policy->words_are_commands))
    return;
  if (cli->test != NULL) {
    cli->command = cli->test;
    cli->hides_command = cli->hides_test;
  }
  cli->test = test;
  cli->hides_test = false;
}

/* Turns "help TEST", and --help with a test, into the command `help` of the test.  *help is true if
   --help is given, and stays or becomes true only if the help of the program is wanted. */
static void cli_turn_help_into_command(struct bn_cli *cli, bool *help)
{
  if (!cli->policy->help_in_any_form)
    return;
  if (cli->test != NULL && strcmp(cli->test, "help") == 0) {
    cli->test = cli->command;
    cli->hides_test = cli->hides_command;
    cli->command = NULL;
    *help = true;
  }
  /* "bench run --help" asks for the help of the program, because it names no test. */
  const bool names_test =
      cli->test != NULL && strcmp(cli->test, "-") != 0 && !bn_cli_is_command_name(cli->test);

  if (!*help || !names_test)
    return;
  cli->command = "help";
  cli->hides_command = false;
  *help = false;
}

int bn_cli_decide_words(struct bn_cli *cli, struct bn_conf_raw *raw)
{
  cli_use_test_of_file(cli, raw->test);
  cli_turn_help_into_command(cli, &raw->help);
  return bn_cli_use_word_for_groups(cli, raw->groups.n);
}

void bn_cli_scrub(struct bn_cli *cli)
{
  char masked[BN_MASK_MAX];

  for (int i = 1; i < cli->argc; i++) {
    char *arg = cli->argv[i], *value = strchr(arg, '=');

    if (strncmp(arg, "--", 2) != 0 || value == NULL)
      continue;
    *value = '\0'; /* the end of the name, for a moment */
    const struct bn_opt *o = bn_optset_find(cli->options, arg + 2);
    const bool is_secret = o != NULL ? bn_opt_is_secret(o) : bn_mask_names_secret(arg);
    /* A secret may stand within the value of an option with options in it, such as --group, or of
       an option that is not known yet: of a script, or of a group, such as --reads.connect. */
    const bool may_have_secret = o == NULL || o->verbatim;

    *value++ = '=';
    if (is_secret || (may_have_secret && bn_mask_text(value, masked) != value))
      bn_mask_overwrite(value);
  }
}

const char *bn_cli_describe_reserved(const char *word)
{
  if (bn_subcommand_find_named(bn_registry_subcommands, word) != NULL)
    return "a subcommand";
  if (bn_registry_find_workload(word) != NULL)
    return "a built-in test";
  return bn_cli_is_command_name(word) ? "a command" : NULL;
}

/* --- what is wrong --- */

/* Warns of a deprecated option in the form of the dialect, unless a controller has done so. */
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

void bn_cli_resolve_aliases(struct bn_cli *cli)
{
  bn_optset_resolve_aliases(cli->options, cli_warn_deprecated, cli);
}

int bn_cli_check_reserved(const struct bn_cli *cli)
{
  const struct bn_subcommand *sub =
      cli->test != NULL ? bn_subcommand_find_named(bn_registry_subcommands, cli->test) : NULL;

  if (sub == NULL)
    return bn_cli_check_workloads(cli);
  bn_log_stderr("'%s' is reserved for a subcommand; to run a script of that name type ./%s.lua",
                sub->name, sub->name);
  return -1;
}

void bn_cli_require_command(const struct bn_cli *cli, const char *test)
{
  bn_log_stderr("The '%s' test requires a command argument. See '%s %s help'", test,
                cli->policy->program, test);
}

/* Offers a command to a struct bn_near, for cli_each_command. */
static void cli_offer_name(void *near, const char *name)
{
  bn_near_offer(near, name);
}

/* Appends "NAME, " to a struct bn_buf, for cli_each_command. */
static void cli_append_name(void *list, const char *name)
{
  (void)bn_buf_str(list, name);
  (void)bn_buf_str(list, ", ");
}

/* Calls use(arg, name) for each command of a test but `run` and `help`. */
static void cli_each_command(const struct bn_workload *ops, void *self,
                             void (*use)(void *arg, const char *name), void *arg)
{
  for (const struct bn_command *c = ops->commands; c != NULL && c->name != NULL; c++)
    use(arg, c->name);
  if (ops->find_command != NULL)
    bn_cli_each_script_command(ops, self, use, arg);
}

/* Refuses a command that resembles no other, with a hint that has all commands of the test. */
static void cli_refuse_command_with_list(const struct bn_workload *ops, void *self,
                                         const char *shown)
{
  struct bn_buf list = {.max = 0};

  bn_log_stderr("Unknown command: %s", shown);
  cli_each_command(ops, self, cli_append_name, &list);
  bn_log_hint("commands of '%s': %srun, help", ops->name, list.data != NULL ? list.data : "");
  bn_buf_done(&list);
}

void bn_cli_refuse_command(const struct bn_cli *cli, const struct bn_workload *ops, void *self)
{
  struct bn_near near = {.typed = cli->command};
  char masked[BN_MASK_MAX];
  const char *shown = cli->hides_command ? BN_MASK : bn_mask_text(cli->command, masked);
  const char *meant = NULL; /* always in a dialect, which makes no suggestions */
  bool is_known = false;

  for (size_t i = 0; i < TEST_COMMANDS; i++) {
    is_known |= strcmp(cli->command, command_names[i]) == 0;
    bn_near_offer(&near, command_names[i]);
  }
  cli_each_command(ops, self, cli_offer_name, &near);
  if (near.best != NULL && !cli->policy->plain_errors)
    meant = near.best;
  else if (cli->hint[0] != '\0')
    meant = cli->hint;
  if (is_known)
    bn_log_stderr("'%s' test does not %s the '%s' command.", ops->name, cli->policy->lacks_command,
                  cli->command);
  else if (meant != NULL)
    bn_log_stderr("Unknown command: %s (did you mean %s?)", shown, meant);
  else
    cli_refuse_command_with_list(ops, self, shown);
}

void bn_cli_suggest_test(const struct bn_cli *cli)
{
  struct bn_near near = {.typed = cli->test};

  if (strcmp(cli->test, "oltp") == 0) {
    bn_log_hint("the test 'oltp' of sysbench 0.4 is a script here: use oltp_legacy/oltp.lua with "
                "--oltp-table-size, or oltp_read_write with --table-size");
    return;
  }
  cli_offer_tests(&near);
  const char *nearest = near.best != NULL ? near.best : cli_find_near_subcommand(cli);
  /* "threads=4" is nearer to the option, which is in the hint, than to a test. */
  const bool is_setting = strchr(cli->test, '=') != NULL && cli->hint[0] != '\0';
  const char *meant = nearest != NULL && !is_setting ? nearest : cli->hint;

  if (meant[0] != '\0')
    bn_log_hint("did you mean %s?", meant);
}
