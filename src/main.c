/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The composition root: puts the layers together for one command.  Functions that run a command
   return its exit status; other functions that return int return 0, or -1 after a message. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "about.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/plugin.h"
#include "cli/cli.h"
#include "cli/subcommand.h"
#include "dialect/dialect.h"
#include "engine/run.h"
#include "engine/stop.h"
#include "engine/watch.h"
#include "hosts/agent.h"
#include "hosts/agentreport.h"
#include "hosts/bridge.h"
#include "hosts/controller.h"
#include "measure/assert.h"
#include "named_options.h"
#include "option/conf.h"
#include "option/opt.h"
#include "registry.h"
#include "report/openmetrics/listen.h"
#include "report/reporters.h"
#include "script/script.h"
#include "sql/sql.h"

enum { DRIVERS_MAX = 64, REPORTERS_MAX = 16 };

static const struct bn_plugin_kind driver_kind = BN_DRIVER_KIND;

/* The objects that main makes for a command, in this order; main_free_program frees them. */
struct program {
  struct bn_cli cli;
  char **args; /* owned: the command line as it was typed, for scripts; ends with NULL */
  struct bn_conf conf;
  void **blocks; /* owned: the values of option tables, which outlive the set */
  size_t n_blocks;
  struct bn_optset *options;
  void *report_conf[REPORTERS_MAX]; /* values of the options of each registered reporter */
  struct bn_listen_conf *listen;    /* among them: those of OpenMetrics, for --metrics-listen */
  struct bn_report_use *reporters;
  size_t n_reporters;
  struct bn_assert asserts[BN_ASSERTS_MAX];
  size_t n_asserts;
  const struct bn_watcher *watchers[BN_WATCHERS_MAX];
  size_t n_watchers;
  struct bn_sql_conf sql_conf;
  struct bn_sql_driver_entry drivers[DRIVERS_MAX];
  size_t n_drivers;
  struct bn_sqlsys *sql;
  char data_dir[PATH_MAX];
  struct bn_script *script;
  struct bn_run *run;
  struct bn_agent *agent; /* NULL: this is a run of its own */
  struct bn_ranks ranks;  /* of a launcher */
};

/* Logs the sentence of err, unless it is empty: then the reason was logged before.  Returns -1. */
static int main_refuse(const struct bn_err *err)
{
  if (err->text[0] != '\0')
    bn_log(BN_FATAL, "%s", err->text);
  return -1;
}

/* --- options --- */

/* Keeps a copy of the command line, because passwords in argv are erased (bn_cli_scrub). */
static void main_copy_args(struct program *p, int argc, char **argv)
{
  p->args = bn_alloc((size_t)argc + 1, sizeof *p->args);
  for (int i = 0; i < argc; i++)
    p->args[i] = bn_alloc_text(argv[i]);
}

/* Declares a table of options.  Returns its values, which have their defaults and belong to the
   program, or NULL after a message. */
static void *main_declare(struct program *p, const char *group, const struct bn_opt *table,
                          size_t conf_size)
{
  void *values = bn_alloc(1, conf_size);
  struct bn_err err = {0};

  p->blocks = bn_alloc_resize(p->blocks, p->n_blocks + 1, sizeof *p->blocks);
  p->blocks[p->n_blocks++] = values;
  if (bn_optset_add(p->options, group, table, values, false /* no override */, &err) == 0)
    return values;
  (void)main_refuse(&err);
  return NULL;
}

/* As main_declare, for the group "NAME options". */
static void *main_declare_of(struct program *p, const char *name, const struct bn_opt *table,
                             size_t conf_size)
{
  char *group = bn_alloc_print("%s options", name);
  void *values = main_declare(p, group, table, conf_size);

  free(group);
  return values;
}

/* Declares the options of a driver, and adds the driver to those that scripts may use. */
static int main_declare_driver(struct program *p, struct bn_sql_driver_entry d)
{
  d.conf = main_declare_of(p, d.name, d.options, d.conf_size);
  if (d.conf == NULL)
    return -1;
  p->drivers[p->n_drivers++] = d;
  return 0;
}

static int main_declare_drivers(struct program *p)
{
  for (const struct bn_registry_driver *d = bn_registry_drivers; d->name != NULL; d++)
    if (main_declare_driver(p, (struct bn_sql_driver_entry){.name = d->name,
                                                            .title = d->title,
                                                            .options = d->options,
                                                            .conf_size = d->conf_size,
                                                            .package = d->package}) != 0)
      return -1;
  return 0;
}

static int main_declare_reporters(struct program *p)
{
  char group[BN_CLI_GROUP_MAX];

  for (size_t i = 0; i < REPORTERS_MAX && bn_registry_reporters[i] != NULL; i++) {
    const struct bn_reporter *r = bn_registry_reporters[i];

    if (r->options == NULL)
      continue;
    p->report_conf[i] = main_declare(p, bn_cli_report_group(r, group), r->options, r->conf_size);
    if (p->report_conf[i] == NULL)
      return -1;
    if (r == &bn_reporter_openmetrics)
      p->listen = p->report_conf[i];
  }
  return 0;
}

static int main_declare_options(struct program *p)
{
  struct bn_err err = {0};

  p->conf.policy = p->cli.policy;
  p->options = p->cli.options = bn_optset_new(p->cli.policy);
  if (p->agent != NULL)
    bn_optset_mark_files_sent(p->options);
  if (bn_conf_add_options(&p->conf, p->options, &err) != 0 ||
      bn_optset_add(p->options, BN_CLI_DB_GROUP, bn_sql_options, &p->sql_conf, false, &err) != 0)
    return main_refuse(&err);
  return main_declare_reporters(p) != 0 || main_declare_drivers(p) != 0 ? -1 : 0;
}

/* Declares the options of the driver of --db-driver if the driver is not a part of bench.  Its
   module has to be loaded for that; bench's own modules are loaded when a database is used. */
static int main_declare_foreign_driver(struct program *p)
{
  const char *name = p->sql_conf.driver;

  if (name == NULL)
    return 0;
  for (size_t i = 0; i < p->n_drivers; i++)
    if (strcmp(p->drivers[i].name, name) == 0)
      return 0;
  const struct bn_driver *driver = bn_plugin_open(&driver_kind, name, NULL);
  /* If there is no such driver, the code that opens the database will say so. */
  if (driver == NULL || p->n_drivers == DRIVERS_MAX)
    return 0;
  return main_declare_driver(p, (struct bn_sql_driver_entry){.name = driver->name,
                                                             .title = driver->title,
                                                             .options = driver->options,
                                                             .conf_size = driver->conf_size});
}

/* Declares the options of all built-in tests, to list them.  A run declares those of its test. */
static int main_declare_workloads(struct program *p)
{
  for (const struct bn_workload *const *w = bn_registry_workloads; *w != NULL; w++)
    if (main_declare_of(p, (*w)->name, (*w)->options, (*w)->conf_size) == NULL)
      return -1;
  return 0;
}

/* Prints the help of the program, with the drivers that have a module. */
static void main_print_help(const struct program *p)
{
  char *drivers[DRIVERS_MAX];
  const size_t n = bn_plugin_list(&driver_kind, drivers, DRIVERS_MAX);

  bn_cli_print_help(&p->cli, drivers, n);
  for (size_t i = 0; i < n; i++)
    free(drivers[i]);
}

/* --- commands --- */

static int main_make_run(struct program *p, const struct bn_workload *ops, void *self,
                         const void *conf)
{
  const bool is_run = bn_cli_is_command(&p->cli, "run");
  const struct bn_run_setup setup = {.conf = &p->conf,
                                     .ops = ops,
                                     .self = self,
                                     .workload_conf = conf,
                                     .reporters = p->reporters,
                                     .n_reporters = p->n_reporters,
                                     .text = p->agent == NULL ? &bn_reporter_text : NULL,
                                     .asserts = p->asserts,
                                     .n_asserts = p->n_asserts,
                                     .workers = is_run ? p->conf.workers : 0,
                                     .watchers = p->watchers,
                                     .n_watchers = p->n_watchers,
                                     .sql = p->sql,
                                     .host_group = bn_agent_get_group(p->agent)};
  struct bn_err err = {0};

  return bn_run_new(&p->run, &setup, &err) == 0 ? 0 : main_refuse(&err);
}

/* Gives the run its facts.  The host is asked only for a report with all facts or for a watcher;
   the server, outside of dialects, only for a report with all facts. */
static void main_add_facts(struct program *p, const struct bn_workload *ops)
{
  const bool is_native = bn_policy_is_native(p->cli.policy);
  struct bn_facts facts = {.start_ns = 0};
  bool wants_all = false;

  for (size_t i = 0; i < p->n_reporters; i++)
    wants_all |= p->reporters[i].ops->facts;
  const bool wants_host = wants_all || p->n_watchers > 0;
  if (!is_native && !wants_host) /* a dialect's own report shows no facts */
    return;
  if (wants_all && is_native && p->sql != NULL)
    bn_sqlsys_ask_settings(p->sql);
  bn_about_gather(&facts, &p->cli, p->options, &p->conf.raw.labels, ops, wants_host);
  bn_run_add_facts(p->run, &facts);
}

/* Executes `run`; the run of a script exists already.  main_add_facts may hang on a dead mount, so
   signals end the program until it has returned; then a thread of the run receives them. */
static int main_execute(struct program *p, const struct bn_workload *ops, void *self,
                        const void *conf)
{
  if (p->run == NULL && main_make_run(p, ops, self, conf) != 0)
    return BN_STATUS_FAILED;
  main_add_facts(p, ops);
  bn_stop_block_signals();
  return bn_run_execute(p->run);
}

/* Executes a command other than `run`. */
static int main_run_command(struct program *p, const struct bn_workload *ops, void *self,
                            const void *conf, const struct bn_command *command)
{
  if (p->run == NULL && main_make_run(p, ops, self, conf) != 0)
    return BN_STATUS_FAILED;
  bn_stop_block_signals();
  return bn_run_command(p->run, command);
}

/* Prints the help of a test.  The run of a script exists, because its help() may use random numbers
   or a database.  Signals are not blocked, and end the program. */
static int main_print_test_help(struct program *p, const struct bn_workload *ops, void *self)
{
  struct bn_err err = {0};

  if (ops->help != NULL) {
    const int rc = ops->help(self, &err) == 0 ? 0 : main_refuse(&err);

    return rc == 0 ? BN_STATUS_OK : BN_STATUS_FAILED;
  }
  char *group = bn_alloc_print("%s options", ops->name);
  const bool has_group = bn_optset_has_group(p->options, group);

  if (has_group)
    bn_cli_print_group(group, p->options);
  else
    bn_cli_refuse_command(&p->cli, ops, self);
  free(group);
  return has_group ? BN_STATUS_OK : BN_STATUS_FAILED;
}

/* Executes the command.  A script's own comes first, even if its name is `run` or `help`. */
static int main_dispatch(struct program *p, const struct bn_workload *ops, void *self,
                         const void *conf)
{
  const char *name = p->cli.command;
  struct bn_command found;

  if (p->conf.raw.help_traits)
    return bn_cli_print_traits(p->options);
  if (ops->find_command != NULL && ops->find_command(self, name, &found))
    return main_run_command(p, ops, self, conf, &found);
  if (strcmp(name, "help") == 0)
    return main_print_test_help(p, ops, self);
  for (const struct bn_command *c = ops->commands; c != NULL && c->name != NULL; c++)
    if (strcmp(c->name, name) == 0)
      return main_run_command(p, ops, self, conf, c);
  if (strcmp(name, "run") != 0)
    bn_cli_refuse_command(&p->cli, ops, self);
  else if (!bn_cli_refuse_missing_option(&p->cli, ops))
    return main_execute(p, ops, self, conf);
  return BN_STATUS_FAILED;
}

static int main_run_builtin(struct program *p, const struct bn_workload *ops)
{
  if (p->cli.command == NULL) {
    bn_cli_require_command(&p->cli, ops->name);
    return BN_STATUS_FAILED;
  }
  void *conf = main_declare_of(p, ops->name, ops->options, ops->conf_size);
  if (conf == NULL || bn_cli_check_options(&p->cli, p->cli.policy->unknown_options_pass, 0) != 0)
    return BN_STATUS_FAILED;
  bn_cli_check_files(&p->cli, false /* no script */);
  bn_cli_note_unused(&p->cli, NULL /* no driver is used */);
  if (p->conf.raw.luajit_cmd != NULL && p->conf.raw.luajit_cmd[0] != '\0')
    bn_log_note("--luajit-cmd has no effect: the %s test is not a script", ops->name);
  if (p->cli.policy->unknown_options_pass)
    bn_cli_warn_unknown(p->options);
  return main_dispatch(p, ops, NULL, conf);
}

/* --- scripts --- */

/* Makes the run of a script, with its report hooks.  This comes before the script is executed,
   because its top level may already use the run. */
static int main_make_script_run(struct program *p)
{
  struct bn_report_use *hooks = &p->reporters[p->n_reporters++];

  *hooks = (struct bn_report_use){.out = stdout};
  hooks->ops = bn_script_reporter(p->script, &hooks->conf);
  if (main_make_run(p, bn_script_workload(p->script), bn_script_self(p->script), NULL) != 0)
    return -1;
  bn_script_attach(p->script, bn_run_main_session(p->run));
  return 0;
}

/* Makes the script and its run, and executes the top level of the script. */
static int main_open_script(struct program *p)
{
  const bool is_agent = p->agent != NULL;
  struct bn_err err = {0};

  p->sql = bn_sqlsys_new(&p->sql_conf, p->conf.policy, p->drivers, p->n_drivers);
  if (bn_plugin_data_dir(p->data_dir, sizeof p->data_dir, &err) == NULL)
    return main_refuse(&err);
  const struct bn_script_setup setup = {
      .name = p->cli.test,
      .hides_name = p->cli.hides_test,
      .command = p->cli.command,
      .argc = p->cli.argc,
      .argv = p->args,
      .conf = &p->conf,
      .options = p->options,
      .sql = p->sql,
      .data_dir = p->data_dir,
      .sent_dir = bn_agent_get_folder(p->agent),
      .prints_apart = bn_policy_is_native(p->cli.policy) &&
                      bn_cli_prints_document(&p->cli, p->reporters, p->n_reporters),
      .compare = is_agent ? bn_agent_compare_source : NULL,
      .other = p->agent,
      .is_part = is_agent,
      .is_first = is_agent && bn_agent_get_group(p->agent)->first == 0,
      .is_share = !bn_host_group_is_alone(bn_agent_get_group(p->agent)),
      .is_workload = bn_registry_is_script};

  p->script = bn_script_new(&setup);
  if (main_make_script_run(p) != 0)
    return -1;
  if (bn_script_load(p->script, &err) == 0)
    return 0;
  bn_cli_refuse_script(&p->cli, &err);
  return -1;
}

/* Makes the run again, because the script has set defaults of options from which the run was made.
   Connections that the top level of the script has opened are closed. */
static int main_remake_run(struct program *p)
{
  struct bn_optset_fault fault;
  struct bn_run *old = p->run;

  if (bn_conf_finish(&p->conf, p->options, &fault) != 0) {
    bn_cli_print_fault(&p->cli, &fault);
    return -1;
  }
  bn_cli_set_messages(&p->cli, &p->conf, p->agent != NULL);
  bn_sql_session_end(p->sql, bn_run_main_session(old));
  if (main_make_run(p, bn_script_workload(p->script), bn_script_self(p->script), NULL) != 0)
    return -1;
  bn_script_attach(p->script, bn_run_main_session(p->run));
  bn_run_free(old);
  return 0;
}

/* Settles the options of a loaded script, and completes its run. */
static int main_prepare_script(struct program *p)
{
  const struct bn_metric *metrics = bn_script_metrics(p->script);
  struct bn_err err = {0};
  bool accepts_any = false;

  if (bn_script_read_options(p->script, &accepts_any, &err) != 0)
    return main_refuse(&err);
  if (bn_cli_check_options(&p->cli, accepts_any, bn_agent_count_outside(p->agent)) != 0)
    return -1;
  /* sysbench warns of a file's options when it exports them, and exports nothing for help. */
  if (!p->cli.policy->help_skips_files || !bn_cli_is_command(&p->cli, "help"))
    bn_cli_check_files(&p->cli, true /* a script */);
  if (bn_script_has_run_defaults(p->script) && main_remake_run(p) != 0)
    return -1;
  if (bn_script_export_options(p->script) != 0)
    return -1;
  /* The run was made before the script declared its metrics. */
  if (metrics != NULL && bn_run_set_metrics(p->run, metrics, &err) != 0)
    return main_refuse(&err);
  return 0;
}

static int main_run_script(struct program *p)
{
  if (main_open_script(p) != 0)
    return BN_STATUS_FAILED;
  /* Without a command, and from standard input, only the top level is executed. */
  if (p->cli.command == NULL || strcmp(p->cli.test, "-") == 0) {
    bn_cli_check_files(&p->cli, false /* as without a script */);
    return BN_STATUS_OK;
  }
  if (main_prepare_script(p) != 0)
    return BN_STATUS_FAILED;
  bn_cli_note_unused(&p->cli, p->sql_conf.driver != NULL ? p->sql_conf.driver : "");
  return main_dispatch(p, bn_script_workload(p->script), bn_script_self(p->script), NULL);
}

/* Opens the two reports of an agent, the document of the whole run and the intervals as they end.
   Both go to the controller, which prints the reports that the user wants. */
static int main_open_agent_reports(struct program *p)
{
  if (bn_cli_open_reports(NULL, &p->reporters, &p->n_reporters) != 0)
    return -1;
  p->reporters[p->n_reporters++] = (struct bn_report_use){.ops = &bn_reporter_json_total,
                                                          .out = bn_agent_open_document(p->agent)};
  p->reporters[p->n_reporters++] =
      (struct bn_report_use){.ops = &bn_reporter_agent, .conf = p->agent};
  return 0;
}

/* Opens the reports of the run.  Those of --report get the options of their reporters. */
static int main_open_reports(struct program *p)
{
  if (p->agent != NULL)
    return main_open_agent_reports(p);
  if (bn_cli_open_reports(&p->conf.raw.reports, &p->reporters, &p->n_reporters) != 0)
    return -1;
  for (size_t k = 0; k < p->n_reporters; k++)
    for (size_t i = 0; i < REPORTERS_MAX && bn_registry_reporters[i] != NULL; i++)
      if (p->reporters[k].ops == bn_registry_reporters[i])
        p->reporters[k].conf = p->report_conf[i];
  return 0;
}

/* Adds a line on the terminal that shows the progress of a run without --report-interval. */
static void main_add_live_line(struct program *p)
{
  const bool is_wanted = p->conf.plan.interval_ns == 0 && bn_log_get_verbosity() >= BN_NOTICE &&
                         bn_log_has_asides() && bn_cli_is_command(&p->cli, "run");

  if (is_wanted && isatty(STDERR_FILENO) == 1)
    p->reporters[p->n_reporters++] = (struct bn_report_use){.ops = &bn_reporter_live};
}

/* Adds the reports that --report does not name: the live line, the page of --metrics-listen. */
static int main_add_unnamed_reports(struct program *p)
{
  struct bn_err err = {0};

  main_add_live_line(p);
  if (bn_listen_new(p->listen, &err) != 0)
    return main_refuse(&err);
  if (p->listen->page != NULL)
    p->reporters[p->n_reporters++] =
        (struct bn_report_use){.ops = &bn_reporter_listen, .conf = p->listen};
  return 0;
}

/* Sets the options that the URI of --connect stands for.  sysbench has no --connect: in a dialect,
   a value that is no URI is meant for an option of the script. */
static int main_apply_uri(struct program *p)
{
  const char *uri = p->sql_conf.connect;

  if (uri != NULL && !bn_policy_is_native(p->cli.policy) && strstr(uri, "://") == NULL)
    return 0;
  return bn_cli_apply_uri(p->options, uri, p->sql_conf.driver);
}

/* Completes and checks the options before the banner is printed, and opens the reports.  The order
   counts: the URI may name the driver, whose options come next; options set the log level. */
static int main_finish_options(struct program *p)
{
  struct bn_optset_fault fault;

  /* Scripts see the test under the name it has in 0.5. */
  if (p->cli.test != NULL && p->cli.test != p->conf.raw.test)
    (void)bn_optset_set(p->options, "test", p->cli.test, p->cli.test);
  if (main_apply_uri(p) != 0 || main_declare_foreign_driver(p) != 0)
    return -1;
  p->cli.warned = p->agent != NULL;
  bn_cli_resolve_aliases(&p->cli);
  if (bn_conf_finish(&p->conf, p->options, &fault) != 0) {
    bn_cli_print_fault(&p->cli, &fault);
    return -1;
  }
  p->cli.settled = true; /* messages have prefixes from now on */
  bn_cli_set_messages(&p->cli, &p->conf, p->agent != NULL);
  if (bn_cli_check_reserved(&p->cli) != 0 || bn_named_check_labels(&p->conf.raw.labels) != 0)
    return -1;
  if (p->agent == NULL && bn_named_asserts(&p->conf.raw.asserts, p->asserts, &p->n_asserts) != 0)
    return -1;
  if (bn_named_find_watchers(&p->conf.raw.watch, bn_agent_is_first(p->agent), p->watchers,
                             &p->n_watchers) != 0 ||
      main_open_reports(p) != 0)
    return -1;
  return p->agent == NULL ? main_add_unnamed_reports(p) : 0;
}

/* Prints the help, because --test is missing.  Returns OK if the user has asked for help. */
static int main_print_help_without_test(const struct program *p)
{
  main_print_help(p);
  if (bn_cli_is_command(&p->cli, "help"))
    return BN_STATUS_OK;
  bn_log_stderr("Missing required argument: --test.");
  return BN_STATUS_FAILED;
}

/* Reads the command line.  Returns 0, or -1 after a message and, if p->cli wants it, the help. */
static int main_parse_arguments(struct program *p)
{
  if (bn_cli_parse(&p->cli) == 0)
    return 0;
  if (p->cli.wants_help)
    main_print_help(p);
  return -1;
}

static void main_free_program(struct program *p)
{
  /* The objects that the main thread's script has opened are closed while its session exists. */
  if (p->run != NULL && p->sql != NULL)
    bn_sql_session_end(p->sql, bn_run_main_session(p->run));
  if (p->script != NULL)
    bn_script_detach(p->script);
  bn_run_free(p->run);
  free(p->reporters);
  /* The set frees what it put into the values, a script's own among them. */
  bn_optset_free(p->options);
  bn_conf_done(&p->conf);
  bn_script_free(p->script);
  bn_sqlsys_free(p->sql);
  for (size_t i = 0; i < p->n_blocks; i++)
    free(p->blocks[i]);
  free(p->blocks);
  for (size_t i = 0; p->args != NULL && p->args[i] != NULL; i++)
    free(p->args[i]);
  free(p->args);
}

/* Loads a bundled script into q, a program of its own, as `help` would, so that its options are
   known.  main_free_program frees q, also after a failure. */
static int main_load_bundled(struct program *q, const char *name)
{
  main_copy_args(q, 0, NULL);
  q->cli = (struct bn_cli){.policy = &bn_policy_bench, .test = name, .command = "help"};
  if (main_declare_options(q) != 0 || main_finish_options(q) != 0 || main_open_script(q) != 0)
    return -1;
  return main_prepare_script(q);
}

static int main_complete_script(const struct bn_registry_script *script)
{
  struct program q = {0};
  const int rc = main_load_bundled(&q, script->name);

  if (rc == 0)
    bn_completion_print_script(script->name, script->title, bn_script_workload(q.script),
                               bn_script_self(q.script), q.options);
  main_free_program(&q);
  return rc;
}

static int main_print_completion(struct program *p)
{
  if (main_declare_workloads(p) != 0)
    return -1;
  const char *const *rest = bn_completion_begin((enum bn_shell)p->conf.raw.completion);

  if (bn_completion_print_bench(p->options) != 0)
    return -1;
  for (size_t i = 0; bn_registry_scripts[i].name != NULL; i++)
    if (main_complete_script(&bn_registry_scripts[i]) != 0)
      return -1;
  bn_completion_end(rest);
  return 0;
}

/* Prints a text that needs no test, such as the help, and sets *status to the exit status.  Returns
   false if the user has asked for no such text. */
static bool main_print_text_without_test(struct program *p, int *status)
{
  const bool by_words = p->cli.policy->words_are_commands;
  int rc = 0;

  if (p->conf.raw.help && !by_words)
    main_print_help(p);
  else if (p->conf.raw.version || (by_words && bn_cli_is_command(&p->cli, "version")))
    bn_cli_print_version(&p->cli);
  else if (p->conf.raw.help_man)
    rc = main_declare_workloads(p) == 0 ? bn_cli_print_man(p->options) : -1;
  else if (p->conf.raw.completion != BN_SHELL_NONE)
    rc = main_print_completion(p);
  else
    return false;
  *status = rc == 0 ? BN_STATUS_OK : BN_STATUS_FAILED;
  return true;
}

static int main_run_subcommand(struct program *p, const struct bn_subcommand *sub, int argc,
                               char **argv)
{
  struct bn_err err = {0};

  main_copy_args(p, argc, argv);
  const struct bn_subcommand_args args = {
      .argc = argc, .argv = p->args, .shown = argv, .traits_of = bn_about_traits};
  const int status = bn_subcommand_run(sub, &args, stdout, &err);
  if (err.text[0] != '\0')
    bn_log_stderr("bench %s: %s", sub->name, err.text);
  return status;
}

/* Runs the test on several hosts.  ops NULL: a script, whose kind is known when it runs. */
static int main_run_hosts(struct program *p, const struct bn_workload *ops)
{
  /* A group may have --verify-commits for itself. */
  const bool verifies = ops == NULL && (p->sql_conf.verify_commits || p->conf.raw.groups.n > 0);
  const struct bn_hosts_setup setup = {.conf = &p->conf,
                                       .options = p->options,
                                       .ranks = &p->ranks,
                                       .args = p->args,
                                       .test = p->cli.test,
                                       .command = p->cli.command,
                                       .groups = &p->conf.raw.groups,
                                       .no_script = bn_cli_describe_reserved,
                                       .is_builtin = ops != NULL,
                                       .find_tables = bn_registry_find_tables,
                                       .kinds = ops != NULL ? 1U << ops->kind : UINT_MAX,
                                       .statements = ops == NULL && p->sql_conf.statements,
                                       .local =
                                           bn_registry_is_local(p->cli.test, p->sql_conf.driver),
                                       .is_local = bn_cli_is_local,
                                       .verify_s = verifies ? BN_SQL_VERIFY_S : 0,
                                       .verify_hurry_s = verifies ? BN_SQL_VERIFY_HURRY_S : 0,
                                       .reporters = p->reporters,
                                       .n_reporters = p->n_reporters,
                                       .text = &bn_reporter_text,
                                       .asserts = p->asserts,
                                       .n_asserts = p->n_asserts};

  return bn_hosts_run(&setup);
}

/* Prints the banner, and executes the command of the test, on several hosts if they are named. */
static int main_run_test(struct program *p)
{
  if (!p->conf.raw.quiet && p->agent == NULL &&
      !bn_cli_prints_document(&p->cli, p->reporters, p->n_reporters))
    bn_cli_print_banner(&p->cli, bn_script_luajit_version());
  if (p->cli.policy->words_are_commands && p->cli.test == NULL)
    return main_print_help_without_test(p);
  const struct bn_workload *ops = bn_registry_find_workload(p->cli.test);
  if (p->agent == NULL && bn_hosts_are_wanted(&p->conf, &p->ranks, p->cli.test, p->cli.command))
    return main_run_hosts(p, ops);
  return ops != NULL ? main_run_builtin(p, ops) : main_run_script(p);
}

/* Runs a subcommand or a test.  Passwords in argv are erased as soon as the options are read. */
static int main_run_program(struct program *p, int argc, char **argv)
{
  const struct bn_subcommand *sub = bn_subcommand_find_asked(bn_registry_subcommands, argc, argv);
  int status;

  if (sub != NULL)
    return main_run_subcommand(p, sub, argc, argv);
  if (bn_cli_begin(&p->cli, argc, argv) != 0)
    return BN_STATUS_FAILED;
  if (p->cli.policy->fatal_on_stderr)
    bn_log_separate_errors();
  main_copy_args(p, argc, argv);
  if (main_declare_options(p) != 0 || main_parse_arguments(p) != 0)
    return BN_STATUS_FAILED;
  bn_cli_scrub(&p->cli);
  if (bn_cli_decide_words(&p->cli, &p->conf.raw) != 0)
    return BN_STATUS_FAILED;
  if (main_print_text_without_test(p, &status))
    return status;
  if (p->cli.policy->words_are_commands && p->cli.command == NULL) {
    bn_log_stderr("Missing required command argument.");
    main_print_help(p);
    return BN_STATUS_FAILED;
  }
  return main_finish_options(p) == 0 ? main_run_test(p) : BN_STATUS_FAILED;
}

/* Runs the program as the agent of a controller, from which the command line comes. */
static int main_run_agent(struct program *p)
{
  struct bn_err err = {0};

  if (bn_agent_open(&p->agent, &err) == 0) {
    bn_log_start();
    return main_run_program(p, bn_agent_get_argc(p->agent), bn_agent_get_argv(p->agent));
  }
  if (err.text[0] != '\0')
    bn_log_stderr("%s", err.text);
  return BN_STATUS_FAILED;
}

/* Runs an agent, a bridge of a launcher, whose status is not negative, or the program. */
static int main_run(struct program *p, int argc, char **argv)
{
  if (bn_agent_is_wanted(argc, argv))
    return main_run_agent(p);
  bn_log_start();
  const int status = bn_bridge_enter(&p->ranks, argc, argv, bn_subcommand_scrub);
  return status < 0 ? main_run_program(p, argc, argv) : status;
}

/* Returns `status` or, if that is OK, the status that a failure of standard output gives. */
static int main_check_output(int status)
{
  int output_status = BN_STATUS_OK;

  if (bn_stop_has_lost_reader())
    output_status = BN_STATUS_SIGNAL + SIGPIPE;
  else if (bn_cli_check_output() != 0)
    output_status = BN_STATUS_FAILED;
  return status == BN_STATUS_OK ? output_status : status;
}

int main(int argc, char **argv)
{
  struct program p = {0};

  bn_stop_watch_reader();
  /* A write beyond the limit of file sizes then fails, and does not end the program. */
  (void)signal(SIGXFSZ, SIG_IGN);
  int status = bn_file_open_standard() == 0 ? main_run(&p, argc, argv) : BN_STATUS_FAILED;
  bn_log_print_more_threads();
  if (bn_cli_close_reports(p.reporters, p.n_reporters) != 0 && status == BN_STATUS_OK)
    status = BN_STATUS_FAILED;
  status = main_check_output(status);
  if (p.listen != NULL)
    bn_listen_end(p.listen, bn_stop_was_asked() /* at_once */);
  if (p.agent != NULL)
    bn_agent_send_end(p.agent, status);
  /* Workers that hang use what main_free_program would free. */
  if (p.run != NULL && bn_run_is_abandoned(p.run))
    _exit(status);
  /* Finalizers of a script and logging out of a server may hang: signals end the program again. */
  bn_stop_release_signals();
  main_free_program(&p);
  bn_agent_free(p.agent);
  return status;
}
