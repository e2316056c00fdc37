/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules: find, open and check the shared objects of drivers, engines and others. */
#include "base/plugin.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/spawn.h"

/* The folders of modules and data in the build tree, seen from its program.  An installed program
   has them where configure was told (--libdir, --datadir), which need not have this shape. */
#define BUILD_LIBDIR  "../lib/bench"
#define BUILD_DATADIR "../share/bench"

#ifndef BN_REL_LIBDIR
#define BN_REL_LIBDIR BUILD_LIBDIR
#endif
#ifndef BN_REL_DATADIR
#define BN_REL_DATADIR BUILD_DATADIR
#endif

static const char suffix[] = ".so";

/* Returns the plain path of a folder relative to that of the program, in which links are followed
   and ".." is resolved, or NULL if there is no such folder.  The caller frees it. */
static char *plugin_resolve_dir(const char *program_dir, const char *relative)
{
  char *path = bn_alloc_print("%s%s", program_dir, relative), *resolved = realpath(path, NULL);

  free(path);
  return resolved;
}

/* Returns the first folder that exists of two relative to that of the program, else the first. */
static const char *plugin_find_dir(const char *installed, const char *built, char *buf, size_t len,
                                   struct bn_err *err)
{
  char program_dir[PATH_MAX], *program = bn_spawn_self(err), *dir;

  if (program == NULL)
    return NULL;
  bn_file_folder(program, program_dir);
  free(program);
  dir = plugin_resolve_dir(program_dir, installed);
  if (dir == NULL)
    dir = plugin_resolve_dir(program_dir, built);
  if (dir == NULL)
    dir = bn_alloc_print("%s%s", program_dir, installed);
  if ((size_t)snprintf(buf, len, "%s", dir) >= len) {
    (void)bn_err_set(err, ENAMETOOLONG, "the path of '%s' is too long", dir);
    buf = NULL;
  }
  free(dir);
  return buf;
}

const char *bn_plugin_data_dir(char *buf, size_t len, struct bn_err *err)
{
  return plugin_find_dir(BN_REL_DATADIR, BUILD_DATADIR, buf, len, err);
}

const char *bn_plugin_lib_dir(char *buf, size_t len, struct bn_err *err)
{
  return plugin_find_dir(BN_REL_LIBDIR, BUILD_LIBDIR, buf, len, err);
}

/* Returns whether the name, which the command line or a script gives, stays within the folder. */
static bool plugin_is_name(const char *name)
{
  const size_t len = strlen(name);

  for (size_t i = 0; i < len; i++)
    if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
      return false;
  return len > 0 && len <= 64;
}

/* The first members of the descriptor of every module. */
struct descriptor {
  unsigned abi;
  size_t size;
  const char *name;
};

static const char *plugin_article(const char *kind)
{
  return kind[0] == 'e' ? "an" : "a";
}

static const void *plugin_check(const struct bn_plugin_kind *kind, const char *name, void *module,
                                struct bn_err *err)
{
  const struct descriptor *d = dlsym(module, kind->symbol);

  if (d == NULL)
    (void)bn_err_set(err, EINVAL, "'%s' is not %s %s module: it has no %s", name,
                     plugin_article(kind->name), kind->name, kind->symbol);
  else if (d->abi != kind->abi)
    (void)bn_err_set(err, EINVAL,
                     "%s '%s' was built for version %u of the %s interface, this is %u", kind->name,
                     name, d->abi, kind->name, kind->abi);
  else if (d->size < kind->size)
    (void)bn_err_set(err, EINVAL, "%s '%s' was built for an older bench: build it again",
                     kind->name, name);
  else if (d->name == NULL || strcmp(d->name, name) != 0)
    (void)bn_err_set(err, EINVAL, "the module of %s '%s' calls itself '%s'", kind->name, name,
                     d->name != NULL ? d->name : "");
  else
    return d;
  return NULL;
}

/* Opens kind "driver" from the folder "drivers". */
static void *plugin_open_module(const char *kind, const char *name, struct bn_err *err)
{
  char dir[PATH_MAX], path[PATH_MAX + 128];
  void *module;

  if (!plugin_is_name(name)) {
    (void)bn_err_set(err, ENOENT, "'%s' is not the name of %s %s", name, plugin_article(kind),
                     kind);
    return NULL;
  }
  if (bn_plugin_lib_dir(dir, sizeof dir, err) == NULL)
    return NULL;
  (void)snprintf(path, sizeof path, "%s/%ss/%s%s", dir, kind, name, suffix);
  if (access(path, F_OK) != 0) {
    (void)bn_err_set(err, ENOENT, "there is no %s module '%s'", kind, path);
    return NULL;
  }
  /* Client libraries register exit and thread-exit destructors, so no module is ever unloaded. */
  module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == NULL)
    (void)bn_err_set(err, 0, "cannot load %s '%s': %s", kind, name, dlerror());
  return module;
}

const void *bn_plugin_open(const struct bn_plugin_kind *kind, const char *name, struct bn_err *err)
{
  void *module = plugin_open_module(kind->name, name, err);

  return module != NULL ? plugin_check(kind, name, module, err) : NULL;
}

static int plugin_is_module(const struct dirent *d)
{
  const size_t len = strlen(d->d_name), tail = sizeof suffix - 1;

  return len > tail && strcmp(d->d_name + len - tail, suffix) == 0;
}

size_t bn_plugin_names(const struct bn_plugin_kind *kind, char **names, size_t max)
{
  char dir[PATH_MAX], path[PATH_MAX + 32];
  struct dirent **list = NULL;
  size_t n = 0;
  int found;

  if (bn_plugin_lib_dir(dir, sizeof dir, NULL) == NULL)
    return 0;
  (void)snprintf(path, sizeof path, "%s/%ss", dir, kind->name);
  found = scandir(path, &list, plugin_is_module, alphasort);
  for (int i = 0; i < found; i++) {
    if (n < max)
      names[n++] = bn_alloc_part(list[i]->d_name, strlen(list[i]->d_name) - (sizeof suffix - 1));
    free(list[i]);
  }
  free(list);
  return n;
}
