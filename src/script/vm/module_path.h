/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search paths for modules: their defaults and the search itself. */
#ifndef BN_SCRIPT_VM_MODULE_PATH_H
#define BN_SCRIPT_VM_MODULE_PATH_H

#include <stdbool.h>

struct bn_buf;

/* Return package.path and package.cpath, malloc'd. */
char *bn_module_path_default(const char *data_dir);
char *bn_module_path_default_c(void);
/* Returns the first readable file that a path of templates names for a module, malloc'd, or NULL.
   tried (may be NULL) gets "\n\tno file '…'" for each miss. */
char *bn_module_path_search(const char *path, const char *name, struct bn_buf *tried);
/* Returns whether the path can be read and is no folder. */
bool bn_path_is_file(const char *path);

#endif
