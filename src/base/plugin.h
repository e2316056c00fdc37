/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules: find, open and check the shared objects of drivers, engines and others. */
#ifndef BN_BASE_PLUGIN_H
#define BN_BASE_PLUGIN_H

#include <stddef.h>

#include "base/err.h"

/* Find the folder of the program's data ("share/bench") and that of its modules ("lib/bench"),
   relative to the program itself, so that build tree, installed and moved prefixes all work.  The
   folder need not exist.  Return buf with its path, or NULL and err. */
const char *bn_plugin_data_dir(char *buf, size_t len, struct bn_err *err);
const char *bn_plugin_lib_dir(char *buf, size_t len, struct bn_err *err);

/* The properties that all modules of a kind share.  The descriptor that a module exports under
   `symbol` begins with `unsigned abi; size_t size; const char *name;`. */
struct bn_plugin_kind {
  const char *name;   /* "driver": modules are lib/bench/drivers/NAME.so */
  const char *symbol; /* "bench_driver" */
  unsigned abi;       /* the version that this program speaks */
  size_t size;        /* size of the descriptor that this program knows */
};

/* Opens lib/bench/KINDs/NAME.so (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, never closed), checks the
   ABI, the size and the name of its descriptor, and returns the descriptor.  Returns NULL and err
   otherwise; err->code ENOENT: there is no such module.  Any thread. */
const void *bn_plugin_open(const struct bn_plugin_kind *kind, const char *name, struct bn_err *err);
/* If bn_plugin_open() has found no such module, adds to its sentence the package of Debian that
   bench needs to build the module, and --OPTION, which has named the module.  package NULL: bench
   builds no such module, and the sentence remains.  Returns -1. */
int bn_plugin_advise(struct bn_err *err, const char *package, const char *option);
/* Fills `names` with the sorted names of the modules of that kind that bn_plugin_open would look
   for, and returns their number.  Names beyond the first max are left out.  The caller frees the
   names. */
size_t bn_plugin_list(const struct bn_plugin_kind *kind, char **names, size_t max);

#endif
