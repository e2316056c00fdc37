/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the texts about the program: version, banner, help, and options for the manual pages. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/subcommand.h"
#include "registry.h"

void bn_cli_print_version(const struct bn_cli *cli)
{
  printf("%s %s\n", cli->policy->program, cli->policy->release);
}

void bn_cli_print_banner(const struct bn_cli *cli, const char *luajit)
{
  if (cli->policy->banner != NULL)
    bn_log(BN_NOTICE, "%s\n\n", cli->policy->banner);
  else
    bn_log(BN_NOTICE, "%s %s (using system LuaJIT %s)\n\n", cli->policy->program,
           cli->policy->release, luajit);
}

/* Prints the options of n groups under a heading, with an empty line after them. */
static void usage_print_block(const struct bn_optset *options, const char *heading,
                              const char *const *groups, size_t n)
{
  printf("%s:\n", heading);
  bn_optset_print_help(options, groups, n, stdout);
  putchar('\n');
}

/* Prints the general options in the blocks of the dialect. */
static void usage_print_general(const struct bn_optset *options)
{
  static const char *const all[] = {BN_GROUP_GENERAL, BN_GROUP_RAND, BN_GROUP_FILE};
  static const char *const general[] = {BN_GROUP_GENERAL, BN_GROUP_FILE};

  if (bn_optset_policy(options)->help_random_in_general) {
    usage_print_block(options, "General options", all, sizeof all / sizeof all[0]);
  } else {
    usage_print_block(options, "General options", general, sizeof general / sizeof general[0]);
    bn_cli_print_group(BN_GROUP_RAND, options);
  }
  bn_cli_print_group(BN_GROUP_LOG, options);
  /* A block of its own without a heading, so that it is aligned by itself. */
  bn_cli_print_option_lines(BN_GROUP_LATENCY, options);
}

/* Returns whether the help has the driver: its module is installed, so that it is among the n
   names, and the dialect has it, which lists at least one of its options then. */
static bool usage_has_driver(const struct bn_cli *cli, const struct bn_registry_driver *driver,
                             char *const *names, size_t n)
{
  unsigned versions = 0;
  bool is_installed = false;

  for (size_t i = 0; i < n; i++)
    is_installed |= strcmp(names[i], driver->name) == 0;
  for (const struct bn_opt *o = driver->options; o->name != NULL; o++)
    versions |= o->in;
  return is_installed && (cli->policy->lists_own || (versions & cli->policy->listed) != 0);
}

/* Returns whether a driver of that name is part of bench, and no added module. */
static bool usage_is_registered(const char *name)
{
  for (const struct bn_registry_driver *d = bn_registry_drivers; d->name != NULL; d++)
    if (strcmp(d->name, name) == 0)
      return true;
  return false;
}

/* Prints the options of databases, the drivers, and the options of each driver.  `names` are the
   names of the n modules that are installed. */
static void usage_print_drivers(const struct bn_cli *cli, char *const *names, size_t n)
{
  const struct bn_registry_driver *d;

  printf("General database options:\n\n");
  bn_cli_print_option_lines(BN_CLI_DB_GROUP, cli->options);
  printf("\nCompiled-in database drivers:\n");
  for (d = bn_registry_drivers; d->name != NULL; d++)
    if (usage_has_driver(cli, d, names, n))
      printf("  %s - %s\n", d->name, d->title);
  for (size_t i = 0; i < n; i++)
    if (cli->policy->lists_own && !usage_is_registered(names[i]))
      printf("  %s - added module; its options are known with --db-driver=%s\n", names[i],
             names[i]);
  putchar('\n');
  for (d = bn_registry_drivers; d->name != NULL; d++)
    if (usage_has_driver(cli, d, names, n))
      bn_cli_print_group(d->group, cli->options);
}

/* Prints the names and titles of the built-in tests and, outside of dialects, those of the bundled
   scripts and the subcommands. */
static void usage_print_tests(const struct bn_cli *cli)
{
  printf("Compiled-in tests:\n");
  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++)
    printf("  %s - %s\n", bn_registry_workloads[i]->name, bn_registry_workloads[i]->title);
  putchar('\n');
  if (!cli->policy->lists_own)
    return;
  printf("Bundled workloads:\n");
  for (size_t i = 0; bn_registry_scripts[i].name != NULL; i++)
    printf("  %s - %s\n", bn_registry_scripts[i].name, bn_registry_scripts[i].title);
  putchar('\n');
  bn_subcommand_print_list(bn_registry_subcommands, stdout);
}

const char *bn_cli_report_group(const struct bn_reporter *r, char group[BN_CLI_GROUP_MAX])
{
  (void)snprintf(group, BN_CLI_GROUP_MAX, "%s report options", r->name);
  return group;
}

/* Prints the options of each report that has any. */
static void usage_print_reports(const struct bn_optset *options)
{
  for (size_t i = 0; bn_registry_reporters[i] != NULL; i++) {
    char group[BN_CLI_GROUP_MAX];

    if (bn_registry_reporters[i]->options != NULL)
      bn_cli_print_group(bn_cli_report_group(bn_registry_reporters[i], group), options);
  }
}

void bn_cli_print_help(const struct bn_cli *cli, char *const *drivers, size_t n_drivers)
{
  const char *program = cli->policy->program;

  if (cli->policy->words_are_commands)
    printf("Usage:\n  %s --test=<test-name> [options]... <command>\n\n"
           "Commands: prepare run cleanup help version\n\n",
           program);
  else
    printf("Usage:\n  %s [options]... [testname] [command]\n\n"
           "Commands implemented by most tests: prepare run cleanup help\n\n",
           program);
  usage_print_general(cli->options);
  /* Dialects have no options of reports. */
  if (cli->policy->lists_own)
    usage_print_reports(cli->options);
  usage_print_drivers(cli, drivers, n_drivers);
  usage_print_tests(cli);
  if (cli->policy->words_are_commands)
    printf("See '%s --test=<name> help' for a list of options for each test.\n\n", program);
  else
    printf("See '%s <testname> help' for a list of options for each test.\n\n", program);
}

void bn_cli_print_group(const char *group, const struct bn_optset *options)
{
  usage_print_block(options, group, &group, 1);
}

void bn_cli_print_option_lines(const char *group, const struct bn_optset *options)
{
  bn_optset_print_help(options, &group, 1, stdout);
  putchar('\n');
}

/* --- the manual pages --- */

/* Prints the options of n groups as a section.  If the first group has no options, nothing is
   printed, because mdoc has no empty lists. */
static void usage_print_man_section(const struct bn_optset *options, const char *heading,
                                    const char *const *groups, size_t n)
{
  if (!bn_optset_has_group(options, groups[0]))
    return;
  printf(".Ss %s\n.Bl -tag -width Ds\n", heading);
  bn_optset_print_man(options, groups, n, stdout);
  printf(".El\n");
}

/* Prints the options of one group as a section, unless it has none. */
static void usage_print_man_group(const struct bn_optset *options, const char *heading,
                                  const char *group)
{
  usage_print_man_section(options, heading, &group, 1);
}

int bn_cli_print_traits(const struct bn_optset *options)
{
  const struct bn_opt *o;

  for (size_t i = 0; (o = bn_optset_get_at(options, i, NULL)) != NULL; i++)
    printf("option %s %u\n", o->name, bn_optset_get_traits(options, o->name));
  return EXIT_SUCCESS;
}

/* Prints a section for each report that has options. */
static void usage_print_man_reports(const struct bn_optset *options)
{
  for (size_t i = 0; bn_registry_reporters[i] != NULL; i++) {
    const struct bn_reporter *reporter = bn_registry_reporters[i];
    char group[BN_CLI_GROUP_MAX], title[64];

    (void)snprintf(title, sizeof title, "Report %s", reporter->name);
    usage_print_man_group(options, title, bn_cli_report_group(reporter, group));
  }
}

int bn_cli_print_man(const struct bn_optset *options)
{
  static const char *const general[] = {BN_GROUP_GENERAL, BN_GROUP_FILE};
  static const char *const log[] = {BN_GROUP_LOG, BN_GROUP_LATENCY};

  usage_print_man_section(options, "General options", general, sizeof general / sizeof general[0]);
  usage_print_man_group(options, "Random numbers", BN_GROUP_RAND);
  usage_print_man_section(options, "Messages and latency", log, sizeof log / sizeof log[0]);
  usage_print_man_reports(options);
  usage_print_man_group(options, "Databases", BN_CLI_DB_GROUP);
  for (const struct bn_registry_driver *d = bn_registry_drivers; d->name != NULL; d++)
    usage_print_man_group(options, d->title, d->group);
  for (size_t i = 0; bn_registry_workloads[i] != NULL; i++) {
    const struct bn_workload *workload = bn_registry_workloads[i];
    char group[BN_CLI_GROUP_MAX];

    (void)snprintf(group, sizeof group, "%s options", workload->name);
    usage_print_man_group(options, workload->title, group);
  }
  return bn_subcommand_print_man(bn_registry_subcommands, stdout);
}
