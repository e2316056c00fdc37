/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a run, what each has to do, and the start of their agents. */
#include "hosts/fleet.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mask.h"

static bool fleet_has_value(const char *value)
{
  return value != NULL && value[0] != '\0';
}

bool bn_fleet_has_groups(const struct bn_fleet *f)
{
  return f->groups->n > 0;
}

const char *bn_fleet_name_parts(const struct bn_fleet *f)
{
  if (!bn_fleet_has_groups(f))
    return "hosts";
  return f->list.n > 0 ? "processes" : "groups";
}

static bool fleet_has_ranks(const struct bn_fleet *f)
{
  return f->setup->ranks != NULL && f->setup->ranks->n > 0;
}

bool bn_fleet_is_urged(const struct bn_fleet *f)
{
  const int signo = f->stop_signal.first.signo;

  return fleet_has_ranks(f) && signo != 0 && signo != SIGPIPE;
}

/* Adds the hosts of --hosts-file.  Returns 0, or -1 and err. */
static int fleet_read_hosts_file(struct bn_fleet *f, const char *path, struct bn_err *err)
{
  enum { FILE_BYTES_MAX = 1 << 20 }; /* a wrong name may be that of a large file */
  struct bn_buf text = {.max = FILE_BYTES_MAX};
  char masked[BN_MASK_MAX];
  int rc;

  if (bn_file_read(path, &text) != 0)
    rc = bn_err_set(err, errno, "cannot read --hosts-file=%s: %s", bn_mask_text(path, masked),
                    strerror(errno));
  else
    rc = bn_work_split_add_file(&f->list, text.data, path, err);
  bn_buf_done(&text);
  return rc;
}

/* Lists the hosts: the ranks of a launcher, or those of --hosts and --hosts-file.  Returns 0, or -1
   and err. */
static int fleet_read_hosts(struct bn_fleet *f, struct bn_err *err)
{
  const struct bn_conf_raw *r = &f->setup->conf->raw;

  if (fleet_has_ranks(f) && bn_conf_lists_hosts(f->setup->conf))
    return bn_err_set(err, EINVAL,
                      "--hosts and --hosts-file cannot be used under a launcher of MPI: its "
                      "processes are the hosts");
  if (fleet_has_ranks(f))
    return bn_ranks_add_hosts(f->setup->ranks, &f->list, err);
  if (fleet_has_value(r->hosts) && bn_work_split_add(&f->list, r->hosts, err) != 0)
    return -1;
  return fleet_has_value(r->hosts_file) ? fleet_read_hosts_file(f, r->hosts_file, err) : 0;
}

/* Refuses a command line that several hosts cannot execute: one without a test or a command, with
   the script "-", which only this process can read from standard input, or with a profile that
   cannot be divided or sent.  Returns 0, or -1 and err. */
static int fleet_check_without_groups(const struct bn_hosts_setup *s, struct bn_err *err)
{
  if (s->test == NULL || strcmp(s->test, "-") == 0 || s->command == NULL)
    return bn_err_set(err, EINVAL,
                      "--hosts needs a test and a command, for example: bench --hosts=a,b cpu run");
  return bn_group_work_check_profile(s->conf, err);
}

/* Returns whether groups take part as processes of this host: the run has no other hosts. */
static bool fleet_has_groups_here(const struct bn_fleet *f)
{
  return bn_fleet_has_groups(f) && f->list.n == 0;
}

/* Returns whether a group has data of its own on each host. */
static bool fleet_is_group_local(const struct bn_hosts_setup *s, const struct bn_group_words *g)
{
  const char *driver = bn_groups_find_value(g, s->options, "db-driver");
  const char *uri = bn_groups_find_value(g, s->options, "connect");

  if (driver == NULL && uri == NULL) /* the group has those of the command line */
    return s->local;
  return s->is_local(driver, uri);
}

/* Returns whether each host executes the whole command for data of its own, as each group here
   does. */
static bool fleet_has_local_data(const struct bn_fleet *f)
{
  if (f->is_run)
    return false;
  if (!bn_fleet_has_groups(f))
    return f->setup->local;
  /* Another command than `run` is executed for one group after the other: there is one group. */
  return fleet_has_groups_here(f) || fleet_is_group_local(f->setup, &f->groups->group[0]);
}

/* Returns the length of the intervals that hosts send, or 0 for none.  Assertions that may end the
   run are judged at each interval, so hosts send one each second for them if none is reported. */
static uint64_t fleet_get_interval_ns(const struct bn_conf *conf)
{
  if (conf->plan.interval_ns == 0 && conf->raw.abort_on_assert_s > 0)
    return BN_NSEC_PER_SEC;
  return conf->plan.interval_ns;
}

/* Adds the connection to a host, or to a process here if `host` is NULL, which has this share of
   the work of a group, or of a run without groups.  `rank` is -1 without a launcher. */
static void fleet_add_connection(struct bn_fleet *f, char *host, int rank, size_t group,
                                 const struct bn_work_split *share)
{
  struct bn_connection *c = &f->connection[f->n_all];

  *c = (struct bn_connection){.intervals = &f->intervals,
                              .printer = &f->printer,
                              .line = &f->line,
                              .sources = &f->sources,
                              .host = host,
                              .group = bn_fleet_has_groups(f) ? f->groups->group[group].name : NULL,
                              .number = f->n_all,
                              .group_number = group,
                              .rank = rank,
                              .work = *share,
                              .link = {.to = {.fd = -1}, .out = -1, .errors = -1},
                              .statements = f->setup->statements,
                              .local_data = fleet_has_local_data(f)};
  /* The sessions of a run are numbered over all hosts, and use the data of their numbers.  So a
     host prepares the data of all sessions if it has data of its own. */
  if (c->local_data && host != NULL)
    c->work = (struct bn_work_split){.threads = (unsigned)f->group_work[group].sessions};
  bn_connection_set_name(c);
  f->n_all++;
}

/* Adds the connection to group i here.  The group is sent --threads-total, as its threads, and
   reads its other options itself.  Returns 0, or -1 and err. */
static int fleet_add_group_here(struct bn_fleet *f, size_t i, struct bn_err *err)
{
  const struct bn_group_words *g = &f->groups->group[i];
  struct bn_group_work *work = &f->group_work[i];
  struct bn_work_split share = {.threads = 0};

  if (bn_group_work_read(g, f->setup->options, true /* is_here */, work, err) != 0)
    return -1;
  share.threads = work->total.threads_total;
  fleet_add_connection(f, NULL /* host */, -1 /* rank */, i, &share);
  return 0;
}

/* Adds the connections to the first n hosts of the list, which have these shares of the work of a
   group. */
static void fleet_add_hosts(struct bn_fleet *f, size_t n, size_t group,
                            const struct bn_work_split *share)
{
  for (size_t i = 0; i < n; i++)
    fleet_add_connection(f, f->list.host[i].name, fleet_has_ranks(f) ? (int)i : -1, group,
                         &share[i]);
  f->sessions += f->group_work[group].sessions;
}

/* Adds the connections to all hosts of a run without groups, and divides the threads, the events
   and the rate of the options among them.  Returns 0, or -1 and err. */
static int fleet_add_all_hosts(struct bn_fleet *f, struct bn_err *err)
{
  struct bn_group_work *work = &f->group_work[0];
  struct bn_work_split share[BN_WORK_SPLIT_HOSTS];

  *work = bn_group_work_get(f->setup->conf);
  if (bn_work_split_divide(&f->list, &work->total, share, &work->sessions, err) != 0)
    return -1;
  fleet_add_hosts(f, f->list.n, 0 /* group */, share);
  return 0;
}

/* Adds the connections to the hosts of group i, and divides its work among them.  Returns 0, or -1
   and err. */
static int fleet_add_group_on_hosts(struct bn_fleet *f, size_t i, struct bn_err *err)
{
  const struct bn_group_words *g = &f->groups->group[i];
  struct bn_group_work *work = &f->group_work[i];
  struct bn_work_split share[BN_WORK_SPLIT_HOSTS] = {{.threads = 0}};
  size_t n; /* the first n hosts have a share; the others have no thread of the group */

  if (bn_group_work_read(g, f->setup->options, false /* is_here */, work, err) != 0 ||
      bn_group_work_divide(g, work, &f->list, share, &n, err) != 0)
    return -1;
  /* A host without a thread of this group may have threads of another group that uses the same
     data, so it executes the command, too. */
  if (fleet_has_local_data(f))
    n = f->list.n;
  if (f->n_all + n > BN_WORK_SPLIT_HOSTS)
    return bn_err_set(err, BN_ERR_OPTION,
                      "--group: %zu groups on %zu hosts need more than %d processes; use fewer "
                      "groups or hosts",
                      f->groups->n, f->list.n, BN_WORK_SPLIT_HOSTS);
  fleet_add_hosts(f, n, i, share);
  return 0;
}

/* Adds the connections to all groups here, or to all groups on hosts.  Returns 0, or -1 and err. */
static int fleet_add_groups(struct bn_fleet *f, struct bn_err *err)
{
  const bool are_here = fleet_has_groups_here(f);
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < f->groups->n; i++)
    rc = are_here ? fleet_add_group_here(f, i, err) : fleet_add_group_on_hosts(f, i, err);
  return rc;
}

/* Refuses a number of threads after the name of a host, because with groups each group has numbers
   of its own.  Returns 0, or -1 and err. */
static int fleet_check_thread_numbers(const struct bn_fleet *f, struct bn_err *err)
{
  for (size_t i = 0; i < f->list.n; i++)
    if (f->list.host[i].threads > 0)
      return bn_err_set(err, BN_ERR_OPTION,
                        "--hosts: '%.200s:%u' has a number of threads, which cannot be used with "
                        "--group: each group has threads of its own (--threads, --threads-total)",
                        f->list.host[i].name, f->list.host[i].threads);
  return 0;
}

static void fleet_init_intervals(struct bn_fleet *f)
{
  const struct bn_conf *conf = f->setup->conf;

  bn_intervals_init(&f->intervals, f->n_all, (double)fleet_get_interval_ns(conf) * 1e-9);
  bn_intervals_set_checkpoints(&f->intervals, conf->plan.checkpoint_ns, conf->plan.n_checkpoints);
  for (size_t i = 0; i < f->n_all; i++)
    f->intervals.host[i].group_name = f->connection[i].group;
}

/* Makes the connections of all hosts, and starts none.  Sets f->n: a command other than `run`
   begins with the first host alone, unless each host has data of its own.  Returns 0, or -1 and
   err. */
static int fleet_make_connections(struct bn_fleet *f, struct bn_err *err)
{
  const bool has_groups = bn_fleet_has_groups(f);
  int rc;

  if (fleet_read_hosts(f, err) != 0 || (has_groups && fleet_check_thread_numbers(f, err) != 0))
    return -1;
  f->connection = bn_alloc(BN_WORK_SPLIT_HOSTS, sizeof *f->connection);
  f->group_work = bn_alloc(has_groups ? f->groups->n : 1, sizeof *f->group_work);
  rc = has_groups ? fleet_add_groups(f, err) : fleet_add_all_hosts(f, err);
  if (rc != 0)
    return -1;
  fleet_init_intervals(f);
  f->n = f->is_run || fleet_has_local_data(f) ? f->n_all : 1;
  return 0;
}

/* Returns whether the test is a bundled script, which every host has.  In dialects it may be a file
   of that name, which counts before the bundled script there. */
static bool fleet_runs_bundled_script(const struct bn_hosts_setup *s)
{
  return bn_policy_is_native(s->conf->policy) && s->test != NULL &&
         s->find_tables(s->test, strlen(s->test)) != NULL;
}

/* Returns the seed for the command line i, or 0 for none: the --rand-seed of its group, or one that
   is made of the seed of the run.  The sessions of each group are numbered from 0, so a seed of its
   own keeps two groups of one script from drawing the same numbers.  A command other than `run`
   gets none unless the user has set it, because without a seed it makes the same data each time. */
static uint64_t fleet_get_seed(const struct bn_fleet *f, size_t i)
{
  static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / the golden ratio */
  const struct bn_conf *conf = f->setup->conf;

  if (f->group_work[i].seed != 0)
    return f->group_work[i].seed;
  if (conf->seed == 0 || (!f->is_run && !conf->plan.seed_given))
    return 0;
  return conf->seed + i * golden;
}

/* Returns the input for the command line of all hosts, or for that of group i. */
static struct bn_arguments_input fleet_get_input(const struct bn_fleet *f, size_t i)
{
  const struct bn_hosts_setup *s = f->setup;
  const bool has_profile = s->conf->profile.n_pieces > 0;
  struct bn_arguments_input input = {.args = s->args,
                                     .test = s->test,
                                     .command = s->command,
                                     .is_bundled = s->is_builtin || fleet_runs_bundled_script(s),
                                     .options = s->options,
                                     .seed = fleet_get_seed(f, i),
                                     .profile_ns = has_profile ? s->conf->plan.time_ns : 0,
                                     .interval_ns = fleet_get_interval_ns(s->conf)};

  if (bn_fleet_has_groups(f)) {
    input.groups = f->all;
    input.group = &f->groups->group[i];
    input.is_here = fleet_has_groups_here(f);
  }
  return input;
}

/* Makes the command line of all hosts, or that of each group.  Returns 0, or -1 and err; in either
   case fleet_free_arguments() frees what was made. */
static int fleet_make_arguments(struct bn_fleet *f, struct bn_err *err)
{
  f->n_arguments = bn_fleet_has_groups(f) ? f->groups->n : 1;
  f->arguments = bn_alloc(f->n_arguments, sizeof *f->arguments);
  for (size_t i = 0; i < f->n_arguments; i++) {
    const struct bn_arguments_input input = fleet_get_input(f, i);

    if (bn_arguments_make(&f->arguments[i], &input, err) != 0)
      return -1;
  }
  return 0;
}

/* Overwrites and frees the command lines, which may have passwords, once no further host will be
   started.  May be called again. */
static void fleet_free_arguments(struct bn_fleet *f)
{
  for (size_t i = 0; i < f->n_arguments; i++)
    bn_arguments_done(&f->arguments[i]);
  free(f->arguments);
  f->arguments = NULL;
  f->n_arguments = 0;
}

int bn_fleet_init(struct bn_fleet *f, const struct bn_hosts_setup *setup,
                  const struct bn_group_list *all, const struct bn_group_list *groups,
                  struct bn_err *err)
{
  *f = (struct bn_fleet){.setup = setup,
                         .all = all,
                         .groups = groups,
                         .is_run = setup->command != NULL && strcmp(setup->command, "run") == 0,
                         .stop_signal = {.fd = -1}};
  if (!bn_fleet_has_groups(f) && fleet_check_without_groups(setup, err) != 0)
    return -1;
  if (fleet_make_connections(f, err) != 0 || fleet_make_arguments(f, err) != 0)
    return -1;
  return bn_stop_signal_begin(&f->stop_signal, err);
}

/* --- the start of agents ---------------------------------------------------------------------- */

/* Starts the agent of a host in the way of its kind.  Returns 0, or -1 and err. */
static int fleet_connect_host(struct bn_fleet *f, struct bn_connection *c, struct bn_err *err)
{
  const struct bn_conf_raw *r = &f->setup->conf->raw;
  const sigset_t *masked = &f->stop_signal.before;

  if (c->host == NULL) /* a group here */
    return bn_link_start_agent(&c->link, false /* shares_stderr */, masked, err);
  if (c->rank < 0) /* a host of --hosts or --hosts-file */
    return bn_link_start_shell(&c->link, c->host, r->hosts_shell, r->hosts_program, masked, err);
  if (c->rank == 0) /* the rank that runs here */
    return bn_link_start_agent(&c->link, true /* shares_stderr */, masked, err);
  /* The process of another rank is asked for an agent. */
  return bn_link_request_agent(&c->link, c->name, f->setup->ranks->request, (uint32_t)c->rank, err);
}

/* Starts the agent of host i, and sends it the command line and the files.  Returns 0, or -1 and
   err. */
static int fleet_start_host(struct bn_fleet *f, size_t i, struct bn_err *err)
{
  struct bn_connection *c = &f->connection[i];
  const struct bn_arguments *arguments = &f->arguments[c->group_number];
  struct bn_handshake handshake = {.host = (unsigned)i,
                                   .first_session = c->work.first_session,
                                   .sessions = f->group_work[c->group_number].sessions,
                                   .outside = arguments->n_outside};
  int rc;

  bn_arguments_make_argv(arguments, &c->work, &handshake.argv);
  bn_handshake_add_passwords(&handshake);
  rc = fleet_connect_host(f, c, err);
  c->link.name = c->name;
  if (rc == 0)
    rc = bn_connection_begin(c, &handshake, &arguments->files, err);
  bn_handshake_done(&handshake);
  return rc;
}

/* Marks the hosts that were not started, to which no pipe is open, as lost.  bn_fleet_launch()
   prints the reason. */
static void fleet_mark_unstarted(struct bn_fleet *f)
{
  for (size_t i = 0; i < f->n; i++)
    if (f->connection[i].link.to.fd < 0) {
      f->connection[i].state = BN_CONNECTION_LOST;
      bn_intervals_end_host(&f->intervals, i);
    }
}

void bn_fleet_launch(struct bn_fleet *f, size_t first)
{
  struct bn_err err = {0};
  int rc = 0;

  for (size_t i = first; rc == 0 && i < f->n; i++)
    rc = fleet_start_host(f, i, &err);
  if (rc != 0) {
    fleet_mark_unstarted(f);
    bn_fleet_fail(f, &err);
  }
  if (rc != 0 || f->n == f->n_all) /* no further host will be started */
    fleet_free_arguments(f);
  bn_fleet_enter_phase(f, BN_FLEET_CONNECT);
}

int bn_fleet_unite_groups(struct bn_fleet *f, struct bn_err *err)
{
  if (!bn_fleet_has_groups(f))
    return 0;
  f->sessions = 0;
  for (size_t i = 0; i < f->n; i++)
    f->sessions += f->connection[i].work.threads;
  return bn_intervals_unite_groups(&f->intervals, err);
}

/* --- the hosts together ----------------------------------------------------------------------- */

void bn_fleet_done(struct bn_fleet *f)
{
  /* The connections from f->n on have not been started, and own nothing. */
  for (size_t i = 0; f->connection != NULL && i < f->n; i++)
    bn_connection_done(&f->connection[i]);
  free(f->connection);
  free(f->group_work);
  bn_intervals_done(&f->intervals);
  bn_sources_done(&f->sources);
  fleet_free_arguments(f);
  bn_work_split_done(&f->list);
  bn_stop_signal_end(&f->stop_signal);
}

void bn_fleet_enter_phase(struct bn_fleet *f, enum bn_fleet_phase phase)
{
  f->phase = phase;
  f->phase_ns = bn_clock_mono();
}

bool bn_fleet_have_met(const struct bn_fleet *f)
{
  bool is_any_waiting = false;

  for (size_t i = 0; i < f->n; i++) {
    const struct bn_connection *c = &f->connection[i];

    /* Sessions that have returned from the command are not waited for. */
    if (c->state == BN_CONNECTION_ENDED && c->status == 0)
      continue;
    if (!bn_connection_is_alive(c) || !c->is_waiting)
      return false;
    is_any_waiting = true;
  }
  return is_any_waiting;
}

bool bn_fleet_have_reached(const struct bn_fleet *f, enum bn_connection_state state)
{
  for (size_t i = 0; i < f->n; i++)
    if (f->connection[i].state < state)
      return false;
  return true;
}

void bn_fleet_fail(struct bn_fleet *f, const struct bn_err *err)
{
  bn_printer_say(&f->printer, "%s", err->text);
  f->failed = true;
}

void bn_fleet_stop(struct bn_fleet *f, enum bn_frame_stop how, uint64_t now_ns)
{
  if (f->stop >= how) /* an order only gets sharper */
    return;
  f->stop = how;
  f->stop_ns = now_ns;
  for (size_t i = 0; i < f->n; i++)
    if (bn_connection_is_alive(&f->connection[i]))
      bn_connection_send_stop(&f->connection[i], how);
}
