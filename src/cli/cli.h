/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: its dialect, test, command and settings; and every text about it. */
#ifndef BN_CLI_CLI_H
#define BN_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "api/report.h"
#include "api/workload.h"
#include "option/conf.h"
#include "option/opt.h"

enum { BN_CLI_HINT_MAX = 160, BN_CLI_MIX_MAX = 4096 };

/* The name of the group of bn_sql_options in the help. */
#define BN_CLI_DB_GROUP "General database options"

/* The command line as far as it was read.  Only the main thread uses it. */
struct bn_cli {
  int argc;
  char **argv; /* main's; bn_cli_scrub overwrites passwords in it */
  const struct bn_policy *policy;
  struct bn_optset *options; /* borrowed; set by the caller after bn_cli_begin() */
  const char *test;      /* NULL: none; "-": standard input; several, as option/mix.h has them */
  const char *command;   /* NULL: none */
  const char *bare_test; /* "--test" without a value, an unknown option; NULL: not given */
  bool after_hidden;     /* while arguments are read: the next word may be a value to be hidden */
  bool hides_test, hides_command; /* the word may be such a value, and is not printed */
  bool settled;                   /* the general options are checked: the logger has its prefixes */
  bool warned;       /* the process that started this one has warned of old names of options */
  bool wants_help;   /* if bn_cli_parse has failed, its caller prints the help */
  const char *empty; /* "--threads=" before a word; NULL: there is none */
  char empty_hint[BN_CLI_HINT_MAX]; /* with `empty`: the argument that was probably meant */
  char hint[BN_CLI_HINT_MAX]; /* the argument that was probably meant, "--threads=4"; "": none */
  char mix[BN_CLI_MIX_MAX];   /* the workloads, if the command line has several */
};

/* Functions that return int return 0, or -1 after a message, if nothing else is said. */

/* Initialises cli, and chooses the dialect: --compat, else $BENCH_COMPAT, else the name of the
   program. */
int bn_cli_begin(struct bn_cli *cli, int argc, char **argv);
/* Reads every argument: sets the options, of which unknown ones stay pending in the set, and finds
   the test and the command.  After a failure, cli->wants_help makes the caller print the help. */
int bn_cli_parse(struct bn_cli *cli);
/* Decides which words are the test and the command.  The test of a configuration file counts if no
   --test and no two words are typed; its text must live as long as cli.  "help TEST" and "TEST
   --help" become the command `help` of the test; raw->help becomes whether the help of the program
   is wanted.  With --group, a single word is the command. */
int bn_cli_decide_words(struct bn_cli *cli, struct bn_conf_raw *raw);
/* Returns "a subcommand", "a built-in test" or "a command" for a word that is reserved as such and
   cannot be the script of a group, or NULL for any other word. */
const char *bn_cli_describe_reserved(const char *word);
/* Returns whether the command has this name. */
bool bn_cli_is_command(const struct bn_cli *cli, const char *name);
/* Returns whether the word is a command that no script has to define. */
bool bn_cli_is_command_name(const char *word);
/* Calls use(arg, name) for each command of a script but `run` and `help`, which callers add: first
   those that many scripts have, then the others in alphabetical order.  ops has find_command and
   next_command. */
void bn_cli_each_script_command(const struct bn_workload *ops, void *self,
                                void (*use)(void *arg, const char *name), void *arg);
/* Sets which messages are printed, by --verbosity and --quiet.  An agent is quiet in a run, because
   its controller would print the messages of each host; any other command runs on one host.  The
   reports still have the typed level of --verbosity. */
void bn_cli_set_messages(const struct bn_cli *cli, const struct bn_conf *conf, bool is_agent);
/* Overwrites the values of secret options in the argument vector, which `ps` shows. */
void bn_cli_scrub(struct bn_cli *cli);

/* Sets the driver and its options to the values in the URI of --connect, as if they had been typed.
   An option keeps its value if the user has set it in the same place as --connect, or on the
   command line.  uri NULL or "": none was given.  typed_driver: the value of --db-driver.  Messages
   show no password. */
int bn_cli_apply_uri(struct bn_optset *options, const char *uri, const char *typed_driver);
/* Returns whether a script has separate data on each host, because its driver has no server.  The
   driver is that of the URI, if it is known, or else `driver`, the value of --db-driver.  NULL: the
   option is not given. */
bool bn_cli_is_local(const char *driver, const char *uri);

/* Refuses an argument, number `position`, that begins with a typographic dash, or that has, beside
   its name or value, a character that looks like a blank but is none for the shell. */
int bn_cli_check_pasted(const char *arg, int position);
/* Adds the workload `word` to those in cli->test, or fails if they cannot be in one run.  Messages
   show `shown` in the place of the word. */
int bn_cli_add_workload(struct bn_cli *cli, const char *word, const char *shown);
/* Fails if a workload of cli->test cannot be one of several. */
int bn_cli_check_workloads(const struct bn_cli *cli);
/* If there are groups, makes the single word of the command line, which was taken for the test, the
   command.  Fails if there are two words, or the dialect has no groups. */
int bn_cli_use_word_for_groups(struct bn_cli *cli, size_t n_groups);

/* Prints "PROGRAM VERSION", those of sysbench in a dialect. */
void bn_cli_print_version(const struct bn_cli *cli);
/* Prints the first line of a run.  luajit: the version of the library. */
void bn_cli_print_banner(const struct bn_cli *cli, const char *luajit);
/* Prints the help of the program.  drivers: the names of the modules that are installed. */
void bn_cli_print_help(const struct bn_cli *cli, char *const *drivers, size_t n_drivers);
/* Writes the name of the group of a report's options to `group`, and returns it. */
enum { BN_CLI_GROUP_MAX = 64 };
const char *bn_cli_report_group(const struct bn_reporter *r, char group[BN_CLI_GROUP_MAX]);
/* Prints "GROUP:", the lines of its options and an empty line. */
void bn_cli_print_group(const char *group, const struct bn_optset *options);
/* Prints the lines of a group's options and an empty line, without a heading. */
void bn_cli_print_option_lines(const char *group, const struct bn_optset *options);
/* Prints a line "option NAME TRAITS" for each option, for a study that has to know those of a
   script.  Returns EXIT_SUCCESS. */
int bn_cli_print_traits(const struct bn_optset *options);
/* Prints the options as sections of the manual pages; `options` has those of all tests.  Fails if
   the declaration of a study is wrong. */
int bn_cli_print_man(const struct bn_optset *options);

/* Prints the code with which a shell, not BN_SHELL_NONE, completes command lines, up to its table
   of tests, commands and options.  Returns the lines after the table, for bn_completion_end. */
const char *const *bn_completion_begin(enum bn_shell shell);
/* Prints the rows of the built-in tests, the subcommands and every option of the set, which has the
   options of all built-in tests. */
int bn_completion_print_bench(const struct bn_optset *options);
/* Prints the rows of a bundled script that is loaded, and of its own options in the set. */
void bn_completion_print_script(const char *name, const char *title, const struct bn_workload *ops,
                                void *self, const struct bn_optset *options);
/* Prints the code after the table. */
void bn_completion_end(const char *const *rest);

/* Warns of deprecated names of options, and moves their values to the present names. */
void bn_cli_resolve_aliases(struct bn_cli *cli);
/* Says what is wrong with a value. */
void bn_cli_print_fault(const struct bn_cli *cli, const struct bn_optset_fault *fault);
/* Fails if a value is wrong, or if an option of the command line is unknown.  accept_any: unknown
   options are accepted.  n_outside: how many arguments, from the first on, stand outside of the
   groups of a run. */
int bn_cli_check_options(const struct bn_cli *cli, bool accept_any, size_t n_outside);
/* Refuses `run` if the option that the test requires is not set.  Returns true after a message, or
   false if the test requires no option, or it is set. */
bool bn_cli_refuse_missing_option(const struct bn_cli *cli, const struct bn_workload *ops);
/* Notes that an option of a database driver on the command line is not used: because the test opens
   no connection (driver NULL), or because no driver was named, and the option is not one of
   `driver`, the default. */
void bn_cli_note_unused(const struct bn_cli *cli, const char *driver);
/* Says why bn_script_load has failed with err, and suggests the test that was probably meant. */
void bn_cli_refuse_script(const struct bn_cli *cli, const struct bn_err *err);
/* Notes each option of the command line that no test knows.  It is called if the test accepts
   unknown options. */
void bn_cli_warn_unknown(struct bn_optset *options);
/* Notes the unknown options of configuration files, with the numbers of their lines, or in the form
   of the dialect.  is_script: the test is a script. */
void bn_cli_check_files(const struct bn_cli *cli, bool is_script);
/* Fails if the name of the test is that of a subcommand, or if one of several workloads cannot run
   beside others. */
int bn_cli_check_reserved(const struct bn_cli *cli);

/* Says, in the words of sysbench, that the command is missing. */
void bn_cli_require_command(const struct bn_cli *cli, const char *test);
/* Says that the test does not have the command, and suggests one that it has. */
void bn_cli_refuse_command(const struct bn_cli *cli, const struct bn_workload *ops, void *self);
/* Suggests a test, after the FATAL line that says that there is no such test. */
void bn_cli_suggest_test(const struct bn_cli *cli);
/* Fails if part of the standard output was lost. */
int bn_cli_check_output(void);

/* Opens the reports that --report names, into a new array of *n of them.  *reports has room for
   BN_CLI_MORE_REPORTS after them: the line on a terminal, the page of metrics and the hooks of a
   script.  The caller frees *reports and closes the reports in it, also after a failure.  wanted
   NULL: none is opened; a list without names is refused. */
enum { BN_CLI_MORE_REPORTS = 3 };
int bn_cli_open_reports(const struct bn_list *wanted, struct bn_report_use **reports, size_t *n);
/* Returns whether a run writes a document, and no text report, to standard output.  Nothing else
   may be printed there then, because a program reads the document. */
bool bn_cli_prints_document(const struct bn_cli *cli, const struct bn_report_use *reports,
                            size_t n);
/* Closes the files of the reports.  Fails if one of them could not be written to its end. */
int bn_cli_close_reports(const struct bn_report_use *reports, size_t n);

#endif
