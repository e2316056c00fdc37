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

/* A folder below the data folder. */
static const char legacy_folder[] = "/tests/include/oltp_legacy";

/* Returns the length of a path without a trailing ".lua". */
static size_t script_file_bare_length(const char *name)
{
  const size_t len = strlen(name);

  return len > 4 && strcmp(name + len - 4, ".lua") == 0 ? len - 4 : len;
}

/* Takes over the name of a file.  Returns it, or NULL if there is no such file. */
static char *script_file_check(char *file)
{
  if (bn_path_is_file(file))
    return file;
  free(file);
  return NULL;
}

/* Returns the bundled script whose file name, with or without ".lua", ends `name`, or NULL. */
static char *script_file_find_bundled(const struct bn_script_setup *setup, enum bn_set set,
                                      const char *name)
{
  const char *base = bn_file_name(name);

  if (setup->data_dir == NULL || base[0] == '\0')
    return NULL;
  return script_file_check(bn_alloc_print("%s%s/%.*s.lua", setup->data_dir,
                                          set == BN_SET_LEGACY ? legacy_folder : "",
                                          (int)script_file_bare_length(base), base));
}

/* Looks for a bundled workload.  A name with a folder or an ending is that of a file. */
static char *script_file_find_bundled_name(const struct bn_script_setup *setup, const char *name)
{
  if (strchr(name, '/') != NULL || script_file_bare_length(name) != strlen(name))
    return NULL;
  return script_file_find_bundled(setup, BN_SET_MODERN, name);
}

/* Returns the bundled module "folder.name", which is a file of a folder beside the workloads, or
   NULL. */
static char *script_file_find_bundled_part(const struct bn_script_setup *setup, const char *name)
{
  if (setup->data_dir == NULL || strchr(name, '/') != NULL || strchr(name, '.') == NULL)
    return NULL;
  char *path = bn_alloc_print("%s/?.lua", setup->data_dir);
  char *file = bn_module_path_search(path, name, NULL);

  free(path);
  return file;
}

char *bn_script_file_hidden(const struct bn_script_setup *setup, const char *name, const char *file)
{
  char *bundled = script_file_find_bundled_name(setup, name);

  if (bundled == NULL)
    bundled = script_file_find_bundled_part(setup, name);
  if (bundled == NULL || !bn_file_is_same(bundled, file))
    return bundled;
  free(bundled);
  return NULL;
}

/* Logs that a file hides a bundled workload: sysbench looks into the working folder first. */
static void script_file_log_hiding(const struct bn_script_setup *setup, const char *file)
{
  char *hidden = bn_script_file_hidden(setup, setup->name, file);

  if (hidden != NULL)
    bn_log_apart("the file '%s' hides the bundled workload %s", file, setup->name);
  free(hidden);
}

/* Logs that a script of the user has the name of the bundled workload, which runs in its place. For
   help and completions none runs. */
static void script_file_log_hidden(const struct bn_script_setup *setup, const char *bundled)
{
  char file[PATH_MAX];

  if (setup->command != NULL && strcmp(setup->command, "help") == 0)
    return;
  if ((size_t)snprintf(file, sizeof file, "./%s.lua", setup->name) < sizeof file &&
      bn_path_is_file(file) && !bn_file_is_same(file, bundled))
    bn_log_note("%s is the bundled workload; for the file, write %s", setup->name, file);
}

/* Returns whether the path's last folders are `folders`, such as "tests/db". */
static bool script_file_is_in(const char *name, const char *folders)
{
  const char *slash = strrchr(name, '/');
  const size_t len = strlen(folders), at = slash != NULL ? (size_t)(slash - name) : 0;

  return at >= len && strncmp(slash - len, folders, len) == 0 &&
         (at == len || slash[-(ptrdiff_t)len - 1] == '/');
}

/* Returns the file of that name from another host, or NULL. */
static char *script_file_find_sent(const struct bn_script_setup *setup, const char *name)
{
  if (setup->sent_dir == NULL || name[0] == '/')
    return NULL;
  return script_file_check(bn_alloc_print("%s/%s", setup->sent_dir, name));
}

char *bn_script_file_instead(const struct bn_script_setup *setup, const char *name, bool quiet)
{
  char *file = script_file_find_sent(setup, name);

  if (file != NULL)
    return file;
  if (bn_path_is_file(name))
    return NULL;
  if (script_file_is_in(name, "oltp_legacy") || script_file_is_in(name, "tests/db")) {
    file = script_file_find_bundled(setup, BN_SET_LEGACY, name);
  } else if (script_file_is_in(name, "sysbench")) {
    const bool old = setup->conf->policy->legacy_scripts_first;

    file = script_file_find_bundled(setup, old ? BN_SET_LEGACY : BN_SET_MODERN, name);
    if (file == NULL)
      file = script_file_find_bundled(setup, old ? BN_SET_MODERN : BN_SET_LEGACY, name);
  }
  if (file != NULL && !quiet)
    bn_log_note("%s does not exist; using the bundled %s", name, file);
  return file;
}

/* Finds a module on package.path, then without ".lua". */
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

/* Looks for the script where a user may have put it: outside of the bundle. */
static char *script_file_find_unbundled(const struct bn_script_setup *setup, const char *path)
{
  const char *name = setup->name;
  char *file = NULL;

  if (bn_path_is_file(name))
    return bn_alloc_text(name);
  if (setup->conf->policy->legacy_scripts_first && strchr(name, '/') == NULL)
    file = script_file_find_bundled(setup, BN_SET_LEGACY, name);
  if (file == NULL)
    file = script_file_find_module(path, name);
  return file != NULL ? file : bn_script_file_instead(setup, name, false);
}

/* A user of bench expects the bundled script; a user of a dialect expects the file that sysbench
   would have found.  A file that hides another one, or is hidden, is mentioned. */
static char *script_file_find_file(const struct bn_script_setup *setup, const char *path)
{
  const bool bundle_first = setup->conf->policy->dialect == NULL;
  char *file = script_file_find_sent(setup, setup->name);

  if (file != NULL)
    return file;
  if (bundle_first)
    file = script_file_find_bundled_name(setup, setup->name);
  if (file != NULL) {
    script_file_log_hidden(setup, file);
    return file;
  }
  file = script_file_find_unbundled(setup, path);
  if (file != NULL && !bundle_first && !setup->conf->policy->legacy_scripts_first)
    script_file_log_hiding(setup, file);
  return file;
}

/* Returns whether such a file exists, but the user may not read it or its folder. */
static bool script_file_is_forbidden(const char *name, const char *ending)
{
  char path[PATH_MAX];

  return (size_t)snprintf(path, sizeof path, "%s%s", name, ending) < sizeof path &&
         access(path, R_OK) != 0 && errno == EACCES;
}

/* Refuses a script that is not there, or that cannot be read.  Returns -1. */
static int script_file_refuse(const struct bn_script_setup *setup, struct bn_err *err)
{
  char masked[BN_MASK_MAX];
  const char *name = setup->hides_name ? BN_MASK : bn_mask_text(setup->name, masked);

  if (!setup->conf->policy->plain_errors &&
      (script_file_is_forbidden(setup->name, "") || script_file_is_forbidden(setup->name, ".lua")))
    return bn_err_set(err, EACCES, "cannot read the script '%s': %s", name, strerror(EACCES));
  if (!setup->conf->policy->panics)
    return bn_err_set(err, ENOENT,
                      "Cannot find benchmark '%s': no such built-in test, file or module", name);
  bn_log_stderr("PANIC: unprotected error in call to Lua API (cannot open %s/%s%s: %s)",
                setup->data_dir, name, strchr(name, '.') == NULL ? ".lua" : "", strerror(ENOENT));
  return bn_err_set(err, ENOENT, "%s", "");
}

/* Returns the set of a script by its real folder, whatever the folder is called. */
static enum bn_set script_file_set_of(const char *folder, const char *data_dir)
{
  char dir[PATH_MAX], data[PATH_MAX];
  size_t len;

  if (folder == NULL || data_dir == NULL || realpath(folder, dir) == NULL ||
      realpath(data_dir, data) == NULL)
    return BN_SET_USER;
  len = strlen(data);
  if (strncmp(dir, data, len) != 0)
    return BN_SET_USER;
  if (strcmp(dir + len, legacy_folder) == 0)
    return BN_SET_LEGACY;
  return dir[len] == '\0' ? BN_SET_MODERN : BN_SET_USER;
}

static bool script_file_is_workload(const struct bn_place *p, const struct bn_script_setup *setup)
{
  const char *base = bn_file_name(p->file);

  return p->set == BN_SET_MODERN && setup->is_workload != NULL &&
         setup->is_workload(base, script_file_bare_length(base));
}

size_t bn_script_file_folder(const char *file, const char *dir)
{
  const size_t len = dir != NULL ? strlen(dir) : 0;

  return len > 0 && strncmp(file, dir, len) == 0 && file[len] == '/' ? len : 0;
}

int bn_script_file_find(struct bn_place *out, const struct bn_script_setup *setup, const char *path,
                        struct bn_err *err)
{
  const char *base;

  if (setup->name == NULL || strcmp(setup->name, "-") == 0)
    return 0;
  out->name = setup->name;
  out->file = script_file_find_file(setup, path);
  if (out->file == NULL)
    return script_file_refuse(setup, err);
  base = bn_file_name(out->file);
  if (base > out->file)
    out->dir = bn_alloc_part(out->file, (size_t)(base - out->file));
  out->set = script_file_set_of(out->dir, setup->data_dir);
  out->workload = script_file_is_workload(out, setup);
  out->sent = bn_script_file_folder(out->file, setup->sent_dir) > 0;
  return 0;
}

void bn_script_file_done(struct bn_place *p)
{
  free(p->file);
  free(p->dir);
}
