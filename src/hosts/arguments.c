/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the command line of agents from the one that was typed. */
#include "hosts/arguments.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/plugin.h"
#include "base/uri.h"
#include "hosts/frame.h"
#include "option/mix.h"
#include "option/words.h"

/* --- files ------------------------------------------------------------------------------------ */

/* errno says why the file cannot be read. */
static int arguments_refuse_file(const char *path, struct bn_err *err)
{
  if (errno == EFBIG)
    return bn_err_set(err, errno, "cannot send '%s' to the hosts: the files have more than %u MiB",
                      path, BN_FRAME_MAX >> 20);
  return bn_err_set(err, errno, "cannot read '%s', which the hosts need: %s", path,
                    strerror(errno));
}

/* Sends a file under that name.  All files together may be as large as one frame. */
static int arguments_send_file(struct bn_arguments *a, const char *path, const char *name,
                               struct bn_err *err)
{
  const size_t have = a->files.len;
  struct bn_buf text = {.max = have < BN_FRAME_MAX ? BN_FRAME_MAX - have : 1};
  int rc;

  if (bn_file_read(path, &text) != 0)
    rc = arguments_refuse_file(path, err);
  else
    rc = bn_frame_put_file(&a->files, name, text.data, text.len, err);
  if (text.data != NULL)
    explicit_bzero(text.data, text.len);
  bn_buf_done(&text);
  a->n_files++;
  return rc;
}

static bool arguments_is_file(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns whether the path is a script.  A pipe, such as /dev/stdin, can be read once, which is
   done here. */
static bool arguments_is_script(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode));
}

static bool arguments_ends_in(const char *name, const char *end)
{
  const size_t len = strlen(name), tail = strlen(end);

  return len >= tail && strcmp(name + len - tail, end) == 0;
}

static bool arguments_is_lua(const char *name)
{
  return name[0] != '.' && arguments_ends_in(name, ".lua");
}

/* Sends all Lua files of a folder, because scripts find modules beside them. */
static int arguments_send_folder(struct bn_arguments *a, const char *folder, struct bn_err *err)
{
  DIR *d = opendir(folder);
  const struct dirent *e;
  char path[PATH_MAX];
  int rc = 0;

  if (d == NULL)
    return arguments_refuse_file(folder, err);
  while (rc == 0 && (e = readdir(d)) != NULL)
    if (arguments_is_lua(e->d_name) &&
        (size_t)snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < sizeof path &&
        arguments_is_file(path))
      rc = arguments_send_file(a, path, e->d_name, err);
  (void)closedir(d);
  return rc;
}

/* A script that is sent with its folder. */
struct sent_script {
  char path[PATH_MAX], folder[PATH_MAX];
  const char *name; /* within path */
};

/* Returns false if the test is built in, bundled or no file.  A name stands for the same script as
   in a run without hosts: that of the bundle, which every host has, then the file, then the module
   of that name in the working folder. */
static bool arguments_find_script(struct sent_script *s, const char *test, bool is_bundled)
{
  (void)snprintf(s->path, sizeof s->path, "%s", test);
  if (!arguments_is_script(s->path))
    (void)snprintf(s->path, sizeof s->path, "%s.lua", test);
  if (is_bundled || !arguments_is_script(s->path))
    return false;
  s->name = bn_file_name(s->path);
  bn_file_folder(s->path, s->folder);
  return true;
}

/* A file with another ending is not among those of the folder. */
static int arguments_send_named(struct bn_arguments *a, const struct sent_script *s,
                                struct bn_err *err)
{
  return arguments_is_lua(s->name) ? 0 : arguments_send_file(a, s->path, s->name, err);
}

/* Returns whether each host has a script of that name in its bundle. */
static bool arguments_in_bundle(const char *name)
{
  char dir[PATH_MAX], path[2 * PATH_MAX];

  if (strchr(name, '/') != NULL || arguments_ends_in(name, ".lua") ||
      bn_plugin_data_dir(dir, sizeof dir, NULL) == NULL)
    return false;
  (void)snprintf(path, sizeof path, "%s/%s.lua", dir, name);
  return arguments_is_file(path);
}

/* Sends a script and adds its name to the arguments, with its weight ("@2") if it is one of a mix.
   *folder is that of the other scripts, or "" before the first one, which sets it: a folder is sent
   once.  What is no script of a file is known to each host by its name. */
static int arguments_send_workload(struct bn_arguments *a, const char *test, bool is_bundled,
                                   const char *weight, char *folder, struct bn_err *err)
{
  struct sent_script s;
  char *word;
  int rc = 0;

  if (!arguments_find_script(&s, test, is_bundled)) {
    word = bn_alloc_print("%s%s", test, weight);
  } else {
    word = bn_alloc_print("%s%s", s.name, weight);
    if (folder[0] == '\0') {
      memcpy(folder, s.folder, PATH_MAX);
      rc = arguments_send_folder(a, folder, err);
    } else if (!bn_file_is_same(folder, s.folder)) {
      rc = bn_err_set(err, EINVAL,
                      "%s: with --hosts the scripts of all workloads must be in one folder, which "
                      "is sent to the hosts with the modules in it",
                      test);
    }
    if (rc == 0)
      rc = arguments_send_named(a, &s, err);
  }
  bn_words_take(&a->words, word);
  return rc;
}

static int arguments_send_scripts(struct bn_arguments *a, struct bn_err *err)
{
  const char *at = a->from->test;
  char folder[PATH_MAX] = "";
  struct bn_mix_item item;
  int rc = 0;

  if (!bn_mix_is_test(bn_optset_policy(a->from->options), at))
    return arguments_send_workload(a, at, a->from->is_bundled, "", folder, err);
  while (rc == 0 && bn_mix_next(&at, &item, err) > 0) {
    char *test = bn_alloc_part(item.name, item.len);
    char *weight = bn_alloc_part(item.name + item.len, (size_t)(at - item.name) - item.len);

    rc = arguments_send_workload(a, test, arguments_in_bundle(test), weight, folder, err);
    free(test);
    free(weight);
  }
  return rc;
}

/* Refuses a configuration file that is a pipe: the controller has read it. */
static int arguments_refuse_pipe(const char *path, struct bn_err *err)
{
  struct stat st;

  if (stat(path, &st) != 0 || !S_ISFIFO(st.st_mode))
    return 0;
  return bn_err_set(err, EINVAL,
                    "--config-file=%s cannot be sent to the hosts, because it is a pipe, which can "
                    "be read only once; use a file",
                    path);
}

static int arguments_send_settings(struct bn_arguments *a, const char *path, struct bn_err *err)
{
  char name[BN_FRAME_NAME_MAX];

  if (arguments_refuse_pipe(path, err) != 0)
    return -1;
  (void)snprintf(name, sizeof name, "config/%zu-%s", a->n_files, bn_file_name(path));
  bn_words_take(&a->words, bn_alloc_print("--config-file=%s", name));
  return arguments_send_file(a, path, name, err);
}

/* As without hosts, a password that is given beats one in a file, wherever each is given. */
static bool arguments_has_password(const struct bn_optset *options, const char *file_option)
{
  const struct bn_opt *opt = bn_optset_find(options, file_option);

  return opt != NULL && opt->replaces != NULL && bn_optset_given(options, opt->replaces);
}

/* Sends the password in the first line of the file instead of the file, so that no file on the
   hosts has it. */
static int arguments_send_password(struct bn_arguments *a, const char *name, const char *path,
                                   struct bn_err *err)
{
  struct bn_buf text = {.max = 1 << 16}, word = {.max = 0};
  int rc = 0;

  if (arguments_has_password(a->from->options, name))
    return 0;
  if (bn_file_read(path, &text) != 0)
    rc = arguments_refuse_file(path, err);
  else {
    (void)bn_buf_printf(&word, "--%.*s=%.*s", (int)(strlen(name) - strlen("-file")), name,
                        (int)strcspn(text.data, "\r\n"), text.data);
    bn_words_add(&a->words, word.data);
  }
  if (text.data != NULL)
    explicit_bzero(text.data, text.len);
  if (word.data != NULL)
    explicit_bzero(word.data, word.len);
  bn_buf_done(&text);
  bn_buf_done(&word);
  return rc;
}

/* --- words ------------------------------------------------------------------------------------ */

/* Returns the traits of options that a process does not get as they were typed. */
static unsigned arguments_left_out(const struct bn_arguments *a)
{
  return a->from->group != NULL ? BN_OPT_CONTROLLER_ONLY : BN_OPT_PER_HOST | BN_OPT_CONTROLLER_ONLY;
}

/* Adds a word.  In a group an option has the name that it stands for, since an old name would beat
   the group's own value. */
static void arguments_add_word(struct bn_arguments *a, const char *name, const char *arg)
{
  const struct bn_opt *o = a->from->group != NULL ? bn_optset_find(a->from->options, name) : NULL;

  if (o != NULL && o->alias_of != NULL)
    bn_words_take(&a->words, bn_alloc_print("--%s%s", o->alias_of, arg + strcspn(arg, "=")));
  else
    bn_words_add(&a->words, arg);
}

/* Adds an option to the words of the agents: a file that it names is sent, and an option of which
   each host has its own value, or none, is left out. */
static int arguments_add_option(struct bn_arguments *a, const char *arg, struct bn_err *err)
{
  const char *equals = strchr(arg, '=');
  const char *value = equals != NULL && equals[1] != '\0' ? equals + 1 : NULL;
  char name[BN_OPT_NAME_MAX];

  bn_opt_read_name(arg, name);
  if (strcmp(name, "config-file") == 0 && value != NULL)
    return arguments_send_settings(a, value, err);
  if ((bn_optset_traits(a->from->options, name) & arguments_left_out(a)) != 0)
    return 0;
  if (arguments_ends_in(name, "-password-prompt"))
    return bn_err_set(err, EINVAL, "--%s cannot be used in a run %s; use --%.*s-file", name,
                      a->from->group != NULL ? "with --group" : "on several hosts",
                      (int)(strlen(name) - strlen("-prompt")), name);
  if (a->from->group == NULL && arguments_ends_in(name, "-password-file") && value != NULL)
    return arguments_send_password(a, name, value, err);
  arguments_add_word(a, name, arg);
  return 0;
}

/* Sets the options of which each host has its own value back to their defaults.  The configuration
   file is sent to the hosts and may set them under an old name, which would beat the host's value,
   or set a seed, where each host is sent one.  The defaults are those of the dialect: in 0.5 that
   of --max-requests is 10000, while 0 is no limit. */
static void arguments_add_defaults(struct bn_arguments *a)
{
  const struct bn_optset *options = a->from->options;
  const struct bn_opt *opt;

  for (size_t i = 0; (opt = bn_optset_at(options, i, NULL)) != NULL; i++) {
    if ((bn_optset_traits(options, opt->name) & BN_OPT_PER_HOST) == 0 ||
        bn_optset_origin(options, opt->name) == BN_FROM_DEFAULT)
      continue;
    bn_words_take(&a->words, bn_alloc_print("--%s=%s", opt->name,
                                            bn_opt_default(opt, bn_optset_policy(options))));
  }
}

/* Returns whether an option is a word of the command line. */
static bool arguments_is_typed(const struct bn_arguments *a, const char *name)
{
  for (char *const *arg = a->from->args + 1; *arg != NULL; arg++)
    if (strncmp(*arg, "--", 2) == 0 && bn_opt_is_named(*arg + 2, strcspn(*arg + 2, "="), name))
      return true;
  return false;
}

/* Collects the passwords that a file or a URI names. */
struct adding {
  struct bn_arguments *arguments;
  struct bn_err *err;
  int rc;
};

static void arguments_add_password(void *arg, const char *name, const struct bn_opt *opt,
                                   const void *value)
{
  struct adding *a = arg;
  const char *path = opt->type == BN_PATH || opt->type == BN_STRING ? *(char *const *)value : NULL;

  if (a->rc != 0 || path == NULL || path[0] == '\0' ||
      !arguments_ends_in(opt->name, "-password-file") || arguments_is_typed(a->arguments, name))
    return;
  a->rc = arguments_send_password(a->arguments, opt->name, path, a->err);
}

/* Sends the passwords of files that a configuration file or a URI names: agents get these as they
   are. */
static int arguments_add_passwords(struct bn_arguments *o, struct bn_err *err)
{
  struct adding a = {o, err, 0};

  bn_optset_each(o->from->options, arguments_add_password, &a);
  return a.rc;
}

/* Adds the options that make all hosts draw from the same streams, report the same intervals, and
   have the same dialect whatever the name of their program is. */
static void arguments_add_common(struct bn_arguments *a)
{
  const char *dialect = bn_optset_policy(a->from->options)->dialect;
  const double interval_s = (double)a->from->interval_ns * 1e-9;
  const int64_t seed = (int64_t)a->from->seed;

  if (dialect != NULL)
    bn_words_take(&a->words, bn_alloc_print("--compat=%s", dialect));
  if (interval_s > 0)
    bn_words_take(&a->words, bn_alloc_print("--report-interval=%.9g", interval_s));
  if (seed != 0)
    bn_words_take(&a->words, bn_alloc_print("--rand-seed=%" PRId64, seed));
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Returns the value of the last --connect of the group, or NULL. */
static const char *arguments_group_uri(const struct bn_group_words *g)
{
  static const char option[] = "--connect=";
  const char *uri = NULL;

  for (size_t i = 0; i < g->options.n; i++)
    if (strncmp(g->options.item[i], option, sizeof option - 1) == 0)
      uri = g->options.item[i] + sizeof option - 1;
  return uri;
}

static bool arguments_uri_has_part(const struct bn_uri *u, const char *part)
{
  const struct {
    const char *name;
    bool has;
  } parts[] = {{"user", u->user != NULL},
               {"password", u->password != NULL},
               {"host", u->host != NULL},
               {"port", u->port != 0},
               {"path", u->path != NULL}};

  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strcmp(parts[i].name, part) == 0)
      return parts[i].has;
  return false;
}

static bool arguments_uri_sets(const struct bn_uri *u, const struct bn_opt *o)
{
  bool sets = o->uri_part != NULL && arguments_uri_has_part(u, o->uri_part);

  for (size_t i = 0; i < u->n_params; i++)
    sets |= bn_opt_is_listed(o->uri_params, u->param[i].name);
  return sets;
}

/* Returns whether the URI sets the option, or one in whose place the option would be used. */
static bool arguments_uri_beats(const struct bn_uri *u, const struct bn_optset *options,
                                const struct bn_opt *o)
{
  const struct bn_opt *other;
  bool beats = arguments_uri_sets(u, o);

  for (size_t i = 0; o->replaces != NULL && (other = bn_optset_at(options, i, NULL)) != NULL; i++)
    beats |= bn_opt_is_listed(o->replaces, other->name) && arguments_uri_sets(u, other);
  return beats;
}

/* Returns whether the group's own --connect sets what an option outside of the groups says. */
static bool arguments_is_connected(const struct bn_arguments *a, const char *arg)
{
  const char *text = a->from->group != NULL ? arguments_group_uri(a->from->group) : NULL;
  char name[BN_OPT_NAME_MAX];
  const struct bn_opt *o;
  struct bn_uri uri;
  struct bn_err err;
  bool beats = false;

  bn_opt_read_name(arg, name);
  o = bn_optset_find(a->from->options, name);
  if (text == NULL || o == NULL)
    return false;
  if (bn_uri_parse(&uri, text, &err) == 0)
    beats = arguments_uri_beats(&uri, a->from->options, o);
  bn_uri_done(&uri);
  return beats;
}

static int arguments_add_options(struct bn_arguments *a, struct bn_err *err)
{
  const struct bn_group_list *groups = a->from->groups;

  for (char *const *arg = a->from->args + 1; *arg != NULL; arg++)
    if (strncmp(*arg, "--", 2) == 0 && (groups == NULL || bn_groups_owner(groups, *arg) == NULL) &&
        !arguments_is_connected(a, *arg) && arguments_add_option(a, *arg, err) != 0)
      return -1;
  return 0;
}

/* The value of an option that a configuration file may have set by an old name. */
struct named_value {
  struct bn_arguments *arguments;
  const char *name;
};

static void arguments_add_named(void *arg, const struct bn_opt_fact *fact)
{
  const struct named_value *v = arg;

  if (strcmp(fact->name, v->name) == 0 && fact->text != NULL)
    bn_words_take(&v->arguments->words, bn_alloc_print("--%s=%s", fact->name, fact->text));
}

/* Moves what a configuration file says by an old name, which would beat the group's own value, to
   the name that it stands for. */
static void arguments_move_aliases(struct bn_arguments *a)
{
  const struct bn_optset *options = a->from->options;
  const struct bn_opt *o;

  for (size_t i = 0; (o = bn_optset_at(options, i, NULL)) != NULL; i++) {
    struct named_value v = {a, o->alias_of};

    if (o->alias_of == NULL || bn_optset_origin(options, o->name) != BN_FROM_FILE)
      continue;
    bn_words_take(&a->words,
                  bn_alloc_print("--%s=%s", o->name, bn_opt_default(o, bn_optset_policy(options))));
    bn_optset_facts(options, arguments_add_named, &v);
  }
}

/* Adds what the process of a group needs, which finds files as this one does.  The last of two
   options of one name counts, and that is the group's.  The time of the run is the same for all,
   also that of a profile outside of the groups. */
static int arguments_add_group(struct bn_arguments *a, struct bn_err *err)
{
  const struct bn_group_words *g = a->from->group;

  for (size_t i = 0; i < g->script.n; i++)
    bn_words_add(&a->words, g->script.item[i]);
  if (arguments_add_options(a, err) != 0)
    return -1;
  arguments_move_aliases(a);
  arguments_add_common(a);
  bn_words_take(&a->words, bn_alloc_print("--time=%.9g", (double)a->from->time_ns * 1e-9));
  for (size_t i = 0; i < g->options.n; i++)
    if (arguments_add_option(a, g->options.item[i], err) != 0)
      return -1;
  return 0;
}

static int arguments_add_host(struct bn_arguments *a, struct bn_err *err)
{
  if (arguments_send_scripts(a, err) != 0 || arguments_add_options(a, err) != 0)
    return -1;
  arguments_add_defaults(a);
  if (arguments_add_passwords(a, err) != 0)
    return -1;
  arguments_add_common(a);
  return 0;
}

int bn_arguments_make(struct bn_arguments *a, const struct bn_arguments_from *from,
                      struct bn_err *err)
{
  int rc;

  *a = (struct bn_arguments){.from = from};
  bn_buf_init(&a->files, 2 * (size_t)BN_FRAME_MAX);
  rc = from->group != NULL ? arguments_add_group(a, err) : arguments_add_host(a, err);
  if (rc != 0)
    bn_arguments_done(a);
  return rc;
}

void bn_arguments_argv(const struct bn_arguments *a, const struct bn_work_split *work,
                       struct bn_list *out)
{
  char threads[48], events[48], rate[64];
  const char *const own[] = {threads, events, rate, a->from->command};
  enum { OWN = sizeof own / sizeof *own };

  (void)snprintf(threads, sizeof threads, "--threads=%u", work->threads);
  (void)snprintf(events, sizeof events, "--events=%" PRIu64, work->per_session ? 0 : work->events);
  (void)snprintf(rate, sizeof rate, "--rate=%.17g", work->rate);
  out->n = 0;
  out->item = bn_alloc(a->words.n + OWN + 1, sizeof *out->item);
  for (size_t i = 0; i < a->words.n; i++)
    out->item[out->n++] = bn_alloc_text(a->words.item[i]);
  for (size_t i = a->from->group != NULL ? OWN - 1 : 0; i < OWN; i++)
    out->item[out->n++] = bn_alloc_text(own[i]);
}

void bn_arguments_done(struct bn_arguments *a)
{
  for (size_t i = 0; i < a->words.n; i++)
    explicit_bzero(a->words.item[i], strlen(a->words.item[i]));
  bn_words_done(&a->words);
  if (a->files.data != NULL)
    explicit_bzero(a->files.data, a->files.len);
  bn_buf_done(&a->files);
}
