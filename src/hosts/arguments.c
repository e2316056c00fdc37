/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the command line of agents from the one that was typed. */
#include "hosts/arguments.h"

#include <assert.h>
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

/* Refuses a file or a folder, which cannot be sent for the reason in errno.  Returns -1. */
static int arguments_refuse_file(const char *path, struct bn_err *err)
{
  if (errno == EFBIG)
    return bn_err_set(err, errno, "cannot send '%s' to the hosts: the files have more than %u MiB",
                      path, BN_FRAME_MAX >> 20);
  return bn_err_set(err, errno, "cannot read '%s', which the hosts need: %s", path,
                    strerror(errno));
}

/* Reads a file, which may hold a password, into an empty buffer.  Makes room for all of a regular
   file first: a buffer that grows may move, and would leave a copy behind that nobody clears.
   Returns 0, or -1 and err. */
static int arguments_read_file(const char *path, struct bn_buf *text, struct bn_err *err)
{
  struct stat st;

  if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size < text->max)
    (void)bn_buf_reserve(text, (size_t)st.st_size); /* a failure shows when the file is read */
  return bn_file_read(path, text) == 0 ? 0 : arguments_refuse_file(path, err);
}

/* Adds the frame of a file, which hosts store under the given name.  Returns 0, or -1 and err if it
   cannot be read, or if all frames together would be larger than BN_FRAME_MAX. */
static int arguments_add_file(struct bn_arguments *a, const char *path, const char *name,
                              struct bn_err *err)
{
  struct bn_buf text;
  int rc;

  if (a->files.len >= BN_FRAME_MAX) { /* the maximum below would be 0, which means none */
    errno = EFBIG;
    return arguments_refuse_file(path, err);
  }
  bn_buf_init(&text, BN_FRAME_MAX - a->files.len);
  rc = arguments_read_file(path, &text, err);
  if (rc == 0)
    rc = bn_frame_put_file(&a->files, name, text.data, text.len, err);
  if (rc == 0)
    a->n_files++;
  bn_buf_wipe(&text);
  return rc;
}

static bool arguments_is_file(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns whether the path can be that of a script: it is a regular file, or a pipe such as
   /dev/stdin, of which the hosts get what this process reads from it. */
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

static bool arguments_is_lua_file(const char *name)
{
  return name[0] != '.' && arguments_ends_in(name, ".lua");
}

/* Returns whether an option names a file whose first line is a password. */
static bool arguments_is_password_file(const char *option)
{
  return arguments_ends_in(option, "-password-file");
}

/* Adds all Lua files of a folder, because scripts find modules beside them.  A file whose path is
   too long cannot be opened by a script either, and is left out.  Returns 0, or -1 and err. */
static int arguments_add_folder(struct bn_arguments *a, const char *folder, struct bn_err *err)
{
  DIR *dir = opendir(folder);
  const struct dirent *entry;
  char path[PATH_MAX];
  int rc = 0;

  if (dir == NULL)
    return arguments_refuse_file(folder, err);
  while (rc == 0 && (entry = readdir(dir)) != NULL) {
    size_t len;

    if (!arguments_is_lua_file(entry->d_name))
      continue;
    len = (size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (len < sizeof path && arguments_is_file(path))
      rc = arguments_add_file(a, path, entry->d_name, err);
  }
  (void)closedir(dir);
  return rc;
}

/* A script that is sent with its folder. */
struct sent_script {
  char path[PATH_MAX], folder[PATH_MAX];
  const char *name; /* the end of path, without the folder */
};

/* Finds the script that has to be sent for a test.  A name stands for the same script as in a run
   without hosts: the bundled one, which every host has, or else the file of that name, or else the
   file of that name with ".lua".  Returns false if no script has to be sent, because the test is
   built in or bundled, or because there is no such file. */
static bool arguments_find_script(struct sent_script *s, const char *test, bool is_bundled)
{
  if (is_bundled)
    return false;
  (void)snprintf(s->path, sizeof s->path, "%s", test);
  if (!arguments_is_script(s->path))
    (void)snprintf(s->path, sizeof s->path, "%s.lua", test);
  if (!arguments_is_script(s->path))
    return false;
  s->name = bn_file_name(s->path);
  bn_file_copy_folder(s->path, s->folder);
  return true;
}

/* Returns whether the bundle, which every host has, has a script of that name. */
static bool arguments_is_in_bundle(const char *name)
{
  char dir[PATH_MAX], path[2 * PATH_MAX];

  if (strchr(name, '/') != NULL || arguments_ends_in(name, ".lua") ||
      bn_plugin_data_dir(dir, sizeof dir, NULL) == NULL)
    return false;
  (void)snprintf(path, sizeof path, "%s/%s.lua", dir, name);
  return arguments_is_file(path);
}

/* Adds the file of a test's script, and the Lua files of its folder.  `folder` is "", or the folder
   of the scripts before this one, which was sent with the first of them.  Another folder is
   refused, because the hosts have one folder of scripts.  Returns 0, or -1 and err. */
static int arguments_add_script(struct bn_arguments *a, const struct sent_script *s,
                                const char *test, char folder[PATH_MAX], struct bn_err *err)
{
  if (folder[0] == '\0') {
    memcpy(folder, s->folder, PATH_MAX);
    if (arguments_add_folder(a, folder, err) != 0)
      return -1;
  } else if (!bn_file_is_same(folder, s->folder)) {
    return bn_err_set(err, EINVAL,
                      "%s: with --hosts the scripts of all workloads must be in one folder, which "
                      "is sent to the hosts with the modules in it",
                      test);
  }
  if (arguments_is_lua_file(s->name)) /* it was added with its folder */
    return 0;
  return arguments_add_file(a, s->path, s->name, err);
}

/* Adds the word of a test to the command line, with its weight ("@2", or "" for the only test), and
   the files of its script, unless every host has them.  `folder` is that of arguments_add_script().
   Returns 0, or -1 and err. */
static int arguments_add_workload(struct bn_arguments *a, const char *test, bool is_bundled,
                                  const char *weight, char folder[PATH_MAX], struct bn_err *err)
{
  struct sent_script s;
  const bool is_sent = arguments_find_script(&s, test, is_bundled);

  bn_words_adopt(&a->words, bn_alloc_print("%s%s", is_sent ? s.name : test, weight));
  return is_sent ? arguments_add_script(a, &s, test, folder, err) : 0;
}

/* Adds a test, or each test of a mix.  Returns 0, or -1 and err. */
static int arguments_add_workloads(struct bn_arguments *a, const char *test_or_mix, bool is_bundled,
                                   struct bn_err *err)
{
  const char *next = test_or_mix; /* the test of a mix that is added next */
  char folder[PATH_MAX] = "";
  struct bn_mix_item item;
  int found;

  if (!bn_mix_is_test(bn_optset_policy(a->from.options), test_or_mix))
    return arguments_add_workload(a, test_or_mix, is_bundled, "" /* weight */, folder, err);
  while ((found = bn_mix_next(&next, &item, err)) > 0) {
    const char *at_sign = item.name + item.len; /* where the weight begins; it ends at `next` */
    char *test = bn_alloc_part(item.name, item.len);
    char *weight = bn_alloc_part(at_sign, (size_t)(next - at_sign));
    const int rc =
        arguments_add_workload(a, test, arguments_is_in_bundle(test), weight, folder, err);

    free(test);
    free(weight);
    if (rc != 0)
      return -1;
  }
  return found;
}

/* Adds a configuration file, and the option that names it on the hosts.  The number in its name
   tells apart files of one name from two folders.  Refuses a pipe, because this process has already
   read all of it.  Returns 0, or -1 and err. */
static int arguments_add_config_file(struct bn_arguments *a, const char *path, struct bn_err *err)
{
  char name[BN_FRAME_NAME_MAX];
  struct stat st;

  if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
    return bn_err_set(err, EINVAL,
                      "--config-file=%s cannot be sent to the hosts, because it is a pipe, which "
                      "can be read only once; use a file",
                      path);
  (void)snprintf(name, sizeof name, "config/%zu-%s", a->n_files, bn_file_name(path));
  if (arguments_add_file(a, path, name, err) != 0)
    return -1;
  bn_words_adopt(&a->words, bn_alloc_print("--config-file=%s", name));
  return 0;
}

/* Returns whether the group has an option of its own that is listed in `names`. */
static bool arguments_group_has(const struct bn_arguments *a, const char *names)
{
  const struct bn_list *options = &a->from.group->options;

  for (size_t i = 0; i < options->n; i++) {
    char name[BN_OPT_NAME_MAX];

    bn_opt_read_name(options->item[i], name);
    if (bn_opt_is_listed(names, name))
      return true;
  }
  return false;
}

/* Returns whether the password is also given directly, so that its file is not read.  If the group
   itself names the file, only a password in the group's own options counts. */
static bool arguments_has_password(const struct bn_arguments *a, const char *file_option)
{
  const struct bn_opt *opt = bn_optset_find(a->from.options, file_option);

  if (opt == NULL || opt->replaces == NULL)
    return false;
  if (a->from.group != NULL && arguments_group_has(a, file_option))
    return arguments_group_has(a, opt->replaces);
  return bn_optset_is_given(a->from.options, opt->replaces);
}

/* Returns whether the group's own options replace the option of that name outside of the groups.
   A group with its own file of a password gets neither the password nor the file from outside,
   which need not exist here. */
static bool arguments_is_replaced_by_group(const struct bn_arguments *a, const char *name)
{
  const struct bn_opt *o;

  if (a->from.group == NULL)
    return false;
  if (arguments_is_password_file(name) && arguments_group_has(a, name))
    return true;
  for (size_t i = 0; (o = bn_optset_get_at(a->from.options, i, NULL)) != NULL; i++)
    if (bn_opt_is_listed(o->replaces, name) && arguments_group_has(a, o->name))
      return true;
  return false;
}

/* Adds the first line of a password file as "--mysql-password=…", in place of the option `name`
   ("mysql-password-file"), so that no file on the hosts has the password.  Adds nothing if the
   password is also given directly.  Returns 0, or -1 and err. */
static int arguments_add_password_line(struct bn_arguments *a, const char *name, const char *path,
                                       struct bn_err *err)
{
  enum { FILE_BYTES_MAX = 64 << 10 };
  const int name_len = (int)(strlen(name) - strlen("-file")); /* of the option for the password */
  struct bn_buf text = {.max = FILE_BYTES_MAX}, word = {.max = 0};
  int rc;

  if (arguments_has_password(a, name))
    return 0;
  rc = arguments_read_file(path, &text, err);
  if (rc != 0 && err->code == EFBIG)
    (void)bn_err_set(err, EFBIG,
                     "--%s=%s: the file has more than %d KiB; is it that of a password?", name,
                     path, FILE_BYTES_MAX >> 10);
  if (rc == 0) {
    (void)bn_buf_printf(&word, "--%.*s=%.*s", name_len, name, (int)strcspn(text.data, "\r\n"),
                        text.data);
    bn_words_adopt(&a->words, bn_buf_take(&word));
  }
  bn_buf_wipe(&text);
  return rc;
}

/* --- words ------------------------------------------------------------------------------------ */

/* Adds an option as it was typed.  For a group, an alias is replaced by the name that it stands
   for: in dialects, the alias would override an option of the group that comes later. */
static void arguments_add_word(struct bn_arguments *a, const char *name, const char *arg)
{
  const struct bn_opt *o = a->from.group != NULL ? bn_optset_find(a->from.options, name) : NULL;

  if (o != NULL && o->alias_of != NULL)
    bn_words_adopt(&a->words, bn_alloc_print("--%s%s", o->alias_of, arg + strcspn(arg, "=")));
  else
    bn_words_add(&a->words, arg);
}

/* Adds an option that was typed.  A configuration file that it names is sent, and a password in a
   file is sent as a value.  Options of the controller are left out and, unless the agent is a group
   here, those of which each host has its own value.  An option that asks for a password is refused,
   because agents have no terminal.  Returns 0, or -1 and err. */
static int arguments_add_option(struct bn_arguments *a, const char *arg, struct bn_err *err)
{
  const unsigned omitted_traits =
      BN_OPT_CONTROLLER_ONLY | (a->from.is_here ? 0u : (unsigned)BN_OPT_PER_HOST);
  const char *equals = strchr(arg, '=');
  const char *value = equals != NULL && equals[1] != '\0' ? equals + 1 : NULL;
  char name[BN_OPT_NAME_MAX];

  bn_opt_read_name(arg, name);
  if (strcmp(name, "config-file") == 0 && value != NULL)
    return arguments_add_config_file(a, value, err);
  if ((bn_optset_get_traits(a->from.options, name) & omitted_traits) != 0)
    return 0;
  if (arguments_ends_in(name, "-password-prompt"))
    return bn_err_set(err, EINVAL, "--%s cannot be used in a run %s; use --%.*s-file", name,
                      a->from.group != NULL ? "with --group" : "on several hosts",
                      (int)(strlen(name) - strlen("-prompt")), name);
  if (!a->from.is_here && arguments_is_password_file(name) && value != NULL)
    return arguments_add_password_line(a, name, value, err);
  arguments_add_word(a, name, arg);
  return 0;
}

/* Adds each option that is set, and of which each host has its own value (BN_OPT_PER_HOST), with
   its default, which the value of the host overrides.  Otherwise the configuration file, which the
   hosts read, too, could set a seed or, in a dialect, an alias that would override the value of the
   host.  A dialect has its own defaults: in 0.5, --max-requests is 10000, and 0 is no limit. */
static void arguments_add_defaults(struct bn_arguments *a)
{
  const struct bn_optset *options = a->from.options;
  const struct bn_opt *opt;

  for (size_t i = 0; (opt = bn_optset_get_at(options, i, NULL)) != NULL; i++) {
    if ((bn_optset_get_traits(options, opt->name) & BN_OPT_PER_HOST) == 0 ||
        bn_optset_get_origin(options, opt->name) == BN_FROM_DEFAULT)
      continue;
    bn_words_adopt(&a->words, bn_alloc_print("--%s=%s", opt->name,
                                             bn_opt_get_default(opt, bn_optset_policy(options))));
  }
}

static bool arguments_is_typed(const struct bn_arguments *a, const char *name)
{
  for (char *const *arg = a->from.args + 1; *arg != NULL; arg++)
    if (strncmp(*arg, "--", 2) == 0 && bn_opt_is_named(*arg + 2, strcspn(*arg + 2, "="), name))
      return true;
  return false;
}

/* Returns the URI of the group's own --connect, or NULL if the command line is not that of a group
   or its group has none. */
static const char *arguments_find_group_uri(const struct bn_arguments *a)
{
  const struct bn_group_words *g = a->from.group;

  return g != NULL ? bn_groups_find_value(g, a->from.options, "connect") : NULL;
}

/* Returns whether the URI has the part of that name, which is the `uri_part` of an option. */
static bool arguments_uri_has_part(const struct bn_uri *u, const char *part)
{
  const struct {
    const char *name;
    bool is_set;
  } parts[] = {{"user", u->user != NULL},
               {"password", u->password != NULL},
               {"host", u->host != NULL},
               {"port", u->port != 0},
               {"path", u->path != NULL}};

  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strcmp(parts[i].name, part) == 0)
      return parts[i].is_set;
  return false;
}

/* Returns whether a part or a parameter of the URI sets the option. */
static bool arguments_uri_sets(const struct bn_uri *u, const struct bn_opt *o)
{
  if (o->uri_part != NULL && arguments_uri_has_part(u, o->uri_part))
    return true;
  for (size_t i = 0; i < u->n_params; i++)
    if (bn_opt_is_listed(o->uri_params, u->param[i].name))
      return true;
  return false;
}

/* Returns whether the URI sets the option, or one of the options that the option replaces: if the
   URI has a password, a file of passwords does not count. */
static bool arguments_uri_overrides(const struct bn_uri *u, const struct bn_optset *options,
                                    const struct bn_opt *o)
{
  const struct bn_opt *other;

  if (arguments_uri_sets(u, o))
    return true;
  for (size_t i = 0; (other = bn_optset_get_at(options, i, NULL)) != NULL; i++)
    if (bn_opt_is_listed(o->replaces, other->name) && arguments_uri_sets(u, other))
      return true;
  return false;
}

/* Returns whether the group's own --connect overrides this option, so that the group must not get
   it from outside of the groups.  A wrong URI overrides nothing: the agent refuses it. */
static bool arguments_is_set_by_uri(const struct bn_arguments *a, const char *name)
{
  const char *text = arguments_find_group_uri(a);
  const struct bn_opt *o = bn_optset_find(a->from.options, name);
  struct bn_uri uri;
  struct bn_err err;
  bool is_overridden = false;

  if (text == NULL || o == NULL)
    return false;
  if (bn_uri_parse(&uri, text, &err) == 0)
    is_overridden = arguments_uri_overrides(&uri, a->from.options, o);
  bn_uri_done(&uri);
  return is_overridden;
}

/* The state of arguments_add_untyped_password() in its walk over all options. */
struct password_walk {
  struct bn_arguments *arguments;
  struct bn_err *err;
  int rc; /* -1: a file could not be read, and err says why */
};

/* Adds the password of the file that the option names.  Does nothing if the option was typed,
   because arguments_add_options() has added the password then, or if the URI of the group overrides
   it. */
static void arguments_add_untyped_password(void *arg, const char *name, const struct bn_opt *opt,
                                           const void *value)
{
  struct password_walk *w = arg;
  const bool is_text = opt->type == BN_PATH || opt->type == BN_STRING;
  const char *path = is_text ? *(char *const *)value : NULL;

  if (w->rc != 0 || !arguments_is_password_file(opt->name) || path == NULL || path[0] == '\0')
    return;
  if (arguments_is_typed(w->arguments, name) || arguments_is_set_by_uri(w->arguments, opt->name))
    return;
  w->rc = arguments_add_password_line(w->arguments, opt->name, path, w->err);
}

/* Adds what hosts need beside the options that were typed: defaults, and the passwords of the files
   that a configuration file or a URI names.  Agents get the configuration file and the URI as they
   are, but do not have the files of passwords.  Returns 0, or -1 and err. */
static int arguments_add_host_options(struct bn_arguments *a, struct bn_err *err)
{
  struct password_walk walk = {.arguments = a, .err = err};

  arguments_add_defaults(a);
  bn_optset_each(a->from.options, arguments_add_untyped_password, &walk);
  return walk.rc;
}

/* Adds the options that make all hosts draw from the same random streams, report the same
   intervals, and use the same dialect, which a host would otherwise derive from the name of its
   program. */
static void arguments_add_common(struct bn_arguments *a)
{
  const char *dialect = bn_optset_policy(a->from.options)->dialect;
  const double interval_s = (double)a->from.interval_ns * 1e-9;
  const int64_t seed = (int64_t)a->from.seed;

  if (dialect != NULL)
    bn_words_adopt(&a->words, bn_alloc_print("--compat=%s", dialect));
  if (interval_s > 0)
    bn_words_adopt(&a->words, bn_alloc_print("--report-interval=%.9g", interval_s));
  if (seed != 0)
    bn_words_adopt(&a->words, bn_alloc_print("--rand-seed=%" PRId64, seed));
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Adds the options of the command line that stand outside of the groups, but none that the group's
   own --connect sets or the group's own options replace.  Returns 0, or -1 and err. */
static int arguments_add_options(struct bn_arguments *a, struct bn_err *err)
{
  const struct bn_group_list *groups = a->from.groups;

  for (char *const *arg = a->from.args + 1; *arg != NULL; arg++) {
    const bool is_option = strncmp(*arg, "--", 2) == 0;
    const bool is_of_group = groups != NULL && bn_groups_find_owner(groups, *arg) != NULL;
    char name[BN_OPT_NAME_MAX];

    if (!is_option || is_of_group) /* "--NAME.OPTION" is an option of the group NAME */
      continue;
    bn_opt_read_name(*arg, name);
    if (arguments_is_set_by_uri(a, name) || arguments_is_replaced_by_group(a, name))
      continue;
    if (arguments_add_option(a, *arg, err) != 0)
      return -1;
  }
  return 0;
}

/* The option that arguments_add_fact() looks for in its walk over all facts. */
struct fact_walk {
  struct bn_arguments *arguments;
  const char *name;
};

/* Adds the option that the walk looks for, with its value, if the fact is about it. */
static void arguments_add_fact(void *arg, const struct bn_opt_fact *fact)
{
  const struct fact_walk *w = arg;

  if (strcmp(fact->name, w->name) == 0 && fact->text != NULL)
    bn_words_adopt(&w->arguments->words, bn_alloc_print("--%s=%s", fact->name, fact->text));
}

/* Resets each alias that a configuration file sets to its default, and adds its value by the name
   that it stands for, so that the group's own options override it. */
static void arguments_replace_aliases(struct bn_arguments *a)
{
  const struct bn_optset *options = a->from.options;
  const struct bn_opt *o;

  for (size_t i = 0; (o = bn_optset_get_at(options, i, NULL)) != NULL; i++) {
    struct fact_walk walk = {.arguments = a, .name = o->alias_of};

    if (o->alias_of == NULL || bn_optset_get_origin(options, o->name) != BN_FROM_FILE)
      continue;
    bn_words_adopt(&a->words, bn_alloc_print("--%s=%s", o->name,
                                             bn_opt_get_default(o, bn_optset_policy(options))));
    bn_optset_each_fact(options, arguments_add_fact, &walk);
  }
}

/* Adds the words of the scripts of a group, and the files of the scripts unless the group is a
   process here, which finds them itself.  Returns 0, or -1 and err. */
static int arguments_add_group_scripts(struct bn_arguments *a, struct bn_err *err)
{
  const struct bn_list *script = &a->from.group->script;
  struct bn_buf mix = {.max = 0};
  int rc;

  if (a->from.is_here) {
    for (size_t i = 0; i < script->n; i++)
      bn_words_add(&a->words, script->item[i]);
    return 0;
  }
  for (size_t i = 0; i < script->n; i++)
    (void)bn_buf_printf(&mix, "%s%s", i > 0 ? " " : "", script->item[i]);
  assert(mix.data != NULL); /* a group has a script */
  rc = arguments_add_workloads(a, mix.data, arguments_is_in_bundle(mix.data), err);
  bn_buf_done(&mix);
  return rc;
}

/* Adds the password of each file that the URI names for the option.  Returns 0, or -1 and err. */
static int arguments_add_uri_files(struct bn_arguments *a, const struct bn_uri *u,
                                   const struct bn_opt *o, struct bn_err *err)
{
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < u->n_params; i++)
    if (bn_opt_is_listed(o->uri_params, u->param[i].name))
      rc = arguments_add_password_line(a, o->name, u->param[i].value, err);
  return rc;
}

/* Adds the password of the file that the group's own --connect names (?password-file=), because
   hosts do not have the file.  Skips a wrong URI, which the agent refuses.  Returns 0, or -1 and
   err. */
static int arguments_add_uri_password(struct bn_arguments *a, struct bn_err *err)
{
  const char *text = arguments_find_group_uri(a);
  const struct bn_opt *o;
  struct bn_uri uri;
  struct bn_err why;
  int rc = 0;

  if (text == NULL)
    return 0;
  if (bn_uri_parse(&uri, text, &why) == 0)
    for (size_t i = 0; rc == 0 && (o = bn_optset_get_at(a->from.options, i, NULL)) != NULL; i++)
      if (arguments_is_password_file(o->name))
        rc = arguments_add_uri_files(a, &uri, o, err);
  bn_uri_done(&uri);
  return rc;
}

/* Adds the option again with a file of the group's own, FILE.GROUP, if it names a file that each
   process of a run writes.  Several groups would otherwise empty the same file, and write into it
   at the same places.  The files of options with BN_OPT_CONTROLLER_ONLY are written by the
   controller alone. */
static void arguments_add_group_output(void *arg, const char *name, const struct bn_opt *opt,
                                       const void *value)
{
  const unsigned output_traits = opt->traits & (BN_OPT_OUTPUT_ONLY | BN_OPT_CONTROLLER_ONLY);
  const bool is_output = opt->type == BN_PATH && output_traits == BN_OPT_OUTPUT_ONLY;
  const char *path = is_output ? *(char *const *)value : NULL;
  struct bn_arguments *a = arg;

  (void)name;
  if (path == NULL || path[0] == '\0')
    return;
  /* An open descriptor, a device and a FIFO take the lines of all groups. */
  if (!bn_file_is_replaceable(path))
    return;
  bn_words_adopt(&a->words, bn_alloc_print("--%s=%s.%s", opt->name, path, a->from.group->name));
}

/* Adds the words of a group.  The last of several options of one name counts, so the order is: the
   options outside of the groups, the words that correct or complete these, and the group's own
   options.  Returns 0, or -1 and err. */
static int arguments_add_group(struct bn_arguments *a, struct bn_err *err)
{
  const struct bn_list *group_options = &a->from.group->options;

  if (arguments_add_group_scripts(a, err) != 0 || arguments_add_options(a, err) != 0)
    return -1;
  a->n_outside = a->words.n;
  arguments_replace_aliases(a);
  if (!a->from.is_here && arguments_add_host_options(a, err) != 0)
    return -1;
  if (a->from.groups->n > 1)
    bn_optset_each(a->from.options, arguments_add_group_output, a);
  arguments_add_common(a);
  /* The group may have a profile of its own, which would set another time. */
  if (a->from.profile_ns > 0)
    bn_words_adopt(&a->words, bn_alloc_print("--time=%.9g", (double)a->from.profile_ns * 1e-9));
  if (!a->from.is_here && arguments_add_uri_password(a, err) != 0)
    return -1;
  for (size_t i = 0; i < group_options->n; i++)
    if (arguments_add_option(a, group_options->item[i], err) != 0)
      return -1;
  return 0;
}

/* Adds the words and the files that all hosts of a run without groups get.  The options of the
   controller come last, because the last option of a name counts.  Returns 0, or -1 and err. */
static int arguments_add_without_groups(struct bn_arguments *a, struct bn_err *err)
{
  if (arguments_add_workloads(a, a->from.test, a->from.is_bundled, err) != 0 ||
      arguments_add_options(a, err) != 0 || arguments_add_host_options(a, err) != 0)
    return -1;
  arguments_add_common(a);
  return 0;
}

int bn_arguments_make(struct bn_arguments *a, const struct bn_arguments_input *from,
                      struct bn_err *err)
{
  int rc;

  *a = (struct bn_arguments){.from = *from};
  /* arguments_add_file() refuses a file before this bound is reached. */
  bn_buf_init(&a->files, 2 * (size_t)BN_FRAME_MAX);
  rc = from->group != NULL ? arguments_add_group(a, err) : arguments_add_without_groups(a, err);
  if (rc != 0)
    bn_arguments_done(a);
  return rc;
}

void bn_arguments_make_argv(const struct bn_arguments *a, const struct bn_work_split *work,
                            struct bn_list *out)
{
  /* With a limit of each thread, the words have --events-per-session, and 0 is no limit. */
  const uint64_t events = work->per_session ? 0 : work->events;

  *out = (struct bn_list){.n = 0};
  for (size_t i = 0; i < a->words.n; i++)
    bn_words_add(out, a->words.item[i]);
  if (work->threads > 0) /* a group here has threads in its words, or --threads-total */
    bn_words_adopt(out, bn_alloc_print("--threads=%u", work->threads));
  if (!a->from.is_here) {
    bn_words_adopt(out, bn_alloc_print("--events=%" PRIu64, events));
    bn_words_adopt(out, bn_alloc_print("--rate=%.17g", work->rate));
  }
  bn_words_add(out, a->from.command);
}

void bn_arguments_done(struct bn_arguments *a)
{
  bn_words_done(&a->words);
  bn_buf_wipe(&a->files);
}
