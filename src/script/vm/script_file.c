/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the file of a script. */
#include "script/vm/script_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mask.h"
#include "option/conf.h"
#include "script/setup.h"
#include "script/vm/module_path.h"

/* A folder below the data folder. */
static const char legacy_folder[] = "/tests/include/oltp_legacy";

/* Returns the length of a path without a trailing ".lua". */
static size_t script_bare_length(const char *name)
{
  const size_t len = strlen(name);

  return len > 4 && strcmp(name + len - 4, ".lua") == 0 ? len - 4 : len;
}

/* Returns the bundled script whose file name, with or without ".lua", ends `name`, or NULL. */
static char *script_file_find_bundled(const struct bn_script_setup *setup, enum bn_set set,
                                      const char *name)
{
  const char *slash = strrchr(name, '/');
  const char *base = slash != NULL ? slash + 1 : name;
  struct bn_buf b;

  if (setup->data_dir == NULL || base[0] == '\0')
    return NULL;
  bn_buf_init(&b, 0);
  (void)bn_buf_printf(&b, "%s%s/%.*s.lua", setup->data_dir,
                      set == BN_SET_LEGACY ? legacy_folder : "", (int)script_bare_length(base),
                      base);
  char *file = bn_buf_take(&b);

  if (bn_path_is_file(file))
    return file;
  free(file);
  return NULL;
}

static bool script_file_is_same_file(const char *a, const char *b)
{
  struct stat sa, sb;

  return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Looks for a bundled workload.  A name with a folder or an ending is that of a file. */
static char *script_file_find_bundled_name(const struct bn_script_setup *setup, const char *name)
{
  if (strchr(name, '/') != NULL || script_bare_length(name) != strlen(name))
    return NULL;
  return script_file_find_bundled(setup, BN_SET_MODERN, name);
}

/* Returns the bundled module "folder.name", which is a file of a folder beside the workloads, or
   NULL. */
static char *script_file_find_bundled_part(const struct bn_script_setup *setup, const char *name)
{
  struct bn_buf b;

  if (setup->data_dir == NULL || strchr(name, '/') != NULL || strchr(name, '.') == NULL)
    return NULL;
  bn_buf_init(&b, 0);
  (void)bn_buf_printf(&b, "%s/?.lua", setup->data_dir);
  char *file = bn_module_path_search(b.data, name, NULL);

  bn_buf_done(&b);
  return file;
}

char *bn_script_file_hidden(const struct bn_script_setup *setup, const char *name, const char *file)
{
  char *bundled = script_file_find_bundled_name(setup, name);

  if (bundled == NULL)
    bundled = script_file_find_bundled_part(setup, name);

  if (bundled == NULL || !script_file_is_same_file(bundled, file))
    return bundled;
  free(bundled);
  return NULL;
}

/* Sysbench looks into the working folder first. */
static void script_file_tell_hiding(const struct bn_script_setup *setup, const char *file)
{
  char *hidden = bn_script_file_hidden(setup, setup->name, file);

  if (hidden != NULL)
    bn_log_apart("the file '%s' hides the bundled workload %s", file, setup->name);
  free(hidden);
}

/* A script of the user that has the name of a bundled workload is not the one that runs.  For help
   and completions none does. */
static void script_file_tell_hidden(const struct bn_script_setup *setup, const char *bundled)
{
  char file[PATH_MAX];

  if (setup->command != NULL && strcmp(setup->command, "help") == 0)
    return;
  if ((size_t)snprintf(file, sizeof file, "./%s.lua", setup->name) < sizeof file &&
      bn_path_is_file(file) && !script_file_is_same_file(file, bundled))
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

static char *script_file_find_sent(const struct bn_script_setup *setup, const char *name)
{
  struct bn_buf b = {.max = 0};
  char *file;

  if (setup->sent_dir == NULL || name[0] == '/')
    return NULL;
  (void)bn_buf_printf(&b, "%s/%s", setup->sent_dir, name);
  file = bn_buf_take(&b);
  if (bn_path_is_file(file))
    return file;
  free(file);
  return NULL;
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
  const size_t len = script_bare_length(name);

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
    script_file_tell_hidden(setup, file);
    return file;
  }
  file = script_file_find_unbundled(setup, path);
  if (file != NULL && !bundle_first && !setup->conf->policy->legacy_scripts_first)
    script_file_tell_hiding(setup, file);
  return file;
}

/* Returns whether such a file exists, but the user may not read it or its folder. */
static bool script_file_is_forbidden(const char *name, const char *ending)
{
  char path[PATH_MAX];

  return (size_t)snprintf(path, sizeof path, "%s%s", name, ending) < sizeof path &&
         access(path, R_OK) != 0 && errno == EACCES;
}

static int script_not_found(const struct bn_script_setup *setup, struct bn_err *err)
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
  const char *slash = strrchr(p->file, '/');
  const char *base = slash != NULL ? slash + 1 : p->file;

  return p->set == BN_SET_MODERN && setup->is_workload != NULL &&
         setup->is_workload(base, script_bare_length(base));
}

static bool script_file_is_below(const char *file, const char *dir)
{
  const size_t len = dir != NULL ? strlen(dir) : 0;

  return len > 0 && strncmp(file, dir, len) == 0 && file[len] == '/';
}

int bn_script_file_find(struct bn_place *out, const struct bn_script_setup *setup, const char *path,
                        struct bn_err *err)
{
  const char *slash;

  if (setup->name == NULL || strcmp(setup->name, "-") == 0)
    return 0;
  out->name = setup->name;
  out->file = script_file_find_file(setup, path);
  if (out->file == NULL)
    return script_not_found(setup, err);
  slash = strrchr(out->file, '/');
  if (slash != NULL)
    out->dir = bn_alloc_part(out->file, (size_t)(slash - out->file) + 1);
  out->set = script_file_set_of(out->dir, setup->data_dir);
  out->workload = script_file_is_workload(out, setup);
  out->sent = script_file_is_below(out->file, setup->sent_dir);
  return 0;
}

void bn_script_file_done(struct bn_place *p)
{
  free(p->file);
  free(p->dir);
}
