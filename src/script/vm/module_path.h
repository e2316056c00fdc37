/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search paths for modules: their defaults and the search itself. */
#ifndef BN_SCRIPT_VM_MODULE_PATH_H
#define BN_SCRIPT_VM_MODULE_PATH_H

#include <stdbool.h>

struct bn_buf;

/* Returns package.path, malloc'd, with the folder of bundled scripts (NULL: none), as LUA_PATH
   changes it. */
char *bn_module_path_default(const char *data_dir);
/* Returns package.cpath, malloc'd, as LUA_CPATH changes it. */
char *bn_module_path_default_c(void);
/* Returns, malloc'd, the first readable file that a path of templates names for a module, or NULL.
   Appends "\n\tno file '…'" to `tried` for each file that is not there; `tried` may be NULL. */
char *bn_module_path_search(const char *path, const char *name, struct bn_buf *tried);
/* Returns, malloc'd, the readable file of a module in a folder, whose name ends with '/', or NULL.
   The folder is no template: it may have a '?' or ';'. */
char *bn_module_path_find_in(const char *dir, const char *name);
/* Returns whether the path can be read and is no folder. */
bool bn_module_path_is_file(const char *path);

#endif
