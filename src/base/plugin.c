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

enum { NAME_LEN_MAX = 64 };

/* Returns the absolute path, without links and "..", of a folder relative to that of the program,
   or NULL if there is no such folder.  The caller frees it. */
static char *plugin_resolve_dir(const char *program_dir, const char *relative)
{
  char *path = bn_alloc_print("%s%s", program_dir, relative), *resolved = realpath(path, NULL);

  free(path);
  return resolved;
}

/* Writes the path of the folder `installed` to buf, or that of `built` if only `built` exists.
   Both are relative to the folder of the program.  Returns buf, or NULL and err. */
static const char *plugin_find_dir(const char *installed, const char *built, char *buf, size_t len,
                                   struct bn_err *err)
{
  char program_dir[PATH_MAX];
  char *program = bn_spawn_self(err);
  char *dir;

  if (program == NULL)
    return NULL;
  bn_file_copy_folder(program, program_dir);
  free(program);
  dir = plugin_resolve_dir(program_dir, installed);
  if (dir == NULL)
    dir = plugin_resolve_dir(program_dir, built);
  if (dir == NULL) /* messages then name the folder where an installed program looks */
    dir = bn_alloc_print("%s%s", program_dir, installed);
  const bool fits = (size_t)snprintf(buf, len, "%s", dir) < len;

  if (!fits)
    (void)bn_err_set(err, ENAMETOOLONG, "the path '%s' is too long", dir);
  free(dir);
  return fits ? buf : NULL;
}

const char *bn_plugin_data_dir(char *buf, size_t len, struct bn_err *err)
{
  return plugin_find_dir(BN_REL_DATADIR, BUILD_DATADIR, buf, len, err);
}

const char *bn_plugin_lib_dir(char *buf, size_t len, struct bn_err *err)
{
  return plugin_find_dir(BN_REL_LIBDIR, BUILD_LIBDIR, buf, len, err);
}

/* Returns whether name[0..len), which the command line or a script gives, can be that of a module.
   It has no '/' or '.', so that it stays within the folder. */
static bool plugin_is_name(const char *name, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
      return false;
  return len > 0 && len <= NAME_LEN_MAX;
}

/* The first members of the descriptor of every module. */
struct descriptor {
  unsigned abi;
  size_t size;
  const char *name;
};

/* Returns the article for the name of a kind of modules.  The only kind that begins with a vowel is
   "engine". */
static const char *plugin_article(const char *kind)
{
  return kind[0] == 'e' ? "an" : "a";
}

/* Returns the descriptor of a module if it fits the kind and the name, or NULL and err. */
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

/* Opens a module of the kind "driver" in the folder "drivers".  Returns the handle of dlopen, or
   NULL and err. */
static void *plugin_open_module(const char *kind, const char *name, struct bn_err *err)
{
  char dir[PATH_MAX], path[PATH_MAX + 128]; /* the name has at most NAME_LEN_MAX bytes */
  void *module;

  if (!plugin_is_name(name, strlen(name))) {
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

int bn_plugin_advise(struct bn_err *err, const char *package, const char *option)
{
  const size_t len = strlen(err->text);

  if (err->code == ENOENT && package != NULL)
    (void)snprintf(err->text + len, sizeof err->text - len,
                   "; install the package %s (its name on Debian) and build bench again (--%s)",
                   package, option);
  return -1;
}

/* Returns the length of a file name without ".so", or 0 if it ends in anything else. */
static size_t plugin_name_len(const struct dirent *d)
{
  const size_t len = strlen(d->d_name), suffix_len = strlen(suffix);
  const bool is_module = len > suffix_len && strcmp(d->d_name + len - suffix_len, suffix) == 0;

  return is_module ? len - suffix_len : 0;
}

/* Returns whether a file is a module, for scandir. */
static int plugin_is_module(const struct dirent *d)
{
  return plugin_is_name(d->d_name, plugin_name_len(d));
}

/* Compares the names of modules, so that "a" comes before "a-b", for scandir. */
static int plugin_compare_names(const struct dirent **a, const struct dirent **b)
{
  const size_t a_len = plugin_name_len(*a), b_len = plugin_name_len(*b);
  const int order = strncmp((*a)->d_name, (*b)->d_name, a_len < b_len ? a_len : b_len);

  return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

size_t bn_plugin_list(const struct bn_plugin_kind *kind, char **names, size_t max)
{
  char dir[PATH_MAX], path[PATH_MAX + 32]; /* the name of a kind is a short word */
  struct dirent **entries = NULL;
  size_t n_names = 0;
  int n_entries;

  if (bn_plugin_lib_dir(dir, sizeof dir, NULL) == NULL)
    return 0;
  (void)snprintf(path, sizeof path, "%s/%ss", dir, kind->name);
  /* A folder that cannot be read (-1) lists no modules; usually it does not exist. */
  n_entries = scandir(path, &entries, plugin_is_module, plugin_compare_names);
  for (int i = 0; i < n_entries; i++) {
    if (n_names < max)
      names[n_names++] = bn_alloc_part(entries[i]->d_name, plugin_name_len(entries[i]));
    free(entries[i]);
  }
  free(entries);
  return n_names;
}
