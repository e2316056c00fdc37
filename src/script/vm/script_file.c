/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the file of a script. */
#include "script/vm/script_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mask.h"
#include "option/conf.h"
#include "script/setup.h"
#include "script/vm/module_path.h"

/* The folder of the 0.5 workloads, below the data folder. */
static const char legacy_folder[] = "/tests/include/oltp_legacy";

/* Returns the length of a path without a trailing ".lua". */
static size_t script_file_bare_length(const char *name)
{
  static const char ending[] = ".lua";
  const size_t len = strlen(name), end_len = sizeof ending - 1;

  return len > end_len && strcmp(name + len - end_len, ending) == 0 ? len - end_len : len;
}

/* The functions below that return a file return its path, malloc'd, or NULL if there is none. */

/* Returns the malloc'd path if it is a file that can be read; else frees it and returns NULL. */
static char *script_file_keep_existing(char *path)
{
  if (bn_module_path_is_file(path))
    return path;
  free(path);
  return NULL;
}

/* Returns the bundled script of that set that has the file name of the path `name`, which may lack
   ".lua". */
static char *script_file_find_bundled(const struct bn_script_setup *setup, enum bn_set set,
                                      const char *name)
{
  const char *base = bn_file_name(name);

  if (setup->data_dir == NULL || base[0] == '\0')
    return NULL;
  return script_file_keep_existing(bn_alloc_print("%s%s/%.*s.lua", setup->data_dir,
                                                  set == BN_SET_LEGACY ? legacy_folder : "",
                                                  (int)script_file_bare_length(base), base));
}

/* Returns the bundled workload of that name.  A name with a folder or ".lua" is that of a file and
   not of a workload. */
static char *script_file_find_bundled_name(const struct bn_script_setup *setup, const char *name)
{
  if (strchr(name, '/') != NULL || script_file_bare_length(name) != strlen(name))
    return NULL;
  return script_file_find_bundled(setup, BN_SET_MODERN, name);
}

/* Returns the bundled module "folder.name", which is a file in a folder beside the workloads. */
static char *script_file_find_bundled_module(const struct bn_script_setup *setup, const char *name)
{
  if (setup->data_dir == NULL || strchr(name, '/') != NULL || strchr(name, '.') == NULL)
    return NULL;
  char *dir = bn_alloc_print("%s/", setup->data_dir);
  char *file = bn_module_path_find_in(dir, name);

  free(dir);
  return file;
}

char *bn_script_file_find_hidden(const struct bn_script_setup *setup, const char *name,
                                 const char *file)
{
  char *bundled = script_file_find_bundled_name(setup, name);

  if (bundled == NULL)
    bundled = script_file_find_bundled_module(setup, name);
  if (bundled == NULL || !bn_file_is_same(bundled, file))
    return bundled;
  free(bundled);
  return NULL;
}

/* If there is a bundled workload of the script's name, logs that a user's file runs in its place:
   sysbench looks into the working folder first. */
static void script_file_log_hidden_workload(const struct bn_script_setup *setup, const char *file)
{
  char *hidden = bn_script_file_find_hidden(setup, setup->name, file);

  if (hidden != NULL)
    bn_log_stderr_if_apart("the file '%s' hides the bundled workload %s", file, setup->name);
  free(hidden);
}

/* If the working folder has a file of the script's name, logs that the bundled workload runs and
   not the file.  Logs nothing for help and completions, which run neither. */
static void script_file_log_hidden_file(const struct bn_script_setup *setup, const char *bundled)
{
  char file[PATH_MAX];

  if (setup->command != NULL && strcmp(setup->command, "help") == 0)
    return;
  if ((size_t)snprintf(file, sizeof file, "./%s.lua", setup->name) < sizeof file &&
      bn_module_path_is_file(file) && !bn_file_is_same(file, bundled))
    bn_log_note("%s is the bundled workload; for the file, write %s", setup->name, file);
}

/* Returns whether the last folders of a path are `folders`, such as "tests/db". */
static bool script_file_is_in_folders(const char *path, const char *folders)
{
  const char *slash = strrchr(path, '/'); /* the end of the folders */
  const size_t len = strlen(folders);

  if (slash == NULL || (size_t)(slash - path) < len)
    return false;
  const char *last = slash - len;

  return strncmp(last, folders, len) == 0 && (last == path || last[-1] == '/');
}

/* Returns the bundled script that stands for a missing file of an old installation, whose folders
   and file name the path has. */
static char *script_file_find_for_old_path(const struct bn_script_setup *setup, const char *path)
{
  if (script_file_is_in_folders(path, "oltp_legacy") || script_file_is_in_folders(path, "tests/db"))
    return script_file_find_bundled(setup, BN_SET_LEGACY, path);
  /* An installation of 1.x has the first of these folders, its sources have the second. */
  if (!script_file_is_in_folders(path, "sysbench") && !script_file_is_in_folders(path, "src/lua"))
    return NULL;
  const bool is_legacy_first = setup->conf->policy->legacy_scripts_first;
  const enum bn_set first = is_legacy_first ? BN_SET_LEGACY : BN_SET_MODERN;
  const enum bn_set second = is_legacy_first ? BN_SET_MODERN : BN_SET_LEGACY;
  char *file = script_file_find_bundled(setup, first, path);

  return file != NULL ? file : script_file_find_bundled(setup, second, path);
}

/* Returns the file of that name that another host has sent; such names are relative. */
static char *script_file_find_sent(const struct bn_script_setup *setup, const char *name)
{
  if (setup->sent_dir == NULL || name[0] == '/')
    return NULL;
  return script_file_keep_existing(bn_alloc_print("%s/%s", setup->sent_dir, name));
}

char *bn_script_file_find_substitute(const struct bn_script_setup *setup, const char *name,
                                     bool is_quiet)
{
  char *file = script_file_find_sent(setup, name);

  if (file != NULL)
    return file;
  if (bn_module_path_is_file(name))
    return NULL;
  file = script_file_find_for_old_path(setup, name);
  if (file != NULL && !is_quiet)
    bn_log_note("%s does not exist; using the bundled %s", name, file);
  return file;
}

/* Returns the file of a module on the path: the module of that name, or else of the name without
   ".lua". */
static char *script_file_find_module(const char *path, const char *name)
{
  char *file = bn_module_path_search(path, name, NULL);
  const size_t len = script_file_bare_length(name);

  if (file == NULL && name[len] != '\0') {
    char *bare = bn_alloc_part(name, len);

    file = bn_module_path_search(path, bare, NULL);
    free(bare);
  }
  return file;
}

/* Returns the file that sysbench would find: the file as typed; in 0.5, a script of its own; a
   module on the path.  If there is none, returns a substitute. */
static char *script_file_find_as_sysbench(const struct bn_script_setup *setup, const char *path)
{
  const char *name = setup->name;
  char *file = NULL;

  if (bn_module_path_is_file(name))
    return bn_alloc_text(name);
  if (setup->conf->policy->legacy_scripts_first && strchr(name, '/') == NULL)
    file = script_file_find_bundled(setup, BN_SET_LEGACY, name);
  if (file == NULL)
    file = script_file_find_module(path, name);
  return file != NULL ? file : bn_script_file_find_substitute(setup, name, false /* is_quiet */);
}

/* Returns the file that the script's name means.  Outside of the dialects a bundled script of the
   name comes first; in a dialect the file comes first that sysbench would have found.  A bundled
   script that a LUA_PATH without the default path does not reach is the last.  Logs that a user's
   file hides the bundled script, or is hidden by it. */
static char *script_file_find_path(const struct bn_script_setup *setup, const char *path)
{
  const bool is_bundle_first = bn_policy_is_native(setup->conf->policy);
  char *file = script_file_find_sent(setup, setup->name);

  if (file != NULL)
    return file;
  if (is_bundle_first) {
    file = script_file_find_bundled_name(setup, setup->name);
    if (file != NULL) {
      script_file_log_hidden_file(setup, file);
      return file;
    }
  }
  file = script_file_find_as_sysbench(setup, path);
  /* 0.5, whose own scripts come first, does not have the workloads that a file could hide. */
  const bool may_hide_bundled = !is_bundle_first && !setup->conf->policy->legacy_scripts_first;

  if (file != NULL && may_hide_bundled)
    script_file_log_hidden_workload(setup, file);
  if (file == NULL && strchr(setup->name, '/') == NULL)
    file = script_file_find_bundled(setup, BN_SET_MODERN, setup->name);
  return file;
}

/* Returns whether the file of that name and ending exists, but the user may not read it or its
   folder. */
static bool script_file_is_unreadable(const char *name, const char *ending)
{
  char path[PATH_MAX];

  return (size_t)snprintf(path, sizeof path, "%s%s", name, ending) < sizeof path &&
         access(path, R_OK) != 0 && errno == EACCES;
}

/* Sets err for a script that does not exist or cannot be read, and returns -1.  In the dialect of
   0.5 the reason is printed here, and err->text is empty. */
static int script_file_refuse(const struct bn_script_setup *setup, struct bn_err *err)
{
  char masked[BN_MASK_MAX];
  const char *name = setup->hides_name ? BN_MASK : bn_mask_text(setup->name, masked);

  const bool is_unreadable =
      !setup->conf->policy->plain_errors && (script_file_is_unreadable(setup->name, "") ||
                                             script_file_is_unreadable(setup->name, ".lua"));

  if (is_unreadable)
    return bn_err_set(err, EACCES, "cannot read the script '%s': %s", name, strerror(EACCES));
  if (!setup->conf->policy->panics)
    return bn_err_set(err, ENOENT,
                      "Cannot find benchmark '%s': no such built-in test, file or module", name);
  bn_log_stderr("PANIC: unprotected error in call to Lua API (cannot open %s/%s%s: %s)",
                setup->data_dir, name, strchr(name, '.') == NULL ? ".lua" : "", strerror(ENOENT));
  return bn_err_set(err, ENOENT, "%s", "");
}

/* Returns the origin of a script by its real folder, whatever links lead there. */
static enum bn_set script_file_get_origin(const char *folder, const char *data_dir)
{
  char dir[PATH_MAX], data[PATH_MAX];

  if (folder == NULL || data_dir == NULL || realpath(folder, dir) == NULL ||
      realpath(data_dir, data) == NULL)
    return BN_SET_USER;
  const size_t len = strlen(data);

  if (strncmp(dir, data, len) != 0)
    return BN_SET_USER;
  const char *relative = dir + len; /* "" is the data folder itself */

  if (relative[0] == '\0')
    return BN_SET_MODERN;
  return strcmp(relative, legacy_folder) == 0 ? BN_SET_LEGACY : BN_SET_USER;
}

/* Returns whether the script is a bundled workload that the program lists. */
static bool script_file_is_workload(const struct bn_script_place *place,
                                    const struct bn_script_setup *setup)
{
  const char *base = bn_file_name(place->file);

  return place->set == BN_SET_MODERN && setup->is_workload != NULL &&
         setup->is_workload(base, script_file_bare_length(base));
}

size_t bn_script_file_folder_length(const char *file, const char *dir)
{
  const size_t len = dir != NULL ? strlen(dir) : 0;

  return len > 0 && strncmp(file, dir, len) == 0 && file[len] == '/' ? len : 0;
}

int bn_script_file_find(struct bn_script_place *out, const struct bn_script_setup *setup,
                        const char *path, struct bn_err *err)
{
  if (setup->name == NULL || strcmp(setup->name, "-") == 0) /* standard input, which has no file */
    return 0;
  out->name = setup->name;
  out->file = script_file_find_path(setup, path);
  if (out->file == NULL)
    return script_file_refuse(setup, err);
  const char *base = bn_file_name(out->file);

  if (base > out->file) /* the path has a folder */
    out->dir = bn_alloc_part(out->file, (size_t)(base - out->file));
  out->set = script_file_get_origin(out->dir, setup->data_dir);
  out->workload = script_file_is_workload(out, setup);
  out->sent = bn_script_file_folder_length(out->file, setup->sent_dir) > 0;
  return 0;
}

void bn_script_file_done(struct bn_script_place *place)
{
  free(place->file);
  free(place->dir);
}
