/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refuses options with wrong values and those that the test does not have, or accepts these with a
   note, and refuses a test without the option that it requires. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "base/mask.h"
#include "base/near.h"
#include "base/plugin.h"
#include "cli/cli.h"
#include "registry.h"

/* Returns the built-in test that has the option "NAME" or "NAME=VALUE", or NULL. */
static const char *unknown_find_owner(const char *name)
{
  const size_t len = strcspn(name, "=");

  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++)
    if (bn_opt_find(bn_registry_workloads[i]->options, name, len) != NULL)
      return bn_registry_workloads[i]->name;
  return NULL;
}

/* Refuses "--test" without a value, which no script accepts. */
static void unknown_refuse_bare_test(const struct bn_cli *cli)
{
  char meant[BN_CLI_HINT_MAX];

  (void)snprintf(meant, sizeof meant, "--test=%s", cli->test != NULL ? cli->test : "");
  /* After "--test NAME", the test is NAME, and the hint is "--test=NAME" unless an earlier mistake
     has set another one. */
  const bool is_suggested = strcmp(cli->hint, meant) == 0;

  if (cli->policy->plain_errors)
    bn_log_stderr("invalid option: %s", cli->bare_test);
  else if (is_suggested)
    bn_log_stderr("%s: no value; did you mean %s?", cli->bare_test, meant);
  else
    bn_log_stderr("%s: no value", cli->bare_test);
}

/* Returns another built-in test that has the unknown option, or NULL if there is none, or in a
   dialect, whose messages do not name it. */
static const char *unknown_find_other_test(const struct bn_cli *cli,
                                           const struct bn_optset_fault *fault)
{
  const char *owner;

  if (cli->policy->plain_errors || fault->opt != NULL || strncmp(fault->typed, "--", 2) != 0)
    return NULL;
  owner = unknown_find_owner(fault->typed + 2);
  if (owner != NULL && cli->test != NULL && strcmp(owner, cli->test) == 0)
    return NULL;
  return owner;
}

/* Returns whether one of the first n arguments sets the option that `arg` sets.  Values are not
   compared, because bn_cli_scrub may have overwritten one. */
static bool unknown_is_among(const struct bn_cli *cli, size_t n, const char *arg)
{
  const size_t len = strcspn(arg, "=");

  for (size_t i = 1; i <= n; i++)
    if (strcspn(cli->argv[i], "=") == len && strncmp(cli->argv[i], arg, len) == 0)
      return true;
  return false;
}

/* Says that an option is unknown, or which built-in test has it.  The message adds that an option
   among the first n_outside arguments stands outside of the groups.  Values are masked. */
static void unknown_refuse(const struct bn_cli *cli, const struct bn_optset_fault *fault,
                           size_t n_outside)
{
  const char *owner = unknown_find_other_test(cli, fault);
  char masked[BN_MASK_MAX];

  if (owner != NULL)
    bn_log_stderr("%s: only the %s test has this option", bn_mask_text(fault->typed, masked),
                  owner);
  else if (fault->typed != NULL && unknown_is_among(cli, n_outside, fault->typed))
    bn_log_stderr("%s (it stands outside of the groups, where each script must have it)",
                  fault->text);
  else
    bn_log_stderr("%s", fault->text);
}

/* Returns whether *s separates groups of digits.  A comma does so only before three digits. */
static bool unknown_is_digit_separator(const char *s)
{
  return *s == '_' || *s == '\'' || (*s == ',' && strspn(s + 1, "0123456789") == 3);
}

/* Suggests the number that is meant by "10_000" or "10,000".  `text` is "--NAME=VALUE: REASON". */
static void unknown_suggest_digits(const char *text)
{
  const size_t name_len = strcspn(text, "=");
  const char *value = text[name_len] == '=' ? text + name_len + 1 : "";
  char plain[32];
  size_t n_digits = 0, n_read = 0;

  for (; n_digits + 1 < sizeof plain; n_read++) {
    if (isdigit((unsigned char)value[n_read]))
      plain[n_digits++] = value[n_read];
    else if (!unknown_is_digit_separator(value + n_read))
      break;
  }
  plain[n_digits] = '\0';
  if (n_digits > 0 && n_digits < n_read && value[n_read] == ':')
    bn_log_hint("did you mean %.*s=%s?", (int)name_len, text, plain);
}

void bn_cli_print_fault(const struct bn_cli *cli, const struct bn_optset_fault *fault)
{
  /* sysbench checks --verbosity in its logger, before messages have a prefix. */
  const bool is_verbosity = fault->opt != NULL && strcmp(fault->opt->name, "verbosity") == 0;
  const bool is_bare = is_verbosity || (cli->policy->general_errors_bare && !cli->settled);

  if (fault->kind == BN_OPTSET_RANGE && cli->policy->plain_errors)
    bn_log(is_bare ? BN_NOTICE : BN_FATAL, "%s", fault->text);
  else
    bn_log_stderr("%s", fault->text);
  if (cli->hint[0] != '\0')
    bn_log_hint("did you mean %s?", cli->hint);
  else if (fault->opt != NULL)
    unknown_suggest_digits(fault->text);
}

int bn_cli_check_options(const struct bn_cli *cli, bool accept_any, size_t n_outside)
{
  struct bn_optset_fault fault;

  if (cli->bare_test != NULL && !accept_any) {
    unknown_refuse_bare_test(cli);
    return -1;
  }
  if (bn_optset_find_unknown(cli->options, accept_any, &fault)) {
    unknown_refuse(cli, &fault, n_outside);
    return -1;
  }
  if (bn_optset_find_fault(cli->options, &fault)) {
    bn_cli_print_fault(cli, &fault);
    return -1;
  }
  return 0;
}

/* Returns whether the words are in the wrong order, as in "run oltp_read_write". */
static bool unknown_has_swapped_words(const struct bn_cli *cli)
{
  /* bn_cli_is_command_name does not have this command, which only scripts define. */
  const bool is_warmup = strcmp(cli->test, "warmup") == 0;

  return cli->command != NULL && (is_warmup || bn_cli_is_command_name(cli->test));
}

void bn_cli_refuse_script(const struct bn_cli *cli, const struct bn_err *err)
{
  enum { ACCEPT_NONE = false, NONE_OUTSIDE = 0 };
  char folder[PATH_MAX];

  /* ENODATA: neither a test nor a script is named.  A mistyped --version may be the reason. */
  if (err->code == ENODATA && bn_cli_check_options(cli, ACCEPT_NONE, NONE_OUTSIDE) != 0)
    return;
  if (err->text[0] != '\0')
    bn_log(BN_FATAL, "%s", err->text);
  if (err->code != ENOENT || cli->test == NULL)
    return;
  if (bn_registry_is_script(cli->test, strlen(cli->test))) {
    const bool knows_folder = bn_plugin_data_dir(folder, sizeof folder, NULL) != NULL;

    bn_log_hint("%s is a bundled workload, but %s has no %s.lua; install the program with its data",
                cli->test, knows_folder ? folder : "its folder", cli->test);
  } else if (unknown_has_swapped_words(cli)) {
    bn_log_hint("the test stands before the command: %s %s", cli->command, cli->test);
  } else {
    bn_cli_suggest_test(cli);
  }
}

/* Returns the first option of the driver that the user has typed, or NULL. */
static const char *unknown_find_typed_option(const struct bn_optset *options,
                                             const struct bn_registry_driver *d)
{
  for (const struct bn_opt *o = d->options; o->name != NULL; o++)
    if (bn_optset_get_origin(options, o->name) == BN_FROM_COMMAND_LINE)
      return o->name;
  return NULL;
}

/* Returns the last driver other than `used`, the driver of the run or NULL, of which the user has
   typed an option, and sets *option to its name.  Returns NULL if there is none, or if an option of
   `used` was typed too: the command line is then meant for several drivers. */
static const struct bn_registry_driver *
unknown_find_other_driver(const struct bn_optset *options, const char *used, const char **option)
{
  const struct bn_registry_driver *other = NULL;

  for (const struct bn_registry_driver *d = bn_registry_drivers; d->name != NULL; d++) {
    const char *typed = unknown_find_typed_option(options, d);

    if (typed == NULL)
      continue;
    if (used != NULL && strcmp(d->name, used) == 0)
      return NULL;
    *option = typed;
    other = d;
  }
  return other;
}

void bn_cli_note_unused(const struct bn_cli *cli, const char *driver)
{
  const struct bn_registry_driver *other;
  const char *unused = NULL;
  const bool has_uri = bn_optset_get_origin(cli->options, "connect") != BN_FROM_DEFAULT;
  const bool names_driver = bn_optset_get_origin(cli->options, "db-driver") != BN_FROM_DEFAULT;

  if (has_uri || (driver != NULL && names_driver))
    return;
  other = unknown_find_other_driver(cli->options, driver, &unused);
  if (other == NULL)
    return;
  if (driver == NULL)
    bn_log_note("--%s is not used: %s opens no database connection", unused, cli->test);
  else
    bn_log_note("--%s is not used: the driver is %s; add --db-driver=%s", unused, driver,
                other->name);
}

/* The argument of unknown_note_file_setting. */
struct unknown_context {
  const struct bn_cli *cli;
  bool is_script;
};

/* Notes an unknown option at a line of a file, and the option that was probably meant, unless the
   line is a comment. */
static void unknown_note_line(const struct bn_optset *options, const char *name, const char *path,
                              unsigned line)
{
  const char *nearest = bn_optset_find_nearest(options, name);
  char masked[BN_MASK_MAX];

  if (bn_optset_is_comment(name))
    return;
  if (nearest != NULL)
    bn_log_note("%s:%u: unknown option '%s' is ignored (did you mean %s?)", path, line,
                bn_mask_arg(name, masked), nearest);
  else
    bn_log_note("%s:%u: unknown option '%s' is ignored", path, line, bn_mask_arg(name, masked));
}

/* Warns of an unknown option in the words of sysbench, which name no file and no line.  The name
   has underscores, as scripts see it; a long one loses its end. */
static void unknown_warn_not_exported(const char *name)
{
  char underscored[128], masked[BN_MASK_MAX];
  const char *shown = bn_mask_names_secret(name) ? bn_mask_arg(name, masked) : name;

  (void)snprintf(underscored, sizeof underscored, "%s", shown);
  bn_near_replace_dashes(underscored);
  bn_log(BN_WARNING, "Global option '%s' will not be exported, because the type is unknown",
         underscored);
}

/* Notes a pending setting of a file in bench's or sysbench's words, for bn_optset_each_pending.
   Settings of the command line have no path, and were checked by bn_cli_check_options. */
static void unknown_note_file_setting(void *arg, const char *name, const char *value,
                                      const char *path, unsigned line)
{
  const struct unknown_context *u = arg;
  const bool has_sysbench_text = u->is_script && u->cli->policy->unknown_not_exported;

  (void)value;
  if (path == NULL)
    return;
  if (has_sysbench_text)
    unknown_warn_not_exported(name);
  else
    unknown_note_line(u->cli->options, name, path, line);
}

void bn_cli_check_files(const struct bn_cli *cli, bool is_script)
{
  struct unknown_context u = {.cli = cli, .is_script = is_script};

  bn_optset_each_pending(cli->options, unknown_note_file_setting, &u);
}

bool bn_cli_refuse_missing_option(const struct bn_cli *cli, const struct bn_workload *ops)
{
  char group[BN_CLI_GROUP_MAX];

  if (ops->required == NULL || bn_optset_is_given(cli->options, ops->required))
    return false;
  if (!cli->policy->plain_errors) {
    bn_log_stderr("--%s: no value; see '%s %s help'", ops->required, cli->policy->program,
                  ops->name);
    return true;
  }
  bn_log(BN_FATAL, "Missing required argument: --%s", ops->required);
  (void)snprintf(group, sizeof group, "%s options", ops->name);
  if (cli->policy->missing_lists_bare) {
    bn_cli_print_option_lines(group, cli->options);
  } else {
    bn_log(BN_NOTICE, "%s", ""); /* an empty line */
    bn_cli_print_group(group, cli->options);
  }
  return true;
}

/* --- unknown options that the test accepts --- */

/* Notes a pending setting of the command line, unless a built-in test has the option, for
   bn_optset_each_pending. */
static void unknown_note_typed_setting(void *arg, const char *name, const char *value,
                                       const char *path, unsigned line)
{
  const struct bn_optset *options = arg;
  char masked[BN_MASK_MAX];

  (void)value;
  (void)line;
  /* bn_cli_check_files notes the settings of files. */
  if (path != NULL || unknown_find_owner(name) != NULL)
    return;
  bn_near_complain(bn_mask_arg(name, masked), bn_optset_find_nearest(options, name));
}

void bn_cli_warn_unknown(struct bn_optset *options)
{
  bn_optset_each_pending(options, unknown_note_typed_setting, options);
}
