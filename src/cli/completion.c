/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the code with which bash, zsh and fish complete command lines of bench. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/near.h"
#include "cli/cli.h"
#include "cli/subcommand.h"
#include "dialect/dialect.h"
#include "registry.h"

/* The lines of src/cli/shell/bench.*. */
static const char *const bash[] = {
#include "cli/bn_completion_bash.inc"
    NULL};
static const char *const zsh[] = {
#include "cli/bn_completion_zsh.inc"
    NULL};
static const char *const fish[] = {
#include "cli/bn_completion_fish.inc"
    NULL};

/* The code for each shell.  The rows of the table replace its line @ROWS@. */
static const char *const *const shell_code[BN_SHELLS] = {
    [BN_SHELL_BASH] = bash, [BN_SHELL_ZSH] = zsh, [BN_SHELL_FISH] = fish};

/* Prints lines up to the table, or to the end of the code.  Returns the line at which it stops. */
static const char *const *completion_print_code(const char *const *line)
{
  for (; *line != NULL && strcmp(*line, "@ROWS@") != 0; line++)
    printf("%s\n", *line);
  return line;
}

const char *const *bn_completion_begin(enum bn_shell shell)
{
  return completion_print_code(shell_code[shell]) + 1;
}

void bn_completion_end(const char *const *rest)
{
  (void)completion_print_code(rest);
}

/* --- rows: kind|scope|name|words|text, quoted in a way that all three shells read alike --- */

/* Prints a row.  The name of an option with a value ends with '='. */
static void completion_print_row(const char *kind, const char *scope, const char *name,
                                 const char *words, const char *text)
{
  struct bn_buf row = {.max = 0}, quoted = {.max = 0};

  (void)bn_buf_printf(&row, "%s|%s|%s|%s|%s", kind, scope, name, words, text);
  (void)bn_escape_shell_word(&quoted, row.data);
  printf("  %s \\\n", quoted.data);
  bn_buf_done(&row);
  bn_buf_done(&quoted);
}

/* Prints the row of a test, a command or a subcommand, which has no words. */
static void completion_print_plain_row(const char *kind, const char *scope, const char *name,
                                       const char *text)
{
  completion_print_row(kind, scope, name, "", text);
}

/* Prints the row of a command of a built-in test or a script. */
static void completion_print_command(const char *test, const char *name)
{
  completion_print_plain_row("command", test, name, "" /* text */);
}

/* Appends the words of a list that ends with NULL, with blanks between them.  An empty word, which
   is the last, is left out. */
static void completion_append_words(struct bn_buf *out, const char *const *words)
{
  for (size_t i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      (void)bn_buf_printf(out, "%s%s", i > 0 ? " " : "", words[i]);
}

/* Appends the names of all drivers. */
static void completion_append_drivers(struct bn_buf *out)
{
  for (size_t i = 0; bn_registry_drivers[i].name != NULL; i++)
    (void)bn_buf_printf(out, "%s%s", i > 0 ? " " : "", bn_registry_drivers[i].name);
}

/* Appends the names of all dialects. */
static void completion_append_dialects(struct bn_buf *out)
{
  for (size_t i = 0; bn_policy_dialects[i] != NULL; i++)
    (void)bn_buf_printf(out, "%s%s", i > 0 ? " " : "", bn_policy_dialects[i]->dialect);
}

/* Appends "NAME" and "NAME:" for each report.  After a word that ends with a colon, the shells
   complete the name of a file. */
static void completion_append_reports(struct bn_buf *out)
{
  for (size_t i = 0; bn_registry_reporters[i] != NULL; i++)
    (void)bn_buf_printf(out, "%s%s %s:", i > 0 ? " " : "", bn_registry_reporters[i]->name,
                        bn_registry_reporters[i]->name);
}

/* Appends the names of all built-in tests and bundled scripts. */
static void completion_append_tests(struct bn_buf *out)
{
  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++)
    (void)bn_buf_printf(out, "%s%s", i > 0 ? " " : "", bn_registry_workloads[i]->name);
  for (size_t i = 0; bn_registry_scripts[i].name != NULL; i++)
    (void)bn_buf_printf(out, " %s", bn_registry_scripts[i].name);
}

/* A function that appends the values of an option. */
typedef void completion_appender(struct bn_buf *out);

/* Returns the function of an option whose values are names in the registry, or those of dialects,
   or NULL for any other option. */
static completion_appender *completion_find_appender(const struct bn_opt *o)
{
  static const struct {
    const char *name;
    completion_appender *append; /* lint: option list */
  } appenders[] = {{"compat", completion_append_dialects},
                   {"db-driver", completion_append_drivers},
                   {"report", completion_append_reports},
                   {"test", completion_append_tests}};

  for (size_t i = 0; i < sizeof appenders / sizeof appenders[0]; i++)
    if (strcmp(appenders[i].name, o->name) == 0)
      return appenders[i].append;
  return NULL;
}

/* Appends the values that an option may have, "@file" for a file, or nothing if there are too many
   to be listed. */
static void completion_append_values(struct bn_buf *out, const struct bn_opt *o)
{
  completion_appender *append = completion_find_appender(o);

  if (append != NULL)
    append(out);
  else if (o->type == BN_BOOL)
    (void)bn_buf_str(out, "on off");
  else if (o->type == BN_PATH || o->file)
    (void)bn_buf_str(out, "@file");
  else if (o->choices != NULL)
    completion_append_words(out, o->choices);
  else if (o->words != NULL)
    completion_append_words(out, o->words);
}

/* Prints the row of an option, unless it is hidden or the old name of another one. */
static void completion_print_option(const char *scope, const struct bn_opt *o)
{
  struct bn_buf words = {.max = 0};
  char dashed[128], name[sizeof dashed + 1];

  if (o->hidden || o->alias_of != NULL)
    return;
  bn_near_copy_dashed(dashed, sizeof dashed, o->name);
  (void)snprintf(name, sizeof name, "%s%s", dashed, o->type == BN_BOOL ? "" : "=");
  (void)bn_buf_str(&words, ""); /* words.data is not NULL then, even if no value is listed */
  completion_append_values(&words, o);
  completion_print_row("option", scope, name, words.data, o->help);
  bn_buf_done(&words);
}

/* Returns the scope of a group of options, which is the tests for which they are offered: the name
   of a built-in test, "database" for the tests that open connections, or "any". */
static const char *completion_find_scope(const char *group)
{
  if (strcmp(group, BN_CLI_DB_GROUP) == 0)
    return "database";
  for (size_t i = 0; bn_registry_drivers[i].name != NULL; i++)
    if (strcmp(bn_registry_drivers[i].group, group) == 0)
      return "database";
  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++) {
    const char *name = bn_registry_workloads[i]->name;

    if (strncmp(group, name, strlen(name)) == 0 && strcmp(group + strlen(name), " options") == 0)
      return name;
  }
  return "any";
}

/* Prints the rows of a subcommand and of its options.  Returns 0. */
static int completion_print_subcommand(void *arg, const struct bn_subcommand *sub)
{
  static const struct bn_opt help = {
      .name = "help", .type = BN_BOOL, .help = "list of the options of the subcommand"};

  (void)arg;
  completion_print_plain_row("subcommand", sub->name, "", sub->title);
  for (const struct bn_opt *o = sub->options; o != NULL && o->name != NULL; o++)
    completion_print_option(sub->name, o);
  completion_print_option(sub->name, &help);
  return 0;
}

/* Prints the rows of a built-in test and its commands.  Its table does not have "run", which every
   test has, and "help", which lists the options of a test. */
static void completion_print_workload(const struct bn_workload *test)
{
  completion_print_plain_row("test", test->name, "", test->title);
  for (const struct bn_command *c = test->commands; c != NULL && c->name != NULL; c++)
    completion_print_command(test->name, c->name);
  completion_print_command(test->name, "run");
  if (test->options != NULL)
    completion_print_command(test->name, "help");
}

int bn_completion_print_bench(const struct bn_optset *options)
{
  const struct bn_opt *o;
  const char *group;

  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++)
    completion_print_workload(bn_registry_workloads[i]);
  if (bn_subcommand_each(bn_registry_subcommands, completion_print_subcommand, NULL) != 0)
    return -1;
  for (size_t i = 0; (o = bn_optset_get_at(options, i, &group)) != NULL; i++)
    completion_print_option(completion_find_scope(group), o);
  return 0;
}

/* Prints the row of a command of the script whose name is `arg`, for bn_cli_each_script_command. */
static void completion_print_script_command(void *arg, const char *name)
{
  completion_print_command(arg, name);
}

void bn_completion_print_script(const char *name, const char *title, const struct bn_workload *ops,
                                void *self, const struct bn_optset *options)
{
  const struct bn_opt *o;
  char own_group[300];
  const char *group;

  completion_print_plain_row("script", name, "", title);
  bn_cli_each_script_command(ops, self, completion_print_script_command, (void *)(uintptr_t)name);
  completion_print_command(name, "run");
  (void)snprintf(own_group, sizeof own_group, "%s options", ops->name);
  if (bn_optset_has_group(options, own_group))
    completion_print_command(name, "help");
  for (size_t i = 0; (o = bn_optset_get_at(options, i, &group)) != NULL; i++)
    if (strcmp(group, own_group) == 0)
      completion_print_option(name, o);
}
